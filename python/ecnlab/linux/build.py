"""Build a user-mode Linux kernel with time travel and the guest that runs in it; once, without root.

The configuration starts from allnoconfig and adds ``kernel.config`` and the laws' files. The kernel is compiled from
links to its source, with some files replaced (``kernel.EDITS``) and one added (``kernel.ADDED``); the source itself is
not changed.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Generator, Iterable
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

from ecnlab.base.errors import EcnlabError
from ecnlab.folder.atomic import write_bytes
from ecnlab.folder.sealed_json import write_json
from ecnlab.linux import source
from ecnlab.linux.children import GROUP, end_with_parent
from ecnlab.linux.kernel import (
    ABOUT,
    ADDED,
    BUILD,
    EDITS,
    HERE,
    Kernel,
    binary_digest,
    cache,
    config,
    config_digest,
    digest,
    guest_sources,
)
from ecnlab.linux.machine import boot
from ecnlab.linux.programs import install
from ecnlab.linux.source import PARSERS, Say

STAMP: Final = (
    "KBUILD_BUILD_TIMESTAMP=2000-01-01",
    "KBUILD_BUILD_USER=ecnlab",
    "KBUILD_BUILD_HOST=ecnlab",
    "KBUILD_BUILD_VERSION=1",
)
"""Builder and build time enter the kernel's entropy: they are constant, so that runs are reproducible."""

FILES: Final = 600
"""How many there are to compile, about."""

STEP_S: Final = 0.5
"""Seconds between two looks at how far make is."""

STATIC: Final = ("-std=gnu11", "-O2", "-Wall", "-Wextra", "-static")

NEEDED: Final = {
    "gcc": "a C compiler: `apt install gcc libc6-dev`",
    "make": "`apt install make`",
    "bc": "`apt install bc`",
    "ip": "the package iproute2: `apt install iproute2`",
    "tc": "the package iproute2: `apt install iproute2`",
}

GUEST_NEEDS: Final = ("gcc", "ip", "tc")

SBIN: Final = ("/usr/sbin", "/sbin")
"""Where Debian keeps ip and tc, which users need not have in their path."""


def build(named: Path | None, jobs: int, say: Say) -> Kernel:
    """Build the missing parts and boot the kernel once. ``named`` is a kernel source; without it Debian's is used.

    Raises EcnlabError with a remedy for everything missing, before the build starts; and if the build fails.
    """
    parsers = _missing(named)
    if parsers:
        source.fetch_parsers(parsers, say)
    tree = source.named(named, say) if named else source.fetched(say)
    version, config, guest = source.version(tree), config_digest(), digest(*guest_sources())
    name = f"linux-{version}-{config}"
    folder = cache() / name
    if not (folder / "linux").exists():
        _build_kernel(tree, folder, jobs, say)
    say(f"compiling the guest of Linux {version}")
    _build_guest(folder)
    about = {"version": version, "config": config, "guest": guest, "binary": binary_digest(folder)}
    write_json(folder / ABOUT, about)
    kernel = Kernel(folder, about)
    _self_test(kernel, say)
    write_bytes(cache() / "current", f"{name}\n".encode())
    return kernel


def missing_for_guest() -> list[str]:
    """Return what is missing to compile the guest and to create its file system, each with its remedy."""
    return _missing_of(GUEST_NEEDS)


def _missing_of(tools: Iterable[str]) -> list[str]:
    lacking = [f"{tool} is missing: it is in {NEEDED[tool]}" for tool in tools if not _which(tool)]
    if _which("gcc") and not _static_library():
        lacking.append("the static C library is missing: `apt install libc6-dev` (glibc-static elsewhere)")
    return lacking


def _missing(named: Path | None) -> list[str]:
    """The parsers to fetch. Raises EcnlabError for all that is missing and cannot be fetched."""
    lacking = _missing_of(NEEDED)
    path = source.tools().get("PATH", "")
    parsers = [tool for tool in PARSERS if not _which(tool) and not shutil.which(tool, path=path)]
    if not source.can_fetch():
        lacking += [f"{tool} is missing: `apt install {tool}`" for tool in parsers]
        if named is None:
            lacking.append(
                "there is no kernel source, and no Debian archive to fetch it from: get linux-6.18 or newer from kernel.org and "
                f"run `{BUILD} --source linux-6.18.tar.xz`"
            )
    if named is not None and not named.exists():
        lacking.append(f"the kernel source {named} does not exist")
    if lacking:
        raise EcnlabError("Linux cannot be built:\n" + "\n".join(f"  {line}" for line in lacking))
    return parsers


def _which(tool: str) -> str | None:
    return shutil.which(tool) or shutil.which(tool, path=os.pathsep.join(SBIN))


def _static_library() -> bool:
    with tempfile.TemporaryDirectory() as scratch:
        command = ["gcc", "-static", "-x", "c", "-o", f"{scratch}/a", "-"]
        program = "int main(void) { return 0; }"
        return subprocess.run(command, input=program, text=True, capture_output=True, check=False).returncode == 0


