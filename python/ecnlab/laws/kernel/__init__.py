"""Tools to describe a law's counterpart in the Linux kernel: lines for ``tc``, findings, counters."""
