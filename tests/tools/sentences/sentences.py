"""Draws sentences of the papers' READMEs and reports at random, and prints each with its numbers and where they are from.

    make sentences                                        # sixty sentences of all READMEs, seed 1
    make sentences ARGS="--seed 7 --count 20 rfc2884"
    make sentences ARGS="--results results --seed 7"      # and of the reports of the papers that results/ has

Under each sentence stand its references, what they are filled in with, and the rows that this is from: metric, place, mean,
interval, seeds, and the experiments that were run. A number without a reference is listed as typed: it is a setting or is printed in
the paper, which the reader can look up. READMEs are drawn from their templates (README.in.md), with the values of quoted.json.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ecnlab.folder.sealed_json import read_json
from ecnlab.papers.engine_rows import CELLS, KERNEL, SIMULATOR
from ecnlab.papers.material import Material, Stored
from ecnlab.papers.paper import Paper
from ecnlab.papers.published import read_published, read_toml
from ecnlab.papers.readme import TEMPLATE, quoted_evidence, template
from ecnlab.papers.references import REFERENCE, Evidence, resolve
from ecnlab.papers.registry import PAPERS, find

MOST = 8
"""Sources of one reference that are printed."""
NUMBER = re.compile(r"(?<![\w.])[+−-]?\d[\d,]*(?:\.\d+)?(?: ?%)?")
END = re.compile(r"(?<=[.;!?])\s+(?=[A-Z0-9{*`“\"(])")
ITEM = re.compile(r"^\s*(?:[-*]|\d+\.)\s+", re.MULTILINE)
SKIPPED = re.compile(r"```.*?```|<!--.*?-->", re.DOTALL)


@dataclass(frozen=True)
class Sentence:
    """A sentence with its references, and what they are filled in from."""

    place: str
    text: str
    evidence: Evidence
    facts: Mapping[str, Any]

    def has_numbers(self) -> bool:
        """Whether there is anything to check."""
        return bool(REFERENCE.search(self.text) or NUMBER.search(self.text))

    def lines(self) -> Iterator[str]:
        """The sentence filled in, and under it the source of each number."""
        filled = REFERENCE.sub(lambda match: self._filled(match[1])[0], self.text)
        yield f"{self.place}: {filled}"
        for match in REFERENCE.finditer(self.text):
            value, sources = self._filled(match[1])
            yield f"    {value!r} from {{{' '.join(match[1].split())}}}"
            if " but=" in match[1] and sources:
                yield "        the tally of all, less these:"
            yield from (f"        {source}" for source in sources[:MOST])
            if sources[MOST:]:
                yield f"        and {len(sources) - MOST} more"
        yield from (f"    {number[0].strip()!r} is typed" for number in NUMBER.finditer(REFERENCE.sub(" ", self.text)))

    def _filled(self, reference: str) -> tuple[str, list[str]]:
        inner = " ".join(reference.split())
        name, _, part = inner.partition(".")
        if name in self.facts:
            return self.facts[name](part), [f"code: the words {name!r} of the paper's package"]
        own = replace(self.evidence, seen={})
        value = resolve(inner, own)
        return value, [_source(table, row, own) for table, rows in own.seen.items() for row in rows.values()]


def _source(table: str, row: Mapping[str, Any], evidence: Evidence) -> str:
    metric = evidence.published.metrics[row["metric"]]
    place = ", ".join(f"{key}={row[key]}" for key in evidence.grid.keys if row.get(key)) or row.get("place", "")
    named = f"{row['id']}: " if "id" in row else ""
    verdict = row.get("verdict") or row.get("answer") or ""
    if table == CELLS:
        means = f"simulator {row[SIMULATOR]:.6g}, kernel {row[KERNEL]:.6g} ({row['low']:.6g} to {row['high']:.6g})"
        return f"{table}: {row['metric']} at {place}: {means}, {row['n']} seeds; {verdict}"
    return (
        f"{table}: {named}{row['metric']} at {place or 'the whole'}: {row['mean']:.6g} ({row['low']:.6g} to {row['high']:.6g}), "
        f"{row['n']} seeds of {', '.join(metric.steps) or 'code'}{f'; {verdict}' if verdict else ''}"
    )


def of_readme(name: str) -> Iterator[Sentence]:
    """The sentences of a paper's README; a row of a table is one."""
    paper, folder = find(name)
    evidence = quoted_evidence(paper, folder, read_published(folder))
    text = SKIPPED.sub(lambda match: "\n" * match[0].count("\n"), template(folder))
    line = 1
    for block in re.split(r"(\n\s*\n)", text):
        at = f"papers/{name}/{TEMPLATE}:{line + len(block) - len(block.lstrip(chr(10)))}"
        parts = block.strip().splitlines() if block.lstrip().startswith("|") else list(_sentences(block))
        yield from (Sentence(at, part, evidence, {}) for part in parts if part)
        line += block.count("\n")


def _sentences(text: str) -> Iterator[str]:
    """The sentences of a paragraph or list."""
    for item in ITEM.split(text):
        yield from END.split(" ".join(item.split()))


def of_report(name: str, results: Path) -> Iterator[Sentence]:
    """The sentences of a paper's report: its summary and the texts of its sections."""
    paper, folder = find(name)
    given = Material.read(folder, Stored(results / "analysis", read_json(results / "results.json")), paper.grid)
    tables = {"points": given.points, "numbers": given.numbers, "claims": given.claims}
    evidence, words = Evidence(given.published, paper.grid, tables), _words(paper, given)
    told = read_toml(folder / "report.toml")
    for one in told.get("finding", []):
        if "claim" in one:
            yield Sentence(f"{name}, summary", f"{one['statement']} {{claim {one['claim']} : answer}}", evidence, words)
        else:
            found = paper.findings[one["own"]](given)
            yield Sentence(
                f"{name}, summary (by code)", f"{found.statement} {found.answer}: {found.evidence}", evidence, {}
            )
    for title, section in told.get("section", {}).items():
        for part in _sentences(section["text"]):
            yield Sentence(f"{name}, section {title}", part, evidence, words)


def _words(paper: Paper, given: Material) -> dict[str, Any]:
    return {name: lambda _part, say=say: say(given) for name, say in paper.words.items()}


def main(arguments: list[str]) -> int:
    """Print the sentences that are drawn."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("papers", nargs="*", default=list(PAPERS), help="default: all")
    parser.add_argument("--results", type=Path, help="folder of `ecnlab reproduce all`: draw of reports, too")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=60)
    asked = parser.parse_args(arguments)
    found = [sentence for name in asked.papers for sentence in of_readme(name)]
    for name in asked.papers if asked.results else []:
        if (asked.results / name / "results.json").exists():
            found += of_report(name, asked.results / name)
    found = [sentence for sentence in found if sentence.has_numbers()]
    drawn = random.Random(asked.seed).sample(found, min(asked.count, len(found)))
    for i, sentence in enumerate(drawn, 1):
        print(f"{i}.", "\n".join(sentence.lines()))
    print(f"{len(drawn)} of {len(found)} sentences with numbers, seed {asked.seed}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
