"""One run: its tables, its folder, its bytes."""

from __future__ import annotations

import json
import shutil

import polars as pl
import pytest
from conftest import assert_same_bytes

import ecnlab
from ecnlab import laws
from ecnlab.folder.columns import TABLES

WEB = {
    "kind": "web",
    "sessions": 3,
    "inter_session": {"exponential": "0.5 s"},
    "pages": 2,
    "inter_page": "0.5 s",
    "objects": {"pareto2": {"mean": 3, "shape": 1.5}},
    "inter_object": "0.1 s",
    "object_size": "8 kB",
    "packet": "1000 B",
}


def test_tables_are_what_the_registry_says(scenario):
    flow = {"from": "server", "to": "client", "traffic": WEB}
    box = {"box.wall": {"syn": "strip"}, "link.left.boxes": ["wall"]}
    tunnel = {"tunnel.vpn": {}, "link.pipe.tunnel": "vpn"}
    quic = {"quic.stack": {"stack": "quinn"}, "flow.quic": {**flow, "traffic": "ftp", "quic": "stack"}}
    run = ecnlab.run(
        scenario,
        seed=1,
        events=True,
        overrides={
            "flow.web": flow,
            "queue.default.quantiles": True,
            "queue.red.quantiles": True,
            **box,
            **tunnel,
            **quic,
        },
    )
    # The queues are drop-tail and RED, the window law is Reno.
    red = laws.facts("queue", "red")["columns"]

    def others(table: str) -> set[str]:
        return laws.columns(table).keys() - red.get(table, {}).keys()

    assert {name: list(run.table(name).columns) for name in run.tables} == {
        name: [column for column in columns if column not in others(name.removesuffix("_run"))]
        for name, columns in TABLES.items()
    }
    assert run.objects["complete"].any()
    with pytest.raises(ecnlab.EcnlabError, match="web traffic"):
        _ = ecnlab.run(scenario).objects


def test_counters_agree_between_tables(scenario):
    run = ecnlab.run(scenario, events=True)
    pipe = run.table("queues_run").filter(link="pipe", group="all").row(0, named=True)
    events = dict(run.packets.filter(link="pipe").group_by("event").len().iter_rows())
    assert pipe["marks"] == events.get("mark", 0) > 0
    assert pipe["early_drops"] == events.get("drop_early", 0)
    assert pipe["departed"] == events["dequeue"]


def test_goodput_is_bytes_over_the_window(scenario):
    flows = ecnlab.run(scenario).flows
    seconds = 4 - 1
    for delivered, goodput in flows.select("bytes_delivered", "goodput_bps").iter_rows():
        assert goodput == pytest.approx(delivered * 8 / seconds)


def test_missing_numbers_are_null(scenario):
    flows = ecnlab.run(scenario).flows
    assert flows["finish_s"].null_count() == flows.height  # both flows are endless


def test_same_seed_same_tables_other_seed_other_tables(scenario):
    first, again, other = (ecnlab.run(scenario, seed=seed) for seed in (7, 7, 8))
    assert first.flows.equals(again.flows)
    assert not first.flows.equals(other.flows)


def test_two_processes_write_the_same_bytes(scenario, cli, tmp_path):
    for name in ("a", "b"):
        assert cli("run", scenario, "--seed", 3, "--events", "--out", tmp_path / name).returncode == 0
    assert_same_bytes(tmp_path / "a", tmp_path / "b")
    first, second = (json.loads((tmp_path / name / "manifest.json").read_text()) for name in ("a", "b"))
    assert first.pop("wall").keys() == second.pop("wall").keys()
    assert first == second


def test_a_saved_run_comes_back(scenario, tmp_path):
    run = ecnlab.run(scenario, seed=5, out=tmp_path / "run")
    stored = ecnlab.load(tmp_path / "run")
    assert isinstance(stored, ecnlab.Run)
    assert stored.manifest == run.manifest
    assert stored.tables == run.tables
    for name in run.tables:
        assert stored.table(name).equals(run.table(name))


