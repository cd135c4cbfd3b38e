"""``ecnlab examples``: every example under one question, and copies that can be run elsewhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import mostly_slow

import ecnlab
from ecnlab.base.errors import EcnlabError
from ecnlab.cli.examples import catalogue
from ecnlab.papers import registry
from ecnlab.runs.examples import TRACE

COPIED = ("dumbbell", "gain", "mobile", "userlaws", "becn", "prague")
"""A scenario, an experiment, a trace, laws in Python, and two sets of laws: examples that `make test` copies."""

FOLDER = Path(__file__).parents[2] / "examples"


def test_every_example_is_under_one_question() -> None:
    assert sorted(example.name for example in catalogue()) == sorted(path.stem for path in FOLDER.glob("*.toml"))


def test_the_list_has_each_question_once_above_its_examples(cli) -> None:
    done = cli("examples")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    at = lines.index("What does ECN gain over drops?")
    assert lines[at + 1].split(maxsplit=2) == ["dumbbell", "scenario", "Dumbbell of 10 ECN flows"]
    lab = lines.index("For a class")
    assert lab == len(catalogue()) + len({example.question for example in catalogue()})


def test_the_list_for_programs_names_the_files_of_an_example(cli) -> None:
    found = {each["name"]: each for each in json.loads(cli("examples", "--json").stdout)}
    assert found["gain"]["files"] == ["gain.toml", "dumbbell.toml"]
    assert found["userlaws"]["files"] == ["userlaws.toml", "laws/step.py", "laws/reno.py"]
    assert found["mobile"]["files"] == ["mobile.toml", "traces/lte-slow.csv"]


@pytest.mark.parametrize("name", mostly_slow([example.name for example in catalogue()], *COPIED))
def test_a_copy_is_valid_in_another_folder(cli, tmp_path, name) -> None:
    done = cli("examples", "copy", name, "--out", tmp_path / "mine")
    assert done.returncode == 0
    first = done.stdout.splitlines()[0]
    command = done.stderr.strip().removeprefix("next: ecnlab ").split()
    assert command[1] == first == str(tmp_path / "mine" / f"{name}.toml")
    assert command[0] == ("sweep" if "\nscenario = " in Path(first).read_text() else "run")
    assert cli("check", first).returncode == 0


def test_traces_of_both_formats_are_files_of_a_scenario() -> None:
    text = 'rate = { csv = "a.csv", every = "60 s" }\nrate = {mahimahi="b/c"}  # csv = 5\nrate = { every = "1 s", csv = "d" }'
    assert TRACE.findall(text) == ["a.csv", "b/c", "d"]


def test_a_changed_file_is_not_replaced(cli, tmp_path) -> None:
    (tmp_path / "dumbbell.toml").write_text("# mine\n")
    done = cli("examples", "copy", "gain", "--out", tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "dumbbell.toml exists with another content" in done.stderr and "--out" in done.stderr
    assert (tmp_path / "dumbbell.toml").read_text() == "# mine\n" and not (tmp_path / "gain.toml").exists()


def test_an_unknown_example_is_an_error_with_a_remedy(cli, tmp_path) -> None:
    done = cli("examples", "copy", "gian", "--out", tmp_path)
    assert done.returncode == 2
    assert "'gian'" in done.stderr and "ecnlab examples" in done.stderr


def test_papers_that_an_installation_lacks_are_named_with_a_remedy(monkeypatch, tmp_path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        registry.package_data, "__file__", str(tmp_path / "python" / "ecnlab" / "base" / "package_data.py")
    )
    with pytest.raises(EcnlabError, match="has no papers: install a wheel"):
        registry.find("rfc2884")
    with pytest.raises(EcnlabError, match="no paper is called 'rfc2885'; there are rfc2884"):
        registry.find("rfc2885")


def test_a_program_copies_an_example_with_its_files_and_keeps_equal_ones(tmp_path):
    file = ecnlab.copy_example("mobile", tmp_path)
    assert file == tmp_path / "mobile.toml"
    assert (tmp_path / "traces" / "lte-slow.csv").is_file()
    assert ecnlab.copy_example("mobile", tmp_path) == file
    ecnlab.check(file)
    file.write_text("format = 1\n")
    with pytest.raises(EcnlabError, match="exists with another content: choose another folder"):
        ecnlab.copy_example("mobile", tmp_path)
    with pytest.raises(EcnlabError, match="no example is called 'dumbell'; did you mean 'dumbbell'\\?"):
        ecnlab.copy_example("dumbell", tmp_path)
