"""The standard whose rules apply to a capture, if the user names none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from ecnlab.base.types import Standard
from ecnlab.folder.names import CAPTURES, MANIFEST

SCHEMES: Final[dict[str, Standard]] = {"dctcp": "rfc8257", "rfc2481": "rfc2481"}
"""Standards of feedback schemes that share a handshake with RFC 3168, so that packets do not show them."""


def of_run(path: Path) -> tuple[Standard, str] | None:
    """Return the standard and its reason for a capture of a stored run whose TCPs with ECN all have one of `SCHEMES`."""
    if path.parent.name != CAPTURES:
        return None
    try:
        spec = json.loads((path.parent.parent / MANIFEST).read_bytes())["spec"]
        used = {
            spec["tcp"][flow[end]]["ecn"]
            for flow in spec["flow"].values()
            for end in ("tcp_from", "tcp_to")
            if end in flow
        }
    except (OSError, ValueError, KeyError, TypeError):
        return None
    used -= {"off"}
    scheme = used.pop() if len(used) == 1 else ""
    return (SCHEMES[scheme], f'the run has ecn = "{scheme}"') if scheme in SCHEMES else None


def of_packets(ect1: int) -> tuple[Standard, str]:
    """Return the standard and its reason for a capture with ``ect1`` packets with ECT(1)."""
    if ect1:
        return "rfc3168", f"the default; {ect1:,} packets have ECT(1)"
    return "rfc3168", "the default"
