"""SFB (Feng et al. 2001). The Linux engine does not have the kernel's ``sfb`` yet."""

from __future__ import annotations

from typing import Final

from ecnlab.laws.kinds import Queue, Table


def _says(queue: Table) -> list[str]:
    return [f"bins of {queue['bin_size']}, at most {queue['max']} packets"]


LAW: Final = Queue(label="SFB", says=_says)
