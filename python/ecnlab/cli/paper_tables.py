"""Tables for a paper: the metrics of a sweep, or the tables of a run, as CSV or LaTeX with units in the header."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from ecnlab.base.lazy_imports import pl
from ecnlab.base.readable import units_of
from ecnlab.base.spread import Scale, in_scale, scale_of

if TYPE_CHECKING:
    from ecnlab.api.sweep import Sweep

Rows = list[list[str]]

ESCAPES: Final = {
    **{one: f"\\{one}" for one in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "±": r"$\pm$",
    "−": "$-$",
    "–": "--",
    "µ": r"\textmu{}",
}
"""Characters that LaTeX would not print as they are."""

MISSING: Final = "–"


def of_sweep(sweep: Sweep) -> tuple[list[str], Rows]:
    """Return header and rows: a row for each arm and point, a column for each metric, cells "mean ± half width".

    A metric has one unit in all rows; it stands in the header. Columns of arms or axes with a single level are left out.
    """
    from ecnlab.results.sweep_data import column_of, factors, metrics, summary_in_order

    keys = factors(sweep)
    summary = summary_in_order(sweep)
    names = metrics(sweep)
    scales = {
        name: scale_of(column_of(sweep, name), summary.filter(metric=name)["mean"].drop_nulls()) for name in names
    }
    points = summary.select(keys).unique(maintain_order=True).rows() if keys else [()]
    found = {(row["metric"], *(row[key] for key in keys)): row for row in summary.iter_rows(named=True)}
    body = [[*map(str, point), *(_mean(found.get((name, *point)), scales[name]) for name in names)] for point in points]
    return [*keys, *(_headed(name, scales[name]) for name in names)], body


def _mean(row: dict[str, Any] | None, scale: Scale) -> str:
    if row is None or row["mean"] is None:
        return MISSING
    return in_scale(Scale(scale.factor), row["mean"], row["low"], row["high"])


def _headed(name: str, scale: Scale) -> str:
    return f"{name} ({scale.unit})" if scale.unit else name


def of_frame(frame: pl.DataFrame) -> tuple[list[str], Rows]:
    """Return header and rows of a stored table: one unit a column, in the header, and three significant digits."""
    head, columns = [], []
    for name in frame.columns:
        values = frame[name]
        if not values.dtype.is_numeric() or not (units_of(name) or values.dtype.is_float()):
            head.append(name)
            columns.append([MISSING if one is None else str(one) for one in values])
            continue
        scale = scale_of(name, (float(one) for one in values.drop_nulls()))
        head.append(_headed(re.sub(r"_(bps|s|bytes)$", "", name) if units_of(name) else name, scale))
        columns.append([_scaled(one, scale) for one in values])
    return head, [list(row) for row in zip(*columns, strict=True)]


def _scaled(one: float | None, scale: Scale) -> str:
    return MISSING if one is None or math.isnan(one) else in_scale(scale, float(one), None, None)


def as_csv(head: Sequence[str], rows: Rows) -> str:
    """Return a table as CSV (RFC 4180, with the line ends of text files); missing values are empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(head)
    writer.writerows([["" if one == MISSING else one.replace("−", "-") for one in row] for row in rows])
    return text.getvalue().rstrip("\n")


def as_latex(head: Sequence[str], rows: Rows) -> str:
    """Return a table as a LaTeX ``tabular`` with the rules of the package booktabs; columns of numbers to the right."""
    right = [all(re.match(r"[(−–]?\d|−?inf|–$", row[i]) for row in rows) for i in range(len(head))]
    lines = [
        r"% \usepackage{booktabs}",
        rf"\begin{{tabular}}{{{''.join('r' if one else 'l' for one in right)}}}",
        r"\toprule",
        _line(head),
        r"\midrule",
        *map(_line, rows),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines)


def _line(cells: Sequence[str]) -> str:
    return " & ".join("".join(ESCAPES.get(one, one) for one in cell) for cell in cells) + r" \\"
