"""``ecnlab advise``: framing, the decision, the tc lines, and the command from options to page."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner
from conftest import kernel_or_skip, mostly_slow

import ecnlab
from ecnlab import laws
from ecnlab._core import Scenario
from ecnlab.advise import setup
from ecnlab.advise.candidates import CANDIDATES, QUEUES, SHARE, direction
from ecnlab.advise.decide import decide
from ecnlab.advise.line import Line, kinds, line, trace_csv
from ecnlab.advise.mix import Measure
from ecnlab.advise.question import toml
from ecnlab.base.errors import EcnlabError
from ecnlab.cli import cli
from ecnlab.linux.network import KernelLinks

DELAY = Measure("delay", "delay", "delay", "ms", 1.0, 1.0)
RATE = Measure("rate", "rate", "rate", "Mb/s", 1.0, 0.0, more=True)


@pytest.mark.parametrize(
    ("kind", "ack", "full"),
    [
        ("ethernet", 52 + 38, 1500 + 38),
        ("docsis", 52 + 18, 1500 + 18),
        ("dsl", 82 + 2, 1530 + 24),  # 65 bytes for each 64 begun
        ("adsl", 2 * 53, 33 * 53),  # 92 and 1540 bytes in cells of 48
        ("lte", 52, 1500),
    ],
)
def test_packets_have_the_wire_bytes_of_the_line(kind: str, ack: int, full: int) -> None:
    found = kinds()[kind]
    constant, slope = found.affine()
    assert (found.wire(52), found.wire(1500)) == (ack, full)
    assert constant + 52 * slope == pytest.approx(ack)
    assert constant + 1500 * slope == pytest.approx(full)


def test_a_short_packet_takes_the_minimum_of_the_line() -> None:
    assert kinds()["ethernet"].wire(40) == 84
    assert kinds()["docsis"].wire(40) == 64


def test_a_trace_is_scaled_to_the_mean_rate() -> None:
    text, seconds = trace_csv("lte-slow.csv", 10e6)
    rows = [tuple(map(float, row.split(","))) for row in text.split()[1:]]
    ends = [*(time for time, _ in rows[1:]), seconds]
    assert seconds == 60
    assert sum(rate * (end - time) for (time, rate), end in zip(rows, ends, strict=True)) / 60 == pytest.approx(10)


def test_the_best_candidate_is_advised_and_worse_ones_are_out() -> None:
    values = {"delay": {"droptail": [99.0, 101.0, 100.0], "cake": [10.0, 10.1, 9.9], "codel": [30.0, 30.1, 29.9]}}
    found = decide(values, [DELAY], ("droptail", "cake", "codel"))
    assert (found.advised, found.equals, found.family) == ("cake", ("cake",), 3)


def test_no_difference_is_shown_below_the_smallest_that_matters() -> None:
    values = {"delay": {"droptail": [10.6, 10.61, 10.6], "cake": [10.0, 10.01, 10.0]}}
    found = decide(values, [DELAY], ("droptail", "cake"))
    assert found.no_difference
    assert found.advised == "droptail"


def test_no_difference_is_shown_by_values_that_vary() -> None:
    values = {"delay": {"droptail": [50.0, 200.0, 90.0], "cake": [40.0, 10.0, 80.0]}}
    assert decide(values, [DELAY], ("droptail", "cake")).no_difference


def test_a_candidate_that_costs_too_much_is_left_out() -> None:
    values = {
        "delay": {"droptail": [100.0, 101.0, 100.0], "cake": [10.0, 10.1, 10.0], "codel": [20.0, 20.1, 20.0]},
        "rate": {"droptail": [50.0, 50.1, 50.0], "cake": [40.0, 40.1, 40.0], "codel": [47.0, 47.1, 47.0]},
    }
    found = decide(values, [DELAY, RATE], ("droptail", "cake", "codel"), 0.1)
    assert found.too_costly == ("cake",)
    # Without a limit the delay, which comes first, decides.
    assert decide(values, [DELAY, RATE], ("droptail", "cake", "codel")).advised == "cake"
    assert decide(values, [DELAY], ("droptail", "cake", "codel"), 0.3).advised == "cake"


def test_a_measure_that_a_candidate_lacks_decides_against_it() -> None:
    values = {
        "delay": {"droptail": [float("nan"), 100.0, 100.0], "cake": [10.0, 10.1, 10.0], "codel": [10.0, 10.1, 10.0]}
    }
    assert decide(values, [DELAY], ("droptail", "cake", "codel")).equals == ("cake", "codel")


def scenario(name: str, at: Line, *, framed: bool) -> str:
    """The queues of a candidate at one link, with a transfer in each direction.

    Not ``framed``, the link is as fast as the one between two devices of a router.
    """
    ways = {
        "down": direction(name, at, at.down_bps, ingress=True),
        "up": direction(name, at, at.up_bps, ingress=False),
    }
    fast = {"rate": "10 Gbps"}
    down, up = (dict(ways[way].link if framed else fast) for way in ("down", "up"))
    link = {"from": "router", "to": "lan", "delay": "1 ms", "queue": "down", **down, "reverse": {**up, "queue": "up"}}
    return toml(
        {
            "format": 1,
            "duration": "10 s",
            "profile": "linux-7",
            "tcp": {"default": {"ecn": "rfc3168"}},
            "link": {"home": link},
            "queue": {way: dict(found.queue) for way, found in ways.items()},
            "flow": {
                way: {
                    "from": ends[0],
                    "to": ends[1],
                    "traffic": "ftp",
                }
                for way, ends in (("down", ("router", "lan")), ("up", ("lan", "router")))
            },
        }
    )


def commands(name: str, kind: str, down: str, up: str) -> list[str]:
    """The lines for a candidate, with the queues of its scenario."""
    at = line(kind, down, up, "20ms", None)
    return setup.lines(name, at, Scenario("line.toml", scenario(name, at, framed=True)).resolved["queue"])


def test_tc_lines_have_the_framing_of_the_line() -> None:
    cake = commands("cake", "docsis", "200Mbps", "20Mbps")
    words = "rtt 100000us overhead 18 mpu 64 noatm"
    (up,) = (one for one in cake if one.startswith("tc qdisc add dev eth0 root handle 10: cake bandwidth 19000000bit "))
    assert words in up and up.endswith(" egress")
    (down,) = (one for one in cake if "dev ifb4eth0 root handle 10: cake bandwidth 190000000bit " in one)
    assert words in down and down.endswith(" ingress")
    # A packet of 1500 B and 40 B of headers is 33 cells of 53 B; the bucket also has the byte of rounding twice.
    adsl = commands("fq_codel", "adsl", "16Mbps", "1Mbps")
    tbf = "tbf rate 950000bit burst 1751 limit 1751"
    assert f"tc qdisc add dev eth0 stab overhead 26 mpu 0 linklayer atm root handle 1: {tbf}" in adsl
    ptm = commands("codel", "dsl", "65Mbps", "6.5Mbps")
    assert any("tbf rate 6080000bit" in one for one in ptm)  # 0.95 · 64/65
    assert commands("droptail", "lte", "20Mbps", "5Mbps") == []


def test_every_line_and_candidate_has_commands() -> None:
    for kind in kinds():
        for name in CANDIDATES[1:]:
            found = commands(name, kind, "20Mbps", "5Mbps")
            assert sum(f": {name} " in one for one in found) == 2, found


SHAPED = [name for name in CANDIDATES[1:] if "shapes" not in QUEUES[name] and not laws.discipline(name).attached]
"""Candidates behind a shaper that the kernel's tc has."""


