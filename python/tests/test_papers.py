"""What holds for every paper: its data files are whole, one command runs it, resumes, and links the reports."""

from __future__ import annotations

import json
import math
import random
import re
import tomllib
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from conftest import kernel_or_skip
from msgspec import structs
from small_paper import GRID, SMALL, add_tables, in_place_of_the_papers

from ecnlab import papers
from ecnlab.base.errors import EcnlabError
from ecnlab.folder.verified import verify
from ecnlab.papers import blocks, judge, measuring, readme, registry
from ecnlab.papers.claim_places import in_words
from ecnlab.papers.judge import Grid, estimate, pairs, together
from ecnlab.papers.paper import Step
from ecnlab.papers.published import Below, Claim, Metric, Near, Published, read_published
from ecnlab.papers.references import quantity
from ecnlab.papers.registry import PAPERS, find
from ecnlab.papers.typed import typed

CHECKOUT = Path(__file__).parents[2]
every_paper = pytest.mark.parametrize("name", PAPERS)


def rows(name: str) -> list[dict]:
    return tomllib.loads((CHECKOUT / "papers" / name / "checklist.toml").read_text())["row"]


# --------------------------------------------------------------- data files


def test_every_folder_of_papers_has_its_row_in_the_registry() -> None:
    assert {path.parent.name for path in (CHECKOUT / "papers").glob("*/published.toml")} == set(PAPERS)


@every_paper
def test_the_checklist_has_every_row_once_and_names_what_exists(name) -> None:
    ids = [row["id"] for row in rows(name)]
    assert ids == [f"{ids[0][0]}{i:02d}" for i in range(1, len(ids) + 1)]
    for row in rows(name):
        for by in row["by"]:
            assert (CHECKOUT / "papers" / name / by).exists() or (CHECKOUT / by).exists(), f"{row['id']} names {by}"


@every_paper
def test_a_row_of_the_checklist_that_nothing_answers_says_why(name) -> None:
    for row in rows(name):
        assert row["state"] in ("shown", "not-run", "not-reproducible"), row["id"]
        assert row["by"] if row["state"] == "shown" else row["note"], row["id"]


@every_paper
def test_the_readme_has_the_checklist_as_it_is(name) -> None:
    readme = (CHECKOUT / "papers" / name / "README.md").read_text()
    for row in rows(name):
        assert f"| {row['id']} | {row['what']} | {row['section']} |" in readme


@every_paper
def test_printed_entries_are_of_rows_of_the_checklist_and_say_where_they_stand(name) -> None:
    published = read_published(CHECKOUT / "papers" / name)
    for entry in (*published.numbers, *published.claims):
        assert entry.row in {row["id"] for row in rows(name)}
        assert entry.source


def stands(name: str, text: str) -> re.Match[str] | None:
    """Where a scheme's name stands in a text: not as a part of another's, as ECN in ECN+BECN or in Reno-ECN."""
    return re.search(rf"(?<![\w+-]){re.escape(name)}(?![\w+-])", text, re.IGNORECASE)


def unasked(claim: Claim, metric: Metric, grid: Grid) -> set[str]:
    """What a statement names and its test does not ask of, neither by the place nor by what the metric compares with.

    A scheme with a setting in brackets may be named without it.
    """
    names = set(grid.names.values()) | {name.partition(" (")[0] for name in grid.names.values()}
    labels = [label for at in claim.where.values() for label in (at if isinstance(at, list) else [at])]
    asked = " ; ".join([*(grid.named(label) for label in labels), metric.name, metric.definition])
    statement = claim.statement.replace("alpha", "α").replace("beta", "β")
    missing = set()
    for name in sorted(names, key=len, reverse=True):
        if found := stands(name, statement):
            statement = statement[: found.start()] + " " * len(found[0]) + statement[found.end() :]
            missing |= set() if stands(name, asked) else {name}
    return missing


@every_paper
def test_every_scheme_that_a_statement_names_is_asked(name) -> None:
    published = read_published(CHECKOUT / "papers" / name)
    missing = {c.id: unasked(c, published.metrics[c.metric], PAPERS[name].grid) for c in published.claims}
    assert not {claim: names for claim, names in missing.items() if names}


