"""Each example of the gallery runs, and shows what its text states. `make docs` runs the same files with all replicates."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import matplotlib as mpl
import numpy as np
import polars as pl
import pytest
from conftest import imported, kernel_or_skip, mostly_slow
from test_studio import document

import ecnlab

ROOT = Path(__file__).parents[2]
GALLERY = sorted((ROOT / "docs/gallery").glob("plot_*.py"))
LONG = ("accecn_thinning", "bbr_buffers", "bbr3_ecn", "cubic", "delay_and_goodput", "dualpi2", "kernel")
FAST = [path for path in GALLERY if path.stem.removeprefix("plot_") not in LONG]
"""Examples that `make test` runs."""

UNLINKED = ("kernel", "model", "python_law", "square_root")
"""Examples without a link to the studio that do runs: of laws in Python, or of more than two scenarios."""

Names = dict[str, Any]


def means(names: Names, metric: str, by: str = "arm") -> dict[str, float]:
    """The mean of ``metric`` by arm or point of an axis."""
    table = names["sweep"].metrics.filter(metric=metric).group_by(by).agg(pl.col("value").mean())
    return dict(zip(table[by], table["value"], strict=True))


def lines(names: Names) -> list[Any]:
    """The lines of a picture by Matplotlib."""
    return list(names["figure"].axes[0].lines)


def numbers(names: Names) -> list[float]:
    """The first number in the name of each line."""
    return [float(re.search(r"[\d.]+", line.get_label().partition(":")[2])[0]) for line in lines(names)]


def near(found: Any, wanted: Any, share: float) -> bool:
    """Whether all values are within ``share`` of the wanted ones."""
    return bool(np.all(np.abs(np.asarray(found) / np.asarray(wanted) - 1) < share))


def falls(values: list[float]) -> bool:
    return all(first > second for first, second in pairwise(values))


def accecn(names: Names) -> bool:
    table = names["sweep"].metrics.filter(metric="accuracy", loss="0.4").group_by("arm").agg(pl.col("value").mean())
    found = dict(zip(table["arm"], table["value"], strict=True))
    return abs(found["RFC 8257"] - 1) > abs(found["AccECN"] - 1)


def isolated(names: Names) -> bool:
    delays = names["run"].table("sojourns").filter(link="bottleneck").sort("sojourn_p99_s")
    return delays["group"].first() == "voice"


def longest(names: Names) -> bool:
    figure = names["figure"]
    rows = figure.data().group_by("series").agg(pl.col(figure.x).mean()).sort(figure.x)
    return "drop-tail" in rows["series"].last()


def answered(names: Names) -> bool:
    share = means(names, "share")
    return share["ignored"] > 0.75 and abs(share["loss"] - share["no ECN"]) < 0.15


def filled(names: Names) -> bool:
    """Six seconds after the fall Prague's RTT is long, and that of the sender that halves is not."""
    prague, halving = (np.asarray(line.get_ydata())[line.get_xdata() > 16] for line in lines(names))
    return bool(prague[:40].min() > 2 > 0.5 > halving.max())


