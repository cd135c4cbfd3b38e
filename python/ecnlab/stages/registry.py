"""Stages of reports: functions from a stored result to a block of the page, registered by name."""

from __future__ import annotations

import runpy
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, TypeVar, get_args

from ecnlab.base.errors import EcnlabError
from ecnlab.base.user_files import refuse_special
from ecnlab.report import Figure, Finding, Group
from ecnlab.report.page import Block

Kind: TypeAlias = Literal["run", "sweep", "unfinished"]
"""What a stage reads: a `Run`, a `Sweep`, or the finished runs of an incomplete sweep (`Unfinished`)."""

Part: TypeAlias = Block | Finding

Made: TypeAlias = Part | Figure | Sequence[Part | Figure] | None
"""Values that a stage may return."""

F = TypeVar("F", bound=Callable[..., Made])


@dataclass(frozen=True, slots=True)
class Stage:
    """A function of a result, by name, with the tables that it reads."""

    name: str
    of: Kind
    needs: tuple[str, ...]
    function: Callable[..., Made]
    file: Path | None = None
    """The user's file that defines it; None for a stage of ecnlab."""

    def parts(self, result: Any) -> list[Part]:
        """Return the blocks and findings for ``result``; none if a table that the stage needs is missing or empty.

        Raises EcnlabError if a stage of a user fails or returns anything else; built-in stages raise what they raise.
        """
        if not set(self.needs) <= filled(result):
            return []
        try:
            made = self.function(result)
        except Exception as error:
            if self.file is None:
                raise
            raise EcnlabError(
                f"{self.file}, {_line(error, self.file)}stage `{self.name}`: {type(error).__name__}: {error}; "
                "correct the stage, or leave it out"
            ) from error
        listed = [made] if isinstance(made, str) or not isinstance(made, Sequence) else list(made)
        return [self._part(one) for one in listed if one is not None]

    def _part(self, one: Any) -> Part:
        if isinstance(one, Figure):
            return Group([one])
        if isinstance(one, str | Finding) or hasattr(one, "kind"):
            return one  # type: ignore[no-any-return]
        raise EcnlabError(
            f"{self.file or 'ecnlab'}, stage `{self.name}` returned {type(one).__name__}: "
            "return a block of ecnlab.report, a Finding, a text, a list of these, or None"
        )


BUILT_IN: Final[dict[tuple[Kind, str], Stage]] = {}
"""Stages of ecnlab by kind and name, once their modules are imported."""

OWN: Final[dict[tuple[Kind, str], Stage]] = {}
"""Stages that the running program has registered itself, such as a notebook."""

_registering: list[tuple[dict[tuple[Kind, str], Stage], Path | None]] = [(BUILT_IN, None)]


def stage(name: str, *, of: Kind, needs: Sequence[str] = ()) -> Callable[[F], F]:
    """Register a function as the stage ``name`` of results of the kind ``of``.

    ``needs`` names tables without which the stage is skipped. A stage with the name of one of ecnlab replaces it; any other
    is added at the end of the page. Raises EcnlabError if the kind is unknown or the same file has another stage of that
    name.
    """

    def register(function: F) -> F:
        there, file = _registering[-1]
        if there is OWN:
            file = Path(function.__code__.co_filename)
        if of not in get_args(Kind):
            kinds = ", ".join(f'"{kind}"' for kind in get_args(Kind))
            raise EcnlabError(
                f"{file or 'ecnlab'}, stage `{name}`: of = {of!r} is no kind of result: write one of {kinds}"
            )
        if (of, name) in there and there is not OWN:  # a notebook's cell may run again
            raise EcnlabError(f"{file or 'ecnlab'}: two stages of a {of} are called `{name}`: rename one")
        wanted = (needs,) if isinstance(needs, str) else tuple(needs)
        there[of, name] = Stage(name, of, wanted, function, file)
        return function

    return register


def seal() -> None:
    """Register further stages as those of the running program, not of ecnlab."""
    _registering[:] = [(OWN, None)]


def load(file: Path) -> dict[tuple[Kind, str], Stage]:
    """Execute the Python ``file`` and return the stages that it registers.

    Raises EcnlabError, with the line, if it fails or registers none; OSError if it cannot be read.
    """
    refuse_special(file, "a Python file for --stages", twice=True)
    if file.exists() and not file.is_file():
        raise EcnlabError(f"{file} is no file: --stages names a Python file")
    with file.open("rb"), _into(file) as found:
        try:
            runpy.run_path(str(file))
        except EcnlabError:
            raise
        except Exception as error:
            raise EcnlabError(
                f"{file}, {_line(error, file)}{type(error).__name__}: {error}; correct the file, or leave out --stages"
            ) from error
    if not found:
        raise EcnlabError(f'{file} registers no stage: put `@ecnlab.stages.stage("NAME", of="run")` above a function')
    return found


def filled(result: Any) -> set[str]:
    """Return the names of the tables of ``result`` that have rows."""
    found = {name for name, about in result.manifest.get("tables", {}).items() if about["rows"]}
    if result.manifest["kind"] == "sweep":
        found |= {"runs", "metrics"} if result.manifest["complete"] else set()
        found |= {"flows"} if getattr(result, "flows", None) is not None else set()
    return found


@contextmanager
def _into(file: Path) -> Iterator[dict[tuple[Kind, str], Stage]]:
    found: dict[tuple[Kind, str], Stage] = {}
    _registering.append((found, file))
    try:
        yield found
    finally:
        _registering.pop()


def _line(error: BaseException, file: Path) -> str:
    """Return "line N, " for the last line of ``file`` at which ``error`` was raised; "" if it was elsewhere."""
    if isinstance(error, SyntaxError) and error.filename == str(file):
        return f"line {error.lineno}, "
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(file)]
    return f"line {lines[-1]}, " if lines else ""


Stages: TypeAlias = Mapping[tuple[Kind, str], Stage]
