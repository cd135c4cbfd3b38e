"""Reports of sweeps: effects and paired differences against the stored metrics."""

from __future__ import annotations

import math
import re
import sys
from pathlib import Path

import polars as pl
import pytest
from conftest import EXPERIMENT, SCENARIO
from reported import cells, kbps, titled

import ecnlab
from ecnlab.folder import part_files
from ecnlab.report import Figure, Group, Table
from ecnlab.results.unfinished import Unfinished
from ecnlab.stages import page


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("reports")
    (where / "pipe.toml").write_text(SCENARIO)
    (where / "gain.toml").write_text(EXPERIMENT)
    ecnlab.sweep(where / "gain.toml", where / "sweep", workers=1)
    return where


@pytest.fixture(scope="module")
def sweep(folder: Path) -> ecnlab.Sweep:
    return ecnlab.load(folder / "sweep")  # type: ignore[return-value]


T4 = {2: 4.302652729749464}
"""Student's t for 95 % by degrees of freedom, from a table."""

T6 = 7.648935
"""The same with 2 degrees of freedom for 1 - 0.05/3: the family of three findings."""

ARMS = ("red", "blind")
"""The arms in the order of the experiment's file."""


def interval(each: list[float], t: float = T4[2]) -> tuple[float, float, float]:
    mean = sum(each) / 3
    half = t * math.sqrt(sum((x - mean) ** 2 for x in each) / 2 / 3)
    return mean, mean - half, mean + half


def values_of(sweep: ecnlab.Sweep, metric: str) -> dict[tuple[str, str, int], float]:
    return {(arm, p, r): v for arm, p, r, m, v in sweep.metrics.rows() if m == metric}


def test_the_answer_of_a_sweep_is_its_largest_effect_in_standard_errors(sweep: ecnlab.Sweep) -> None:
    found = {}
    for metric in ("marked", "dropped", "advantage"):
        v = values_of(sweep, metric)
        arm = interval([sum(v["blind", p, r] - v["red", p, r] for p in ("low", "high")) / 2 for r in range(3)])
        axis = interval([sum(v[a, "high", r] - v[a, "low", r] for a in ARMS) / 2 for r in range(3)])
        found |= {(metric, "blind − red"): arm, (metric, "high − low"): axis}

    def size(one: tuple[str, str]) -> tuple[bool, float]:
        mean, low, high = found[one]
        return low > 0 or high < 0, abs(mean) / ((high - low) / 2)

    metric, pair = max(found, key=size)
    answer = page(sweep).answer
    assert answer.startswith(f"12 runs (2 arms, 2 points, 3 replicates). {metric} is highest with ")
    assert f": {pair} = " in answer and "mean over 2 settings of the others" in answer
    if metric != "advantage":
        numbers = [kbps(text) for text in re.findall(r"[+−]?[\d.]+ [kM]?b/s", answer.partition(" = ")[2])]
        assert numbers[:3] == pytest.approx([x / 1e3 for x in found[metric, pair]], rel=0.006)


def test_the_answer_is_about_the_primary_metric(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "pipe.toml").write_text(SCENARIO)
    text = EXPERIMENT + '[report]\nprimary = "dropped"\nreference = "blind"\nsmallest = { dropped = "10 Mbps" }\n'
    (tmp_path / "gain.toml").write_text(text)
    made = page(ecnlab.sweep(tmp_path / "gain.toml", tmp_path / "out", workers=1))
    assert ". dropped is highest with " in made.answer and "no difference that matters" in made.answer
    (found,) = (one for one in made.findings if one.statement.startswith("dropped: "))
    assert found.answer == "no difference" and found.statement.startswith("dropped: red − blind = ")
    assert titled(made, "Differences to blind at each point")


@pytest.mark.parametrize(
    ("report", "said"),
    [
        ('primary = "speed"', "there is no metric `speed`; valid metrics: "),
        ('reference = "rod"', "there is no arm `rod`; did you mean `red`?"),
        ("smallest = { marked = true }", "`report.smallest.marked` is a boolean, not a number or a quantity"),
        ('smallest = { marked = "1 ms" }', "'1 ms' is not a difference of marked, whose unit is bit/s"),
        ("prime = 1", "unknown key `report.prime`"),
    ],
)
def test_mistakes_in_what_a_report_shows_have_place_and_remedy(report: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "pipe.toml").write_text(SCENARIO)
    (tmp_path / "gain.toml").write_text(f"{EXPERIMENT}[report]\n{report}\n")
    with pytest.raises(ecnlab.SpecError, match=re.escape(said)):
        ecnlab.sweep(tmp_path / "gain.toml", tmp_path / "out")


