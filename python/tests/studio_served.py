"""The studio's page, served to the browsers of tests."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import ThreadingHTTPServer

import pytest

from ecnlab.studio.server import SITE, serve

BUILT = pytest.mark.skipif(not (SITE / "index.html").exists(), reason="the studio is not built: `make studio`")

MARK_TO_CWR = (
    ("Next mark", "becomes CE"),
    ("Next ECE or ACE", "ECE in the acknowledgement"),
    ("Next reduction", "reduces its window"),
    ("Next CWR", "CWR in the next data packet"),
)
"""Buttons of the microscope, and words of the moment to which each leads."""


@contextmanager
def running(server: ThreadingHTTPServer) -> Iterator[str]:
    """The address of `server` while it serves."""
    with server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The address of the page on a server of this process."""
    with running(serve(0)) as root:
        yield root
