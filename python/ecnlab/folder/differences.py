"""Where two structures of plain values differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping


def differences(a: object, b: object, at: str = "") -> Iterator[str]:
    """Return each difference of two structures as ``key: value against value``."""
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        for key in [*a, *(key for key in b if key not in a)]:
            yield from differences(a.get(key), b.get(key), f"{at}.{key}" if at else str(key))
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for index, (x, y) in enumerate(zip(a, b, strict=True)):
            yield from differences(x, y, f"{at}[{index}]")
    elif a != b:
        yield f"{at}: {_short(a)} against {_short(b)}"


def _short(value: object) -> str:
    text = "nothing" if value is None else _plain(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _plain(value: object) -> str:
    """``value`` in words: no braces, brackets or quotes of Python."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return ", ".join(f"{key} = {_plain(part)}" for key, part in value.items()) or "an empty table"
    if isinstance(value, list | tuple):
        return ", ".join(map(_plain, value)) or "an empty list"
    return str(value)
