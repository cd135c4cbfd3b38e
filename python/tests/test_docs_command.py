"""``ecnlab docs``, and the groups of ``ecnlab --help``."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

from ecnlab.cli.lazy_commands import GROUPS, MODULES

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "python" / "ecnlab"


def test_the_pages_are_listed_and_printed(cli):
    listed = dict(line.split(maxsplit=1) for line in cli("docs").stdout.splitlines())
    assert listed["laws/red"] == "RED" and listed["README"] == "Documentation"
    for name in ("traffic", "docs/traffic.md"):
        text = cli("docs", name).stdout
        assert text.startswith("# ") and "cbr" in text and "<!--" not in text
    done = cli("docs", "trafic")
    assert done.returncode == 2
    assert "no page is called 'trafic'; did you mean 'traffic'?; `ecnlab docs` lists them" in done.stderr


def test_pages_that_messages_name_exist(cli):
    listed = {line.split()[0] for line in cli("docs").stdout.splitlines()}
    files = [*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.toml")]
    files += (ROOT / "papers").glob("*/*.toml")
    named = {name for file in files for name in re.findall(r"`ecnlab docs ([a-z/-]+)`", file.read_text())}
    assert named and named <= listed


def test_a_written_scenario_names_no_file_that_a_wheel_lacks(cli, tmp_path):
    cli("new", "--senders", "reno,cubic", "--queue", "red", "--out", "x.toml")
    text = (tmp_path / "x.toml").read_text()
    assert "`ecnlab docs scenario`" in text and "docs/" not in text


def test_texts_of_reports_and_copied_files_name_no_file_that_a_wheel_lacks():
    files = [*(ROOT / "examples").glob("*.toml"), *(PACKAGE / "vectors").rglob("*.toml")]
    texts = [file.read_text() for file in files]
    for kind in ("report", "metrics", "reasons"):
        read = [tomllib.loads(file.read_text()) for file in (ROOT / "papers").glob(f"*/{kind}.toml")]
        assert read
        texts += [json.dumps(one) for one in read]
    assert not [found for text in texts for found in re.findall(r"docs/[a-z/-]+\.md", text)]


def test_help_has_every_command_in_a_group_with_a_whole_sentence(cli):
    shown = cli("--help").stdout
    headings = re.findall(r"^([A-Z][a-z]+):$", shown, re.MULTILINE)
    assert headings == ["Options", *GROUPS]
    assert re.findall(r"^  ([a-z]+) {2,}[A-Z]", shown, re.MULTILINE) == list(MODULES)
    assert not [line for line in shown.splitlines()[1:] if line.endswith("...")]
