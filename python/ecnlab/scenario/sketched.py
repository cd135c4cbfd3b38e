"""A commented scenario of senders that share one bottleneck, for ``ecnlab new``."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from string import Template
from typing import Any, Final

from ecnlab import _core, laws
from ecnlab.base.errors import EcnlabError
from ecnlab.base.guesses import guess_law
from ecnlab.base.quantities import RATES, TIMES, quantity
from ecnlab.scenario.sketched_slow import raised

SKETCHES: Final = tomllib.loads((Path(__file__).parent / "assets" / "sketches.toml").read_text(encoding="utf-8"))
"""Lines of laws that need more than the keys of every queue or sender, and the defaults."""

PACKET: Final = 1500
"""Bytes of a full packet of Ethernet."""

FASTER: Final = 10
"""Rate of the access links, as a multiple of the bottleneck's."""

MIN_BUFFER: Final = 10
"""Least buffer in packets: an initial window (RFC 6928)."""


@dataclass(frozen=True)
class Sketch:
    """What `text` writes a scenario of. Quantities are as in scenarios, such as "40 Mbps"."""

    rate: str
    """Of the bottleneck; towards the receivers if there is another rate in `up`."""
    rtt: str
    queue: str
    """A queue discipline of the registry."""
    senders: tuple[str, ...]
    """Window laws of the registry, one flow each."""
    duration: str
    up: str = ""
    """Rate from the receivers of an asymmetric line; "" if the line has one rate."""
    defaults: bool = False
    """Keep default thresholds of queues even if the transmission of a packet takes longer."""

    @property
    def link(self) -> str:
        """Name of the bottleneck link."""
        return "line" if self.up else "bottleneck"

    @property
    def home(self) -> str:
        """Node of the receivers."""
        return "home" if self.up else "client"

    @property
    def ways(self) -> dict[str, Sketch]:
        """The names of queue tables, each with a sketch of the rate of its direction."""
        if not self.up:
            return {"bottleneck": self}
        return {"down": self, "up": replace(self, rate=self.up)}

    @property
    def bdp_packets(self) -> int:
        """The product of rate and RTT in full packets, at least `MIN_BUFFER`."""
        return max(MIN_BUFFER, round(quantity(self.rate) * quantity(self.rtt) / (8 * PACKET)))


def sketch(rate: str, rtt: str, queue: str, senders: str, duration: str, up: str = "") -> Sketch:
    """The sketch of texts as a user writes them. Raises EcnlabError with a remedy for a wrong one.

    With ``up``, ``rate`` is that of the other direction.
    """
    names = tuple(name.strip() for name in senders.split(",") if name.strip())
    known = _core.laws()
    _known("--queue", queue, list(known["queue"]))
    for name in names:
        _known("--senders", name, list(known["congestion"]))
    if not names or len(set(names)) < len(names):
        raise EcnlabError(f"--senders is {senders!r}: name each window law once, such as prague,cubic")
    return Sketch(
        _quantity("--down" if up else "--rate", rate, RATES, "40 Mbps"),
        _quantity("--rtt", rtt, TIMES, "20 ms"),
        queue,
        names,
        _quantity("--duration", duration, TIMES, "30 s"),
        _quantity("--up", up, RATES, "10 Mbps") if up else "",
    )


def sketched(kind: str, name: str) -> dict[str, Any]:
    """What `SKETCHES` has of a law; ``kind`` is "queue" or "sender"."""
    found: dict[str, Any] = SKETCHES[kind].get(name, {})
    return found


def known_queue(option: str, name: str) -> None:
    """Raise EcnlabError with a guess if ``name``, a value of ``option``, is not a queue discipline."""
    _known(option, name, list(_core.laws()["queue"]))


def _known(option: str, name: str, valid: list[str]) -> None:
    if name not in valid:
        raise EcnlabError(f"{option}: there is no {name!r}{guess_law(name, valid)}; valid names: {', '.join(valid)}")


def _quantity(option: str, text: str, units: dict[str, int], example: str) -> str:
    """``text`` with one space before its unit, which is written as in scenarios."""
    found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]+(?:/s)?)\s*", text)
    unit = _unit(found[2], units) if found else ""
    if not found or unit not in units or not float(found[1]):
        kind = "rate" if units is RATES else "time"
        guess = f'did you mean "{found[1]} {_guess(found[2], units)}"' if found and _guess(found[2], units) else ""
        help_ = f"{guess}?" if guess else f'write one such as "{example}"'
        raise EcnlabError(f"{option} is {text!r}, not a {kind} above 0: {help_}")
    written = f"{found[1]} {unit}"
    if not math.isfinite(FASTER * quantity(written)):
        raise EcnlabError(f'{option} is {text[:40]!r}…, which is too large: write one such as "{example}"')
    return written


