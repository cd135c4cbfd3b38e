"""Two cards of one kind side by side: verdicts that differ, criteria whose intervals do not overlap, and what is not comparable."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ecnlab.base.errors import EcnlabError
from ecnlab.folder.outputs import PAGE, write_named
from ecnlab.report import Page, Section, Table, Tally, render
from ecnlab.report.page import Cell
from ecnlab.report.words import counted, listed
from ecnlab.scoring import engines
from ecnlab.scoring.card import Card, read, word
from ecnlab.scoring.criteria import BOUNDS, TONES, Row, at, ends, limit, times
from ecnlab.scoring.judging import MIN_SEEDS

FILE: Final = "compare.html"

ITEMS: Final = 8
"""Number of items that a line names; the page has all."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A criterion of a scenario in one case, in both cards."""

    scenario: str
    title: str
    first: Row
    second: Row
    why_not: str
    """Why its values are not comparable; "" if they are."""

    @property
    def name(self) -> str:
        """Scenario, criterion and case."""
        return f"{self.scenario}: {self.first['name']}{at(self.first)}"

    @property
    def apart(self) -> bool:
        """Whether the intervals are comparable and do not overlap. An end without bound is null."""
        return not self.why_not and (_above(self.first, self.second) or _above(self.second, self.first))


def _above(one: Row, other: Row) -> bool:
    return one["low"] is not None and other["high"] is not None and one["low"] > other["high"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two cards of one kind. ``verdicts`` has scenario, title and both verdicts of the scenarios in both cards."""

    first: Card
    second: Card
    names: tuple[str, str]
    verdicts: Sequence[tuple[str, str, str, str]]
    pairs: Sequence[Pair]
    whole: Sequence[str]
    """How the cards differ as a whole, in words: size, seeds, engine, version, reference."""
    missing: Sequence[str]
    """Scenarios and criteria that only one card has, in words."""

    @property
    def lines(self) -> list[str]:
        """Three lines: verdicts that differ, intervals that do not overlap, and what is not comparable."""
        return [_verdicts(self), _intervals(self), _incomparable(self)]


def compare(first: Path, second: Path) -> Comparison:
    """The cards in the folders or files ``first`` and ``second``.

    Raises EcnlabError if they are of different kinds, and as `read` does.
    """
    one, two = (read(path, None) for path in (first, second))
    if one["kind"] != two["kind"]:
        raise EcnlabError(
            f"{first} is a card of `ecnlab {one['kind']}`, {second} of `ecnlab {two['kind']}`: compare cards of the same command"
        )
    entries = [{entry["name"]: entry for entry in card["scenarios"]} for card in (one, two)]
    names = _names(one, two, (first, second))
    both = [(entries[0][name], entries[1][name]) for name in entries[0] if name in entries[1]]
    return Comparison(
        one,
        two,
        names,
        [(a["name"], a["title"], a["verdict"], b["verdict"]) for a, b in both],
        [pair for a, b in both for pair in _pairs(one, two, a, b)],
        list(_whole(one, two)),
        [*_missing(entries, names), *(text for a, b in both for text in _lone(a, b, names))],
    )


def _names(one: Card, two: Card, paths: tuple[Path, Path]) -> tuple[str, str]:
    """What the cards are called: the labels of their subjects, with the paths if these are the same."""
    labels = (one["subject"]["label"], two["subject"]["label"])
    if labels[0] != labels[1]:
        return labels
    return f"{labels[0]} ({paths[0]})", f"{labels[1]} ({paths[1]})"


def _whole(one: Card, two: Card) -> Iterator[str]:
    made = [
        f"{card['ecnlab']['version']} ({card['ecnlab']['commit'] or card['ecnlab']['build']})" for card in (one, two)
    ]
    for what, a, b in (
        ("size", one["size"], two["size"]),
        ("seeds", one["replicates"], two["replicates"]),
        ("engine", engines.words(one), engines.words(two)),
        ("version of ecnlab", *made),
        ("reference", one["reference"]["label"], two["reference"]["label"]),
    ):
        if a != b:
            yield f"{what} ({a}; {b})"


def _missing(entries: Sequence[Mapping[str, Any]], names: tuple[str, str]) -> Iterator[str]:
    for own, other, name in ((*entries, names[0]), (*entries[::-1], names[1])):
        yield from (f"scenario {one} (only in the card of {name})" for one in own if one not in other)


def _lone(a: Row, b: Row, names: tuple[str, str]) -> Iterator[str]:
    """Criteria of a scenario that only one card has; none if the other was not run, which its verdict states."""
    if a["criteria"] and b["criteria"]:
        for own, other, name in ((a, b, names[0]), (b, a, names[1])):
            keys = {_key(row) for row in other["criteria"]}
            lone = [f"{row['name']}{at(row)}" for row in own["criteria"] if _key(row) not in keys]
            yield from (f"{own['name']}: {one} (only in the card of {name})" for one in lone)


def _key(row: Row) -> tuple[str, str]:
    return row["name"], row["case"]


def _pairs(one: Card, two: Card, a: Row, b: Row) -> Iterator[Pair]:
    others = {_key(row): row for row in b["criteria"]}
    for row in a["criteria"]:
        if _key(row) in others:
            other = others[_key(row)]
            yield Pair(a["name"], a["title"], row, other, _why_not(one, two, row, other))


def _why_not(one: Card, two: Card, first: Row, second: Row) -> str:
    """Why two values of a criterion are not comparable; "" if they are."""
    if (first["measure"], first["against"]) != (second["measure"], second["against"]):
        return "other measure"
    arm = first["against"]
    if arm in one and arm in two and one[arm]["parameters"] != two[arm]["parameters"]:
        return f"other {arm}"
    if one["size"] != two["size"]:
        return "other size"
    if None in (first["mean"], second["mean"]):
        return "not defined"
    return "fewer than 3 seeds" if min(first["n"], second["n"]) < MIN_SEEDS else ""


def _limits_differ(pair: Pair) -> bool:
    return any(pair.first.get(bound) != pair.second.get(bound) for bound in BOUNDS)


def _verdicts(found: Comparison) -> str:
    differ = [f"{name} ({a}; {b})" for name, _title, a, b in found.verdicts if a != b]
    of = counted(len(found.verdicts), "scenario")
    between = f"{found.names[0]} and {found.names[1]}"
    return f"{between}: verdicts differ in {len(differ)} of {of}{_listed(differ)}"


def _intervals(found: Comparison) -> str:
    apart = [f"{pair.name} ({times(pair.first)}; {times(pair.second)})" for pair in found.pairs if pair.apart]
    compared = sum(not pair.why_not for pair in found.pairs)
    return f"intervals do not overlap for {len(apart)} of {compared} criteri{'on' if compared == 1 else 'a'}{_listed(apart)}"


def _incomparable(found: Comparison) -> str:
    items = [f"the cards differ in {text}" for text in found.whole]
    items += [f"{pair.name} (other limit)" for pair in found.pairs if _limits_differ(pair)]
    items += [f"{pair.name} ({pair.why_not})" for pair in found.pairs if pair.why_not]
    items += found.missing
    return f"not comparable{_listed(items)}" if items else "everything is comparable: same criteria, size and version"


def _listed(items: Sequence[str]) -> str:
    return f": {listed(items, ITEMS)}" if items else ""


def write_comparison(found: Comparison, path: Path) -> None:
    """Write the page of ``found``. Raises EcnlabError if ``path`` is no page, or a file of a stored result; OSError."""
    write_named(path, render(comparison_page(found)).encode("utf-8", "surrogatepass"), PAGE)


def comparison_page(found: Comparison) -> Page:
    """The page of two cards: verdicts, criteria, and what is not comparable."""
    lines = [f"{line[0].upper()}{line[1:]}." for line in found.lines]
    one = found.first
    return Page(
        title=f"{found.names[0]} and {found.names[1]}: cards of {one['source']}",
        kicker=f"ecnlab {one['kind']}, two cards",
        answer=lines[0],
        lede=" ".join(lines[1:]),
        tallies=[_tally(name, card) for name, card in zip(found.names, (found.first, found.second), strict=True)],
        findings=(),
        sections=list(_sections(found)),
        footer="Every number is in card.json of one of the cards (`ecnlab docs score`).",
        facts=[
            (word(one), " and ".join(found.names)),
            ("size", _both(found, "size")),
            ("seeds", _both(found, "replicates")),
            ("engine", ", ".join(dict.fromkeys(engines.words(card) for card in (found.first, found.second)))),
        ],
    )


def _both(found: Comparison, key: str) -> str:
    return ", ".join(dict.fromkeys(str(card[key]) for card in (found.first, found.second)))


def _tally(name: str, card: Card) -> Tally:
    return Tally(f"{name}:", [(kind, TONES[kind], count) for kind, count in card["verdicts"].items() if count])


def _sections(found: Comparison) -> Iterator[Section]:
    yield Section("verdicts", "Verdicts", "Scenarios that both cards have.", [_verdict_table(found)])
    intro = "Means with 95 % intervals. Criteria whose intervals do not overlap come first."
    apart = [pair for pair in found.pairs if pair.apart]
    rest = [pair for pair in found.pairs if not pair.apart]
    tables = [_criteria(found, "Intervals that do not overlap", apart), _criteria(found, "Other criteria", rest)]
    shown = [table for table in tables if table.rows]
    if shown:
        yield Section("criteria", "Criteria", intro, shown, "narrow")
    rows = [[Cell("whole cards"), Cell(text)] for text in found.whole]
    rows += [[Cell(pair.name), Cell("other limit")] for pair in found.pairs if _limits_differ(pair)]
    rows += [[Cell(pair.name), Cell(pair.why_not)] for pair in found.pairs if pair.why_not]
    rows += [[Cell("one card"), Cell(text)] for text in found.missing]
    if rows:
        table = Table("Not comparable", ("item", "difference"), rows)
        yield Section("not-comparable", "Not comparable", "Differences in how the cards were made.", [table], "narrow")
    laws = [[Cell(name), Cell(card["subject"]["source"]), Cell(card["subject"]["argument"])]
            for name, card in zip(found.names, (found.first, found.second), strict=True)]  # fmt: skip
    yield Section("subjects", "Subjects", "", [Table("Subjects", ("card", "parameters", "argument"), laws)], "narrow")


def _verdict_table(found: Comparison) -> Table:
    rows = [
        [Cell(title), Cell(a, tone=TONES[a]), Cell(b, tone=TONES[b]), Cell("" if a == b else "differs")]
        for _name, title, a, b in sorted(found.verdicts, key=lambda row: row[2] == row[3])
    ]
    return Table("Verdicts", ("scenario", *found.names, "difference"), rows)


def _criteria(found: Comparison, caption: str, pairs: Sequence[Pair]) -> Table:
    rows = [
        [
            Cell(pair.title),
            Cell(f"{pair.first['name']}{at(pair.first)}"),
            *(
                Cell(f"{times(row)}{ends(row)}, {limit(row)}", tone=TONES[row["outcome"]])
                for row in (pair.first, pair.second)
            ),
        ]
        for pair in pairs
    ]
    return Table(caption, ("scenario", "criterion", *found.names), rows)
