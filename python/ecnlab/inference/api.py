"""`ecnlab.infer`: an inference from its file to its folder."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from ecnlab.base.errors import EcnlabError
from ecnlab.base.provenance import maker
from ecnlab.folder.outputs import PAGE, TABLE, write_named
from ecnlab.folder.tables import table_bytes
from ecnlab.inference.question import Question, read_question
from ecnlab.runs.cluster import Cluster, connection
from ecnlab.runs.sweep_doing import Progress

if TYPE_CHECKING:
    from ecnlab.inference.result import Inference

SETTINGS: Final = 400
WAVES: Final = 4
FEWEST: Final = 20
"""Fewest settings in a wave."""


def infer(
    question: str | os.PathLike[str] | Question,
    out: str | os.PathLike[str] | None = None,
    *,
    settings: int = SETTINGS,
    waves: int = WAVES,
    seed: int = 1,
    hold_out: Sequence[str] = (),
    threads: int | None = None,
    progress: Progress | None = None,
    cache: bool = True,
    cluster: str | Cluster | None = None,
) -> Inference:
    """Return which unstated settings could have given the printed numbers of ``question``, a file (``docs/infer.md``).

    ``settings`` are run in ``waves``; the first wave fills the prior, each next one is near the settings that fit. ``hold_out`` has
    names of targets that are held out beside those of the file. Waves in the folder ``out`` are not done again, and ``out`` gets
    ``settings.parquet``, ``answer.json`` and ``infer.html``. The same question, numbers and ``seed`` give the same answer.
    ``cluster`` is the address of a Dask scheduler, or ``"local"``: its workers do the runs (``docs/cluster.md``).

    Raises EcnlabError and SpecError for a file that is wrong, and if nearly no setting is a valid scenario; RunError; OSError.
    """
    from ecnlab.inference.answer import answer  # load NumPy
    from ecnlab.inference.page import page
    from ecnlab.inference.result import Inference, Record
    from ecnlab.inference.waves import sample
    from ecnlab.report import render

    if waves < 1 or settings < FEWEST * waves:
        raise EcnlabError(
            f"{settings} settings in {waves} waves: give at least {FEWEST} settings for each of 1 or more waves"
        )
    asked = question if isinstance(question, Question) else read_question(question)
    asked = asked.holding_out(hold_out)
    folder = None if out is None else Path(out)
    with connection(cluster, threads) as connected:
        found = sample(
            asked,
            folder,
            settings=settings,
            waves=waves,
            seed=seed,
            threads=threads,
            cache=cache,
            progress=progress,
            cluster=connected,
        )
    inference = Inference(asked, answer(asked, found), found)
    if folder is not None:
        write_named(folder / "settings.parquet", table_bytes(inference.settings), TABLE, own=folder)
        record = Record(maker(), asked.file.title, asked.file.seeds, settings, waves, seed, inference.answer)
        write_named(folder / "answer.json", msgspec.json.format(msgspec.json.encode(record)), (".json",), own=folder)
        write_named(folder / "infer.html", render(page(inference)).encode(), PAGE, own=folder)
    return inference