def test_a_scheme_that_is_named_and_not_asked_is_found() -> None:
    # As A16.goodput of Akujobi et al. once was: three schemes in the statement, two in the test.
    grid = PAPERS["akujobi"].grid
    metric = Metric("average goodput over BECN's", "Average goodput over that of BECN, minus one.", "gain")
    about = {"id": "A16", "row": "A16", "metric": "goodput_over_becn", "limit": 0.0}
    claim = Below(**about, statement="ECN+BECN (40 KB) has the goodput of ECN and BECN.", where={"scheme": "eb40"})
    assert unasked(claim, metric, grid) == {"ECN"}
    assert unasked(structs.replace(claim, statement="ECN+BECN has the goodput of BECN."), metric, grid) == set()
    assert unasked(structs.replace(claim, where={"scheme": ["eb40", "ecn"]}), metric, grid) == set()
    assert unasked(structs.replace(claim, where={"scheme": "eb20"}), metric, grid) == {"ECN", "ECN+BECN (40 kB)"}


SEEDS_OF_ITS_OWN = {
    "transactions-size",
    "transactions-longer",
    "transactions-like-reno",
    "synchrony",
    "lossy-unharmed",
    "ends",
    "calibration",
    "calibration-drop",
    "notice",
    "notice-web",
    "paths",
    "datagrams",
}
"""Experiments whose results are set beside no other's; why the seeds are others is in the file."""


@every_paper
def test_all_experiments_share_their_seeds(name) -> None:
    steps = [step.name for step in PAPERS[name].steps if step.name not in SEEDS_OF_ITS_OWN]
    files = [tomllib.loads((CHECKOUT / "papers" / name / f"{step}.toml").read_text()) for step in steps]
    assert len({file["seed"] for file in files}) == 1


@every_paper
def test_the_quick_size_is_a_part_of_the_full_one(name) -> None:
    assert all(step.quick <= step.full for step in PAPERS[name].steps)


def test_a_paper_there_is_none_of_is_refused() -> None:
    with pytest.raises(EcnlabError, match="rfc2884"):
        find("rfc9999")


# --------------------------------------------------------------- measures


def test_a_mean_does_not_depend_on_the_order_of_its_rows() -> None:
    # Summed as they stand, 1 is lost beside 1e16; in another order it is not.
    rows = pl.LazyFrame({"maxp": ["0.1"] * 4, "replicate": [0] * 4, "x": [1e16, 1.0, -1e16, None]})
    (row,) = measuring.mean_of(GRID, rows, "x").collect().iter_rows(named=True)
    assert row == {"maxp": "0.1", "replicate": 0, "value": 1 / 3}


# --------------------------------------------------------------- findings and charts


@pytest.mark.parametrize(
    ("holds", "least", "answer"),
    [(4, 0.0, "Yes"), (1, 0.0, "Partly"), (0, 0.0, "No"), (4, 0.5, "Yes"), (2, 0.5, "Mostly"), (1, 0.5, "No")],
)
def test_a_sentence_about_several_cases_is_true_in_all_in_some_or_in_none(holds, least, answer) -> None:
    found = blocks.counted(holds, 4, "All four.", f"{holds} of 4.", least)
    assert (found.answer, found.statement, found.evidence) == (answer, "All four.", f"{holds} of 4.")
    assert found.tone == {"Yes": "yes", "No": "no"}.get(answer, "partly")


@pytest.mark.parametrize(
    ("outcomes", "answer", "words"),
    [
        (["yes"] * 3, "yes", "yes (in all 3 places)"),
        (["yes"] + ["no"] * 32, "no", "no (of 33 places 1 yes, 32 no)"),
        (["yes"] * 32 + ["no"], "no", "no (of 33 places 32 yes, 1 no)"),
        (["no", "undecided"], "no", "no (of 2 places 1 no, 1 undecided)"),
        (["yes", "undecided", "partly"], "undecided", "undecided (of 3 places 1 yes, 1 partly, 1 undecided)"),
        (["yes", "partly"], "partly", "partly (of 2 places 1 yes, 1 partly)"),
    ],
)
def test_one_place_refutes_a_claim_about_every_place(outcomes, answer, words) -> None:
    assert together(outcomes) == answer
    tests = pl.DataFrame({"outcome": outcomes, "answer": answer, "upto": ""})
    assert in_words(tests) == words


def test_a_claim_of_many_places_is_told_by_how_many_and_by_its_range() -> None:
    about = {"id": "S01", "row": "S01", "statement": "", "metric": "error", "where": {}}
    metric = Metric("error", "", "gain", percent=True)
    published = Published("p", "", "", "", {"error": metric}, (), (Near(**about, target=0.0, tolerance=0.2),))
    places = {"mean": [0.15, -0.02, -0.4], "outcome": ["yes", "yes", "no"], "answer": "no", "id": "S01"}
    found = blocks.ranged(pl.DataFrame(places), published, "S01", "It is near.", "errors")
    assert (found.answer, found.tone) == ("No", "no")
    assert found.evidence == "In 2 of 3 settings; errors from −2.0% to −40%."


