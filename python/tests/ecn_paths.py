"""Random paths with boxes that are hostile to ECN, and the verdicts of `ecnlab trace` that are true on each."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import polars as pl

import ecnlab

SCENARIO: Final = """
format = 1
title = "a path with a box"
duration = "{seconds} s"
[link.left]
from = "server"
to = "r1"
rate = "200 Mbps"
delay = "{left} ms"
boxes = [{before}]
reverse = {{ boxes = [{back}] }}
[link.pipe]
from = "r1"
to = "r2"
rate = "{rate} Mbps"
delay = "{pipe} ms"
queue = "q"
[link.right]
from = "r2"
to = "client"
rate = "200 Mbps"
delay = "{right} ms"
boxes = [{behind}]
[queue.q]
discipline = "{discipline}"
limit = "100 packets"
ecn = {marks}
{red}
[tcp.sender]
ecn = "{sender}"
dsack = true
[tcp.receiver]
ecn = "{receiver}"
dsack = true
[flow.f]
from = "server"
to = "client"
traffic = "ftp"
tcp_from = "sender"
tcp_to = "receiver"
[capture.server]
node = "server"
[capture.client]
node = "client"
[capture.middle]
link = "pipe"
"""

RED: Final = """min_th = "10 packets"
max_th = "40 packets"
max_p = 0.1
weight = 0.01"""
BLEACH: Final = 'rewrite = { ect0 = "not-ect", ect1 = "not-ect", ce = "not-ect" }'
BOXES: Final = {
    "none": ("", ""),
    "bleach": ("before", BLEACH),
    "bleach behind": ("behind", BLEACH),
    "hide": ("behind", 'rewrite = { ce = "ect0" }'),
    "drop marks": ("behind", 'rewrite = { ce = "not-ect" }'),
    "mark all": ("before", 'rewrite = { not-ect = "ce", ect1 = "ce", ect0 = "ce" }'),
    "set ECT": ("before", 'rewrite = { not-ect = "ect0" }'),
    "clear CWR": ("before", 'clear = ["cwr"]'),
    "clear ECE": ("back", 'clear = ["ece"]'),
    "clear both": ("back", 'clear = ["ece", "cwr"]'),
    "strip SYN": ("before", 'syn = "strip"'),
    "drop SYN": ("before", 'syn = "drop"'),
    "reset SYN": ("before", 'syn = "reset"'),
    "strip SYN-ACK": ("back", 'syn_ack = "strip"'),
    "drop SYN-ACK": ("back", 'syn_ack = "drop"'),
    "reset SYN-ACK": ("back", 'syn_ack = "reset"'),
}
"""Place and keys of each box: before or behind the bottleneck, or at the sender on the way back."""

ENDS: Final = [
    ("rfc3168", "rfc3168"), ("accecn", "accecn"), ("dctcp", "dctcp"), ("accecn", "rfc3168"), ("rfc3168", "accecn"),
    ("off", "rfc3168"), ("rfc3168", "off"),
]  # fmt: skip
KERNEL_ENDS: Final = [
    ("rfc3168", "rfc3168"), ("accecn-linux", "accecn-linux"), ("dctcp", "dctcp"), ("accecn-linux", "rfc3168"),
    ("rfc3168", "accecn-linux"), ("off", "rfc3168"), ("rfc3168", "off"),
]  # fmt: skip
"""The ends that the kernel's TCP has."""
PLACES: Final = ("server", "middle", "client")


