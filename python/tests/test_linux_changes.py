"""Links that change in the Linux engine: lines of the plan for the guest, and runs on the kernel, where one has been built."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from conftest import kernel_or_skip, mostly_slow
from one_link import FTP, RENO, TAIL, one_link

import ecnlab
from ecnlab._core import Scenario
from ecnlab.base.errors import SpecError
from ecnlab.linux.changes import ALL, State, mean_rate_bps, states
from ecnlab.linux.plan import plan

REVERSE = 'reverse = { rate = "1 Gbps", delay = "10 ms" }'
FQ = 'discipline = "fq_codel"\nlimit = "10240 packets"'
PAYLOAD = 1448 / 1500
"""Share of a full packet that is data, with timestamps."""

Run = Callable[..., ecnlab.Run]


def text(link: str, queue: str = TAIL, flow: str = FTP, duration: str = "10 s") -> str:
    return one_link(link, queue, flow, profile="linux-7", duration=duration, sample="20 ms") + RENO


@pytest.fixture
def kernel() -> None:
    kernel_or_skip()


@pytest.fixture
def both(kernel: None, tmp_path: Path) -> Callable[..., tuple[ecnlab.Run, ecnlab.Run]]:
    """Run a scenario in the simulator and on the kernel."""

    def run(link: str, **rest: str) -> tuple[ecnlab.Run, ecnlab.Run]:
        path = tmp_path / "scenario.toml"
        path.write_text(text(link, **rest))
        return ecnlab.run(path, 1), ecnlab.run(path, 1, engine="linux")

    return run


def planned(link: str, **rest: str) -> list[str]:
    return plan(Scenario("x.toml", text(link, **rest)), 1).files["plan"].splitlines()


def test_the_plan_has_each_change_with_the_whole_state_of_the_link() -> None:
    link = 'rate = [["0 s", "50 Mbps"], ["5 s", "5 Mbps"]]\ndelay = [["0 s", "10 ms"], ["7 s", "12.5 us"]]\n'
    lines = planned(f"{link}loss = 0.5\n{REVERSE}\noutages = {{ times = [['6 s', '1 s']], packets = 'lost' }}")
    half = round(0.5 * ALL)
    assert [line for line in lines if line.startswith("change")] == [
        f"change 0 0 6250000 10000000 {half}",
        f"change 5000000000 0 625000 10000000 {half}",
        f"change 6000000000 0 625000 10000000 {ALL}",
        f"change 7000000000 0 625000 12500 {half}",
    ]
    # A bucket of one packet, and what rounding may take from it; the kernel sets a FIFO's limit to that of tbf.
    (line,) = (line for line in lines if line.startswith("line"))
    assert line == "line n0 o0 wire b0 100 1502 1000000"


def test_other_queues_have_no_limit_to_keep_and_steady_links_no_lines() -> None:
    changing = 'rate = { square = ["50 Mbps", "5 Mbps"], every = "4 s" }\ndelay = "10 ms"\n'
    lines = planned(changing + REVERSE, queue=FQ)
    assert "line n0 o0 wire b0 1502 1502 1000000" in lines
    changes = [line for line in lines if line.startswith("change")]
    rates = [6_250_000, 625_000] * 3
    assert changes == [f"change {2_000_000_000 * i} 0 {rates[i]} 10000000 0" for i in range(5)]
    assert not [line for line in planned('rate = "5 Mbps"\ndelay = "1 ms"') if line.startswith(("line", "change"))]


def test_an_outage_that_holds_packets_is_the_least_rate() -> None:
    lines = planned(f'rate = "8 Mbps"\ndelay = "10 ms"\n{REVERSE}\noutages = {{ times = [["3 s", "1 s"]] }}')
    assert [line for line in lines if line.startswith("change")] == [
        "change 0 0 1000000 10000000 0",
        "change 3000000000 0 1 10000000 0",
        "change 4000000000 0 1000000 10000000 0",
    ]


def test_the_rate_of_tables_is_the_mean_of_the_window() -> None:
    made = plan(Scenario("x.toml", text('rate = [["0 s", "50 Mbps"], ["5 s", "5 Mbps"]]\ndelay = "1 ms"')), 1)
    (link, _) = made.links
    assert mean_rate_bps(link, 0, 10_000_000_000) == 27.5e6
    assert mean_rate_bps(link, 4_000_000_000, 9_000_000_000) == (50e6 + 4 * 5e6) / 5
    assert [state[:2] for state in states(link)] == [(0, 6_250_000), (5_000_000_000, 625_000)]
    assert isinstance(next(states(link)), State)


def test_a_shaper_in_front_of_a_rate_that_changes_is_refused() -> None:
    shaper = 'shaper = { rate = "1 Mbps", burst = "3 kB" }\ndelay = "1 ms"\n'
    for link in (
        'rate = { square = ["5 Mbps", "2 Mbps"], every = "2 s" }',
        'rate = "5 Mbps"\noutages = { times = [["1 s", "1 s"]] }',
    ):
        with pytest.raises(SpecError, match=r"link\.pipe\.shaper.*no shaper in front of a rate that changes"):
            planned(shaper + link)
    planned(shaper + 'rate = "5 Mbps"\noutages = { times = [["1 s", "1 s"]], packets = "lost" }')


def delivered(run: ecnlab.Run, start: float, end: float) -> float:
    """Bytes of data that arrived in a part of the run."""
    series = run.table("flow_series").filter(pl.col("time_s").is_between(start - 1e-6, end + 1e-6))["delivered_bytes"]
    return float(series[-1] - series[0])


def delays(run: ecnlab.Run) -> pl.Series:
    """The queue's bytes after the fall to 5 Mbit/s at 5 s, as the time that they take at this rate, in seconds."""
    after = run.table("queue_series").filter(pl.col("time_s") >= 5, link="pipe")
    return after["bytes"] * 8 / 5e6


