"""The manifest of a result folder: reading, and comparison with the request."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from ecnlab._core import __version__
from ecnlab.base.errors import FolderError
from ecnlab.base.user_files import special
from ecnlab.engines.protocol import PACKETS
from ecnlab.folder import digests
from ecnlab.folder.differences import differences
from ecnlab.folder.names import FORMAT, LOCK, MANIFEST, REMEDY
from ecnlab.folder.sealed_json import damaged, read_json
from ecnlab.folder.shapes import FinishedManifest, RunManifest, SweepManifest, insist, insist_on_metrics
from ecnlab.folder.spec_hash import insist_on_hash

MAX_DIFFERENCES: Final = 5
"""Maximum number of differences between two specifications that are listed."""

KINDS: Final = ("run", "sweep")


def read_manifest(folder: Path, kind: str | None = None) -> dict[str, Any]:
    """Return the manifest of a result folder of this format, of ``kind`` ("run" or "sweep") if given.

    Raises FolderError if the folder is missing, holds no result, or has another format or kind.
    """
    path = folder / MANIFEST
    if kind_of_file := special(path):
        raise FolderError(f"{path} is damaged (it is {kind_of_file}): {REMEDY}")
    if not path.is_file():
        what = "is no folder" if folder.exists() else "does not exist"
        raise FolderError(f"{folder} {'holds no result (no manifest.json)' if folder.is_dir() else what}")
    manifest = stated(path)
    if manifest.get("format") != FORMAT:
        maker = manifest.get("ecnlab")
        made_by = maker.get("version", "unknown") if isinstance(maker, dict) else "unknown"
        raise FolderError(
            f"{folder} has folder format {manifest.get('format')}, made by ecnlab {made_by}; this ecnlab reads format "
            f"{FORMAT}: use that version, or run again into another folder"
        )
    manifest = read_json(path)
    if kind is not None and manifest["kind"] != kind:
        raise FolderError(f"{folder} holds a {manifest['kind']}, not a {kind}")
    _insist_on_shape(path, manifest)
    # Folders from before there were several engines do not name the engine.
    return {**manifest, "engine": manifest.get("engine", PACKETS)}


def stated(path: Path) -> dict[str, Any]:
    """Return the contents of a manifest before its digest is checked.

    Raises FolderError if it is not an ecnlab manifest.
    """
    try:
        manifest = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise damaged(path, str(error)) from error
    if not isinstance(manifest, dict) or manifest.get("kind") not in KINDS:
        raise FolderError(f"{path.parent} holds no result of ecnlab: ecnlab did not write its {MANIFEST}")
    return dict(manifest)


def _insist_on_shape(path: Path, manifest: dict[str, Any]) -> None:
    """Raise FolderError unless the manifest in ``path`` has the shape of its kind."""
    if manifest["kind"] == "run":
        insist(path, manifest, RunManifest)
        insist_on_hash(path, manifest["spec"], manifest["spec_hash"])
    else:
        insist(path, manifest, FinishedManifest if manifest.get("complete") is True else SweepManifest)
        insist_on_metrics(path, manifest["metrics"])
    if strange := [name for name in manifest["tables"] if not re.fullmatch(r"\w+", name)]:
        raise FolderError(f"{path} is damaged (no table is called {strange[0]!r}): remove the folder and run again")


def damaged_manifest(folder: Path, signs: Iterable[str]) -> bool:
    """Return whether the manifest of ``folder`` is damaged but contains all of ``signs``, which identify its result."""
    path = folder / MANIFEST
    if not path.is_file():
        return False
    data = path.read_bytes()
    return not digests.is_sealed(data) and all(sign.encode() in data for sign in signs)


def refuse_other(folder: Path, requested: Mapping[str, Any], spec: Mapping[str, Any] | None = None) -> None:
    """Raise FolderError unless ``folder`` is free or holds a result whose manifest has every value of ``requested``.

    The error lists the differences, in the specification if ``spec`` is the requested one.
    """
    if _is_free(folder) or damaged_manifest(folder, _signs(requested)):
        return
    if folder.is_dir() and not (folder / MANIFEST).is_file():
        raise FolderError(
            f"{folder} holds no result (no {MANIFEST}) but other files: choose another folder, or remove that one first"
        )
    there = read_manifest(folder)
    if any(there.get(key) != value for key, value in requested.items()):
        held = f"another {there['kind']} ({there['title']!r}, engine `{there['engine']}`)"
        differ = "; ".join(_differing(there, requested, spec))
        raise FolderError(f"{folder} holds {held}: {differ}; choose another folder, or remove that one first")


def _differing(there: Mapping[str, Any], requested: Mapping[str, Any], spec: Mapping[str, Any] | None) -> list[str]:
    """Return the differences between a manifest and the request: "seed: 1 stored, 2 requested"."""
    keys = [key for key in requested if there.get(key) != requested[key]]
    differing = [f"{key}: {there.get(key)} stored, {requested[key]} requested" for key in keys if key != "spec_hash"]
    if "spec_hash" in keys:
        places = list(differences(there.get("spec"), spec)) if spec is not None else []
        more = [f"and {len(places) - MAX_DIFFERENCES} more keys"] if len(places) > MAX_DIFFERENCES else []
        differing += (
            ["the specification (stored against requested): " + ", ".join([*places[:MAX_DIFFERENCES], *more])]
            if places
            else ["another specification"]
        )
    version = there["ecnlab"].get("version")
    return [*differing, f"made by ecnlab {version}"] if version != __version__ else differing


def _signs(requested: Mapping[str, Any]) -> list[str]:
    """Return texts that a manifest with ``requested`` contains, even if a bit is flipped elsewhere."""
    format_ = f'"format": {FORMAT}'
    return [format_, *(f'"{key}": {json.dumps(value)}' for key, value in requested.items())]


def _is_free(folder: Path) -> bool:
    """Return whether ``folder`` is missing or empty. Hidden files of a sweep that was killed early are ignored."""
    ours = re.compile(rf"{re.escape(LOCK)}|\..*\.partial")
    return not folder.exists() or (folder.is_dir() and all(ours.fullmatch(path.name) for path in folder.iterdir()))
