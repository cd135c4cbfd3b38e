"""The default space for senders: paths, faults of links and of feedback, queues, and other senders."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ecnlab.scoring.sheet import SUBJECT
from ecnlab.scoring.subject import Subject
from ecnlab.searching import path
from ecnlab.searching.choices import Choices
from ecnlab.searching.law_space import LawSpace
from ecnlab.searching.path import LINK, RARE, SPACE, Path


class SenderSpace(LawSpace):
    """The default space for senders. Flows and TCP of the law are called `SUBJECT`."""

    kind = "cc"
    place = f"flow.{SUBJECT}.tcp"

    def draw(self, choices: Choices) -> Path:
        """A path with the flows of the subject, perhaps others and faults."""
        return draw(choices)

    def tables(self, path: Path, laws: Mapping[str, Subject], title: str) -> dict[str, Any]:
        """The scenario of ``path`` with the TCPs of ``laws``."""
        queue = {**SPACE["queue"][path.queue], "limit": f"{path.limit} packets"}
        tables = path.tables({LINK: queue}, LINK, title)
        tables["tcp"] = {**{arm: law.parameters for arm, law in laws.items()}, **tables["tcp"]}
        return tables


def draw(choices: Choices) -> Path:
    """A path with the flows of the subject, perhaps others and faults."""
    made = path.drawn(choices)
    made.queue = choices.pick("queue", tuple(SPACE["queue"]))
    count = choices.pick("flows.count", (1, 2, 4, 8))
    made.transfers(SUBJECT, SUBJECT, count)
    made.words.append(f"{count} × the law behind {made.queue}")
    path.other_flows(choices, made, SPACE["flows"]["beside_senders"], (1, 2, 4, 8))
    path.outage(choices, made)
    _faults(choices, made)
    return made


def _faults(choices: Choices, made: Path) -> None:
    """Losses, reordering, a narrow or lossy way back, and boxes."""
    reverse: dict[str, Any] = {}
    if loss := choices.perhaps("loss", (0.0, 0.001, 0.01, 0.05)):
        made.link["loss"] = loss
        made.words.append(f"{100 * loss:g} % of packets are lost")
    if burst := choices.pick("loss.bursts", (0, 4, 16), RARE):
        made.link["burst_loss"] = {"p": 0.001, "r": 1 / burst}
        made.words.append(f"one of 1000 packets begins a loss of {burst} in a row on average")
    if "aggregation" not in made.link and (jitter := choices.perhaps("jitter", (0, 5, 1, 20))):
        reorder = choices.pick("jitter.reorder", (False, True))
        made.link["jitter"] = {"delay": {"uniform": ["0 ms", f"{jitter} ms"]}, "reorder": reorder}
        made.words.append(f"up to {jitter} ms of jitter" + (" with reordering" if reorder else ""))
    if lost := choices.perhaps("ack.loss", (0.0, 0.1, 0.5)):
        reverse["loss"] = lost
        made.words.append(f"{100 * lost:g} % of ACKs are lost")
    if narrow := choices.perhaps("ack.rate", (0, 50, 200)):
        reverse["rate"] = f"{1e3 * made.rates[0][1] / narrow:g} kbps"
        made.words.append(f"ACKs return at {reverse['rate']}")
    if segments := choices.perhaps("drop", (0, 1, 2, 3)):
        first = choices.pick("drop.first", (100, 30, 10, 300))
        made.link["drop_segments"] = {SUBJECT: list(range(first, first + segments))}
        which = f"segment {first}" if segments == 1 else f"segments {first} to {first + segments - 1}"
        made.words.append(f"{which} of the law lost")
    if box := choices.perhaps("box", ("", *SPACE["box"])):
        made.boxes[box] = SPACE["box"][box]
        (reverse if box == "silent" else made.link)["boxes"] = [box]
        made.words.append(f"a box: {box}")
    if reverse:
        made.link["reverse"] = reverse
