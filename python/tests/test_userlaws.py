"""User-defined laws: equal to the simulator's own, part of a run's identity, and reported with file and line when they fail."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from conftest import ecnlab_command, mostly_slow

import ecnlab
from ecnlab import userlaws
from ecnlab._core import Cancel, Cancelled, RunError, Scenario, SpecError
from ecnlab.base.errors import EcnlabError, FolderError
from ecnlab.scenario.files import read_scenario

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
PAGE = (ROOT / "docs" / "userlaws.md").read_text()

WINDOW = """\
class Law:
    def grow(self, window, acked):
        window.cwnd += acked

    def on_congestion(self, window, event):
        window.ssthresh = window.cwnd / 2
        window.cwnd = window.mss
"""

QUEUE = """\
class Law:
    def on_enqueue(self, packet, queue, now, random):
        return "pass"
"""

SCENARIO = """\
format = 1
duration = "{seconds} s"

link.pipe = {{ from = "server", to = "client", rate = "5 Mbps", delay = "10 ms", queue = "q" }}
flow.bulk = {{ from = "server", to = "client", traffic = "ftp" }}

[queue.q]
{queue}
limit = "30 packets"
ecn = true

[tcp.default]
ecn = "rfc3168"
{tcp}
"""


def scenario(folder: Path, *, window: str = "", queue: str = "", seconds: int = 3) -> Path:
    """A scenario in ``folder`` whose laws have these texts; none: the simulator's own."""
    law = 'python = "law.py:Law"'
    (folder / "laws").mkdir(exist_ok=True)
    if window:
        (folder / "law.py").write_text(window)
    if queue:
        (folder / "laws" / "queue.py").write_text(queue)
    text = SCENARIO.format(
        seconds=seconds,
        queue='discipline = { python = "laws/queue.py:Law" }' if queue else 'discipline = "droptail"',
        tcp=f"congestion = {{ {law} }}" if window else "",
    )
    path = folder / "x.toml"
    path.write_text(text)
    return path


def tables_of(path: Path, **overrides: object) -> dict[str, bytes]:
    result = ecnlab.run(path, overrides={key.replace("__", "."): value for key, value in overrides.items()} or None)
    return {name: result.table(name).write_ipc(None).getvalue() for name in result.tables}


# Equality with the simulator's own laws.


@pytest.mark.parametrize("name", ["dumbbell", "mixed", "parking-lot", "chain", "coexist"])
def test_reno_in_python_gives_the_same_bytes_as_reno(name):
    path = EXAMPLES / f"{name}.toml"
    tcps = read_scenario(path).resolved["tcp"]
    of = {"native": "reno", "python": {"python": "laws/reno.py:Reno"}}
    short = {"duration": "12 s", "warmup": "2 s", **{f"tcp.{tcp}.profile": "modern" for tcp in tcps}}
    found = {}
    for kind, law in of.items():
        result = ecnlab.run(path, overrides={**short, **{f"tcp.{tcp}.congestion": law for tcp in tcps}})
        found[kind] = {table: result.table(table).write_ipc(None).getvalue() for table in result.tables}
    assert found["native"] == found["python"]


def test_a_step_in_python_gives_the_same_bytes_as_step():
    path = EXAMPLES / "userlaws.toml"
    queue = {"limit": "100 packets", "ecn": True}
    native = tables_of(path, queue__step={**queue, "discipline": "step", "threshold": "20 packets"})
    assert tables_of(path) == native
    assert tables_of(path, queue__step={**queue, "discipline": "step", "threshold": "19 packets"}) != native


def test_a_law_that_passes_all_gives_the_same_bytes_as_droptail(tmp_path):
    assert tables_of(scenario(tmp_path, queue=QUEUE)) == tables_of(scenario(tmp_path))


def test_a_random_law_in_python_draws_what_the_native_one_draws(tmp_path):
    # CHOKe's comparison below its least threshold does nothing; RED's early region is a draw of 53 bits.
    law = QUEUE.replace('return "pass"', 'return "drop" if random.random() < 0.02 else "pass"')
    first, again = (tables_of(scenario(tmp_path, queue=law)) for _ in range(2))
    assert first == again
    other = ecnlab.run(scenario(tmp_path, queue=law), 2)
    assert other.queues["forced_drops"].sum() > 0
    assert {name: other.table(name).write_ipc(None).getvalue() for name in other.tables} != first


