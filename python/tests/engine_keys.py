"""Which keys of a scenario each engine applies, substitutes or refuses: the tables of ``docs/generated/engines.md``.

A key of the schema is set to other values in a scenario that all engines accept, and each engine is asked: by its check, its
``instead``, and what it makes of the scenario. ``test_engine_keys.py`` compares the page.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from functools import cache, lru_cache
from itertools import groupby
from typing import Any, Final, NamedTuple

import polars as pl

from ecnlab._core import Scenario, SpecError, schema
from ecnlab.engines.model.engine import Model
from ecnlab.engines.protocol import LINUX, LINUX_WALL, MODEL, PACKETS
from ecnlab.laws.model_coverage import NotCoveredError
from ecnlab.linux.engine import refuse_events
from ecnlab.linux.network import KernelLinks, Network
from ecnlab.linux.plan import Plan, plan
from ecnlab.linux.wall.network import RouterLinks

ENGINES: Final = (PACKETS, LINUX, LINUX_WALL, MODEL)

SAME, REFUSED, UNUSED = "same", "refused", "not used"

SECTIONS: Final = ("node", "link", "quic", "flow", "capture", "box", "tunnel")
"""Sections whose tables all have the same keys."""

BASE: Final = """\
format = 1
duration = "4 s"
sample = "100 ms"
profile = "linux-7"

