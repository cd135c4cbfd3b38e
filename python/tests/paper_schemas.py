"""JSON schemas of the data files of papers, with the docstrings of fields as descriptions."""

from __future__ import annotations

import ast
import inspect
import json
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final

import msgspec

from ecnlab.papers import published, tables

FILES: Final[dict[str, type[published.File]]] = {
    "published": published.PublishedFile,
    "metrics": published.MetricsFile,
    "report": tables.ReportFile,
    "reasons": tables.ReasonsFile,
    "checklist": tables.ChecklistFile,
}
"""The types of the files by name."""


def schema(name: str) -> str:
    """Return the text of ``schema/NAME.schema.json``."""
    made = msgspec.json.schema(FILES[name])
    for kind, about in made["$defs"].items():
        for field, text in fields(getattr(tables, kind, None) or getattr(published, kind)):
            about["properties"][field]["description"] = text
    return json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", **made}, indent=1) + "\n"


def fields(kind: type[Any]) -> Iterator[tuple[str, str]]:
    """Yield key and docstring of each field of a type that has a docstring, its bases' first."""
    keys = {field.name: field.encode_name for field in msgspec.structs.fields(kind)}
    for base in (one for one in reversed(kind.__mro__) if one.__module__ in (published.__name__, tables.__name__)):
        (body,) = (node.body for node in ast.parse(inspect.getsource(base)).body if isinstance(node, ast.ClassDef))
        for field, text in pairwise(body):
            if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr):
                assert isinstance(field.target, ast.Name) and isinstance(text.value, ast.Constant)
                yield keys[field.target.id], str(text.value.value)
