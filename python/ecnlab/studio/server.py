"""A web server on loopback for the studio's files."""

from __future__ import annotations

from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final

from ecnlab.base.errors import EcnlabError

SITE: Final = Path(__file__).parent / "site"
"""What `make studio` builds; wheels have it."""


class Pages(SimpleHTTPRequestHandler):
    """Serves the files of a folder, without a log."""

    extensions_map = SimpleHTTPRequestHandler.extensions_map | {".wasm": "application/wasm", ".js": "text/javascript"}

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Log nothing."""


def serve(port: int) -> ThreadingHTTPServer:
    """Return a server of the studio at `port` of 127.0.0.1; 0 is any free port. Its caller calls ``serve_forever``.

    Raises `EcnlabError` if the studio is not built or the port is in use.
    """
    if not (SITE / "index.html").is_file():
        raise EcnlabError(
            "the studio is not built; `make studio` builds it, which needs Node.js and npm; wheels have it"
        )
    try:
        return ThreadingHTTPServer(("127.0.0.1", port), partial(Pages, directory=str(SITE)))
    except OSError as error:
        raise EcnlabError(f"port {port} cannot be used: {error.strerror}; choose another with `--port`") from None