node.c = {}
link.x = { from = "a", to = "b", rate = "10 Mbps", delay = "10 ms", queue = "x" }
link.side = { from = "a", to = "c", rate = "20 Mbps", delay = "1 ms" }
queue.x = { discipline = "droptail", limit = "50 packets" }
queue.y = { discipline = "droptail", limit = "70 packets" }
tcp.default = { congestion = "reno" }
tcp.x = { congestion = "reno" }
tcp.y = { congestion = "reno", initial_window = 3 }
box.x = { syn = "drop" }
tunnel.x = {}
quic.x = { stack = "quinn" }
flow.x = { from = "a", to = "b", traffic = "ftp", tcp = "x" }
"""

QUEUES: Final[Mapping[str, str]] = {
    "droptail": 'limit = "50 packets"',
    "red": 'limit = "60 kB", min_th = "7500 B", max_th = "22500 B", max_p = 0.1, weight = 0.001953125, '
    'mean_packet = "1500 B", ecn = true',
    "codel": 'limit = "1000 packets"',
    "docsis_pie": 'limit = "100 packets"',
    "step": 'limit = "100 packets", threshold = "20 packets"',
    "pi": 'limit = "100 packets", q_ref = "20 packets", a = 1.8e-3, b = 1.7e-3',
    "rem": 'limit = "100 packets"',
    "blue": 'limit = "100 packets"',
    "avq": 'limit = "100 packets"',
    "choke": 'limit = "100 packets", min_th = "10 packets", max_th = "60 packets", max_p = 0.1, ecn = true',
    "gsp": 'limit = "100 packets", threshold = "20 packets"',
    "cobalt": 'limit = "100 packets"',
    "policer": 'limit = "100 packets", rate = "5 Mbps", burst = "15 kB"',
    "classes": 'schedule = "drr", limit = "100 packets", class = { a = { codepoints = ["ect1"], discipline = "droptail", '
    'limit = "50 packets" }, b = { order = 1, discipline = "droptail", limit = "50 packets" } }',
    "fq": 'limit = "100 packets", class = { each = { discipline = "droptail", limit = "50 packets" } }',
    "tbf": 'limit = "100 packets", rate = "5 Mbps", burst = "3 kB", '
    'class = { inner = { discipline = "droptail", limit = "50 packets" } }',
    "htb": 'limit = "100 packets", class = { a = { discipline = "droptail", limit = "50 packets" } }, '
    'sharing = { a = { rate = "5 Mbps" } }',
    "cbq": 'limit = "100 packets", class = { a = { discipline = "droptail", limit = "50 packets" } }, '
    'sharing = { a = { rate = "5 Mbps" } }',
    "gred": 'limit = "100 packets", virtual = { all = { min_th = "10 packets", max_th = "60 packets", max_p = 0.1 } }',
    "sfb": 'limit = "100 packets"',
}
"""What a queue of a discipline needs besides its name, if anything."""

AROUND: Final[Mapping[str, Mapping[str, object]]] = {
    "capture": {"capture.x": {"link": "x"}},
    "box": {"link.x.boxes": ["x"]},
    "tunnel": {"link.x.tunnel": "x"},
    "quic": {"flow.x.quic": "x"},
}
"""What `BASE` needs besides for the keys of a section."""

TRAFFIC: Final[Mapping[str, str]] = {
    "live": 'rate = "1 Mbps"',
    "crr": 'request = "1 kB", response = "5 kB"',
    "web": 'sessions = 2, inter_session = "1 s", pages = 2, inter_page = "500 ms", objects = 2, inter_object = "10 ms", '
    'object_size = "2500 B", packet = "1000 B"',
    "cbr": 'rate = "1 Mbps", packet = "1 kB"',
    "on-off": 'rate = "1 Mbps", packet = "1 kB", on = "1 s", off = "1 s"',
}
"""What traffic of a kind needs besides its name."""

PIPE: Final = {"from": "a", "to": "b", "rate": "10 Mbps", "delay": "10 ms", "queue": "x"}

LAWS: Final[Mapping[str, Mapping[str, object]]] = {
    "prague": {"tcp.x.ecn": "accecn-linux", "tcp.x.dsack": True},
}
"""What a window law needs besides its name."""

OWN: Final[Mapping[str, list[Mapping[str, object]]]] = {
    "format": [{"format": 1}],
    "end_after": [{"flow.x.traffic": {"kind": "ftp", "size": "1 MB"}, "end_after": ["x"]}],
    "link.x.duplex": [
        {"link.x": {**PIPE, "duplex": False}, "link.back": {**PIPE, "from": "b", "to": "a", "duplex": False}}
    ],
    "link.x.rate": [{"link.x.rate": "5 Mbps"}, {"link.x.rate": {"square": ["5 Mbps", "9 Mbps"], "every": "2 s"}}],
    "link.x.delay": [{"link.x.delay": "5 ms"}, {"link.x.delay": {"square": ["5 ms", "9 ms"], "every": "2 s"}}],
    "link.x.aggregation": [{"link.x.aggregation": {"time": "4 ms"}}],
    "link.x.outages": [{"link.x.outages": {"times": [["1 s", "1 s"]]}}],
    "link.x.reverse": [{"link.x.reverse": {"rate": "5 Mbps"}}],
    "flow.x.quic": [{"flow.x.quic": "x"}],
    "flow.x.quic_from": [{"flow.x.quic_from": "x", "flow.x.quic_to": "x"}],
    "flow.x.quic_to": [{"flow.x.quic_from": "x", "flow.x.quic_to": "x"}],
    "capture.x.link": [{"capture.x.link": "side"}],
    "box.x.rewrite": [{"box.x.rewrite": {"ce": "not-ect"}}],
    "cbr.quench": [{"flow.x.traffic.quench": {}, "flow.x.traffic.ecn": "ect0"}],
    "on-off.quench": [{"flow.x.traffic.quench": {}, "flow.x.traffic.ecn": "ect0"}],
    "tcp.x.rto_estimator": [{"tcp.x.rto_estimator": "linux-2.2", "tcp.x.rtt_tick": "10 ms"}],
    "tcp.x.ecn_control": [
        {"tcp.x.ecn_control": value, "tcp.x.ecn": "rfc3168"} for value in ("generalized", "try-once", ["syn-ack"])
    ],
    "tcp.x.ecn_accepts": [
        {"tcp.x.ecn_accepts": accepted, "tcp.x.ecn": ecn, "tcp.x.dsack": True}
        for accepted, ecn in (("rfc3168", "off"), ("accecn-linux", "off"), ("accecn-linux", "rfc3168"))
    ],
    "tcp.x.ecn_option": [
        {"tcp.x.ecn_option": mode, "tcp.x.ecn": "accecn-linux", "tcp.x.dsack": True}
        for mode in ("off", "minimum", "full", "persist")
    ],
    "tcp.x.ecn_option_beacon": [{"tcp.x.ecn_option_beacon": beacon} for beacon in (0, 1)],
    "tcp.x.ecn_fallback_memory": [{"tcp.x.ecn_fallback_memory": "60 s", "tcp.x.ecn_syn_fallback": True}],
    "tcp.x.rate_limited_growth": [
        *({"tcp.x.rate_limited_growth": growth} for growth in ("unlimited", "window-limited", "ratelimited-increase")),
        {"tcp.x.rate_limited_growth": "rfc7661", "tcp.x.recovery": "newreno", "tcp.x.idle_restart": False},
    ],
    "tcp.x.sack": [{"tcp.x.sack": False, "tcp.x.recovery": "linux-newreno"}],
    "tcp.x.window_scaling": [{"tcp.x.window_scaling": False, "tcp.x.receive_buffer": "60 kB"}],
    "dctcp.g": [{"tcp.x.congestion.g": 0.125}],
    "bbr3.codepoint": [{"tcp.x.congestion.codepoint": "ect1", "tcp.x.ecn": "dctcp"}],
    "dctcp.codepoint": [{"tcp.x.congestion.codepoint": "ect1", "tcp.x.ecn": "dctcp"}],
    "red.becn": [{"queue.x.becn": {"thresh": "9 kB"}}],
    "red.first_passes": [{"queue.x.first_passes": passes} for passes in (True, False)],
    "red.frozen_gentle": [{"queue.x.frozen_gentle": True, "queue.x.gentle": True, "queue.x.adaptive": {}}],
    "pie.active_threshold": [{"queue.x.profile": "rfc8033", "queue.x.active_threshold": "3 kB"}],
    "pie.max_burst": [{"queue.x.profile": "rfc8033", "queue.x.max_burst": "100 ms"}],
    "pie.mean_pktsize": [{"queue.x.profile": "rfc8033", "queue.x.mean_pktsize": "1 kB"}],
    "pi.b": [{"queue.x.b": 1.75e-3}],
    "classes.tshift": [{"queue.x.schedule": "time-shifted", "queue.x.tshift": "50 ms"}],
    "dualpi2.l4s": [{"queue.x.l4s": {"codepoints": codepoints}} for codepoints in (["ect0", "ect1", "ce"], ["ect1"])],
    "dualpi2.min_th": [{"queue.x.profile": "rfc9332", "queue.x.min_th": "1 ms"}],
    "dualpi2.range": [{"queue.x.profile": "rfc9332", "queue.x.range": "1 ms"}],
    "dualpi2.th_len": [{"queue.x.profile": "rfc9332", "queue.x.th_len": 2}],
    "htb.sharing": [{"queue.x.sharing": {"a": {"rate": "6 Mbps"}}}],
    "cbq.sharing": [{"queue.x.sharing": {"a": {"rate": "6 Mbps"}}}],
    "gred.virtual": [{"queue.x.virtual": {"all": {"min_th": "5 packets", "max_th": "60 packets", "max_p": 0.1}}}],
    "link.x.to": [{"link.x.to": "d", "flow.x.to": "d"}],
    "flow.x.from": [{"flow.x.from": "c"}],
    "flow.x.read_interval": [{"flow.x.read_rate": "2 Mbps", "flow.x.read_interval": "20 ms"}],
    "flow.x.read_rate": [{"flow.x.read_rate": "2 Mbps"}],
    "capture.x.node": [{"capture.x": {"node": "a"}}],
}
"""Overrides that set a key which takes more than a value."""

TEXTS: Final = (
    "40 packets",
    "3 packets",
    "120 packets",
    "30 kB",
    "3 kB",
    "1400 B",
    "40 B",
    "1 ms",
    "30 ms",
    "300 ms",
    "3 s",
)
MORE: Final = ("2 Mbps", "7 Mbps", "EF", "120 s", "real")
"""Values to try for a key whose schema has a pattern."""

NAMES: Final = ("x", "y", "a", "b", "c")
"""Values to try for a key that takes any text: names in `BASE`."""

NUMBERS: Final[Mapping[str, tuple[object, ...]]] = {
    "boolean": (False, True),
    "integer": (1, 2, 3, 7, 20),
    "number": (0.05, 0.3, 0.7, 1.5),
}

MAX_VALUES: Final = 2
"""Of numbers and quantities so many values are tried; of words, all."""

USER_DEFINED: Final = "user-defined"
"""The laws in files of the user's: there is no such file here."""


