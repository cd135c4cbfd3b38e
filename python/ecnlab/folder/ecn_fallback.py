"""Connections that fell back from ECN: a SYN that offered it had no reply in time (RFC 3168 6.1.1.1)."""

from __future__ import annotations

from typing import Final

from ecnlab.base.lazy_imports import pl

NEEDED: Final = {"connections", "ecn_connections", "ecn_fallbacks"}
"""Columns of flows from which it is seen; folders of earlier versions lack them."""


def said(flows: pl.DataFrame) -> str:
    """How many of the connections of ``flows`` fell back, in which groups, and why; "" if none did."""
    fell = (
        flows.filter(pl.col("ecn_fallbacks") > 0) if flows.columns and set(flows.columns) >= NEEDED else flows.clear()
    )
    if fell.is_empty():
        return ""
    groups = fell["group"].unique(maintain_order=True).to_list()
    asked = flows.filter(pl.col("group").is_in(groups))["connections"].sum()
    return (
        f"ECN fell back on {fell['ecn_fallbacks'].sum()} of {asked} connections in {', '.join(groups)}: a SYN that asked "
        "for it was not answered in time, and was sent again without it (RFC 3168 6.1.1.1)"
    )


def shown(flows: pl.DataFrame) -> pl.DataFrame:
    """``flows`` with the column ``ecn`` for people: yes, no, fell back, or mixed."""
    if not set(flows.columns) >= NEEDED or "ecn" not in flows.columns:
        return flows
    some, all_ = pl.col("ecn_connections") > 0, pl.col("ecn_connections") == pl.col("connections")
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
