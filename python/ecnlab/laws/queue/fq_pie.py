"""FQ-PIE (Linux's ``sch_fq_pie``)."""

from __future__ import annotations

from typing import Final

from ecnlab.laws.kinds import Queue, Table


def _says(queue: Table) -> list[str]:
    return [f"target {queue['target']}", f"quantum {queue['quantum']}"]


LAW: Final = Queue(label="FQ-PIE", says=_says)