def test_goodput_is_the_rate_before_and_after_a_fall_to_a_tenth(both) -> None:
    link = f'rate = [["0 s", "50 Mbps"], ["5 s", "5 Mbps"]]\ndelay = "10 ms"\n{REVERSE}'
    for run in both(link):
        assert delivered(run, 2, 5) == pytest.approx(3 * 50e6 / 8 * PAYLOAD, rel=0.015)
        assert delivered(run, 7, 10) == pytest.approx(3 * 5e6 / 8 * PAYLOAD, rel=0.015)
        assert delays(run).max() == pytest.approx(100 * 1500 * 8 / 5e6)


@pytest.mark.slow
def test_fq_codel_queues_after_a_fall_as_in_the_simulator(both) -> None:
    link = f'rate = [["0 s", "50 Mbps"], ["5 s", "5 Mbps"]]\ndelay = "10 ms"\n{REVERSE}'
    simulator, kernel = both(link, queue=FQ)
    for span in ((2, 5), (7, 10)):
        assert delivered(kernel, *span) == pytest.approx(delivered(simulator, *span), rel=0.02)
    peaks = [delays(run).max() for run in (simulator, kernel)]
    # The window of 50 Mbit/s and 20 ms is 200 ms at 5 Mbit/s, less what is on the way and what leaves in the RTT after the fall.
    assert 0.1 < peaks[0] < 0.2
    assert peaks[1] == pytest.approx(peaks[0], rel=0.1)


@pytest.mark.parametrize("every", mostly_slow(["1 ms", "2 ms", "50 ms"], "50 ms"))
def test_frequent_changes_keep_the_mean_rate(both, every) -> None:
    link = f'rate = {{ square = ["18 Mbps", "2 Mbps"], every = "{every}" }}\ndelay = "10 ms"\n{REVERSE}'
    for run in both(link):
        assert delivered(run, 3, 10) == pytest.approx(7 * 10e6 / 8 * PAYLOAD, rel=0.01)
        assert run.table("links_run").row(0, named=True)["rate_bps"] == pytest.approx(10e6)