def test_manifest_tells_where_a_number_comes_from(scenario):
    manifest = ecnlab.run(scenario, seed=2).manifest
    assert manifest["seed"] == 2
    assert manifest["spec"]["queue"]["red"]["min_th"]
    assert manifest["ecnlab"]["version"] == ecnlab.__version__
    assert manifest["tables"]["links"]["units"]["rate_bps"] == "bit/s"
    (departure,) = manifest["departures"]
    assert (departure["key"], departure["profile_value"], departure["value"]) == ("tcp.ecn.ecn", "off", "rfc3168")
    assert departure["source"]


def test_overrides_change_the_question(scenario):
    plain, changed = ecnlab.run(scenario), ecnlab.run(scenario, overrides={"queue.red.max_p": 0.5})
    assert plain.manifest["spec_hash"] != changed.manifest["spec_hash"]
    assert changed.manifest["spec"]["queue"]["red"]["max_p"] == 0.5


def test_the_hash_is_of_the_meaning_not_of_the_text(scenario):
    hash_of = ecnlab.run(scenario).manifest["spec_hash"]
    scenario.write_text("# a remark\n" + scenario.read_text().replace('"2 Mbps"', '"2000 kbps"'))
    assert ecnlab.run(scenario).manifest["spec_hash"] == hash_of


def test_a_table_not_recorded_says_how_to_get_it(scenario):
    run = ecnlab.run(scenario)
    with pytest.raises(ecnlab.FolderError, match="events=True"):
        _ = run.packets
    with pytest.raises(ecnlab.FolderError, match="no table is called 'flwos'"):
        run.table("flwos")


@pytest.mark.slow
def test_pandas_frames(scenario):
    flows = ecnlab.run(scenario).flows
    pandas = flows.to_pandas()
    assert list(pandas.columns) == flows.columns
    assert pandas["bytes_delivered"].sum() == flows["bytes_delivered"].sum()


def test_a_folder_is_never_another_runs(scenario, tmp_path):
    folder = tmp_path / "run"
    ecnlab.run(scenario, seed=1, out=folder)
    ecnlab.run(scenario, seed=1, out=folder)  # the same run may be written again
    with pytest.raises(ecnlab.FolderError, match="holds another run"):
        ecnlab.run(scenario, seed=2, out=folder)
    with pytest.raises(ecnlab.FolderError, match="holds another run"):
        ecnlab.run(scenario, seed=1, events=True, out=folder)
    assert ecnlab.load(folder).manifest["seed"] == 1


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda folder: (folder / "manifest.json").unlink(), "holds no result"),
        (lambda folder: (folder / "manifest.json").write_text("{"), "damaged"),
        (lambda folder: (folder / "manifest.json").write_text("[1]"), "did not write its"),
        (lambda folder: (folder / "flows.parquet").write_bytes(b"PAR1"), "flows.parquet is damaged"),
        (lambda folder: (folder / "flows.parquet").unlink(), "flows.parquet is missing"),
        (shutil.rmtree, "does not exist"),
    ],
)
def test_a_damaged_folder_says_so(scenario, tmp_path, damage, said):
    folder = tmp_path / "run"
    ecnlab.run(scenario, out=folder)
    damage(folder)
    with pytest.raises(ecnlab.FolderError, match=said):
        _ = ecnlab.load(folder).flows


def test_a_folder_of_another_format_names_the_version_that_reads_it(scenario, tmp_path):
    folder = tmp_path / "run"
    ecnlab.run(scenario, out=folder)
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    path.write_text(json.dumps(manifest | {"format": 99, "ecnlab": {"version": "9.9"}}))
    with pytest.raises(ecnlab.FolderError, match=r"format 99, made by ecnlab 9\.9.*reads format 3"):
        ecnlab.load(folder)


def test_equal_frames_give_equal_bytes_whatever_made_them(tmp_path):
    from ecnlab.folder.tables import write_table

    frame = pl.DataFrame({"x": range(10_000), "name": ["a", "b"] * 5_000})
    write_table(tmp_path / "whole", frame)
    write_table(tmp_path / "pieces", pl.concat([frame.head(77), frame.tail(-77)], rechunk=False))
    assert (tmp_path / "whole").read_bytes() == (tmp_path / "pieces").read_bytes()
