"""Workers and schedulers that attack the client of a sweep: code in pickles, names of files, text; and ports of others."""

from __future__ import annotations

import io
import os
import pickle
import subprocess
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import msgpack
import polars as pl
import pytest
from conftest import ecnlab_command, first_fast
from dask_processes import Processes, until
from proc import children, open_files
from test_blocks import block_size

import ecnlab
from ecnlab.base.errors import RunError
from ecnlab.folder import digests
from ecnlab.folder.part_files import checked_parts

pytest.importorskip("distributed", reason="Dask distributed is not installed (pip install 'distributed>=2026.8')")

from distributed.protocol import dumps, loads, to_serialize
from distributed.protocol.serialize import ToPickle

from ecnlab.runs import cluster_answer, cluster_comm
from ecnlab.runs.cluster import connected

EVIL = """
class Evil(Exception):
    def __reduce__(self):
        return eval, (f"open({marker!r}, 'a').write(str(__import__('os').getpid()) + chr(10))",)
"""

RETURNS = (
    EVIL
    + """
import distributed.worker as worker
if not hasattr(worker, "real"):  # Dask executes this text twice
    worker.real = worker._run_task_simple
worker._run_task_simple = lambda _task, _data, delay: worker.real(lambda _data: {work}, {{}}, delay)
"""
)
"""Preloaded by a worker that executes ``work`` in place of its task."""

FILES = """
from ecnlab.runs import cluster_worker
if not hasattr(cluster_worker, "real"):
    cluster_worker.real = cluster_worker.do
def do(asked):
    answer = cluster_worker.real(asked)
    {change}
    return answer
cluster_worker.do = do
"""
"""Preloaded by a worker that changes its ``answer``."""


NUMBERS = count()


@pytest.fixture(scope="module")
def processes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Processes]:
    """A scheduler without workers."""
    with Processes(tmp_path_factory.mktemp("dask")) as made:
        yield made


def failure(experiment: Path, out: Path, processes: Processes, preload: str, **options: object) -> str:
    """The error of a sweep whose only worker has ``preload``."""
    with connected(processes.address) as cluster:
        with processes.worker(f"hostile-{next(NUMBERS)}", preload) as worker:
            until(lambda: cluster.workers == 1, worker)
            with pytest.raises(RunError) as error:
                ecnlab.sweep(experiment, out, replicates=1, cluster=processes.address, **options)
        until(lambda: cluster.workers == 0)
    return str(error.value)


@pytest.mark.parametrize(
    ("work", "said"),
    [
        ("Evil()", "its worker returned a Python object, which is not decoded"),
        pytest.param(
            "[b'', Evil()]", "its worker returned a Python object, which is not decoded", marks=pytest.mark.slow
        ),
        pytest.param("b'no answer'", "its worker returned no answer of ecnlab", marks=pytest.mark.slow),
        ("(_ for _ in ()).throw(Evil())", "its worker failed with "),
    ],
    ids=["object", "list", "bytes", "exception"],
)
def test_no_code_of_a_worker_is_executed_by_the_client(experiment, processes, tmp_path, work, said):
    marker = tmp_path / "executed"
    preload = RETURNS.replace("{marker!r}", repr(str(marker))).format(work=work)
    assert said in failure(experiment, tmp_path / "out", processes, preload)
    executed = marker.read_text().split() if marker.exists() else []
    assert str(os.getpid()) not in executed


class Evil:
    """An object whose unpickling sets a flag."""

    executed = False

    def __reduce__(self):
        return _execute, ()


def _execute() -> str:
    Evil.executed = True
    return ""


def evil() -> bytes:
    return pickle.dumps(Evil())


MESSAGES = {
    "a pickled value": lambda: {"status": "OK", "data": ToPickle(Evil())},
    "a serialized value": lambda: {"status": "OK", "data": {"key": to_serialize(Evil())}},
    "a collection": lambda: {"status": "OK", "data": to_serialize([1, {"key": Evil()}])},
    "a nested message": lambda: [{"op": "task-erred", "key": "k", "exception": to_serialize(Evil())}],
    "the bytes of an exception": lambda: [{"op": "task-erred", "key": "k", "exception": evil(), "traceback": evil()}],
    "the type of a result": lambda: [{"op": "key-in-memory", "key": "k", "type": evil()}],
    "a warning": lambda: [
        {"op": "event", "topic": "warn", "event": (0, {"message": evil(), "category": evil()})},
        {"op": "key-in-memory", "key": "k"},
    ],
    "an error of the scheduler": lambda: {"status": "uncaught-error", "exception": evil(), "traceback": evil()},
}


