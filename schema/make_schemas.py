"""Writes the JSON schemas of experiments and of the data files of papers, for editors: ``schema/NAME.schema.json``.

``scenario.schema.json`` is stored: files of other repositories refer to its URL.
"""

from __future__ import annotations

import ast
import inspect
import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import msgspec

from ecnlab import _core
from ecnlab.papers import published, tables
from ecnlab.scenario.data_files import File

FILES: Final[dict[str, type[File]]] = {
    "published": published.PublishedFile,
    "metrics": published.MetricsFile,
    "report": tables.ReportFile,
    "reasons": tables.ReasonsFile,
    "checklist": tables.ChecklistFile,
}
"""The types of the files by name."""


def schema(name: str) -> dict[str, Any]:
    """Return the schema of a data file of `FILES`, with the docstrings of fields as descriptions."""
    made = msgspec.json.schema(FILES[name])
    for kind, about in made["$defs"].items():
        for field, text in fields(getattr(tables, kind, None) or getattr(published, kind)):
            about["properties"][field]["description"] = text
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **made}


def fields(kind: type[Any]) -> Iterator[tuple[str, str]]:
    """Yield key and docstring of each field of a type that has a docstring, its bases' first."""
    keys = {field.name: field.encode_name for field in msgspec.structs.fields(kind)}
    for base in (one for one in reversed(kind.__mro__) if one.__module__ in (published.__name__, tables.__name__)):
        (body,) = (node.body for node in ast.parse(inspect.getsource(base)).body if isinstance(node, ast.ClassDef))
        for field, text in pairwise(body):
            if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr):
                assert isinstance(field.target, ast.Name) and isinstance(text.value, ast.Constant)
                yield keys[field.target.id], str(text.value.value)


def main() -> None:
    """Write all files."""
    for name, made in {"experiment": _core.schema("experiment"), **{name: schema(name) for name in FILES}}.items():
        (Path(__file__).parent / f"{name}.schema.json").write_text(json.dumps(made, indent=1) + "\n")


if __name__ == "__main__":
    main()
