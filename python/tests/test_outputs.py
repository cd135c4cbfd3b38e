"""Files that a user names for output never replace a stored result, and `ecnlab verify` looks at every stored file."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Sequence
from itertools import cycle
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from conftest import EXPERIMENT, SCENARIO, Cli, first_fast, mostly_slow
from forked_cli import ForkedCli
from small_paper import in_place_of_the_papers
from test_score import scored

import ecnlab
from ecnlab import EcnlabError, FolderError, papers
from ecnlab.agreement import means
from ecnlab.cli import cli as ecnlab_cli
from ecnlab.folder.outputs import PAGE, write_named
from ecnlab.scoring import read, store
from ecnlab.vectors import vector
from ecnlab.vectors.export import export


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a result of every kind, and the files that they are of."""
    here = tmp_path_factory.mktemp("results")
    (here / "pipe.toml").write_text(SCENARIO + '\n[capture.pipe]\nlink = "pipe"\n')
    (here / "gain.toml").write_text(EXPERIMENT)
    ecnlab.run(here / "pipe.toml", out=here / "run")
    ecnlab.sweep(here / "gain.toml", out=here / "sweep", replicates=1, workers=2)
    store(scored("droptail", here / "card", ["ecn"]), here / "card")
    for name in ("rto-backoff", "codel-control-law"):
        export(vector(name), here / "vectors")
    with pytest.MonkeyPatch.context() as patch:
        in_place_of_the_papers(here, SCENARIO, patch)
        papers.reproduce_all(here / "papers-done", workers=2)
        # The simulator stands in for the kernel, under its name.
        real = means.sweep
        patch.setattr(means, "sweep", lambda *args, engine, **named: real(*args, **named))
        means.agree(here / "gain.toml", here / "agreement", replicates=2, workers=2)
    return here


@pytest.fixture
def cli_of(results: Path, forked: ForkedCli) -> Cli:
    """The command line, called in the folder of `results`."""
    return lambda *arguments: forked.call([str(argument) for argument in arguments], results)


