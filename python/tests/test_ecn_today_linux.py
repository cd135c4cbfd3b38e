"""ECN today on the Linux kernel: the rule of agreement, planted differences, and the scenarios in both engines."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from analysed import given, of_step, quantity
from conftest import first_fast, kernel_or_skip
from msgspec import structs

from ecnlab._core import Experiment
from ecnlab.linux.plan import plan
from ecnlab.papers.analysis import Stored
from ecnlab.papers.ecn_today import PAPER, linux
from ecnlab.papers.ecn_today.grid import GRID, QUEUES
from ecnlab.papers.engine_rows import KERNEL, SIMULATOR
from ecnlab.papers.material import Material
from ecnlab.papers.published import read_published
from ecnlab.papers.registry import find
from ecnlab.papers.report_file import Report
from ecnlab.report import Section
from ecnlab.runs.engine_by_name import answerer_of
from ecnlab.scenario.files import read_experiment

FOLDER = find("ecn-today")[1]
PUBLISHED = read_published(FOLDER)
PLACE = {"queue": "codel", "host": "cubic-ecn", "path": "20 Mb/s, 20 ms"}


def both(metric: str, ours: list[float], theirs: list[float], other: list[float] | None = None) -> pl.DataFrame:
    """Samples of one cell in both engines; the replicates are numbered from 0 in each."""
    frames = []
    for who, values in ((SIMULATOR, ours), (KERNEL, theirs)):
        frame = pl.DataFrame({"replicate": range(len(values)), "value": values, "other": other or [None] * len(values)})
        frame = frame.with_columns(pl.col("other").cast(pl.Float64), variant=pl.lit(who))
        frames.append(frame.with_columns(pl.lit(label).alias(key) for key, label in PLACE.items()))
    return GRID.samples(metric, pl.concat(frames))


# Student's t at 95 % is 12.706 with two replicates. Differences of 0.01 and 0.012 have the mean 0.011 and the standard
# error 0.001: the interval is 0.011 -+ 0.0127, from -0.0017 to 0.0237.
@pytest.mark.parametrize(
    ("ours", "low", "high", "verdict"),
    [
        ([0.510, 0.512], -0.001706, 0.023706, "agrees"),
        ([0.570, 0.572], 0.058294, 0.083706, "differs"),
        ([0.530, 0.532], 0.018294, 0.043706, "agrees"),
        ([0.540, 0.542], 0.028294, 0.053706, "open"),
    ],
)
def test_a_share_is_decided_by_its_whole_interval(ours, low, high, verdict) -> None:
    (row,) = linux.compare(both("share", ours, [0.5, 0.5]), PUBLISHED.metrics).iter_rows(named=True)
    assert (row["low"], row["high"]) == (pytest.approx(low, abs=1e-6), pytest.approx(high, abs=1e-6))
    assert (row["verdict"], row["n"]) == (verdict, 2)
    assert (row["simulator"], row["kernel"]) == (pytest.approx(sum(ours) / 2), 0.5)


# Both engines vary alike, so the ratio has no spread: it is 1.2, 1.25 and 1.3 exactly, and 0.7 below 1/1.25 = 0.8.
@pytest.mark.parametrize(("ratio", "verdict"), [(1.2, "agrees"), (1.3, "differs"), (0.7, "differs"), (0.81, "agrees")])
def test_a_delay_may_be_a_factor_of_a_quarter_longer_or_shorter(ratio, verdict) -> None:
    theirs = [8.0, 10.0, 12.0]
    (row,) = linux.compare(both("bottleneck_p99_ms", [ratio * x for x in theirs], theirs), PUBLISHED.metrics).iter_rows(
        named=True
    )
    assert row["verdict"] == verdict
    assert row["low"] == pytest.approx(ratio) == row["high"]


# Two hosts with 0.5 of what they have together in the kernel, 0.545 and 0.555 in the simulator: 0.545 / 0.455 = 1.198, 0.555 / 0.445 = 1.247.
@pytest.mark.parametrize(
    ("share", "verdict"), [(0.545, "agrees"), (0.555, "differs"), (0.455, "agrees"), (0.445, "differs")]
)
def test_a_converted_host_may_have_as_much_more_as_a_share_may_differ(share, verdict) -> None:
    place = {"queue": "codel", "host": "dctcp", "converted": "10 %"}
    parts = [
        pl.DataFrame({"replicate": range(3), "value": 3 * [x], "other": 3 * [1 - x], "variant": who, **place})
        for who, x in ((SIMULATOR, share), (KERNEL, 0.5))
    ]
    samples = GRID.samples("new_over_old", pl.concat(parts))
    (row,) = linux.compare(samples, PUBLISHED.metrics).iter_rows(named=True)
    assert (row["simulator"], row["kernel"]) == (pytest.approx(share / (1 - share)), 1.0)
    assert row["verdict"] == verdict


def test_a_ratio_to_a_delay_of_zero_decides_nothing() -> None:
    (row,) = linux.compare(both("bottleneck_p99_ms", [1.0, 2.0], [0.0, 0.0]), PUBLISHED.metrics).iter_rows(named=True)
    assert row["verdict"] == "open"


def test_a_change_of_goodput_is_compared_as_a_change() -> None:
    # 11 and 10.6 over 10 are +10 % and +6 %: 4 points apart agree. 11 and 10.4 are 6 points apart.
    for theirs, verdict in ((10.6, "agrees"), (10.4, "differs")):
        samples = both("goodput_change", [11.0, 11.0], [theirs, theirs], other=[10.0, 10.0])
        (row,) = linux.compare(samples, PUBLISHED.metrics).iter_rows(named=True)
        assert row["verdict"] == verdict
        assert row["simulator"] == pytest.approx(0.1) and row["kernel"] == pytest.approx(theirs / 10 - 1)


def test_replicates_of_one_engine_alone_and_missing_values_are_left_out() -> None:
    samples = both("share", [0.5, 0.5, 0.9], [0.5, 0.5])
    (row,) = linux.compare(samples, PUBLISHED.metrics).iter_rows(named=True)
    assert (row["n"], row["simulator"]) == (2, 0.5)
    gone = samples.with_columns(value=pl.when(variant=KERNEL).then(None).otherwise("value"))
    assert linux.compare(gone, PUBLISHED.metrics).is_empty()


def made_up(cubic_ecn_mbps: float, retransmits: int, p99_s: float) -> pl.DataFrame:
    """Samples of linux-fast with CUBIC at 10 Mb/s and CUBIC with ECN as given, of 1000 segments each, in two replicates."""
    place = {"queue": "codel", "path": "20 Mb/s, 20 ms"}
    hosts = [("cubic", 10.0, 40), ("cubic-ecn", cubic_ecn_mbps, retransmits)]
    flows = [
        {"replicate": i, **place, "host": host, "group": "bulk", "goodput_bps": mbps * 1e6, "retransmits": resent,
         "data_segments_sent": 1000, "timeouts": 0}
        for i in range(2) for host, mbps, resent in hosts
    ]  # fmt: skip
    links = [
        {"replicate": i, **place, "host": host, "link": link, "sojourn_p99_s": p99_s if link == "bottleneck" else 1.0}
        for i in range(2) for host, _, _ in hosts for link in ("bottleneck", "bottleneck.reverse")
    ]  # fmt: skip
    return of_step("ecn-today", "linux-fast", given(flows=pl.DataFrame(flows), links=pl.DataFrame(links)))


@pytest.mark.parametrize(
    ("kernel", "metric", "host"),
    [
        ((10.0, 5, 0.010), "goodput_change", "cubic-ecn"),
        ((11.0, 20, 0.010), "retransmitted_part", "cubic-ecn"),
        ((11.0, 5, 0.013), "bottleneck_p99_ms", "cubic-ecn"),
    ],
)
def test_a_planted_difference_is_found_and_nothing_else(kernel, metric, host) -> None:
    parts = {SIMULATOR: made_up(11.0, 5, 0.010), KERNEL: made_up(*kernel)}
    samples = pl.concat(part.with_columns(variant=pl.lit(who)) for who, part in parts.items())
    cells = linux.compare(samples, PUBLISHED.metrics)
    assert set(cells["metric"]) == {"goodput_change", "retransmitted_part", "bottleneck_p99_ms"}
    found = cells.filter(pl.col("verdict") != "agrees")
    assert set(found["metric"]) == {metric} and host in found["host"]
    assert set(found["verdict"]) == {"differs"}


def converted(new_mbps: float, old_mbps: float) -> pl.DataFrame:
    """Samples of linux-converted behind CoDel: ten hosts with 2 Mb/s each, or nine with ``old_mbps`` next to one with ``new_mbps``."""
    groups = {"0 %": {"bulk": (10, 2.0)}, "10 %": {"bulk": (9, old_mbps), "new": (1, new_mbps)}}
    flows = [
        {"replicate": i, "queue": "codel", "host": "dctcp", "converted": part, "group": group, "goodput_bps": mbps * 1e6}
        for i in range(2) for part, there in groups.items() for group, (n, mbps) in there.items() for _ in range(n)
    ]  # fmt: skip
    return of_step("ecn-today", "linux-converted", given(flows=pl.DataFrame(flows)))


# In the simulator the new host has 2.0 Mb/s and the others 2.0: old_change 0, new_over_old 1.
@pytest.mark.parametrize(
    ("new", "old", "differ"),
    [
        (2.0, 1.92, set()),
        (2.5, 1.96, {"new_over_old"}),
        (1.9, 1.88, {"old_change"}),
        (9.2, 1.2, {"new_over_old", "old_change"}),
    ],
)
def test_a_planted_difference_of_converted_hosts_is_found(new, old, differ) -> None:
    parts = {SIMULATOR: converted(2.0, 2.0), KERNEL: converted(new, old)}
    samples = pl.concat(part.with_columns(variant=pl.lit(who)) for who, part in parts.items())
    cells = linux.compare(samples, PUBLISHED.metrics)
    assert cells.select("metric", "host", "converted").rows() == [
        ("old_change", "dctcp", "10 %"),
        ("new_over_old", "dctcp", "10 %"),
    ]
    assert set(cells.filter(verdict="differs")["metric"]) == differ
    kernel = dict(cells.select("metric", "kernel").iter_rows())
    assert kernel == {"old_change": pytest.approx(old / 2 - 1), "new_over_old": pytest.approx(new / old)}


def test_a_change_whose_reference_is_missing_is_left_out() -> None:
    # The second replicate has no page without ECN.
    samples = both("page_change", [1.1, 1.3], [1.1, 1.1], other=[1.0, None])
    (row,) = linux.compare(samples, PUBLISHED.metrics).iter_rows(named=True)
    assert (row["n"], row["simulator"]) == (1, pytest.approx(0.1))


def transactions(rows: list[tuple[str, float, bool]], **place: str) -> pl.DataFrame:
    """Transactions of one run, each with group, latency in seconds and whether it is measured."""
    named = [{"replicate": 0, **place, "group": g, "latency_s": s, "measured": m} for g, s, m in rows]
    return pl.DataFrame(named)


def test_a_client_s_latency_is_that_of_its_kind_of_host() -> None:
    rows = [("ecn", 0.1, True), ("ecn", 0.3, True), ("plain", 0.5, True), ("plain", 9.0, False)]
    here = given(transactions=transactions(rows, queue="codel", size="5 kB", path="20 Mb/s, 20 ms"))
    samples = of_step("ecn-today", "linux-transactions", here)
    found = samples.filter(metric="client_latency_s")
    assert dict(found.select("host", "value").iter_rows()) == pytest.approx({"cubic-ecn": 0.2, "cubic": 0.5})
    (change,) = samples.filter(metric="latency_change").iter_rows(named=True)
    assert (change["value"], change["other"]) == (pytest.approx(0.2), 0.5)


def test_the_clients_of_a_changing_link_are_of_the_host_of_the_run() -> None:
    rows = pl.concat(
        transactions([("short", s, True)], queue="codel", host=host, change="walk")
        for host, s in (("cubic", 0.4), ("cubic-ecn", 0.2), ("dctcp", 0.1))
    )
    found = quantity("ecn-today", "client_latency_s", given(transactions=rows))
    assert dict(found.select("host", "value").iter_rows()) == {"cubic": 0.4, "cubic-ecn": 0.2, "dctcp": 0.1}
    (change,) = quantity("ecn-today", "moving_latency", given(transactions=rows)).iter_rows(named=True)
    assert (change["value"], change["other"], change["host"]) == (0.2, 0.4, "cubic-ecn")


def section(folder: Path, kernel: dict[str, str] | None) -> Section:
    """The page's section on the kernel, as report.toml has it; ``folder`` has the samples."""
    given_ = Material(FOLDER, PUBLISHED, GRID, pl.DataFrame(), tables=Stored(folder, {"linux": kernel}))
    whole = Report.read(FOLDER, PAPER, given_)
    only = structs.replace(whole.contents, section={"linux": whole.contents.section["linux"]})
    (made,) = replace(whole, contents=only).sections()
    return made


