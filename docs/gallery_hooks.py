"""The gallery's use of sphinx-gallery: the order of the examples, their pictures and links, and the layout of their pages."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import gallery_links
import matplotlib as mpl
from sphinx.application import Sphinx
from sphinx_gallery.scrapers import figure_rst

ORDER = (
    "aimd",
    "cubic",
    "hystart",
    "rtt_unfairness",
    "square_root",
    "vegas",
    "red_average",
    "thresholds",
    "codel",
    "pie",
    "fq_codel",
    "changing_rate",
    "delay_and_goodput",
    "parking_lot",
    "short_transfers",
    "dctcp",
    "accecn_thinning",
    "dualpi2",
    "protection",
    "bbr_buffers",
    "bbr3_ecn",
    "bleaching",
    "firewall",
    "tunnel",
    "violations",
    "python_law",
    "model",
    "kernel",
)
"""The examples in the order of the gallery: senders, queues, ECN, the path, tools."""


class Order:
    """The sort key of the examples of a folder."""

    def __init__(self, _folder: str) -> None:
        pass

    def __call__(self, name: str) -> int:
        """Return the place of an example in the gallery."""
        return ORDER.index(name.removeprefix("plot_").removesuffix(".py"))


def plain_style(_config: Any, _name: str) -> None:
    """Give pictures that an example draws with Matplotlib itself the look of ecnlab's figures."""
    mpl.rcdefaults()
    look = {"font.size": 9, "axes.titlesize": 9, "axes.titleweight": "bold", "axes.titlelocation": "left"}
    mpl.rcParams.update({**look, "axes.spines.top": False, "axes.spines.right": False})


def picture(_block: Any, variables: dict[str, Any], config: dict[str, Any]) -> str:
    """Return the picture of an example: its variable `figure`, of ecnlab or of Matplotlib."""
    figure = variables["example_globals"].pop("figure", None)
    if figure is None:
        return ""
    path = Path(next(variables["image_path_iterator"]))
    if hasattr(figure, "save"):
        figure.save(path)
    else:
        figure.savefig(path, dpi=200)
    return figure_rst([str(path)], config["src_dir"]) + link(gallery_links.end())


def link(end: str | None) -> str:
    """Return the paragraph with the link that opens the example in the studio; nothing without ``end`` of its address."""
    return f'\n.. raw:: html\n\n    <p><a href="../studio/index.html{end}">Open in the studio</a></p>\n' if end else ""


def picture_first(_app: Sphinx, name: str, source: list[str]) -> None:
    """Move the picture of an example, with its link, above its output and its code."""
    found = re.search(r"^\.\. image-sg::.*\n(?:(?: .*)?\n)*(?:\.\. raw:: html\n\n .*\n)?", source[0], re.MULTILINE)
    if name.startswith("gallery/plot_") and found:
        rest = source[0][: found.start()] + source[0][found.end() :]
        below = re.search(r"^\.\. (?:rst-class:: sphx-glr-script-out|code-block:: Python)$", rest, re.MULTILINE)
        at = below.start() if below else found.start()
        source[0] = f"{rest[:at]}{found[0].rstrip()}\n\n{rest[at:]}"
