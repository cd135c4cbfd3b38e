"""Which queue for one access line: the candidates in both directions, a decision, and the ``tc`` lines (docs/advise.md)."""
