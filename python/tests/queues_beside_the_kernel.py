"""Queues with random settings, for which the kernel has a discipline that does the same to every packet."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Final

NS_PER_BYTE: Final = tuple(k for k in range(80, 5001) if 10**9 % k == 0)
"""Lines from 1.6 to 100 Mbit/s. The kernel counts whole nanoseconds and whole bytes a second: others drift from exact times."""

HEAD: Final = """format = 1
duration = "1 s"

link.l = {{ from = "a", to = "b", rate = "{rate} bps", delay = "1 ms", queue = "q" }}
flow.x = {{ from = "a", to = "b", traffic = "ftp" }}
flow.y = {{ from = "a", to = "b", traffic = "ftp" }}
flow.z = {{ from = "a", to = "b", traffic = "ftp" }}
"""


def scenario(law: str, seed: int) -> str:
    """A scenario whose queue ``q`` is one of ``law`` with settings drawn under ``seed``."""
    rng = random.Random(f"{law} {seed}")
    ns = rng.choice(NS_PER_BYTE)
    return HEAD.format(rate=8 * 10**9 // ns) + LAWS[law](rng, ns)


def _table(name: str, **keys: object) -> str:
    lines = [f"{key} = {str(value).lower() if isinstance(value, bool) else repr(value)}" for key, value in keys.items()]
    return "\n".join([f"[{name}]", *lines, ""])


def _droptail(rng: random.Random, _ns: int) -> str:
    limit = rng.choice((f"{rng.randint(1, 60)} packets", f"{rng.randint(1500, 60_000)} B"))
    full = rng.choice(("tail", "front")) if limit.endswith("packets") else "tail"
    return _table("queue.q", discipline="droptail", limit=limit, full=full)


def _law(rng: random.Random, ns: int) -> dict[str, object]:
    """CoDel's keys. A packet takes ``ns`` a byte: targets of some packets, intervals of some targets."""
    target = max(2, rng.randint(200, 8_000) * ns // 1000)
    keys: dict[str, object] = {"target": f"{target} us", "interval": f"{target * rng.randint(2, 12)} us"}
    keys |= {"sqrt": "linux", "clock": "linux", "ecn": rng.random() < 0.5}
    if rng.random() < 0.3:
        keys["ce_threshold"] = f"{target * rng.randint(1, 4)} us"
    return keys


def _codel_keys(rng: random.Random, ns: int) -> dict[str, object]:
    return {"discipline": "codel", "limit": f"{rng.randint(10, 200)} packets", **_law(rng, ns)}


def _fq_codel_keys(rng: random.Random, ns: int) -> dict[str, object]:
    keys: dict[str, object] = {"discipline": "fq_codel", "limit": f"{rng.randint(10, 200)} packets"}
    keys |= {
        "flows": rng.choice((1, 4, 16, 1024)),
        "salt": rng.randint(0, 2**31),
        "quantum": f"{rng.randint(256, 4000)} B",
    }
    return {**keys, "drop_batch": rng.choice((1, 8, 64)), **_law(rng, ns)}


def _leaf(rng: random.Random, ns: int) -> dict[str, object]:
    if rng.random() < 0.3:
        return _codel_keys(rng, ns)
    return {"discipline": "droptail", "limit": f"{rng.randint(1, 40)} packets"}


def _plain(rng: random.Random, _ns: int) -> dict[str, object]:
    return {"discipline": "droptail", "limit": f"{rng.randint(1, 40)} packets"}


WHO: Final = ({"groups": ["x"]}, {"dscp": [46, 10]}, {"codepoints": ["ect1", "ce"]}, {"groups": ["y"], "dscp": [0]})


def _members(rng: random.Random, count: int) -> list[dict[str, object]]:
    """Who belongs to ``count`` classes; the last has the rest."""
    return [*({"order": i, **who} for i, who in enumerate(rng.sample(WHO, count - 1))), {"order": count}]


def _classes(at: str, members: list[dict[str, object]], *more: dict[str, object]) -> str:
    tables = zip(members, *[iter(more)], strict=True)
    return "".join(_table(f"{at}.class.c{i}", **member, **keys) for i, (member, keys) in enumerate(tables))


def _drr(rng: random.Random, ns: int) -> str:
    members = _members(rng, rng.randint(2, 4))
    queues = [{"turn": f"{rng.randint(256, 4000)} B", **_plain(rng, ns)} for _ in members]
    head = _table("queue.q", discipline="classes", schedule="drr", limit="1000 packets")
    return head + _classes("queue.q", members, *queues)


def _fq(rng: random.Random, ns: int) -> str:
    keys: dict[str, object] = {
        "discipline": "fq",
        "limit": "1000 packets",
        "flows": rng.randint(2, 16),
        "rounds": "drr",
    }
    head = _table("queue.q", **keys, salt=rng.randint(0, 2**31), quantum=f"{rng.randint(256, 4000)} B")
    return head + _table("queue.q.class.each", **_plain(rng, ns))


def _prio(rng: random.Random, ns: int) -> str:
    members = _members(rng, rng.randint(2, 4))
    head = _table("queue.q", discipline="classes", schedule="strict", limit="1000 packets")
    return head + _classes("queue.q", members, *(_leaf(rng, ns) for _ in members))


def _ets(rng: random.Random, ns: int) -> str:
    outer, inner = _members(rng, 2), _members(rng, rng.randint(2, 3))
    rounds: dict[str, object] = {"discipline": "classes", "schedule": "drr", "limit": "500 packets"}
    head = _table("queue.q", discipline="classes", schedule="strict", limit="1000 packets")
    queues = [{"turn": f"{rng.randint(256, 4000)} B", **_plain(rng, ns)} for _ in inner]
    return head + _classes("queue.q", outer, _leaf(rng, ns), rounds) + _classes("queue.q.class.c1", inner, *queues)


def _tbf(rng: random.Random, ns: int) -> str:
    slower = [k for k in NS_PER_BYTE if k > ns] or [6250]
    rate = rng.choice(slower)
    keys: dict[str, object] = {
        "discipline": "tbf",
        "rate": f"{8 * 10**9 // rate} bps",
        "burst": f"{rng.randint(1514, 20_000)} B",
    }
    between = [k for k in slower if k < rate]
    if between and rng.random() < 0.3:
        keys |= {"peakrate": f"{8 * 10**9 // rng.choice(between)} bps", "mtu": f"{rng.randint(1514, 4000)} B"}
    inner = rng.choice((None, _codel_keys, _fq_codel_keys))
    if inner is None:
        return _table("queue.q", **keys, limit=rng.choice((f"{rng.randint(1, 60)} packets", "20000 B")))
    return _table("queue.q", **keys, limit="1000 packets") + _table("queue.q.class.inner", **inner(rng, rate))


def _bucket(rng: random.Random, ns: int) -> int:
    """Bytes whose time tc finds exactly, in floating point."""
    step = 8000 // math.gcd(8000, ns)
    while True:
        size = step * rng.randint(1536 // step + 1, 12_000 // step + 2)
        if int(1e6 * (size / (10**9 // ns))) * 1000 == size * ns:
            return size


def _htb(rng: random.Random, ns: int) -> str:
    """Buckets of multiples of 8 us: tc tells the kernel their depth in whole microseconds, in units of 64 ns."""
    members = _members(rng, rng.randint(2, 4))
    rates = [k for k in NS_PER_BYTE if k >= ns]

    def share(parent: str | None, fastest: int) -> dict[str, object]:
        rate = rng.choice([k for k in rates if k >= fastest])
        ceil = rng.choice([k for k in rates if fastest <= k <= rate])
        keys: dict[str, object] = {"rate": f"{8 * 10**9 // rate} bps", "ceil": f"{8 * 10**9 // ceil} bps"}
        keys |= {"burst": f"{_bucket(rng, rate)} B", "cburst": f"{_bucket(rng, ceil)} B"}
        keys |= {"quantum": f"{rng.randint(1000, 4000)} B", "priority": rng.randint(0, 2)}
        return keys | ({"parent": parent} if parent else {})

    head = _table("queue.q", discipline="htb", limit="1000 packets")
    head += _table("queue.q.sharing.top", **share(None, ns))
    head += "".join(_table(f"queue.q.sharing.c{i}", **share("top", ns)) for i in range(len(members)))
    return head + _classes("queue.q", members, *(_plain(rng, ns) for _ in members))


def _dualpi2(rng: random.Random, ns: int) -> str:
    """Without random signals: p' stays 0 with such a target. Steps after some packets, or none."""
    keys: dict[str, object] = {"discipline": "dualpi2", "limit": f"{rng.randint(5, 200)} packets", "target": "2000 s"}
    step = f"{rng.randint(0, 20_000) * ns // 1000} us" if rng.random() < 0.7 else "4 s"
    keys |= {"step_thresh": step, "mtu": f"{rng.choice((1500, 1514, 4000))} B"}
    keys |= {"classic_protection": rng.choice((0, 10, 10, 50, 90, 100, rng.randint(1, 99)))}
    keys |= {"coupling_factor": rng.randint(1, 4), "drop_enqueue": rng.random() < 0.5}
    more = _table("queue.q.l4s", codepoints=["ect0", "ect1", "ce"]) if rng.random() < 0.3 else ""
    return _table("queue.q", **keys, drop_on_overload=rng.random() < 0.5) + more


LAWS: Final[dict[str, Callable[[random.Random, int], str]]] = {
    "droptail": _droptail,
    "codel": lambda rng, ns: _table("queue.q", **_codel_keys(rng, ns)),
    "fq_codel": lambda rng, ns: _table("queue.q", **_fq_codel_keys(rng, ns)),
    "drr": _drr,
    "fq": _fq,
    "prio": _prio,
    "ets": _ets,
    "tbf": _tbf,
    "htb": _htb,
    "dualpi2": _dualpi2,
}
"""By name, what writes a queue, given the line's nanoseconds a byte."""