@pytest.fixture
def on_linux(monkeypatch, tmp_path):
    """Runs a scenario on the kernel in virtual time, with printed lines in place of its own; returns `queues_run`."""
    kernel_or_skip()
    made = KernelLinks.files

    def run(text: str, printed: list[str] | None = None) -> pl.DataFrame:
        def files(self, layout, found):
            written = made(self, layout, found)
            for own, device in {"o0": "ifb4eth0", "o1": "eth0"}.items():
                place = next(x for x in written if x.endswith(".tc") and f" {own} " in written[x])
                start = f"tc qdisc add dev {device} "
                lines = [f"qdisc add dev {own} {one.removeprefix(start)}" for one in printed if one.startswith(start)]
                written |= {
                    place: "".join(f"{one}\n" for one in lines if not one.endswith(" ingress") or "cake" in one)
                }
            return written

        (tmp_path / "line.toml").write_text(text)
        with monkeypatch.context() as patched:
            if printed is not None:
                patched.setattr(KernelLinks, "files", files)
            return ecnlab.run(tmp_path / "line.toml", 1, engine="linux").table("queues_run")

    return run


@pytest.mark.slow
@pytest.mark.parametrize("name", SHAPED)
def test_on_a_line_without_framing_the_kernel_counts_the_same_with_the_lines(on_linux, name) -> None:
    """The scenario's own queues and the printed lines give the same packets, of laws with random numbers, too."""
    at = line("lte", "12Mbps", "3Mbps", "20ms", None)
    text = scenario(name, at, framed=True)
    own = on_linux(text)
    assert own.equals(on_linux(text, commands(name, "lte", "12Mbps", "3Mbps")))
    assert own["departed"].min() > 1000


