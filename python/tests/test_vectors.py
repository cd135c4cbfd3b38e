"""``ecnlab vectors``: files, and the first departure of a log from its vector."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import ecnlab
from ecnlab.base.errors import EcnlabError
from ecnlab.vectors import names, vector
from ecnlab.vectors.compare import Departure, Tolerance, check
from ecnlab.vectors.events import events
from ecnlab.vectors.export import export, lines

Event = dict[str, Any]

DIGESTS: dict[str, tuple[int, str]] = {
    "abe-reduction": (1, "c5002bf2d7b21360"),
    "accecn-ace": (1, "ee47d49d0d9c250b"),
    "codel-control-law": (1, "021a41fe4af97463"),
    "cubic-loss": (1, "7a424a5844366559"),
    "dctcp-alpha": (1, "ca9280e0e665d648"),
    "ecn-once-per-window": (1, "d6c26382b2d6f1a1"),
    "newreno-recovery": (1, "c678831ba4b0cc55"),
    "rate-limited-increase": (1, "f9ca10f159c9cae0"),
    "reno-growth": (1, "37920234e120b73f"),
    "rto-backoff": (2, "80381af8e7c6d059"),
    "step-marking": (1, "27aba35a5ed9635e"),
}
"""Version of each vector, and the start of the SHA-256 of its events and its scenario."""


@cache
def own_events(name: str) -> list[Event]:
    """The events of the vector ``name``."""
    return events(vector(name))


def departed(name: str, folder: Path, overrides: Mapping[str, object]) -> Departure:
    """The first departure of the vector ``name`` with another constant."""
    (path,) = export(vector(name), folder, ["jsonl"], overrides)
    found = check(path).departure
    assert found is not None
    return found


def changed(name: str, path: Path, change: Callable[[Event], Event | None]) -> Path:
    """The log of ``name`` with each event replaced; None leaves it out."""
    log = [new for new in (change(dict(event)) for event in own_events(name)) if new is not None]
    path.write_text(lines(vector(name), log))
    return path


def test_there_are_eleven_small_vectors() -> None:
    assert len(names()) == 11
    for name in names():
        one = vector(name)
        found = own_events(name)
        packets = [event for event in found if event["event"] in ("send", "packet")]
        assert 50 <= len(packets) <= 200, name
        assert one.rfcs and all(rfc.startswith(("RFC ", "draft-ietf-")) and "§" in rfc for rfc in one.rfcs)


def test_every_field_has_a_rule_and_every_rule_a_field() -> None:
    for name in names():
        one = vector(name)
        used = {one.rule(event, field).name for event in own_events(name) for field in event}
        assert used == {rule.name for rule in one.rules}, name


def test_a_vector_that_changes_gets_another_version() -> None:
    found = {}
    for name in names():
        one = vector(name)
        text = one.text + json.dumps(own_events(name))
        found[name] = (one.version, hashlib.sha256(text.encode()).hexdigest()[:16])
    assert found == DIGESTS


def test_an_exported_vector_is_the_vector(tmp_path: Path) -> None:
    for name in names():
        (path,) = export(vector(name), tmp_path, ["jsonl"])
        checked = check(path)
        assert checked.departure is None and checked.compared == len(own_events(name))


def test_abe_with_another_factor_departs_at_the_mark_in_congestion_avoidance(tmp_path: Path) -> None:
    found = departed("abe-reduction", tmp_path, {"tcp.default.congestion": {"kind": "abe", "beta": 0.85}})
    # The first mark comes in slow start: half, whatever the factor. At the second, 12 segments are in flight.
    assert (found.field, found.expected, found.got) == ("cwnd_bytes", 12000 * 80 // 100, 12000 * 85 // 100)
    assert found.wanted and (found.wanted["ack"], found.wanted["phase"]) == (60000, "reduction")
    assert (found.rule.name, found.rule.source[:11]) == ("backoff", "RFC 8511 §3")
    assert len(found.before) == 3 and found.before[-1].number == found.line - 1


def test_codel_with_another_interval_departs_at_its_first_drop(tmp_path: Path) -> None:
    found = departed("codel-control-law", tmp_path, {"queue.bottleneck.interval": "80 ms"})
    # Packet n arrives at 2.505 (n - 1) ms and leaves at 3 (n - 1) ms: it waits for 0.4948 (n - 1) ms, 5 ms first for n = 12.
    # That one leaves at 33 ms. The first packet to leave 80 ms later or more leaves at 114 ms: n = 39; by 100 ms it is n = 46.
    assert found.wanted and found.wanted["number"] == 114 // 3 + 1 == 39
    assert (found.field, found.expected, found.got) == ("fate", "forwarded", "dropped")
    assert (found.rule.name, found.rule.source) == ("control law", "RFC 8289 §5.3, §5.5")


def test_cubic_with_another_beta_departs_at_the_loss(tmp_path: Path) -> None:
    found = departed("cubic-loss", tmp_path, {"tcp.default.congestion": {"kind": "cubic", "beta": 0.5, "c": 0.4}})
    # 29 segments are in flight, and three duplicate ACKs inflate the window.
    assert (found.field, found.expected, found.got) == ("cwnd_bytes", 29000 * 7 // 10 + 3000, 29000 * 5 // 10 + 3000)
    assert (found.rule.name, found.rule.source[:13]) == ("multiplicative decrease", "RFC 9438 §4.6")


def test_cubic_with_another_c_departs_in_congestion_avoidance(tmp_path: Path) -> None:
    found = departed("cubic-loss", tmp_path, {"tcp.default.congestion": {"kind": "cubic", "beta": 0.7, "c": 0.8}})
    assert found.rule.name == "cubic growth" and found.field == "cwnd_bytes"


def test_dctcp_with_another_gain_departs_with_the_first_window(tmp_path: Path) -> None:
    law = {"kind": "dctcp", "profile": "rfc8257", "g": 0.125, "alpha": 1.0}
    found = departed("dctcp-alpha", tmp_path, {"tcp.default.congestion": law})
    # No marks: alpha = (1 - g) 1.
    assert (found.field, found.expected, found.got) == ("alpha_ppm", 1_000_000 * 15 // 16, 1_000_000 * 7 // 8)
    assert (found.rule.name, found.rule.source[:13]) == ("alpha", "RFC 8257 §3.3")
    assert found.wanted and found.wanted["ack"] == 1000


@pytest.mark.slow
def test_another_minimum_rto_departs_at_the_start_or_without_that_field_at_the_timeout(tmp_path: Path) -> None:
    override = {"tcp.default.min_rto": "200 ms"}
    found = departed("rto-backoff", tmp_path, override)
    assert (found.field, found.expected, found.got) == ("rto_ns", 10**9, 200 * 10**6)
    assert (found.line, found.rule.name) == (2, "RTO")
    path = tmp_path / "mine.jsonl"
    log = [{k: v for k, v in event.items() if k != "rto_ns"} for event in events(vector("rto-backoff"), override)]
    path.write_text(lines(vector("rto-backoff"), log))
    late = check(path).departure
    assert late is not None and late.wanted is not None
    # The last ACK before the losses restarts the timer.
    acked = next(event["time_ns"] for event in log if event.get("ack") == 4000)
    assert (late.field, late.wanted["event"]) == ("time_ns", "timeout")
    assert (late.expected, late.got) == (acked + 10**9, acked + 200 * 10**6)
    assert (late.rule.name, late.rule.source) == ("backoff", "RFC 6298 §5.4 to §5.6")


def test_another_threshold_departs_at_the_first_mark(tmp_path: Path) -> None:
    found = departed("step-marking", tmp_path, {"queue.bottleneck.threshold": "11 packets"})
    assert (found.field, found.expected, found.got) == ("fate", "marked", "forwarded")
    assert found.rule.source == "RFC 8257 §3.1"
    first = next(event for event in own_events("step-marking") if event["fate"] == "marked")
    assert found.wanted == first


def test_a_recovery_without_deflation_departs_at_the_partial_ack(tmp_path: Path) -> None:
    found = departed("newreno-recovery", tmp_path, {"tcp.default.partial_deflation": False})
    # Three segments acknowledged, one added; or all inflation removed: ssthresh.
    assert (found.field, found.expected, found.got) == ("cwnd_bytes", 49500 - 3000 + 1000, 16500)
    assert found.rule.name == "partial ACK"


def test_growth_for_each_ack_departs_in_congestion_avoidance(tmp_path: Path) -> None:
    found = departed("reno-growth", tmp_path, {"tcp.default.growth": "per-ack"})
    assert (found.field, found.expected, found.got) == ("cwnd_bytes", 11500, 11500 + 1000 * 1000 // 11500)
    assert found.rule.name == "congestion avoidance"


def test_a_reduction_of_the_window_instead_of_the_flight_departs(tmp_path: Path) -> None:
    found = departed("ecn-once-per-window", tmp_path, {"tcp.default.reduce_from": "window"})
    assert (found.field, found.expected, found.got) == ("cwnd_bytes", 12000 // 2, 12500 // 2)
    assert (found.rule.name, found.rule.source[:15]) == ("reduction", "RFC 3168 §6.1.2")


def test_growth_by_every_ack_departs_at_twice_the_largest_flight(tmp_path: Path) -> None:
    found = departed("rate-limited-increase", tmp_path, {"tcp.default.rate_limited_growth": "unlimited"})
    assert (found.field, found.expected, found.got) == ("cwnd_bytes", 2 * 8000, 2 * 8000 + 1000)
    assert found.rule.name == "slow start"


def test_a_counter_from_zero_departs_at_the_first_ack(tmp_path: Path) -> None:
    def from_zero(event: Event) -> Event:
        return event | ({"ace": (event["ace"] - 5) % 8} if "ace" in event else {})

    found = check(changed("accecn-ace", tmp_path / "x.jsonl", from_zero)).departure
    assert found and (found.field, found.expected, found.got) == ("ace", 5, 0)
    assert (found.rule.name, found.rule.source) == ("ACE", "RFC 9768 §3.2.2")


def test_an_echo_that_ends_without_cwr_departs_at_the_echo(tmp_path: Path) -> None:
    def no_echo(event: Event) -> Event:
        return event | ({"ece": False} if event.get("phase") == "echo" else {})

    found = check(changed("reno-growth", tmp_path / "x.jsonl", no_echo)).departure
    assert found and (found.field, found.expected, found.rule.source) == ("ece", True, "RFC 3168 §6.1.3")


def test_a_log_may_have_some_kinds_and_fields_only(tmp_path: Path) -> None:
    def short(event: Event) -> Event | None:
        return {key: event[key] for key in ("event", "ack", "cwnd_bytes")} if event["event"] == "ack" else None

    checked = check(changed("reno-growth", tmp_path / "x.jsonl", short))
    assert checked.departure is None and checked.compared == 114


def test_fields_of_ones_own_are_ignored(tmp_path: Path) -> None:
    path = changed("reno-growth", tmp_path / "x.jsonl", lambda event: event | {"x_mine": [1]})
    assert check(path).departure is None


def test_a_log_that_ends_early_or_late_departs_there(tmp_path: Path) -> None:
    path = changed("reno-growth", tmp_path / "x.jsonl", lambda event: event)
    whole = path.read_text().splitlines()
    path.write_text("\n".join(whole[:-1]) + "\n")
    found = check(path).departure
    assert found and (found.line, found.field, found.got) == (len(whole), "event", "end")
    path.write_text("\n".join([*whole, whole[-1]]))
    found = check(path).departure
    assert found and (found.line, found.expected, found.wanted) == (len(whole) + 1, "end", None)


def test_tolerances_are_for_bytes_and_times(tmp_path: Path) -> None:
    def off(event: Event) -> Event:
        return (
            event
            | {"time_ns": event["time_ns"] + 999}
            | ({"cwnd_bytes": event["cwnd_bytes"] + 2} if "ack" in event else {})
        )

    path = changed("reno-growth", tmp_path / "x.jsonl", off)
    for tolerance, field in (
        (Tolerance(2, 998), "time_ns"),
        (Tolerance(1, 999), "cwnd_bytes"),
        (Tolerance(2, 999), None),
    ):
        found = check(path, tolerance).departure
        assert (found and found.field) == field


BAD = [
    ("", "is empty"),
    ('{"vector": "reno-growth", "version": 1}', "no events"),
    ("nonsense", ":1: not JSON"),
    ("[1]", ":1: not an object"),
    ('{"version": 1}', ":1: no `vector`"),
    ('{"vector": "reno-grwth", "version": 1}', ":1: there is no vector `reno-grwth`: did you mean `reno-growth`?"),
    ('{"vector": "reno-growth", "version": 9}\n{}', ":1: version 9 of `reno-growth`, but this is version 1"),
    ('{"vector": "reno-growth", "version": true}\n{}', ":1: version true of"),
    ('{"vector": "reno-growth", "version": 1}\n{"event": "ack"', ":2: not JSON"),
    ('{"vector": "reno-growth", "version": 1}\n{"event": "ack", "ack": NaN}', ":2: not JSON"),
    (
        '{"vector": "reno-growth", "version": 1}\n\n{"event": "packet"}',
        ':3: `event` is "packet": in `reno-growth` it is "start"',
    ),
    ('{"vector": "reno-growth", "version": 1}\n{"event": ["ack"]}', ":2: `event` is"),
    (
        '{"vector": "reno-growth", "version": 1}\n{"event": "ack", "cwnd": 1}',
        ":2: `ack` has no field `cwnd`: did you mean `cwnd_bytes`?",
    ),
    ('{"vector": "reno-growth", "version": 1}\n{"event": "ack", "ack": "1"}', ':2: `ack` is "1": write an integer'),
    ('{"vector": "reno-growth", "version": 1}\n{"event": "ack", "ack": 1.5}', ":2: `ack` is 1.5: write an integer"),
    ('{"vector": "reno-growth", "version": 1}\n{"event": "ack", "ece": 1}', ":2: `ece` is 1: write true or false"),
    (
        '{"vector": "reno-growth", "version": 1}\n{"event": "ack", "time_ns": 5}\n{"event": "ack", "time_ns": 4}',
        ":3: `time_ns` 4 is before 5",
    ),
]


@pytest.mark.parametrize(("text", "message"), BAD)
def test_a_bad_file_is_refused_with_line_and_remedy(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text(text)
    with pytest.raises(EcnlabError) as refused:
        check(path)
    assert message in str(refused.value) and str(path) in str(refused.value)


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(EcnlabError, match="not UTF-8 at byte 0"):
        check(path)


def test_the_command_line(cli, tmp_path: Path) -> None:
    listed = cli("vectors", "list")
    assert listed.returncode == 0 and len(listed.stdout.splitlines()) == 11
    assert [one["name"] for one in json.loads(cli("vectors", "list", "--json").stdout)] == list(names())
    assert cli("vectors", "export", "abe-reduction", "--out", "right").returncode == 0
    assert sorted(path.name for path in (tmp_path / "right").iterdir()) == [
        *(f"abe-reduction.{suffix}" for suffix in ("jsonl", "pcapng", "qlog")),
        "files.json",
    ]
    mutated = ("--set", 'tcp.default.congestion={ kind = "abe", beta = 0.85 }')
    assert cli("vectors", "export", "abe-reduction", "--out", "wrong", "--format", "jsonl", *mutated).returncode == 0
    assert sorted(path.name for path in (tmp_path / "wrong").iterdir()) == ["abe-reduction.jsonl", "files.json"]
    right, wrong = ("vectors", "check", "right/abe-reduction.jsonl"), ("vectors", "check", "wrong/abe-reduction.jsonl")
    assert (cli(*right).returncode, cli(*wrong).returncode) == (0, 1)
    said = cli(*wrong).stdout
    for part in ("jsonl:133: departs", "cwnd_bytes", "9600", "10200", "RFC 8511 §3", "  132: {"):
        assert part in said
    assert cli(*wrong, "--bytes", "600", "--time", "1 ms").stdout != said
    answer = json.loads(cli(*wrong, "--json").stdout)
    assert (answer["departure"]["line"], answer["departure"]["rule"]["name"]) == (133, "backoff")
    assert json.loads(cli(*right, "--json").stdout)["departure"] is None


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("check", "none.jsonl"), 3, "none.jsonl"),
        (("check", "bad.jsonl"), 2, "bad.jsonl:1: not JSON"),
        (("check", "bad.jsonl", "--time", "1 parsec"), 2, "is not a time"),
        (("check", "bad.jsonl", "--bytes", "-1"), 2, "--bytes"),
        (("export", "nothing"), 2, "there is no vector `nothing`"),
        (("export", "rto-backoff", "--set", "min_rto"), 2, "is not KEY=VALUE"),
        (("export", "rto-backoff", "--set", "duration=1 ms"), 2, "no ACK arrives"),
        (("export", "rto-backoff", "--set", "sample=20 ms"), 2, "reduce `sample`"),
        (
            ("export", "rto-backoff", "--set", 'flow.bulk.traffic={ kind = "cbr", rate = "1 Mbps", packet = "1 kB" }'),
            2,
            "no TCP",
        ),
        (("export", "rto-backoff", "--set", "tcp.default.min_rto=fast"), 2, "min_rto"),
    ],
)
def test_what_cannot_be_done_is_refused_with_its_code(cli, tmp_path: Path, arguments, code: int, message: str) -> None:
    (tmp_path / "bad.jsonl").write_text("bad")
    done = cli("vectors", *arguments)
    assert done.returncode == code and message in done.stderr


def test_the_header_has_what_a_reader_needs(tmp_path: Path) -> None:
    (path,) = export(vector("abe-reduction"), tmp_path, ["jsonl"])
    head, *rest = (json.loads(line) for line in path.read_text().splitlines())
    assert (head["vector"], head["version"], head["rfcs"]) == ("abe-reduction", 1, ["RFC 8511 §3"])
    assert ecnlab.Scenario("x.toml", head["scenario"]).hash == vector("abe-reduction").scenario().hash
    assert {rule["name"] for rule in head["rules"]} >= {"backoff", "echo"}
    assert [event["time_ns"] for event in rest] == sorted(event["time_ns"] for event in rest)
    assert all(isinstance(value, (int, str, bool, type(None))) for event in rest for value in event.values())
    assert "overrides" not in head
    (path,) = export(vector("abe-reduction"), tmp_path / "short", ["jsonl"], {"duration": "200 ms"})
    assert json.loads(path.read_text().splitlines()[0])["overrides"] == {"duration": "200 ms"}


def test_qlog_is_json_text_sequences_with_the_same_windows(tmp_path: Path) -> None:
    for name in ("newreno-recovery", "codel-control-law", "rto-backoff"):
        (path,) = export(vector(name), tmp_path, ["qlog"])
        head, *rest = (json.loads(record) for record in path.read_text().split("\x1e")[1:])
        assert head["file_schema"] == "urn:ietf:params:qlog:file:sequential"
        assert head["trace"]["event_schemas"] == [
            "urn:ietf:params:qlog:events:quic-13",
            "urn:ecnlab:qlog:events:vectors",
        ]
        found = own_events(name)
        windows = [each["data"]["congestion_window"] for each in rest if "congestion_window" in each["data"]]
        cwnds = [event["cwnd_bytes"] for event in found if "cwnd_bytes" in event]
        assert windows == [cwnd for cwnd, before in zip(cwnds, [None, *cwnds], strict=False) if cwnd != before]
        lost = [each["data"]["header"]["packet_number"] for each in rest if each["name"] == "quic:packet_lost"]
        again = [event["seq"] for event in found if event.get("retransmission")]
        dropped = [event["number"] for event in found if event.get("fate") == "dropped"]
        assert lost == again + dropped and lost
        assert [each["time"] for each in rest] == sorted(each["time"] for each in rest)
        assert {each["name"].partition(":")[0] for each in rest} <= {"quic", "ecnlab"}


def test_the_capture_has_the_segments_of_the_log(tmp_path: Path) -> None:
    paths = export(vector("reno-growth"), tmp_path)
    assert [path.suffix for path in paths] == [".jsonl", ".qlog", ".pcapng"]
    sent = sum(event["event"] == "send" for event in events(vector("reno-growth")))
    data = ecnlab.trace(paths[-1]).directions.filter(from_opener=True)
    # The log ends with the last ACK, the capture with the segments that it lets go.
    assert 0 <= data["data_packets"].item() - sent <= 2
    assert data["retransmits"].item() == 0


def test_the_page_lists_every_vector_and_every_field() -> None:
    page = (Path(__file__).parents[2] / "docs" / "vectors.md").read_text()
    fields = set()
    for name in names():
        one = vector(name)
        (row,) = [line for line in page.splitlines() if line.startswith(f"| `{name}` |") and "§" in line]
        assert row.endswith(f"| {', '.join(one.rfcs)} |")
        fields |= {key for event in own_events(name) for key in event}
        fields |= {event.get("phase", "ack") for event in own_events(name)}
    assert [field for field in sorted(fields) if f"`{field}`" not in page] == []


@pytest.mark.slow
def test_changed_scenarios_are_sampled_as_often_as_their_events_need(cli, tmp_path):
    fast, name = {"link.path.rate": "100 Mbps"}, "rto-backoff"
    for out, more in (("chosen", []), ("set", ["--set", "sample=2 us"])):
        ended = cli(
            "vectors", "export", name, "--out", out, "--format", "jsonl", "--set", "link.path.rate=100 Mbps", *more
        )
        assert ended.returncode == 0, ended.stderr
    chosen, by_hand = ((tmp_path / out / f"{name}.jsonl").read_text().splitlines()[1:] for out in ("chosen", "set"))
    assert chosen == by_hand
    assert len(events(vector(name), fast)) == len(chosen)