def test_a_window_law_is_what_moves_the_window(tmp_path):
    constant = WINDOW.replace("window.cwnd += acked", "window.cwnd = 4 * window.mss")
    path = scenario(tmp_path, window=constant)
    series = ecnlab.run(path, overrides={"sample": "100 ms", "tcp.default.mss": "1000 B"}).flow_series
    # 4 segments, each with 12 bytes of timestamps, from the first ACK of data on; before that the initial window of 10.
    assert series["cwnd_bytes"].unique().sort().to_list() == [4 * 988, 10_000]


def test_each_run_executes_the_file_anew(tmp_path):
    law = "seen = []\n\n\n" + WINDOW.replace(
        "window.cwnd += acked", "seen.append(acked)\n        window.cwnd += acked if len(seen) < 900 else 1"
    )
    question = Scenario(str(scenario(tmp_path, window=law)), scenario(tmp_path, window=law).read_text())
    first, again = (ecnlab.run(question).flows for _ in range(2))
    assert first.equals(again)


def test_every_method_is_called_with_what_its_stub_says(tmp_path):
    window = """\
from ecnlab.userlaws import NO_THRESHOLD, WindowLaw

class Law(WindowLaw):
    def grow(self, window, acked):
        window.cwnd += min(acked, 2 * window.mss)
    def on_congestion(self, window, event):
        assert event.why in ("loss", "ecn", "timeout") and 0 < event.now < 3 and event.in_flight > 0
        window.ssthresh = window.cwnd = max(window.cwnd / 2, 2 * window.mss)
    def on_established(self, window, established):
        assert window.ssthresh == NO_THRESHOLD and not established.counts_marks
        assert established.rtt is None or established.rtt > 0.02
        assert isinstance(established.seed, int) and established.now >= 0
    def on_feedback(self, window, sample):
        assert sample.rate is None
    def on_ack(self, window, sample):
        assert sample.acked >= 0 and sample.delivered >= sample.marked and sample.lost_total >= sample.lost
        assert sample.min_rtt is None or sample.min_rtt <= sample.last_rtt
        assert sample.srtt is None or 0.02 < sample.srtt < 1
        if sample.rate:
            assert sample.rate.delivered > 0 and sample.rate.interval > 0 and not sample.in_recovery
    def on_sent(self, window, sent):
        assert 0 < sent.bytes <= window.mss and not sent.again
    def pacing(self, window):
        return 1e6, 2 * window.mss
    def codepoint(self):
        return "ect0"
    def limits_rate(self):
        return False
"""
    queue = """\
from ecnlab.userlaws import QueueLaw

class Law(QueueLaw):
    tick = 0.5
    def on_begin(self, link):
        assert (link.rate, link.delay, link.limit_packets, link.limit_bytes) in ((5e6, 0.01, 30, None),)
        self.ticks = 0
    def on_enqueue(self, packet, queue, now, random):
        assert packet.ecn in ("not-ect", "ect0", "ce") and packet.sojourn == 0 and packet.size <= 1500
        assert packet.can_mark == (packet.ecn != "not-ect") and queue.bytes <= queue.in_all
        assert 0 <= random.random() < 1 and random.below(3) in (0, 1, 2)
        return "signal" if queue.packets > 10 else "pass"
    def on_dequeue(self, packet, queue, now, random):
        assert 0 <= packet.sojourn <= now < 3
        return "pass"
    def on_empty(self):
        assert self.ticks < 7
    def on_tick(self, queue):
        self.ticks += 1
        assert queue.idle is None or queue.idle >= 0
"""
    result = ecnlab.run(scenario(tmp_path, window=window, queue=queue))
    assert result.queues["marks"].sum() > 0


# The law is part of a run's identity.


def test_a_changed_file_is_another_run_and_is_not_put_beside_the_old_one(tmp_path):
    path, out = scenario(tmp_path, window=WINDOW), tmp_path / "out"
    before = ecnlab.run(path, out=out)
    assert ecnlab.run(path, out=out).manifest["spec_hash"] == before.manifest["spec_hash"]
    scenario(tmp_path, window=WINDOW + "# a remark\n")
    with pytest.raises(FolderError, match=r"tcp\.default\.congestion\.sha256"):
        ecnlab.run(path, out=out)
    assert ecnlab.run(path).manifest["spec_hash"] != before.manifest["spec_hash"]


