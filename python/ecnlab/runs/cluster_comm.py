"""Connections to a Dask scheduler over which the client receives data, but no Python objects.

Dask pickles what its messages carry, and unpickling executes code that the sender chooses: a worker, or the scheduler. The
transport here decodes msgpack and bytes only, and passes on the messages that `cluster` needs. Its addresses are those of Dask
with the prefix ``ecnlab+``.
"""

from __future__ import annotations

import pickletools
import re
import struct
from collections.abc import Mapping, Sequence
from ssl import SSLError
from typing import Any, Final

import msgpack  # type: ignore[import-untyped]
from distributed.comm.core import CommClosedError
from distributed.comm.registry import backends
from distributed.comm.tcp import (
    TCP,
    TLS,
    TCPBackend,
    TCPConnector,
    TLSBackend,
    TLSConnector,
    read_bytes_rw,
)
from distributed.protocol.compression import decompress
from distributed.protocol.utils import msgpack_opts, unpack_frames
from tornado.iostream import IOStream, StreamClosedError

PREFIX: Final = "ecnlab+"

KEPT: Final[dict[str, frozenset[str]]] = {
    "key-in-memory": frozenset({"key"}),
    "lost-data": frozenset({"key"}),
    "cancelled-keys": frozenset({"keys"}),
    "task-retried": frozenset({"key"}),
    "task-erred": frozenset({"key", "exception"}),
    "restart": frozenset(),
    "adjust-heartbeat-interval": frozenset({"interval"}),
    "stream-start": frozenset({"error", "warning"}),
    "stream-closed": frozenset(),
    "close": frozenset(),
}
"""Operations of the scheduler that the client executes, with the fields that it receives; others are dropped.

Among these are "event", whose warnings Dask unpickles, and the ``type`` of "key-in-memory".
"""


class TaskFailed(Exception):
    """A task ended without an answer. The message is text of the scheduler or of a worker."""


class Opaque:
    """A Python object that was received and not decoded."""

    def __init__(self, *parts: object) -> None:
        self.data = b"".join(bytes(part) for part in parts if isinstance(part, bytes | bytearray | memoryview))


def decoded(frames: Sequence[Any]) -> Any:
    """Return the message in ``frames``: numbers, text, bytes and containers of them. Raises ValueError for any other."""

    def hook(value: Mapping[str, Any]) -> Any:
        if (at := value.get("__Serialized__")) or (at := value.get("__Pickled__")):
            if type(at) is not int or not 0 < at < len(frames):
                raise ValueError("a message refers to no frame of it")
            header = msgpack.loads(frames[at], use_list=False, **msgpack_opts)
            content = frames[at + 1 : at + 1 + header["num-sub-frames"]]
            return _content(header, _merged(header, content))
        if "__Set__" in value:
            return set(value["as-list"])
        if "__Enum__" in value:
            return value["name"]
        return value

    return _vetted(msgpack.loads(frames[0], object_hook=hook, use_list=False, **msgpack_opts))


def _merged(header: Mapping[str, Any], frames: Sequence[Any]) -> list[Any]:
    """Return ``frames`` decompressed, and without the splits of large ones, as `distributed.protocol.serialize` does."""
    frames = decompress(dict(header), frames) if "compression" in header else list(frames)
    if "split-num-sub-frames" not in header:
        return frames
    places = zip(header["split-num-sub-frames"], header["split-offsets"], strict=True)
    return [frames[at] if number == 1 else b"".join(frames[at : at + number]) for number, at in places]


def _content(header: Mapping[str, Any], frames: Sequence[Any]) -> bytes | Opaque:
    """Return the bytes in ``frames``; any other object is `Opaque`."""
    if header.get("serializer") == "dask" and header.get("type") == "bytes":
        return b"".join(frames)
    return Opaque(header.get("pickled-obj"), *frames)


def _vetted(message: Any) -> Any:
    """Return ``message`` without what Dask's client would unpickle or need not know."""
    if isinstance(message, tuple | list):
        return tuple(one for one in map(_vetted, message) if one is not None)
    if not isinstance(message, dict):
        return message
    if "op" in message:
        if (kept := KEPT.get(message["op"])) is None:
            return None
        message = {key: value for key, value in message.items() if key in kept or key == "op"}
    if "exception" in message or message.get("status") == "uncaught-error":
        failed = TaskFailed(_reason(message.get("exception")))
        return {**message, "exception": failed, "traceback": None}
    return message


def _reason(exception: object) -> str:
    """Return the type and text of a pickled ``exception``, without unpickling it."""
    data = exception.data if isinstance(exception, Opaque) else exception
    if not isinstance(data, bytes):
        return str(data)
    texts: list[str] = []
    numbers: list[int] = []
    try:
        for operation, argument, _ in pickletools.genops(data):
            if isinstance(argument, str):
                texts.append(argument)
            elif isinstance(argument, int) and operation.name.startswith("BININT"):
                numbers.append(argument)
    except Exception:  # not a pickle
        return "an exception that cannot be read"
    if "KilledWorker" in texts:
        times = f"{numbers[-1] + 1} times " if numbers and numbers[-1] else ""
        workers = [text for text in texts if re.fullmatch(r"\w+://[\w.:\[\]-]+", text)]
        return f"{times}its worker died" + (f", the last time {workers[-1]}" if workers else "")
    return "its worker failed with " + ": ".join(text for text in texts[1:3] if text)


class _Guarded(TCP):
    """A connection that reads no Python objects. The format of frames is that of `distributed.comm.tcp.TCP.read`."""

    async def read(self, deserializers: object = None) -> Any:
        """Return the next message, of which pickled parts are `Opaque`."""
        del deserializers
        if self.stream is None:
            raise CommClosedError
        try:
            frames = await _frames(self.stream)
        except (StreamClosedError, SSLError) as error:
            self.stream = None
            self._closed = True
            raise CommClosedError(f"the scheduler has closed the connection: {error}") from error
        except BaseException:
            self.abort()
            raise
        try:
            return decoded(frames)
        except Exception as error:
            self.abort()
            raise CommClosedError(f"a message that is not one of Dask's: {error}") from error


async def _frames(stream: IOStream) -> list[Any]:
    (size,) = struct.unpack("Q", await stream.read_bytes(8))
    first: Any = await read_bytes_rw(stream, size)
    frames, sizes = unpack_frames(first, partial=True)
    return [*frames, *[await read_bytes_rw(stream, one) for one in sizes]]


class _GuardedTls(_Guarded, TLS):
    """The same over TLS."""


class _TcpConnector(TCPConnector):
    prefix = f"{PREFIX}tcp://"
    comm_class = _Guarded


class _TlsConnector(TLSConnector):
    prefix = f"{PREFIX}tls://"
    comm_class = _GuardedTls


class _TcpBackend(TCPBackend):
    _connector_class = _TcpConnector


class _TlsBackend(TLSBackend):
    _connector_class = _TlsConnector


def guarded(address: str) -> str:
    """Return the guarded form of ``address``. One within this process ("inproc") has none."""
    if address.startswith("inproc://"):
        return address
    backends.setdefault(f"{PREFIX}tcp", _TcpBackend())
    backends.setdefault(f"{PREFIX}tls", _TlsBackend())
    return f"{PREFIX}{address}"
