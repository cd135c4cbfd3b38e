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


def messages(text: str, folder: Path | None = None) -> list[str]:
    path = (folder or Path()) / "s.toml"
    return [found["message"] for found in advice.of_scenario(Scenario(str(path), text)).diagnostics]


MARKING = SCENARIO.replace("quantiles", "ecn = true\nquantiles")


def with_law(law: str, ecn: str = "rfc3168") -> str:
    return MARKING.replace('ecn = "rfc3168"', f'ecn = "{ecn}"\nprofile = "linux-7"\ncongestion = "{law}"')


def test_a_law_that_ignores_marks_is_named_where_its_packets_are_marked() -> None:
    (one,) = messages(with_law("bbr"))
    assert one.startswith("`tcp.capable` has ECN, but its window law `bbr` ignores marks: `queue.q` marks")
    assert messages(with_law("cubic")) == []
    dropping = with_law("bbr").replace("ecn = true\nquantiles", "quantiles")
    assert keys(dropping) == ["queue.q.ecn"]


def test_a_law_that_ignores_marks_is_fair_at_the_receiver_or_without_ecn() -> None:
    receiver = MARKING.replace('tcp = "capable"', 'tcp_from = "capable"\ntcp_to = "other"')
    receiver += '[tcp.other]\necn = "rfc3168"\nprofile = "linux-7"\ncongestion = "bbr"\n'
    assert messages(receiver) == []
    both = with_law("bbr", "off") + '[flow.other]\nfrom = "a"\nto = "b"\ntraffic = "ftp"\ntcp = "other"\n'
    assert messages(both + '[tcp.other]\necn = "dctcp"\n') == []


def test_a_share_of_marks_needs_a_count_of_marks() -> None:
    assert keys(with_law("dctcp")) == ["tcp.capable.ecn"]
    assert "`rfc3168` does not count them" in messages(with_law("dctcp"))[0]
    assert "without ECN there are no marks" in messages(with_law("dctcp", "off"))[0]
    counted = with_law("dctcp", "accecn").replace("[tcp.capable]", "[tcp.capable]\ndsack = true")
    assert messages(with_law("dctcp", "dctcp")) == messages(counted) == []


def test_a_queue_that_marks_needs_a_flow_with_ecn() -> None:
    plain = MARKING.replace('tcp = "capable"', 'tcp = "plain"')
    (one,) = advice.of_scenario(Scenario("s.toml", plain)).diagnostics
    assert (one["key"], one["message"]) == (
        "queue.q.ecn",
        "`queue.q.ecn` is true, but no flow uses ECN: nothing is marked",
    )


def test_arms_without_ecn_are_compared_with_arms_that_have_it(tmp_path: Path) -> None:
    """An experiment in which no arm has ECN is warned of, one in which some have it is not."""
    grid = '[grid.ecn]\npath = "tcp.capable.ecn"\nvalues = ["off", "dctcp"]\n'
    text = f'format = 1\nscenario = "s.toml"\nreplicates = 1\n{grid}[metrics]\n'
    text += 'g = { table = "flows", column = "goodput_bps", aggregate = "sum" }\n'
    found = advice.of_experiment(read_experiment(experiment(tmp_path, text, MARKING)))
    assert found.lines == []
    found = advice.of_experiment(read_experiment(experiment(tmp_path, text.replace(', "dctcp"', ""), MARKING)))
    assert [one["key"] for one in found.diagnostics] == ["queue.q.ecn"]


@pytest.mark.parametrize(
    ("law", "more", "warned"),
    [
        ("fq_codel", "", True),
        ("codel", "", False),
        ("fq_codel", 'a = { table = "sojourns", column = "sojourn_p99_s", where = { group = "bulk" } }', False),
    ],
)
def test_a_quantile_that_mixes_separated_groups_is_named(law: str, more: str, warned: bool, tmp_path: Path) -> None:
    two = MARKING.replace('"pie"', f'"{law}"\nlimit = "100 packets"')
    two += '[flow.other]\nfrom = "a"\nto = "b"\ntraffic = "ftp"\ntcp = "capable"\n'
    text = 'format = 1\nscenario = "s.toml"\nreplicates = 1\n[metrics]\n'
    text += f'p99 = {{ table = "links", column = "sojourn_p99_s", where = {{ link = "pipe" }} }}\n{more}\n'
    found = advice.of_experiment(read_experiment(experiment(tmp_path, text, two)))
    said = f"`metrics.p99`: the quantile at `pipe` mixes groups that `{law}` separates: `bulk`, `other`"
    assert [one["message"] for one in found.diagnostics] == ([said] if warned else [])


