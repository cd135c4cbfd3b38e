"""Firefox for tests of the studio: Debian's firefox-esr, driven by WebDriver BiDi, which it has without a driver of its own.

https://w3c.github.io/webdriver-bidi/ defines the commands. They are JSON over a WebSocket (RFC 6455).
"""

from __future__ import annotations

import base64
import json
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

FIREFOX = shutil.which("firefox-esr")
WAIT = 30.0
"""Seconds until an expected state of the page is missing: runs of the module for tests are slow on a loaded machine."""

MASK = 0x55
MASKED = bytes(byte ^ MASK for byte in range(256))

KEYS = {"Home": "\ue011", "Right": "\ue014", "Tab": "\ue004"}
"""Names of keys, and their code points in WebDriver: https://www.w3.org/TR/webdriver2/#keyboard-actions."""


class WebSocket:
    """A client of RFC 6455: messages of text, without pings, to a server on this machine."""

    def __init__(self, port: int, path: str) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=WAIT)
        self._input = self._socket.makefile("rb")
        key = base64.b64encode(bytes(16)).decode()
        self._socket.sendall(
            f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n".encode()
        )
        status = self._input.readline()
        assert b" 101 " in status, status
        while self._input.readline() != b"\r\n":
            pass

    def send(self, text: str) -> None:
        """Send one frame. Its mask has four equal bytes; Firefox refuses the mask 0."""
        data = text.encode()
        length = len(data)
        if length < 126:
            head = bytes([0x80 | length])
        elif length < 1 << 16:
            head = bytes([0x80 | 126]) + length.to_bytes(2, "big")
        else:
            head = bytes([0x80 | 127]) + length.to_bytes(8, "big")
        self._socket.sendall(b"\x81" + head + bytes([MASK] * 4) + data.translate(MASKED))

    def receive(self) -> str:
        """Return the next message, of one frame or several."""
        message = b""
        while True:
            head = self._input.read(2)
            assert head, "Firefox has closed the connection"
            first, length = head
            if length >= 126:
                length = int.from_bytes(self._input.read(2 if length == 126 else 8), "big")
            message += self._input.read(length)
            if first & 0x80:
                return message.decode()

    def close(self) -> None:
        self._input.close()
        self._socket.close()


