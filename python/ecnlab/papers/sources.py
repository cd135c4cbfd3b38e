"""Sources of typed numbers and words: a key of a file of the paper, a printed place, arithmetic, or a command that measured them.

Forms of a source: ``bottleneck.toml:link.bottleneck.rate``, ``quoted.json:verdicts."K05.all".full``, ``section 3.1``, ``RFC 8511, section 3``,
``arithmetic: 60 * 500 / 592``, ``tool: COMMAND`` and ``run: COMMAND or commit``.
"""

from __future__ import annotations

import ast
import json
import operator
import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from ecnlab.base.errors import EcnlabError
from ecnlab.base.guesses import known

UNCHECKED: Final = re.compile(r"(?:[A-Z][^:]*, )?(?:page|section|figure|table|slide)s? [\dIVX].*|(?:tool|run): *\S.*")
"""Printed places and commands, whose numbers are not in the paper's folder."""

NUMBER: Final = re.compile(r"(?<![\w.])([+−-]?)(\d[\d,]*(?:\.\d+)?) ?(%|[A-Za-z]+)?")

BASE: Final = {"%": 0.01, "us": 1e-6, "ms": 1e-3}
"""Factors by which a number of a file may be converted before a text has it without the unit."""

NEAR: Final = 1e-9

READERS: Final = {".toml": tomllib.loads, ".json": json.loads}

HOLDS: Final = "yes"
"""Verdict of a claim that is the source of a word of extent, such as "at every"."""

OPERATORS: Final[Mapping[type, Callable[[float, float], float]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}


def require_source(text: str, source: str, folder: Path) -> None:
    """Raise EcnlabError unless ``source`` is a source of the number or word ``text`` of a paper in ``folder``."""
    kind, _, rest = (part.strip() for part in source.partition(":"))
    if kind == "arithmetic":
        _require_result(text, rest)
    elif rest and Path(kind).suffix in READERS:
        _require_value(text, source, _value(folder / kind, rest))
    elif not UNCHECKED.fullmatch(source):
        forms = "FILE:KEY, page, section, figure, table or slide N, arithmetic: ..., tool: ... and run: ..."
        raise EcnlabError(f"the source {source!r} of {text!r} is none of {forms}")


def calculated(expression: str) -> float:
    """Return the value of numbers with + - * / ** and parentheses. Raises EcnlabError for anything else."""
    try:
        return _evaluated(ast.parse(expression, mode="eval").body)
    except (SyntaxError, ArithmeticError, TypeError) as error:
        raise EcnlabError(f"{expression!r} is no arithmetic: numbers with + - * / ** and parentheses") from error


def _evaluated(node: ast.AST) -> float:
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return float(value)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_evaluated(operand)
        case ast.BinOp(left=left, op=how, right=right) if type(how) in OPERATORS:
            return OPERATORS[type(how)](_evaluated(left), _evaluated(right))
    raise TypeError


def _require_result(text: str, expression: str) -> None:
    """Raise EcnlabError unless ``text`` is the value of ``expression``, rounded to the digits printed."""
    found = list(NUMBER.finditer(text))
    if len(found) != 1:
        raise EcnlabError(f"{text!r} has {len(found)} numbers; arithmetic has one")
    result, factor = calculated(expression), _factor(found[0])
    step = 10.0 ** -len(found[0][2].partition(".")[2])
    if abs(result / factor - _number(found[0])) > step / 2 + NEAR:
        raise EcnlabError(f"{text!r} is not {expression} = {result:g}")


def _value(path: Path, key: str) -> Any:
    """Return the value of a dotted key in the file ``path``; tables of an array go by index or by `id`."""
    if not path.is_file():
        raise EcnlabError(f"the source {path.name}:{key} names no file of the paper")
    value: Any = READERS[path.suffix](path.read_text(encoding="utf-8"))
    for part in _parts(key):
        if isinstance(value, list):
            value = {str(each.get("id", at) if isinstance(each, dict) else at): each for at, each in enumerate(value)}
        if not isinstance(value, dict):
            raise EcnlabError(f"{path.name}:{key}: nothing is below {value!r}")
        value = known(f"key of {path.name}", part, value)
    return value


def _parts(key: str) -> list[str]:
    """Return the parts of a dotted TOML key, which may be quoted."""
    return [quoted or plain for quoted, plain in re.findall(r'[\'"]([^\'"]+)[\'"]|([^.]+)', key)]


def _require_value(text: str, source: str, value: Any) -> None:
    """Raise EcnlabError unless the numbers of ``text`` are those of ``value``; a word needs a claim that holds."""
    ours, theirs = (list(NUMBER.finditer(str(of))) for of in (text, value))
    if len(ours) != len(theirs) or not all(map(_equal, ours, theirs)) or not (ours or value == HOLDS):
        raise EcnlabError(f"{text!r} is not {source}, which is {value!r}")


def _equal(ours: re.Match[str], theirs: re.Match[str]) -> bool:
    """Return whether a typed number is one of a file: in the same unit, without it, or converted by `BASE`.

    A text without a sign has the magnitude.
    """
    typed, found = _number(ours), _number(theirs)
    found = found if ours[1] else abs(found)
    if ours[3] == theirs[3] or (ours[3] is None and typed == found):
        return typed == found
    return (ours[3] is None or ours[3] in BASE) and abs(typed * _factor(ours) - found * _factor(theirs)) <= NEAR


def _number(match: re.Match[str]) -> float:
    return float(match[1].replace("−", "-") + match[2].replace(",", ""))


def _factor(match: re.Match[str]) -> float:
    return BASE.get(match[3] or "", 1)
