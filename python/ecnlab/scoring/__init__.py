"""Cards: a queue discipline or a TCP in the scenarios of an RFC, with verdicts by named criteria (``docs/score.md``)."""

from ecnlab.scoring.badge import write_badge
from ecnlab.scoring.card import read, write
from ecnlab.scoring.comparing import compare, write_comparison
from ecnlab.scoring.index import refuse_other_index, write_index
from ecnlab.scoring.page import write_page
from ecnlab.scoring.running import score
from ecnlab.scoring.sheet import built_in
from ecnlab.scoring.storing import store
from ecnlab.scoring.subject import built_in as law
from ecnlab.scoring.subject import names, subject, subjects

__all__ = [
    "built_in",
    "compare",
    "law",
    "names",
    "read",
    "refuse_other_index",
    "score",
    "store",
    "subject",
    "subjects",
    "write",
    "write_badge",
    "write_comparison",
    "write_index",
    "write_page",
]
