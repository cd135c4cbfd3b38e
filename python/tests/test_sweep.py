"""A sweep: the same bytes on any number of workers, and nothing done twice."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest
from conftest import EXPERIMENT, assert_same_bytes, ecnlab_command

import ecnlab
from ecnlab._core import Cancelled
from ecnlab.runs.workers import Worker


def counting(calls: list[tuple[int, int]]):
    return lambda done, total: calls.append((done, total))


def wait_for(condition, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.05)


def parts(folder: Path) -> list[Path]:
    return sorted((folder / "parts").glob("[!.]*.arrows"))


def test_runs_are_paired_and_keyed(experiment, tmp_path):
    sweep = ecnlab.sweep(experiment, tmp_path / "out")
    assert sweep.axes == ("max_p",)
    assert sweep.runs.height == 2 * 2 * 3
    assert sweep.runs["arm"].unique(maintain_order=True).to_list() == ["blind", "red"]
    assert sweep.runs.group_by("replicate").agg(pl.col("seed").n_unique())["seed"].to_list() == [1, 1, 1]
    assert sweep.runs["id"].n_unique() == 12
    assert set(sweep.specs) == set(sweep.runs["spec_hash"])


def test_metrics_are_those_of_the_tables(experiment, tmp_path):
    sweep = ecnlab.sweep(experiment, tmp_path / "out")
    key = {"arm": "red", "max_p": "high", "replicate": 1}
    flows = sweep.table("flows").filter(**key).collect()
    of = dict(sweep.metrics.filter(**key).select("metric", "value").iter_rows())
    goodput = {group: flows.filter(group=group)["goodput_bps"].mean() for group in ("marked", "dropped")}
    assert of["marked"] == goodput["marked"]
    assert of["advantage"] == pytest.approx(goodput["marked"] / goodput["dropped"] - 1)


def test_a_sweep_gives_what_single_runs_give(experiment, scenario, tmp_path):
    sweep = ecnlab.sweep(experiment, tmp_path / "out")
    seed = sweep.runs.filter(arm="blind", max_p="low", replicate=2)["seed"].item()
    alone = ecnlab.run(scenario, seed, overrides={"queue.red.ecn": False, "queue.red.max_p": 0.02})
    together = sweep.table("flows").filter(arm="blind", max_p="low", replicate=2).collect()
    assert together.select(alone.flows.columns).equals(alone.flows)


def test_workers_do_not_change_a_byte(experiment, cli, tmp_path):
    for workers in (1, 2):
        ecnlab.sweep(experiment, tmp_path / f"out{workers}", workers=workers)
    assert_same_bytes(tmp_path / "out1" / "tables", tmp_path / "out2" / "tables")
    assert cli("compare", "out1", "out2").returncode == 0


def test_more_replicates_add_only_what_is_missing(experiment, tmp_path):
    few = ecnlab.sweep(experiment, tmp_path / "out", replicates=2).table("flows").collect()
    calls: list[tuple[int, int]] = []
    more = ecnlab.sweep(experiment, tmp_path / "out", replicates=3, progress=counting(calls))
    assert calls == [(done, 12) for done in (8, 9, 10, 11, 12)]
    assert more.table("flows").filter(pl.col("replicate") < 2).collect().equals(few)
    whole = ecnlab.sweep(experiment, tmp_path / "whole")
    assert_same_bytes(more.folder / "tables", whole.folder / "tables")


def test_a_complete_sweep_is_not_done_again(experiment, tmp_path):
    ecnlab.sweep(experiment, tmp_path / "out")
    calls: list[tuple[int, int]] = []
    ecnlab.sweep(experiment, tmp_path / "out", progress=counting(calls))
    assert calls == [(12, 12)]


def test_other_metrics_need_no_new_run(experiment, tmp_path):
    ecnlab.sweep(experiment, tmp_path / "out")
    experiment.write_text(EXPERIMENT + 'flows = { table = "flows", aggregate = "count" }\n')
    calls: list[tuple[int, int]] = []
    sweep = ecnlab.sweep(experiment, tmp_path / "out", progress=counting(calls))
    assert calls == [(12, 12)]
    assert sweep.metrics.filter(metric="flows")["value"].to_list() == [2.0] * 12


def test_a_table_not_kept_is_made_by_running_again(experiment, tmp_path):
    sweep = ecnlab.sweep(experiment, tmp_path / "out")
    with pytest.raises(ecnlab.FolderError, match="keep"):
        sweep.table("transactions")
    calls: list[tuple[int, int]] = []
    sweep = ecnlab.sweep(experiment, tmp_path / "out", keep=["queue_series"], progress=counting(calls))
    assert calls[0] == (0, 12)
    assert sweep.table("queue_series").select(pl.col("id").n_unique()).collect().item() == 12


def test_runs_of_another_build_are_done_again(experiment, tmp_path, monkeypatch):
    ecnlab.sweep(experiment, tmp_path / "out")
    (tmp_path / "out" / "parts").mkdir()
    (tmp_path / "out" / "parts" / f"{0:016x}.{0:032x}.parquet").touch()  # of version 0.2.0
    monkeypatch.setattr("ecnlab.base.provenance.build", lambda: "another")
    calls: list[tuple[int, int]] = []
    ecnlab.sweep(experiment, tmp_path / "out", progress=counting(calls))
    assert calls[0] == (0, 12)
    assert not (tmp_path / "out" / "parts").exists()


def test_only_a_new_sweep_starts_its_workers_early(experiment, tmp_path, monkeypatch):
    begun: list[int] = []
    monkeypatch.setattr(sys.modules["ecnlab.runs.sweep"], "begin", begun.append)
    for _ in range(2):
        ecnlab.sweep(experiment, tmp_path / "out", workers=2)
    assert begun == [2]


def test_a_killed_sweep_loses_only_what_was_running(slow_experiment, tmp_path):
    folder = tmp_path / "out"
    slow_experiment.write_text(EXPERIMENT.replace("replicates = 3", "replicates = 2"))
    command = ecnlab_command("sweep", slow_experiment, "--out", folder, "--workers", 1)
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        wait_for(lambda: len(parts(folder)) >= 2, process)
        process.kill()
    saved = parts(folder)
    assert len(saved) < 8
    with pytest.raises(ecnlab.FolderError, match="not complete"):
        ecnlab.load(folder)
    (folder / "parts" / ".torn.arrows.1.partial").write_bytes(b"half a run")
    saved[0].write_bytes(b"torn")  # a file that the disk lost is done again
    calls: list[tuple[int, int]] = []
    sweep = ecnlab.sweep(slow_experiment, folder, progress=counting(calls))
    assert calls[0] == (len(saved) - 1, 8)
    assert sweep.runs.height == sweep.table("links").filter(link="pipe").collect().height == 8
    assert not (folder / "parts").exists()


def test_an_interrupt_stops_at_once_and_says_how_to_go_on(slow_experiment, tmp_path):
    folder = tmp_path / "out"
    scenario = slow_experiment.with_name("pipe.toml")
    scenario.write_text(scenario.read_text().replace('"2000 s"', '"2000000 s"'))  # hours
    command = ecnlab_command("sweep", slow_experiment, "--out", folder, "--workers", 1)
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        wait_for((folder / "specs.json").exists, process)
        process.send_signal(signal.SIGINT)
        try:
            _, said = process.communicate(timeout=30)
        finally:
            process.kill()
    assert process.returncode == 130
    assert "the same command continues" in said
    assert "Traceback" not in said


def test_a_worker_that_is_stopped_before_it_has_begun_begins_nothing(scenario):
    one = Worker()
    one.stop()
    with pytest.raises(Cancelled):
        one.do(ecnlab.scenario.read_scenario(scenario), {})


def test_a_sweep_interrupted_between_two_renames_is_put_right(experiment, tmp_path):
    folder = tmp_path / "out"
    before = ecnlab.sweep(experiment, folder).metrics
    (folder / "tables").rename(folder / ".tables.old")
    assert ecnlab.load(folder).metrics.equals(before)


def test_one_folder_one_writer(experiment, tmp_path):
    from ecnlab.folder.replaced import only_writer

    ecnlab.sweep(experiment, tmp_path / "out")
    with only_writer(tmp_path / "out"), pytest.raises(ecnlab.FolderError, match="another process"):
        ecnlab.sweep(experiment, tmp_path / "out")


def test_a_folder_is_never_another_sweeps(experiment, tmp_path):
    ecnlab.sweep(experiment, tmp_path / "out", replicates=2)
    with pytest.raises(ecnlab.FolderError, match="use its 2 replicates"):
        ecnlab.sweep(experiment, tmp_path / "out", replicates=1)
    experiment.write_text(EXPERIMENT.replace("0.02", "0.05").replace("marks against", "others against"))
    with pytest.raises(ecnlab.FolderError, match="holds another sweep"):
        ecnlab.sweep(experiment, tmp_path / "out")


@pytest.mark.parametrize("reordered", [False, True])
def test_a_changed_sweep_is_compared_at_the_same_point(experiment, scenario, tmp_path, reordered) -> None:
    """Also if the first stored run is of another point than the first run of the experiment."""
    ecnlab.sweep(experiment, tmp_path / "out", replicates=1)
    text = scenario.read_text()
    scenario.write_text(text.replace('delay = "1 ms"', 'delay = "3 ms"', 1))
    if reordered:
        experiment.write_text(
            EXPERIMENT.replace("[0.02, 0.1]", "[0.1, 0.02]").replace('["low", "high"]', '["high", "low"]')
        )
    with pytest.raises(ecnlab.FolderError) as refused:
        ecnlab.sweep(experiment, tmp_path / "out", replicates=1)
    assert "max_p" not in str(refused.value) and "ecn:" not in str(refused.value)
    assert "delay: 1 ms against 3 ms); choose" in str(refused.value)


def test_arms_that_ask_the_same_share_their_runs(experiment, tmp_path):
    experiment.write_text(EXPERIMENT.replace('{ "queue.red.ecn" = false }', "{}"))
    calls: list[tuple[int, int]] = []
    sweep = ecnlab.sweep(experiment, tmp_path / "out", progress=counting(calls))
    assert calls[-1] == (6, 6)
    assert sweep.runs.height == 12
    value = sweep.metrics.filter(metric="marked")
    assert value.filter(arm="red")["value"].equals(value.filter(arm="blind")["value"])


def test_an_axis_hides_no_column(experiment, tmp_path):
    series = ecnlab.sweep(experiment, tmp_path / "out", keep=["queue_series"]).table("queue_series")
    row = series.filter(arm="red", max_p="high", link="pipe").first().collect().row(0, named=True)
    assert (row["max_p"], row["max_p_recorded"]) == ("high", 0.1)
    for name in ("arm", "replicate", "seed", "id", "spec_hash", "metric", "value"):
        experiment.write_text(EXPERIMENT.replace("grid.max_p", f"grid.{name}"))
        with pytest.raises(ecnlab.SpecError, match=f"`grid.{name}`"):
            ecnlab.sweep(experiment, tmp_path / "other")


def test_an_experiment_needs_no_metric_no_arm_and_no_axis(scenario, tmp_path):
    experiment = scenario.with_name("bare.toml")
    experiment.write_text('format = 1\nscenario = "pipe.toml"\nreplicates = 2\n')
    sweep = ecnlab.sweep(experiment, tmp_path / "out")
    assert sweep.runs["arm"].to_list() == [None, None]
    assert sweep.metrics.height == sweep.summary().height == 0
    assert sweep.table("flows").collect().height == 4


def captures_of(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in (folder / "captures").rglob("*") if path.is_file())


def test_each_run_of_a_sweep_is_captured_where_asked(experiment, scenario, tmp_path):
    scenario.write_text(scenario.read_text() + '\n[capture.here]\nlink = "pipe"\n')
    sweep = ecnlab.sweep(experiment, tmp_path / "out", replicates=1, capture=["server"])
    ids = sweep.runs["id"].to_list()
    assert captures_of(sweep.folder) == sorted(f"captures/{i}/{n}.pcapng" for i in ids for n in ("here", "server"))
    run = sweep.runs.row(0, named=True)
    traced = ecnlab.trace(sweep.captures[run["id"]][1]).directions
    flows = sweep.table("flows").filter(id=run["id"]).collect()
    # The measurement window is a part of the run, which the capture has as a whole.
    assert traced["packets"].sum() > flows["segments_sent"].sum() > 0


def test_a_capture_that_is_missing_is_made_and_changes_nothing(experiment, tmp_path):
    plain = ecnlab.sweep(experiment, tmp_path / "out", replicates=1).table("flows").collect()
    calls: list[tuple[int, int]] = []
    tapped = ecnlab.sweep(experiment, tmp_path / "out", replicates=1, capture=["pipe"], progress=counting(calls))
    assert calls[0] == (0, 4)
    assert tapped.table("flows").collect().equals(plain)
    lost = tapped.captures[tapped.runs["id"][2]][0]
    lost.unlink()
    calls.clear()
    ecnlab.sweep(experiment, tmp_path / "out", replicates=1, capture=["pipe"], progress=counting(calls))
    assert calls == [(3, 4), (4, 4)] and lost.exists()


def test_a_place_there_is_none_of_is_told_before_the_first_run(experiment, cli, tmp_path):
    done = cli("sweep", experiment, "--out", "out", "--capture", "pip")
    assert done.returncode == 2 and "pip" in done.stderr and "Traceback" not in done.stderr
    assert not (tmp_path / "out" / "captures").exists()
    assert (
        cli("sweep", experiment, "--replicates", 1, "--workers", 1, "--capture", "pipe", "--out", "out").returncode == 0
    )


def test_intervals_stay_within_the_range_of_the_metric(experiment, tmp_path):
    more = 'fairness = { table = "flows", column = "goodput_bps", aggregate = "jain" }\n'
    more += 'timeouts = { table = "flows", column = "timeouts", aggregate = "sum" }\n'
    more += 'gap = { difference = ["marked", "dropped"] }\n'
    experiment.write_text(experiment.read_text() + more)
    sweep = ecnlab.sweep(experiment, tmp_path / "out", replicates=2)
    found = {
        name: sweep.summary().filter(metric=name) for name in ("fairness", "marked", "timeouts", "advantage", "gap")
    }
    # With two replicates Student's t is 12.7 standard errors: nearly every interval reaches a bound.
    assert found["fairness"]["high"].max() == 1.0
    assert found["fairness"]["low"].min() >= 0.0
    assert found["marked"]["low"].min() == 0.0
    assert found["timeouts"]["low"].min() >= 0.0
    assert found["advantage"]["low"].min() == -1.0
    assert found["gap"]["low"].min() < 0.0
    assert all((rows["low"] <= rows["mean"]).all() and (rows["mean"] <= rows["high"]).all() for rows in found.values())
    assert sweep.plot.effect("fairness").data()["high"].max() == 1.0


def test_one_replicate_has_no_interval(experiment, tmp_path):
    rows = ecnlab.sweep(experiment, tmp_path / "out", replicates=1).summary()
    assert rows["mean"].null_count() == 0
    assert rows["low"].null_count() == rows["high"].null_count() == rows.height


def test_a_sweep_is_stored_in_the_folder_that_is_current_when_it_begins(experiment, tmp_path, monkeypatch):
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        ecnlab.sweep(experiment, "out", replicates=1)  # the second is done by the workers of the first
        assert (tmp_path / name / "out" / "manifest.json").is_file()
