"""``ecnlab new --down --up``: an asymmetric line, with a queue in each direction, and thresholds of slow links."""

from __future__ import annotations

import tomllib

import pytest

import ecnlab
from ecnlab import _core
from ecnlab.scenario import files
from ecnlab.scenario.sketched import sketch, text

QUEUES = [name for name in _core.laws()["queue"] if name != "user-defined"]
LINE = ("--down", "50Mbps", "--up", "4 Mb/s", "--rtt", "30ms", "--senders", "cubic,prague", "--duration", "2s")


def test_each_direction_has_its_rate_queue_and_flows(cli, tmp_path) -> None:
    assert cli("new", *LINE, "--queue", "pie", "--out", "line.toml").returncode == 0
    checked = cli("check", "line.toml")
    assert (checked.returncode, checked.stderr) == (0, "")
    found = tomllib.loads((tmp_path / "line.toml").read_text())
    line = found["link"]["line"]
    assert (line["from"], line["to"], line["rate"], line["delay"]) == ("router", "home", "50 Mbps", "15 ms")
    assert line["reverse"] == {"rate": "4 Mbps", "queue": "up"}
    # 4 x 50 Mb/s x 30 ms = 500 packets of 1500 B, and 4 x 4 Mb/s x 30 ms = 40.
    limits = {name: queue["limit"] for name, queue in found["queue"].items()}
    assert limits == {"down": "500 packets", "up": "40 packets"}
    assert {queue["discipline"] for queue in found["queue"].values()} == {"pie"}
    flows = {name: (flow["from"], flow["to"], flow["tcp"]) for name, flow in found["flow"].items()}
    assert flows == {
        "cubic": ("server", "home", "cubic"),
        "prague": ("server", "home", "prague"),
        "upload": ("home", "server", "cubic"),
    }


def test_tc_writes_both_directions_for_the_machine_at_home(cli) -> None:
    assert cli("new", *LINE, "--queue", "cake", "--out", "line.toml").returncode == 0
    lines = cli("tc", "line.toml", "--dev", "wan0").stdout
    assert "tc qdisc add dev ifb4wan0 " in lines and "rate 50000000bit" in lines
    assert "tc qdisc add dev wan0 " in lines and "rate 4000000bit" in lines
    assert lines.count(" cake ") == 2


def test_a_sweep_changes_both_queues_and_separates_the_senders(cli, tmp_path) -> None:
    swept = ("--sweep", "queues=fq_codel,cake", "--seeds", "1")
    assert cli("new", *LINE, *swept, "--out", "line.toml").returncode == 0
    checked = cli("check", "line.toml", "line-sweep.toml")
    assert (checked.returncode, checked.stderr) == (0, "")
    found = tomllib.loads((tmp_path / "line-sweep.toml").read_text())
    assert all(set(arm["set"]) == {"queue.down", "queue.up"} for arm in found["arm"].values())
    assert found["metrics"]["fairness"]["where"] == {"group": ["cubic", "prague"]}
    assert found["metrics"]["up_sojourn_p99"]["where"] == {"link": "line~reverse"}
    done = cli("sweep", "line-sweep.toml", "--workers", "1")
    assert done.returncode == 0, done.stderr
    values = ecnlab.load(tmp_path / "results/line-sweep").metrics
    assert set(values["metric"]) == set(found["metrics"]) and values["value"].null_count() == 0


def test_sojourns_of_each_sender_are_metrics_of_a_symmetric_sweep(cli, tmp_path) -> None:
    swept = ("--senders", "cubic,prague", "--sweep", "queues=fq_codel,codel")
    assert cli("new", *swept, "--out", "x.toml").returncode == 0
    metrics = tomllib.loads((tmp_path / "x-sweep.toml").read_text())["metrics"]
    wanted = {"table": "sojourns", "column": "sojourn_p99_s", "where": {"link": "bottleneck", "group": "prague"}}
    assert metrics["sojourn_p99_prague"] == wanted and "sojourn_p99_cubic" in metrics


@pytest.mark.parametrize("rates", [("100 Mbps", "10 Mbps"), ("16 Mbps", "1 Mbps"), ("2 Mbps", "30 Mbps")])
@pytest.mark.parametrize("queue", QUEUES)
def test_no_queue_of_a_line_is_warned_of(queue: str, rates: tuple[str, str], tmp_path) -> None:
    path = tmp_path / "line.toml"
    path.write_text(text(sketch(rates[0], "20 ms", queue, "reno", "30 s", rates[1])))
    assert list(files.checked(path).advice.lines) == []


@pytest.mark.parametrize(
    ("queue", "rate", "key", "value"),
    [
        ("codel", "1 Mbps", "target", "12 ms"),
        ("codel", "2.5 Mbps", "target", None),
        ("dualpi2", "10 Mbps", "step_thresh", "1.2 ms"),
        ("cake", "1 Mbps", "target", "12 ms"),
        ("codel", "100 kbps", "target", None),  # the interval is 100 ms
        ("red", "1 Mbps", "target", None),
    ],
)
def test_a_threshold_is_raised_to_the_time_of_a_packet(queue, rate, key, value) -> None:
    written = tomllib.loads(text(sketch(rate, "20 ms", queue, "reno", "30 s")))
    assert written["queue"]["bottleneck"].get(key) == value


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--down", "50Mbps"), "--down needs --up"),
        (("--up", "5Mbps"), "--up needs --down"),
        (("--rate", "5Mbps", "--up", "5Mbps"), "--rate is of both directions"),
        (("--rate", "5Mbps", "--down", "5Mbps", "--up", "5Mbps"), "--rate is of both directions"),
        (("--down", "50Mbps", "--up", ""), "--up is empty"),
        (("--down", "50M", "--up", "5Mbps"), "--down is '50M', not a rate above 0: did you mean \"50 Mbps\""),
        (("--down", "50Mbps", "--up", "5"), "--up is '5', not a rate"),
        (("--down", "99999999999 Gbps", "--up", "5Mbps"), "--down and --up"),
        (
            ("--sweep", "rate=10Mbps,20Mbps"),
            "--sweep compares queue disciplines, such as queues=fq_codel,cake, not 'rate'",
        ),
        (("--sweep", "senders=cubic,reno"), "not 'senders'"),
        (("--sweep", "fq_codel,cake"), "such as queues=fq_codel,cake"),
    ],
)
def test_wrong_options_name_their_remedy(cli, tmp_path, options, message) -> None:
    done = cli("new", *options, "--out", "x.toml")
    assert done.returncode == 2 and message in done.stderr, done.stderr
    assert list(tmp_path.iterdir()) == []