@pytest.mark.parametrize("name", MESSAGES)
def test_no_message_carries_code(name):
    Evil.executed = False
    message = cluster_comm.decoded(dumps(MESSAGES[name]()))
    assert not Evil.executed
    flat = repr(message)
    assert "cnlab" not in flat or "Opaque" in flat or "TaskFailed" in flat
    for one in message if isinstance(message, tuple) else [message]:
        assert one.get("op") != "event" and "type" not in one
        assert not isinstance(one.get("exception"), bytes) and not isinstance(one.get("traceback"), bytes)


@pytest.mark.parametrize("name", ["a pickled value", "a serialized value"])
def test_dask_itself_would_execute_it(name):
    Evil.executed = False
    loads(dumps(MESSAGES[name]()))
    assert Evil.executed


@pytest.mark.parametrize("at", [0, -1, 99, "1", 1.0, True, [1]])
def test_a_message_that_refers_to_no_frame_is_refused(at):
    frames = [msgpack.packb({"x": {"__Serialized__": at}})]
    if at:
        with pytest.raises(Exception, match="refers to no frame"):
            cluster_comm.decoded(frames)
    else:
        assert cluster_comm.decoded(frames)


@pytest.mark.parametrize(
    ("change", "said"),
    first_fast(
        3,
        [
            ("answer['captures']['../../../../ESCAPED'] = b''", "returned the capture '../../../../ESCAPED'"),
            (
                "name = min(answer['captures']); answer['captures'][name] += b'x'",
                "whose content does not match its digest",
            ),
            ("answer['error'] = {'error': 'RunError', 'message': '\\x1b]0;title\\x07'}", "\\x1b]0;title\\x07"),
            ("answer['parts']['../../../../ESCAPED'] = b''", "'../../../../ESCAPED', which is no part of this run"),
            ("answer['captures']['/tmp/ESCAPED'] = b''", "returned the capture '/tmp/ESCAPED'"),
            ("answer['captures'].clear()", "did not return the capture"),
            ("answer['parts'] = [1]", "its worker returned no answer of ecnlab"),
            ("answer['surplus'] = 1", "its worker returned no answer of ecnlab"),
        ],
    ),
)
def test_files_that_were_not_asked_for_are_refused(experiment, processes, tmp_path, change, said):
    out = tmp_path / "deep" / "er" / "out"
    out.parent.mkdir(parents=True)
    error = failure(experiment, out, processes, FILES.format(change=change), capture=["pipe"])
    assert said in error and "\x1b" not in error
    assert not [path for path in tmp_path.rglob("*") if "ESCAPED" in path.name]
    assert not list(out.rglob("*.pcapng")) and not list(out.rglob("[!.]*.arrows"))


RUN = "0123456789abcdef"
OTHER = "fedcba9876543210"


def part(*runs: str, stem: str = "", **columns: object) -> tuple[str, bytes]:
    """Name and content of a part of ``runs`` with ``columns``, in addition to those that all have."""
    data = io.BytesIO()
    ids = list(runs or [RUN])
    captures = pl.Series([["0 a"] if len(ids) == 1 else []] * len(ids), dtype=pl.List(pl.String))
    pl.DataFrame({"id": ids, "captures": captures, **columns}).write_ipc_stream(data)
    stem = stem or (ids[0] if len(ids) == 1 else f"{ids[0]}-{len(ids)}")
    return f"{stem}.{digests.of_bytes(data.getvalue())}.arrows", data.getvalue()


def test_only_files_of_the_runs_are_accepted_with_the_content_of_their_names():
    name, data = part()
    row = b"a row"
    digest = digests.of_bytes(row)
    large = f"{RUN}.packets.{digest}.rows"
    refused = [
        ({name: b"a now"}, "content does not match its digest"),
        ({name: data, large: b"a now"}, "content does not match its digest"),
        ({f"{OTHER}{name[16:]}": data}, "other runs than its name"),
        ({f"{RUN}.x/../../{name}": data}, "no part of this run"),
        ({large: row}, "no part of this run"),
        ({name: data, f"{RUN}.secret.{digest}.rows": row}, "no part of this run"),
        ({name: data, f"{OTHER}.packets.{digest}.rows": row}, "no part of this run"),
        (dict([part(RUN, OTHER), (large, row)]), "no part of this run"),
        ({f"{RUN}.{digest}.arrows": row}, "is no table"),
        (dict([part("0" * 16)]), "no part of this run"),
        (dict([part(RUN, "0" * 16)]), "no part of this run"),
        (dict([part(RUN, RUN)]), "no part of this run"),
        (dict([part(RUN), part(OTHER, RUN)]), "no part of this run"),
        (dict([part(RUN), part(RUN, links=[[{"a": 1}]])]), "no part of this run"),
        (dict([part(OTHER, stem=RUN)]), "other runs than its name"),
        (dict([part(RUN, OTHER, stem=RUN)]), "other runs than its name"),
        (dict([part(RUN, OTHER, stem=f"{RUN}-02")]), "other runs than its name"),
        (dict([part(RUN, stem=f"{RUN}-1")]), "other runs than its name"),
        (dict([part(*map("{:016x}".format, range(61)))]), "no part of this run"),
        (dict([part(captures=[1])]), "whose column 'captures' is none of this run"),
        (dict([part(secret=[[{"a": 1}]])]), "whose column 'secret' is none of this run"),
        (dict([part(links=[1])]), "whose column 'links' is none of this run"),
    ]
    for files, said in refused:
        with pytest.raises(RunError, match=said):
            checked_parts(files, [RUN, OTHER], ["packets", "links"])
    accepted = {name: data, large: row, **dict([part(OTHER)])}
    assert checked_parts(accepted, [RUN, OTHER], ["packets"]) == {RUN: {"a": "0"}, OTHER: {"a": "0"}}
    assert checked_parts(dict([part(RUN, OTHER)]), [RUN, OTHER], []) == {RUN: {}, OTHER: {}}


