"""CHOKe (Pan et al. 2000). The Linux engine does not have the kernel's ``choke`` yet."""

from __future__ import annotations

from typing import Final

from ecnlab.laws.kinds import Queue, Table


def _says(queue: Table) -> list[str]:
    return [f"min_th {queue['min_th']}, max_th {queue['max_th']}", f"max_p {queue['max_p']:g}"]


LAW: Final = Queue(label="CHOKe", says=_says)
