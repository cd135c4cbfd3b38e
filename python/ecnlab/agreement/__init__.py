"""The simulator compared with the Linux kernel: means of metrics, and packet by packet."""
