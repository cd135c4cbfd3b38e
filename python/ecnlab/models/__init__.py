"""Closed-form models of senders and of a queue shared by senders.

Functions take and return numpy arrays and broadcast; scalars will do. Units,
everywhere: windows in segments, queues in packets, times in seconds, rates in
packets a second (`units` converts), probabilities per packet. ``d`` is the
number of segments per ACK: 1 without delayed ACKs, 2 with
them. Arguments out of range raise ValueError, which names the argument.

`aimd` and `padhye` are published models, `ecn` is derived in this project,
`red` models the queue and `equilibrium` the operating point of queue and
senders; `compare` compares a prediction with a run. Derivations and limits:
``docs/models.md``.
"""

from ecnlab.models import aimd, ecn, padhye, red, units
from ecnlab.models.compare import Prediction, compare, usual_timeout
from ecnlab.models.equilibrium import Equilibrium, equilibrium

__all__ = [
    "Equilibrium",
    "Prediction",
    "aimd",
    "compare",
    "ecn",
    "equilibrium",
    "padhye",
    "red",
    "units",
    "usual_timeout",
]
