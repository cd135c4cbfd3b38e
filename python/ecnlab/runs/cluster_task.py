"""The request that a client sends to a Dask worker for a block of runs, and the function that answers it there.

A request has all that its runs need: the scenario's text, the files of its laws and traces by content with their SHA-256, and
the version and binary that the worker must have.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ecnlab import _core
from ecnlab._core import Scenario
from ecnlab.base import provenance
from ecnlab.base.errors import EcnlabError
from ecnlab.runs import scenario_files


def request(scenario: Scenario, task: Mapping[str, Any]) -> dict[str, Any]:
    """Return the request for the runs of ``scenario`` that ``task`` has (`block.task_of`, or with ``metrics``).

    Raises EcnlabError if a file has changed since the scenario was read, or has an absolute path; OSError.
    """
    return {
        **task,
        "version": _core.__version__,
        "build": provenance.build(),
        "path": scenario.path,
        "text": scenario.to_toml(),
        "hash": scenario.hash,
        "files": _files(scenario),
        "captures": scenario.captures,
    }


def _files(scenario: Scenario) -> dict[str, tuple[str, bytes]]:
    """The files that ``scenario`` names by their paths relative to its folder: SHA-256 and content."""
    folder, found = Path(scenario.path).parent, {}
    for name, digest in scenario_files.named(scenario).items():
        if Path(name).is_absolute():
            raise EcnlabError(
                f"{scenario.path}: the file {name} has an absolute path, which the workers of a cluster do not have: "
                f"write it relative to the folder of the scenario"
            )
        data = (folder / name).read_bytes()
        if hashlib.sha256(data).hexdigest() != digest:
            scenario_files.refuse_changed({str(folder / name): digest})
        found[name] = (digest, data)
    return found


def answer(requested: dict[str, Any]) -> bytes:
    """Do the runs on a Dask worker, if it has the same ecnlab; return a packed `cluster_answer.Answer`.

    Where the version or the binary differs, or there is no ecnlab, it has ``refused``. It raises nothing, because the client
    decodes no exceptions. This function is sent by value: it uses nothing that the worker may lack.
    """
    import importlib
    import socket

    import msgpack  # type: ignore[import-untyped]
    from distributed import get_worker

    worker = f"{get_worker().address} on {socket.gethostname()}"

    def done() -> dict[str, Any]:
        try:
            version = importlib.import_module("ecnlab._core").__version__
            build = importlib.import_module("ecnlab.base.provenance").build()
        except Exception as error:
            return {"refused": f"no ecnlab that can be imported ({type(error).__name__}: {error})"}
        if (version, build) != (requested["version"], requested["build"]):
            return {"refused": f"ecnlab {version} with binary {build}"}
        return dict(importlib.import_module("ecnlab.runs.cluster_worker").do(requested))

    try:
        return bytes(msgpack.packb({"worker": worker, **done()}))
    except Exception as error:
        return bytes(msgpack.packb({"worker": worker, "failed": f"{type(error).__name__}: {error}"}))


def bokeh() -> bytes:
    """Return ``b"installed"`` on a scheduler with Bokeh, which its dashboard needs."""
    import importlib.util

    return b"installed" if importlib.util.find_spec("bokeh") else b""


# cloudpickle sends functions of this module by value; schedulers and workers without ecnlab can load them.
answer.__module__ = bokeh.__module__ = "__main__"


def refusal(worker: str, refused: str) -> EcnlabError:
    """Return the error about a ``worker`` whose ecnlab is not the client's: ``refused`` is what it has."""
    return EcnlabError(
        f"the worker {worker} has {refused}, this process has ecnlab {_core.__version__} with binary "
        f"{provenance.build()}: results of two binaries must not be mixed. Install the same wheel in both "
        f"environments (or start ecnlab from the environment of the workers) and restart that worker; finished runs are "
        f"stored, and the same command continues"
    )


def depth(names: Mapping[str, Any]) -> int:
    """Return how many folders above that of the scenario the relative paths ``names`` reach."""
    return max((Path(os.path.normpath(name)).parts.count(os.pardir) for name in names), default=0)
