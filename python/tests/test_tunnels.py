"""Tunnels: their table, what captures on their links show, and who refuses them."""

from __future__ import annotations

import re

import pytest
from conftest import EXPERIMENT

import ecnlab

TUNNEL = """
[tunnel.vpn]
{keys}

[capture.within]
link = "left"
end = "to"

[capture.behind]
link = "pipe"
end = "from"
"""


def tunnelled(scenario, keys=""):
    """Writes the servers' link of the scenario as a tunnel, in which every packet of ECN-capable hosts is marked."""
    text = scenario.read_text().replace('to = "r1"\n', 'to = "r1"\ntunnel = "vpn"\nboxes = ["marker"]\n', 1)
    assert "tunnel" in text
    scenario.write_text(text + '\n[box.marker]\nrewrite = { ect0 = "ce" }\n' + TUNNEL.format(keys=keys))


def run(scenario, tmp_path, keys):
    """The tunnel's counters, the traces on its link and behind it, and what the queue behind it marked."""
    tunnelled(scenario, keys)
    result = ecnlab.run(scenario, seed=1, out=tmp_path / "run")
    [counted] = result.table("tunnels_run").to_dicts()
    traces = (ecnlab.trace(tmp_path / "run" / "captures" / f"{name}.pcapng") for name in ("within", "behind"))
    [queue] = result.table("queues_run").filter(link="pipe", group="all").to_dicts()
    return counted, *traces, queue["marks"]


def test_captures_show_the_outer_codepoint_on_its_links_and_the_combined_one_behind(scenario, tmp_path):
    counted, within, behind, _ = run(scenario, tmp_path, "")
    marked = within.directions["ce"].sum()
    assert marked == counted["ce_propagated"] > 10
    assert behind.directions["ce"].sum() == marked
    assert counted["dropped"] == counted["ce_discarded"] == counted["dangerous"] == 0


def test_an_egress_of_rfc_2003_takes_the_marks_away(scenario, tmp_path):
    counted, within, behind, marks = run(scenario, tmp_path, 'egress = "rfc2003"')
    assert within.directions["ce"].sum() == counted["ce_discarded"] > 10
    assert behind.directions["ce"].sum() == marks < counted["ce_discarded"]
    # Within, all that was ECT(0) has CE; behind, it is ECT(0) again, but for what this queue marks.
    assert within.directions["ect0"].sum() == 0
    assert behind.directions["ect0"].sum() + marks == counted["ce_discarded"]


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ('table = "packets", aggregate = "count", where = { event = "drop_tunnel", link = "left" }', None),
        ('table = "tunnels_run", column = "dropped", where = { link = "left", tunnel = "vpn" }', None),
        ('table = "tunnels", column = "dropped", where = { tunnel = "vnp" }', "did you mean `vpn`?"),
    ],
)
def test_metrics_of_tunnels_are_checked_by_their_names(scenario, experiment, tmp_path, where, said):
    tunnelled(scenario, 'egress = "rfc3168-limited"')
    mean = 'marked = { table = "flows", column = "goodput_bps", where = { group = "marked" }, aggregate = "mean" }'
    experiment.write_text(EXPERIMENT.replace(mean, f"marked = {{ {where} }}"))
    if said is None:
        found = ecnlab.sweep(experiment, tmp_path / "sweep", replicates=1).metrics.filter(metric="marked")
        assert found["value"].max() > 0
    else:
        with pytest.raises(ecnlab.SpecError, match=re.escape(said)):
            ecnlab.check(experiment)


def test_scenarios_without_tunnels_are_as_they_were(scenario):
    plain = ecnlab.run(scenario, seed=1)
    assert "tunnel" not in plain.manifest["spec"]
    assert all("tunnel" not in link for link in plain.manifest["spec"]["link"].values())
    with pytest.raises(ecnlab.EcnlabError):
        plain.table("tunnels")


def test_the_models_refuse_tunnels(scenario):
    text = scenario.read_text().replace('to = "r1"\n', 'to = "r1"\ntunnel = "vpn"\n', 1)
    scenario.write_text(text + "\n[tunnel.vpn]\n")
    with pytest.raises((ecnlab.EcnlabError, ecnlab.SpecError), match="has tunnel"):
        ecnlab.run(scenario, engine="model")