def test_the_page_states_the_command_where_the_kernel_was_not_asked(tmp_path) -> None:
    made = section(tmp_path, None)
    assert "`ecnlab reproduce ecn-today --linux`" in made.intro and not made.blocks


def test_the_page_counts_verdicts_and_has_both_numbers(tmp_path) -> None:
    samples = pl.concat([both("share", [0.9, 0.9], [0.5, 0.5]), both("bottleneck_p99_ms", [10.0, 10.0], [9.0, 9.0])])
    samples.write_parquet(tmp_path / "linux_samples.parquet")
    made = section(tmp_path, {"kernel": "7.3.4"})
    assert "Linux 7.3.4" in made.intro
    counts, *cells = made.blocks
    rows = [[cell if isinstance(cell, str) else cell.text for cell in row] for row in counts.rows]
    assert len(rows) == len(linux.RULES) * len(QUEUES)
    assert ["share of the goodput", "CoDel", "0", "1", "0"] in rows
    assert ["99th percentile of the queueing delay, ms", "CoDel", "1", "0", "0"] in rows
    assert sum(int(n) for row in rows for n in row[2:]) == 2
    (share,) = [[cell.text for cell in row] for row in cells[list(linux.RULES).index("share")].rows]
    assert share[1:] == ["0.900", "0.500", "0.4 to 0.4", "2", "differs"]


