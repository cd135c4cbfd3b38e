"""How the file of a law describes its twin in the Linux kernel: lines for ``tc``, findings, counters."""
