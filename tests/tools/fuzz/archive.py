"""The archives of the corpus: tests/data/corpus/TARGET.tar, which crates/fuzz/src/corpus.rs reads."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Mapping
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "data" / "corpus"


def targets() -> list[str]:
    """The names of the targets that have an archive, sorted."""
    return sorted(path.stem for path in FOLDER.glob("*.tar"))


def read(target: str) -> dict[str, bytes]:
    """The stored inputs of a target by name."""
    with tarfile.open(FOLDER / f"{target}.tar") as archive:
        return {member.name: archive.extractfile(member).read() for member in archive}  # type: ignore[union-attr]


def write(target: str, inputs: Mapping[str, bytes]) -> None:
    """Stores these inputs of a target and no others. The same inputs are the same bytes: sorted, without times and owners."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, content in sorted(inputs.items()):
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    (FOLDER / f"{target}.tar").write_bytes(packed.getvalue())