def _build_kernel(tree: Path, folder: Path, jobs: int, say: Say) -> None:
    """Configure and compile below ``folder``, which finally holds only the kernel."""
    scratch = folder.with_name(f".{folder.name}.partial")
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    objects, links = scratch / "objects", scratch / "source"
    _edited(tree, links)
    options = ["ARCH=um", f"O={objects}", *STAMP]
    requested = scratch / "asked.config"
    requested.write_text("".join(f"{line}\n" for line in config()))
    _make(links, [*options, f"KCONFIG_ALLCONFIG={requested}", "allnoconfig"], scratch)
    _check_config(objects / ".config")
    say(f"compiling Linux {source.version(tree)}: about six CPU minutes")
    with closing(_make_steps(links, [*options, f"-j{jobs}", "linux"], scratch)) as steps:
        for done in steps:
            say(f"compiling Linux: {done} files of about {FILES}")
    shutil.copy2(objects / "linux", scratch / "linux")
    shutil.copy2(objects / ".config", scratch / "config")
    shutil.rmtree(objects)
    shutil.rmtree(links)
    requested.unlink()
    scratch.rename(folder)


def _edited(tree: Path, links: Path) -> None:
    """Make ``links`` look like the source ``tree``, but for our edits. Raises EcnlabError if one does not apply."""
    subprocess.run(["cp", "-rs", str(tree), str(links)], check=True)
    for name, old, new in EDITS:
        # An earlier edit of the same file is kept.
        path = links / name
        text = path.read_text()
        if text.count(old) != 1:
            raise EcnlabError(
                f"{tree / name} is not the version that ecnlab can patch: use the source of Linux {source.PACKAGE[13:]}"
            )
        path.unlink()
        path.write_text(text.replace(old, new))
    for name, own in ADDED:
        shutil.copyfile(own, links / name)


def _check_config(made: Path) -> None:
    """Check that every requested option was accepted: Kconfig silently drops options with missing dependencies."""
    taken = set(made.read_text().splitlines())
    lost = [line for line in config() if line.startswith("CONFIG_") and line not in taken]
    if lost:
        raise EcnlabError(f"this kernel source does not have the options {', '.join(lost)}: use another version")


def _environment() -> dict[str, str]:
    own = source.tools()
    path = os.pathsep.join([part for part in (own.get("PATH"), os.environ.get("PATH")) if part])
    return {**os.environ, **own, "PATH": path}


def _make(tree: Path, words: list[str], scratch: Path) -> None:
    with closing(_make_steps(tree, words, scratch)) as steps:
        for _ in steps:
            pass


def _make_steps(tree: Path, words: list[str], scratch: Path) -> Generator[int, None, None]:
    """Run make at low priority; yields the number of files compiled. Raises EcnlabError with the end of its log."""
    log = scratch / "log"
    command = [*GROUP, "nice", "-n", "10", "make", "-C", str(tree), *words]
    parent = os.getpid()
    with log.open("wb") as file:
        child = subprocess.Popen(
            command,
            stdout=file,
            stderr=subprocess.STDOUT,
            env=_environment(),
            start_new_session=True,
            preexec_fn=lambda: end_with_parent(signal.SIGTERM, parent),
        )
        try:
            while child.poll() is None:
                time.sleep(STEP_S)
                yield len(re.findall(rb"^ +CC ", log.read_bytes(), re.MULTILINE))
        finally:
            # Also if the progress output fails. The compilers are in the process group of make.
            if child.poll() is None:
                with suppress(ProcessLookupError):
                    os.killpg(child.pid, signal.SIGTERM)
                child.wait()
    if child.returncode:
        tail = "\n".join(log.read_text(errors="replace").splitlines()[-15:])
        raise EcnlabError(f"the kernel did not compile ({log}):\n{tail}")


def _build_guest(folder: Path) -> None:
    build_root(folder / "root")
    _compile(["-O2", "-shared", "-fPIC", "-o", str(folder / "entropy.so"), str(HERE / "host/entropy.c")])


def build_container(program: Path) -> None:
    """The program that starts the guest on the machine's own kernel."""
    _compile(["-std=gnu11", "-O2", "-Wall", "-Wextra", "-o", str(program), str(HERE / "host/container.c")])


def build_root(root: Path) -> None:
    """The guest's file system: its program, ip and tc of this machine, and the libraries these need."""
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    _compile([*STATIC, "-o", str(root / "init"), *map(str, sorted((HERE / "guest").glob("*.c")))])
    for tool in ("ip", "tc"):
        install(Path(_which(tool) or tool), root)


def _compile(words: list[str]) -> None:
    done = subprocess.run(["gcc", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise EcnlabError(f"the guest does not compile:\n{done.stderr}")


def _self_test(kernel: Kernel, say: Say) -> None:
    """Boot, pass one virtual second with nothing in it, and power off."""
    began = time.perf_counter()
    with boot(kernel, {"plan": "run 1000000000 0 0 10000000\n"}, 1, 60.0):
        pass
    say(f"Linux {kernel.about['version']} boots and powers off, in {time.perf_counter() - began:.1f} s")
