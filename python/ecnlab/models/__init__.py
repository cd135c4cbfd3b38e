"""Closed forms: what theory says a sender, and a queue full of senders, should do.

Functions take and return numpy arrays and broadcast; scalars will do. Units,
everywhere: windows in segments, queues in packets, times in seconds, rates in
packets a second (`units` converts), probabilities per packet. ``d`` is the
number of segments that one ACK acknowledges: 1 without delayed ACKs, 2 with
them. An argument no network could have is a ValueError that names it.

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