def test_effects_of_opposite_sign_are_the_finding(sweep: ecnlab.Sweep, monkeypatch: pytest.MonkeyPatch) -> None:
    """By hand: arm `blind` is 10 more than `red` at one point and 10 less at the other, in each replicate but for 0.1."""
    rows = sweep.metrics.filter(metric="marked").with_columns(
        value=pl.when(pl.col("arm") == "red").then(100.0).when(pl.col("max_p") == "low").then(110.0).otherwise(90.0)
        + 0.1 * pl.col("replicate").cast(pl.Float64) * (pl.col("arm") == "blind")
    )
    monkeypatch.setattr(ecnlab.Sweep, "metrics", rows)
    (found,) = (one for one in page(sweep).findings if one.statement.startswith("marked"))
    assert found.answer == "by setting"
    assert "has another sign by setting: −9.9 b/s at max_p high, +10.1 b/s at max_p low" in found.statement


def test_an_arm_without_values_is_named(sweep: ecnlab.Sweep, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = sweep.metrics.filter(~((pl.col("metric") == "marked") & (pl.col("arm") == "blind")))
    monkeypatch.setattr(ecnlab.Sweep, "metrics", rows)
    made = page(sweep)
    assert "marked: no value with blind" in [one.statement for one in made.findings]
    assert "No value: blind." in titled(made, "marked by max_p").caption  # type: ignore[union-attr]


def test_differences_of_arms_are_paired_by_replicate_at_each_point(sweep: ecnlab.Sweep) -> None:
    first, second = ARMS
    rows = cells(titled(page(sweep), f"Differences to {first} at each point"))  # type: ignore[arg-type]
    values = {(m, arm, p, r): v for arm, p, r, m, v in sweep.metrics.rows()}
    assert len(rows) == 6
    for row in rows:
        each = [
            values[row["metric"], second, row["max_p"], r] - values[row["metric"], first, row["max_p"], r]
            for r in range(3)
        ]
        mean = sum(each) / 3
        half = T4[2] * math.sqrt(sum((x - mean) ** 2 for x in each) / 2 / 3)
        ends = [mean - half, mean + half]
        assert row["arm"] == second and row["n"] == "3"
        assert row["decided"] == ("undecided" if ends[0] <= 0 <= ends[1] else "higher" if mean > 0 else "lower")
        if row["metric"] != "advantage":
            assert kbps(row[f"difference to {first}"]) == pytest.approx(mean / 1e3, rel=0.006)
            assert [kbps(x) for x in row["95 % interval"].split(" to ")] == pytest.approx(
                [x / 1e3 for x in ends], rel=0.006
            )


def test_ratios_of_arms_are_geometric_means_at_each_point(sweep: ecnlab.Sweep) -> None:
    first, second = ARMS
    values = {(m, arm, p, r): v for arm, p, r, m, v in sweep.metrics.rows()}
    positive = {m for m in sweep.manifest["metrics"] if all(v > 0 for (of, *_), v in values.items() if of == m)}
    table = titled(page(sweep), f"Ratios to {first} at each point")
    assert isinstance(table, Table)
    rows = cells(table)
    assert {row["metric"] for row in rows} == positive and len(rows) == 2 * len(positive) > 0
    for name in sweep.manifest["metrics"]:
        assert (name in table.caption) == (name not in positive)
    for row in rows:
        m, p = row["metric"], row["max_p"]
        logs = [math.log(values[m, second, p, r] / values[m, first, p, r]) for r in range(3)]
        mean = sum(logs) / 3
        half = T4[2] * math.sqrt(sum((x - mean) ** 2 for x in logs) / 2 / 3)
        assert float(row[f"ratio to {first}"]) == pytest.approx(math.exp(mean), rel=1e-3)
        ends = [float(x) for x in row["95 % interval"].split(" to ")]
        assert ends == pytest.approx([math.exp(mean - half), math.exp(mean + half)], rel=1e-3)
        assert row["decided"] == ("undecided" if abs(mean) <= half else "higher" if mean > 0 else "lower")


def test_figures_of_a_sweep_have_the_summary(sweep: ecnlab.Sweep) -> None:
    figure = titled(page(sweep), "marked by max_p")
    assert isinstance(figure, Figure) and not figure.joined  # labels without order
    assert [text for _, text in figure.x.ticks] == ["low", "high"]
    ticks = dict(figure.x.ticks)
    drawn = {(one.name, ticks[p.x]): (p.mean, p.low, p.high, p.n) for one in figure.series for p in one.points}
    summary = sweep.summary().filter(metric="marked")
    assert len(drawn) == summary.height == 4
    for row in summary.to_dicts():
        expected = [row["mean"] / 1e6, row["low"] / 1e6, row["high"] / 1e6, 3]
        assert drawn[row["arm"], row["max_p"]] == pytest.approx(tuple(expected))


def test_more_than_three_metrics_are_folded(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "pipe.toml").write_text(SCENARIO)
    more = "".join(f'm{i} = {{ table = "flows", column = "timeouts", aggregate = "sum" }}\n' for i in range(3))
    (tmp_path / "more.toml").write_text(EXPERIMENT + more)
    made = page(ecnlab.sweep(tmp_path / "more.toml", tmp_path / "out", workers=1, replicates=1))
    figures = {
        section.name: [one.title for block in section.blocks if isinstance(block, Group) for one in block.figures]
        for section in made.sections
    }
    assert len(figures["effects"]) == len(figures["differences"]) == 3 and len(figures["other-metrics"]) == 6
    assert [section.name for section in made.sections if section.folded] == ["other-metrics", "metrics", "provenance"]
    assert "one replicate: no interval" in made.answer


def test_an_unfinished_sweep_states_how_many_runs_are_missing(sweep: ecnlab.Sweep) -> None:
    flows = sweep.table("flows").collect()
    half = Unfinished({**sweep.manifest, "complete": False, "tables": {}}, 7, 5, flows)
    made = page(half)
    assert "7 of 12 runs are finished and 5 are missing" in made.answer
    rows = {row["group"]: row for row in cells(titled(made, "Groups of flows"))}  # type: ignore[arg-type]
    mean = flows.filter(group="marked")["goodput_bps"].mean()
    assert kbps(rows["marked"]["goodput"]) == pytest.approx(mean / 1e3, rel=0.006)
    assert page(Unfinished(half.manifest, 0, 12, None)).answer.startswith("The sweep is not complete: 0 of 12 runs")
    assert page(Unfinished(half.manifest, 12, 0, None)).answer.startswith("All 12 runs are finished, but")


def test_a_sweep_that_was_interrupted_has_a_page(cli, folder: Path, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(sys.modules["ecnlab.runs.sweep"], "merge", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        ecnlab.sweep(folder / "gain.toml", tmp_path / "half", workers=1)
    part = min((tmp_path / "half" / "parts").glob("*.arrows"))
    lost = len(part_files.ids_in(part.read_bytes()))
    part.unlink()
    made = cli("report", tmp_path / "half", "-o", tmp_path / "half.html")
    assert made.returncode == 0, made.stderr
    assert f"{12 - lost} of 12 runs are finished and {lost} are missing" in (tmp_path / "half.html").read_text()


def test_the_effect_of_the_arms_is_a_finding_for_each_metric(sweep: ecnlab.Sweep) -> None:
    first, second = ARMS
    values = {(arm, p, r): v for arm, p, r, m, v in sweep.metrics.rows() if m == "marked"}
    each = [sum(values[second, p, r] - values[first, p, r] for p in ("low", "high")) / 2 for r in range(3)]
    mean, base = sum(each) / 3, sum(v for (arm, _, _), v in values.items() if arm == first) / 6
    half = T6 * math.sqrt(sum((x - mean) ** 2 for x in each) / 2 / 3)
    (found,) = (one for one in page(sweep).findings if one.statement.startswith("marked: "))
    assert found.answer == ("undecided" if abs(mean) < half else "higher" if mean > 0 else "lower")
    assert found.statement.startswith(f"marked: {second} − {first} = ")
    numbers = [kbps(text) for text in re.findall(r"[+−]?[\d.]+ [kM]?b/s", found.statement + found.evidence)]
    assert numbers == pytest.approx([x / 1e3 for x in (mean, base, mean - half, mean + half)], rel=0.006)
    assert f"({100 * mean / base:.0f} % of" in found.statement.replace("−", "-") or abs(mean / base) < 0.0995
    assert "Mean over 2 points" in found.evidence and "n = 3, one of 3 tests" in found.evidence