def test_a_sweep_does_the_law_in_its_workers_and_does_not_go_on_with_another_file(tmp_path):
    scenario(tmp_path, window=WINDOW)
    experiment, out = tmp_path / "e.toml", tmp_path / "out"
    experiment.write_text(
        'format = 1\nscenario = "x.toml"\nreplicates = 2\n'
        '[arm.ours]\nset = { "tcp.default.congestion" = { python = "law.py:Law" } }\n'
        '[arm.reno]\nset = { "tcp.default.congestion" = "reno" }\n'
        '[metrics.goodput]\ntable = "flows"\ncolumn = "goodput_bps"\naggregate = "sum"\n'
    )
    sweep = ecnlab.sweep(experiment, out, workers=2)
    assert sweep.runs["id"].n_unique() == 4 and sweep.metrics["value"].null_count() == 0
    assert ecnlab.sweep(experiment, tmp_path / "one", workers=1).metrics.equals(sweep.metrics)
    scenario(tmp_path, window=WINDOW + "# a remark\n")
    with pytest.raises(FolderError, match="sha256"):
        ecnlab.sweep(experiment, out)


def test_a_resolved_scenario_refuses_a_changed_file(tmp_path):
    path = scenario(tmp_path, window=WINDOW)
    resolved = ecnlab.run(path).manifest["spec"]
    law = resolved["tcp"]["default"]["congestion"]
    assert law["kind"] == "user-defined" and re.fullmatch("[0-9a-f]{64}", law["sha256"])
    scenario(tmp_path, window=WINDOW + "# a remark\n")
    with pytest.raises(SpecError, match="the file has changed: its SHA-256 is"):
        read_scenario(path).with_overrides({"tcp.default.congestion": law})


# Errors.


def refused(folder: Path, **laws: str) -> str:
    with pytest.raises(SpecError) as told:
        read_scenario(scenario(folder, **laws))
    return str(told.value).splitlines()[0]


BAD_FILES = {
    "x = 1\n": "`{law}` has no class `Law`",
    "Law = 3\n": "`{law}` has no class `Law`",
    "def broken(:\n": "{law}:1: SyntaxError: ",
    "\nimport no_such_module\n": "{law}:2: ModuleNotFoundError: No module named 'no_such_module'",
    "1 / 0\n": "{law}:1: ZeroDivisionError: division by zero",
    "class Law:\n    pass\n": "{law}: Law: the class has no method `grow(self, window, acked)`",
    "class Law:\n    def grow(self, window, acked): pass\n": "the class has no method `on_congestion(self, window, event)`",
    WINDOW + "    def on_conjestion(self): pass\n": "`on_conjestion` is not a method of a WindowLaw; there are grow, ",
    WINDOW + "    pacing = 3\n": "`pacing` is not a method; write `def pacing(self, window)`",
    WINDOW + "    def __init__(self, gain): pass\n": "TypeError: Law.__init__() missing 1 required positional argument",
    WINDOW
    + "    def __init__(self):\n        self.x = []\n        self.x[0]\n": "{law}:10, in Law.__init__: IndexError: ",
    "class Law:\n    grow = 1\n    raise SystemExit(3)\n": "{law}:3, in Law: SystemExit: 3",
}


@pytest.mark.parametrize("text", BAD_FILES)
def test_a_file_that_is_no_law_is_refused_with_the_key_that_names_it(tmp_path, text):
    told = refused(tmp_path, window=text)
    assert told.startswith(f"{tmp_path}/x.toml:14:")
    assert "`tcp.default.congestion.python`: " in told
    assert BAD_FILES[text].format(law=tmp_path / "law.py") in told


BAD_QUEUES = {
    "class Law:\n    def on_full(self): pass\n": "the class has no method `on_enqueue(self, packet, queue, now, random)` or",
    QUEUE + "    tick = 0\n    def on_tick(self, queue): pass\n": "`tick` is 0; write seconds",
    QUEUE + "    tick = float('nan')\n    def on_tick(self, queue): pass\n": "`tick` is nan; write seconds",
    QUEUE + "    tick = 1\n": "the class has no method `on_tick(self, queue)`",
    QUEUE + "    def on_drop(self): pass\n": "`on_drop` is not a method of a QueueLaw; there are on_enqueue, ",
}