def _unit(name: str, units: dict[str, int]) -> str:
    """``name``, or of a rate such as `Mb/s`, `Mbit/s` or `mbit` the unit of scenarios."""
    if name in units or units is not RATES:
        return name
    rate = re.fullmatch(r"([kKmMgG]?)(b/s|bit|bits|bit/s|bps)", name)
    return _prefixed(rate[1]) if rate else name


def _prefixed(prefix: str) -> str:
    prefix = prefix.lower() if prefix in "kK" else prefix.upper()
    return f"{prefix}bps"


def _guess(name: str, units: dict[str, int]) -> str:
    """The unit that ``name`` may stand for, such as `Mbps` for `M`; "" if there is none."""
    if units is RATES:
        return _prefixed(name[0]) if re.fullmatch(r"[kKmMgG]([bB]?|[bB]/s|Bps)", name) else ""
    return {"sec": "s", "secs": "s", "seconds": "s", "msec": "ms", "m": "min", "S": "s", "MS": "ms"}.get(name, "")


def text(sketch: Sketch) -> str:
    """The scenario as TOML, with a comment on each line that states its meaning."""
    queues = [line for name, way in sketch.ways.items() for line in _queue(way, name)]
    upload = list(_upload(sketch)) if sketch.up else []
    return "\n".join([*_head(sketch), *_links(sketch), *queues, *_senders(sketch), *upload]) + "\n"


def _line(key: str, value: str, about: str) -> str:
    return f"{f'{key} = {value}':39} # {about}"


def _quoted(value: str) -> str:
    return f'"{value}"'


def _head(sketch: Sketch) -> Iterator[str]:
    label = laws.label("queue", sketch.queue)
    title = f"{', '.join(laws.label('congestion', one) for one in sketch.senders)} behind {label}"
    rate = f"{sketch.rate} down, {sketch.up} up" if sketch.up else sketch.rate
    yield f"# {title}, at {rate} and a round trip of {sketch.rtt}."
    yield "# `ecnlab docs scenario` has every key. Times, rates and sizes have units."
    yield ""
    yield _line("format", "1", "version of the file format")
    yield _line("title", _quoted(title), "name in reports")
    yield _line("duration", _quoted(sketch.duration), "simulated time")
    value, unit = sketch.duration.split()
    yield _line("warmup", _quoted(f"{float(value) / 5:.12g} {unit}"), "results count from here on")
    yield _line("sample", '"100 ms"', "interval of the time series")
    yield _line("profile", '"linux-7"', "the TCP of all hosts: Linux 7 (`ecnlab profiles linux-7`)")
    yield ""


def _links(sketch: Sketch) -> Iterator[str]:
    value, unit = sketch.rtt.split()
    delay = f"{float(value) / 2:.12g} {unit}"
    first = next(iter(sketch.ways))
    yield f"[link.{sketch.link}]"
    yield _line("from", '"router"', "downloads flow from here" if sketch.up else "data flow from here")
    yield _line("to", _quoted(sketch.home), "to here; the reverse has uploads" if sketch.up else "to here; ACKs return")
    yield _line("rate", _quoted(sketch.rate), "towards the receivers" if sketch.up else "of each direction")
    yield _line("delay", _quoted(delay), "one way: half of the round trip")
    yield _line("queue", _quoted(first), f"the table [queue.{first}]")
    yield ""
    if sketch.up:
        yield f"[link.{sketch.link}.reverse]                     # from home to router, with the same delay"
        yield _line("rate", _quoted(sketch.up), "of uploads, and of the ACKs of downloads")
        yield _line("queue", '"up"', "the table [queue.up]")
        yield ""
    value, unit = max(sketch.rate, sketch.up or sketch.rate, key=quantity).split()
    yield "[link.access]"
    yield _line("from", '"server"', "the other end of all flows" if sketch.up else "all senders are on this host")
    yield _line("to", '"router"', "the bottleneck starts there")
    yield _line("rate", _quoted(f"{FASTER * float(value):.12g} {unit}"), "faster than the bottleneck: no queue here")
    yield _line("delay", '"0 s"', "the bottleneck has all of the delay")
    yield ""