MARGIN = 0.05
"""Of the comparison of queues with the kernel (docs/closed-loops.md)."""


@pytest.mark.parametrize("kind", mostly_slow(["ethernet", "dsl", "adsl", "docsis"], "adsl"))
@pytest.mark.parametrize("name", mostly_slow(["cake", "fq_codel", "codel"], "cake", "fq_codel"))
def test_on_a_framed_line_the_kernel_with_the_lines_counts_as_the_scenario(on_linux, tmp_path, name, kind) -> None:
    """Laws without random numbers. With stab, the kernel's bytes are those on the wire: 95 % of the rate."""
    at = line(kind, "12Mbps", "3Mbps", "20ms", None)
    kernel = on_linux(scenario(name, at, framed=False), commands(name, kind, "12Mbps", "3Mbps"))
    (tmp_path / "framed.toml").write_text(scenario(name, at, framed=True))
    simulated = ecnlab.run(tmp_path / "framed.toml", 1).table("queues_run")
    for there, rate in (("home", at.down_bps), ("home~reverse", at.up_bps)):
        ours = simulated.filter(link=there, group="all")
        its = kernel.filter(link=there, group="all")
        assert its["departed"].item() == pytest.approx(ours["departed"].item(), rel=MARGIN)
        if name == "fq_codel":
            share = SHARE * (64 / 65 if kind == "dsl" else 1)
            assert its["departed_bytes"].item() == pytest.approx(10 * share * rate / 8, rel=0.005)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--link dls", "--link: no line is called 'dls'; did you mean 'dsl'?"),
        ("--down 50", "--down: '50' is no quantity: write a number and its unit, such as 50Mbps"),
        ("--down nanMbps", "--down: 'nanMbps' is no quantity"),
        ("--up 1kbps", "--up: 1kbps is not between 256 kbps and 2.5 Gbps"),
        ("--rtt 0ms", "--rtt: 0ms is not between 1 ms and 1 s"),
        ("--rtt 5", "--rtt: '5' is no quantity"),
        ("--buffer 60s", "--buffer: 60s is not between 1 ms and 10 s"),
        ("--mix call,wep", "--mix: no application is called 'wep'; did you mean 'web'?"),
        ("--mix call,call", "--mix: call is named twice"),
        ("--mix ,", "--mix: no application is named"),
        ("--queues fqcodel", "--queues: no candidate is called 'fqcodel'; did you mean `fq_codel`?"),
        ("--queues droptail", "--queues: 'droptail' leaves nothing to compare"),
    ],
)
def test_bad_options_are_refused_by_name(options: str, message: str) -> None:
    found = CliRunner().invoke(cli, ["advise", *shlex.split(f"--down 20Mbps --up 5Mbps {options}")])
    assert isinstance(found.exception, EcnlabError)
    assert message in str(found.exception)


def test_the_command_advises_on_a_line(tmp_path: Path) -> None:
    out = tmp_path / "advice"
    options = "--down 4Mbps --up 1Mbps --link adsl --mix call,download --queues fq_codel --seeds 2 --no-variations"
    command = ["advise", *shlex.split(options), "--out", str(out)]
    found = CliRunner().invoke(cli, command, catch_exceptions=False)
    assert found.exit_code == 0
    assert "2 seeds give wide intervals" in found.stderr
    assert "98 % of the packets of a call wait at most" in found.stdout
    answer = json.loads((out / "advice.json").read_text())
    waits = answer["measures"][0]["queues"]
    assert waits["fq_codel"]["mean"] < waits["droptail"]["mean"]
    assert "98 % of the packets of a call" in (out / "advice.html").read_text()
    again = CliRunner().invoke(cli, [*command, "--json"], catch_exceptions=False)
    assert json.loads(again.stdout) == answer


def test_shapers_that_all_cost_too_much_are_no_missing_difference(tmp_path: Path) -> None:
    options = "--down 4Mbps --up 1Mbps --mix call,download --queues fq_codel --seeds 3 --no-variations --cost 0"
    found = CliRunner().invoke(
        cli, ["advise", *shlex.split(options), "--out", str(tmp_path / "x")], catch_exceptions=False
    )
    assert found.stdout.startswith("Every shaper costs more than 0 % of a transfer: leave the line without a shaper")
    assert "fq_codel is left out, as it costs" in found.stdout
