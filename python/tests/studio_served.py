"""The studio's page, served to the browsers of tests."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from ecnlab.studio.server import SITE, serve

BUILT = pytest.mark.skipif(not (SITE / "index.html").exists(), reason="the studio is not built: `make studio`")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The address of the page on a server of this process."""
    with serve(0) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()