def test_an_answer_has_results_or_errors_of_the_runs_that_were_requested(tmp_path):
    def store(**fields: object) -> set[str]:
        answer = cluster_answer.read(msgpack.packb({"worker": "w", **fields}))
        return cluster_answer.store(answer, tmp_path, [RUN, OTHER], [], {})

    error = {"error": "RunError", "message": "books"}
    refused = [
        ({}, "no result"),
        ({"errors": {"0" * 16: error}}, "'0000000000000000', which was not requested"),
        ({"errors": {RUN: error}, "parts": dict([part(RUN, OTHER)])}, "no part of this run"),
        ({"parts": dict([part(RUN)])}, "content does not match"),  # it has a capture
        *(({"seconds": seconds}, "no answer of ecnlab") for seconds in (-1.0, float("nan"), float("inf"), "1")),
    ]
    for fields, said in refused:
        with pytest.raises(RunError, match=said):
            store(**fields)
        assert not list(tmp_path.iterdir())
    assert store(errors={RUN: error}) == set()
    name, data = part(RUN, OTHER)
    assert store(parts={name: data}) == {RUN, OTHER}
    assert tmp_path.joinpath(name).read_bytes() == data


def test_runs_of_a_block_whose_answer_is_refused_are_done_alone(experiment, processes, tmp_path, monkeypatch):
    block_size(monkeypatch, 30)
    preload = FILES.format(change="len(asked['runs']) > 1 and answer['parts'].popitem() and answer.update(surplus=1)")
    with connected(processes.address) as cluster, processes.worker(f"hostile-{next(NUMBERS)}", preload) as worker:
        until(lambda: cluster.workers == 1, worker)
        calls: list[int] = []
        sweep = ecnlab.sweep(
            experiment,
            tmp_path / "out",
            replicates=5,
            cache=False,
            cluster=cluster,
            progress=lambda done, _: calls.append(done),
        )
    assert sweep.runs.height == 20 and calls == list(range(21))


def test_an_answer_is_shown_without_control_characters():
    answer = cluster_answer.read(msgpack.packb({"worker": "w\x1b[2J", "failed": "x" * 100_000}))
    assert answer.worker == "w\\x1b[2J" and len(answer.failed) == cluster_answer.MAX_TEXT


def listening(process: int) -> list[str]:
    """The sockets on which ``process`` and its children accept connections: lines of ``/proc/net``."""
    inodes = set()
    for one in family(process):
        inodes |= {link[8:-1] for link in open_files(one) if link.startswith("socket:[")}
    found = []
    for name, column, state in (("tcp", 9, "0A"), ("tcp6", 9, "0A"), ("unix", 6, "00010000")):
        for line in Path(f"/proc/{process}/net/{name}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[column] in inodes and fields[3] == state:
                found.append(f"{name} {line}")
    return found


def family(process: int) -> list[int]:
    return [process, *(one for child in children(process) for one in family(child))]


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="needs /proc")
def test_no_process_of_a_local_cluster_has_a_port(slow_experiment, tmp_path):
    pipe = slow_experiment.with_name("pipe.toml")
    pipe.write_text(pipe.read_text().replace('"2000 s"', '"2000000 s"'))  # hours
    command = ecnlab_command("sweep", slow_experiment, "--cluster", "local", "--workers", 2, "--out", tmp_path / "out")
    with (tmp_path / "said").open("w") as said:
        process = subprocess.Popen(command, stderr=said)
    try:
        until(lambda: len(family(process.pid)) >= 3 and "0 of 12 runs" in (tmp_path / "said").read_text(), process)
        assert listening(process.pid) == []
    finally:
        process.kill()
        process.wait()
    assert "cluster: local, 2 workers\n" in (tmp_path / "said").read_text()


def test_the_ports_of_a_scheduler_are_found(processes):
    assert listening(processes.scheduler.pid)