STATED: dict[str, Callable[[Names], bool]] = {
    "accecn_thinning": accecn,
    "aimd": lambda names: names["share"] > 0.9,
    "bbr_buffers": lambda names: (
        means(names, "share", "buffer")["9 packets"] > 0.8 and means(names, "share", "buffer")["140 packets"] < 0.6
    ),
    "bbr3_ecn": answered,
    "bleaching": lambda names: names["free"] > 3 * names["marked"],
    "changing_rate": filled,
    "codel": lambda names: near(names["gaps"][:100], 100 / np.sqrt(names["count"][:100]), 0.1),
    "cubic": lambda names: numbers(names)[0] < numbers(names)[1],
    "dctcp": lambda names: np.std(lines(names)[1].get_ydata()) < np.std(lines(names)[0].get_ydata()) / 2,
    "delay_and_goodput": longest,
    "dualpi2": lambda names: (
        means(names, "ratio", "rate")["10 Mbps"] < 0.6 < 1.1 < means(names, "ratio", "rate")["80 Mbps"]
    ),
    "firewall": lambda names: (
        names["run"].flows["ecn_fallbacks"].sum() > 0
        and names["run"].transactions.filter(measured=True)["latency_s"].max() > 1
    ),
    "fq_codel": isolated,
    "kernel": lambda names: near(names["kernel"], names["simulator"], 0.06),
    "hystart": lambda names: numbers(names)[1] < numbers(names)[0],
    "model": lambda names: (
        near(lines(names)[1].get_ydata()[:4], lines(names)[0].get_ydata()[:4], 0.15)
        and min(lines(names)[1].get_ydata()[4:] / lines(names)[0].get_ydata()[4:]) > 1.15
    ),
    "parking_lot": lambda names: names["long"] < 1,
    "pie": lambda names: abs(names["share"] - 1 / 6) < 0.02 and names["last"]["pie_p"].mean() > 0.2,
    "protection": lambda names: lines(names)[0].get_xdata()[-1] < lines(names)[1].get_xdata()[-1] / 3,
    "python_law": lambda names: names["mean"] < 20,
    "red_average": lambda names: names["steady"]["average_packets"].std() < names["steady"]["packets"].std(),
    "rtt_unfairness": lambda names: names["slope"] < -0.7,
    "short_transfers": lambda names: means(names, "p90")["marks"] < means(names, "p90")["drops"] / 2,
    "square_root": lambda names: near(names["rates"][:5], names["model"][:5], 0.2),
    "thresholds": lambda names: falls(names["figure"].data()[names["figure"].y][::-1].to_list()),
    "tunnel": lambda names: (
        means(names, "queue")["RFC 2003"] > 2 * means(names, "queue")["RFC 6040"]
        and means(names, "retransmits")["RFC 6040"] == 0
    ),
    "vegas": lambda names: (
        np.mean(lines(names)[1].get_ydata()[150:]) < 10 < 20 < np.mean(lines(names)[0].get_ydata()[150:])
    ),
    "violations": lambda names: names["found"]["packets"].min() > 0 and names["found"].height == 3,
}
"""What the text of each example states, of the variables that the example leaves."""


@pytest.fixture(scope="module")
def links() -> ModuleType:
    """The part of the site that notes the runs of examples, and links them to the studio."""
    return imported(ROOT / "docs/gallery_links.py")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder: an example copies its scenario."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(mpl, "rcParams", mpl.rcParams.copy())
    mpl.use("Agg")
    return tmp_path


@pytest.fixture
def no_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No kernel is built."""
    monkeypatch.setenv("ECNLAB_LINUX", str(tmp_path / "linux"))


def executed(example: Path) -> Names:
    """The variables of ``example`` after it ran with two replicates."""
    names: Names = {"__name__": "example"}
    code = re.sub(r"replicates=\d+", "replicates=2", example.read_text())
    if "goodput_over_delay" in code:
        code = code.replace("replicates=2", "replicates=3")
    exec(compile(code, str(example), "exec"), names)
    return names


@pytest.mark.parametrize("example", mostly_slow(GALLERY, *FAST), ids=lambda path: path.stem.removeprefix("plot_"))
@pytest.mark.usefixtures("folder", "no_kernel")
def test_the_example_runs_and_shows_what_its_text_states(
    example: Path, links: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ecnlab, "run", ecnlab.run)
    links.start()
    names = executed(example)
    assert names["figure"] is not None
    name = example.stem.removeprefix("plot_")
    assert STATED[name](names)
    end = links.end()
    assert (end is None) == (not links.RUNS or name in UNLINKED)
    if end is not None:
        opened = document(end)
        hashes = [ecnlab.Scenario(name, text).hash for text in opened["arms"]]
        assert (hashes, int(opened["seed"])) == ([scenario.hash for scenario, _ in links.RUNS], links.RUNS[0][1])


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
def test_the_values_of_the_kernel_are_those_of_a_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel_or_skip()
    example = ROOT / "docs/gallery/plot_kernel.py"
    measured = executed(example)
    with monkeypatch.context() as without:
        without.setenv("ECNLAB_LINUX", "/nowhere")
        stored = executed(example)
    # Two machines have other random numbers (docs/linux.md).
    assert near(stored["kernel"], measured["kernel"], 0.05)
    assert near(measured["kernel"], measured["simulator"], 0.06)


def test_every_example_has_a_place_in_the_gallery() -> None:
    hooks = (ROOT / "docs/gallery_hooks.py").read_text()
    order = re.search(r"^ORDER = \((.*?)\)", hooks, re.DOTALL | re.MULTILINE)
    assert order
    assert sorted(re.findall(r"\w+", order[1])) == [path.stem.removeprefix("plot_") for path in GALLERY]


def test_examples_are_short() -> None:
    for example in GALLERY:
        lines = [
            line for line in example.read_text().partition("# %%")[2].splitlines() if line and "import" not in line
        ]
        assert len(lines) <= 20, example