def test_a_line_keeps_its_colour_where_another_has_no_column_and_has_a_gap_where_it_has_no_value() -> None:
    series = pl.DataFrame({"time_s": [0.0, 1.0], "red": [1.0, None], "other": [3.0, 4.0]})
    chart = blocks.lines_over_time("t", "c", series, {"tail": "Tail", "red": "RED"}, "packets")
    (line,) = chart.lines
    assert (line.name, line.style, line.values[0]) == ("RED", 1, 1.0) and math.isnan(line.values[1])


# --------------------------------------------------------------- bounded metrics


def one_place(value: list[float], other: list[float] | None = None) -> pl.DataFrame:
    n = len(value)
    return pl.DataFrame({"replicate": range(n), "value": value, "other": other or [None] * n}, strict=False)


def bounded(kind: str, low: float, high: float) -> Metric:
    return Metric("m", "", kind, bounds=(low, high))


@pytest.mark.parametrize(
    ("kind", "bounds", "value", "other"),
    [
        ("mean", (0.0, 1.0), [0.9991, 0.9999, 1.0, 1.0], None),
        ("difference", (-1.0, 1.0), [1.0, 0.999, 1.0], [0.0, 0.0, 0.2]),
        ("ratio", (0.0, 1.0), [0.0, 0.0, 3.0], [100.0, 110.0, 90.0]),
        ("ratio", (0.0, 1.0), [9.0, 11.0, 9.0], [9.0, 11.0, 10.0]),
        ("gain", (-1.0, math.inf), [0.01, 0.0, 0.0], [0.5, 0.4, 0.5]),
    ],
)
def test_intervals_of_bounded_metrics_stay_within_their_bounds(kind, bounds, value, other) -> None:
    group = pairs(one_place(value, other))
    free, kept = (estimate(group, m) for m in (Metric("m", "", kind), bounded(kind, *bounds)))
    assert free and kept and kept.mean == pytest.approx(free.mean, abs=1e-15)
    assert free.low < bounds[0] or free.high > bounds[1]
    assert bounds[0] <= kept.low < kept.mean < kept.high <= bounds[1]


def test_a_share_counted_in_whole_packets_may_be_a_hair_above_all() -> None:
    kept = estimate(pairs(one_place([1.00015, 1.0, 0.9999])), bounded("mean", 0.0, 1.0))
    assert kept and kept.high < 1.0
    with pytest.raises(EcnlabError, match=r"1\.2 is outside its bounds 0 to 1"):
        estimate(pairs(one_place([1.2, 1.0, 1.0])), bounded("mean", 0.0, 1.0))


@every_paper
def test_shares_and_fairness_have_bounds(name) -> None:
    """What a definition calls a share, a utilisation or Jain's index cannot be left without them."""
    for key, metric in read_published(CHECKOUT / "papers" / name).metrics.items():
        if metric.kind == "mean" and re.search(r"\b[Ss]hare of|Jain|share of time|correlation", metric.definition):
            assert metric.limits.bind, key


# --------------------------------------------------------------- from files to an index


@pytest.fixture
def small(scenario, monkeypatch) -> Path:
    """One small paper in ``papers/small`` of the current folder, in place of the real ones."""
    return in_place_of_the_papers(scenario.parent, scenario.read_text(), monkeypatch)


@pytest.mark.parametrize(("kind", "other"), [("number", "claim"), ("claim", "number")])
def test_a_paper_may_have_numbers_or_claims_alone(small, tmp_path, kind, other) -> None:
    head, number, claim = re.split(r"(?=\[\[)", (small / "published.toml").read_text())
    (small / "published.toml").write_text(head + (number if kind == "number" else claim))
    report = re.sub(r"\[\[finding.*", "", (small / "report.toml").read_text(), flags=re.DOTALL)
    (small / "report.toml").write_text(report)
    (small / readme.TEMPLATE).write_text(f'# small\n{{{{ tally("{kind}s") }}}} {{{{ tally("{other}s") }}}}\n')
    assert papers.reproduce("small", tmp_path / "out", full=True, workers=1).is_file()
    assert readme.make("small", tmp_path / "out").read_text().endswith("\n1 0\n")


