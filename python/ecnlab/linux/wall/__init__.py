"""The machine's own kernel as an engine, in real time. Described in ``docs/linux.md``."""
