"""NewReno (RFC 6582): Linux has one of its own, which does much the same."""

from __future__ import annotations

from typing import Final

from ecnlab.laws.kinds import Recovery

LAW: Final = Recovery(kernel_without_sack="like")