def test_all_papers_are_run_and_linked_from_an_index(small, tmp_path) -> None:
    told: list[tuple[str, int, int]] = []
    index = papers.reproduce_all(tmp_path / "out", progress=lambda name: lambda done, of: told.append((name, done, of)))
    html = index.read_text()
    assert '<a href="small/report.html">A small &lt;paper&gt;. Nobody, 1999</a>' in html
    assert (index.parent / "small" / "report.html").is_file()
    results = json.loads((index.parent / "small" / "results.json").read_text())
    assert results["drawn"] == "nothing"
    verdicts, answers = [n["verdict"] for n in results["numbers"]], {c["answer"] for c in results["claims"]}
    assert verdicts == ["inconclusive"] and answers == {"undecided"}  # two seeds, and intervals of 99%
    report = (index.parent / "small" / "report.html").read_text()
    for page in (html, report):  # numbers and claims, both on the first screen
        assert (
            page.index("1 printed numbers:")
            < page.index("1 claims, do they hold:")
            < page.index('aria-label="Contents"')
        )
        assert "1 inconclusive" in page and "1 undecided" in page
    assert "1 rows cover Small 1." in report
    assert len(html) < 100_000
    assert told[0] == ("small", 0, 4) and told[-1] == ("small", 4, 4)


def test_numbers_that_are_easy_to_meet_have_a_tally_of_their_own(small, tmp_path) -> None:
    metrics = (small / "metrics.toml").read_text()
    (small / "metrics.toml").write_text(metrics.replace('kind = "mean"', 'kind = "mean"\napart = true'))
    index = papers.reproduce_all(tmp_path / "out")
    report = (index.parent / "small" / "report.html").read_text()
    assert "1 that are easy to meet:" in report and "printed numbers:" not in report
    assert "printed numbers:" not in index.read_text()


def test_the_full_size_builds_on_the_quick_one_and_nothing_is_done_twice(small, tmp_path) -> None:
    for full, before, runs in ((False, 0, 4), (True, 4, 6), (True, 6, 6)):
        told: list[int] = []
        papers.reproduce("small", tmp_path / "out", full=full, progress=lambda done, _of, told=told: told.append(done))
        assert (told[0], told[-1]) == (before, runs)
    with pytest.raises(EcnlabError, match="--full"):
        papers.reproduce("small", tmp_path / "out")
    html = (tmp_path / "out" / "report.html").read_text()
    assert re.search(r"§1, p.\u00a02", html) and "Fig.\u00a03" in html


def test_a_quick_report_marks_what_the_full_size_changes(small, tmp_path) -> None:
    published = read_published(small)
    (number,), (claim,) = published.numbers, published.claims
    of = {
        number.id: {"quick": "inconclusive", "full": "differs"},
        claim.id: {"quick": "undecided", "full": "undecided"},
    }
    made = {"version": "0", "build": "0", "commit": None}
    run = {"ecnlab": made, "linux": None, "seed": 1, "runs": 6, "tally": {}, "experiments": {}}
    held = {"format": 1, "run": run, "verdicts": of, "tables": {}}
    (small / readme.QUOTED).write_text(json.dumps(held))
    papers.reproduce("small", tmp_path / "out")
    html = (tmp_path / "out" / "report.html").read_text()
    assert "measured (full size: differs)" in html and html.count("(full size:") == 1
    assert re.search(r"verdicts that the full size changes.{0,60}1 of 2", html, re.DOTALL)
    papers.reproduce("small", tmp_path / "out", full=True)
    assert "full size:" not in (tmp_path / "out" / "report.html").read_text()


@pytest.mark.parametrize("name", sorted(PAPERS))
def test_the_quick_size_decides_nothing_that_the_full_one_decides_otherwise(name) -> None:
    folder = find(name)[1]
    of = json.loads((folder / readme.QUOTED).read_text())["verdicts"]
    assert set(of) == set(read_published(folder).ids()), f"`make readme PAPER={name} FROM=...` of a full run makes them"
    assert judge.contradicted(of) == []


def test_a_quick_verdict_that_decides_nothing_contradicts_nothing() -> None:
    of = {
        "same": {"quick": "differs", "full": "differs"},
        "open": {"quick": "inconclusive", "full": "agrees"},
        "undecided": {"quick": "undecided", "full": "no"},
        "other": {"quick": "agrees", "full": "differs"},
        "closed": {"quick": "yes", "full": "undecided"},
    }
    assert judge.contradicted(of) == ["other", "closed"]


