"""Verdict on ECN for each group of flows of a simulated run: are marks of the queues received and answered."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol

from ecnlab import laws
from ecnlab.base.lazy_imports import pl
from ecnlab.engines.protocol import PACKETS

FEW: Final = 10
"""Minimum number of marks for a red verdict."""

ENOUGH: Final = 100
"""Minimum number of data packets at a link that shows whether ECT arrives there."""

DATA_BYTES: Final = 400
"""Minimum mean size, in bytes, of the packets of a direction with data; ACKs are smaller."""

FLOWS: Final = {"group", "ecn_connections", "ce_received", "ecn_reductions", "data_segments_sent"}
QUEUES: Final = {"link", "group", "marks", "arrived", "arrived_bytes", "arrived_ect"}


@dataclass(frozen=True)
class GroupVerdict:
    """The verdict on one group, or with the name "" on the run."""

    group: str
    severity: Literal["ok", "none", "warning", "problem"]
    summary: str
    """What happened to the marks, with their number."""

    @property
    def sentence(self) -> str:
        """The group, if it is on one, and what happened."""
        summary = self.summary.removeprefix("works: ")
        return f"{self.group}: {summary}" if self.group else summary


WORDS: Final = {"ok": "ECN works", "none": "ECN", "warning": "ECN WARNING", "problem": "ECN PROBLEM"}
"""What a verdict begins with, by its severity."""


class Tables(Protocol):
    """A run with its manifest and tables."""

    @property
    def manifest(self) -> Mapping[str, Any]:
        """The manifest."""

    @property
    def tables(self) -> Collection[str]:
        """Names of the tables."""

    def table(self, name: str) -> pl.DataFrame:
        """Return a table."""


def of_run(run: Tables) -> list[GroupVerdict]:
    """Return the verdicts on the groups of ``run``; of other engines, which do not count reductions, one on all others."""
    if not {"flows_run", "queues_run"} <= set(run.tables):
        return []
    flows, queues, spec = run.table("flows_run"), run.table("queues_run"), run.manifest["spec"]
    if run.manifest["engine"] == PACKETS:
        return [*_unused(spec, flows), *of_groups(flows, queues, _ignoring(spec))]
    ignoring = of_groups(flows, queues, _ignoring(spec), reductions=False)
    return [*_unused(spec, flows), *ignoring, *_of_counts(flows, queues)]


def _of_counts(flows: pl.DataFrame, queues: pl.DataFrame) -> list[GroupVerdict]:
    """Return whether marks arrive in a run without counts of reductions; nothing without marks or counts of them."""
    marks, received = queues.filter(pl.col("group") == "all")["marks"].sum(), flows["ce_received"].sum()
    if marks >= FEW and not received:
        return [GroupVerdict("", "problem", f"{marks:,} marks at queues, and no packet was received with CE")]
    if not (marks and received):
        return []
    return [
        GroupVerdict(
            "", "none", f"{marks:,} marks at queues, {received:,} received with CE; reductions are not counted"
        )
    ]


def _unused(spec: Mapping[str, Any], flows: pl.DataFrame) -> list[GroupVerdict]:
    """Return a verdict on a run whose queues would mark packets and whose flows have no ECN."""
    if "ecn" not in flows.columns or flows["ecn"].any():
        return []
    names = {side["queue"] for link in spec["link"].values() for side in (link, link.get("reverse", link))}
    marking = [name for name in sorted(names) if spec["queue"][name].get("ecn")]
    verdict = "no flow uses ECN: nothing was marked by the queues that can mark, " + ", ".join(marking)
    return [GroupVerdict("", "warning", verdict)] if marking else []


def _ignoring(spec: Mapping[str, Any]) -> dict[str, str]:
    """Return the window laws that ignore marks, by the groups that have no other."""
    of: dict[str, set[str]] = {}
    for flow in spec["flow"].values():
        if "tcp_from" in flow:
            law = spec["tcp"][flow["tcp_from"]]["congestion"]
            of.setdefault(flow["group"], set()).add(law if isinstance(law, str) else law.get("kind", ""))
    ignored = {
        name for laws_ in of.values() for name in laws_ if laws.facts("congestion", name).get("marks") == "ignored"
    }
    return {group: min(names) for group, names in of.items() if names <= ignored}


def of_groups(
    flows: pl.DataFrame, queues: pl.DataFrame, ignoring: Mapping[str, str], *, reductions: bool = True
) -> list[GroupVerdict]:
    """Return a verdict for each group of ``flows`` with ECN, where the counts of ``queues`` allow one.

    ``ignoring`` has the window laws that ignore marks, by group. Without counts of ``reductions`` only these groups have one.
    """
    if not (set(flows.columns) >= FLOWS and set(queues.columns) >= QUEUES):
        return []
    sums = flows.group_by("group", maintain_order=True).agg(pl.col(sorted(FLOWS - {"group"})).sum())
    found = []
    for row in sums.filter(pl.col("ecn_connections") > 0).iter_rows(named=True):
        law = ignoring.get(row["group"])
        if not (law or reductions):
            continue
        verdict = _ignored(row, law) if law else _judged(row, queues.filter(pl.col("group") == row["group"]))
        if verdict:
            found.append(GroupVerdict(row["group"], *verdict))
    return found


def _ignored(row: dict[str, Any], law: str) -> tuple[Literal["problem"], str] | None:
    """Return the verdict on a group whose window law ignores marks; none if it received few."""
    received, sent = row["ce_received"], row["data_segments_sent"]
    if received < FEW:
        return None
    share = f" ({100 * received / sent:.2g} % of the data packets)" if sent else ""
    return (
        "problem",
        f"{laws.label('congestion', law)} ignores marks: {received:,} packets{share} were received with CE, and nothing slowed it",
    )


def _judged(row: dict[str, Any], queues: pl.DataFrame) -> tuple[Literal["ok", "problem"], str] | None:
    marks, received, answers = int(queues["marks"].sum()), row["ce_received"], row["ecn_reductions"]
    if marks and received and answers:
        return "ok", f"works: {marks:,} marks at queues, {received:,} received with CE, {answers:,} reductions"
    if marks >= FEW and not received:
        return "problem", f"{marks:,} marks at queues, and no packet was received with CE: it is erased on the path"
    if received >= FEW and not answers:
        return (
            "problem",
            f"{received:,} packets were received with CE, and the senders did not reduce: not echoed or not answered",
        )
    return None if marks else _erased(queues)


def _erased(queues: pl.DataFrame) -> tuple[Literal["problem"], str] | None:
    """Return the verdict where ECT leaves one link and does not arrive at another."""
    data = queues.filter(pl.col("arrived") >= ENOUGH, pl.col("arrived_bytes") >= DATA_BYTES * pl.col("arrived"))
    capable, without = data.filter(pl.col("arrived_ect") > 0), data.filter(pl.col("arrived_ect") == 0)
    if capable.is_empty() or without.is_empty():
        return None
    first, other = (part.row(0, named=True) for part in (capable, without))
    return "problem", (
        f"{first['arrived_ect']:,} packets with ECT at {first['link']}, none of {other['arrived']:,} at {other['link']}: "
        "the path erases ECT"
    )