@pytest.mark.parametrize("step", first_fast(3, linux.STEPS), ids=lambda step: step.name)
def test_the_kernel_takes_every_cell_as_it_is(step) -> None:
    experiment = read_experiment(FOLDER / f"{step.name}.toml").with_replicates(1)
    for run in experiment.runs:
        assert plan(run.scenario, 0).instead == []


def test_both_engines_give_what_is_measured() -> None:
    kernel_or_skip()
    file = FOLDER / "linux-alone.toml"
    text = file.read_text().replace('duration = "30 s"', 'duration = "12 s"')
    assert 'duration = "12 s"' in text
    run = Experiment(str(file), text).with_replicates(1).runs[0]
    for engine in ("linux", "packets"):
        found = answerer_of(engine).tables(run.scenario, run.seed, events=False, captures=None)
        (bottleneck,) = found["links"].filter(link="bottleneck").iter_rows(named=True)
        assert 0.0 < bottleneck["sojourn_p99_s"] < 0.2
        bulk = found["flows"].filter(group="bulk")
        assert bulk["data_segments_sent"].sum() > bulk["retransmits"].sum() >= 0
        assert 0.5e6 < bulk["goodput_bps"].sum() < 1.5e6


@pytest.mark.slow
@pytest.mark.parametrize(
    ("step", "long", "short", "metrics"),
    first_fast(
        1,
        [
            ("linux-transactions", "90 s", "20 s", {"client_latency_s", "latency_change"}),
            ("linux-pages", "200 s", "40 s", {"page_s", "page_change"}),
            ("linux-changing", "25 s", "8 s", {"client_latency_s", "retransmitted_part", "bottleneck_p99_ms"}),
        ],
    ),
)
def test_both_engines_give_latencies_and_pages(step, long, short, metrics) -> None:
    kernel_or_skip()
    file = FOLDER / f"{step}.toml"
    text = file.read_text().replace(f'duration = "{long}"', f'duration = "{short}"')
    assert f'duration = "{short}"' in text
    run = Experiment(str(file), text).with_replicates(1).runs[0]
    for engine in ("linux", "packets"):
        found = answerer_of(engine).tables(run.scenario, run.seed, events=False, captures=None)
        place = {key: pl.lit(label) for key, label in run.point.items()}
        tables = {name: frame.with_columns(replicate=pl.lit(0), **place) for name, frame in found.items()}
        samples = of_step("ecn-today", step, given(**tables))
        assert set(samples.drop_nulls("value")["metric"]) == metrics
        assert (samples["value"] >= 0).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("step", "cell", "flows"),
    first_fast(
        1,
        [
            ("linux-converted", {"converted": "10 %", "host": "dctcp"}, {"bulk": 9, "new": 1}),
            ("linux-load", {"flows": "32", "host": "cubic-ecn"}, {"bulk": 32}),
        ],
    ),
)
def test_both_engines_run_many_flows_and_converted_hosts(step, cell, flows) -> None:
    kernel_or_skip()
    runs = read_experiment(FOLDER / f"{step}.toml").with_replicates(1).runs
    (run,) = (one for one in runs if one.point == {"queue": "fq_codel", **cell})
    for engine in ("linux", "packets"):
        found = answerer_of(engine).tables(run.scenario, run.seed, events=False, captures=None)["flows"]
        assert dict(found.group_by("group").len().iter_rows()) == flows
        total = run.scenario.resolved["link"]["bottleneck"]["rate"]
        assert 0.9 < found["goodput_bps"].sum() / (1e6 * float(total.split()[0])) < 1.0
