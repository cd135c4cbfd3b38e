"""Comparisons of simulator and kernel in READMEs: references to them, and the rows that quoted.json has."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from small_paper import SMALL, add_tables, in_place_of_the_papers

from ecnlab import papers
from ecnlab.base.errors import EcnlabError
from ecnlab.folder import digests
from ecnlab.papers import engine_rows, readme, registry
from ecnlab.papers.judge import Grid
from ecnlab.papers.published import Metric, Published
from ecnlab.papers.quoted import Evidence
from ecnlab.papers.references import fill

GRID = Grid(("queue", "path"), names={"red": "RED"})
# metric, queue, path, simulator, kernel, low, high, neutral, n, verdict
CELLS = [
    ("share", "red", "fast", 0.5, 0.53, -0.06, -0.01, 0.0, 3, "open"),
    ("share", "red", "slow", 0.5, 0.5, -0.06, 0.06, 0.0, 3, "open"),
    ("share", "pie", "slow", 0.5, 0.7, -0.21, -0.19, 0.0, 3, "differs"),
    ("delay", "red", "slow", 10.0, 9.0, 1.1, 1.2, 1.0, 3, "agrees"),
    ("delay", "pie", "slow", 10.0, 9.0, 0.9, 1.3, 1.0, 3, "open"),
    ("delay", "pie", "fast", 10.0, 8.0, 1.2, 1.3, 1.0, 3, "open"),
]
RUN = {
    "linux": {"kernel": "7.3.4"},
    "full": False,
    "experiments": {"a": {"replicates": 3, "runs": 600}, "b": {"replicates": 3, "runs": 72}},
}

FILE = Path("README.in.md")


@pytest.fixture
def evidence() -> Evidence:
    metrics = {"share": Metric("share of it", "", "mean"), "delay": Metric("delay, ms", "", "mean")}
    cells = pl.DataFrame(CELLS, schema=engine_rows.schema(GRID), orient="row")
    return Evidence(Published("P", "t", "a", "d", metrics, (), ()), GRID, {"engines": cells}, {"kernel": RUN})


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ('{{ engines() }}: {{ engines("agrees") }}, {{ engines("differs") }}, {{ engines("open") }}', "6: 1, 1, 4"),
        (
            '{{ agreement("share", queue="red") }}; {{ agreement("delay", queue=["pie", "red"]) }}',
            "0 / 2 / 0; 1 / 2 / 0",
        ),
        ('{{ engines(queue="pie", path="slow") }}', "2"),
        ('{{ engines("differs").listed }}', "share of it: pie, slow (0.500, 0.700)"),
        ('{{ engines("open").clear }}', "2"),
        ('{{ engines("open").listed }}', "share of it: RED, fast (0.500, 0.530); delay, ms: pie, fast (10.0, 8.00)"),
        ('{{ engines("differs", queue="red", path="slow").listed }}', "none"),
        (
            "{% set runs = kernel() %}{{ runs.size }}, {{ runs.seeds }}, {{ runs.version }}, {{ runs.runs }}",
            "quick, 3, 7.3.4, 1,344",
        ),
    ],
)
def test_a_reference_to_comparisons_counts_or_lists_them(evidence, text, filled) -> None:
    assert fill(text, evidence, FILE) == filled


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{{ agreement("sharp") }}', "no metric is called 'sharp'; did you mean 'share'"),
        ('{{ engines(queue="codel") }}', "nothing was compared there"),
        ("{{ kernel().runz }}", "no form is called 'runz'; did you mean 'runs'"),
        ('{{ engines("differ") }}', "no verdict is called 'differ'; did you mean 'differs'"),
    ],
)
def test_a_wrong_reference_to_comparisons_is_an_error(evidence, text, message) -> None:
    with pytest.raises(EcnlabError, match=message):
        fill(text, evidence, FILE)


def test_without_rows_of_the_kernel_a_reference_to_them_is_an_error(evidence) -> None:
    with pytest.raises(EcnlabError, match="no run on the Linux kernel is quoted"):
        fill("{{ engines() }}", replace(evidence, tables={}), FILE)


# --------------------------------------------------------------- quoted.json

TEXT = (
    '# Small\n\n{{ point("goodput", maxp=0.1).n }} and {{ engines() }} of {{ kernel().size }} {{ kernel().seeds }}, '
    '{{ point("linux/goodput", variant="kernel", maxp=0.1).n }}\n'
)


def compared(samples: pl.DataFrame, _metrics: Mapping[str, Metric]) -> pl.DataFrame:
    """One open cell per place; its interval has no end."""
    places = samples.select("metric", "maxp").unique(maintain_order=True)
    ends = {"simulator": 1.0, "kernel": 1.0, "low": -math.inf, "high": math.inf, "neutral": 0.0}
    ended = places.with_columns(**{name: pl.lit(value) for name, value in ends.items()})
    return ended.with_columns(n=pl.lit(1, pl.UInt32), verdict=pl.lit("open"))


def with_kernel(out: Path) -> Path:
    """Give the results in ``out`` those of a kernel."""
    read = {name: pl.read_parquet(out / "analysis" / f"{name}.parquet") for name in ("points", "samples")}
    of_kernel = {name: table.with_columns(variant=pl.lit("kernel")) for name, table in read.items()}
    add_tables(out, linux=of_kernel["points"], linux_samples=of_kernel["samples"])
    about = json.loads((out / "results.json").read_text())
    about.pop("digest")
    (out / "results.json").write_bytes(digests.seal(about | {"linux": {"kernel": "9.9"}}))
    return out


@pytest.fixture
def quoted(scenario, tmp_path, monkeypatch) -> Path:
    """The folder of the small paper, whose README is made from a full run without a kernel."""
    small = in_place_of_the_papers(scenario.parent, scenario.read_text(), monkeypatch)
    monkeypatch.setitem(registry.PAPERS, "small", replace(SMALL, on_linux=SMALL.steps, compare=compared))
    papers.reproduce("small", tmp_path / "quick")
    papers.reproduce("small", tmp_path / "full", full=True)
    (small / "README.in.md").write_text('{{ point("goodput", maxp=0.1).n }}\n')
    readme.make("small", tmp_path / "full")
    (small / "README.in.md").write_text(TEXT)
    return small


def test_a_quick_run_gives_the_rows_of_both_engines_and_no_other(quoted, tmp_path) -> None:
    before = json.loads((quoted / "quoted.json").read_text())
    assert readme.make("small", with_kernel(tmp_path / "quick")).read_text().endswith("3 and 2 of quick 2, 2\n")
    after = json.loads((quoted / "quoted.json").read_text())
    assert after["verdicts"] == before["verdicts"] and after["tables"]["points"] == before["tables"]["points"]
    assert after["run"]["kernel"]["linux"] == {"kernel": "9.9"} and after["run"]["linux"] is None
    assert after["tables"]["engines"][0]["low"] is None
    assert readme.make("small").read_text().endswith("3 and 2 of quick 2, 2\n")
    # A full run without a kernel keeps them.
    assert readme.make("small", tmp_path / "full").read_text().endswith("3 and 2 of quick 2, 2\n")
    assert readme.stale(registry.PAPERS["small"], quoted) == []


def test_a_full_run_replaces_the_rows_of_a_quick_one_and_not_the_reverse(quoted, tmp_path) -> None:
    readme.make("small", with_kernel(tmp_path / "quick"))
    assert readme.make("small", with_kernel(tmp_path / "full")).read_text().endswith("3 and 2 of full 3, 3\n")
    with pytest.raises(EcnlabError, match="of the full size: the quick size does not replace them"):
        readme.make("small", tmp_path / "quick")


def test_another_row_of_the_kernel_makes_another_readme(quoted, tmp_path) -> None:
    made = readme.make("small", with_kernel(tmp_path / "quick")).read_text()
    held = json.loads((quoted / "quoted.json").read_text())
    held["tables"]["engines"].pop()
    (quoted / "quoted.json").write_text(json.dumps(held))
    paper, published = registry.PAPERS["small"], readme.read_published(quoted)
    assert readme.render(quoted, readme.quoted_evidence(paper, quoted, published)) != made


def test_a_changed_experiment_makes_the_rows_of_the_kernel_stale(quoted, tmp_path) -> None:
    readme.make("small", with_kernel(tmp_path / "quick"))
    text = (quoted / "pipes.toml").read_text()
    (quoted / "pipes.toml").write_text(text.replace("[0.02, 0.1]", "[0.02, 0.2]"))
    assert any("pipes: on the kernel" in line for line in readme.stale(registry.PAPERS["small"], quoted))
    with pytest.raises(EcnlabError, match="pipes is not today's experiment"):
        readme.make("small", tmp_path / "quick")
