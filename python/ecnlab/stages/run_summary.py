"""Summary of a run: one sentence, and what to know before reading its numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ecnlab.base.lazy_imports import pl
from ecnlab.folder.few_samples import remark
from ecnlab.report import Finding
from ecnlab.report.words import counted, share, value
from ecnlab.results.links import busiest
from ecnlab.scenario.links import law_of
from ecnlab.stages.registry import stage

if TYPE_CHECKING:
    from ecnlab.results.run import RunResult

LATE: Final = (
    "Packets were later than the limits of `ecnlab docs linux` (real time), so the numbers are not valid evidence."
)


@stage("answer", of="run")
def answer(run: RunResult) -> str | None:
    """One sentence with the numbers that exist: signals and delay at the bottleneck, utilisation, goodput."""
    if "prediction" in run.tables:
        return _predicted(run.table("prediction"))
    links = busiest(run)
    parts = [] if links.is_empty() else [_queue(run, links.row(0, named=True))]
    if "flows" in run.tables and run.table("flows").height:
        parts.append(goodput(run.table("flows")))
    sentence = "; ".join(part for part in parts if part)
    return f"{sentence[0].upper()}{sentence[1:]}." if sentence else None


def _queue(run: RunResult, row: dict[str, Any]) -> str:
    """Signals, delay and utilisation at the busiest link, whose row of `links` and `queues` is ``row``."""
    sentence = f"{law_of(run.manifest['spec'], row['link'])} at {row['link']} {_signals(row)}"
    if row.get("sojourn_mean_s") is not None:
        p99 = row.get("sojourn_p99_s")
        tail = (
            ""
            if p99 is None
            else f" (99th percentile {value('sojourn_p99_s', p99)}{remark('sojourn_p99_s', row.get('departed'))})"
        )
        sentence += f" at a mean queueing delay of {value('sojourn_mean_s', row['sojourn_mean_s'])}{tail}"
    if row.get("utilisation") is None:
        return sentence
    rate = f" ({value('rate_bps', row['rate_bps'])})" if row.get("rate_bps") else ""
    return f"{sentence}; the link{rate} was {share(row['utilisation'])} utilised"


def _signals(row: dict[str, Any]) -> str:
    """Return the shares of the arrived packets that the queue marked and dropped."""
    if not row.get("arrived"):
        return f"passed {counted(row['delivered'], 'packet')}"
    found = [
        f"{verb} {share(row[column] / row['arrived'])}"
        for verb, column in (("marked", "marks"), ("dropped", "dropped"))
        if row.get(column)
    ]
    return f"{' and '.join(found)} of the packets" if found else "neither marked nor dropped a packet"


def goodput(flows: pl.DataFrame) -> str:
    """Return number, goodput and, where all are of one group, fairness of the flows."""
    from ecnlab.base.stats import jain_index  # loads NumPy

    total = flows["goodput_bps"].sum()
    groups = flows["group"].n_unique()
    of = f" in {groups} groups" if groups > 1 else ""
    fair = ""
    if groups == 1 and flows.height > 1 and total > 0:
        fair = f" (Jain's index {jain_index(flows['goodput_bps'].drop_nulls()):.2f})"
    return f"{counted(flows.height, 'flow')}{of} got {value('goodput_bps', total)} of goodput{fair}"


def _predicted(rows: pl.DataFrame) -> str:
    first = rows.row(0, named=True)
    queue = value("queue_packets", first["queue_packets"])
    flows = int(rows["flows"].sum())
    total = (rows["goodput_bps"] * rows["flows"]).sum()
    return (
        f"The closed forms predict an average queue of {queue} packets and a utilisation of {share(first['utilisation'])} at "
        f"{first['link']}; {counted(flows, 'flow')} would get {value('goodput_bps', total)} of goodput."
    )


@stage("evidence", of="run")
def evidence(run: RunResult) -> Finding | None:
    """State that a run in real time is no valid evidence, if it is not."""
    found = run.manifest.get("evidence")
    if not found or found["ok"]:
        return None
    late = ", ".join(f"{name.removesuffix('_s')} {value('_s', one)}" for name, one in found["error"].items())
    return Finding("Not evidence", "no", LATE, f"Lateness: {late}.")
