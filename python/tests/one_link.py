"""A scenario with one link, called ``pipe``, and one flow, for tests of the link."""

from __future__ import annotations

from typing import Final

TAIL: Final = 'discipline = "droptail"\nlimit = "100 packets"'
"""Lines of a drop-tail queue."""

FTP: Final = 'traffic = "ftp"'

RENO: Final = '[tcp.default]\ncongestion = "reno"\n'
"""A table for the end of a scenario's text."""


def one_link(link: str, queue: str = TAIL, flow: str = FTP, **head: str) -> str:
    """The scenario's text with these lines of its link, its queue and its flow, and the keys ``head`` outside tables."""
    keys = "".join(f'{key} = "{value}"\n' for key, value in head.items())
    return f"""
format = 1
{keys}
[link.pipe]
from = "a"
to = "b"
{link}
queue = "q"
[queue.q]
{queue}
[flow.bulk]
from = "a"
to = "b"
{flow}
"""
