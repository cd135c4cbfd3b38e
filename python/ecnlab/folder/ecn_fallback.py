"""Connections that do not use the ECN feedback that an end requested.

A SYN that offered ECN had no reply in time (RFC 3168 6.1.1.1), or the peer has no ECN or another feedback scheme.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ecnlab import laws
from ecnlab.base.lazy_imports import pl

NEEDED: Final = {"connections", "ecn_connections", "ecn_fallbacks"}
"""Columns of flows from which it is seen; folders of earlier versions lack them."""

OFF: Final = "off"
ACCURATE: Final = "RFC 9768"
"""Source of the schemes that fall back to RFC 3168 if the peer does not have it."""


def fallbacks(flows: pl.DataFrame) -> str:
    """How many of the connections of ``flows`` fell back, in which groups, and why; "" if none did."""
    fell = (
        flows.filter(pl.col("ecn_fallbacks") > 0) if flows.columns and set(flows.columns) >= NEEDED else flows.clear()
    )
    if fell.is_empty():
        return ""
    groups = fell["group"].unique(maintain_order=True).to_list()
    requested = flows.filter(pl.col("group").is_in(groups))["connections"].sum()
    return (
        f"ECN fell back on {fell['ecn_fallbacks'].sum()} of {requested} connections in {', '.join(groups)}: a SYN that asked "
        "for it was not answered in time, and was sent again without it (RFC 3168 6.1.1.1)"
    )


def refused(flows: pl.DataFrame, spec: Mapping[str, Any]) -> list[str]:
    """One sentence for each flow table of the resolved scenario ``spec`` whose ends have different ECN feedback.

    Where an end has none, it has the number of connections of ``flows`` without ECN; a run that used ECN nevertheless,
    or has no connections, has no such sentence.
    """
    found = [_differing(name, flow, flows, spec["tcp"]) for name, flow in spec["flow"].items() if "tcp_from" in flow]
    return [sentence for sentence in found if sentence]


def _differing(name: str, flow: Mapping[str, Any], flows: pl.DataFrame, tcps: Mapping[str, Any]) -> str:
    kinds = {side: tcps[flow[side]]["ecn"] for side in ("tcp_from", "tcp_to")}
    if len(set(kinds.values())) == 1 or flow.get("count") == 0 or not set(flows.columns) >= NEEDED:
        return ""
    ends = [f'"{kind}" (tcp.{flow[side]})' for side, kind in kinds.items()]
    which = f"the ends have ecn = {' and '.join(ends)}"
    if OFF in kinds.values():
        own = flows.filter(pl.col("group") == flow["group"]) if "group" in flow else flows
        all_, capable = (int(own[column].sum()) for column in (_complete(own), "ecn_connections"))
        if capable < all_:
            return f"ECN was refused on {all_ - capable} of {all_} connections in {flow['group']}: {which}"
    accepted = {tcps[flow[side]].get("ecn_accepts", OFF) if kind == OFF else kind for side, kind in kinds.items()}
    # Schemes of one source understand each other.
    sources = {laws.facts("ecn", kind)["reference"].partition(";")[0] for kind in accepted - {OFF}}
    if len(sources) == 1:
        return ""
    falls = "; AccECN falls back to RFC 3168 (RFC 9768 3.1.2)" if ACCURATE in sources else ""
    return f"ECN feedback differs between the ends of {name}: {which}{falls}"


def _complete(flows: pl.DataFrame) -> str:
    """The column with the connections on which ECN was decided; folders of earlier versions have only those opened."""
    return "connections_established" if "connections_established" in flows.columns else "connections"


def shown(flows: pl.DataFrame) -> pl.DataFrame:
    """``flows`` with the column ``ecn`` for people: yes, no, fell back, or mixed."""
    if not set(flows.columns) >= NEEDED or "ecn" not in flows.columns:
        return flows
    some, all_ = pl.col("ecn_connections") > 0, pl.col("ecn_connections") == pl.col(_complete(flows))
    word = (
        pl.when(pl.col("connections").is_null() | (pl.col("connections") == 0))
        .then(pl.when(pl.col("ecn")).then(pl.lit("yes")).otherwise(pl.lit("no")))
        .when(some & all_)
        .then(pl.lit("yes"))
        .when(some)
        .then(pl.lit("mixed"))
        .when(pl.col("ecn_fallbacks") > 0)
        .then(pl.lit("fell back"))
        .otherwise(pl.lit("no"))
    )
    return flows.with_columns(ecn=word)