@pytest.mark.parametrize("text", BAD_QUEUES)
def test_a_file_that_is_no_queue_law_is_refused_with_the_key_that_names_it(tmp_path, text):
    told = refused(tmp_path, queue=text)
    assert told.startswith(f"{tmp_path}/x.toml:8:") and "`queue.q.discipline.python`: " in told
    assert BAD_QUEUES[text] in told


def test_a_file_that_cannot_be_read_is_refused(tmp_path):
    path = scenario(tmp_path, window=WINDOW)
    law = tmp_path / "law.py"
    for make, says in (
        (lambda: law.write_bytes(b"\xff\xfe"), "is not UTF-8"),
        (lambda: law.write_bytes(b"x = 1\0"), "has a NUL byte"),
        (lambda: law.write_bytes(b"#" * (2**20 + 1)), "has more than 1 MiB"),
        (law.unlink, "cannot read"),
        (law.mkdir, "it is a folder, not a file"),
    ):
        make()
        with pytest.raises(SpecError, match=says) as told:
            read_scenario(path)
        assert f"{law}`" in str(told.value)


def failed(folder: Path, ecn: str = "rfc3168", **laws: str) -> str:
    with pytest.raises(RunError) as told:
        ecnlab.run(scenario(folder, **laws), overrides={"tcp.default.ecn": ecn})
    return str(told.value)


BAD_WINDOWS = {
    "raise KeyError('x')": "{law}:3, in Law.grow: KeyError: 'x'",
    "window.cwnd = float('nan')": "{law}:3, in Law.grow: ValueError: cwnd must be bytes, above 0 and finite, not NaN",
    "window.cwnd = float('inf')": "{law}:3, in Law.grow: ValueError: cwnd must be bytes, above 0 and finite, not inf",
    "window.cwnd = -1": "{law}:3, in Law.grow: ValueError: cwnd must be bytes, above 0 and finite, not -1",
    "window.cwnd = 0": "{law}:3, in Law.grow: ValueError: cwnd must be bytes, above 0 and finite, not 0",
    "window.cwnd = 'wide'": "{law}:3, in Law.grow: TypeError: ",
    "window.ssthresh = -1": "{law}:3, in Law.grow: ValueError: ssthresh must be bytes, 0 or more, not -1",
    "window.ssthresh = float('nan')": "{law}:3, in Law.grow: ValueError: ssthresh must be bytes, 0 or more, not nan",
    "window.mss = 9": "{law}:3, in Law.grow: AttributeError: ",
    "return window.cwnd": "{law}:2, in Law.grow: it returned ",
    "exit(1)": "{law}:3, in Law.grow: SystemExit: 1",
}


@pytest.mark.parametrize(
    "line",
    mostly_slow(
        BAD_WINDOWS, "raise KeyError('x')", "window.cwnd = float('nan')", "window.ssthresh = -1", "window.mss = 9"
    ),
)
def test_what_a_window_law_does_wrong_is_told_with_its_line(tmp_path, line):
    told = failed(tmp_path, window=WINDOW.replace("window.cwnd += acked", line))
    assert told.startswith(f"{tmp_path}/x.toml: `tcp.default.congestion.python`: ")
    assert BAD_WINDOWS[line].format(law=tmp_path / "law.py") in told
    assert "Traceback" not in told and "\n" not in told


def test_a_method_with_other_arguments_is_refused_with_its_line(tmp_path):
    told = refused(
        tmp_path, window=WINDOW.replace("grow(self, window, acked)", "grow(self, window)").replace("acked", "1")
    )
    assert f"{tmp_path}/law.py:2, in Law: `grow` takes (window), not (window, acked)" in told


BAD_ANSWERS = {
    "def pacing(self, window): return 3": "it returned 3, not None or (bytes a second, bytes at once)",
    "def pacing(self, window): return -1, 5": "it returned (-1, 5), not None or ",
    "def pacing(self, window): return float('nan'), 5": "it returned (nan, 5), not None or ",
    "def codepoint(self): return 'ce'": "it returned 'ce', not 'ect0' or 'ect1'",
    "def codepoint(self): return None": "it returned None, not 'ect0' or 'ect1'",
}


@pytest.mark.parametrize(
    "method", mostly_slow(BAD_ANSWERS, "def pacing(self, window): return 3", "def codepoint(self): return None")
)
def test_what_a_window_law_may_not_return_is_told_with_its_line(tmp_path, method):
    # Only where marks are counted is a law asked for its codepoint (RFC 9331 §4.2).
    told = failed(tmp_path, "dctcp", window=f"{WINDOW}    {method}\n")
    assert f"{tmp_path}/law.py:8, in Law." in told and BAD_ANSWERS[method] in told


