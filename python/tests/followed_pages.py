"""Pages that `make newlaw` follows: their steps, and the files that they leave in a copy of the files that they name."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]

sys.path.insert(0, str(CHECKOUT / "tests" / "tools" / "newlaw"))
import newlaw  # noqa: E402
from steps import Add, Create, Run, StaleError, read  # noqa: E402

__all__ = ["CHECKOUT", "Add", "Create", "Page", "Run", "StaleError", "newlaw", "read"]


class Page:
    """A page of `docs`, with the paths that it names."""

    def __init__(self, name: str) -> None:
        self.text = (CHECKOUT / "docs" / name).read_text()
        self.steps = read(self.text)
        self.created = {step.path: step.text for step in self.steps if isinstance(step, Create)}
        self.added = {step.path for step in self.steps if isinstance(step, Add)}
        self.commands = [step.command for step in self.steps if isinstance(step, Run)]

    def copy(self, tree: Path) -> Path:
        """Copies to ``tree`` the files that the page changes, those that it creates as far as they exist, and test modules."""
        modules = CHECKOUT.glob("crates/*/tests/*/mod.rs")
        for path in {*self.created, *self.added, *(str(module.relative_to(CHECKOUT)) for module in modules)}:
            (tree / path).parent.mkdir(parents=True, exist_ok=True)
            if (CHECKOUT / path).exists():
                shutil.copy2(CHECKOUT / path, tree / path)
        return tree

    def apply(self, tree: Path) -> list[str]:
        """Applies the page to ``tree``. Returns the paths that it changes or creates."""
        before = {path: (tree / path).read_text() for path in self.added if (tree / path).exists()}
        for step in self.steps:
            if not isinstance(step, Run):
                step.apply(tree)
        assert all((tree / path).read_text() != text for path, text in before.items() if path not in self.created)
        return [*self.created, *before]


def check_rustfmt(tree: Path, files: list[str]) -> None:
    """Fails unless rustfmt leaves the files as they are."""
    rustfmt = shutil.which("rustfmt")
    assert rustfmt
    format_ = [rustfmt, "--check", "--edition", "2024", "--config-path", str(CHECKOUT)]
    done = subprocess.run([*format_, *files], cwd=tree, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
