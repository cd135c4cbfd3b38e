"""Texts of papers as Jinja templates, whose functions are those of `ecnlab.papers.references`."""

from __future__ import annotations

import re
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import jinja2

from ecnlab.base.errors import EcnlabError
from ecnlab.papers.evidence import Evidence, unknown
from ecnlab.papers.references import References

REFERENCE: Final = re.compile(r"\{\{.*?\}\}|\{%.*?%\}", re.DOTALL)
"""References and statements in a template."""

_UNDEFINED: Final = re.compile(r"'(\w+)' is undefined")


def fill(text: str, evidence: Evidence, file: Path, *, start: int = 1, names: Mapping[str, Any] | None = None) -> str:
    """Return ``text`` with its references filled in. ``names`` are those that it has besides the functions of all texts.

    Raises EcnlabError for the first reference that is wrong, with its line in ``file``, in which the text starts at the
    line ``start``.
    """
    there = {**References(evidence, file.parent).functions(), **(names or {})}
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, keep_trailing_newline=True)
    environment.globals = there
    try:
        return environment.from_string(text).render()
    except (EcnlabError, jinja2.TemplateError, ValueError, KeyError, TypeError) as error:
        line = _line(error)
        raise EcnlabError(f"{file}:{start + line - 1}: {_message(error, there)}") from error


def start_of(text: str, source: str) -> int:
    """Return the line at which a TOML string ``text`` starts in ``source``, the contents of the file that has it."""
    plain = source.replace('\\"', '"')
    return plain.count("\n", 0, max(plain.find(text), 0)) + 1


def _line(error: Exception) -> int:
    """Return the line of a template on which ``error`` was raised."""
    if isinstance(error, jinja2.TemplateSyntaxError):
        return error.lineno
    frames = traceback.extract_tb(error.__traceback__)
    return next(frame.lineno or 1 for frame in reversed(frames) if frame.filename == "<template>")


def _message(error: Exception, there: Mapping[str, Any]) -> str:
    if isinstance(error, jinja2.UndefinedError) and (name := _UNDEFINED.fullmatch(str(error))):
        return str(unknown("function or fact", name[1], there))
    return f"nothing is called {error}" if isinstance(error, KeyError) else str(error)
