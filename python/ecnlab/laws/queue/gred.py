"""GRED and RIO.

The Linux engine does not have them: its hosts set no DSCP, so that all packets would be of one virtual queue.
"""

from __future__ import annotations

from typing import Final

from ecnlab.laws.kinds import Queue

LAW: Final = Queue(
    # For comparisons by hand.
    kernel_options=("NET_SCH_GRED",),
)
