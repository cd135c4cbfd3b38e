"""Closed forms: what theory says a sender, and a queue full of senders, should do.

Functions take and return numpy arrays and broadcast; scalars will do. Units,
everywhere: windows in segments, queues in packets, times in seconds, rates in
packets a second (`units` converts), probabilities per packet. ``d`` is the
number of segments that one ACK acknowledges: 1 without delayed ACKs, 2 with
them. An argument no network could have is a ValueError that names it.
"""
