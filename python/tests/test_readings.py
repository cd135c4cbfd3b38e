"""Verdicts under other readings of what a paper leaves unstated."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from msgspec import structs
from small_paper import GRID, in_place_of_the_papers

from ecnlab import papers
from ecnlab.base.errors import EcnlabError
from ecnlab.papers import readme
from ecnlab.papers.judge import FULL, judged, verdicts
from ecnlab.papers.published import Below, Claim, Metric, Number, Published, Reading, Readings, Trend, read_published
from ecnlab.papers.readings import Again, in_words, judged_again, labels_on, require_labels
from ecnlab.papers.registry import PAPERS, find
from ecnlab.scenario.files import read_experiment

READINGS = """
[readings]
key = "maxp"
claimed = "0.1"
[readings.others."0.02"]
text = "a fifth"
"""


@pytest.fixture
def small(scenario, monkeypatch) -> Path:
    """The small paper with a reading, under which all is judged again."""
    folder = in_place_of_the_papers(scenario.parent, scenario.read_text(), monkeypatch)
    published = (folder / "published.toml").read_text().replace("where = {}", 'where = { maxp = "0.1" }')
    (folder / "published.toml").write_text(published + READINGS)
    return folder


def samples(values: dict[tuple[str, str], list[float]]) -> pl.DataFrame:
    """Samples of the metric ``m`` by variant and max_p."""
    rows = [
        {"variant": variant, "maxp": maxp, "replicate": i, "value": value}
        for (variant, maxp), of in values.items()
        for i, value in enumerate(of)
    ]
    return GRID.samples("m", pl.DataFrame(rows))


def judge(measured: pl.DataFrame, claims: list[Claim], numbers: list[Number], others: dict[str, Reading]) -> Again:
    readings = Readings("variant", "printed", others)
    metrics = {"m": Metric("m", "of m", "mean", margin=1.0)}
    published = Published("P", "", "", "", metrics, tuple(numbers), tuple(claims), readings=readings)
    as_claimed = dict(verdicts(*judged(GRID, published, measured, FULL)).iter_rows())
    return Again(judged_again(GRID, published, readings, measured, as_claimed, FULL), published)


LOW, HIGH, WIDE = [1.0, 1.1, 0.9, 1.0], [9.0, 9.1, 8.9, 9.0], [1.0, 9.0, 1.0, 9.0]
BELOW = Below(
    id="B", row="B", metric="m", where={"variant": "printed", "maxp": "0.1"}, statement="It is low.", limit=5.0
)


def test_a_claim_that_turns_under_a_reading_is_reported_with_it() -> None:
    measured = samples({("printed", "0.1"): LOW, ("same", "0.1"): LOW, ("turned", "0.1"): HIGH, ("open", "0.1"): WIDE})
    others = {name: Reading(f"is {name}") for name in ("same", "turned", "open", "absent")}
    number = Number(id="N", row="N", metric="m", where=BELOW.where, value=1.0)
    again = judge(measured, [BELOW], [number], others)
    rows = {(row["id"], row["reading"]): row for row in again._rows.to_dicts()}
    assert {name: rows["B", name]["outcome"] for name in others} == {
        "same": "yes",
        "turned": "no",
        "open": "undecided",
        "absent": "not run",
    }
    assert rows["N", "turned"]["outcome"] == "differs" and rows["B", "turned"]["mean"] == pytest.approx(9.0)
    assert rows["B", "absent"]["mean"] is None
    of_claim = [row for (name, _), row in rows.items() if name == "B"]
    assert in_words(of_claim) == "yes under same; no under turned; undecided under open; not run under absent"
    assert again.under("N", "differs") == "turned"
    with pytest.raises(EcnlabError, match="B has the outcome 'partly' under no reading: yes under same"):
        again.under("B", "partly")
    assert (again.run, again.same, again.turned, again.open) == (2, 0, 2, 0)
    assert "| **turned**: is turned | 0 | 2 | 0 | 0 |" in again.table
    assert "| B | It is low. | yes | yes under same; no under turned; undecided under open |" in again.turns


def test_a_claim_about_places_of_which_a_reading_lacks_some_can_only_be_refuted() -> None:
    both = structs.replace(BELOW, where={"variant": "printed", "maxp": ["0.02", "0.1"]})
    trend = Trend(
        id="T", row="T", metric="m", where={"variant": "printed"}, statement="", axis="maxp", expected="increasing"
    )
    here = {("printed", "0.02"): LOW, ("printed", "0.1"): LOW}
    measured = samples({**here, ("low", "0.1"): LOW, ("high", "0.1"): HIGH})
    again = judge(measured, [both, trend], [], {"low": Reading(""), "high": Reading("")})
    found = {(row["id"], row["reading"]): row["outcome"] for row in again._rows.to_dicts()}
    assert found == {("B", "low"): "not run", ("B", "high"): "no", ("T", "low"): "not run", ("T", "high"): "not run"}


def test_the_claimed_label_may_be_blank() -> None:
    assert Readings("variant", "", {}).cover(structs.replace(BELOW, where={"variant": ""}))


def test_a_reading_may_have_a_label_for_each_claimed_one() -> None:
    readings = Readings("variant", ["a", "b"], {"other": Reading("", {"a": "c", "b": "d"})})
    assert readings.cover(structs.replace(BELOW, where={"variant": ["a", "b"]}))
    assert not readings.cover(structs.replace(BELOW, where={"variant": ["a", "e"]}))
    assert not readings.cover(structs.replace(BELOW, where={"maxp": "a"}))
    with pytest.raises(EcnlabError, match=r"p\.toml: readings\.others\.'other': no label of variant .*'d'.*'dd'"):
        require_labels(Path("p.toml"), readings, ["c", "dd"])


def test_readings_are_in_the_report_and_in_the_readme(small, tmp_path) -> None:
    (small / readme.TEMPLATE).write_text('# small\n{{ readings("claims").table }}\n{{ readings("numbers").run }}\n')
    html = papers.reproduce("small", tmp_path / "out", full=True).read_text()
    assert "other readings" in html and "yes under 0.02" in html
    text = readme.make("small", tmp_path / "out").read_text()
    assert "| **0.02**: a fifth | 1 | 0 | 0 | 0 |\n1\n" in text
    assert readme.make("small").read_text() == text
    (tmp_path / "out" / "analysis" / "readings.parquet").unlink()
    with pytest.raises((EcnlabError, OSError)):
        readme.make("small", tmp_path / "out")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('key = "maxp"', 'key = "max"', r"readings\.key: .*'max'.*'maxp'"),
        ('claimed = "0.1"', 'claimed = "0.10"', r"readings\.claimed: no label of maxp .*'0\.10'.*'0\.1'"),
        ('claimed = "0.1"', 'claimed = ["0.1"]', None),
        ('others."0.02"', 'others."0.03"', r"readings\.others\.'0\.03': no label of maxp .*'0\.02'"),
        ('text = "a fifth"', 'text = ""\nlabels = { "0.2" = "0.02" }', r"labels: no claimed label .*'0\.1'"),
        ('text = "a fifth"', "", "text"),
    ],
)
def test_a_wrong_reading_is_an_error_before_any_run(small, tmp_path, old, new, message) -> None:
    text = (small / "published.toml").read_text()
    (small / "published.toml").write_text(text.replace(READINGS, READINGS.replace(old, new)))
    if message is None:
        assert read_published(small).readings
        return
    with pytest.raises(EcnlabError, match=r"published\.toml.*" + message):
        papers.reproduce("small", tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", PAPERS)
def test_the_readings_of_a_paper_have_labels_in_its_experiments(name) -> None:
    paper, folder = find(name)
    if readings := read_published(folder).readings:
        experiments = [read_experiment(folder / f"{step.name}.toml") for step in paper.steps]
        labels = labels_on(readings.key, experiments, (step.place for step in paper.steps))
        require_labels(folder / "published.toml", readings, labels)
