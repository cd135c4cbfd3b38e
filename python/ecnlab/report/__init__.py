"""One self-contained HTML page from analysis tables.

The page makes no request: style, script and figures are inside it. It knows
nothing about any paper; `ecnlab.papers` fills the blocks of `Page`.
"""

from ecnlab.report.figure import Axis, Figure, Point, Series
from ecnlab.report.page import Chart, Finding, Group, Line, Page, Section, Table, render

__all__ = [
    "Axis",
    "Chart",
    "Figure",
    "Finding",
    "Group",
    "Line",
    "Page",
    "Point",
    "Section",
    "Series",
    "Table",
    "render",
]
