"""The answer of `ecnlab infer` that a README shows: ``inferred.json``, the ``answer.json`` of the paper's ``infer.toml``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from ecnlab.base.errors import EcnlabError
from ecnlab.base.markdown import table
from ecnlab.folder.sealed_json import read_plain_json
from ecnlab.folder.shapes import insist
from ecnlab.inference.result import Record, rows_of_numbers, rows_of_unknowns

INFERRED: Final = "inferred.json"

REMEDY: Final = "copy `answer.json` of `ecnlab infer` again, or restore the file"


@dataclass(frozen=True, slots=True)
class Inferred:
    """An answer as texts and Markdown tables, for the references of a README."""

    record: Record

    @classmethod
    def read(cls, folder: Path) -> Inferred:
        """Return the answer in the paper's ``folder``. Raises EcnlabError if it has none or a damaged one; OSError."""
        path = folder / INFERRED
        if not path.exists():
            raise EcnlabError(f"{path} is missing: copy `answer.json` of `ecnlab infer {folder / 'infer.toml'}`")
        return cls(msgspec.convert(insist(path, read_plain_json(path), Record, REMEDY), Record))

    @property
    def sentence(self) -> str:
        """The answer in one sentence."""
        return self.record.answer.sentence

    @property
    def size(self) -> str:
        """Numbers of settings, waves and seeds, and the version."""
        one = self.record
        return f"{one.answer.settings} settings in {one.waves} waves, {one.seeds} seeds each, with ecnlab {one.ecnlab['version']}"

    @property
    def effective(self) -> str:
        """The effective number of settings behind the predictions."""
        return f"{self.record.answer.effective:.0f}"

    @property
    def unknowns(self) -> str:
        """A table of the unknown settings."""
        head = ("unknown", "prior", "region", "identified")
        return table(head, rows_of_unknowns(self.record.answer))

    @property
    def excluded(self) -> str:
        """A table of the smallest sets of numbers that no setting meets together."""
        return table(("no setting meets",), [(" with ".join(one),) for one in self.record.answer.excluded])

    @property
    def numbers(self) -> str:
        """A table of all numbers, printed and predicted, with the part of the prior settings that meet each."""
        head = ("number", "printed", "predicted", "use", "agrees", "met by prior settings")
        answer = self.record.answer
        met = [f"{100 * one.share:.0f}%" for one in answer.predicted]
        return table(head, [(*row, share) for row, share in zip(rows_of_numbers(answer), met, strict=True)])

    def share(self, least: int) -> str:
        """The part of the prior settings that meet at least so many of the numbers that are not held out."""
        return f"{100 * self.record.answer.met[least]:.3g}%"
