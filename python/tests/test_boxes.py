"""Boxes that are hostile to ECN: their table, and the packets that captures show before and behind them."""

from __future__ import annotations

import re

import pytest
from conftest import EXPERIMENT

import ecnlab

BOX = """
[box.wall]
{box}

[capture.before]
link = "left"
end = "from"

[capture.behind]
link = "left"
end = "to"
"""


def run(scenario, tmp_path, box):
    """The scenario with a box behind the servers' link: its counters, the traces of both ends, and the marked flows."""
    text = scenario.read_text().replace('to = "r1"\n', 'to = "r1"\nboxes = ["wall"]\n', 1)
    assert "boxes" in text
    scenario.write_text(text + BOX.format(box=box))
    result = ecnlab.run(scenario, seed=1, out=tmp_path / "run")
    [counted] = result.table("boxes_run").to_dicts()
    traces = (ecnlab.trace(tmp_path / "run" / "captures" / f"{name}.pcapng") for name in ("before", "behind"))
    return counted, *traces, [row for row in result.table("flows_run").to_dicts() if row["group"] == "marked"]


def test_captures_show_what_a_box_rewrote(scenario, tmp_path):
    counted, before, behind, marked = run(scenario, tmp_path, 'rewrite = { ect0 = "not-ect" }')
    assert counted["connections"] == counted["connections_concerned"] == 2
    assert counted["packets"] == counted["concerned"] > counted["rewritten"] > 100
    # At the end some are on the link.
    assert 0 <= before.directions["ect0"].sum() - counted["rewritten"] < 50
    assert behind.directions["ect0"].sum() == 0
    assert [row["ecn"] for row in marked] == [True]


def test_captures_show_the_reset_of_a_box_and_not_the_syn_that_it_dropped(scenario, tmp_path):
    counted, before, behind, marked = run(scenario, tmp_path, 'syn = "reset"')
    assert (counted["dropped"], counted["resets"]) == (1, 1)
    assert [row["bytes_delivered"] for row in marked] == [0]
    assert [before.connections["syn"].sum(), behind.connections["syn"].sum()] == [2, 1]
    assert [trace.directions["rst"].sum() for trace in (before, behind)] == [1, 1]


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ('table = "packets", aggregate = "count", where = { event = "drop_box", link = "left" }', None),
        ('table = "boxes_run", column = "dropped", where = { link = "left", box = "wall" }', None),
        ('table = "boxes", column = "dropped", where = { box = "wal" }', "did you mean `wall`?"),
        ('table = "boxes", column = "dropped", where = { link = "lft" }', "did you mean `left`?"),
        ('table = "boxes", column = "box"', "holds names, not numbers"),
    ],
)
def test_metrics_of_boxes_are_checked_by_their_names(scenario, experiment, tmp_path, where, said):
    run(scenario, tmp_path, 'syn = "drop"')
    mean = 'marked = { table = "flows", column = "goodput_bps", where = { group = "marked" }, aggregate = "mean" }'
    experiment.write_text(EXPERIMENT.replace(mean, f"marked = {{ {where} }}"))
    if said is None:
        found = ecnlab.sweep(experiment, tmp_path / "sweep", replicates=1).metrics.filter(metric="marked")
        assert found["value"].min() > 0
    else:
        with pytest.raises(ecnlab.SpecError, match=re.escape(said)):
            ecnlab.check(experiment)


def test_scenarios_without_boxes_are_as_they_were(scenario):
    plain = ecnlab.run(scenario, seed=1)
    assert "box" not in plain.manifest["spec"]
    assert all("boxes" not in link for link in plain.manifest["spec"]["link"].values())
    with pytest.raises(ecnlab.EcnlabError):
        plain.table("boxes")


def test_the_models_refuse_boxes(scenario):
    text = scenario.read_text().replace('to = "r1"\n', 'to = "r1"\nboxes = ["wall"]\n', 1)
    scenario.write_text(text + '\n[box.wall]\nsyn = "drop"\n')
    with pytest.raises((ecnlab.EcnlabError, ecnlab.SpecError), match="has boxes"):
        ecnlab.run(scenario, engine="model")
