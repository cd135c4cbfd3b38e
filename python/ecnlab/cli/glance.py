"""Summaries of a run or a sweep."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from ecnlab.base.lazy_imports import pl
from ecnlab.cli import console
from ecnlab.cli.console import late
from ecnlab.engines.protocol import MODEL
from ecnlab.folder import completion, congestion
from ecnlab.folder.columns import PREDICTION
from ecnlab.folder.ecn_fallback import fallbacks, refused, shown
from ecnlab.folder.ecn_verdict import WORDS, of_run
from ecnlab.folder.few_samples import needed, sojourns_of, with_remarks

if TYPE_CHECKING:
    from ecnlab.api.run import Run
    from ecnlab.api.sweep import Sweep
    from ecnlab.results.unfinished import Unfinished

QUANTILES: Final = ["sojourn_p50_s", "sojourn_p95_s", "sojourn_p99_s", "sojourn_p999_s"]

BRIEF: Final = {
    "links": ["link", "utilisation", "queue_mean_packets", "sojourn_mean_s", "lost", "delivered", *QUANTILES],
    "queues": ["link", "group", "arrived", "marks", "early_drops", "forced_drops", "tail_drops", "departed"],
    "classes": ["link", "class", "departed", "marks", "dropped", "sojourn_mean_s", *QUANTILES],
    "sojourns": ["link", "group", "departed", "sojourn_mean_s", *QUANTILES],
    "flows": ["name", "group", "ecn", "goodput_bps", "retransmits", "timeouts", "ecn_reductions", "rtt_mean_s"],
}
"""Columns in the summary of a run, as far as recorded; ``show --table`` shows all."""

ALL: Final = 10**9
"""Rows of ``--all``."""

MORE: Final = "`ecnlab show --all` shows them"


def brief(result: Run) -> dict[str, list[str]]:
    """Return the summary of a run: columns by table."""
    return {"prediction": list(PREDICTION)} if result.manifest["engine"] == MODEL else BRIEF


def show_run(result: Run, rows: int) -> None:
    """Print the description of a run, and the tables of `BRIEF`."""
    manifest = result.manifest
    made = manifest["ecnlab"]
    how = manifest["engine"] + ("" if manifest["seed"] is None else f", seed {manifest['seed']}")
    console.say_filled(f"{manifest['title']}: {how}, spec {manifest['spec_hash'][:12]}")
    console.say_filled(f"ecnlab {made['version']} ({made['commit'] or made['build']}), {manifest['wall']['seconds']} s")
    console.say("")
    for name, chosen in brief_frames(result):
        if name == "flows":
            means = group_means(result.table(name))
            if means.height < chosen.height:
                console.write_frame(means, "group means", rows, more=MORE)
            if chosen.height > rows:
                console.say(f"flows: {chosen.height} ({MORE})\n")
                continue
        console.write_frame(_remarked(result, chosen), name, rows, more=MORE)
    _show_completion(result, rows)
    if "flows" in result.tables and (fell := fallbacks(result.table("flows"))):
        console.say_filled(fell)
    if "flows" in result.tables:
        for sentence in refused(result.table("flows"), manifest["spec"]):
            console.say_filled(sentence)
    for verdict in of_run(result):
        console.say_verdict(f"{WORDS[verdict.severity]}:", verdict.sentence, verdict.severity)
    _show_substituted(manifest)
    if found := manifest.get("evidence"):
        console.say_filled("evidence: " + ("" if found["ok"] else "NOT, ") + late(found))


def brief_frames(result: Run) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield the tables of a run's summary by name, with the columns of `brief` that have been recorded."""
    links = result.table("links") if "links" in result.tables else None
    for name, columns in brief(result).items():
        if name in result.tables:
            table = result.table(name)
            table = shown(table) if name == "flows" else table
            there = (column for column in columns if column in table.columns)
            yield name, _recorded(congestion.busiest_first(table, links).select(there))


def _remarked(result: Run, table: pl.DataFrame) -> pl.DataFrame:
    """Return ``table`` with the number of samples next to quantiles of too few."""
    if not any(needed(name) for name in table.columns):
        return table
    queues = result.table("queues") if "queues" in result.tables else None
    return with_remarks(table, sojourns_of(table, queues))


def _show_completion(result: Run, rows: int) -> None:
    """Print quantiles of the completion times of transactions, if any ended in the measurement window."""
    if "transactions" not in result.tables:
        return
    times = completion.of_transactions(result.scan("transactions"))
    if times.height:
        console.write_frame(with_remarks(times, times["completed"]), "completion", rows, more=MORE)


def group_means(flows: pl.DataFrame) -> pl.DataFrame:
    """Return the number of flows of each group, and the means of the `BRIEF` columns."""
    return congestion.group_means(flows, BRIEF["flows"])


def _recorded(table: pl.DataFrame) -> pl.DataFrame:
    """``table`` without quantiles where no queue kept them."""
    return table.drop(name for name in QUANTILES if name in table.columns and table[name].null_count() == table.height)


