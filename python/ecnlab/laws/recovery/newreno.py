"""NewReno (RFC 6582): Linux has a similar recovery of its own."""

from __future__ import annotations

from typing import Final

from ecnlab.laws.kinds import Recovery

LAW: Final = Recovery(kernel_without_sack="like")
