"""The result of one run, with its figures and its report."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from ecnlab.results.run import RunResult

if TYPE_CHECKING:
    from ecnlab.plots.run import RunPlots


class Run(RunResult):
    """The result of one run. All tables are Polars frames (``.to_pandas()`` gives pandas', where that is installed).

    Columns, units and meanings are in ``docs/run-folder.md``; ``manifest["tables"]`` has the units, too.
    """

    @property
    def plot(self) -> RunPlots:
        """Its figures: ``run.plot.queue()``, see ``docs/plots.md``."""
        from ecnlab.plots.run import RunPlots  # only needed for drawing

        return RunPlots(self)

    def report(
        self,
        file: str | os.PathLike[str],
        *,
        stages: str | os.PathLike[str] | None = None,
        layout: str | os.PathLike[str] | None = None,
    ) -> Path:
        """Write its page to ``file`` and return the path, see ``docs/reports.md``.

        ``stages`` is a Python file with further stages, ``layout`` a TOML file with other sections. Raises EcnlabError for
        a file that is not as required or a stage that fails, FolderError for a damaged table, OSError.
        """
        from ecnlab.stages import write  # only needed for pages

        return write(self, file, stages=stages, layout=layout)