FIXED: Final = ("admit", "forced", "full", "mark_at", "ecn")
"""Keys of every queue that some disciplines leave no choice: another value is no scenario for any engine."""


class Key(NamedTuple):
    """A key of the schema, and how to set it."""

    section: str
    """The heading in the page."""
    name: str
    path: str
    """The dotted key in `BASE`."""
    about: Mapping[str, Any]
    """Its schema."""
    around: Mapping[str, object]
    """What `BASE` needs for it."""


class Row(NamedTuple):
    """What each engine does with a key, in words, by engine as in `ENGINES`."""

    section: str
    key: str
    words: tuple[str, ...]


@cache
def root() -> dict[str, Any]:
    """The schema of scenario files."""
    return schema("scenario")


def keys() -> Iterator[Key]:
    """Every key of the schema but those of laws in files of the user's."""
    properties = root()["properties"]
    tables = {name for name, about in properties.items() if about.get("type") == "object"}
    yield from _keys("Top level", "", "", {k: v for k, v in properties.items() if k not in tables}, {})
    for section in SECTIONS:
        table = _resolved(properties[section]["additionalProperties"])["properties"]
        path = "node.c." if section == "node" else f"{section}.x."
        yield from _keys(f"[{section}.NAME]", "", path, table, AROUND.get(section, {}))
    for name, table, needed in _members(root()["definitions"]["Params"], "kind"):
        traffic: dict[str, object] = {"kind": name, **needed, **_table(TRAFFIC.get(name, ""))}
        around = {"flow.x": {"from": "a", "to": "b", "traffic": traffic}}
        yield from _law("Traffic", name, "flow.x.traffic.", table, around)
    tcp = properties["tcp"]["additionalProperties"]["properties"]
    yield from _keys("[tcp.NAME]", "", "tcp.x.", tcp, {})
    for name, table, needed in _members(root()["definitions"]["WindowLaw"], "kind"):
        yield from _law(
            "Congestion control",
            name,
            "tcp.x.congestion.",
            table,
            {"tcp.x.congestion": {"kind": name, **needed}, **LAWS.get(name, {})},
        )
    for name, table, needed in _members(properties["queue"]["additionalProperties"], "discipline"):
        queue: dict[str, object] = {"discipline": name, **needed, **_table(QUEUES.get(name, ""))}
        yield from _law("[queue.NAME]", name, "queue.x.", table, {"queue.x": queue})


