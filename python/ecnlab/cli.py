"""The command line, a command for each thing to do.

Described in ``docs/cli.md``. Results go to standard output, everything else to standard error.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, TypeVar

import click
import polars as pl

from ecnlab import _core, console, store
from ecnlab._core import Experiment
from ecnlab.columns import PREDICTION, SUMMARY, TABLES
from ecnlab.console import late
from ecnlab.engines import CLOCKS, ENGINES, LINUX, MODEL, PACKETS, seed_for, suffix, with_clock
from ecnlab.errors import EcnlabError, RunError, SpecError, TraceFailure
from ecnlab.results import compare as compare_folders
from ecnlab.results import load
from ecnlab.run import CAPTURES, Run
from ecnlab.run import run as run_scenario
from ecnlab.scenario import check as check_file
from ecnlab.scenario import read_experiment, read_scenario, with_captures
from ecnlab.sweep import Sweep
from ecnlab.sweep import sweep as sweep_experiment
from ecnlab.trace import Trace, changes
from ecnlab.trace import trace as analyse
from ecnlab.types import Engine, FileKind, Standard

OK: Final = 0
NO: Final = 1
BAD_INPUT: Final = 2
IO_FAILED: Final = 3
DEFECT: Final = 4
NO_EVIDENCE: Final = 5
INTERRUPTED: Final = 130

NOT_EVIDENCE: Final = "the run is stored, but is no evidence (docs/linux.md, real time):"

BRIEF: Final = {
    "flows": ["name", "group", "ecn", "goodput_bps", "retransmits", "timeouts", "ecn_reductions", "rtt_mean_s"],
    "queues": ["link", "group", "arrived", "departed", "marks", "early_drops", "forced_drops", "tail_drops"],
    "links": ["link", "utilisation", "delivered", "lost", "queue_mean_packets", "sojourn_mean_s"],
}
"""What to show of a run at a glance; ``show --table`` shows all."""

TRACE_BRIEF: Final = {
    "connections": ["connection", "opener", "responder", "start_s", "duration_s", "packets", "ecn", "violations"],
    "data": ["data_packets", "bytes", "unique_bytes", "goodput_bps", "outstanding_max", "window_max", "missing_bytes"],
    "retransmissions": [
        "retransmits", "retransmits_fast", "retransmits_sack", "retransmits_partial", "retransmits_timeout",
        "retransmits_tail", "retransmits_spurious", "timeouts", "out_of_order", "duplicate_acks",
    ],
    "round trips": ["rtt_samples", "rtt_min_s", "rtt_mean_s", "rtt_p50_s", "rtt_p95_s", "rtt_p99_s", "rtt_max_s"],
    "ecn": [
        "not_ect", "ect0", "ect1", "ce", "ece_received", "cwr_sent", "congestion_episodes", "ecn_reductions",
        "ce_to_ece_mean_s", "ece_to_cwr_mean_s", "ece_to_reduction_mean_s",
    ],
}  # fmt: skip
"""What to show of a capture at a glance; ``--json`` and ``--parquet`` have all."""

KINDS: Final = {
    "tcp": "TCP",
    "udp": "UDP",
    "icmp": "ICMP",
    "other_ip": "other IP",
    "other": "not IP",
    "fragments": "fragments",
    "cut": "cut before their headers end",
    "malformed": "malformed",
    "unknown_link": "of an unknown link type",
    "back_in_time": "earlier than one before them",
}
"""What the summary calls the packets that ``Trace.totals`` counts."""

F = TypeVar("F", bound=Callable[..., Any])


def examples(text: str) -> Callable[[F], F]:
    """Show ``text`` under the help of a command, as it stands."""

    def add(function: F) -> F:
        lines = text.strip("\n")
        function.__doc__ = f"{function.__doc__}\n\n    \b\n    Examples:\n{lines}\n    "
        return function

    return add


def engine_option(help_: str, default: Engine = PACKETS) -> Callable[[F], F]:
    """The option that names an engine."""
    return click.option("--engine", type=click.Choice(ENGINES), default=default, show_default=True, help=help_)


clock_option = click.option(
    "--clock",
    type=click.Choice(CLOCKS),
    default="virtual",
    show_default=True,
    help="With --engine linux: the built kernel in virtual time, or the machine's own in real time.",
)
as_json = click.option("--json", "as_json", is_flag=True, help="Write JSON, for a program to read.")
File = click.Path(path_type=Path)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(_core.__version__, prog_name="ecnlab")
def cli() -> None:
    """A laboratory for congestion notification.

    \b
    Exit codes:
      0    done
      1    the answer is no: two results differ, a file is not valid
      2    the question cannot be answered as asked: usage, a scenario that is not possible, a folder of another run
      3    a file cannot be read or written
      4    a run gave no result: the simulator's books do not balance, a defect of ecnlab; or a kernel failed
      5    a run in real time was done and stored, but is no evidence: packets were too late for what was asked
      130  interrupted
    """


@cli.command()
@click.argument("file", type=File)
@click.option("--seed", type=click.IntRange(0, 2**64 - 1), help="Random streams. [default: 1]")
@click.option("--out", type=File, help="Run folder. [default: results/NAME-HASH-seedN]")
@click.option("--events", is_flag=True, help="Record every packet event.")
@click.option("--capture", "places", multiple=True, help="Capture the packets of this link or node. Can be repeated.")
@engine_option("Simulate every packet, predict by closed forms, or run on the Linux kernel.")
@clock_option
@as_json
@examples("""
      ecnlab run dumbbell.toml
      ecnlab run dumbbell.toml --capture bottleneck
      ecnlab run dumbbell.toml --seed 7 --events --out results/look
      ecnlab run dumbbell.toml --json | jq '.flows[].goodput_bps'
      ecnlab run dumbbell.toml --engine model
      ecnlab run dumbbell.toml --engine linux       `ecnlab linux build` makes the kernel
      ecnlab run dumbbell.toml --engine linux --clock wall
