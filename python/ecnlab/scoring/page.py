"""The page of a card: ``card.html``, made of ``card.json`` alone."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any, Final

from ecnlab.base.readable import cell, number
from ecnlab.engines.protocol import PACKETS
from ecnlab.folder.outputs import PAGE, write_named
from ecnlab.plots.cloud import MIN_POINTS, ellipse
from ecnlab.report import Cloud, Page, Scatter, Section, Table, Tally, render
from ecnlab.report.page import Block, Cell
from ecnlab.report.tone import Tone
from ecnlab.report.words import counted
from ecnlab.scoring import engines
from ecnlab.scoring.card import KINDS, PLANE, Card, arms, kind_of, word
from ecnlab.scoring.running import runs_folder
from ecnlab.scoring.sheet import Kind

FILE: Final = "card.html"

TONES: Final[Mapping[str, Tone]] = {
    "meets": "yes",
    "fails": "no",
    "inconclusive": "open",
    "not applicable": "plain",
    "yes": "yes",
    "no": "no",
    "undecided": "open",
}
MARKS: Final = {"yes": "", "no": " (fails)", "undecided": " (inconclusive)"}
OF_SENDERS: Final = "Limits of the queues: a multiple of rate x RTT, which each scenario states."
LIMITS: Final[Mapping[Kind, str]] = {
    "aqm": "Limits: rate x largest RTT, the same for both queues (RFC 7928 §3.2).",
    "cc": OF_SENDERS,
    "l4s": OF_SENDERS,
}
BOUNDS: Final = {"at_most": "at most", "at_least": "at least"}


def write_page(card: Card, folder: Path) -> Path:
    """Write the page of ``card`` into ``folder``, that of the card, and return its path. Raises OSError."""
    path = folder / FILE
    write_named(path, render(page(card, folder)).encode("utf-8", "surrogatepass"), PAGE, own=folder)
    return path


def page(card: Card, folder: Path) -> Page:
    """The page of the card in ``folder``."""
    verdicts, *lines = card["summary"]
    made = card["ecnlab"]
    left = f", {card['left_out']} scenarios left out" if card["left_out"] else ""
    return Page(
        title=f"{card['subject']['label']}: card of {card['source']}",
        kicker=f"ecnlab {made['version']}, {card['kind']}, {card['size']} size{left}",
        answer=f"{verdicts}.",
        lede=" ".join([_judged(card), *(f"{line[0].upper()}{line[1:]}." for line in lines)]),
        tallies=[_tally(card)],
        findings=(),
        sections=list(_sections(card, folder)),
        footer="Every number is in card.json in the folder of this page (`ecnlab docs score`).",
        facts=[
            (word(card), card["subject"]["label"]),
            ("against", card["reference"]["label"]),
            ("seeds per case", str(card["replicates"])),
            ("engine", engines.words(card)),
            ("ecnlab", f"{made['version']} ({made['commit'] or made['build']})"),
        ],
    )


def _judged(card: Card) -> str:
    """Whose the limits are, and how much was run."""
    run, left_out = len(card["scenarios"]), card.get("left_out", 0)
    whose = f", except those in {card['criteria']}" if card.get("criteria") else ""
    scenarios = f"{run} of {counted(run + left_out, 'scenario')}"
    return f"All limits are ecnlab's{whose}: {card['source']} has none. Requested were {scenarios}, with {counted(card['replicates'], 'seed')} for each case."


def _tally(card: Card) -> Tally:
    counts = [(name, TONES[name], count) for name, count in card["verdicts"].items() if count]
    return Tally(f"{counted(len(card['scenarios']), 'scenario')}:", counts)


def _sections(card: Card, folder: Path) -> Iterator[Section]:
    yield Section("scenarios", "Scenarios", "One failed criterion decides, then an undecided one.", [_scenarios(card)])
    if kind_of(card) != "aqm":
        yield Section(
            "incumbents", "Incumbents", "The same criteria for the senders in use.", [_incumbents(card)], "narrow"
        )
    intro = (
        "The limits are ecnlab's, and `--criteria` changes them. A criterion holds or fails if its whole 95 % interval (Student's t over "
        "seeds) is on one side of the limit."
    )
    yield Section("criteria", "Criteria", intro, [_criteria(card)], "narrow")
    figures: list[Block] = [_scatter(card, one) for one in card["scenarios"] if one["points"]]
    yield Section(
        "plane", "Goodput over delay", "As in RFC 7928 §2.7: better is up and to the left.", figures, "narrow"
    )
    tables: list[Block] = [_measures(card, one) for one in card["scenarios"] if one["measures"]]
    yield Section("measures", "Measures", "Means with 95 % intervals.", tables, folded=True)
    parameters = f"Chosen once, for all scenarios. {LIMITS[kind_of(card)]}"
    yield Section(
        "parameters",
        "Parameters",
        parameters,
        [*(_parameters(card[arm]) for arm in arms(card)), _limits(card), *_instead(card)],
        "narrow",
    )
    yield Section(
        "repeat",
        "Commands",
        "The first makes this card again, the others one scenario.",
        [_commands(card, folder)],
        "narrow",
    )


def _scenarios(card: Card) -> Table:
    rows = [
        [
            Cell(f"§{one['section']}", anchor=one["name"]),
            Cell(one["title"]),
            one["weight"],
            Cell(one["verdict"], tone=TONES[one["verdict"]]),
            Cell(_outcomes(one["criteria"]) or one["why_not"]),
            Cell(" ".join([one["about"], *(f"Stand-in for {text}." for text in one["stands"])])),
        ]
        for one in card["scenarios"]
    ]
    columns = ("section", "scenario", "weight", "verdict", "criteria", "traffic")
    return Table(f"Scenarios of {card['source']}", columns, rows)


def _incumbents(card: Card) -> Table:
    others = arms(card)[1:]
    rows = []
    for one in card["scenarios"]:
        scores = [one["incumbents"][arm] for arm in others] if "incumbents" in one else []
        cells = [
            Cell(f"{score['verdict']}: {_outcomes(score['criteria'])}", tone=TONES[score["verdict"]])
            for score in scores
        ]
        if cells:
            rows.append([Cell(f"§{one['section']}"), Cell(one["title"]), *cells])
    return Table("Incumbents", ("section", "scenario", *(card[arm]["label"] for arm in others)), rows)


def _outcomes(criteria: Sequence[Mapping[str, Any]]) -> str:
    return "; ".join(f"{row['name']}{at(row)} {times(row)}{MARKS[row['outcome']]}" for row in criteria)


def _criteria(card: Card) -> Table:
    rows = [
        [
            Cell(one["title"]),
            Cell(f"{row['name']}{at(row)}"),
            Cell(f"{row['measure']}{_divided(card, row)}"),
            Cell(f"{times(row)}{ends(row)}", numeric=True),
            Cell(limit(row), numeric=True),
            Cell(row["outcome"], tone=TONES[row["outcome"]]),
            Cell(row["reason"]),
        ]
        for one in card["scenarios"]
        for row in one["criteria"]
    ]
    columns = ("scenario", "criterion", "measure", "measured", "limit", "holds", "reason")
    return Table("Criteria", columns, rows)


def at(row: Mapping[str, Any]) -> str:
    """The case of a criterion in brackets; "" for that of a scenario without cases."""
    return f" ({row['case']})" if row["case"] else ""


def _divided(card: Card, row: Mapping[str, Any]) -> str:
    others = {arm: f" / {card[arm]['label']}'s" for arm in arms(card)} | {"itself": ""}
    return others.get(row["against"], f" / that of {row['against']}")


def times(row: Mapping[str, Any]) -> str:
    """The mean of a criterion's measure."""
    return "not defined" if row["mean"] is None else number(row["mean"])