@dataclass(frozen=True)
class Route:
    """A path: its ends, its box, and whether the bottleneck marks."""

    sender: str
    receiver: str
    box: str
    marks: bool
    number: int

    def scenario(self) -> ecnlab.Scenario:
        """Its scenario."""
        return ecnlab.Scenario("path.toml", self.text())

    def text(self) -> str:
        """Its scenario as text; rates, delays and queue are drawn by its number."""
        draw = random.Random(self.number)
        where, keys = BOXES[self.box]
        rates = {"rate": draw.choice([2, 5, 12]), "pipe": draw.choice([4, 15, 30])}
        discipline = draw.choice(["codel", "pie", "red"])
        text = SCENARIO.format(
            **rates,
            red=RED if discipline == "red" else "",
            **{place: '"x"' if place == where else "" for place in ("before", "behind", "back")},
            left=draw.choice([1, 6]),
            right=draw.choice([1, 9]),
            seconds=draw.choice([5, 9]),
            discipline=discipline,
            marks=str(self.marks).lower(),
            sender=self.sender,
            receiver=self.receiver,
        )
        return text + (f"[box.x]\n{keys}\n" if keys else "")

    def true(self, place: str, marked: bool) -> set[str]:
        """The verdicts that are true at a place, if the bottleneck ``marked``; docs/trace.md states where "unknown" is."""
        accurate = self.sender == self.receiver and self.sender.startswith("accecn")
        quiet = {"no mark", "unknown"}
        works = "works" if place == "server" or not accurate else "reported"
        plain = {works, "unknown"} if marked else quiet
        if self.sender == "off":
            boxed = self.box in ("mark all", "set ECT") and place != "server"
            return {"not negotiated", "not offered"} if boxed else {"not offered"}
        kind = self.box
        if kind.endswith("SYN"):
            return self._syn(place, accurate, plain)
        if self.receiver == "off":
            return {"refused", "not negotiated"} if kind in ("mark all", "set ECT") else {"refused"}
        if kind.endswith("SYN-ACK"):
            return self._syn_ack(place)
        return {
            "none": plain,
            "bleach": {"data not ECT"} if place != "server" else {"erased"} if accurate else quiet,
            "bleach behind": self._behind(place, quiet, marked, accurate),
            "hide": {"not echoed", "unknown"} if place == "middle" and marked else quiet,
            "drop marks": {"not echoed", "unknown"} if place == "middle" and marked else quiet,
            "mark all": self._all(place, accurate),
            "set ECT": {"counts disagree"} if accurate and place == "server" else plain,
            "clear CWR": self._cwr(place, plain, marked, accurate),
        }.get(kind) or self._cleared(place, quiet, marked, accurate)

    def _syn(self, place: str, accurate: bool, plain: set[str]) -> set[str]:
        if self.box == "reset SYN":
            return {"unanswered"}
        if self.box == "drop SYN":
            return {"fell back"} if place == "server" else {"not offered"}
        if accurate:  # AE passes, and the receiver agrees to AccECN
            return plain if place == "server" else {"not negotiated"}
        partly = {"not negotiated", "refused"} if self.sender == "accecn" else set()
        return {"refused"} if place == "server" else {"not offered"} | partly

    def _syn_ack(self, place: str) -> set[str]:
        if self.box == "strip SYN-ACK":
            return {"refused"} if place == "server" else {"data not ECT"}
        return {"fell back", "refused", "unanswered"}

    def _behind(self, place: str, quiet: set[str], marked: bool, accurate: bool) -> set[str]:
        if place == "client":
            return {"data not ECT"}
        if place == "middle" and marked:
            return {"not echoed", "unknown", "erased"} if accurate else {"not echoed", "unknown"}
        return {"erased"} if accurate else quiet

    def _all(self, place: str, accurate: bool) -> set[str]:
        if place == "server":
            return {"counts disagree", "all marked"} if accurate else {"echo does not end", "unknown"}
        return {"all marked", "unknown"}

    def _cwr(self, place: str, plain: set[str], marked: bool, accurate: bool) -> set[str]:
        if accurate or not marked:
            return plain
        if place != "server":
            return {"not answered", "unknown"}
        return plain if "dctcp" in self.sender else {"echo does not end", "unknown"}

    def _cleared(self, place: str, quiet: set[str], marked: bool, accurate: bool) -> set[str]:
        if accurate:
            return {"counts disagree"} if place == "server" else {"reported"} | quiet
        if place == "server" or not marked:
            return quiet
        return {"not answered", "unknown"}


def paths(count: int) -> list[Route]:
    """Return ``count`` random paths; the first ones have each box once."""
    draw = random.Random(58)
    boxes = list(BOXES)
    return [
        Route(*draw.choice(ENDS), boxes[i] if i < len(boxes) else draw.choice(boxes), draw.random() < 0.7, i)
        for i in range(count)
    ]


def false_verdicts(path: Route, folder: Path, *, kernel: bool = False) -> dict[str, set[str]]:
    """Run the path, and return the false verdicts on the server's data at each place."""
    settings = {"engine": "linux", "overrides": {"profile": "linux-7"} | _laws(path)} if kernel else {}
    run = ecnlab.run(path.scenario(), seed=path.number + 1, captures=folder, **settings)
    marked = run.table("queues_run").filter(link="pipe")["marks"].sum() > 0
    found = {}
    for place in PLACES:
        rows = ecnlab.trace(folder / f"{place}.pcapng").verdicts
        found[place] = set(rows.filter(pl.col("from_opener"))["verdict"]) - path.true(place, marked)
    return found


def _laws(path: Route) -> dict[str, str]:
    """Overrides for ends whose ECN feedback the kernel has with one window law only."""
    ends = {"sender": path.sender, "receiver": path.receiver}
    return {f"tcp.{end}.congestion": "dctcp" for end, feedback in ends.items() if feedback == "dctcp"}