def test_what_cannot_be_asked_of_linux_is_told_before_anything_starts(small, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("ECNLAB_LINUX", str(tmp_path / "nothing"))
    for on_linux, told in (
        ((), "small has no experiments for the Linux kernel"),
        (SMALL.steps, "`ecnlab linux build` builds one"),
    ):
        monkeypatch.setitem(registry.PAPERS, "small", replace(SMALL, on_linux=on_linux))
        with pytest.raises(EcnlabError, match=told):
            papers.reproduce("small", tmp_path / "out", linux=True)
    assert not (tmp_path / "out").exists()


def test_the_kernel_is_asked_the_same_as_the_simulator(small, tmp_path, monkeypatch) -> None:
    kernel = kernel_or_skip()
    (small / "beside.toml").write_text((small / "pipes.toml").read_text() + '[set]\nprofile = "linux-7"\n')
    monkeypatch.setitem(registry.PAPERS, "small", replace(SMALL, on_linux=(Step("beside", 2, 3),)))
    told: list[int] = []
    papers.reproduce("small", tmp_path / "out", linux=True, progress=lambda done, _of: told.append(done))
    assert told[-1] == 3 * 4  # two points, two seeds: the paper's own, and beside them both engines
    points = pl.read_parquet(tmp_path / "out/analysis/linux.parquet")
    assert points.select("variant", "maxp").rows() == [(w, p) for w in ("kernel", "simulator") for p in ("0.02", "0.1")]
    assert points["mean"].is_between(1e6, 2e6).all()  # of a pipe of 2 Mbit/s
    samples = pl.read_parquet(tmp_path / "out/analysis/linux_samples.parquet")
    assert samples.group_by("variant").len().sort("variant").rows() == [("kernel", 4), ("simulator", 4)]
    results = json.loads((tmp_path / "out/results.json").read_text())
    assert (results["linux"]["kernel"], results["runs"]) == (kernel.about["version"], 4)


def test_an_interrupted_reproduction_of_all_goes_on_where_it_was(small, tmp_path) -> None:
    def interrupt(done: int, _of: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        papers.reproduce_all(tmp_path / "out", workers=1, progress=lambda _name: interrupt)
    assert not (tmp_path / "out" / "index.html").exists()
    told: list[int] = []
    papers.reproduce_all(tmp_path / "out", progress=lambda _name: lambda done, _of: told.append(done))
    assert told[0] >= 2 and told[-1] == 4
    assert (tmp_path / "out" / "index.html").is_file()


def test_no_flipped_bit_of_a_reproduction_goes_untold(small, tmp_path) -> None:
    rng = random.Random(3)
    folder = tmp_path / "out"
    papers.reproduce("small", folder)
    files = sorted(path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))
    assert {"report.html", "results.json", "points.parquet", "points.csv"} < {path.name for path in files}
    for path in files:
        kept = path.read_bytes()
        data = bytearray(kept)
        bit = rng.randrange(8 * len(data))
        data[bit // 8] ^= 1 << bit % 8
        path.write_bytes(data)
        assert any(path.name in str(error) for error in verify(folder)[1]), path
        path.write_bytes(kept)
    assert verify(folder)[1] == []
    path.write_bytes(data)
    papers.reproduce("small", folder)
    assert verify(folder)[1] == []


# --------------------------------------------------------------- READMEs from full runs


@pytest.mark.parametrize("name", PAPERS)
def test_a_readme_is_its_template_with_quoted_numbers(name) -> None:
    folder = CHECKOUT / "papers" / name
    evidence = readme.quoted_evidence(PAPERS[name], folder, read_published(folder))
    for page, text in readme.render_all(folder, evidence).items():
        assert text == (folder / page).read_text(), f"`make readme PAPER={name}` makes it"
    assert [found for template in folder.glob("*.in.md") for found in typed(template.read_text())] == []
    reasons = tomllib.loads((folder / "reasons.toml").read_text()).get("reason", [])
    assert typed("\n\n".join(reason["text"] for reason in reasons)) == []


@pytest.mark.release
@pytest.mark.parametrize("name", PAPERS)
def test_a_readme_quotes_a_full_run_of_this_commit(name) -> None:
    assert readme.stale(PAPERS[name], CHECKOUT / "papers" / name) == []


README = """\
# Small

## What holds

{{ point("goodput", maxp=0.1).mean }} of a pipe, {{ word("more", "goodput", more=1e6) }} than half of it (printed {{ number("S01.1").printed }}): {{ claim("S01.much").answer }}.
"""


@pytest.fixture
def quoting(small, tmp_path) -> Path:
    """The folder of the small paper with its README made from a full run in ``out``."""
    (small / "README.in.md").write_text(README)
    papers.reproduce("small", tmp_path / "out", full=True)
    readme.make("small", tmp_path / "out")
    return small


def test_what_is_not_built_is_one_list_that_the_schema_does_not_have() -> None:
    papers_ = find("rfc2884")[1].parent
    schema = "".join(path.read_text() for path in (papers_.parent / "schema").glob("*.json"))
    listed = readme.features(papers_)
    assert [name for one in listed.values() for name in one.names if f'"{name}"' in schema] == []
    assert '"vegas"' in schema  # which the list had once
    stated = re.compile(r"(?:not|cannot be|n't) (?:built|implemented)", re.IGNORECASE)
    for name in PAPERS:
        text = re.sub(r"^#.*$", "", (find(name)[1] / readme.TEMPLATE).read_text(), flags=re.MULTILINE)
        assert stated.findall(text) == []
    with pytest.raises(EcnlabError, match="no feature is called 'vegas'"):
        readme.feature_text(papers_, "vegas")


def test_a_readme_is_made_from_a_full_run_and_again_without_it(quoting, tmp_path) -> None:
    made = (quoting / "README.md").read_text()
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    mean = quantity(results["numbers"][0]["mean"], read_published(quoting).metrics["goodput"])
    source = f"*Numbers quoted from full runs with ecnlab {results['ecnlab']['version']}, commit {results['ecnlab']['commit']}.*"
    text = f"{mean} of a pipe, more than half of it (printed 2000000): yes (in all 2 places)."
    assert made == f"{readme.NOTICE}# Small\n\n{source}\n\n## What holds\n\n{text}\n"
    (quoting / "README.md").unlink()
    assert readme.main(["small"]) == 0
    assert (quoting / "README.md").read_text() == made
    assert readme.stale(SMALL, quoting) == []


def test_quoted_rows_of_the_kernel_stay_where_it_did_not_run_again(quoting, tmp_path) -> None:
    (quoting / "README.in.md").write_text(
        '# Small\n\n{{ point("linux/goodput", variant="kernel", maxp=0.1).n }} and {{ point("goodput", maxp=0.1).n }}\n'
    )
    analysis = tmp_path / "out" / "analysis"
    kernel = pl.read_parquet(analysis / "points.parquet").with_columns(variant=pl.lit("kernel"), n=pl.lit(9, pl.UInt32))
    add_tables(tmp_path / "out", linux=kernel)
    made = readme.make("small", tmp_path / "out").read_text()
    assert made.endswith("9 and 3\n")
    (analysis / "linux.parquet").unlink()
    for _ in range(2):
        assert readme.make("small", tmp_path / "out").read_text() == made
        assert set(json.loads((quoting / "quoted.json").read_text())["run"]["kept"]) == {"linux"}


def test_the_quick_size_is_not_quoted(quoting, tmp_path, capsys) -> None:
    papers.reproduce("small", tmp_path / "quick")
    assert readme.main(["small", str(tmp_path / "quick")]) == 1
    assert "--full" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("file", "old", "new", "told"),
    [
        ("pipe.toml", 'rate = "2 Mbps"', 'rate = "3 Mbps"', "pipes: files"),
        ("pipes.toml", "[0.02, 0.1]", "[0.02, 0.2]", "pipes: files"),
        ("quoted.json", '"arrived": ', '"arrived": 9', "pipes: first"),
        ("quoted.json", '"pipes": ', '"pumps": ', "pumps: quoted, but no experiment any more"),
    ],
)
def test_a_number_of_another_experiment_or_simulator_is_stale(quoting, tmp_path, file, old, new, told) -> None:
    text = (quoting / file).read_text()
    assert old in text
    (quoting / file).write_text(text.replace(old, new))
    assert told in "\n".join(readme.stale(SMALL, quoting))
    if file != "quoted.json":
        assert readme.main(["small", str(tmp_path / "out")]) == 1


def test_comments_and_titles_do_not_make_a_number_stale(quoting) -> None:
    for file in ("pipe.toml", "pipes.toml"):
        text = (quoting / file).read_text()
        (quoting / file).write_text(text.replace('title = "', 'title = "another ') + "# a comment\n")
    assert readme.stale(SMALL, quoting) == []
