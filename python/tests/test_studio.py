"""The command that serves the studio, and the links that open scenarios in it."""

from __future__ import annotations

import json
import threading
import urllib.request
import zlib
from base64 import urlsafe_b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from called import called

import ecnlab
from ecnlab import Scenario
from ecnlab.studio import server
from ecnlab.studio.opened import address
from ecnlab.studio.share import fragment

ROOT = Path(__file__).parents[2]


def document(end: str) -> dict[str, Any]:
    """The document in the end of an address, decoded by the rules that ``studio/src/share.ts`` states."""
    version, _, data = end.partition("?s=")[2].partition(".")
    assert version == "1"
    decoded: dict[str, Any] = json.loads(zlib.decompress(urlsafe_b64decode(data + "=" * (-len(data) % 4)), wbits=-15))
    return decoded


def test_a_link_has_the_whole_document() -> None:
    end = fragment(["a = 1", "b = 'ü'"], 7, part="microscope", files={"r.csv": "0,1"})
    assert end.startswith("#/microscope?s=1.")
    assert document(end) == {"arms": ["a = 1", "b = 'ü'"], "seed": 7, "files": {"r.csv": "0,1"}}


def test_a_scenario_is_opened_with_the_traces_that_it_names() -> None:
    path = ROOT / "examples" / "mobile.toml"
    found = document(address(path))
    assert found["arms"] == [path.read_text()]
    assert found["files"] == {"traces/lte-slow.csv": (path.parent / "traces/lte-slow.csv").read_text()}


def test_a_run_is_opened_as_a_scenario_with_the_same_hash_and_seed(tmp_path: Path) -> None:
    scenario = tmp_path / "one.toml"
    scenario.write_text((ROOT / "studio/src/default.toml").read_text().replace('"20 s"', '"5 s"'))
    run = ecnlab.run(scenario, seed=0)
    run.save(tmp_path / "run")
    found = document(address(tmp_path / "run"))
    opened = tmp_path / "opened.toml"
    opened.write_text(found["arms"][0])
    assert found["seed"] == 0
    assert Scenario(str(opened), opened.read_text()).hash == run.manifest["spec_hash"]


def test_an_experiment_is_refused_with_what_can_be_opened(capsys: Any, monkeypatch: Any) -> None:
    code, _, err = called(capsys, monkeypatch, "studio", ROOT / "examples" / "gain.toml")
    assert code == 2
    assert "opens a scenario or the folder of a run" in err


@pytest.mark.parametrize(("name", "what"), [("quic", "QUIC"), ("userlaws", "a law in Python")])
def test_a_scenario_that_a_browser_does_not_run_is_refused(name: str, what: str, capsys: Any, monkeypatch: Any) -> None:
    code, _, err = called(capsys, monkeypatch, "studio", ROOT / "examples" / f"{name}.toml")
    assert code == 2
    assert f"{name}.toml has {what}, which the studio does not run; use `ecnlab run`" in " ".join(err.split())


def test_a_studio_that_is_not_built_is_an_error_with_the_remedy(capsys: Any, monkeypatch: Any, tmp_path: Path) -> None:
    monkeypatch.setattr(server, "SITE", tmp_path)
    code, _, err = called(capsys, monkeypatch, "studio", "--no-browser")
    assert code == 2
    assert "make studio" in err


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[str]:
    monkeypatch.setattr(server, "SITE", tmp_path)
    (tmp_path / "index.html").write_text("<p>page")
    (tmp_path / "a.wasm").write_bytes(b"\0asm")
    with server.serve(0) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()
        thread.join()


def test_the_page_is_served_with_its_types(served: str) -> None:
    with urllib.request.urlopen(f"{served}/") as page:
        assert page.read() == b"<p>page"
    with urllib.request.urlopen(f"{served}/a.wasm") as module:
        assert module.headers["Content-Type"] == "application/wasm"


def test_a_port_in_use_is_an_error(served: str, capsys: Any, monkeypatch: Any) -> None:
    code, _, err = called(capsys, monkeypatch, "studio", "--no-browser", "--port", served.rpartition(":")[2])
    assert code == 2
    assert "`--port`" in err