def ends(row: Mapping[str, Any]) -> str:
    """The ends of its interval in brackets; "" if one is missing."""
    known = row["low"] is not None and row["high"] is not None
    return f" ({number(row['low'])} to {number(row['high'])})" if known else ""


def limit(row: Mapping[str, Any]) -> str:
    """The limit of a criterion in words."""
    return next(f"{words} {number(row[bound])}" for bound, words in BOUNDS.items() if bound in row)


def _scatter(card: Card, one: Mapping[str, Any]) -> Scatter:
    clouds: list[Cloud] = []
    for case in one["limit_packets"]:
        for arm in arms(card):
            points = _plane([row for row in one["points"] if (row["case"], row[word(card)]) == (case, arm)])
            if points:
                name = ", ".join(filter(None, (card[arm]["label"], case)))
                clouds.append(_cloud(name, points, len(clouds)))
    caption = f"A dot for each seed, the marker at the medians; ellipses at one standard deviation, of {MIN_POINTS} seeds or more."
    return Scatter(f"§{one['section']} {one['title']}", caption, clouds, "mean queueing delay, ms", "goodput, Mbit/s")


def _plane(points: Sequence[Mapping[str, Any]]) -> list[tuple[float, float]]:
    """Delay in ms and goodput in Mbit/s, of each seed in which both are defined."""
    pairs = ([row[name] for name in PLANE] for row in points)
    return [(1e3 * delay, 1e-6 * goodput) for delay, goodput in pairs if delay is not None and goodput is not None]


