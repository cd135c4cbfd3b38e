"""Reproductions: a paper's experiments, run, judged against what it printed, and reported.

>>> from ecnlab import papers
>>> page = papers.reproduce("rfc2884", "results/rfc2884")  # doctest: +SKIP
"""

from ecnlab.papers.reproduction import reproduce, reproduce_all
from ecnlab.papers.row import run_row

__all__ = ["reproduce", "reproduce_all", "run_row"]
