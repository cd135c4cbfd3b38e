"""The documentation names everything there is, and nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from ecnlab import Scenario, SpecError
from ecnlab.cli import cli
from ecnlab.columns import PREDICTION, TABLES

DOCS = Path(__file__).parents[2] / "docs"


DOCUMENTED = {name: columns for name, columns in TABLES.items() if not name.endswith("_run")} | {
    "prediction": PREDICTION
}


@pytest.mark.parametrize("table", DOCUMENTED)
def test_every_column_is_documented_with_its_unit(table):
    text = (DOCS / "run-folder.md").read_text()
    section = re.search(rf"^### {table}\n(.*?)(?=^##|\Z)", text, re.DOTALL | re.MULTILINE)
    assert section, table
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \| (.*?) \|$", section[1], re.MULTILINE)
    assert rows == [(name, column.unit, column.meaning) for name, column in DOCUMENTED[table].items()]


@pytest.mark.parametrize("name", cli.commands)
def test_every_command_and_option_is_documented(name):
    text = (DOCS / "cli.md").read_text()
    section = re.search(rf"^## {name}\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)
    assert section, name
    command = cli.commands[name]
    parts = command.commands.values() if isinstance(command, click.Group) else [command]
    options = {option for part in parts for parameter in part.params for option in parameter.opts if option[0] == "-"}
    assert set(re.findall(r"`(--[a-z]+)", section[1])) == options


def test_the_scenario_of_the_readme_runs_and_its_mistake_is_told_as_printed():
    readme = (DOCS.parent / "README.md").read_text()
    scenario = re.search(r"```toml\n(.*?)```", readme, re.DOTALL)
    told = re.search(r"```\n(dumbbell\.toml:.*?)```", readme, re.DOTALL)
    assert scenario and told
    Scenario("dumbbell.toml", scenario[1])
    with pytest.raises(SpecError) as error:
        Scenario("dumbbell.toml", scenario[1].replace("min_th", "minth"))
    assert str(error.value).strip() == told[1].strip()
