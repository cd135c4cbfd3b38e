"""The Linux engine on the kernel that `make linux` builds; skipped, with a word, where there is none."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from conftest import SCENARIO, assert_same_bytes, first_fast, kernel_or_skip
from test_capture_protocols import TSHARK, tshark

import ecnlab
from ecnlab.base.errors import RunError
from ecnlab.linux.machine import boot

LINUX = SCENARIO.replace('profile = "modern"', 'profile = "linux-7"')


@pytest.fixture(scope="module", autouse=True)
def kernel():
    return kernel_or_skip()


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    path = tmp_path / "pipe.toml"
    path.write_text(LINUX)
    return path


def on_linux(path: Path, seed: int = 1, **overrides: object) -> ecnlab.Run:
    return ecnlab.run(path, seed, engine="linux", overrides=overrides or None)


def test_a_seed_gives_the_same_bytes_and_another_seed_others(pipe, tmp_path):
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        ecnlab.run(pipe, seed, engine="linux", out=tmp_path / name)
    assert_same_bytes(tmp_path / "a", tmp_path / "b")
    assert (tmp_path / "a/flow_series.parquet").read_bytes() != (tmp_path / "c/flow_series.parquet").read_bytes()


def test_a_run_names_the_binary_that_gave_it(pipe, kernel):
    made = on_linux(pipe, duration="2 s").manifest["linux"]
    assert (made["kernel"], made["binary"]) == (kernel.about["version"], kernel.about["binary"])


def test_ecn_is_negotiated_marked_and_counted(pipe):
    result = on_linux(pipe, duration="20 s")
    flows = {row["group"]: row for row in result.table("flows_run").to_dicts()}
    queue = result.table("queues_run").filter(pl.col("link") == "pipe").row(0, named=True)
    assert flows["marked"]["ecn"]
    assert not flows["dropped"]["ecn"]
    # Marks that did not reach the receiver are still on their way, or were dropped on it.
    assert queue["marks"] - 20 <= flows["marked"]["ce_received"] <= queue["marks"]
    assert queue["marks"] > 10
    assert flows["dropped"]["ce_received"] == 0


@pytest.mark.parametrize(
    ("client", "server", "accepts", "ecn"),
    first_fast(
        2,
        [
            ("rfc3168", "off", "off", False),
            ("rfc3168", "off", "rfc3168", True),
            ("off", "rfc3168", "off", False),
            ("rfc3168", "rfc3168", "off", True),
        ],
    ),
)
def test_ecn_needs_a_client_that_offers_it_and_a_server_that_accepts_it(pipe, client, server, accepts, ecn):
    overrides = {
        "flow.marked.tcp_from": "ecn",
        "flow.marked.tcp_to": "plain",
        "duration": "2 s",
        "flow.dropped.count": 0,
    }
    overrides |= {"tcp.ecn.ecn": client, "tcp.plain.ecn": server, "tcp.plain.ecn_accepts": accepts}
    assert on_linux(pipe, **overrides).flows["ecn"].to_list() == [ecn]


@pytest.mark.slow
def test_dctcp_negotiates_ecn_with_its_own_feedback(pipe):
    pipe.write_text(pipe.read_text().replace('ecn = "rfc3168"', 'ecn = "dctcp"\ncongestion = "dctcp"'))
    result = on_linux(pipe, duration="10 s")
    (flow,) = result.table("flows_run").filter(pl.col("group") == "marked").to_dicts()
    assert flow["ecn"]
    assert flow["ce_received"] > 10
    assert "tcp.ecn.ecn" not in {entry["key"] for entry in result.manifest["instead"]}


def test_packets_are_conserved_and_the_pipe_is_full(pipe):
    result = on_linux(pipe, duration="20 s")
    links = result.table("links_run")
    dropped = result.table("queues_run").select("link", "dropped")
    for link in links.join(dropped, on="link").to_dicts():
        assert link["entered"] == link["dropped"] + link["delivered"] + link["lost"] + link["held"], link["link"]
    pipe_link = result.links.filter(pl.col("link") == "pipe").row(0, named=True)
    assert 0.95 < pipe_link["utilisation"] <= 1.001
    assert result.flows["goodput_bps"].sum() < 2e6


def test_the_round_trip_is_the_sum_of_its_links(pipe):
    # 1 + 10 + 1 ms each way. The SYN and the SYN-ACK are 60 B long: 48 us on each 10 Mbit/s link, 240 us on the pipe.
    flow = on_linux(pipe, **{"flow.dropped.count": 0, "flow.marked.tcp": "plain"}).table("flows_run").row(0, named=True)
    expected = 2 * (12e-3 + 2 * 48e-6 + 240e-6)
    assert flow["rtt_min_s"] == pytest.approx(expected, abs=0.3e-3)


def test_a_transaction_takes_two_round_trips_and_its_bytes(pipe):
    traffic = {"kind": "crr", "request": "100 B", "response": "1 kB", "think": "100 ms"}
    result = on_linux(pipe, **{"flow.dropped.count": 0, "flow.marked.traffic": traffic, "duration": "3 s"})
    table = result.transactions
    # Handshake, then request and response: 4 ways of 12 ms, and on the slow link 60, 60, 152 and 1052 B or so.
    assert table["latency_s"].min() == pytest.approx(
        48e-3 + (60 + 60 + 152 + 1052) * 8 * (1 / 2e6 + 2 / 10e6), rel=0.02
    )
    assert table["index"].to_list() == list(range(table.height))
    assert table.height == pytest.approx(3 / (0.1 + table["latency_s"].mean()), abs=2)


@pytest.mark.slow
def test_connections_that_fell_back_are_those_of_the_capture(pipe, tmp_path):
    traffic = {"kind": "crr", "request": "100 B", "response": "1 kB", "think": "10 ms"}
    lossy = {"rate": "2 Mbps", "delay": "10 ms", "loss": 0.1}
    overrides = {"link.pipe.loss": 0.1, "link.pipe.reverse": lossy, "capture.client": {"node": "client"}}
    overrides |= {"flow.dropped.count": 0, "flow.marked.traffic": traffic, "duration": "150 s"}
    run = ecnlab.run(pipe, 1, engine="linux", overrides=overrides, captures=tmp_path)
    found = ecnlab.trace(run.captures[0])
    ect = found.directions.filter("from_opener").select("connection", ect=pl.col("ect0") + pl.col("ce") > 0)
    connections = found.connections.join(ect, on="connection")
    # A SYN that arrived and whose answer was lost: the kernel agrees to ECN in the next one, and its client takes it.
    resent = connections.filter(ecn="fell back")
    assert resent["ect"].sum() > 5
    flow = run.table("flows_run").row(0, named=True)
    assert flow["connections"] == connections.height
    assert flow["ecn_fallbacks"] == (~resent["ect"]).sum() > 20
    # The last connection may have no answer yet.
    assert 0 <= flow["connections"] - flow["ecn_connections"] - flow["ecn_fallbacks"] <= 1


WEB = {
    "kind": "web",
    "sessions": 15,
    "inter_session": {"exponential": "1 s"},
    "pages": 2,
    "inter_page": {"pareto2": {"mean": "1 s", "shape": 2}},
    "objects": {"pareto2": {"mean": 3, "shape": 1.5}},
    "inter_object": {"pareto2": {"mean": "0.1 s", "shape": 1.5}},
    "object_size": {"pareto2": {"mean": "12000 B", "shape": 1.5}},
    "packet": "1000 B",
}


@pytest.mark.slow
def test_web_objects_are_those_of_the_simulator(pipe):
    overrides = {"flow.marked.traffic": WEB, "flow.dropped.count": 0, "duration": "60 s", "sample": "1 s"}
    ours, kernels = (ecnlab.run(pipe, 3, engine=engine, overrides=overrides) for engine in ("packets", "linux"))
    names = ["session", "page", "index", "from", "to", "bytes"]
    drawn = [run.table("objects").select(names).sort(names[:3]).rows() for run in (ours, kernels)]
    assert drawn[0] == drawn[1]
    assert len(drawn[0]) > 40
    objects = kernels.table("objects")
    assert objects["complete"].all()
    assert objects["asked_s"].is_sorted()
    assert (objects["asked_s"] < objects["answered_s"]).all() and (
        objects["answered_s"] < objects["transferred_s"]
    ).all()
    # Two connections for each object, and of its two ways only the objects' count as the flow's data.
    flow = kernels.table("flows_run").row(0, named=True)
    assert (flow["exchanges"], flow["bytes_delivered"]) == (2 * objects.height, objects["bytes"].sum())
    medians = [run.table("objects")["delay_s"].median() for run in (ours, kernels)]
    assert medians[1] == pytest.approx(medians[0], rel=0.1)


def test_a_file_ends(pipe):
    result = on_linux(pipe, **{"flow.marked.traffic": {"kind": "ftp", "size": "100 kB"}, "flow.dropped.count": 0})
    flow = result.table("flows_run").row(0, named=True)
    assert flow["bytes_delivered"] == 100_000
    assert flow["exchanges"] == 1
    assert 100_000 * 8 / 2e6 < flow["finish_s"] < 2


@pytest.mark.slow
def test_random_loss_is_the_wires(pipe):
    result = on_linux(pipe, **{"link.right.loss": 0.05, "duration": "20 s"})
    link = result.table("links_run").filter(pl.col("link") == "right").row(0, named=True)
    n, p = link["lost"] + link["delivered"], 0.05
    assert abs(link["lost"] - n * p) < 4 * (n * p * (1 - p)) ** 0.5


@pytest.mark.slow
def test_red_that_runs_empty_forgets(pipe):
    # A burst of slow starts lifts the average above max_th, where everything is dropped. It must come down again.
    overrides = {"flow.dropped.count": 12, "queue.red.max_th": "6 packets", "duration": "40 s", "flow.marked.count": 0}
    result = on_linux(pipe, **overrides)
    assert result.links.filter(pl.col("link") == "pipe")["utilisation"].item() > 0.5


def test_a_run_with_captures_is_the_run_without(pipe, tmp_path):
    ecnlab.run(pipe, 1, engine="linux", overrides={"duration": "15 s"}, out=tmp_path / "without")
    places = {"before": {"node": "server"}, "after": {"link": "pipe", "queue": "after", "format": "pcap"}}
    overrides = {f"capture.{name}": place for name, place in places.items()}
    captured = ecnlab.run(pipe, 1, engine="linux", overrides={"duration": "15 s"} | overrides, out=tmp_path / "with")
    assert_same_bytes(tmp_path / "without", tmp_path / "with")
    flows = captured.table("flows_run")
    by_place = {file.stem: ecnlab.trace(file).tables["directions"].filter("from_opener") for file in captured.captures}
    assert by_place["before"]["packets"].sum() == flows["segments_sent"].sum()
    assert by_place["before"]["ce"].sum() == 0
    # What is on the pipe when the run ends has left the queue, and not arrived.
    assert 0 <= by_place["after"]["ce"].sum() - flows["ce_received"].sum() <= 20
    assert by_place["after"]["ce"].sum() > 10


@pytest.mark.parametrize(
    "bottleneck",
    first_fast(
        1,
        [
            {"queue.red.max_p": 0.5, "flow.dropped.count": 4},
            {},
            {"queue.red.max_p": 0.5, "flow.dropped.count": 12},
            {"queue.red": {"discipline": "droptail", "limit": "12 packets"}, "flow.dropped.count": 8},
        ],
    ),
)
def test_the_analysis_of_a_capture_counts_what_the_kernel_counts(pipe, tmp_path, bottleneck):
    at_the_sender = {"duration": "60 s", "capture.sender": {"node": "server"}}
    run = ecnlab.run(pipe, 1, engine="linux", overrides=at_the_sender | bottleneck, captures=tmp_path)
    found = ecnlab.trace(run.captures[0]).tables
    # The kernel counts SYNs among the retransmissions, too.
    again = pl.col("retransmits") + pl.col("control_retransmits")
    analysed = found["directions"].filter("from_opener").select("data_packets", again, "timeouts").sort(pl.all())
    counted = run.table("flows_run").select("data_segments_sent", "retransmits", "timeouts").sort(pl.all())
    assert analysed.rows() == counted.rows()
    assert counted["retransmits"].sum() > 100
    if len(bottleneck) > 1:
        assert counted["timeouts"].sum() > 10


BOTH_VERSIONS = {
    "flow.six": {"from": "server", "to": "client", "traffic": "ftp", "tcp": "six", "ip": 6},
    "tcp.six": {"ecn": "rfc3168"},
    "flow.dropped.count": 0,
    "queue.red": {"discipline": "codel", "limit": "200 packets", "ecn": True, "quantiles": True},
    "duration": "20 s",
}


def test_flows_over_both_ip_versions_are_those_of_the_simulator(pipe):
    runs = [ecnlab.run(pipe, 1, engine=engine, overrides=BOTH_VERSIONS) for engine in ("packets", "linux")]
    flows = [{row["group"]: row for row in run.table("flows_run").to_dicts()} for run in runs]
    links = [run.table("links_run").filter(link="pipe").row(0, named=True) for run in runs]
    assert [four["ecn"] and six["ecn"] for four, six in ((f["marked"], f["six"]) for f in flows)] == [True, True]
    for key in ("delivered_bytes", "sojourn_mean_s", "sojourn_p95_s"):
        assert links[1][key] == pytest.approx(links[0][key], rel=0.15), key
    assert sum(f["goodput_bps"] for f in flows[1].values()) == pytest.approx(
        sum(f["goodput_bps"] for f in flows[0].values()), rel=0.02
    )
    assert min(f["goodput_bps"] for f in flows[1].values()) > 0.3e6


@pytest.mark.skipif(TSHARK is None, reason="tshark is not installed (Debian: apt install tshark)")
def test_a_capture_has_the_packets_of_both_ip_versions_and_no_others(pipe, tmp_path):
    places = {"capture.before": {"node": "server"}, "capture.after": {"link": "pipe", "queue": "after"}}
    run = ecnlab.run(pipe, 1, engine="linux", overrides=BOTH_VERSIONS | places, captures=tmp_path)
    for file in run.captures:
        assert tshark(file, "-Y", "not tcp or _ws.malformed") == []
    rows = {row["group"]: row for row in run.table("flows_run").to_dicts()}
    for group, of_server, ecn in (
        ("marked", "ip.src == 10.0.3.2", "ip.dsfield.ecn"),
        ("six", "ipv6.src == 2001:db8:0:3::3 and ipv6.flow == 0", "ipv6.tclass.ecn"),
    ):
        sent = tshark(tmp_path / "before.pcapng", "-Y", of_server)
        marked = tshark(tmp_path / "after.pcapng", "-Y", f"{of_server} and {ecn} == 3")
        assert len(sent) == rows[group]["segments_sent"]
        # Those on the pipe when the run ends have not arrived.
        assert 0 <= len(marked) - rows[group]["ce_received"] <= 20
        assert len(marked) > 5


def test_a_guest_that_cannot_do_its_plan_says_why(kernel):
    plan = {"plan": "run 1000000000 0 0 10000000\nhost a\nexec a /bin/tc qdisc add dev nothing root pfifo\n"}
    with pytest.raises(RunError, match=r"/bin/tc failed in a.*\n.*nothing"), boot(kernel, plan, 1, 20.0):
        pass


def test_both_engines_are_asked_and_compared(cli, pipe, tmp_path):
    pipe.write_text(LINUX.replace('"4 s"', '"12 s"').replace('warmup = "1 s"', 'warmup = "4 s"'))
    done = cli("agree", pipe, "--replicates", 2, "--out", "result")
    assert done.returncode == 0, done.stderr
    rows = pl.read_parquet(tmp_path / "result/agreement.parquet")
    assert {"goodput_marked", "queue_pipe"} <= set(rows["metric"])
    queue = rows.filter(pl.col("metric") == "utilisation_pipe").row(0, named=True)
    assert queue["ratio"] == pytest.approx(1.0, abs=0.1)
    page = (tmp_path / "result/agreement.html").read_text()
    assert "Queue of pipe" in page
    assert "Window of" in page


@pytest.mark.parametrize(
    "queue",
    first_fast(
        3,
        [
            {"discipline": "codel", "limit": "200 packets", "ecn": True},
            {
                "discipline": "choke",
                "limit": "200 packets",
                "min_th": "5 packets",
                "max_th": "6 packets",
                "ecn": True,
            },
            {"discipline": "dualpi2"},
            {"discipline": "fq_codel"},
            {"discipline": "pie", "ecn": True, "target": "60 ms"},
            {"discipline": "fq_pie", "ecn": True, "target": "60 ms"},
            {"discipline": "sfb", "limit": "200 packets", "warmup": "1 s"},
            {"discipline": "cake", "rate": "1900 kbps"},
        ],
    ),
    ids=lambda queue: queue["discipline"],
)
def test_every_queue_counts_its_marks(pipe, queue):
    # With few flows CHOKe finds most packets' flows in the queue, and drops them before it would mark.
    choke = queue["discipline"] == "choke"
    flows = {"flow.marked.count": 12} if choke else {}
    result = on_linux(pipe, **{"duration": "20 s", "queue.red": queue, **flows})
    row = result.table("queues_run").filter(pl.col("link") == "pipe").row(0, named=True)
    received = result.table("flows_run")["ce_received"].sum()
    # Marks that did not reach the receiver are still on their way, or were dropped on it: CHOKe drops what it holds, marked or not.
    assert (
        0.9 * row["marks"] - 20 <= received <= row["marks"] if choke else row["marks"] - 20 <= received <= row["marks"]
    )
    assert row["marks"] > 0
    assert row["dropped"] > 0


OVERLOAD = """
format = 1
title = "80 clients fetch 15 kB one after the other"
duration = "20 s"
profile = "linux-7"

