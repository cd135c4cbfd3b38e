"""Builds the wheel and the source distribution with examples, papers and schemas as package data, in ``build/wheels``.

maturin packs what is below ``python/ecnlab``. The folders of the root are copied to ``python/ecnlab/data`` for the time of
the build; git ignores this folder. Every file that git knows and the package needs must be in both archives afterwards.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[3]
PACKAGE = Path("python/ecnlab")
DATA = ROOT / PACKAGE / "data"
SITE = ROOT / PACKAGE / "studio" / "site"
OUT = ROOT / "build" / "wheels"

FOLDERS = ("examples", "papers", "schema", "tests/data/scripts")
"""Folders of the root that become package data."""

PAGES = ("docs/*.md", "docs/notebooks/grade.py")
"""Files of the documentation that become package data, as patterns of git."""

GENERATED = ("examples/traces/*.csv", "examples/traces/*.mahimahi", "docs/notebooks/lab*.ipynb", "schema/*.json")
"""Package data that `make build` writes and git does not have, as patterns of paths."""

ZIG = ("--zig",)
"""zig links for other platforms, too."""

OLD_GLIBC = ("--compatibility", "manylinux_2_17")
"""On Linux zig links against the symbols of an old glibc: the wheel runs on distributions from 2014 on."""


EXPORTS = """.section .drectve,"yn"
.ascii " -export:PyInit__core -alternatename:PyInit_ecnlab._core=PyInit__core"
"""
"""Directives for zig's linker for Windows: export the module's entry point.

maturin 1.16 asks it to export `PyInit_ecnlab._core`, with the package, which does not exist. It becomes another name.
"""


def main() -> None:
    """Builds what was asked; the exit code is 1 where a build fails or a file is missing in an archive."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--no-zig", action="store_true", help="link with this machine's linker and glibc")
    parser.add_argument("--target", help="Rust's name of another platform, such as aarch64-unknown-linux-gnu")
    parser.add_argument("--no-sdist", action="store_true", help="build the wheel only")
    parser.add_argument(
        "--profile",
        default="release",
        help="Cargo's profile; `quick` reuses what `make build PROFILE=quick` has compiled",
    )
    asked = parser.parse_args()
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir(parents=True)
    try:
        with package_data():
            # `--strip` would compile all of another profile again.
            strip = ("--strip",) if asked.profile == "release" else ()
            target = ("--target", asked.target) if asked.target else ()
            how = () if asked.no_zig else linker(asked.target)
            maturin("build", "--profile", asked.profile, *strip, *target, *how)
            if not asked.no_sdist:
                maturin("sdist")
    except subprocess.CalledProcessError as failed:
        sys.exit(f"maturin failed with exit code {failed.returncode}")
    lacking = {archive.name: missing(archive) for archive in sorted(OUT.iterdir())}
    for name, files in lacking.items():
        print(
            f"{(OUT / name).stat().st_size / 1e6:6.1f} MB  {(OUT / name).relative_to(ROOT)}",
            *files[:10],
            sep="\n  missing: ",
        )
    sys.exit(1 if any(lacking.values()) else 0)


@contextmanager
def package_data() -> Iterator[None]:
    """Copies `data_files` into the package, and removes them at the end."""
    shutil.rmtree(DATA, ignore_errors=True)
    try:
        for name in data_files():
            (DATA / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, DATA / name)
        yield
    finally:
        shutil.rmtree(DATA, ignore_errors=True)


def linker(target: str | None) -> tuple[str, ...]:
    """Options of maturin that link with zig for ``target``, Rust's name of a platform, or for this machine."""
    if target is None or "linux" in target:
        return (*ZIG, *OLD_GLIBC)
    return (*ZIG, "--", f"-Clink-arg={exports(target)}") if target.endswith("-windows-gnu") else ZIG


def exports(target: str) -> Path:
    """Assembles `EXPORTS` for ``target``, and returns the object file."""
    source, made = ROOT / "build" / "exports.s", ROOT / "build" / f"exports-{target}.o"
    source.write_text(EXPORTS)
    platform = f"{target.partition('-')[0]}-windows-gnu"
    zig = [sys.executable, "-m", "ziglang", "cc", "-target", platform]
    subprocess.run([*zig, "-c", source, "-o", made], check=True)
    return made


def maturin(*words: str) -> None:
    """Runs maturin of this Python's environment, which has zig too."""
    programs = sysconfig.get_path("scripts")
    path = os.pathsep.join([programs, os.environ.get("PATH", "")])
    subprocess.run(
        [Path(programs, "maturin"), words[0], "--out", OUT, *words[1:]],
        cwd=ROOT,
        check=True,
        env={**os.environ, "PATH": path},
    )


def known(*folders: str) -> list[str]:
    """Files below ``folders`` that git has: no results, no scratch files."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", *folders], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    return [name for name in filter(None, listed.split("\0")) if (ROOT / name).is_file()]


def data_files() -> list[str]:
    """Files of the root that become package data."""
    generated = (file for pattern in GENERATED for file in sorted(ROOT.glob(pattern)))
    return sorted({*known(*FOLDERS, *PAGES), *(file.relative_to(ROOT).as_posix() for file in generated)})


def needed() -> set[str]:
    """Files of the package, relative to ``ecnlab``: sources, assets, sources of the Linux guest, package data, and the studio."""
    own = {Path(name).relative_to(PACKAGE).as_posix() for name in known(str(PACKAGE))}
    studio = {path.relative_to(ROOT / PACKAGE).as_posix() for path in SITE.rglob("*") if path.is_file()}
    return own | {f"data/{name}" for name in data_files()} | studio | {"studio/site/index.html"}


def missing(archive: Path) -> list[str]:
    """Files of `needed` that are not in ``archive``."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            found = set(wheel.namelist())
        start = "ecnlab/"
    else:
        with tarfile.open(archive) as sdist:
            found = set(sdist.getnames())
        start = f"{archive.name.removesuffix('.tar.gz')}/{PACKAGE.as_posix()}/"
    return sorted(name for name in needed() if start + name not in found)


if __name__ == "__main__":
    main()
