"""The command line: what it prints, how it ends, and that it never shows a traceback."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import jsonschema
import polars as pl
import pytest
from click.testing import CliRunner
from conftest import EXPERIMENT, SCENARIO, ecnlab_command

import ecnlab
from ecnlab.base.errors import RunError
from ecnlab.cli import cli as commands
from ecnlab.cli import main
from ecnlab.folder.completion import of_transactions

CRR = 'traffic = { kind = "crr", request = "100 B", response = "2 kB" }\ntcp = "plain"'

OK, NO, BAD_INPUT, IO_FAILED, INTERRUPTED = 0, 1, 2, 3, 130


@pytest.fixture(scope="module")
def stored(tmp_path_factory) -> Path:
    """A folder with the run ``one`` and the sweep ``many``, which no test changes."""
    folder = tmp_path_factory.mktemp("stored")
    (folder / "pipe.toml").write_text(SCENARIO)
    (folder / "gain.toml").write_text(EXPERIMENT)
    ecnlab.run(folder / "pipe.toml", out=folder / "one")
    ecnlab.sweep(folder / "gain.toml", folder / "many", replicates=1, workers=1)
    return folder


def assert_fails(done: subprocess.CompletedProcess[str], code: int, *said: str) -> None:
    assert done.returncode == code, done.stderr
    for text in said:
        assert text in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [("--version",), ("laws",), ("run", "gone.toml"), ("check", "pipe.toml"), ("show", "gone", "--json"), ("run",)],
    ids=" ".join,
)
def test_a_fork_does_what_a_process_of_its_own_does(cli, scenario, tmp_path, arguments):
    forked = cli(*arguments)
    own = subprocess.run(ecnlab_command(*arguments), cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (forked.returncode, forked.stdout, forked.stderr) == (own.returncode, own.stdout, own.stderr)


def test_run_prints_tables_and_where_they_are(cli, scenario, tmp_path):
    done = cli("run", scenario)
    assert done.returncode == OK
    assert "marked" in done.stdout
    *_, stored, report = done.stdout.splitlines()
    folder = stored.removeprefix("stored in ")
    assert report == f"report: ecnlab report {folder}"
    assert folder.startswith("results/pipe-")
    assert folder.endswith("-seed1")
    assert (tmp_path / folder / "manifest.json").exists()


def test_run_json(cli, scenario):
    result = json.loads(cli("run", scenario, "--json").stdout)
    assert [flow["group"] for flow in result["flows"]] == ["dropped", "marked"]
    assert result["manifest"]["seed"] == 1


def test_sweep_json_and_progress_on_the_other_stream(cli, experiment):
    done = cli("sweep", experiment, "--json", "--replicates", 2)
    result = json.loads(done.stdout)
    assert result["runs"] == 8
    assert {"arm", "max_p", "metric", "mean", "low", "high", "n"} == set(result["metrics"][0])
    assert "8 of 8 runs" in done.stderr


def test_show_both_kinds(cli, stored):
    one, many = stored / "one", stored / "many"
    assert "utilisation" in cli("show", one).stdout
    assert "advantage" in cli("show", many).stdout
    assert len(json.loads(cli("show", many, "--table", "flows", "--json").stdout)["flows"]) == 8
    assert cli("show", one, "--table", "flow_series", "--rows", 3).stdout.count("\n") > 5


def test_completion_times_of_groups_are_quantiles_of_the_measured_transactions():
    # Ranks 0 to 9 of 1 to 10 s: 0.5, 0.9 and 0.99 of 9 are 4.5, 8.1 and 8.91, rounded up 5 and 9.
    times = [float(i) for i in range(10, 0, -1)]
    rows = pl.DataFrame(
        {
            "group": ["b"] * 10 + ["a", "a"],
            "latency_s": [*times, 7.0, 100.0],
            "measured": [True] * 11 + [False],
        }
    )
    columns = ["group", "completed", "mean_s", "median_s", "p90_s", "p99_s", "longest_s"]
    found = of_transactions(rows.lazy())
    assert found.columns == columns
    assert found.rows() == [("a", 1, 7.0, 7.0, 7.0, 7.0, 7.0), ("b", 10, 5.5, 6.0, 10.0, 10.0, 10.0)]


def test_show_has_completion_times_where_transactions_ended(cli, scenario, tmp_path):
    cli("run", scenario, "--out", "without")
    assert "completion\n" not in cli("show", "without").stdout
    text = scenario.read_text().replace('traffic = "ftp"\ntcp = "plain"', CRR)
    (tmp_path / "crr.toml").write_text(text)
    cli("run", "crr.toml", "--out", "with")
    shown = cli("show", "with").stdout
    rows = pl.read_parquet(tmp_path / "with" / "transactions.parquet").filter("measured")
    assert rows.height > 10
    table = shown[shown.index("completion\n") :].splitlines()
    assert table[2].split()[:2] == ["dropped", str(rows.height)]
    assert json.loads(cli("show", "with", "--json").stdout).keys() == {"manifest"}


def test_compare(cli, scenario, tmp_path):
    for seed, folder in ((1, "a"), (1, "again"), (2, "b")):
        cli("run", scenario, "--seed", seed, "--out", folder)
    assert cli("compare", "a", "again").stdout == "The results are the same, bit for bit.\n"
    done = cli("compare", "a", "b")
    assert done.returncode == NO
    assert "seed: 1 against 2" in done.stdout
    scenario.write_text(SCENARIO.replace("max_p = 0.1", "max_p = 0.2"))
    cli("run", scenario, "--out", "c")
    difference = json.loads(cli("compare", "a", "c", "--json").stdout)
    assert difference["reasons"] == ["queue.red.max_p: 0.1 against 0.2"]


def test_compare_finds_a_changed_table(cli, scenario, tmp_path):
    from ecnlab.folder.sealed_json import read_json, write_json
    from ecnlab.folder.tables import read_table, write_table
    from ecnlab.folder.verified import digests_of

    for folder in ("a", "b"):
        cli("run", scenario, "--out", folder)
    links = read_table(tmp_path / "b" / "links.parquet")
    write_table(tmp_path / "b" / "links.parquet", links.with_columns(lost=links["lost"] + 1))
    manifest = read_json(tmp_path / "b" / "manifest.json")
    write_json(tmp_path / "b" / "manifest.json", manifest | {"files": digests_of(tmp_path / "b")})
    done = cli("compare", "a", "b")
    assert done.returncode == NO
    assert f"Table links differs: lost in {links.height} of {links.height} rows.\n" in done.stdout
    assert done.stdout.startswith("No difference shown: a and b have the same total goodput")


def test_compare_of_a_run_and_a_sweep(cli, stored):
    done = cli("compare", stored / "one", stored / "many")
    assert done.returncode == NO
    assert "one is a run, the other a sweep" in done.stdout


def test_check_names_file_line_key_and_the_nearest_valid_one(cli, scenario, experiment):
    assert cli("check", scenario, experiment).returncode == OK
    scenario.write_text(SCENARIO.replace("min_th", "minth"))
    done = cli("check", scenario)
    line = SCENARIO.splitlines().index('min_th = "5 packets"') + 1
    assert_fails(done, NO, f"{scenario}:{line}:", "`queue.red.minth`", "did you mean `min_th`?")
    (found,) = [
        one for one in json.loads(cli("check", scenario, "--json").stdout)["findings"] if "minth" in one["message"]
    ]
    assert found["line"] == line


@pytest.mark.parametrize("name", ["published", "metrics", "reasons", "red-settings", "checklist"])
def test_check_of_a_file_of_another_kind_says_so(cli, name):
    file = Path(__file__).parents[2] / "papers" / "rfc2884" / f"{name}.toml"
    assert_fails(cli("check", file), NO, f"{file}: is neither a scenario nor an experiment")
    (found,) = json.loads(cli("check", file, "--json").stdout)["findings"]
    assert (found["path"], found["line"]) == (str(file), 1)


def test_check_of_an_experiment_follows_its_scenario(cli, experiment):
    experiment.write_text(EXPERIMENT.replace("queue.red.max_p", "queue.rad.max_p"))
    assert_fails(cli("check", experiment), NO, "gain.toml:", "did you mean `red`?")
    experiment.write_text(EXPERIMENT.replace("pipe.toml", "gone.toml"))
    assert_fails(cli("check", experiment), NO, "gone.toml")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "`format` is missing"),
        ("format = 2", "unknown format version 2"),
        ("format = ", "pipe.toml:1:"),
        (SCENARIO.replace('"2 Mbps"', '"2 Mb"'), "rate"),
        (SCENARIO.replace('"4 s"', '"-4 s"'), "duration"),
        (SCENARIO.replace('to = "client"\ntraffic', 'to = "clint"\ntraffic'), "clint"),
    ],
)
def test_bad_scenarios(cli, scenario, text, said):
    scenario.write_text(text)
    for command in (("run", scenario), ("check", scenario)):
        done = cli(*command)
        assert_fails(done, NO if command[0] == "check" else BAD_INPUT, said)
        assert done.stdout == ""


def test_files_that_are_no_text(cli, scenario, tmp_path):
    scenario.write_bytes(b"\xff\xfe\x00")
    assert_fails(cli("run", scenario), BAD_INPUT, "not UTF-8")
    assert_fails(cli("run", "gone.toml"), IO_FAILED, "gone.toml", "No such file")
    assert_fails(cli("run", tmp_path), IO_FAILED, "Is a directory")


def test_bad_metrics_are_found_before_the_first_run(cli, experiment, tmp_path):
    experiment.write_text(EXPERIMENT.replace('"goodput_bps"', '"goodput"', 1))
    assert_fails(cli("sweep", experiment, "--out", "out"), BAD_INPUT, "did you mean `goodput_bps`?")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("run",),
        ("run", "pipe.toml", "--seed", "-1"),
        ("run", "pipe.toml", "--seed", str(2**64)),
        ("sweep", "gain.toml", "--workers", "0"),
        ("sweep", "gain.toml", "--keep", "flwos"),
        ("nothing",),
        ("profiles", "windows-95"),
        ("reproduce", "rfc9999"),
        ("show", "gone"),
        ("compare", "gone", "gone"),
    ],
)
def test_bad_questions(cli, experiment, arguments):
    assert_fails(cli(*arguments), BAD_INPUT)


def test_a_folder_that_is_not_ours_is_left_alone(cli, scenario, experiment, tmp_path):
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "thesis.tex").write_text("text")
    assert_fails(cli("run", scenario, "--out", precious), BAD_INPUT, "holds no result")
    assert_fails(cli("sweep", experiment, "--out", precious), BAD_INPUT, "holds no result")
    assert [path.name for path in precious.iterdir()] == ["thesis.tex"]


def test_an_unwritable_folder(cli, scenario, experiment, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    for command in ("run", scenario), ("sweep", experiment):
        assert_fails(cli(*command, "--out", blocked / "out"), IO_FAILED, "file")


def test_a_full_disk_leaves_nothing_half_written(scenario, tmp_path):
    def tiny_disk() -> None:
        # A limit on the size of files fails a write in its middle, as a full disk does, without needing one.
        resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, 2_000))

    command = ecnlab_command("run", scenario, "--events", "--out", tmp_path / "out")
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, preexec_fn=tiny_disk)
    assert_fails(done, IO_FAILED, ".parquet: File too large")
    assert [path.name for path in tmp_path.iterdir()] == ["pipe.toml"]


def test_a_result_that_cannot_be_printed(scenario, tmp_path):
    with open("/dev/full", "w") as full:  # noqa: PTH123
        command = ecnlab_command("run", scenario, "--out", tmp_path / "out")
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    assert_fails(done, IO_FAILED, "No space left")
    assert (tmp_path / "out" / "manifest.json").exists()


def test_a_damaged_sweep(cli, stored, tmp_path):
    shutil.copytree(stored / "many", tmp_path / "out")
    (tmp_path / "out" / "tables" / "flows.parquet").write_bytes(b"PAR1")
    assert_fails(cli("show", "out", "--table", "flows"), BAD_INPUT, "damaged")


def test_a_defect_of_the_simulator_is_not_the_users_fault(monkeypatch, scenario, capsys):
    def broken(*_args, **_kwargs):
        raise RunError("conservation is violated")

    monkeypatch.setattr("ecnlab.cli.run.run_scenario", broken)
    monkeypatch.setattr("signal.signal", lambda *_: None)  # the process is the test runner's
    with pytest.raises(SystemExit) as ended:
        main(["run", str(scenario)])
    assert ended.value.code == 4
    assert "conservation is violated" in capsys.readouterr().err


def test_a_reader_who_has_seen_enough(scenario, tmp_path):
    command = ecnlab_command("schema")
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.close()
        assert process.stderr
        said = process.stderr.read()
    assert process.returncode == -signal.SIGPIPE
    assert said == b""


ENDLESS = SCENARIO.replace('"4 s"', '"2000000 s"').replace('sample = "100 ms"\n', "")  # hours

PIPE_BYTES = 2**17
"""More than a pipe holds, 64 kB."""


def test_an_interrupt_ends_a_run(tmp_path):
    command = ecnlab_command("run", "/dev/stdin", "--out", tmp_path / "out")
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen(command, **pipes, text=True) as process:
        assert process.stdin
        # Writing more than a pipe holds returns when the other end reads it: by then the command runs.
        process.stdin.write(ENDLESS + "#" * PIPE_BYTES)
        process.stdin.close()
        process.stdin = None
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        try:
            _, said = process.communicate(timeout=30)
        finally:
            process.kill()
    assert process.returncode == INTERRUPTED
    assert said.strip() == "interrupted"
    assert list(tmp_path.iterdir()) == []


def test_schemas_accept_what_the_parser_accepts(cli, scenario, experiment):
    import tomllib

    for kind, text in (("scenario", SCENARIO), ("experiment", EXPERIMENT)):
        schema = json.loads(cli("schema", kind).stdout)
        validator = jsonschema.validators.validator_for(schema)(schema)
        validator.check_schema(schema)
        document = tomllib.loads(text)
        validator.validate(document)
        with pytest.raises(jsonschema.ValidationError):
            validator.validate(document | {"titel": "a slip"})


def test_profiles_and_laws(cli):
    profiles = json.loads(cli("profiles", "--json").stdout)
    assert {"modern", "linux-2.0", "linux-2.2", "ns-2.35"} <= profiles.keys()
    assert all(entry["source"] for profile in profiles.values() for entry in profile["settings"].values())
    shown = cli("profiles", "linux-2.0").stdout
    assert all(key in shown for key in profiles["linux-2.0"]["settings"])
    assert {"red", "droptail"} <= set(json.loads(cli("laws", "--json").stdout)["queue"])


def test_every_command_has_help_with_what_it_takes():
    for name, command in commands.commands.items():
        shown = CliRunner().invoke(commands, [name, "--help"]).output
        assert command.get_short_help_str(200)
        if any(parameter.param_type_name == "argument" for parameter in command.params) and name != "schema":
            assert "Examples:" in shown


def test_no_pandas_needed():
    code = "import sys; sys.modules['pandas'] = None; import ecnlab.cli; sys.exit('pyarrow' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], env=os.environ, check=False).returncode == OK