""")
def run(
    file: Path,
    seed: int | None,
    out: Path | None,
    events: bool,
    places: tuple[str, ...],
    engine: Engine,
    clock: str,
    as_json: bool,
) -> None:
    """Run the scenario FILE once, in the simulator or on the Linux kernel, or predict it, and store the run."""
    engine = with_clock(engine, clock)
    chosen = seed_for(engine, seed, events=events, captures=bool(places))
    scenario = with_captures(read_scenario(file), places)
    how = ("" if chosen is None else f"-seed{chosen}") + ("-events" if events else "") + suffix(engine)
    folder = out or Path("results") / f"{file.stem}-{scenario.hash[:8]}{how}"
    result = run_scenario(scenario, chosen, events=events, engine=engine, out=folder)
    if as_json:
        tables = {name: result.table(name).to_dicts() for name in _brief(result)}
        console.write_json({"folder": str(folder), "manifest": result.manifest, **tables})
    else:
        _show_run(result, rows=20)
        console.say(f"stored in {folder}")
        for capture in result.captures:
            console.say(f"capture {capture}")
    _insist_on_evidence(result)


def _insist_on_evidence(result: Run) -> None:
    """Exit with a word if the run is there and proves nothing."""
    found = result.manifest.get("evidence")
    if found and not found["ok"]:
        console.complain(f"{NOT_EVIDENCE} {late(found)}")
        raise SystemExit(NO_EVIDENCE)


@cli.command()
@click.argument("files", nargs=-1, required=True, type=File)
@as_json
@examples("""
      ecnlab check dumbbell.toml
      ecnlab check dumbbell.toml gain.toml --json
""")
def check(files: tuple[Path, ...], as_json: bool) -> None:
    """Say whether each of FILES, scenarios or experiments, can be run, and how large tables that grow become."""
    found = []
    for file in files:
        try:
            sizes = check_file(file)
        except SpecError as error:
            found += error.diagnostics
            if not as_json:
                console.complain(str(error))
        else:
            if not as_json:
                console.say(f"{file}: ok")
                for size in sizes:
                    console.say(f"  {size}")
    if as_json:
        console.write_json(found)
    if found:
        raise SystemExit(NO)


@cli.command()
@click.argument("experiment", type=File)
@click.option("--out", type=File, help="Sweep folder. [default: results/NAME]")
@click.option("--workers", type=click.IntRange(1), help="Runs at a time. [default: one a core]")
@click.option("--replicates", type=click.IntRange(1), help="Instead of what the experiment says.")
@click.option(
    "--keep",
    multiple=True,
    type=click.Choice([name for name in TABLES if name not in SUMMARY]),
    help="Store this table, too. Can be repeated.",
)
@click.option("--capture", "places", multiple=True, help="Capture the packets of this link or node. Can be repeated.")
@click.option("--only", metavar="ID", help="Do the run of this id alone, and store it as a run.")
@engine_option("Simulate every packet, or run on the Linux kernel in virtual time.")
@as_json
@examples("""
      ecnlab sweep gain.toml
      ecnlab sweep gain.toml --replicates 50        adds what is missing to 50
      ecnlab sweep gain.toml --keep transactions --out results/latency
      ecnlab sweep gain.toml --replicates 1 --capture bottleneck