BAD_VERDICTS = {
    "return None": "{law}:2, in Law.on_enqueue: it returned None, not 'pass', 'signal', ",
    "return True": "{law}:2, in Law.on_enqueue: it returned True, not 'pass', ",
    "return 'mark'": "{law}:2, in Law.on_enqueue: it returned 'mark', not 'pass', ",
    "return queue.length": "{law}:3, in Law.on_enqueue: AttributeError: ",
    "return 'pass' if random.below(0) else 'drop'": "{law}:3, in Law.on_enqueue: ValueError: below(0)",
}


@pytest.mark.parametrize("line", mostly_slow(BAD_VERDICTS, "return None", "return queue.length"))
def test_what_a_queue_law_does_wrong_is_told_with_its_line(tmp_path, line):
    told = failed(tmp_path, queue=QUEUE.replace('return "pass"', line))
    assert told.startswith(f"{tmp_path}/x.toml: `queue.q.discipline.python`: ")
    assert BAD_VERDICTS[line].format(law=tmp_path / "laws" / "queue.py") in told


def test_the_command_line_shows_the_law_s_own_lines_and_stores_nothing(tmp_path):
    path = scenario(tmp_path, window=WINDOW.replace("window.cwnd += acked", "1 / 0"))
    command = [*ecnlab_command(), "run", str(path), "--out", str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True)
    first, *lines = done.stderr.splitlines()
    assert done.returncode == 7 and "law.py:3, in Law.grow: ZeroDivisionError: division by zero" in first
    assert [line for line in lines if "File" in line] == [f'  File "{tmp_path / "law.py"}", line 3, in grow']
    assert not (tmp_path / "out").exists()


def test_a_sweep_tells_which_runs_a_law_has_failed(tmp_path):
    scenario(tmp_path, window=WINDOW.replace("window.cwnd += acked", "1 / 0"))
    (tmp_path / "e.toml").write_text('format = 1\nscenario = "x.toml"\nreplicates = 2\n')
    with pytest.raises(RunError, match=r"law\.py:3, in Law\.grow: ZeroDivisionError"):
        ecnlab.sweep(tmp_path / "e.toml", tmp_path / "out", workers=1)


def test_a_run_with_a_law_in_python_is_cancelled_like_any_other(tmp_path):
    path = scenario(tmp_path, window=WINDOW, seconds=100_000)
    cancel = Cancel()
    cancel.cancel()
    with pytest.raises(Cancelled):
        read_scenario(path).run(1, cancel=cancel)


def test_an_interrupt_in_a_law_is_an_interrupt(tmp_path):
    path = scenario(tmp_path, window=WINDOW.replace("window.cwnd += acked", "raise KeyboardInterrupt"))
    with pytest.raises(KeyboardInterrupt):
        read_scenario(path).run(1)


@pytest.mark.parametrize("engine", ["model"])
def test_other_engines_refuse_the_law(engine):
    with pytest.raises((SpecError, EcnlabError)):
        ecnlab.run(EXAMPLES / "userlaws.toml", engine=engine)


# The page.


def test_the_page_has_the_examples_as_they_are_and_names_every_method():
    for name in ("reno.py", "step.py"):
        assert f"```python\n{(EXAMPLES / 'laws' / name).read_text()}```" in PAGE
    for base in (userlaws.WindowLaw, userlaws.QueueLaw):
        for method in [name for name in vars(base) if not name.startswith("_")]:
            assert f"`{method}`" in PAGE or f"`{method}(" in PAGE, method


def test_the_page_shows_what_its_command_prints():
    command, shown = re.findall(r"```sh\n\.venv/bin/(ecnlab [^\n]*)\n```.*?```text\n(.*?)```", PAGE, re.DOTALL)[0]
    # pytest sets COLUMNS; without it, and without a terminal, every column is printed.
    env = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    done = subprocess.run(
        [*ecnlab_command(), *command.split()[1:]], cwd=ROOT, capture_output=True, text=True, check=True, env=env
    )
    printed = [line.rstrip() for line in done.stdout.splitlines()]
    assert [line for line in shown.splitlines() if line.rstrip() not in printed] == []
