"""Configuration of the documentation site. `make docs` copies the pages with stage.py and then calls Sphinx."""

from __future__ import annotations

import ecnlab

project = "ecnlab"
author = "the authors of ecnlab"
release = version = ecnlab.__version__
html_title = "ecnlab"
language = "en"

extensions = ["myst_parser", "sphinx_copybutton", "sphinx_design"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 6
nitpicky = True
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
