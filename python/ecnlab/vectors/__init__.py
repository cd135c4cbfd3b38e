"""Test vectors of congestion control, ECN feedback and queues: see ``docs/vectors.md``."""

from ecnlab.vectors.vector import Rule, Vector, names, vector

__all__ = ["Rule", "Vector", "names", "vector"]
