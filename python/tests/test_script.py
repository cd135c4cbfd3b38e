"""``ecnlab script``: plays the package's scripts and a user's own, and names the line that does not hold."""

from __future__ import annotations

import json

import pytest

RIGHT = """\
rule    The first segment is a SYN.
source  RFC 9293 §3.5
include textbook
each mss in 1460 1000
set mss = $mss B
0.000 connect
      > S 0:0 win 65535 <mss $mss>
0.100 abort
"""


@pytest.fixture
def played(cli, tmp_path):
    def play(text: str, *options: str):
        (tmp_path / "mine.script").write_text(text)
        return cli("script", "mine.script", *options)

    return play


def test_the_scripts_of_a_folder_of_the_package_hold(cli):
    done = cli("script", "ecn-negotiation")
    assert (done.returncode, done.stderr) == (0, "")
    held, of, *_ = done.stdout.split()[0], done.stdout.split()[2]
    assert held == of and int(of) > 10
    assert "ecn-negotiation/reflected-flags" in cli("script", "--list").stdout.splitlines()
    assert cli("script", "ecn-negotiation/reflected-flags").returncode == 0


def test_a_script_is_played_once_for_each_variant(played):
    done = played(RIGHT)
    assert done.stdout == "2 of 2 scripts hold\n"
    rows = json.loads(played(RIGHT, "--json").stdout)
    assert [row["script"] for row in rows] == ["mine [mss=1460]", "mine [mss=1000]"]
    assert {row["source"] for row in rows} == {"RFC 9293 §3.5"} and not any(row["failure"] for row in rows)


def test_the_first_segment_that_differs_is_shown_with_its_line(played):
    done = played(RIGHT.replace("S 0:0 win 65535 <mss $mss>", "S 0:0 win 65535 <mss 1000>"))
    assert done.returncode == 1
    assert "FAILED mine [mss=1460]: The first segment is a SYN." in done.stdout
    assert "--> mine.script:7" in done.stdout and "differs in options" in done.stdout
    assert "came      0.000 > S 0:0 win 65535 <mss 1460>" in done.stdout
    assert done.stdout.endswith("1 of 2 scripts hold\n")


def test_files_beside_a_script_come_before_those_of_the_package(played, tmp_path):
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "textbook.inc").write_text("profile modern\nset nonsense = 1\n")
    assert "a TCP has no setting `nonsense`" in played(RIGHT).stdout


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ("rule ", "ruler ", "`ruler` is no command"),
        ("include textbook", "include ../textbook", "`include NAME`, of letters, digits, `-` and `_`"),
        (
            "include textbook",
            "include nothing-here",
            "no file is included by this name: none of ./include/nothing-here.inc, ",
        ),
        ("0.100", "18446744073709.0", "`18446744073709.0` is not a time in seconds"),
        ("0.100", "10000000.0", "a script ends within a million seconds"),
        ("abort", "< . 1:4000000000/1 ack 1", "more than 100000 segments"),
        ("abort", "< . 1:2 ack 1 x18446744073709551615", "more than 100000 segments"),
        ("abort", "write 99999999999999999999", "is no number of bytes"),
        ("abort", "check moon 1", "`moon` is nothing that can be checked"),
        ("1460 1000", " ".join(map(str, range(20_000))), "more than 10000 variants"),
        (
            "0.000 connect\n      > S 0:0 win 65535 <mss $mss>\n",
            "write 1\n",
            "no `connect` or `listen` came before this line",
        ),
    ],
)
def test_a_mistake_is_named_with_its_line(played, right, wrong, message):
    done = played(RIGHT.replace(right, wrong))
    assert done.returncode == 1
    assert message in done.stdout and "mine.script:" in done.stdout
    assert "Traceback" not in done.stderr and "panicked" not in done.stderr


def test_a_name_that_does_not_exist_is_refused(cli):
    done = cli("script", "moon")
    assert done.returncode == 2
    assert "moon: no script has this name, and no file; `ecnlab script --list`" in done.stderr


def test_a_file_that_is_no_text_is_refused(cli, tmp_path):
    (tmp_path / "mine.script").write_bytes(b"\xff\xfe\x00")
    done = cli("script", "mine.script")
    assert done.returncode == 1 and "FAILED mine.script" in done.stdout
    assert "error: byte 0 is not UTF-8; a script is text in UTF-8\n --> mine.script\n" in done.stdout


@pytest.mark.parametrize("text", ["", "# a comment\n\n"])
def test_an_empty_file_is_refused_by_its_name(played, text):
    done = played(text)
    assert done.returncode == 1
    assert "error: the script is empty; it begins with a line `rule`\n --> mine.script\n" in done.stdout


def test_a_folder_without_scripts_is_refused(cli, tmp_path):
    (tmp_path / "notes").mkdir()
    done = cli("script", "notes")
    assert done.returncode == 2 and "notes: the folder has no file that ends in .script" in done.stderr