def _cloud(name: str, points: Sequence[tuple[float, float]], style: int) -> Cloud:
    middle = (median(x for x, _ in points), median(y for _, y in points))
    return Cloud(name, points, middle, ellipse(points) if len(points) >= MIN_POINTS else (), style)


def _measures(card: Card, one: Mapping[str, Any]) -> Table:
    rows: dict[tuple[str, str], dict[str, Any]] = {(row["case"], row["measure"]): {} for row in one["measures"]}
    for row in one["measures"]:
        rows[row["case"], row["measure"]][row[word(card)]] = row
    cells = [
        [Cell(case), Cell(measure), *(Cell(_value(measure, found[arm]), numeric=True) for arm in arms(card))]
        for (case, measure), found in rows.items()
    ]
    labels = [card[arm]["label"] for arm in arms(card)]
    return Table(f"§{one['section']} {one['title']}", ("case", "measure", *labels), cells)


def _value(measure: str, row: Mapping[str, Any]) -> str:
    if row["mean"] is None:
        return "not defined"
    known = row["low"] is not None and row["high"] is not None
    interval = f" ({cell(measure, row['low'])} to {cell(measure, row['high'])})" if known else ""
    return f"{cell(measure, row['mean'])}{interval}"


def _parameters(queue: Mapping[str, Any]) -> Table:
    rows = [
        [Cell(key), Cell(value if isinstance(value, str) else json.dumps(value))]
        for key, value in _flat(queue["parameters"])
    ]
    return Table(f"{queue['label']}: {queue['source']}", ("key", "value"), rows)


def _flat(table: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{before}{key}.")
        else:
            yield f"{before}{key}", value


def _limits(card: Card) -> Table:
    rows = [
        [Cell(one["title"]), Cell(case), Cell(f"{packets} packets", numeric=True)]
        for one in card["scenarios"]
        for case, packets in one["limit_packets"].items()
    ]
    return Table("Limits of the queues", ("scenario", "case", "limit"), rows, folded=True)


def _instead(card: Card) -> Iterator[Table]:
    rows = [
        [Cell(one["key"]), Cell(json.dumps(one["asked"])), Cell(json.dumps(one["kernel"]))]
        for one in card.get("instead", [])
    ]
    if rows:
        yield Table("Values that the kernel replaced by its own", ("key", "scenario", "kernel"), rows, folded=True)


def _commands(card: Card, folder: Path) -> Table:
    runs = runs_folder(folder, card["size"])
    rows = [["card", shlex.join(remake(card, folder))]]
    for one in card["scenarios"]:
        if one["measures"]:
            words = ["ecnlab", "sweep", str(runs / one["experiment"]), *_engine(card)]
            rows.append([one["title"], shlex.join([*words, "--out", str(runs / one["name"])])])
    return Table("Commands", ("result", "command"), rows)


def _engine(card: Card) -> list[str]:
    name = engines.engine_of(card)["name"]
    return [] if name == PACKETS else ["--engine", name]


def remake(card: Card, folder: Path) -> list[str]:
    """The command that writes the card in ``folder`` again."""
    full = ["--full"] if card["size"] == "full" else []
    only = [word for one in card["scenarios"] for word in ("--scenario", one["name"])] if card["left_out"] else []
    against = ["--against", card["reference"]["name"]] if kind_of(card) == "aqm" else []
    criteria = ["--criteria", card["criteria"]] if card["criteria"] else []
    given = [*full, *_engine(card), *against, *criteria, *only, "--out", str(folder)]
    return ["ecnlab", *KINDS[kind_of(card)].split(), card["subject"]["argument"], *given]
