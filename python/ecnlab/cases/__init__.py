"""Test cases of a specification as scenarios with checks: see ``docs/bbr3-cases.md``."""

from ecnlab.cases.case import Case, case, names, read

__all__ = ["Case", "case", "names", "read"]
