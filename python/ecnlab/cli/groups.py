"""``ecnlab --help``: the commands in groups, each with its first sentence."""

from __future__ import annotations

import inspect

import click

from ecnlab.cli import unread
from ecnlab.cli.lazy_commands import GROUPS


class Commands(unread.Commands):
    """The group of all commands."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write each group of commands below its heading."""
        for heading, names in GROUPS.items():
            rows = [(name, _sentence(self.commands[name])) for name in names]
            with formatter.section(heading):
                formatter.write_dl(rows, col_max=12)


def _sentence(command: click.Command) -> str:
    """Return the first paragraph of the help of ``command``, in one line."""
    return " ".join(inspect.cleandoc(command.help or "").split("\n\n")[0].split())