link.access = { from = "server", to = "router", rate = "1 Gbps", delay = "0 s" }
link.bottleneck = { from = "router", to = "client", rate = "1.5 Mbps", delay = "50 ms", queue = "fair", reverse = { rate = "1 Gbps", queue = "ample" } }
queue.ample = { discipline = "droptail", limit = "10000 packets" }
queue.fair = { %s }
tcp.cubic = { congestion = { kind = "cubic", profile = "linux" }, slow_start = "hystart", ecn = "off", dsack = true }

[flow.short]
count = 80
from = "server"
to = "client"
traffic = { kind = "crr", request = "200 B", response = "15 kB", think = "1 s" }
tcp = "cubic"
start = { uniform = ["0 s", "1 s"] }
"""


@pytest.mark.slow
@pytest.mark.parametrize("keys", first_fast(1, ['discipline = "fq_codel"', 'discipline = "cake", rate = "1.5 Mbps"']))
def test_after_a_timeout_packets_are_in_the_queue_of_their_flow(tmp_path, keys):
    """With `net.core.txrehash` each timeout would move them to an empty queue, whose CoDel drops nothing yet."""
    path = tmp_path / "overload.toml"
    path.write_text(OVERLOAD % keys)
    completed, retransmits = [], []
    for engine in ("packets", "linux"):
        run = ecnlab.run(path, 1, engine=engine)
        completed.append(run.transactions["latency_s"].drop_nulls().len())
        retransmits.append(run.flows["retransmits"].sum())
    assert completed[1] == pytest.approx(completed[0], rel=0.1)
    assert retransmits[1] == pytest.approx(retransmits[0], rel=0.1)
