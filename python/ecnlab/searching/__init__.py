"""Searches for paths on which a law fails: maps of harm, the smallest scenarios, and their confirmation (``docs/search.md``)."""

from ecnlab.searching.archive import Archive
from ecnlab.searching.page import write_page
from ecnlab.searching.searching import EVALUATIONS, Search, laws, search

__all__ = ["EVALUATIONS", "Archive", "Search", "laws", "search", "write_page"]