def _queue(sketch: Sketch, table: str) -> Iterator[str]:
    facts = laws.facts("queue", sketch.queue)
    where = {"down": ", towards the receivers", "up": ", from the receivers"}.get(table, "")
    yield f"# {facts['summary'][0].upper()}{facts['summary'][1:]}{where}."
    yield f"[queue.{table}]"
    name = (_quoted(sketch.queue), f"`ecnlab laws` lists all; {_page(sketch.queue)} has its keys")
    yield _line("discipline", *sketched("queue", sketch.queue).get("name", name))
    instead = sketched("queue", sketch.queue).get("instead", [])
    for key, value, about in instead:
        yield _line(key, value, about)
    if not instead:
        packets = 4 * sketch.bdp_packets if facts["uses_ecn"] else sketch.bdp_packets
        yield _line("limit", _packets(packets), _limit(sketch))
    if facts["uses_ecn"] and not instead:
        yield _line("ecn", "true", "mark packets of ECN-capable flows instead of dropping them")
    yield from _raised(sketch, sketch.queue)
    yield from _own(sketch, table)
    yield ""


def _raised(sketch: Sketch, queue: str) -> Iterator[str]:
    """The thresholds of ``queue`` that a packet would exceed by its transmission."""
    if not sketch.defaults:
        shaped = any("$slower" in value for _, value, _ in sketched("queue", sketch.queue).get("keys", []))
        rate = quantity(_slower(sketch.rate) if shaped else sketch.rate)
        for key, value, about in raised(queue, 8 * PACKET / rate):
            yield _line(key, value, about)


def _page(queue: str) -> str:
    return f"`ecnlab laws {queue}`"


def _limit(sketch: Sketch) -> str:
    times = 4 if laws.facts("queue", sketch.queue)["uses_ecn"] else 1
    return f"buffer: {times} x rate x round trip, at least {times * MIN_BUFFER} packets"


def _packets(count: int) -> str:
    return f'"{count} packet{"s" if count != 1 else ""}"'


def _own(sketch: Sketch, table: str) -> Iterator[str]:
    """The keys that ``sketch.queue`` requires, and inner queues, of the queue ``table``."""
    own = sketched("queue", sketch.queue)
    if "table" in own:
        inner, about = own["table"]
        yield ""
        yield f"{f'[queue.{table}.{inner}]':39} # {about}"
    low = max(5, sketch.bdp_packets // 4)
    for key, value, about in own.get("keys", []):
        yield _line(key, Template(value).substitute(low=low, high=3 * low, slower=_slower(sketch.rate)), about)
    if "class" in own:
        yield from _classes(sketch, table, own["class"])


def _slower(rate: str) -> str:
    value, unit = rate.split()
    return f"{0.95 * float(value):.12g} {unit}"


def _classes(sketch: Sketch, table: str, name: str) -> Iterator[str]:
    """One inner queue."""
    law = SKETCHES["default"]["inner"]
    yield ""
    which = "each flow" if name == "each" else "all packets"
    yield f"{f'[queue.{table}.class.{name}]':39} # the inner queue of {which}"
    yield _line("discipline", _quoted(law), f"{laws.label('queue', law)}: `ecnlab laws {law}`")
    yield _line("limit", _packets(4 * sketch.bdp_packets), "4 x rate x round trip")
    yield _line("ecn", "true", "mark packets of ECN-capable flows instead of dropping them")
    yield from _raised(sketch, law)


def _senders(sketch: Sketch) -> Iterator[str]:
    for law in sketch.senders:
        yield f"# {laws.label('congestion', law)}: {laws.facts('congestion', law)['summary']}"
        yield f"[tcp.{law}]"
        own = sketched("sender", law)
        if "profile" in own:
            yield _line("profile", *own["profile"])
        else:
            yield _line("ecn", *own.get("ecn", SKETCHES["default"]["ecn"]))
            yield _line("congestion", *own.get("name", (_quoted(law), f"window law, `ecnlab laws {law}`")))
        yield ""
        yield from _flow(law, law, "server", sketch.home)
        if sketch.up or law != sketch.senders[-1]:
            yield ""


def _upload(sketch: Sketch) -> Iterator[str]:
    """A flow in the other direction, of the first window law."""
    yield "# An upload, which shares its direction with the ACKs of the downloads."
    yield from _flow("upload", sketch.senders[0], sketch.home, "server")


def _flow(name: str, law: str, sender: str, receiver: str) -> Iterator[str]:
    yield f"[flow.{name}]"
    yield _line("from", _quoted(sender), "the sender of the data")
    yield _line("to", _quoted(receiver), "the receiver")
    yield _line("traffic", '"ftp"', "data without end; `ecnlab docs traffic` has other kinds")
    yield _line("tcp", _quoted(law), f"the table [tcp.{law}], at both ends")
    yield _line("start", '{ uniform = ["0 s", "100 ms"] }', "drawn from the seed")
