"""The page of a result: its layout with the blocks that the stages return."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from ecnlab.base.errors import EcnlabError
from ecnlab.folder.outputs import PAGE, refuse_output, write_named
from ecnlab.report import Finding, Page, Section, render
from ecnlab.report.page import Block
from ecnlab.stages import registry
from ecnlab.stages.layout import Layout, Place, built_in, read_layout
from ecnlab.stages.registry import BUILT_IN, OWN, Kind, Stages

ADDED: Final = ("Added", "Stages that are not part of ecnlab.")
"""Title and text of the section with a user's stages that the layout does not name."""

KICKERS: Final[Mapping[Kind, str]] = {"run": "run", "sweep": "sweep", "unfinished": "unfinished sweep"}


def write(
    result: Any,
    file: str | os.PathLike[str],
    *,
    stages: str | os.PathLike[str] | None = None,
    layout: str | os.PathLike[str] | None = None,
) -> Path:
    """Write the page of ``result`` to ``file`` and return its path. Raises as `page` does, and OSError."""
    path = Path(file)
    refuse_output(path, PAGE)
    html = render(page(result, stages=stages, layout=layout))
    write_named(path, html.encode("utf-8", "surrogatepass"), PAGE)
    return path


def page(
    result: Any, *, stages: str | os.PathLike[str] | None = None, layout: str | os.PathLike[str] | None = None
) -> Page:
    """Return the page of a `Run`, a `Sweep` or an `Unfinished` sweep.

    ``stages`` is a Python file whose stages are executed, too; ``layout`` a TOML file in place of the kind's own layout.
    Raises EcnlabError for a file that is not as docs/reports.md has it, and what the stages raise.
    """
    kind = kind_of(result)
    own = {**OWN, **(registry.load(Path(stages)) if stages is not None else {})}
    there: Stages = {**BUILT_IN, **own}
    chosen = built_in(kind, there) if layout is None else read_layout(Path(layout), kind, there)
    added = [name for of, name in own if of == kind and name not in chosen.stages]
    if added:
        place = Place("added", ADDED[0], ADDED[1], added)
        chosen = Layout(chosen.summary, [*chosen.places, place])
    return _page(result, kind, chosen, there)


def kind_of(result: Any) -> Kind:
    """Return the kind of a result, as stages name it."""
    if result.manifest["kind"] == "run":
        return "run"
    return "sweep" if result.manifest["complete"] else "unfinished"


def _page(result: Any, kind: Kind, layout: Layout, stages: Stages) -> Page:
    answer: list[str] = []
    findings: list[Finding] = []
    for name in layout.summary:
        for part in stages[kind, name].parts(result):
            if isinstance(part, Finding):
                findings.append(part)
            elif isinstance(part, str):
                answer.append(part)
            else:
                raise EcnlabError(
                    f"stage `{name}` is in the summary and returned a block: the summary has texts and findings; "
                    "put the stage into a section"
                )
    sections = []
    for place in layout.places:
        parts = [part for name in place.stages for part in stages[kind, name].parts(result)]
        findings += [part for part in parts if isinstance(part, Finding)]
        blocks: list[Block] = [part for part in parts if not isinstance(part, Finding)]
        if blocks:
            sections.append(Section(place.name, place.title, place.intro, blocks, place.folded))
    manifest = result.manifest
    return Page(
        title=manifest["title"] or "Untitled",
        kicker=f"ecnlab {manifest['ecnlab']['version']}, {KICKERS[kind]}",
        lede="",
        answer=" ".join(answer),
        tallies=(),
        findings=findings,
        sections=sections,
        footer="Every number is from the tables of the result folder (`ecnlab docs run-folder`).",
        facts=_facts(manifest, kind),
    )


def _facts(manifest: Mapping[str, Any], kind: Kind) -> list[tuple[str, str]]:
    made = manifest["ecnlab"]
    found = [("engine", manifest["engine"])]
    found += [] if manifest["seed"] is None else [("seed", str(manifest["seed"]))]
    if kind == "run":
        spec = manifest["spec"]
        window = f" (measured from {spec['warmup']})" if spec.get("warmup") else ""
        found.append(("duration", f"{spec['duration']}{window}"))
    else:
        found.append(("replicates", str(manifest["replicates"])))
    return [*found, ("ecnlab", f"{made['version']} ({made['commit'] or made['build']})")]
