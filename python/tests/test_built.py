"""Experiments built in Python are those of files."""

from __future__ import annotations

from pathlib import Path

import pytest

import ecnlab
from ecnlab.scenario.files import read_experiment

EXAMPLES = Path(__file__).parents[2] / "examples"


def ids(experiment: ecnlab.Experiment) -> list[str]:
    return [run.id for run in experiment.runs]


def test_it_has_the_runs_of_the_same_file() -> None:
    metrics = {
        "goodput": {"table": "flows", "column": "goodput_bps", "aggregate": "sum"},
        "retransmits": {"table": "flows", "column": "retransmits", "aggregate": "sum"},
        "sent": {"table": "flows", "column": "segments_sent", "aggregate": "sum"},
        "waste": {"ratio": ["retransmits", "sent"]},
    }
    built = ecnlab.experiment(
        EXAMPLES / "dumbbell.toml",
        overrides={"duration": "30 s", "link.bottleneck.delay": "10 ms"},
        grid={
            "flows": {"light": {"flow.bulk.count": 5}, "heavy": {"flow.bulk.count": 20}},
            "max_p": ("queue.red.max_p", [0.02, 0.1, 0.5]),
        },
        arms={"ecn": {}, "plain": {"tcp.default.ecn": "off"}},
        metrics=metrics,
        replicates=5,
    )
    read = read_experiment(EXAMPLES / "gain.toml")
    assert ids(built) == ids(read)
    assert built.axes == read.axes and set(built.metrics) == set(metrics)
    assert [run.point for run in built.runs] == [run.point for run in read.runs]


def test_names_with_quotes_and_dots_stay_whole() -> None:
    built = ecnlab.experiment(
        EXAMPLES / "dumbbell.toml",
        grid={'a "queue".': {'RED, "gentle"': {"queue.red.gentle": True}}},
        metrics={"good.put": {"table": "flows", "column": "goodput_bps", "aggregate": "sum"}},
    )
    assert built.axes == ['a "queue".'] and list(built.metrics) == ["good.put"]
    assert built.runs[0].point == {'a "queue".': 'RED, "gentle"'}


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"grid": {"x": ("queue.red.max_q", [1])}}, ecnlab.SpecError, "max_q"),
        ({"overrides": {"queue.red.max_p": object()}}, ecnlab.EcnlabError, "`set.queue.red.max_p`: object is no value"),
        ({"metrics": {"m": {"table": "flows", "column": "no"}}}, ecnlab.SpecError, "no column of flows is called 'no'"),
        ({"scenario": "missing.toml"}, ecnlab.SpecError, "cannot read `missing.toml`"),
    ],
)
def test_mistakes_are_refused_as_in_a_file(changes, error, message) -> None:
    given = {"metrics": {"n": {"table": "flows", "column": "retransmits", "aggregate": "sum"}}, **changes}
    with pytest.raises(error, match=message):
        ecnlab.experiment(given.pop("scenario", EXAMPLES / "dumbbell.toml"), **given)


def test_three_queues_with_p99_and_intervals_to_svg(tmp_path: Path, monkeypatch) -> None:
    """The task of docs/plots.md in its lines: twenty seeds, three queues, p99 with intervals as SVG."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dumbbell.toml").write_text((EXAMPLES / "dumbbell.toml").read_text())
    script = (Path(__file__).parents[2] / "docs" / "plots.md").read_text()
    (block,) = (part.split("```")[0] for part in script.split("```python\n")[1:] if "ecnlab.experiment(" in part)
    assert len(block.strip().splitlines()) <= 15
    exec(compile(block.replace("replicates=20", "replicates=2"), "plots.md", "exec"), {})
    svg = (tmp_path / "p99.svg").read_text()
    assert all(name in svg for name in ("codel", "fq_codel", "pie", "p99"))
