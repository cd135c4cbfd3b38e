"""Configuration of the documentation site. `make docs` copies the pages with stage.py and then calls Sphinx."""

from __future__ import annotations

import sys
from pathlib import Path

from sphinx.application import Sphinx

import ecnlab

sys.path.insert(0, str(Path(__file__).parent))
import gallery_hooks

project = "ecnlab"
author = "the authors of ecnlab"
release = version = ecnlab.__version__
html_title = "ecnlab"
language = "en"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_copybutton", "sphinx_design", "sphinx_gallery.gen_gallery"]
default_role = "code"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "undoc-members": False}
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 6
nitpicky = True
nitpick_ignore_regex = [("py:.*", ".*")]
"""Types of Polars, Matplotlib and Python in signatures: their documentation is not part of an offline site."""
exclude_patterns = ["examples-of-gallery"]
suppress_warnings = ["misc.highlighting_failure"]
"""Blocks with a part of a file, such as one point of a list, are not TOML for Pygments."""

html_theme = "pydata_sphinx_theme"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "header_links_before_dropdown": 7,
    "navigation_depth": 3,
    "show_toc_level": 2,
    "footer_start": [],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
}

sphinx_gallery_conf = {
    "examples_dirs": "examples-of-gallery",
    "gallery_dirs": "gallery",
    "within_subsection_order": "gallery_hooks.Order",
    "image_scrapers": ("gallery_hooks.picture",),
    "reset_modules": ("gallery_hooks.plain_style", "gallery_links.start"),
    "capture_repr": (),
    "remove_config_comments": True,
    "min_reported_time": 1e6,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "abort_on_example_error": True,
}


def setup(app: Sphinx) -> None:
    """Register the order of pictures and code."""
    app.connect("source-read", gallery_hooks.picture_first)