class Firefox:
    """A window of Firefox. ``messages`` has the page's errors, violations of its content policy, and console messages."""

    def __init__(self, port: int, downloads: Path) -> None:
        self.downloads = downloads
        self._bidi = WebSocket(port, "/session")
        self._commands = 0
        self.messages: list[str] = []
        self.call("session.new", capabilities={})
        self.call("session.subscribe", events=["log.entryAdded"])
        self._window = self.call("browsingContext.getTree")["contexts"][0]["context"]

    def call(self, method: str, **params: Any) -> Any:
        """Return the result of a command."""
        self._commands += 1
        self._bidi.send(json.dumps({"id": self._commands, "method": method, "params": params}))
        while True:
            found = json.loads(self._bidi.receive())
            if found["type"] == "event":
                self.messages.append(found["params"]["text"] or "")
            elif found["id"] == self._commands:
                assert found["type"] == "success", found["message"]
                return found["result"]

    def open(self, address: str, size: tuple[int, int]) -> None:
        """Open ``address`` in a window of ``size``, in CSS pixels, and remove the messages of earlier pages."""
        self.call("browsingContext.navigate", context=self._window, url="about:blank", wait="complete")
        self.messages.clear()
        self.size(size)
        self.call("browsingContext.navigate", context=self._window, url=address, wait="complete")

    def size(self, size: tuple[int, int]) -> None:
        """Set width and height of the window, in CSS pixels."""
        viewport = {"width": size[0], "height": size[1]}
        self.call("browsingContext.setViewport", context=self._window, viewport=viewport)

    def eval(self, script: str) -> Any:
        """Return the value of a JavaScript expression; ``$`` and ``$$`` find elements by selector, ``button`` by its text."""
        whole = f"""() => {{
          const $ = selector => document.querySelector(selector), $$ = selector => [...document.querySelectorAll(selector)];
          const button = name => $$("button").find(one => one.textContent === name);
          return JSON.stringify({script});
        }}"""
        target = {"context": self._window}
        found = self.call("script.callFunction", functionDeclaration=whole, target=target, awaitPromise=False)
        assert found["type"] == "success", found["exceptionDetails"]["text"]
        return json.loads(found["result"].get("value", "null"))

    def wait(self, script: str, holds: Callable[[Any], object] = bool) -> Any:
        """Return the value of ``script`` as soon as it ``holds``."""
        end = time.monotonic() + WAIT
        while not holds(value := self.eval(script)):
            assert time.monotonic() < end, f"{script} is {value!r} after {WAIT:g} s; messages: {self.messages}"
            time.sleep(0.02)
        return value

    def click(self, element: str) -> None:
        """Click in the middle of the element that the JavaScript expression returns, as soon as the window has it."""
        x, y = self.wait(f"""(one => {{
          one?.scrollIntoView({{ block: "center" }});
          const found = one?.getBoundingClientRect();
          return found?.width ? [found.x + found.width / 2, found.y + found.height / 2].map(Math.round) : null;
        }})({element})""")
        press = [{"type": f"pointer{way}", "button": 0} for way in ("Down", "Up")]
        self._act({"type": "pointer", "id": "mouse", "actions": [{"type": "pointerMove", "x": x, "y": y}, *press]})

    def press(self, *keys: str) -> None:
        """Press and release keys: characters, or names of ``KEYS``."""
        values = [KEYS.get(key, key) for key in keys]
        actions = [{"type": f"key{way}", "value": value} for value in values for way in ("Down", "Up")]
        self._act({"type": "key", "id": "keyboard", "actions": actions})

    def choose(self, selector: str, file: Path) -> None:
        """Choose ``file`` in the file input that ``selector`` finds."""
        script, target = f"document.querySelector({json.dumps(selector)})", {"context": self._window}
        found = self.call("script.evaluate", expression=script, target=target, awaitPromise=False)["result"]
        element = {"sharedId": found["sharedId"]}
        self.call("input.setFiles", context=self._window, element=element, files=[str(file)])

    def tab_to(self, selector: str, most: int = 60) -> None:
        """Press Tab until an element that matches has the focus."""
        for _ in range(most):
            self.press("Tab")
            if self.eval(f"document.activeElement.matches({json.dumps(selector)})"):
                return
        raise AssertionError(f"{most} presses of Tab do not reach {selector}")

    def _act(self, source: dict[str, Any]) -> None:
        self.call("input.performActions", context=self._window, actions=[source])

    def close(self) -> None:
        self.call("browser.close")
        self._bidi.close()


@contextmanager
def launched(profile: Path) -> Iterator[Firefox]:
    """A headless Firefox with a new profile in the folder ``profile``; it saves files in the folder ``downloads`` there."""
    downloads = profile / "downloads"
    preferences = {"browser.download.folderList": 2, "browser.download.dir": str(downloads)}
    lines = (f"user_pref({json.dumps(key)}, {json.dumps(value)});\n" for key, value in preferences.items())
    (profile / "user.js").write_text("".join(lines))
    command = [str(FIREFOX), "--headless", "--no-remote", "--remote-debugging-port=0", "--profile", str(profile)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            found = Firefox(_port(profile / "WebDriverBiDiServer.json", process), downloads)
            yield found
            found.close()
            process.wait(WAIT)
        finally:
            process.kill()


def _port(file: Path, process: subprocess.Popen[bytes]) -> int:
    """Wait for the file that Firefox writes as soon as it accepts connections."""
    end = time.monotonic() + 2 * WAIT
    while not file.exists() or not file.read_text():
        assert process.poll() is None, f"Firefox ended with status {process.returncode}"
        assert time.monotonic() < end, "Firefox accepts no connection"
        time.sleep(0.02)
    return int(json.loads(file.read_text())["ws_port"])


@pytest.fixture(scope="module")
def firefox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Firefox]:
    if FIREFOX is None:
        pytest.skip("needs Firefox in PATH: `apt-get install firefox-esr`")
    with launched(tmp_path_factory.mktemp("profile")) as found:
        yield found
