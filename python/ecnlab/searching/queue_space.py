"""The default space for queues: paths, changes of the rate, and mixes of senders."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ecnlab.scoring.sheet import SUBJECT
from ecnlab.scoring.subject import Subject
from ecnlab.searching import path
from ecnlab.searching.choices import Choices
from ecnlab.searching.law_space import LawSpace
from ecnlab.searching.path import LINK, PLAIN, SPACE, TRANSFERS, Path

COUNTS: Final = (1, 2, 4, 8, 16, 32)


class QueueSpace(LawSpace):
    """The default space for queues."""

    kind = "aqm"
    place = f"link.{LINK}.queue"

    def draw(self, choices: Choices) -> Path:
        """A path with one or two groups of bulk transfers, perhaps UDP, and a call."""
        return draw(choices)

    def tables(self, path: Path, laws: Mapping[str, Subject], title: str) -> dict[str, Any]:
        """The scenario of ``path`` with the queues of ``laws``."""
        return path.tables({arm: law.table(path.limit) for arm, law in laws.items()}, SUBJECT, title)


def draw(choices: Choices) -> Path:
    """A path with one or two groups of bulk transfers, perhaps UDP, and a call."""
    made = path.drawn(choices)
    kind = choices.pick("flows", SPACE["flows"]["queues"])
    count = choices.pick("flows.count", COUNTS)
    made.bulk("flows", kind, count, group=TRANSFERS)
    path.other_flows(choices, made, SPACE["flows"]["beside_them"], COUNTS, TRANSFERS)
    _udp(choices, made)
    path.outage(choices, made)
    if choices.pick("call", (False, True)):
        made.flows["call"] = {**PLAIN, "traffic": {"kind": "cbr", "rate": "80 kbps", "packet": "200 B", "jitter": 0.5}}
        made.words.append("a call of 80 kbps")
    return made


def _udp(choices: Choices, made: Path) -> None:
    share = choices.perhaps("udp", (0.0, 0.5, 0.9))
    if share:
        rate = share * made.least
        traffic: dict[str, Any] = {"kind": "cbr", "rate": f"{rate:g} Mbps", "packet": "1000 B", "jitter": 0.5}
        made.flows["udp"] = {**PLAIN, "traffic": traffic}
        made.words.append(f"UDP at {rate:g} Mbps")