def fallen(result: Sweep) -> str:
    """Return the text of `fallbacks` for all runs of a sweep."""
    return fallbacks(result.table("flows").collect()) if "flows" in result.tables else ""


def show_sweep(result: Sweep, rows: int) -> None:
    """Print the number of runs, the metrics, and the answers of a sweep that stopped when decided."""
    console.say_filled(f"{result.manifest['title']}: {result.runs.height} runs, tables {', '.join(result.tables)}")
    console.say("")
    console.write_frame(metrics_frame(result), metrics_title(result), rows)
    for sentence in absent(result):
        console.say_filled(sentence)
    if fell := fallen(result):
        console.say_filled(fell)
    _show_substituted(result.manifest)
    console.say_filled(sweep_answer(result))
    if "stop" in result.manifest and not result.chosen:
        _show_answers(result, rows)


def _show_answers(result: Sweep, rows: int) -> None:
    """Print the answers in the manifest of `sweep_until`, and the number of inconclusive ones."""
    from ecnlab.results.sweep_data import spread_of  # loads the stages

    found = result.manifest["stop"]["answers"]
    columns = {
        "question": [one["until"] for one in found],
        **{name: [one[name] for one in found] for name in ("arm", *result.axes) if any(one[name] for one in found)},
        "answer": [f"{one['answer']} ({one['reason']})" if one["reason"] else one["answer"] for one in found],
        "mean": [spread_of(result, one["metric"], one["mean"], one["low"], one["high"]) for one in found],
        "n": [one["n"] for one in found],
    }
    title = "answers (mean with the 95 % interval that stays valid under repeated looks, over n replicates)"
    console.write_frame(pl.DataFrame(columns), title, rows)
    open_ = sum(one["answer"] == "inconclusive" for one in found)
    console.say_filled(
        f"{len(found) - open_} of {len(found)} decided with {result.manifest['replicates']} replicates, {open_} inconclusive"
    )


def metrics_frame(result: Sweep) -> pl.DataFrame:
    """Return a row for each arm, point and metric: the mean with the half width of its interval, and the replicates ``n``."""
    from ecnlab.results.sweep_data import factors, spread_of, summary_in_order  # loads the stages
    from ecnlab.results.sweep_samples import remarks

    summary = summary_in_order(result)
    keys = ["metric", "arm", *result.axes]
    few = remarks(result)
    values = [
        "no value" if mean is None else spread_of(result, key[0], mean, low, high) + few.get(key, "")
        for (mean, low, high), key in zip(
            summary.select("mean", "low", "high").rows(), summary.select(keys).rows(), strict=True
        )
    ]
    return summary.select(*factors(result), "metric", pl.Series("mean", values, dtype=pl.String), "n")


def metrics_title(result: Sweep) -> str:
    """Return the title of the metrics: the meaning of "±", or that one replicate has no interval."""
    if result.manifest["replicates"] < 2:
        return "metrics (one replicate: no interval)"
    return "metrics (mean ± half width of the 95 % interval over n replicates)"


def absent(result: Sweep) -> list[str]:
    """Return a sentence for each metric that has no value with an arm or a level of an axis, or in no run."""
    from ecnlab.results.sweep_data import metrics, without_values

    there = metrics(result)
    found = [f"{metric}: no value in any run" for metric in result.manifest["metrics"] if metric not in there]
    parts = ((metric, ", ".join(without_values(result, metric))) for metric in there)
    return found + [f"{metric}: no value with {names}" for metric, names in parts if names]


def sweep_answer(result: Sweep) -> str:
    """Return the sentence with which the page of a sweep starts."""
    from ecnlab.stages.sweep_summary import answer

    return answer(result)


def _show_substituted(manifest: Mapping[str, Any]) -> None:
    """Print each value of the scenario that the engine replaced by its own. Folders of old versions may lack the list."""
    for entry in manifest.get("instead", []):
        console.say_filled(console.substituted(entry))


def show_unfinished(result: Unfinished, rows: int) -> None:
    """Print the numbers of finished and missing runs, and the means of the finished runs' flows."""
    all_ = result.finished + result.missing
    console.say_filled(
        f"{result.manifest['title']}: not complete, {result.finished} of {all_} runs are finished, "
        f"{result.missing} are missing: the command that began the sweep continues it"
    )
    console.say("")
    if result.flows is not None:
        console.write_frame(group_means(result.flows), "group means of the finished runs", rows, more=MORE)


def unfinished_summary(result: Unfinished) -> dict[str, Any]:
    """Return the ``--json`` output for an incomplete sweep."""
    means = [] if result.flows is None else group_means(result.flows).to_dicts()
    return {
        "manifest": result.manifest,
        "finished": result.finished,
        "missing": result.missing,
        "group_means": means,
    }


def sweep_summary(result: Sweep) -> dict[str, Any]:
    """Return the ``--json`` output for a sweep."""
    return {
        "folder": str(result.folder),
        "manifest": result.manifest,
        "runs": result.runs.height,
        "metrics": result.summary().to_dicts(),
        "answer": sweep_answer(result),
        "ecn_fallback": fallen(result),
    }