""")
def sweep(
    experiment: Path,
    out: Path | None,
    workers: int | None,
    replicates: int | None,
    keep: tuple[str, ...],
    places: tuple[str, ...],
    only: str | None,
    engine: Engine,
    as_json: bool,
) -> None:
    """Do all runs of EXPERIMENT on all cores and store them.

    Runs that the folder already has are not done again: after an interruption, the same command continues.
    """
    question = read_experiment(experiment)
    if only is not None:
        _do_only(question, only, out or Path("results") / f"{experiment.stem}-{only}{suffix(engine)}", places, engine)
        return
    folder = out or Path("results") / f"{experiment.stem}{suffix(engine)}"
    with _resumable(folder), console.progress(experiment.stem) as report:
        result = sweep_experiment(
            question,
            folder,
            workers=workers,
            replicates=replicates,
            keep=keep,
            capture=places,
            engine=engine,
            progress=report,
        )
    if as_json:
        console.write_json(_sweep_summary(result))
    else:
        _show_sweep(result, rows=40)
        console.say(f"stored in {folder}")
        if result.captures:
            console.say(f"captures of {len(result.captures)} runs in {folder / CAPTURES}, by their id")


def _do_only(question: Experiment, only: str, folder: Path, places: tuple[str, ...], engine: Engine) -> None:
    """Do the run of ``question`` whose id is ``only``, and store it in ``folder``."""
    index = next((index for index in range(len(question)) if question.id(index) == only), None)
    if index is None:
        raise EcnlabError(
            f"{question.path} has no run {only!r}: an id is in the table `runs`, or in what was said of the run"
        )
    one = question.run(index)
    result = run_scenario(with_captures(one.scenario, places), one.seed, engine=engine, out=folder)
    _show_run(result, rows=20)
    console.say(f"stored in {folder}")


@cli.command()
@click.argument("paper")
@click.option("--full", is_flag=True, help="The whole grid, not the size of a few minutes.")
@click.option(
    "--linux", "on_linux", is_flag=True, help="Ask the Linux kernel, too, where a paper has something for it."
)
@click.option("--out", type=File, help="Folder of results and report. [default: results/PAPER, for all: results]")
@click.option("--workers", type=click.IntRange(1), help="Runs at a time. [default: one a core]")
@examples("""
      ecnlab reproduce rfc2884
      ecnlab reproduce rfc2884 --full --out results/rfc2884-full
      ecnlab reproduce rfc2884 --linux        after `ecnlab linux build`
      ecnlab reproduce all
""")
def reproduce(paper: str, full: bool, on_linux: bool, out: Path | None, workers: int | None) -> None:
    """Do the experiments of PAPER and write a report: what was printed, what was measured, do they agree.

    The PAPER all stands for every paper, each in its own folder, and an index of their reports. What is done is not
    done again: after an interruption, the same command continues.
    """
    from ecnlab import papers  # the report's libraries take a second to load

    if paper == "all":
        folder = out or Path("results")
        with _resumable(folder), console.progresses() as begin:
            page = papers.reproduce_all(folder, full=full, linux=on_linux, workers=workers, progress=begin)
    else:
        folder = out or Path("results") / Path(paper).resolve().name
        with _resumable(folder), console.progress(paper) as report:
            page = papers.reproduce(paper, folder, full=full, linux=on_linux, workers=workers, progress=report)
    console.say(f"report: {page}")


@cli.command()
@click.argument("file", type=File)
@click.option("--margin", type=click.FloatRange(0.0, 1.0, True, True), default=0.1, show_default=True, help="Of 1.")
@click.option("--replicates", type=click.IntRange(2), help="Instead of 8, or what the experiment says.")
@click.option("--out", type=File, help="Folder of runs and page. [default: results/NAME-agreement]")
@click.option("--workers", type=click.IntRange(1), help="Runs at a time. [default: one a core]")
@engine_option("Whom to set beside the simulator.", LINUX)
@as_json
@examples("""
      ecnlab agree dumbbell.toml
      ecnlab agree papers/rfc2884/agree.toml --replicates 16 --margin 0.05
