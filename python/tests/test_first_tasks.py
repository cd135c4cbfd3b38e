"""The tasks of five newcomers in docs/first-tasks.md: each begins in an empty folder and gives what it promises."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from conftest import Cli, mostly_slow

import ecnlab

PAGE = (Path(__file__).parents[2] / "docs/first-tasks.md").read_text()
TASKS = dict(re.findall(r"^## (\w+): .*?\n```sh\n(.*?)```", PAGE, re.DOTALL | re.MULTILINE))

PROMISED: dict[str, tuple[str, tuple[str, ...]]] = {
    "Researcher": (r"fq_codel +sojourn_p99_prague", ("latency.svg", "results/aqms/report.html")),
    "Lecturer": (r"bottleneck", ("windows.svg", "queue.pdf")),
    "Implementer": (r"accepted", ("connection.html",)),
    "Engineer": (r"prague .*Mb/s.*dev ifb4eth0.* dualpi2 ", ("results/link/report.html",)),
    "Reader": (r"same|identical|equal", ()),
}
"""What the output has, and the files that are left."""


def test_there_is_a_task_for_each_newcomer_in_at_most_four_commands() -> None:
    assert list(TASKS) == list(PROMISED)
    assert all(len(task.splitlines()) <= 4 for task in TASKS.values())


@pytest.mark.parametrize("newcomer", mostly_slow(PROMISED, "Engineer"))
def test_the_task_gives_what_it_promises(newcomer: str, cli: Cli, tmp_path: Path) -> None:
    wanted, files = PROMISED[newcomer]
    output = ""
    for line in TASKS[newcomer].splitlines():
        program, *words = shlex.split(line)
        done = cli(*words)
        assert (program, done.returncode) == ("ecnlab", 0), f"{line}: {done.stderr}"
        output += done.stdout
    assert re.search(wanted, output, re.DOTALL), output
    for name in files:
        assert (tmp_path / name).stat().st_size > 1000, name


# The traps of these tasks, through the command. Others are in test_trace_verdicts.py (a bleached path, BBR that ignores
# marks and no flow with ECN, named after the run) and test_report_sweeps.py (an arm without values, on the page).

NEW = ("new", "--rate", "10Mbps", "--duration", "2s", "--out", "x.toml")


def edited(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))


def test_new_writes_bbr_without_ecn_and_check_warns_of_bbr_with_it(cli: Cli, tmp_path: Path) -> None:
    assert cli(*NEW, "--senders", "cubic,bbr,prague").returncode == 0
    (bbr,) = re.findall(r"\[tcp\.bbr\]\n(.*)\n", (tmp_path / "x.toml").read_text())
    assert re.fullmatch(r'ecn = "off" +# BBRv1 ignores marks: .*', bbr)
    assert cli("check", "x.toml").stderr == ""
    edited(tmp_path / "x.toml", bbr, 'ecn = "rfc3168"')
    warned = cli("check", "x.toml")
    assert warned.returncode == 0 and "its window law `bbr` ignores marks" in warned.stderr


@pytest.mark.parametrize(
    ("senders", "old", "says"),
    [
        ("dctcp", 'ecn = "dctcp"', "without ECN there are no marks"),
        ("cubic", 'ecn = "rfc3168"', "no flow uses ECN: nothing is marked"),
    ],
)
def test_check_warns_of_senders_whose_ecn_is_off(cli: Cli, tmp_path: Path, senders: str, old: str, says: str) -> None:
    assert cli(*NEW, "--senders", senders).returncode == 0
    edited(tmp_path / "x.toml", old, 'ecn = "off"')
    warned = cli("check", "x.toml")
    assert warned.returncode == 0 and says in warned.stderr


def test_check_warns_of_a_metric_over_all_links(cli: Cli, tmp_path: Path) -> None:
    assert cli(*NEW, "--sweep", "queues=fq_codel,codel").returncode == 0
    edited(
        tmp_path / "x-sweep.toml",
        '"column" = "sojourn_p50_s", "where" = { "link" = "bottleneck" }',
        '"column" = "sojourn_p50_s"',
    )
    warned = cli("check", "x-sweep.toml")
    assert warned.returncode == 0 and "the mean over 4 links: " in warned.stderr


def test_the_time_in_the_queue_is_of_each_sender_beside_the_link(cli: Cli, tmp_path: Path) -> None:
    """DualPI2 has a queue for L4S, drop-tail has one for all."""
    assert cli(*NEW, "--senders", "cubic,prague", "--sweep", "queues=dualpi2,droptail", "--seeds", "1").returncode == 0
    assert cli("sweep", "x-sweep.toml", "--workers", "1").returncode == 0
    rows = ecnlab.load(tmp_path / "results/x-sweep").metrics
    found = {(arm, name): value for arm, name, value in rows.select("arm", "metric", "value").iter_rows()}
    assert {name for _, name in found} >= {"sojourn_p99", "sojourn_p99_prague", "sojourn_p99_cubic"}
    assert found["droptail", "sojourn_p99_prague"] == pytest.approx(found["droptail", "sojourn_p99_cubic"], rel=0.05)
    assert found["dualpi2", "sojourn_p50_prague"] < 0.5 * found["dualpi2", "sojourn_p50_cubic"], found


def test_transactions_of_the_warm_up_are_left_out(cli: Cli, tmp_path: Path) -> None:
    assert cli(*NEW).returncode == 0
    size = '"1 kB"'
    crr = f'traffic = {{ kind = "crr", request = {size}, response = {size}, think = "10 ms" }}'
    text = re.sub(r"traffic = .*", crr, (tmp_path / "x.toml").read_text())
    (tmp_path / "x.toml").write_text(re.sub(r"warmup = .*", 'warmup = "1 s"', text))
    count = 'table = "transactions", aggregate = "count"'
    metrics = f"[metrics]\nmeasured = {{ {count} }}\nall = {{ {count}, where = {{ measured = [true, false] }} }}\n"
    (tmp_path / "e.toml").write_text(f'format = 1\nscenario = "x.toml"\nreplicates = 1\n{metrics}')
    done = cli("sweep", "e.toml", "--workers", "1")
    assert done.returncode == 0, done.stderr
    rows = ecnlab.load(tmp_path / "results/e").metrics
    found = dict(rows.select("metric", "value").iter_rows())
    # A transaction is two round trips of 20 ms and 10 ms of think time: 20 in each of the two seconds.
    assert found["measured"] == pytest.approx(20, abs=2) and found["all"] == pytest.approx(38, abs=3)
