"""Data files in TOML, read as types of msgspec: an error names the file, the place, the key and the nearest valid name."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, Literal, TypeVar

import msgspec
from msgspec import inspect

from ecnlab.base.errors import EcnlabError
from ecnlab.base.guesses import unknown
from ecnlab.scenario.files import read_text

FORMAT: Final = 1

F = TypeVar("F", bound=msgspec.Struct)

_STEP: Final = re.compile(r"\.([\w-]+)|\[(\d+|\.\.\.)\]")
"""A step of a path of msgspec, which writes ``...`` for a key that no type names."""


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A table of a data file."""


class File(Part, frozen=True, kw_only=True):
    """A data file."""

    format: Literal[1]


def read_file(path: Path, kind: type[F]) -> F:
    """Return the data file at ``path`` as a ``kind``. Raises EcnlabError with the place of what is wrong; OSError."""
    table = read_toml(path)
    try:
        return msgspec.convert(table, kind)
    except msgspec.ValidationError as error:
        raise EcnlabError(f"{path}: {_described(table, kind, str(error))}") from error


def read_toml(path: Path) -> dict[str, Any]:
    """The tables of a data file. Raises EcnlabError naming the file if it is not TOML of this format."""
    try:
        table = tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise EcnlabError(f"{path}: {error}") from error
    if table.get("format") != FORMAT:
        raise EcnlabError(f"{path}: format {table.get('format')!r}; this ecnlab reads format {FORMAT}")
    return table


def _described(table: dict[str, Any], kind: type[msgspec.Struct], error: str) -> str:
    """Return the ``error`` of msgspec with the place in front and the nearest valid name at the end."""
    what, _, path = error.partition(" - at `$")
    here: Any = table
    of: Any = inspect.type_info(kind)
    place = ""
    for key, index in _STEP.findall(path):
        of = _one_type(of, here)
        if isinstance(of, inspect.UnionType):  # of structs, none of which has the tag that is here
            of = inspect.LiteralType(tuple(getattr(one, "tag", "") for one in of.types))
        elif key:
            of = next(field.type for field in of.fields if field.encode_name == key)
        elif isinstance(of, inspect.DictType):
            key, of = _wrong_key(table, kind, here, error), of.value_type
        else:
            of = of.item_type
        here, place = here[key or int(index)], f"{place}.{key}" if key else f"{place}[{index}]"
    name = f" ({here['id']})" if isinstance(here, dict) and "id" in here else ""
    return f"{place.lstrip('.')}{name}: ".removeprefix(": ") + _remedied(what, here, _one_type(of, here))


def _remedied(what: str, here: Any, of: Any) -> str:
    """Return the message of msgspec about ``here``, which should be ``of`` that type, with the valid names."""
    if isinstance(of, inspect.LiteralType) and isinstance(here, str):
        return f"{here!r} is none of {', '.join(map(str, of.values))}"
    if what.startswith("Object contains unknown field"):
        return str(unknown("key", what.split("`")[1], [field.encode_name for field in of.fields]))
    if what.startswith("Object missing required field"):
        return f"the key {what.split('`')[1]!r} is missing"
    return what[:1].lower() + what[1:]


def _one_type(of: Any, here: Any) -> Any:
    """Return the type of a union that ``here`` should have; the union if no struct of it has its tag."""
    types: Sequence[Any] = of.types if isinstance(of, inspect.UnionType) else [of]
    if isinstance(here, dict):
        types = [one for one in types if not hasattr(one, "tag") or one.tag in (None, here.get(one.tag_field))]
        types = [one for one in types if isinstance(one, inspect.StructType | inspect.DictType)]
    elif isinstance(here, list):
        types = [one for one in types if isinstance(one, inspect.ListType)]
    return types[0] if types else of


def _wrong_key(table: dict[str, Any], kind: type[msgspec.Struct], here: dict[str, Any], error: str) -> str:
    """Return the key of ``here``, a part of ``table``, whose value has the ``error``. Removes the others from it."""
    for key, value in list(here.items()):
        others = dict(here)
        here.clear()
        here[key] = value
        try:
            msgspec.convert(table, kind)
        except msgspec.ValidationError as found:
            if str(found) == error:
                return key
        here.update(others)
    raise AssertionError(error)