""")
def agree(
    file: Path,
    margin: float,
    replicates: int | None,
    out: Path | None,
    workers: int | None,
    engine: Engine,
    as_json: bool,
) -> None:
    """Ask the simulator and another engine the scenario or experiment FILE, and say how far they agree.

    Runs that the folder already has are not done again: after an interruption, the same command continues.
    """
    from ecnlab.agree import agree as compare_engines

    folder = out or Path("results") / f"{file.stem}-agreement"
    with _resumable(folder), console.progress(file.stem) as report:
        page = compare_engines(
            file, folder, engine=engine, margin=margin, replicates=replicates, workers=workers, progress=report
        )
    rows = store.read_table(store.read_files(folder).path("agreement.parquet"))
    if as_json:
        console.write_json({"page": str(page), "comparisons": rows.to_dicts()})
    else:
        console.write_frame(rows.drop("margin"), f"agreement within {margin:g}", rows.height)
        console.say(f"page: {page}")


@cli.command()
@click.argument("folder", type=File)
@click.option("--table", "tables", multiple=True, help="Show this table. Can be repeated.")
@click.option("--rows", type=click.IntRange(1), default=20, show_default=True, help="Rows to show of each.")
@as_json
@examples("""
      ecnlab show results/dumbbell
      ecnlab show results/dumbbell --table transactions --rows 100
      ecnlab show results/gain --json
""")
def show(folder: Path, tables: tuple[str, ...], rows: int, as_json: bool) -> None:
    """Show the run or sweep stored in FOLDER."""
    result = load(folder)
    if as_json:
        wanted = {name: _frame(result, name).to_dicts() for name in tables}
        summary = {"manifest": result.manifest} if isinstance(result, Run) else _sweep_summary(result)
        console.write_json({**summary, **wanted})
    elif tables:
        for name in tables:
            console.write_frame(_frame(result, name), name, rows)
    elif isinstance(result, Run):
        _show_run(result, rows)
    else:
        _show_sweep(result, rows)


@cli.command()
@click.argument("folder", type=File)
@as_json
@examples("""
      ecnlab verify results/dumbbell
      ecnlab verify results
""")
def verify(folder: Path, as_json: bool) -> None:
    """Say whether every stored file in FOLDER and below is as it was written: runs, sweeps, reproductions.

    Exit code 0 if all are, 1 if not; a damaged file is named with the command that makes it again.
    """
    count, wrong = store.verify(folder)
    if as_json:
        console.write_json({"files": count, "damaged": [str(error) for error in wrong]})
    else:
        for error in wrong:
            console.complain(str(error))
        console.say(f"{count} files, {len(wrong)} damaged")
    if wrong:
        raise SystemExit(NO)


@cli.command()
@click.argument("a", type=File)
@click.argument("b", type=File)
@as_json
@examples("""
      ecnlab compare results/monday results/tuesday
""")
def compare(a: Path, b: Path, as_json: bool) -> None:
    """Say whether the results in folders A and B answer the same question, and how the answers differ.

    Exit code 0 if both hold the same, 1 if they differ or cannot be compared. Wall time does not count.
    """
    result = compare_folders(a, b)
    if as_json:
        console.write_json(result.to_dict())
    else:
        _show_comparison(result.reasons, result.makers, result.tables, result.metrics)
    if not result.equal:
        raise SystemExit(NO)


@cli.command()
@as_json
def laws(as_json: bool) -> None:
    """List the laws there are: queue disciplines, window laws, recoveries, ECN feedback, traffic."""
    known = _core.laws()
    if as_json:
        console.write_json(known)
    else:
        for family, members in known.items():
            console.say(family)
            for name, about in members.items():
                console.say(f"  {name:10} {about}")


@cli.command()
@click.argument("name", required=False)
@as_json
@examples("""
      ecnlab profiles
      ecnlab profiles linux-2.0