def hashes(folder: Path) -> dict[str, str]:
    """The hash of every stored file by its path."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != ".lock"]
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


COMMANDS = (
    ("report", "run", "-o"),
    ("report", "sweep", "-o"),
    ("report", "card", "-o"),
    ("report", "run/captures/pipe.pcapng", "-o"),
    ("report", "run", "--against", "run", "-o"),
    ("plot", "run", "queue", "-o"),
    ("trace", "run/captures/pipe.pcapng", "--html"),
    ("score", "compare", "card", "card", "--out"),
    ("new", "--out"),
)
"""Commands whose last option names a file."""

BESIDE = (
    ("trace", "run/captures/pipe.pcapng", "--parquet"),
    ("vectors", "export", "--out"),
    ("examples", "copy", "dumbbell", "--out"),
)
"""Commands whose last option names a folder that may have other files."""

FOLDERS = (
    ("run", "other.toml", "--out"),
    ("score", "aqm", "codel", "--scenario", "ecn", "--out"),
    ("score", "all", "l4s", "--scenario", "codepoint", "--out"),
    ("sweep", "other-gain.toml", "--out"),
    ("reproduce", "rfc2884", "--out"),
)
"""Commands whose last option names a folder of their own."""

TARGETS = (
    "run/manifest.json",
    "sweep/tables/runs.parquet",
    "card/card.html",
    "vectors/rto-backoff.jsonl",
    "papers-done/small/report.html",
    "agreement/agreement.html",
)

KINDS = ("run", "sweep", "card", "vectors", "papers-done", "agreement")
"""Folders of `results`."""


@pytest.mark.parametrize(
    ("command", "targets"),
    first_fast(
        len(COMMANDS),
        [
            (COMMANDS[0], TARGETS),
            # Every other command with a file of one kind of folder.
            *((command, [target]) for command, target in zip(COMMANDS[1:], cycle(TARGETS))),
            *((command, TARGETS) for command in COMMANDS[1:]),
        ],
    ),
    ids=lambda words: " ".join(words),
)
def test_no_command_replaces_a_stored_file(
    results: Path, cli_of: Cli, command: tuple[str, ...], targets: Sequence[str]
) -> None:
    before = hashes(results)
    ending = {"plot": ".svg", "new": ".toml"}.get(command[0], ".html")
    link = results / f"link{ending}"
    for target in targets:
        link.symlink_to(target)
        for out in (target, link.name):
            ended = cli_of(*command, out)
            assert ended.returncode == 2, (out, ended.stdout, ended.stderr)
            assert out in ended.stderr and "choose another" in ended.stderr, ended.stderr
        link.unlink()
    assert hashes(results) == before


@pytest.mark.parametrize("command", mostly_slow(FOLDERS, *FOLDERS[:2]), ids=" ".join)
def test_no_command_replaces_a_stored_folder(results: Path, cli_of: Cli, command: tuple[str, ...]) -> None:
    (results / "other.toml").write_text(SCENARIO.replace("max_p = 0.1", "max_p = 0.2"))
    (results / "other-gain.toml").write_text(EXPERIMENT.replace('"pipe.toml"', '"other.toml"'))
    before = hashes(results)
    for folder in (one for one in (*KINDS[:4], "papers-done/small", "agreement") if one != command[0]):
        ended = cli_of(*command, folder)
        assert ended.returncode == 2, (folder, ended.stdout, ended.stderr)
        assert folder in ended.stderr and "another" in ended.stderr
    assert hashes(results) == before


@pytest.mark.parametrize("command", mostly_slow(BESIDE, BESIDE[0]), ids=" ".join)
def test_files_in_a_stored_folder_replace_none_of_its_own(results: Path, cli_of: Cli, command: tuple[str, ...]) -> None:
    before = hashes(results)
    for folder in ("run", "sweep", "card", "agreement", *(["vectors"] if command[0] != "vectors" else [])):
        cli_of(*command, folder)
        after = hashes(results)
        assert {name: after[name] for name in before} == before, folder
        for name in after.keys() - before.keys():
            (results / name).unlink()


def test_a_page_beside_the_tables_of_a_result_is_written(results: Path, cli_of: Cli, tmp_path: Path) -> None:
    for command, out in (
        (("report", "run"), "run/report.html"),
        (("plot", "run", "queue", "-o", "run/queue.svg"), "run/queue.svg"),
        (("report", "run/captures/pipe.pcapng"), "run/captures/pipe.pcapng.html"),
        (("report", "run/captures/pipe.pcapng"), "run/captures/pipe.pcapng.html"),
        (("report", "card"), "card/card.html"),
    ):
        ended = cli_of(*command)
        assert ended.returncode == 0, ended.stderr
        assert (results / out).is_file()
    assert cli_of("verify", ".").returncode == 0
    (tmp_path / "there").symlink_to(results / "run")
    assert cli_of("report", tmp_path / "there").returncode == 0  # a folder behind a link is that folder
    for name in ("report.html", "queue.svg", "captures/pipe.pcapng.html"):
        (results / "run" / name).unlink()


def test_links_devices_and_pipes_are_no_output(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "out.html").symlink_to(tmp_path / "page.html")
    (tmp_path / "a" / "null.html").symlink_to(os.devnull)
    (tmp_path / "a" / "in.html").symlink_to("true.html")
    os.mkfifo(tmp_path / "pipe.html")
    for name, why in (
        ("a/out.html", "is a link to"),
        ("a/null.html", "is a device or a pipe"),
        ("pipe.html", "is a device or a pipe"),
    ):
        with pytest.raises(EcnlabError, match=why):
            write_named(tmp_path / name, b"x", PAGE)
    with pytest.raises(EcnlabError, match=r"must end with \.html or \.htm"):
        write_named(tmp_path / "page", b"x", PAGE)
    write_named(tmp_path / "a" / "in.html", b"x", PAGE)
    assert (tmp_path / "a" / "true.html").read_bytes() == b"x" and not (tmp_path / "page.html").exists()


def test_a_foreign_manifest_protects_only_itself(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text('{"name": "a web application", "icons": []}')
    write_named(tmp_path / "index.html", b"x", PAGE)
    with pytest.raises(EcnlabError, match="belongs to the result"):
        write_named(tmp_path / "manifest.json", b"x", (".json",))


def verify(folder: Path) -> Result:
    """`ecnlab verify` in this process."""
    return CliRunner().invoke(ecnlab_cli, ["verify", str(folder)])


@pytest.mark.parametrize("kind", KINDS)
def test_verify_finds_a_flipped_bit_in_every_file(results: Path, kind: str, tmp_path: Path) -> None:
    shutil.copytree(results / kind, tmp_path / kind)
    ours = [path for path in (tmp_path / kind).rglob("*") if path.is_file() and path.name != ".lock"]
    assert verify(tmp_path / kind).exit_code == 0
    for path in ours:
        data = path.read_bytes()
        middle = len(data) // 2
        path.write_bytes(data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :])
        ended = verify(tmp_path / kind)
        assert ended.exit_code == 1 and str(path) in ended.stderr, (path, ended.output)
        path.write_bytes(data)


def test_a_missing_file_of_a_card_is_found(results: Path, tmp_path: Path, cli) -> None:
    shutil.copytree(results / "card", tmp_path / "card")
    (tmp_path / "card" / "card.json").unlink()
    ended = cli("verify", tmp_path / "card")
    assert ended.returncode == 1 and "card.json is missing: `ecnlab score aqm droptail" in ended.stderr


def test_a_card_without_digests_is_verified_by_its_own(results: Path, tmp_path: Path, cli) -> None:
    shutil.copytree(results / "card", tmp_path / "card")
    (tmp_path / "card" / "files.json").unlink()
    assert cli("verify", tmp_path / "card").returncode == 0
    card = tmp_path / "card" / "card.json"
    card.write_bytes(card.read_bytes().replace(b'"quick"', b'"quicK"', 1))
    assert cli("verify", tmp_path / "card").returncode == 1


def test_a_damaged_file_of_a_card_is_written_again(results: Path, tmp_path: Path) -> None:
    shutil.copytree(results / "card", tmp_path / "card")
    damaged = [tmp_path / "card" / name for name in ("card.json", "card.html", "runs-quick/ecn.scenario.toml")]
    whole = [path.read_bytes() for path in damaged]
    for path in damaged:
        path.write_bytes(path.read_bytes()[:-9])
    store(scored("droptail", tmp_path / "card", ["ecn"]), tmp_path / "card")
    assert [path.read_bytes() for path in damaged[::2]] == whole[::2]
    assert ecnlab.folder.verified.verify(tmp_path / "card")[1] == []


def test_a_folder_keeps_its_card_vectors_and_paper(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(results / "card", tmp_path / "card")
    with pytest.raises(FolderError, match=r"has a card of `score aqm`, drop-tail against .*choose another folder"):
        scored("codel", tmp_path / "card", ["ecn"])
    assert read(tmp_path / "card")["subject"]["name"] == "droptail"
    shutil.copytree(results / "vectors", tmp_path / "vectors")
    with pytest.raises(EcnlabError, match=r"rto-backoff\.jsonl exists with another content: choose another folder"):
        export(vector("rto-backoff"), tmp_path / "vectors", overrides={"tcp.default.min_rto": "200 ms"})
    with pytest.raises(FolderError, match=r"has a result of another kind \(vectors, not reproduction\)"):
        in_place_of_the_papers(tmp_path, SCENARIO, monkeypatch)
        papers.reproduce("small", tmp_path / "vectors")
    (tmp_path / "vectors" / "rto-backoff.qlog").write_text("damaged")
    export(vector("rto-backoff"), tmp_path / "vectors")
    assert hashes(tmp_path / "vectors") == hashes(results / "vectors") | {
        "files.json": hashes(tmp_path / "vectors")["files.json"]
    }
