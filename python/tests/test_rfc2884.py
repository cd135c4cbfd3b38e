"""RFC 2884: its data files are whole, and the analysis finds effects that were planted."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import polars as pl
import pytest
from pages import assert_whole, stored
from synthetic import PAPER, MadeUp, gain

from ecnlab.errors import EcnlabError
from ecnlab.papers import measures, reasons, rfc2884
from ecnlab.papers.judge import judge_claims, judge_numbers
from ecnlab.papers.paper import Drawn, Stored
from ecnlab.papers.published import Metric, Published, read_published
from ecnlab.papers.references import Evidence
from ecnlab.papers.rfc2884.choice import MAX_P, SHARE, choose
from ecnlab.papers.rfc2884.grid import GRID
from ecnlab.papers.rfc2884.page import page
from ecnlab.papers.samples import at, estimate
from ecnlab.report import Figure, Group, render


@pytest.fixture(scope="module")
def published():
    return read_published(PAPER)


@pytest.fixture(scope="module")
def measured() -> pl.DataFrame:
    return rfc2884.analyse({step.name: MadeUp(step.name) for step in rfc2884.STEPS})


@pytest.fixture(scope="module")
def averaged(measured, published) -> pl.DataFrame:
    return GRID.points(measured, published.metrics)


# --------------------------------------------------------------- what was printed


def test_every_printed_number_of_the_checklist_is_there(published) -> None:
    count = {
        row: sum(n.row == row for n in published.numbers) for row in ("R24", "R27", "R28", "R31", "R33", "R34", "R37")
    }
    assert count == {"R24": 8, "R27": 2, "R28": 2, "R31": 4, "R33": 2, "R34": 4, "R37": 4}
    assert {"R25", "R29", "R30", "R35"} <= {claim.row for claim in published.claims}


def test_printed_numbers_are_those_of_the_rfc(published) -> None:
    by_row: dict[str, list[float]] = {}
    for number in published.numbers:
        by_row.setdefault(number.row, []).append(number.value)
    assert by_row["R24"] == [0.996888, 0.991946, 0.995987, 0.988286, 0.985403, 0.989726, 0.979368, 0.983342]
    assert by_row["R27"] == [0.23, 0.50]
    assert by_row["R28"] == [0.10, 0.60]
    assert by_row["R31"] == [0.05, 0.15, 0.10, 0.40]
    assert by_row["R33"] == [0.42, 0.62]
    assert by_row["R34"] == [0.8, 2.2, 0.20, 1.40]
    assert by_row["R37"] == [0.47, 0.80, 0.15, 1.20]


def test_the_recorded_thresholds_pass_the_rule() -> None:
    for load in tomllib.loads((PAPER / "red-settings.toml").read_text())["settings"].values():
        assert load["share"][MAX_P] >= SHARE


def test_experiments_use_the_recorded_thresholds() -> None:
    recorded = tomllib.loads((PAPER / "red-settings.toml").read_text())["settings"]
    seen = 0
    for step in rfc2884.STEPS:
        grid = tomllib.loads((PAPER / f"{step.name}.toml").read_text()).get("grid", {})
        for point in grid.get("congestion", {}).get("points", []):
            expected = recorded[point["label"]]
            for key in ("min_th", "max_th"):
                assert point["set"][f"queue.red.{key}"] == expected[key], f"{step.name}, {point['label']}"
                seen += 1
    assert seen > 20


# --------------------------------------------------------------- measuring


def test_the_planted_gain_is_found_at_every_place(averaged) -> None:
    for metric in ("bulk_gain", "transaction_gain", "size_gain", "search_gain"):
        rows = at(averaged, metric, {})
        assert rows.height >= 24
        for row in rows.iter_rows(named=True):
            key = {k: v for k, v in row.items() if v and k in ("congestion", "maxp", "size")}
            assert row["mean"] == pytest.approx(gain(key), abs=0.09), f"{metric} {key}"


def test_equal_treatment_is_found_where_counts_differ(averaged) -> None:
    # 600 marks of 12000 and 500 drops of 10000: 1.2 by count, 1.0 per arriving packet
    where = {"congestion": "high", "maxp": "0.1"}
    assert at(averaged, "marks_to_drops", where)["mean"][0] == pytest.approx(1.2, abs=0.02)
    assert at(averaged, "mark_rate_to_drop_rate", where)["mean"][0] == pytest.approx(1.0, abs=0.02)


def test_bytes_while_both_run_are_read_before_the_first_finishes(averaged) -> None:
    row = at(averaged, "bulk_gain_together", {"congestion": "high", "maxp": "0.1", "recovery": "reno"})
    assert row["mean"][0] == pytest.approx(gain({"congestion": "high", "maxp": "0.1"}), abs=0.01)


def test_jain_by_hand() -> None:
    class One:
        def table(self, _name: str) -> pl.LazyFrame:
            rows = [("ecn", 0, 1.0), ("ecn", 0, 2.0), ("ecn", 0, 3.0), ("plain", 0, 5.0), ("plain", 0, 5.0)]
            return pl.LazyFrame(rows, schema=["background", "replicate", "goodput_bps"], orient="row")

    found = rfc2884.measure.fairness(One())
    index = dict(at(found, "jain", {}).select("background", "value").iter_rows())
    assert index == pytest.approx({"ecn": 36 / 42, "plain": 1.0})
    assert at(found, "jain_difference", {})["value"].to_list() == pytest.approx([36 / 42])
    assert at(found, "jain_difference", {})["other"].to_list() == pytest.approx([1.0])


def test_windows_that_move_as_one_have_correlation_one() -> None:
    def series(opposite: bool) -> pl.LazyFrame:
        rows = [(f, 30.0 + t, (-1 if opposite and f else 1) * (t % 5), 0) for f in (0, 1) for t in range(50)]
        return pl.LazyFrame(rows, schema=["flow", "time_s", "cwnd_bytes", "replicate"], orient="row")

    for opposite, expected in ((False, 1.0), (True, -1.0)):
        sweep = type("One", (), {"table": lambda _self, _name, o=opposite: series(o)})()
        assert measures.window_correlation(GRID, sweep, since_s=30.0).collect()["value"][0] == pytest.approx(expected)


def test_the_rule_takes_the_smallest_threshold_that_reaches_the_share(averaged) -> None:
    chosen = dict(choose(averaged).select("congestion", "min_th").iter_rows())
    assert chosen == {"low": "15 kB", "moderate": "15 kB", "high": "15 kB"}


def test_the_rule_takes_the_largest_share_where_none_is_enough() -> None:
    frame = pl.DataFrame(
        {
            "congestion": "high",
            "maxp": "0.1",
            "min_th": ["5 kB", "10 kB", "20 kB"],
            "replicate": 0,
            "value": [0.2, 0.7, 0.4],
        }
    )
    share = GRID.points(GRID.samples("search_share", frame), {"search_share": Metric("s", "d", "mean")})
    assert choose(share)["min_th"].to_list() == ["10 kB"]


def test_a_ratio_with_nothing_to_divide_by_has_no_value() -> None:
    frame = GRID.samples("m", pl.DataFrame({"replicate": [0, 1], "value": [0.0, 0.0], "other": [0.0, 0.0]}))
    assert estimate(frame, Metric("m", "d", "ratio")) is None


def test_the_same_runs_give_the_same_samples(measured) -> None:
    again = rfc2884.analyse({step.name: MadeUp(step.name) for step in rfc2884.STEPS})
    assert again.equals(measured)


# --------------------------------------------------------------- judging


def test_every_number_has_one_measurement_and_every_claim_a_test(published, measured, averaged) -> None:
    numbers = judge_numbers(published, averaged, GRID)
    assert numbers["id"].to_list() == [number.id for number in published.numbers]
    claims = judge_claims(published, measured, averaged, GRID)
    assert set(claims["id"]) == {claim.id for claim in published.claims}


def test_planted_trends_are_decided(published, measured, averaged) -> None:
    claims = judge_claims(published, measured, averaged, GRID)
    answer = dict(claims.select("id", "answer").iter_rows())
    assert answer["R27.relative"] == answer["R28.grows"] == answer["R35"] == "yes"
    assert answer["R27.absolute"] == "no"  # planted: a gain that grows over an equal base
    assert answer["R25.count"] == "no"
    assert answer["R25.rate"] == answer["R29"] == "yes"


def test_a_number_nobody_measured_is_an_error(published, averaged) -> None:
    with pytest.raises(EcnlabError, match=r"R27\.1: 0 measured points"):
        judge_numbers(published, averaged.filter(pl.col("metric") != "bulk_gain"), GRID)


# --------------------------------------------------------------- reasons


def write_reasons(folder: Path, text: str, facts: str = "") -> Path:
    path = folder / "reasons.toml"
    path.write_text(f'format = 1\n[[reason]]\nfor = ["R27.1"]\ntext = "{text}"\n{facts}')
    return path


def evidence(published: Published, averaged: pl.DataFrame) -> Evidence:
    return Evidence(published, GRID, {"points": averaged})


FACT = (
    '[reason.facts]\nbest = { metric = "search_gain", where = { congestion = "high", maxp = "0.1" }, pick = "max" }\n'
)


def test_a_reason_quotes_what_was_measured(tmp_path, published, averaged) -> None:
    found = reasons.read_reasons(
        write_reasons(tmp_path, "Up to {best} at {best.min_th}.", FACT), evidence(published, averaged)
    )
    row = at(averaged, "search_gain", {"congestion": "high", "maxp": "0.1"}).sort("mean").row(-1, named=True)
    assert re.fullmatch(rf"Up to {row['mean']:.0%} \(\d+% to \d+%\) at {row['min_th']}\.", found["R27.1"])


def test_a_reason_without_its_fact_is_an_error(tmp_path, published, averaged) -> None:
    with pytest.raises(EcnlabError, match="no metric is called 'worst'"):
        reasons.read_reasons(write_reasons(tmp_path, "Up to {worst}.", FACT), evidence(published, averaged))


def test_a_reason_for_nothing_printed_is_an_error(tmp_path, published, averaged) -> None:
    path = write_reasons(tmp_path, "Because.")
    path.write_text(path.read_text().replace("R27.1", "R99.9"))
    with pytest.raises(EcnlabError, match=r"R99\.9"):
        reasons.read_reasons(path, evidence(published, averaged))


# --------------------------------------------------------------- the page


@pytest.fixture
def tables(tmp_path, published, measured) -> Stored:
    queue, windows = rfc2884.evolution(MadeUp("evolution", 1))
    facts = {"evolution": {"seed": 1, "min_th": 20e3, "max_th": 60e3}}
    drawn = Drawn({"evolution_queue": queue, "evolution_windows": windows}, facts)
    return stored(tmp_path, published, measured, GRID, drawn)


def test_the_page_has_a_line_for_every_number_claim_and_row(published, tables) -> None:
    html = render(page(PAPER, tables))
    assert_whole(html, published)
    for i in range(1, 39):
        assert f"<b>R{i:02d}</b>" in html


def test_the_kernel_stands_beside_the_simulator_and_what_was_printed(published, tables) -> None:
    how = next(section for section in page(PAPER, tables).sections if section.name == "linux")
    assert "--linux" in how.intro and not how.blocks
    place = {"congestion": "high", "maxp": "0.1"}
    gains = {"simulator": [3.0, 3.0], "kernel": [2.0, 1.0]}  # of 2 to 2: the half more, and a quarter less
    samples = pl.concat(
        GRID.samples(
            "bulk_gain", pl.DataFrame({"replicate": [0, 1], "value": value, "other": [2.0, 2.0]})
        ).with_columns(variant=pl.lit(who), **{key: pl.lit(label) for key, label in place.items()})
        for who, value in gains.items()
    )
    GRID.points(samples, published.metrics).write_parquet(tables.folder / "linux.parquet")
    told = Stored(tables.folder, dict(tables.about) | {"linux": {"kernel": "7.3.4", "build": "x"}})
    section = next(section for section in page(PAPER, told).sections if section.name == "linux")
    (row,) = section.blocks[0].rows
    settings, printed, then, now, kernel, n = (cell if isinstance(cell, str) else cell.text for cell in row)
    assert (settings, printed, n) == ("high load, max_p 0.1", "50%", "2")
    assert (now.split()[0], kernel.split()[0]) == ("50%", "−25%")
    assert then.endswith(")") and then != now
    assert "Linux 7.3.4" in render(page(PAPER, told))


def test_the_figures_of_the_page_have_intervals_and_every_gain_that_was_printed(published, tables) -> None:
    report = page(PAPER, tables)
    drawn = [figure for section in report.sections for block in section.blocks for figure in figures(block)]
    assert len(drawn) > 20
    assert all(any(trace.error_y.array for trace in figure.plot().data) for figure in drawn)
    marks = {y for figure in drawn for trace in figure.plot().data if trace.mode == "markers" for y in trace.y}
    assert marks >= {n.value for n in published.numbers if n.metric in ("bulk_gain", "transaction_gain")}


def figures(block) -> list[Figure]:
    return list(block.figures) if isinstance(block, Group) else []
