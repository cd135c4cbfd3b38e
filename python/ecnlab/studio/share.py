"""Links that open a scenario in the studio."""

from __future__ import annotations

import json
import zlib
from base64 import urlsafe_b64encode
from collections.abc import Mapping, Sequence
from typing import Final

VERSION: Final = "1"
"""Version of the encoding; ``studio/src/share.ts`` reads it."""


def fragment(
    texts: Sequence[str], seed: int = 1, *, part: str = "bench", files: Mapping[str, str] | None = None
) -> str:
    """Return the end of an address, from ``#`` on, that opens one scenario, or two side by side, in a `part` of the studio.

    `files` are the texts of files that the scenarios name, by those names.
    """
    document = json.dumps({"arms": list(texts), "seed": str(seed), "files": dict(files or {})}, ensure_ascii=False)
    packer = zlib.compressobj(9, wbits=-15)
    packed = packer.compress(document.encode()) + packer.flush()
    return f"#/{part}?s={VERSION}.{urlsafe_b64encode(packed).decode().rstrip('=')}"
