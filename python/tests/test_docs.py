"""The documentation names everything there is, and nothing else."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from pathlib import Path

import click
import pytest

from ecnlab import Scenario, SpecError
from ecnlab.cli import cli
from ecnlab.folder.columns import PREDICTION, TABLES

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
    parts = [command, *(command.commands.values() if isinstance(command, click.Group) else [])]
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


def links(page: Path) -> list[str]:
    """The pages to which the first cells of the tables of ``page`` link, by their paths in the documentation."""
    targets = re.findall(r"^\| \[[^\]]*\]\(([^)#]+)\) \|", page.read_text(), re.MULTILINE)
    return [str((page.parent / target).resolve().relative_to(DOCS.parent)) for target in targets]


def test_every_page_is_listed_once():
    index = DOCS / "README.md"
    assert re.findall(r"^## (.*)$", index.read_text(), re.MULTILINE) == ["Use", "Laws", "Evidence", "Development"]
    # Pages of laws are listed in a generated page, in which a law of two families is twice.
    listed = [*links(index), *set(links(DOCS / "generated/laws.md")), *links(DOCS / "notebooks.md")]
    pages = [str(page.relative_to(DOCS.parent)) for page in DOCS.rglob("*.md") if page != index]
    assert sorted(listed) == sorted([*pages, "CHANGELOG.md"])


def test_generated_pages_begin_with_the_command_that_writes_them():
    for page in (DOCS / "generated").iterdir():
        assert page.read_text().startswith("<!-- Generated by `make schema` from "), page


def test_the_readme_links_the_list_of_pages_and_laws_in_python():
    readme = (DOCS.parent / "README.md").read_text()
    assert {"docs/README.md", "docs/userlaws.md"} <= set(re.findall(r"\]\(([^)#]+)", readme))


def test_an_anchor_that_is_not_there_is_seen(tmp_path):
    page = tmp_path / "x.md"
    page.write_text("# Two `words`\n## A\n## A\n```\n# no heading\n```\n")
    assert anchors(page) == {"two-words", "a", "a-1"}


def test_a_mistake_is_told_as_the_page_of_scenarios_prints_it():
    page = (DOCS / "scenario.md").read_text()
    start = page.index("## Thirty flows")
    scenario = "\n".join(re.findall(r"```toml\n(.*?)```", page[start : page.index("\n## ", start + 1)], re.DOTALL))
    told = re.search(r"^    mixed\.toml:\d+:1: (unknown key .*)$", page, re.MULTILINE)
    assert told
    with pytest.raises(SpecError) as error:
        Scenario("mixed.toml", scenario.replace("min_th", "minth"))
    assert told[1] in str(error.value)


def test_the_readme_says_what_the_quick_size_shows() -> None:
    verdicts = json.loads((DOCS.parent / "papers/rfc2884/quoted.json").read_text())["verdicts"].values()
    found = Counter(one["quick"] for one in verdicts)
    numbers = [found[kind] for kind in ("agrees", "same direction", "differs", "inconclusive")]
    sentence = (
        "of RFC 2884's {} printed numbers {} agree, {} have the same direction, {} differs and {} are inconclusive"
    )
    assert sentence.format(sum(numbers), *numbers) in " ".join((DOCS.parent / "README.md").read_text().split())


def figures(text: str) -> list[str]:
    """The whole numbers of ``text``, without those of names and margins."""
    return re.findall(r"\b\d+\b", re.sub(r"Linux [\d.]+|RFC \d+|ns-[\d.]+|DualPI2|\d+ %", "", text))


def test_the_evidence_of_the_readme_is_that_of_the_linked_pages():
    readme = (DOCS.parent / "README.md").read_text()
    table = readme.partition("## Evidence in numbers")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (.+?) \| (.+?) \| \[[^\]]*\]\(([^)#]+)", table, re.MULTILINE)
    assert len(rows) >= 8
    for compared, result, name in rows:
        page = (DOCS.parent / name).read_text()
        if "traces" in result:
            traces = re.findall(r"^\| (?:Reno|NewReno|SACK), .* \| (\d+) \| (\d+) \|$", page, re.MULTILINE)
            sums = [sum(int(row[column]) for row in traces) for column in (1, 0)]
            assert figures(result) == [str(value) for value in sums], result
            continue
        found = {*re.findall(r"\d+", page[:40000])}
        assert {*figures(f"{compared} {result}")} <= found, (result, name)
        for verdict in re.findall(r"(\d+) (agree|differ|hold)\b", result):
            assert re.search(rf"\b{verdict[0]}\s+(?:of \d+ rows )?{verdict[1]}", page), (verdict, name)
