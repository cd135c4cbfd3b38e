"""``ecnlab completion``: scripts with which a shell completes commands, options and files."""

from __future__ import annotations

import sys
from typing import Final

import click
from click.shell_completion import get_completion_class

from ecnlab.cli.options import examples

SHELLS: Final = ("bash", "zsh", "fish")

VARIABLE: Final = "_ECNLAB_COMPLETE"
"""Click's name for the variable by which the script requests completions from ``ecnlab``."""


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
@examples("""
      eval "$(ecnlab completion bash)"        in ~/.bashrc; Bash 4.4 or newer
      eval "$(ecnlab completion zsh)"         in ~/.zshrc, after compinit
      ecnlab completion fish > ~/.config/fish/completions/ecnlab.fish
""")
def completion(shell: str) -> None:
    """Write a script for SHELL that completes commands, options and files of ecnlab."""
    root = click.get_current_context().find_root().command
    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"this version of Click does not support completion in {shell}")
    sys.stdout.write(kind(root, {}, "ecnlab", VARIABLE).source() + "\n")
