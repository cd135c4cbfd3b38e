"""Searches for paths on which a law fails: maps of harm, the smallest scenarios, and their confirmation (``docs/search.md``)."""

from ecnlab.searching.archive import Archive
from ecnlab.searching.file_space import FileSpace
from ecnlab.searching.index import write_index
from ecnlab.searching.page import write_page
from ecnlab.searching.searching import EVALUATIONS, Search, of_law, search

__all__ = ["EVALUATIONS", "Archive", "FileSpace", "Search", "of_law", "search", "write_index", "write_page"]
