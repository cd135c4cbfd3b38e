"""The documentation names everything there is, and nothing else."""

from __future__ import annotations

import os
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


WRITE = "ECNLAB_WRITE_COLUMNS"
"""The environment variable with which the tables of the page are written."""


def with_tables(page):
    """The page of run folders with the tables of columns as they are."""
    for table, columns in DOCUMENTED.items():
        rows = "".join(f"| `{name}` | {column.unit} | {column.meaning} |\n" for name, column in columns.items())
        head = "| column | unit | meaning |\n| --- | --- | --- |\n"
        page, found = re.subn(
            rf"(^### {table}\n(?:(?!^##).*\n)*?){re.escape(head)}(?:\|.*\n)*",
            lambda match, table=head + rows: match[1] + table,
            page,
            flags=re.MULTILINE,
        )
        assert found == 1, table
    return page


def test_every_column_is_documented_with_its_unit():
    page = DOCS / "run-folder.md"
    made = with_tables(page.read_text())
    if os.environ.get(WRITE):
        page.write_text(made)
    assert page.read_text() == made, f"write the tables anew: {WRITE}=1 pytest {__file__}"


def test_a_column_that_is_missing_in_the_page_is_seen():
    page = (DOCS / "run-folder.md").read_text()
    without = re.sub(r"^\| `cwr_sent` .*\n", "", page, flags=re.MULTILINE)
    assert without != page and with_tables(without) == with_tables(page)


@pytest.mark.parametrize("name", cli.commands)
def test_every_command_and_option_is_documented(name):
    text = (DOCS / "cli.md").read_text()
    section = re.search(rf"^## {name}\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)
    assert section, name
    command = cli.commands[name]
    parts = command.commands.values() if isinstance(command, click.Group) else [command]
    options = {option for part in parts for parameter in part.params for option in parameter.opts if option[0] == "-"}
    assert set(re.findall(r"`(--?[a-z][a-z-]*)", section[1])) == options


PAGES = [
    DOCS.parent / "README.md",
    DOCS.parent / "CHANGELOG.md",
    *DOCS.rglob("*.md"),
    *DOCS.parent.glob("papers/**/*.md"),
]


def prose(page: Path) -> str:
    """The text of ``page`` without what is code."""
    blocks = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"`[^`\n]*`", "code", blocks)


def anchors(page: Path) -> set[str]:
    """What a link to ``page`` may have behind ``#``: its headings, as GitHub writes them, and named places."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    found: dict[str, int] = {}
    for heading in re.findall(r"^#{1,6} +(.+?) *#*$", text, re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        anchor = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        found[anchor] = found.get(anchor, -1) + 1
        if found[anchor]:
            found[f"{anchor}-{found[anchor]}"] = 0
    return {*found, *re.findall(r'<a (?:id|name)="([^"]+)"', text)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS.parent)))
def test_every_link_and_anchor_leads_somewhere(page):
    dead = []
    for link in re.findall(r"\]\(<?([^)\s>]+)", prose(page)):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(target)):
            dead.append(link)
    assert dead == []


def test_an_anchor_that_is_not_there_is_seen(tmp_path):
    page = tmp_path / "x.md"
    page.write_text("# Two `words`\n## A\n## A\n```\n# no heading\n```\n")
    assert anchors(page) == {"two-words", "a", "a-1"}


def test_the_scenario_of_the_readme_runs_and_its_mistake_is_told_as_printed():
    readme = (DOCS.parent / "README.md").read_text()
    scenario = re.search(r"```toml\n(.*?)```", readme, re.DOTALL)
    told = re.search(r"```text\n(dumbbell\.toml:.*?)```", readme, re.DOTALL)
    assert scenario and told
    Scenario("dumbbell.toml", scenario[1])
    with pytest.raises(SpecError) as error:
        Scenario("dumbbell.toml", scenario[1].replace("min_th", "minth"))
    assert str(error.value).strip() == told[1].strip()
