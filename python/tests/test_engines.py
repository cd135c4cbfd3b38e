"""One notion of engine: what each is asked, what it refuses, and that their results do not meet in one folder."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import SCENARIO

import ecnlab
from ecnlab.agreement.means import agree
from ecnlab.base.errors import EcnlabError, FolderError
from ecnlab.base.types import Engine
from ecnlab.engines.protocol import ENGINES, LINUX, MODEL, PACKETS, seed_for, suffix
from ecnlab.folder.names import MANIFEST
from ecnlab.folder.sealed_json import read_json, write_json


def test_the_seed_is_one_unless_said_and_a_model_has_none():
    assert [seed_for(engine, None) for engine in (PACKETS, LINUX, MODEL)] == [1, 1, None]
    assert [seed_for(engine, 0) for engine in (PACKETS, LINUX)] == [0, 0]


@pytest.mark.parametrize(
    ("asked", "option"),
    [({"seed": 0}, "seed"), ({"events": True}, "events"), ({"captures": "shark"}, "capture")],
)
def test_chance_and_packets_are_refused_by_the_model(scenario, tmp_path, asked, option):
    with pytest.raises(EcnlabError, match=f"no random numbers and no packets: leave out `{option}`"):
        ecnlab.run(scenario, engine="model", out=tmp_path / "out", **asked)
    assert not (tmp_path / "out").exists()


def test_the_command_refuses_the_same(cli, scenario):
    done = cli("run", scenario, "--engine", "model", "--capture", "pipe")
    assert done.returncode == 2
    assert "`--capture`" in done.stderr


def test_a_run_of_the_model_is_its_prediction(scenario):
    run = ecnlab.run(scenario, engine="model")
    assert (run.manifest["engine"], run.manifest["seed"], run.tables) == ("model", None, ("prediction",))


def test_what_measures_several_seeds_is_no_question_for_a_model(cli, experiment, tmp_path):
    for command in ("sweep", "agree"):
        done = cli(command, experiment, "--engine", "model", "--out", "out")
        assert done.returncode == 2
        assert "no random numbers and writes no such tables: `ecnlab run --engine model`" in done.stderr
    assert not (tmp_path / "out").exists()


def test_the_simulator_is_not_set_beside_itself(scenario, tmp_path):
    with pytest.raises(EcnlabError, match="name another, such as `linux`"):
        agree(scenario, tmp_path / "out", engine="packets")


def test_every_command_knows_the_same_engines(cli, scenario, experiment):
    for command, file in (("run", scenario), ("sweep", experiment), ("agree", scenario)):
        done = cli(command, file, "--engine", "ns-2")
        assert done.returncode == 2
        assert all(f"'{engine}'" in done.stderr for engine in ENGINES)


def test_default_folders_name_the_engine(cli, scenario):
    stem = f"{scenario.stem}-{ecnlab.Scenario(str(scenario), scenario.read_text()).hash[:8]}"
    for options, name in (((), "-seed1"), (("--engine", "model"), "-model")):
        said = json.loads(cli("run", scenario, "--json", *options).stdout)
        assert Path(said["folder"]) == Path("results") / (stem + name)
    assert [suffix(engine) for engine in ENGINES] == ["", "-model", "-linux"]


@pytest.mark.parametrize("engine", [MODEL, LINUX])
def test_a_run_is_not_replaced_by_another_engines(scenario, tmp_path, engine: Engine):
    ecnlab.run(scenario, out=tmp_path / "out")
    with pytest.raises(FolderError, match=r"holds another run .*engine `packets`"):
        ecnlab.run(scenario, out=tmp_path / "out", engine=engine)


def test_a_sweep_is_not_continued_by_another_engine(experiment, tmp_path):
    ecnlab.sweep(experiment, tmp_path / "out", replicates=1)
    with pytest.raises(FolderError, match=r"holds another sweep .*engine `packets`"):
        ecnlab.sweep(experiment, tmp_path / "out", replicates=1, engine="linux")


def test_a_folder_that_names_no_engine_is_the_simulators(scenario, tmp_path):
    folder = tmp_path / "out"
    ecnlab.run(scenario, out=folder)
    manifest = read_json(folder / MANIFEST)
    del manifest["engine"]
    write_json(folder / MANIFEST, manifest)
    assert ecnlab.load(folder).manifest["engine"] == "packets"
    ecnlab.run(scenario, out=folder)


def test_a_folder_with_hidden_files_of_others_is_not_free(scenario, tmp_path):
    (tmp_path / "out/.git").mkdir(parents=True)
    with pytest.raises(FolderError, match="holds no result"):
        ecnlab.run(scenario, out=tmp_path / "out")
    assert (tmp_path / "out/.git").is_dir()


@pytest.mark.parametrize(
    ("added", "key"), [('[capture.here]\nlink = "pipe"\n', "capture.here"), ("packets = true\n", "packets")]
)
def test_the_model_refuses_packets_that_the_scenario_asks_for_with_their_line(scenario, cli, tmp_path, added, key):
    # Tables stand behind the keys of the file itself.
    text = SCENARIO + "\n" + added if added.startswith("[") else added + SCENARIO
    scenario.write_text(text)
    line = text.splitlines().index(added.splitlines()[0]) + 1
    done = cli("run", scenario, "--engine", "model", "--out", "out")
    assert done.returncode == 2 and not (tmp_path / "out").exists()
    assert f"{scenario}:{line}:" in done.stderr
    assert f"`{key}`: the engine `model` sends no packets" in done.stderr
    assert "use the engine `packets`" in done.stderr