""")
def profiles(name: str | None, as_json: bool) -> None:
    """List the TCP profiles, or every value of the profile NAME with its source."""
    known = _core.profiles()
    if name is not None and name not in known:
        raise EcnlabError(f"no profile is called {name!r}; there are {', '.join(known)}")
    if as_json:
        console.write_json(known if name is None else known[name])
    elif name is None:
        for each, profile in known.items():
            console.say(f"{each:10} {profile['summary']}")
    else:
        for key, entry in known[name]["settings"].items():
            console.say(f"{key} = {entry['value']!r}\n    {entry['source']}")


@cli.command()
@click.argument("kind", type=click.Choice(["scenario", "experiment"]), default="scenario")
@examples("""
      ecnlab schema > scenario.schema.json
      ecnlab schema experiment
""")
def schema(kind: FileKind) -> None:
    """Write the JSON schema of scenario or experiment files, for editors."""
    console.write_json(_core.schema(kind))


@cli.group()
def linux() -> None:
    """The Linux kernel as an engine: in virtual time, without root."""


@linux.command()
@click.option("--source", type=File, help="Kernel source, a folder or a .tar.xz. [default: Debian's, fetched]")
@click.option("--jobs", type=click.IntRange(1), default=2, show_default=True, help="Compilers at a time.")
@examples("""
      ecnlab linux build
      ecnlab linux build --source linux-7.3.tar.xz --jobs 8
""")
def build(source: Path | None, jobs: int) -> None:
    """Build the kernel, once, and boot it to see that it works: about six minutes of a processor."""
    from ecnlab.linux.build import build as build_kernel

    kernel = build_kernel(source, jobs, console.now_and_then())
    console.say(f"Linux {kernel.about['version']} is ready: {kernel.folder}")


@contextlib.contextmanager
def _resumable(folder: Path) -> Iterator[None]:
    """Say after an interruption that nothing finished is lost."""
    try:
        yield
    except KeyboardInterrupt:
        console.complain(f"finished runs are in {folder}: the same command continues")
        raise


def _brief(result: Run) -> dict[str, list[str]]:
    """What to show of a run at a glance: columns by table."""
    return {"prediction": list(PREDICTION)} if result.manifest["engine"] == MODEL else BRIEF


@cli.command()
@click.argument("file", type=File)
@click.option("--filter", "filter_", help="Only these packets: 'host 10.0.0.1 and not port 22'.")
@click.option("--connection", type=click.IntRange(0), help="Only the connection of this number.")
@click.option("--standard", type=click.Choice(["rfc3168", "rfc2481"]), default="rfc3168", show_default=True)
@click.option("--against", type=File, help="Another capture of the same packets: what changed from FILE to there.")
@click.option("--parquet", type=File, help="Write the tables into this folder.")
@click.option("--html", type=File, help="Write a page with the graphs of a connection, by default the largest.")
@click.option("--rows", type=click.IntRange(1), default=20, show_default=True, help="Rows to show of each table.")
@as_json
@examples("""
      ecnlab trace x.pcapng
      tcpdump -w - | ecnlab trace -
      ecnlab trace x.pcapng --connection 3 --html x.html
      ecnlab trace before.pcapng --against after.pcapng
