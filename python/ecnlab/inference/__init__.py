"""Which unstated settings could have given printed numbers, and do any (``docs/infer.md``)."""
