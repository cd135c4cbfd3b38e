"""The Linux kernel as an engine: in virtual time, in a process of the user. Described in ``docs/linux.md``."""
