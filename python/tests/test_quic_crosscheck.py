"""CUBIC and NewReno of quinn and noq, and Reno and CUBIC over TCP, against arithmetic: docs/quic-crosscheck.md has the tables.

The path has an RTT of 40 ms and no queue; single packets are lost by number. Windows are samples of 2 ms.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest

import ecnlab

TEXT = """\
format = 1
duration = "{duration}"
warmup = "0 s"
sample = "2 ms"
profile = "modern"

[link.wire]
from = "server"
to = "client"
rate = "100 Mbps"
delay = "20 ms"
{link}

[{use}.h]
congestion = "{law}"
{keys}

[flow.bulk]
from = "server"
to = "client"
traffic = {traffic}
{use} = "h"
"""

BULK = '"ftp"'
RESPONSES = '{ kind = "crr", request = "200 B", response = "5 MB", think = "20 s" }'
DROPS = "drop = [200, 210, 3000, 3500]"
OUTAGE = 'drop = [200]\noutages = { times = [["2 s", "3 s"]], packets = "lost" }'

RENO = ("reno", "quinn/newreno", "noq/newreno")
CUBIC = ("cubic", "quinn/cubic", "noq/cubic")


def series(
    folder: Path, sender: str, link: str = DROPS, duration: str = "8 s", traffic: str = BULK, keys: str = ""
) -> pl.DataFrame:
    """Return the samples of a flow."""
    stack, _, law = sender.rpartition("/")
    use = "quic" if stack else "tcp"
    if stack:
        keys += f'\nstack = "{stack}"'
    path = folder / "crosscheck.toml"
    path.write_text(TEXT.format(duration=duration, link=link, use=use, law=law, keys=keys, traffic=traffic))
    return ecnlab.run(path, seed=1).table("flow_series")


def reductions(samples: pl.DataFrame) -> list[tuple[float, int, int, int]]:
    """Return time, window before and after, and ssthresh of each reduction, in seconds and bytes."""
    rows = samples.select("time_s", "cwnd_bytes", "ssthresh_bytes").rows()
    return [
        (time, before, after, int(threshold))
        for (_, before, _), (time, after, threshold) in pairwise(rows)
        if after < 0.95 * before
    ]


def window(samples: pl.DataFrame, time: float) -> int:
    """Return the window at a time, in bytes."""
    return int(samples.filter(pl.col("time_s") <= time)["cwnd_bytes"][-1])


def mss(sender: str) -> int:
    """Return the bytes of a full packet that count in the window."""
    return 1452 if "/" in sender else 1448


@pytest.mark.parametrize("sender", [*RENO, *CUBIC])
def test_losses_of_one_round_trip_reduce_once_and_by_the_factor_of_the_law(tmp_path: Path, sender: str) -> None:
    found = reductions(series(tmp_path, sender, duration="2 s"))
    assert len(found) == 3  # packets 200 and 210 were sent in one round trip
    assert all(two[0] - one[0] > 0.04 for one, two in pairwise(found))
    factor = 0.5 if sender in RENO else 0.7
    for _, before, after, threshold in found[1:]:  # the first ends slow start, in which 2 ms are many packets
        # TCP's window and threshold are half of what is in flight, which a packet not yet sent leaves below the window.
        assert after == threshold == pytest.approx(factor * before, abs=mss(sender))


@pytest.mark.parametrize("sender", RENO)
def test_newreno_adds_a_packet_each_round_trip(tmp_path: Path, sender: str) -> None:
    samples = series(tmp_path, sender)
    # 6 s are 150 round trips of 40 ms. ACKs of packets in a row make one a percent longer.
    grown = (window(samples, 8) - window(samples, 2)) / mss(sender)
    assert 145 <= grown <= 150


def test_above_the_last_window_cubic_of_rfc_9438_has_reno_s_slope_and_that_of_quinn_has_not(tmp_path: Path) -> None:
    # 3 * 0.3 / 1.7 = 0.53 packets a round trip; RFC 9438 §4.3: 1 from cwnd_prior on. 2 s are 50 round trips.
    for sender, slope in zip(CUBIC, (1.0, 0.53, 0.53), strict=True):
        samples = series(tmp_path, sender)
        grown = (window(samples, 8) - window(samples, 6)) / mss(sender)
        assert grown == pytest.approx(50 * slope, abs=1.5), sender


def test_after_fast_convergence_the_window_of_quinn_s_cubic_is_flat(tmp_path: Path) -> None:
    # W is the window at the third reduction. RFC 9438 §4.3: W_est begins at 0.7 W, so 4 packets take 4 / 0.53 round trips, 0.3 s, and
    # one of recovery. quinn's W_est begins at 0.7 * 0.85 W, and its curve reaches 0.7 W + 3 packets at
    # K - cbrt((0.15 W - 3) / 0.4) - RTT with K = cbrt(0.3 * 0.85 W / 0.4).
    for sender in CUBIC:
        samples = series(tmp_path, sender, duration="3 s")
        time, before, after, _ = reductions(samples)[-1]
        grown = samples.filter((pl.col("time_s") > time) & (pl.col("cwnd_bytes") >= after + 4 * mss(sender)))
        packets = before / mss(sender)
        plateau = (0.3 * 0.85 * packets / 0.4) ** (1 / 3)
        flat = plateau - ((0.15 * packets - 3) / 0.4) ** (1 / 3) - 0.04
        wanted = flat if "/" in sender else 0.04 + 4 / 0.53 * 0.04
        assert grown["time_s"][0] - time == pytest.approx(wanted, abs=0.1), sender


@pytest.mark.parametrize("sender", ["quinn/newreno", "quinn/cubic", "noq/newreno", "noq/cubic"])
def test_persistent_congestion_leaves_two_packets_and_cubic_reduces_ssthresh_twice(tmp_path: Path, sender: str) -> None:
    *_, (time, before, after, threshold) = reductions(series(tmp_path, sender, OUTAGE, "12 s"))
    assert time > 5 and 2 * 1452 <= after <= 3 * 1452
    assert threshold == pytest.approx((0.5 if sender in RENO else 0.7 * 0.7) * before, abs=1452)


@pytest.mark.parametrize("stack", ["quinn", "noq"])
def test_idle_time_counts_in_the_curve_of_the_stacks_cubic(tmp_path: Path, stack: str) -> None:
    grown = {}
    for law in ("newreno", "cubic"):
        samples = series(tmp_path, f"{stack}/{law}", "drop = [200]", "24 s", RESPONSES, "one_connection = true")
        busy = samples.filter(pl.col("flight_bytes") > 0)["time_s"]
        begin = next(two for one, two in pairwise(busy) if two - one > 15)
        grown[law] = window(samples, begin + 0.2) / window(samples, begin)
    # 0.2 s are five round trips.
    assert grown["newreno"] < 1.05
    assert grown["cubic"] > 3


@pytest.mark.parametrize("stack", ["quinn", "noq"])
def test_the_initial_window_is_ten_packets_of_1200_bytes(tmp_path: Path, stack: str) -> None:
    assert series(tmp_path, f"{stack}/newreno", duration="1 s")["cwnd_bytes"][0] == 12_000