TWO_LINKS = """\
format = 1
duration = "1 s"
[node.home]
count = 3
[link.access]
from = "a"
to = "r"
rate = "20 Mbps"
delay = "1 ms"
queue = "q"
[link.line]
from = "r"
to = "home"
rate = "RATE"
delay = "5 ms"
[queue.q]
discipline = "codel"
limit = "100 packets"
ecn = true
[tcp.t]
ecn = "rfc3168"
[flow.down]
from = "a"
to = "home"
count = 3
traffic = "ftp"
tcp = "t"
"""


def test_a_bottleneck_that_slower_links_keep_empty_is_none() -> None:
    """Three lines of 6 Mb/s never fill 20 Mb/s; three of 7 Mb/s do."""
    (one,) = messages(TWO_LINKS.replace("RATE", "6 Mbps"))
    assert one == (
        "no queue can build up at `link.access`: the other links of its flows (`link.line`) have 18 Mb/s together, "
        "less than its 20 Mb/s"
    )
    assert messages(TWO_LINKS.replace("RATE", "7 Mbps")) == []


def test_a_metric_of_a_link_that_is_no_bottleneck_is_named(tmp_path: Path) -> None:
    text = 'format = 1\nscenario = "s.toml"\nreplicates = 1\n[metrics]\n'
    text += 'wait = { table = "links", column = "sojourn_mean_s", where = { link = "access" } }\n'
    found = advice.of_experiment(read_experiment(experiment(tmp_path, text, TWO_LINKS.replace("RATE", "5 Mbps"))))
    assert [one["key"] for one in found.diagnostics] == ["link.access.rate", "metrics.wait"]


@pytest.mark.parametrize(
    ("metric", "said"),
    [
        ('table = "links", column = "sojourn_mean_s"', "the mean over 8 links: `access`, `access~reverse`, `line[0]`"),
        ('table = "flows", column = "goodput_bps"', "the mean over 3 flows: `down[0]`, `down[1]`, `down[2]`"),
        ('table = "flows", column = "goodput_bps", aggregate = "mean"', None),
        ('table = "flows", column = "goodput_bps", where = { group = "down" }', None),
    ],
)
def test_a_mean_over_rows_that_nobody_chose_is_named(metric: str, said: str | None, tmp_path: Path) -> None:
    text = f'format = 1\nscenario = "s.toml"\nreplicates = 1\n[metrics]\none = {{ {metric} }}\n'
    found = advice.of_experiment(read_experiment(experiment(tmp_path, text, TWO_LINKS.replace("RATE", "9 Mbps"))))
    assert len(found.diagnostics) == (said is not None)
    assert said is None or found.diagnostics[0]["message"].startswith(f"`metrics.one`: {said}")


@pytest.mark.parametrize(
    ("rate", "until"),
    [
        ('{ csv = "fade.csv" }', "0.5 s"),
        ('{ csv = "fade.csv", every = "1 s" }', None),
        ('{ csv = "rise.csv" }', None),
    ],
)
def test_a_rate_that_ends_in_zero_is_named(rate: str, until: str | None, tmp_path: Path) -> None:
    (tmp_path / "fade.csv").write_text("# a fall\ntime_s,rate_mbps\n0,5\n0.5,0\n")
    (tmp_path / "rise.csv").write_text("time_s,rate_mbps\n0,0\n0.5,5\n")
    found = messages(MARKING.replace('"10 Mbps"', rate), tmp_path)
    assert [one for one in found if "is 0 from" in one] == (
        [f"`link.pipe.rate` is 0 from {until} on: no packet leaves the link any more"] if until else []
    )
