"""Names of laws that ecnlab lacks or has by another name are answered by the remedy, in every command that takes a law."""

from __future__ import annotations

import pytest

COMMANDS = {
    "laws": ["laws", "{name}"],
    "check": ["check", "one.toml"],
    "new": ["new", "--senders", "{name}", "--out", "x.toml"],
    "score": ["score", "cc", "{name}", "--out", "card"],
}

SCENARIO = """
format = 1
duration = "1 s"
[tcp.default]
congestion = "{name}"
"""

LINK = """
format = 1
duration = "1 s"

link.a = {{ from = "x", to = "y", rate = "1 Mbps", delay = "1 ms", queue = "{queue}" }}
queue.pie = {{ discipline = "{discipline}", limit = "9 packets" }}
"""


def printed(done) -> str:
    """All that the command printed, in one line."""
    assert done.returncode == 2 or (done.args[-1].endswith(".toml") and done.returncode == 1), done
    return " ".join((done.stdout + done.stderr).split())


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("name", ["bbr2", "bbrv2", "BBR-v2", "tcp_bbr2"])
def test_versions_1_and_3_of_bbr_are_there(cli, tmp_path, name, command):
    (tmp_path / "one.toml").write_text(SCENARIO.format(name=name))
    text = printed(cli(*(word.format(name=name) for word in COMMANDS[command])))
    assert "ecnlab has versions 1 and 3 of BBR: write `bbr` or `bbr3`" in text
    assert "did you mean" not in text


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("tcp_cubic", "; did you mean `cubic`?"),
        ("tcp_bbr", "; did you mean `bbr`?"),
        ("westwood", "; ecnlab does not have this window law; a law of your own is a class of Python"),
        ("bic", "; ecnlab does not have this window law"),
        ("cubik", "; did you mean `cubic`?"),
    ],
)
def test_other_names_have_their_remedy(cli, tmp_path, name, remedy, command):
    (tmp_path / "one.toml").write_text(SCENARIO.format(name=name))
    assert remedy in printed(cli(*(word.format(name=name) for word in COMMANDS[command])))


def test_a_queue_with_a_number_is_no_version_of_a_law(cli, tmp_path):
    (tmp_path / "one.toml").write_text(LINK.format(queue="pie2", discipline="pie2"))
    text = printed(cli("check", "one.toml"))
    assert "version 1" not in text
    (tmp_path / "two.toml").write_text(LINK.format(queue="pie", discipline="sch_codel"))
    assert "cannot be `sch_codel`; did you mean `codel`?" in printed(cli("check", "two.toml"))
    assert "; write `red`, whose table `adaptive` is Adaptive RED" in printed(
        cli("score", "aqm", "ared", "--out", "card")
    )