def _table(text: str) -> dict[str, object]:
    table: dict[str, object] = tomllib.loads(f"x = {{ {text} }}")["x"]
    return table


def _members(family: Mapping[str, Any], by: str) -> Iterator[tuple[str, dict[str, Any], dict[str, object]]]:
    """Each member of a family that has keys: its name, its keys, and a value for each key that it must have."""
    for member in family["oneOf"]:
        name = member.get("properties", {}).get(by, {}).get("const")
        if name not in (None, USER_DEFINED):
            table = {key: about for key, about in member["properties"].items() if key not in (by, "class")}
            needed = {key: next(_values(table[key])) for key in member.get("required", ()) if key in table}
            yield name, table, needed


def _law(section: str, name: str, path: str, table: Mapping[str, Any], around: Mapping[str, object]) -> Iterator[Key]:
    """The law as such, and its keys."""
    yield Key(section, f"`{name}`", "", {}, around)
    yield from _keys(section, f"`{name}`: ", path, table, around)


def _keys(
    section: str, prefix: str, path: str, table: Mapping[str, Any], around: Mapping[str, object]
) -> Iterator[Key]:
    for key, about in table.items():
        yield Key(section, f"{prefix}`{key}`", f"{path}{key}", about, around)


def _resolved(about: Mapping[str, Any]) -> Mapping[str, Any]:
    while "$ref" in about or "allOf" in about:
        about = about["allOf"][0] if "allOf" in about else root()["definitions"][about["$ref"].rsplit("/", 1)[1]]
    return about


