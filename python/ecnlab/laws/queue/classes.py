"""A tree of queues: classes, each with a discipline of its own, and a scheduler."""

from __future__ import annotations

from typing import Final

from ecnlab.laws.kinds import Queue

LAW: Final = Queue(label="classes")
