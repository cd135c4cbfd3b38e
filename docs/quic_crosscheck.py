"""Writes the tables of docs/quic-crosscheck.md: ``make quic-crosscheck``."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple

import polars as pl
from page_parts import replace, table

import ecnlab
from ecnlab import Run

ROOT: Final = Path(__file__).parents[1]
PAGE: Final = ROOT / "docs" / "quic-crosscheck.md"

HOSTS: Final = {
    "TCP Reno": ("reno", 1448),
    "quinn NewReno": ("quinn/newreno", 1452),
    "noq NewReno": ("noq/newreno", 1452),
    "TCP CUBIC": ("cubic", 1448),
    "quinn CUBIC": ("quinn/cubic", 1452),
    "noq CUBIC": ("noq/cubic", 1452),
}
"""Senders: window law or stack/controller, and bytes of a full packet that count in the window."""

TEXT: Final = """\
format = 1
duration = "{duration}"
warmup = "0 s"
sample = "2 ms"
profile = "modern"

[link.pipe]
from = "server"
to = "client"
rate = "{rate}"
delay = "{delay}"
queue = "q"
{link}

[queue.q]
{queue}

{host}

[flow.bulk]
from = "server"
to = "client"
traffic = "ftp"
{use} = "h"
"""

TAIL: Final = 'discipline = "droptail"\nlimit = "66 packets"'
STEP: Final = 'discipline = "step"\nlimit = "1000 packets"\nthreshold = "33 packets"\necn = true'
DEEP: Final = 'discipline = "droptail"\nlimit = "5000 packets"'

OUTAGE: Final = 'outages = { times = [["5 s", "3 s"]], packets = "lost" }'


class Reduction(NamedTuple):
    """A reduction of the window: when, and windows and threshold in bytes."""

    time: float
    before: int
    after: int
    ssthresh: int


def run(
    sender: str,
    *,
    duration: str,
    rate: str = "20 Mbps",
    delay: str = "20 ms",
    queue: str = DEEP,
    link: str = "",
) -> Run:
    """Run one bulk transfer of ``sender``."""
    stack, _, law = sender.rpartition("/")
    keys = f'stack = "{stack}"\nreceive_window = "20 MB"' if stack else 'ecn = "rfc3168"'
    use = "quic" if stack else "tcp"
    host = f'[{use}.h]\ncongestion = "{law}"\n{keys}'
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "crosscheck.toml"
        text = TEXT.format(duration=duration, rate=rate, delay=delay, queue=queue, link=link, host=host, use=use)
        path.write_text(text, encoding="utf-8")
        return ecnlab.run(path, seed=1)


def reductions(series: pl.DataFrame) -> list[Reduction]:
    """Return the samples at which the window is more than a twentieth below the one before."""
    rows = series.select("time_s", "cwnd_bytes", "ssthresh_bytes").rows()
    return [
        Reduction(time, before, after, int(ssthresh))
        for (_, before, _), (time, after, ssthresh) in pairwise(rows)
        if after < 0.95 * before
    ]


def window(series: pl.DataFrame, time: float) -> int:
    """Return the window at ``time``, in bytes."""
    return int(series.filter(pl.col("time_s") <= time)["cwnd_bytes"][-1])


def slope(series: pl.DataFrame, begin: float, end: float, mss: int) -> float:
    """Return the growth of the window between two times, in packets a round trip of 40 ms."""
    return (window(series, end) - window(series, begin)) / mss / ((end - begin) / 0.04)


def queues() -> Iterator[Sequence[str]]:
    """Yield the steady state of each sender behind a queue that drops and one that marks."""
    for name, queue in {"drop-tail": TAIL, "step": STEP}.items():
        for host, (sender, mss) in HOSTS.items():
            made = run(sender, duration="60 s", queue=queue)
            [flow] = made.table("flows").to_dicts()
            found = reductions(made.table("flow_series"))
            late = [one for one in found if one.time > 10]
            gaps = [two.time - one.time for one, two in pairwise(late)]
            yield [
                name,
                host,
                f"{flow['goodput_bps'] / 1e6:.2f}",
                str(flow["retransmits"]),
                ", ".join(f"{one.time:.2f}" for one in found if one.time < 2),
                spread([one.before / mss for one in late], 0),
                spread([one.after / one.before for one in late], 2),
                spread(gaps, 1),
            ]


def spread(values: Sequence[float], digits: int) -> str:
    """Return the least and greatest of ``values``."""
    return f"{min(values):.{digits}f} to {max(values):.{digits}f}"


def drops() -> Iterator[Sequence[str]]:
    """Yield the windows around single losses."""
    for host, (sender, mss) in HOSTS.items():
        made = run(sender, duration="12 s", rate="100 Mbps", link="drop = [200, 210, 3000, 3500]")
        series = made.table("flow_series")
        found = reductions(series)
        last = found[-1]
        grown = series.filter((pl.col("time_s") > last.time) & (pl.col("cwnd_bytes") >= last.after + 4 * mss))
        yield [
            host,
            *(f"{one.time:.2f}: {one.before / mss:.0f} to {one.after / mss:.0f}" for one in found),
            f"{grown['time_s'][0] - last.time:.2f}",
            f"{slope(series, 2, 3.5, mss):.2f}",
            f"{slope(series, 8, 11.9, mss):.2f}",
            f"{made.table('flows')['goodput_bps'][0] / 1e6:.1f}",
        ]


def curve() -> Iterator[Sequence[str]]:
    """Yield the window of CUBIC after one loss at an RTT of 200 ms, as parts of W_max."""
    yield ["RFC 9438", "", "", "0.70", *(f"{1 + 0.3 * (part - 1) ** 3:.3f}" for part in PARTS)]
    for host, (sender, mss) in HOSTS.items():
        if not sender.endswith("cubic"):
            continue
        made = run(sender, duration="24 s", rate="500 Mbps", delay="100 ms", link="drop = [400]")
        series = made.table("flow_series")
        [first, *_] = reductions(series)
        w_max = first.ssthresh / 0.7
        k = (w_max / mss * 0.3 / 0.4) ** (1 / 3)
        parts = (window(series, first.time + part * k) / w_max for part in PARTS)
        yield [host, f"{w_max / mss:.0f}", f"{k:.2f}", f"{first.after / w_max:.2f}", *(f"{part:.3f}" for part in parts)]


PARTS: Final = (0.5, 1.0, 1.5, 2.0)
"""Times after the loss, as parts of K."""


def outage() -> Iterator[Sequence[str]]:
    """Yield the response to an outage of 3 s."""
    for host, (sender, mss) in HOSTS.items():
        series = run(sender, duration="12 s", queue=STEP, link=OUTAGE).table("flow_series")
        last = reductions(series)[-1]
        yield [
            host,
            f"{last.time:.2f}",
            *(f"{value / mss:.1f}" for value in (last.before, last.after, last.ssthresh)),
            f"{last.ssthresh / last.before:.3f}",
        ]


def idle() -> Iterator[Sequence[str]]:
    """Yield the window before and after an idle time of 20 s on one connection."""
    text = (ROOT / "examples" / "quic-cubic-idle.toml").read_text(encoding="utf-8")
    for host, (sender, mss) in HOSTS.items():
        stack, _, law = sender.rpartition("/")
        if not stack:
            continue
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "idle.toml"
            changed = text.replace('stack = "quinn"', f'stack = "{stack}"').replace('"cubic" ', f'"{law}" ')
            path.write_text(changed, encoding="utf-8")
            series = ecnlab.run(path, seed=1).table("flow_series")
        busy = series.filter(pl.col("flight_bytes") > 0)["time_s"]
        begin = next(two for one, two in pairwise(busy) if two - one > 15)
        times = (begin, begin + 0.12, begin + 0.2, begin + 0.4, begin + 0.8)
        flight = series.filter(pl.col("time_s") <= times[-1])["flight_bytes"][-1]
        yield [host, *(f"{window(series, time) / mss:.0f}" for time in times), f"{flight / mss:.0f}"]


PLACES: Final = ("queue", "sender", "goodput, Mb/s", "lost", "first reductions, s", "window before")


def main() -> None:
    """Replace the generated parts of the page."""
    parts = {
        "queues": table((*PLACES, "ratio", "between two, s"), queues()),
        "drops": table(
            ("sender", "1st", "2nd", "3rd", "4 packets, s", "growth, 2 to 3.5 s", "8 to 11.9 s", "goodput, Mb/s"),
            drops(),
        ),
        "curve": table(("sender", "W_max", "K, s", "after", "K/2", "K", "3K/2", "2K"), curve()),
        "outage": table(("sender", "time, s", "window before", "after", "ssthresh", "ssthresh / before"), outage()),
        "idle": table(
            ("sender", "at the request", "0.12 s", "0.2 s", "0.4 s", "0.8 s later", "in flight then"), idle()
        ),
    }
    replace(PAGE, "quic-crosscheck", parts)


if __name__ == "__main__":
    main()
