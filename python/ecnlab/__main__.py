"""``python -m ecnlab``: the command line."""

from ecnlab.cli import main

main()
