"""Text from files made safe for display: control sequences of terminals and markup of browsers are escaped."""

from __future__ import annotations

import re
from typing import Final

UNSEEN: Final = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f"
)
"""Control characters except tab and new line, direction marks, zero-width characters, and undecodable bytes."""

_UNSEEN: Final = re.compile(f"[{UNSEEN}]")
_LINES: Final = re.compile(f"[\t\n{UNSEEN}]")


def visible(text: str) -> str:
    r"""Return ``text`` with invisible characters as ``\x1b`` or ``\u202e``; tabs and new lines are kept."""
    return _UNSEEN.sub(_written, text)


def one_line(text: str) -> str:
    """As `visible`, for a cell of a table: tabs and new lines are written out, too."""
    return _LINES.sub(_written, text)


def json_safe(document: str) -> str:
    """Return the same JSON with invisible characters as JSON escapes."""
    if document.isascii() and "\x7f" not in document:
        return document  # JSON itself escapes all other control characters of ASCII
    return _UNSEEN.sub(lambda found: "".join(f"\\u{unit:04x}" for unit in _utf16(found[0])), document)


def _written(found: re.Match[str]) -> str:
    code = ord(found[0])
    if 0xDC80 <= code <= 0xDCFF:
        code -= 0xDC00  # a byte of a file name that is no UTF-8
    return f"\\x{code:02x}" if code <= 0xFF else f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def _utf16(character: str) -> list[int]:
    data = character.encode("utf-16-be", "surrogatepass")
    return [int.from_bytes(data[i : i + 2], "big") for i in range(0, len(data), 2)]
