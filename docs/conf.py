"""Configuration of the documentation site. `make docs` copies the pages with stage.py and then calls Sphinx."""

from __future__ import annotations

import ecnlab

project = "ecnlab"
author = "the authors of ecnlab"
release = version = ecnlab.__version__
html_title = "ecnlab"
language = "en"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_copybutton", "sphinx_design"]
default_role = "code"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "undoc-members": False}
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 6
nitpicky = True
nitpick_ignore_regex = [("py:.*", ".*")]
"""Types of Polars, Matplotlib and Python in signatures: their documentation is not part of an offline site."""
exclude_patterns = ["gallery"]

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
