"""A run or a sweep at a glance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ecnlab import console
from ecnlab.columns import PREDICTION
from ecnlab.console import late
from ecnlab.engines import MODEL
from ecnlab.fallback import said, shown
from ecnlab.later import pl
from ecnlab.run import Run
from ecnlab.sweep import Sweep

QUANTILES: Final = ["sojourn_p50_s", "sojourn_p95_s", "sojourn_p99_s", "sojourn_p999_s"]

BRIEF: Final = {
    "flows": ["name", "group", "ecn", "goodput_bps", "retransmits", "timeouts", "ecn_reductions", "rtt_mean_s"],
    "queues": ["link", "group", "arrived", "departed", "marks", "early_drops", "forced_drops", "tail_drops"],
    "links": ["link", "utilisation", "delivered", "lost", "queue_mean_packets", "sojourn_mean_s", *QUANTILES],
    "classes": ["link", "class", "departed", "marks", "dropped", "sojourn_mean_s", *QUANTILES],
    "sojourns": ["link", "group", "departed", "sojourn_mean_s", *QUANTILES],
}
"""What to show of a run at a glance, as far as it was recorded; ``show --table`` shows all."""


def brief(result: Run) -> dict[str, list[str]]:
    """What to show of a run at a glance: columns by table."""
    return {"prediction": list(PREDICTION)} if result.manifest["engine"] == MODEL else BRIEF


def show_run(result: Run, rows: int) -> None:
    """Print who answered what, and the tables of `BRIEF`."""
    manifest = result.manifest
    made = manifest["ecnlab"]
    how = manifest["engine"] + ("" if manifest["seed"] is None else f", seed {manifest['seed']}")
    console.say(f"{manifest['title']}: {how}, spec {manifest['spec_hash'][:12]}")
    console.say(f"ecnlab {made['version']} ({made['commit'] or made['build']}), {manifest['wall']['seconds']} s\n")
    for name, columns in brief(result).items():
        if name not in result.tables:
            continue
        table = shown(result.table(name)) if name == "flows" else result.table(name)
        console.write_frame(
            _recorded(table.select(column for column in columns if column in table.columns)), name, rows
        )
    if "flows" in result.tables and (fell := said(result.table("flows"))):
        console.say(fell)
    _show_substituted(manifest)
    if found := manifest.get("evidence"):
        console.say("evidence: " + ("" if found["ok"] else "NOT, ") + late(found))


def _recorded(table: pl.DataFrame) -> pl.DataFrame:
    """``table`` without quantiles where no queue kept them."""
    return table.drop(name for name in QUANTILES if name in table.columns and table[name].null_count() == table.height)


def fallen(result: Sweep) -> str:
    """What `said` says of all runs of a sweep."""
    return said(result.table("flows").collect()) if "flows" in result.tables else ""


def show_sweep(result: Sweep, rows: int) -> None:
    """Print how many runs there are, and the metrics."""
    console.say(f"{result.manifest['title']}: {result.runs.height} runs, tables {', '.join(result.tables)}\n")
    console.write_frame(result.summary(), "metrics", rows)
    if fell := fallen(result):
        console.say(fell)
    _show_substituted(result.manifest)


def _show_substituted(manifest: Mapping[str, Any]) -> None:
    """Print each value of the scenario that the engine replaced by its own; folders of old versions may not have any."""
    for entry in manifest.get("instead", []):
        console.say(console.substituted(entry))


def sweep_summary(result: Sweep) -> dict[str, Any]:
    """What ``--json`` says of a sweep."""
    return {
        "folder": str(result.folder),
        "manifest": result.manifest,
        "runs": result.runs.height,
        "metrics": result.summary().to_dicts(),
        "ecn_fallback": fallen(result),
    }
