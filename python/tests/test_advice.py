"""Warnings about scenarios and experiments that can be run, but compare what should not be compared."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Cli

from ecnlab._core import Scenario
from ecnlab.scenario import advice
from ecnlab.scenario.files import read_experiment

SCENARIO = """\
format = 1
duration = "1 s"
[link.pipe]
from = "a"
to = "b"
rate = "10 Mbps"
delay = "5 ms"
queue = "q"
[queue.q]
discipline = "pie"
quantiles = true
[tcp.capable]
ecn = "rfc3168"
[tcp.plain]
[flow.bulk]
from = "a"
to = "b"
traffic = "ftp"
tcp = "capable"
"""


def keys(text: str) -> list[str]:
    return [found["key"] for found in advice.of_scenario(Scenario("s.toml", text)).diagnostics]


def test_a_queue_that_drops_what_it_could_mark_is_named_with_line_key_and_remedy() -> None:
    found = advice.of_scenario(Scenario("s.toml", SCENARIO))
    (one,) = found.diagnostics
    assert (one["path"], one["line"], one["key"]) == ("s.toml", 9, "queue.q.ecn")
    assert "drops packets of ECN-capable flows (`bulk`)" in one["message"]
    assert one["help"].startswith("write ecn = true")
    assert found.lines[0].startswith("s.toml:9:1: `queue.q.ecn` is false")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("quantiles", "ecn = true\nquantiles"),  # it marks
        ('tcp = "capable"', 'tcp = "plain"'),  # nothing to mark
        ('tcp = "capable"', 'tcp_from = "capable"\ntcp_to = "plain"'),
        ('discipline = "pie"', 'discipline = "droptail"\nlimit = "50 packets"'),  # it never marks
        ('discipline = "pie"', 'discipline = "docsis_pie"\nlimit = "50 packets"'),
        ('from = "a"\nto = "b"\ntraffic', 'from = "b"\nto = "a"\ntraffic'),  # the data take the other direction
    ],
)
def test_queues_that_mark_or_have_nothing_to_mark_are_not_named(old: str, new: str) -> None:
    assert keys(SCENARIO.replace(old, new, 1)) == []


def test_responses_pass_the_other_direction() -> None:
    crr = 'traffic = { kind = "crr", request = "1 kB", response = "1 kB" }'
    text = SCENARIO.replace('queue = "q"', 'reverse = { queue = "q" }').replace('traffic = "ftp"', crr)
    assert keys(text) == ["queue.q.ecn"]
    assert keys(text.replace(crr, 'traffic = "ftp"')) == []


def test_datagrams_are_capable_by_their_codepoint() -> None:
    cbr = 'traffic = { kind = "cbr", rate = "1 Mbps", packet = "1 kB", ecn = "ect0" }'
    text = SCENARIO.replace('traffic = "ftp"\ntcp = "capable"', cbr)
    assert keys(text) == ["queue.q.ecn"]
    assert keys(text.replace(', ecn = "ect0"', "")) == []


CLASSES = """\
discipline = "classes"
schedule = "drr"
limit = "100 packets"
[queue.q.class.first]
codepoints = ["ect0", "ect1", "ce"]
discipline = "pie"
ecn = true
[queue.q.class.rest]
order = 1
discipline = "pie"
"""


def test_a_class_after_one_that_takes_all_capable_packets_has_none_to_mark() -> None:
    text = SCENARIO.replace('discipline = "pie"\nquantiles = true\n', CLASSES)
    assert keys(text) == []
    assert keys(text.replace("ecn = true", "ecn = false")) == ["queue.q.class.first.ecn"]
    assert keys(text.replace('"ect0", "ect1", "ce"', '"not-ect"')) == ["queue.q.class.rest.ecn"]


EXPERIMENT = """\
format = 1
scenario = "s.toml"
replicates = 1
[grid.queue]
path = "queue.q"
values = [{ discipline = "codel", limit = "100 packets", ecn = true }, { ecn = true, target = "20 ms" }]
labels = ["codel", "pie"]
[metrics]
p99 = { table = "links", column = "sojourn_p99_s", where = { link = "pipe" } }
"""


def experiment(folder: Path, text: str = EXPERIMENT, scenario: str = SCENARIO) -> Path:
    (folder / "s.toml").write_text(scenario)
    (folder / "e.toml").write_text(text)
    return folder / "e.toml"


def test_quantiles_of_the_scenario_s_queue_are_in_every_arm(tmp_path: Path) -> None:
    found = read_experiment(experiment(tmp_path))
    assert [x.resolved["queue"]["q"]["quantiles"] for x in found.scenarios] == [True, True]
    assert advice.of_experiment(found).lines == []


def test_a_metric_that_an_arm_cannot_have_is_named(tmp_path: Path) -> None:
    text = EXPERIMENT.replace('limit = "100 packets"', 'limit = "100 packets", quantiles = false')
    (one,) = advice.of_experiment(read_experiment(experiment(tmp_path, text))).diagnostics
    assert (one["key"], one["line"]) == ("metrics.p99", 9)
    assert "1 of 2 scenarios of the experiment record no sojourn_p99_s in links" in one["message"]
    assert "quantiles = true" in one["help"]


def test_a_queue_of_a_grid_is_named_at_its_line_in_the_experiment(tmp_path: Path) -> None:
    text = EXPERIMENT.replace(', ecn = true }, { ecn = true, target = "20 ms" }', "}, { ecn = true }")
    (one,) = advice.of_experiment(read_experiment(experiment(tmp_path, text))).diagnostics
    assert (Path(one["path"]).name, one["line"], one["key"]) == ("e.toml", 6, "queue.q.ecn")


def test_check_run_and_sweep_warn_and_succeed(cli: Cli, tmp_path: Path) -> None:
    file = experiment(tmp_path, EXPERIMENT.replace("ecn = true", "ecn = false"))
    scenario = tmp_path / "s.toml"
    for arguments in (("check", scenario), ("run", scenario), ("check", file), ("sweep", file, "--workers", 1)):
        done = cli(*arguments)
        assert done.returncode == 0, done.stderr
        assert "warning: " in done.stderr
        assert "`queue.q.ecn` is false" in done.stderr
        found = json.loads(cli(*arguments, "--json").stdout)
        assert {one["key"] for one in found["warnings"]} == {"queue.q.ecn"}


def slow(rate: str, queue: str) -> list[dict[str, object]]:
    text = SCENARIO.replace("10 Mbps", rate).replace('discipline = "pie"\nquantiles = true', f"ecn = true\n{queue}")
    return [dict(found) for found in advice.of_scenario(Scenario("s.toml", text)).diagnostics]


@pytest.mark.parametrize(
    ("discipline", "key", "threshold_ms"),
    [
        ("codel", "target", 5),
        ("fq_codel", "target", 5),
        ("cobalt", "target", 5),
        ("cake", "target", 5),
        ("pie", "target", 15),
        ("fq_pie", "target", 15),
        ("pi2", "target", 20),
        ("dualpi2", "step_thresh", 1),
    ],
)
def test_a_packet_that_takes_longer_than_the_threshold_is_named(discipline: str, key: str, threshold_ms: int) -> None:
    queue = f'discipline = "{discipline}"\nlimit = "100 packets"'
    # 1500 B are 12 kbit.
    assert slow(f"{12_000 // threshold_ms} kbps", queue) == []
    found = slow(f"{11_900 // threshold_ms} kbps", queue)
    assert [one["key"] for one in found] == [f"queue.q.{key}"]
    assert f"is {threshold_ms} ms, less than a packet of 1500 B" in str(found[0]["message"])


def test_the_consequence_and_the_remedy_are_the_law_s() -> None:
    (one,) = slow("2 Mbps", 'discipline = "dualpi2"')
    assert one["message"] == (
        "`queue.q.step_thresh` is 1 ms, less than a packet of 1500 B (6 ms on the link): "
        "every packet that finds another one in L is marked"
    )
    assert one["help"] == 'write step_thresh = "6 ms" or more, or a faster link'
    assert slow("2 Mbps", 'discipline = "dualpi2"\nstep_thresh = "6 ms"') == []
    assert slow("2 Mbps", 'discipline = "dualpi2"\nprofile = "rfc9332"') == []


def test_a_threshold_in_bytes_is_compared_with_the_packet() -> None:
    for law in ("gsp", "step"):
        queue = f'discipline = "{law}"\nlimit = "100 packets"\nthreshold = '
        assert [one["key"] for one in slow("1 Mbps", f'{queue}"1 kB"')] == ["queue.q.threshold"]
        assert slow("1 Mbps", f'{queue}"1500 B"') == slow("1 Mbps", f'{queue}"1 packets"') == []


def test_the_slower_of_link_shaper_and_queue_counts() -> None:
    codel = 'discipline = "codel"\nlimit = "100 packets"'
    text = SCENARIO.replace('discipline = "pie"\nquantiles = true', f"ecn = true\n{codel}")
    shaper = 'shaper = { rate = "1 Mbps", burst = "3 kB" }\nqueue = "q"'
    assert keys(text.replace('queue = "q"', shaper, 1)) == ["queue.q.target"]
    tbf = f'discipline = "tbf"\nlimit = "100 packets"\nrate = "1 Mbps"\nburst = "3 kB"\n[queue.q.class.inner]\necn = true\n{codel}'
    assert keys(text.replace(f"ecn = true\n{codel}", tbf)) == ["queue.q.class.inner.target"]
    small = 'mss = "500 B"\necn = "rfc3168"'
    assert keys(text.replace("10 Mbps", "1 Mbps").replace('ecn = "rfc3168"', small)) == []
    # CAKE raises its target above the time of a packet at its own rate.
    assert slow("10 Mbps", 'discipline = "cake"\nrate = "1 Mbps"') == []
