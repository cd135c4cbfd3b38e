"""One self-contained HTML page from analysis tables.

The page makes no request: style, figures and script are inside it. It knows
nothing about any paper; `ecnlab.papers` fills the blocks of `Page`.
"""

from ecnlab.report.chart import Chart, Line, Multiples, Rug
from ecnlab.report.figure import Axis, Figure, Point, Series
from ecnlab.report.forest import Distance, Forest
from ecnlab.report.heat import Field, Map, Maps
from ecnlab.report.marks import Mark, Marks
from ecnlab.report.page import Finding, Group, Page, Section, Table, Tally, render
from ecnlab.report.rows import Row, Rows
from ecnlab.report.scatter import Cloud, Scatter
from ecnlab.report.strips import Strip, Strips
from ecnlab.report.topology import Topology

__all__ = [
    "Axis",
    "Chart",
    "Cloud",
    "Distance",
    "Field",
    "Figure",
    "Finding",
    "Forest",
    "Group",
    "Line",
    "Map",
    "Maps",
    "Mark",
    "Marks",
    "Multiples",
    "Page",
    "Point",
    "Row",
    "Rows",
    "Rug",
    "Scatter",
    "Section",
    "Series",
    "Strip",
    "Strips",
    "Table",
    "Tally",
    "Topology",
    "render",
]