@pytest.mark.slow
def test_a_packet_in_transmission_continues_at_the_new_rate(both) -> None:
    # At 80 kbit/s a packet takes 150 ms, at 8 Mbit/s 1.5 ms. The transfer ends in the second half of the run.
    link = f'rate = [["0 s", "80 kbps"], ["1010 ms", "8 Mbps"], ["1030 ms", "80 kbps"]]\ndelay = "10 ms"\n{REVERSE}'
    for size in ("20 kB", "30 kB", "40 kB"):
        ends = [
            run.table("flows_run").row(0, named=True)["finish_s"]
            for run in both(link, flow=f'traffic = {{ kind = "ftp", size = "{size}" }}', duration="10 s")
        ]
        # At 80 kbit/s the kernel's transfers end 5.2 ms later also without a change.
        assert ends[1] == pytest.approx(ends[0], abs=8e-3)


def test_no_packet_overtakes_when_the_delay_falls_and_later_ones_have_the_new_delay(both) -> None:
    link = f'rate = "8 Mbps"\ndelay = [["0 s", "10 ms"], ["3 s", "60 ms"], ["6 s", "10 ms"]]\n{REVERSE}'
    for run in both(link):
        rtt, queue = run.table("flow_series"), run.table("queue_series").filter(link="pipe")
        for start, end, propagation in ((1, 3, 0.02), (4, 6, 0.07), (7, 10, 0.02)):
            span = pl.col("time_s").is_between(start, end)
            wait = queue.filter(span)["bytes"].mean() * 8 / 8e6
            # The transmission of a packet takes 1.5 ms. The smoothed RTT is behind a queue that grows by a few.
            assert rtt.filter(span)["srtt_s"].mean() == pytest.approx(propagation + wait + 1.5e-3, abs=8e-3)


def test_the_limit_of_a_fifo_stays(both) -> None:
    link = f'rate = {{ square = ["8 Mbps", "4 Mbps"], every = "200 ms" }}\ndelay = "10 ms"\n{REVERSE}'
    for run in both(link, queue='discipline = "droptail"\nlimit = "20 packets"'):
        most = run.table("queue_series").filter(link="pipe")["packets"].max()
        assert 15 <= most <= 20
        assert run.table("queues_run").filter(link="pipe").row(0, named=True)["dropped"] > 0


def test_an_outage_holds_packets_or_loses_them(both) -> None:
    for packets in ("held", "lost"):
        outages = f'outages = {{ times = [["3 s", "500 ms"]], packets = "{packets}" }}'
        runs = both(f'rate = "8 Mbps"\ndelay = "10 ms"\n{outages}\n{REVERSE}')
        for run in runs:
            link = run.table("links_run").row(0, named=True)
            assert delivered(run, 3.06, 3.48) == 0
            assert (link["lost"] > 20) == (packets == "lost")
            assert delivered(run, 1, 2.9) == pytest.approx(1.9 * 1e6 * PAYLOAD, rel=0.02)
        simulator, kernel = (delivered(run, 3, 10) for run in runs)
        assert kernel == pytest.approx(simulator, rel=0.02)


def test_packets_are_conserved_over_many_changes(both) -> None:
    link = f'rate = {{ walk = ["1 Mbps", "20 Mbps"], step = "10 ms", change = 0.5 }}\ndelay = {{ sine = ["5 ms", "30 ms"], every = "1 s" }}\n{REVERSE}'
    for run in both(link, queue='discipline = "codel"\nlimit = "1000 packets"'):
        links = run.table("links_run").join(
            run.table("queues_run").filter(group="all").select("link", "dropped"), on="link"
        )
        for row in links.to_dicts():
            assert row["entered"] == row["dropped"] + row["delivered"] + row["lost"] + row["held"], row["link"]
        assert run.table("links_run").filter(link="pipe").row(0, named=True)["utilisation"] > 0.6
