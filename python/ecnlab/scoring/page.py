"""The page of a card: ``card.html``, made of ``card.json`` alone."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from ecnlab.base.readable import cell
from ecnlab.engines.protocol import PACKETS
from ecnlab.folder.outputs import PAGE, write_named
from ecnlab.report import Finding, Group, Marks, Page, Scatter, Section, Table, Tally, render
from ecnlab.report.page import Block, Cell
from ecnlab.report.words import counted
from ecnlab.scoring import engines
from ecnlab.scoring.card import KINDS, Card, arms, divisor, kind_of, summary, word
from ecnlab.scoring.criteria import OUTCOMES, TONES, at, ends, limit, spread, times, worst_cases
from ecnlab.scoring.page_figures import MAPS, PLANES, anchor, maps, planes, strips
from ecnlab.scoring.running import runs_folder
from ecnlab.scoring.sheet import Kind

FILE: Final = "card.html"

OF_SENDERS: Final = "Limits of the queues: a multiple of rate x RTT, which each scenario states."
LIMITS: Final[Mapping[Kind, str]] = {
    "aqm": "Limits: rate x largest RTT, the same for both queues (RFC 7928 §3.2).",
    "cc": OF_SENDERS,
    "l4s": OF_SENDERS,
}


def write_page(card: Card, folder: Path) -> Path:
    """Write the page of ``card`` into ``folder``, that of the card, and return its path. Raises OSError."""
    path = folder / FILE
    write_named(path, render(page(card, folder)).encode("utf-8", "surrogatepass"), PAGE, own=folder)
    return path


def page(card: Card, folder: Path) -> Page:
    """The page of the card in ``folder``."""
    good, bad, unknown, *incumbents, extent = map(_sentence, summary(card))
    made = card["ecnlab"]
    left = f", {card['left_out']} scenarios left out" if card["left_out"] else ""
    return Page(
        title=f"{card['subject']['label']}: card of {card['source']}",
        kicker=f"ecnlab {made['version']} ({made['commit'] or made['build']}), {card['kind']}, {card['size']} size{left}, against {card['reference']['label']}",
        answer=good,
        lede=extent,
        tallies=[_tally(card)],
        findings=[Finding("fails", "no", bad, ""), Finding("inconclusive", "open", unknown, "")],
        sections=list(_sections(card, folder, incumbents)),
        footer="Every number is in card.json in the folder of this page (`ecnlab docs score`).",
    )


def _sentence(line: str) -> str:
    return f"{line[0].upper()}{line[1:]}."


def _tally(card: Card) -> Tally:
    counts = [(name, TONES[name], count) for name, count in card["verdicts"].items() if count]
    return Tally(f"{counted(len(card['scenarios']), 'scenario')}:", counts)


def _sections(card: Card, folder: Path, incumbents: Sequence[str]) -> Iterator[Section]:
    if any(one["criteria"] for one in card["scenarios"]):
        yield Section("margins", "Margins to the limits", "", [strips(card)])
    better = "As in RFC 7928 §2.7: better is up and to the left. Drawn paths differ: delay is in RTTs, goodput in shares of the rate."
    yield from _figures("plane", "Goodput over delay", better, planes(card), PLANES)
    yield from _figures("map", "Drawn paths", "Where a criterion holds, by rate and RTT of the path.", maps(card), MAPS)
    yield Section(
        "scenarios", "Scenarios", "One failed criterion decides, then an inconclusive one.", [_scenarios(card)]
    )
    if incumbents:
        yield Section("incumbents", "Incumbents", " ".join(incumbents), [_incumbents(card)], "narrow")
    intro = (
        "The limits are ecnlab's, and `--criteria` changes them. A criterion is met or fails if its whole 95 % interval (Student's t over "
        "seeds or paths) is on one side of the limit."
    )
    yield Section("criteria", "Criteria", intro, [_criteria(card), _reasons(card)], "narrow")
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
    if rows := [[f"§{section}", why] for section, why in card.get("not_covered", {}).items()]:
        missing = Table(f"Not covered of {card['source']}", ("section", "what"), rows)
        yield Section("not-covered", "Not covered", "What no criterion tests, by section.", [missing], folded=True)


def _figures(name: str, title: str, intro: str, figures: Sequence[Scatter | Marks], most: int) -> Iterator[Section]:
    """Sections of the first ``most`` figures, and of the rest, which are folded."""
    if figures:
        yield Section(name, title, intro, [Group(figures[:most])], "narrow")
    if figures[most:]:
        yield Section(f"{name}-more", f"{title}: more", "", [Group(figures[most:])], folded=True)


def _scenarios(card: Card) -> Table:
    rows = [
        [
            Cell(f"§{one['section']}", anchor=one["name"]),
            Cell(f"{one['title']}. “{one['quote']}”" if one.get("quote") else one["title"]),
            one["weight"],
            Cell(one["verdict"], tone=TONES[one["verdict"]]),
            Cell(_outcomes(one) or one["why_not"]),
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
        cells = [Cell(f"{score['verdict']}: {_outcomes(score)}", tone=TONES[score["verdict"]]) for score in scores]
        if cells:
            rows.append([Cell(f"§{one['section']}"), Cell(one["title"]), *cells])
    return Table("Incumbents", ("section", "scenario", *(card[arm]["label"] for arm in others)), rows)


def _outcomes(one: Mapping[str, Any]) -> str:
    """The criteria of a scenario, each in its worst case."""
    rows = [(row, OUTCOMES[row["outcome"]]) for row in worst_cases(one)]
    words = [f"{row['name']}{at(row)} {times(row)}{'' if word == 'meets' else f' ({word})'}" for row, word in rows]
    return "; ".join(words)


def _criteria(card: Card) -> Table:
    rows = [
        [
            Cell(f"{one['name']}: {row['name']}{at(row)}", anchor=anchor(one, row)),
            Cell(" / ".join(filter(None, (row["measure"], divisor(card, row))))),
            Cell(f"{times(row)}{ends(row)}", numeric=True),
            Cell(limit(row), numeric=True),
            Cell(OUTCOMES[row["outcome"]], tone=TONES[row["outcome"]]),
            Cell(spread(one, row)),
        ]
        for one in card["scenarios"]
        for row in one["criteria"]
    ]
    return Table("Criteria", ("criterion", "measure", "measured", "limit", "verdict", "values"), rows)


def _reasons(card: Card) -> Table:
    """The reason of each limit, once."""
    reasons = {(row["name"], limit(row)): row["reason"] for one in card["scenarios"] for row in one["criteria"]}
    rows = [[Cell(name), Cell(bound), Cell(reason)] for (name, bound), reason in reasons.items()]
    return Table("Reasons for the limits", ("criterion", "limit", "reason"), rows, folded=True)


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
        [
            Cell(one["title"]),
            Cell(case),
            Cell(f"{' to '.join(dict.fromkeys(map(str, (min(limits), max(limits)))))} packets", numeric=True),
        ]
        for one in card["scenarios"]
        for case, limits in one["limit_packets"].items()
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
    runs = runs_folder(folder, card["size"], card["seed"])
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
    seed = ["--seed", str(card["seed"])] if card["seed"] != 1 else []
    given = [*full, *seed, *_engine(card), *against, *criteria, *only, "--out", str(folder)]
    return ["ecnlab", *KINDS[kind_of(card)].split(), card["subject"]["argument"], *given]