""")
def trace(
    file: Path,
    filter_: str | None,
    connection: int | None,
    standard: Standard,
    against: Path | None,
    parquet: Path | None,
    html: Path | None,
    rows: int,
    as_json: bool,
) -> None:
    """Analyse the capture FILE (pcap or pcapng; "-" is standard input): its TCP connections and their ECN."""
    whole = analyse(file, filter=filter_, standard=standard)
    result = whole if connection is None else whole.only(connection)
    changed = changes(file, against) if against else None
    if parquet:
        result.save(parquet)
    if html:
        from ecnlab.trace.page import render  # Plotly takes a second to load

        store.write_bytes(html, render(whole, _largest(whole) if connection is None else connection).encode())
    if as_json:
        tables = {name: table.to_dicts() for name, table in result.tables.items()}
        more = {} if changed is None else {"changes": changed.to_dicts()}
        console.write_json({"totals": result.totals, "damage": result.damage, **tables, **more})
    else:
        _show_trace(result, rows)
        if changed is not None:
            console.write_frame(changed, "changes on the way", rows)
    if result.damage:
        console.complain(result.damage)
        raise SystemExit(BAD_INPUT)


def _largest(result: Trace) -> int:
    if not result.connections.height:
        raise EcnlabError(f"{result.path}: there is no TCP connection to draw")
    return int(result.connections["packets"].arg_max() or 0)


def _show_trace(result: Trace, rows: int) -> None:
    totals = result.totals
    kinds = [f"{totals[kind]} {name}" for kind, name in KINDS.items() if totals[kind]]
    console.say(f"{result.path}: {totals['packets']} packets: {', '.join(kinds) or 'none'}\n")
    console.write_frame(result.connections.select(TRACE_BRIEF["connections"]), "connections", rows)
    sent = result.directions.filter(pl.col("data_packets") > 0)
    for name in ("data", "retransmissions", "round trips", "ecn"):
        console.write_frame(sent.select("connection", "from", *TRACE_BRIEF[name]), name, rows)
    found = result.violations
    if found.height:
        console.write_frame(found.select("packet", "connection", "by", "says", "section"), "rules broken", rows)


def _show_run(result: Run, rows: int) -> None:
    manifest = result.manifest
    made = manifest["ecnlab"]
    how = manifest["engine"] + ("" if manifest["seed"] is None else f", seed {manifest['seed']}")
    console.say(f"{manifest['title']}: {how}, spec {manifest['spec_hash'][:12]}")
    console.say(f"ecnlab {made['version']} ({made['commit'] or made['build']}), {manifest['wall']['seconds']} s\n")
    for name, columns in _brief(result).items():
        console.write_frame(result.table(name).select(columns), name, rows)
    if found := manifest.get("evidence"):
        console.say("evidence: " + ("" if found["ok"] else "NOT, ") + late(found))


def _show_sweep(result: Sweep, rows: int) -> None:
    console.say(f"{result.manifest['title']}: {result.runs.height} runs, tables {', '.join(result.tables)}\n")
    console.write_frame(result.summary(), "metrics", rows)


def _sweep_summary(result: Sweep) -> dict[str, Any]:
    return {
        "folder": str(result.folder),
        "manifest": result.manifest,
        "runs": result.runs.height,
        "metrics": result.summary().to_dicts(),
    }


def _frame(result: Run | Sweep, name: str) -> Any:
    if isinstance(result, Run):
        return result.table(name)
    if name in ("runs", "metrics"):
        return getattr(result, name)
    return result.table(name).collect()


def _show_comparison(
    reasons: list[str], makers: list[str], tables: dict[str, str], metrics: list[dict[str, Any]]
) -> None:
    if reasons:
        console.say("not comparable, the questions differ:")
        for reason in reasons:
            console.say(f"  {reason}")
    for maker in makers:
        console.say(f"answered by another: {maker}")
    for name, how in tables.items():
        console.say(f"{name}: {how}")
    for row in metrics:
        key = " ".join(str(value) for name, value in row.items() if name not in ("first", "second") and value)
        console.say(f"mean of {key}: {row['first']} against {row['second']}")
    if not reasons and not tables:
        console.say("the same, bit for bit")


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit; every failure is a message and a code, never a traceback."""
    # When the reader of our output, such as `head`, has seen enough, end as other programs do.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        code = cli.main(arguments, prog_name="ecnlab", standalone_mode=False) or OK
    except click.ClickException as error:
        error.show()
        code = BAD_INPUT
    except (KeyboardInterrupt, click.Abort):
        console.complain("interrupted")
        code = INTERRUPTED
    except (EcnlabError, SpecError, TraceFailure) as error:
        console.complain(str(error))
        code = BAD_INPUT
    except pl.exceptions.PolarsError as error:
        console.complain(f"a stored table is damaged: {error}")
        code = BAD_INPUT
    except RunError as error:
        console.complain(str(error))
        code = DEFECT
    except OSError as error:
        console.complain(f"{error.filename or 'output'}: {error.strerror or error}")
        if error.filename is None:
            _give_up_output()
        code = IO_FAILED
    sys.exit(code)


def _give_up_output() -> None:
    """Let go of what standard output still holds: at exit Python would try to write it again, and exit with 120."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
