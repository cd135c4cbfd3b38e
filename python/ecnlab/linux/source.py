"""Kernel source and build tools: those on the machine, or from Debian's packages.

Packages are read with a separate apt configuration below the user's cache, and unpacked there: the machine's apt and
its files are not changed, and root is not needed.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tarfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from ecnlab.base.errors import EcnlabError
from ecnlab.linux.kernel import cache

Say = Callable[[str], None]

PACKAGE: Final = "linux-source-7.3"
SUITE: Final = "trixie-backports"
"""The source package, and the Debian suite that has it, newer than on most machines."""

APT: Final = Path("/etc/apt")
"""The machine's package sources. Read, never written."""

OLDEST: Final = (6, 18)
"""The first kernel that reports all required values (tcpi_received_ce)."""

PARSERS: Final = ("flex", "bison", "m4")
"""Tools that are fetched where they are missing: they need no installation."""


def named(path: Path, say: Say) -> Path:
    """The tree of the kernel source ``path``, a folder or an archive of one. Raises EcnlabError if it is neither."""
    if path.is_dir():
        return _tree(path)
    if not tarfile.is_tarfile(path):
        raise EcnlabError(f"{path} is not a kernel source: give its folder, or its .tar.xz")
    return _unpack(path, say)


def fetched(say: Say) -> Path:
    """The tree of Debian's kernel source, fetched if it is not there yet."""
    packages = cache() / "packages"
    found = sorted(packages.glob(f"{PACKAGE}_*.deb"))
    if not found:
        say(f"fetching {PACKAGE} of Debian {SUITE}, 160 MB")
        download([PACKAGE])
        found = sorted(packages.glob(f"{PACKAGE}_*.deb"))
    unpacked = cache() / "source"
    if not (unpacked / "usr").exists():
        _run(["dpkg-deb", "-x", str(found[-1]), str(unpacked)])
    return _unpack(next((unpacked / "usr/src").glob("linux-source-*.tar.xz")), say)


def version(tree: Path) -> str:
    """The version of a kernel source, as ``7.3.4``."""
    text = (tree / "Makefile").read_text()
    parts = [re.search(rf"^{name} = *(\S*)$", text, re.MULTILINE) for name in ("VERSION", "PATCHLEVEL", "SUBLEVEL")]
    return ".".join(part.group(1) for part in parts if part)


def _tree(path: Path) -> Path:
    if not (path / "arch/um/Makefile").is_file() or not (path / "Makefile").is_file():
        raise EcnlabError(f"{path} is not a kernel source: it has no arch/um/Makefile")
    found = version(path)
    if tuple(map(int, found.split(".")[:2])) < OLDEST:
        least = ".".join(map(str, OLDEST))
        raise EcnlabError(f"{path} is Linux {found}, older than {least}, the first that counts CE for each connection")
    return path.absolute()


def _unpack(archive: Path, say: Say) -> Path:
    target = cache() / "source" / archive.name.removesuffix(".tar.xz")
    if not target.exists():
        say(f"unpacking {archive.name}, 1.8 GB")
        scratch = target.with_name(f".{target.name}.partial")
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir(parents=True)
        _run(["tar", "-xf", str(archive), "-C", str(scratch), "--strip-components=1"])
        scratch.rename(target)
    return _tree(target)


def tools() -> dict[str, str]:
    """Environment in which the parsers are found that had to be fetched; empty if none had."""
    root = cache() / "tools"
    if not root.exists():
        return {}
    return {"PATH": f"{root}/usr/bin", "BISON_PKGDATADIR": f"{root}/usr/share/bison", "M4": f"{root}/usr/bin/m4"}


def fetch_parsers(missing: Sequence[str], say: Say) -> None:
    """Put the packages of the parsers ``missing`` below the cache."""
    say(f"fetching {', '.join(missing)}")
    download(missing)
    for name in missing:
        _run(["dpkg-deb", "-x", str(sorted((cache() / "packages").glob(f"{name}_*.deb"))[-1]), str(cache() / "tools")])


def can_fetch() -> bool:
    """Return whether this machine has Debian's package tools and a Debian package source."""
    return bool(shutil.which("apt-get") and shutil.which("dpkg-deb") and _mirror())


def download(names: Sequence[str]) -> None:
    """Put packages into the cache's ``packages``. Raises EcnlabError with apt's words if that cannot be."""
    home = cache() / "apt"
    packages = cache() / "packages"
    for folder in (home / "lists/partial", home / "archives/partial", home / "state", packages):
        folder.mkdir(parents=True, exist_ok=True)
    uri, own_suite, key = _mirror() or ("", "", "")
    signed = f"Signed-By: {key}\n" if key else ""
    (home / "debian.sources").write_text(
        f"Types: deb\nURIs: {uri}\nSuites: {own_suite} {SUITE}\nComponents: main\n{signed}"
    )
    (home / "apt.conf").write_text(
        f'Dir::State "{home}/state";\nDir::State::lists "{home}/lists";\nDir::Cache "{home}";\n'
        f'Dir::Etc::sourcelist "{home}/debian.sources";\nDir::Etc::sourceparts "-";\n'
        'Acquire::Languages "none";\nAPT::Sandbox::User "";\n'
    )
    for words in (["update"], ["download", *names]):
        _run(["apt-get", "-q", "-c", str(home / "apt.conf"), *words], cwd=packages)


def _mirror() -> tuple[str, str, str] | None:
    """URI, suite and key of the machine's own source of Debian's packages."""
    for path in sorted(APT.glob("sources.list.d/*.sources")):
        for stanza in path.read_text().split("\n\n"):
            fields = dict(re.findall(r"^([A-Za-z-]+):\s*(.+?)\s*$", stanza, re.MULTILINE))
            uri = fields.get("URIs", "").split(" ")[0]
            if "deb" in fields.get("Types", "").split() and uri.rstrip("/").endswith("/debian"):
                return uri, fields.get("Suites", "stable").split(" ")[0], fields.get("Signed-By", "")
    for path in [APT / "sources.list", *sorted(APT.glob("sources.list.d/*.list"))]:
        text = path.read_text() if path.exists() else ""
        line = re.search(r"^deb (?:\[(.*?)\] )?(\S+/debian/?) (\S+) .*\bmain\b", text, re.MULTILINE)
        if line:
            key = re.search(r"signed-by=(\S+)", line.group(1) or "")
            return line.group(2), line.group(3), key.group(1) if key else ""
    return None


def _run(command: Sequence[str], cwd: Path | None = None) -> None:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode:
        tail = "\n".join((done.stderr or done.stdout).strip().splitlines()[-8:])
        raise EcnlabError(f"`{' '.join(command)}` failed:\n{tail}")
