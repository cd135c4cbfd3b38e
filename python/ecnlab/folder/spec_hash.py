"""The hash of a stored specification, as the core computes it: a changed key or value is found without knowing all keys."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from ecnlab.base.errors import FolderError
from ecnlab.folder.names import REMEDY

NOT_HASHED: Final = ("title", "capture")
"""Keys that do not change the results of a run."""


def insist_on_hash(path: Path, spec: Mapping[str, Any], stated: str) -> None:
    """Raise FolderError unless ``stated`` is the hash of ``spec``, both from the file ``path``."""
    inputs = {key: value for key, value in spec.items() if key not in NOT_HASHED}
    usual = json.dumps(inputs, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    if stated != _hash(usual) and stated != _hash(_written(inputs)):
        raise FolderError(f"{path} is damaged (`spec` does not match its `spec_hash` {stated[:12]}): {REMEDY}")


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def _written(value: Any) -> str:
    """Return ``value`` as serde_json writes it, whose exponents differ from Python's."""
    if isinstance(value, dict):
        return _joined(
            "{", (f"{json.dumps(key, ensure_ascii=False)}:{_written(value[key])}" for key in sorted(value)), "}"
        )
    if isinstance(value, list):
        return _joined("[", map(_written, value), "]")
    if isinstance(value, float):
        return _number(value)
    return json.dumps(value, ensure_ascii=False)


def _joined(start: str, items: Iterable[str], end: str) -> str:
    return start + ",".join(items) + end


def _number(value: float) -> str:
    """Return ``value`` in the format of Rust's `ryu`: an exponent from 1e16 and below 1e-5, without sign and zeros."""
    digits, _, exponent = repr(value).partition("e")
    if not exponent:
        return digits
    if int(exponent) == -5:
        sign = "-" if value < 0 else ""
        return f"{sign}0.0000{digits.lstrip('-').replace('.', '')}"
    return f"{digits}e{int(exponent)}"