def _values(about: Mapping[str, Any]) -> Iterator[object]:
    """Values that the schema ``about`` allows."""
    about = _resolved(about)
    for choice in (*about.get("oneOf", ()), *about.get("anyOf", ())):
        yield from _values(choice)
    kind = str(about.get("type"))
    if "const" in about:
        yield about["const"]
    elif "enum" in about:
        yield from about["enum"]
    elif kind == "object" and "properties" in about:
        yield {key: next(_values(about["properties"][key])) for key in about.get("required", ())}
    elif kind == "object":
        yield {name: next(_values(about["additionalProperties"])) for name in NAMES[:1]}
    elif kind == "array" and isinstance(about["items"], list):
        yield [next(_values(item)) for item in about["items"]]
    elif kind == "array":
        yield [next(_values(about["items"])) for _ in range(about.get("minItems", 1))]
    elif kind == "string" and "pattern" in about:
        yield from (text for text in TEXTS + MORE if re.match(about["pattern"], text))
    else:
        yield from NUMBERS.get(kind, NAMES)


@cache
def rows() -> list[Row]:
    """What each engine does with each key."""
    return [Row(key.section, key.name, words_of(key)) for key in keys()]


def words_of(key: Key) -> tuple[str, ...]:
    """What each engine does with ``key``, in words. Raises ValueError for a key that cannot be set to another value."""
    base = _base(json.dumps(key.around))
    if not key.path:
        return tuple(_words([(None, ask(None, base, key.path))]) for ask in ASKED)
    tried = list(_tried(base, key))
    if all(_equal(base, changed) for _, changed in tried) and key.path not in OWN:
        tried = []
    if not tried and key.path.removeprefix("queue.x.") in FIXED:
        return (REFUSED,) * len(ENGINES)
    if not tried:
        raise ValueError(f"{key.section} {key.name}: no value that can be set was found: give one in `OWN`")
    return tuple(_words([(value, ask(base, changed, key.path)) for value, changed in tried]) for ask in ASKED)


@cache
def _base(around: str) -> Scenario:
    """`BASE` with overrides, as JSON: the same object for all keys that need the same."""
    base = Scenario("base.toml", BASE)
    return base.with_overrides(json.loads(around)) if json.loads(around) else base


def _tried(base: Scenario, key: Key) -> Iterator[tuple[object, Scenario]]:
    """Other values than that of ``base``, and the scenario with each."""
    count = 0
    law, colon, _ = key.name.partition(": ")
    own = OWN.get(f"{law.strip('`')}.{key.path.rsplit('.', 1)[-1]}" if colon else key.path)
    choices = own or [{key.path: value} for value in _values(key.about)]
    for overrides in choices:
        value = overrides.get(key.path, "")
        try:
            changed = base.with_overrides(dict(overrides))
        except SpecError:
            continue
        # Of words all are tried, that of `base` too.
        same = _equal(base, changed) and own is None
        if same and (not isinstance(value, str) or value[:1].isdigit()):
            continue
        count += not isinstance(value, str) or value[:1].isdigit()
        if count <= MAX_VALUES:
            yield value, changed


def _packets(_base: Scenario | None, _changed: Scenario, _path: str) -> str:
    """The simulator has every key."""
    return SAME


def _kernel(scenario: Scenario) -> Network:
    return KernelLinks(scenario.taps)


def _router(_scenario: Scenario) -> Network:
    return RouterLinks()


def _linux(base: Scenario | None, changed: Scenario, path: str) -> str:
    return _on_hosts(base, changed, path, _kernel)


def _wall(base: Scenario | None, changed: Scenario, path: str) -> str:
    found = _on_hosts(base, changed, path, _router)
    # The router takes links and queues from the scenario itself.
    return SAME if found == UNUSED and not path.startswith("tcp.") else found


ELSEWHERE: Final = frozenset({"format", "title", "flow.x.group", "capture.x.snap", "capture.x.format"})
"""Keys that this package reads after a run, or that name things in its tables: the guest knows nothing of them."""


def _on_hosts(base: Scenario | None, changed: Scenario, path: str, network: Callable[[Scenario], Network]) -> str:
    made, before = _plan(changed, network), _plan(base, network) if base else None
    if made is None:
        return REFUSED
    substituted = [entry for entry in made.instead if entry["key"] == path or (before and entry not in before.instead)]
    if substituted and before:
        if len(substituted) > 1:
            return "substituted by the kernel's values"
        where = "" if substituted[0]["key"] == path else f" in `{substituted[0]['key'].rsplit('.', 1)[-1]}`"
        return f"substituted by {_shown(substituted[0]['kernel'])}{where}"
    applied = before is None or made.files != before.files or made.instead != before.instead
    return SAME if applied or path in ELSEWHERE or _equal(base, changed) else UNUSED


def _equal(base: Scenario | None, changed: Scenario) -> bool:
    return base is not None and _resolved_spec(base) == _resolved_spec(changed)


@lru_cache(maxsize=64)  # each access to it makes it anew
def _resolved_spec(scenario: Scenario) -> dict[str, Any]:
    return scenario.resolved


@lru_cache(maxsize=64)  # a key's scenario without it is asked for once a value
def _plan(scenario: Scenario, network: Callable[[Scenario], Network]) -> Plan | None:
    """What the guest does; None if the scenario is refused."""
    try:
        refuse_events(False, scenario)
        return plan(scenario, 0, network(scenario))
    except SpecError:
        return None


def _model(base: Scenario | None, changed: Scenario, path: str) -> str:
    found, before = _prediction(changed), _prediction(base) if base else None
    if found is None:
        return REFUSED
    used = before is None or not found.equals(before) or path in ELSEWHERE or _equal(base, changed)
    return SAME if used else UNUSED


@lru_cache(maxsize=64)
def _prediction(scenario: Scenario) -> pl.DataFrame | None:
    """What the closed forms predict; None if they do not cover the scenario."""
    try:
        return Model().tables(scenario, 0)["prediction"]
    except (SpecError, NotCoveredError):
        return None


ASKED: Final = (_packets, _linux, _wall, _model)
"""By engine, what it does with a key: from a scenario, the one with the key, and the key."""


def _words(found: list[tuple[object, str]]) -> str:
    """What an engine does with a key: one word for all values, or each with its values."""
    by: dict[str, list[str]] = {}
    for value, word in found:
        by.setdefault(word, []).append(_shown(value))
    if len(by) == 1:
        return next(iter(by))
    return "; ".join(f"{word}: {', '.join(values)}" for word, values in by.items())


def _shown(value: object) -> str:
    """A value as code; of a table with a kind, the kind."""
    value = value.get("kind", value) if isinstance(value, dict) else value
    return f"`{json.dumps(value, ensure_ascii=False)}`"


HEAD: Final = """\
<!-- Generated by `make schema` from the schema and the checks of the engines; do not edit. -->

# What each engine does with a key

A scenario runs on four engines: `packets` (the simulator), `linux` (the [kernel](../linux.md) in virtual time), `linux-wall` (the machine's
kernel [in real time](../linux.md#real-time)) and `model` (the [closed forms](../models.md)). An engine does one of these with the value of a
key:

| word | meaning |
| --- | --- |
| same | the engine does what the scenario asks |
| substituted by X | the engine does X; the manifest has the key under `instead`, and `run`, `sweep` and `agree` print it |
| refused | the run does not start; the message names file, line and key |
| not used | the engine has no use for the key; for the model: the forms describe the steady state without it |

Where it depends on the value, each word is followed by values that were tried. Keys of `[tcp.NAME]` are those of Reno and the profile `linux-7`
with one key changed; a value that comes from another profile is substituted and not refused
([linux.md](../linux.md#limits)). Laws in files of the user's are refused by `linux` and `model`.
"""


def page() -> str:
    """The page ``docs/generated/engines.md``."""
    parts = [HEAD]
    for section, members in groupby(rows(), key=lambda row: row.section):
        title = f"`{section}`" if section.startswith("[") else section
        lines = [f"## {title}", "", f"| key | {' | '.join(f'`{engine}`' for engine in ENGINES)} |"]
        lines.append("| --- " * (1 + len(ENGINES)) + "|")
        for words, alike in groupby(members, key=lambda row: row.words):
            names = ", ".join(joined([row.key for row in alike]))
            lines.append(f"| {names} | {' | '.join(words)} |")
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def joined(names: list[str]) -> Iterator[str]:
    """Keys of one law one after the other, with the law's name before the first."""
    before = ""
    for name in names:
        law, colon, key = name.partition(": ")
        yield key if colon and law == before else name
        before = law
