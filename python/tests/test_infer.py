"""`ecnlab infer`: priors, proposals, fits by hand, answers about models with known ones, the folder, and errors."""

from __future__ import annotations

import json
import math

import msgspec
import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from test_own_columns import NETWORK

import ecnlab
from ecnlab.base.errors import EcnlabError
from ecnlab.cli import cli
from ecnlab.inference import waves
from ecnlab.inference.answer import answer, excluded, quantiles
from ecnlab.inference.fit import effective, fit, log_normal_cdf, normalised, tempered
from ecnlab.inference.prior import Prior, Proposal
from ecnlab.inference.question import Choice, Target, Unknown, overrides, read_question
from ecnlab.inference.result import Record
from ecnlab.inference.running import Done
from ecnlab.papers.inferred import Inferred

EXPERIMENT = """format = 1
scenario = "scenario.toml"
replicates = 1
[set]
"duration" = "1 s"
[grid.delay]
path = "link.l.delay"
values = ["5 ms", "20 ms"]
labels = ["near", "far"]
[arm.a]
set = {}
[arm.b]
set = { "flow.f.start" = "100 ms" }
[metrics]
goodput = { table = "flows", column = "goodput_bps", aggregate = "sum" }
segments = { table = "flows", column = "segments_sent", aggregate = "sum" }
each = { ratio = ["goodput", "segments"] }
"""

QUESTION = """format = 1
title = "Which buffer?"
experiment = "experiment.toml"
seeds = 2
[unknown.buffer]
path = "queue.q.limit"
range = ["2 packets", "40 packets"]
step = "1 packets"
[unknown.segment]
path = "tcp.default.mss"
range = ["500 B", "1400 B"]
step = "1 B"
where = { delay = "far" }
[target.goodput]
metric = "goodput"
arm = "a"
where = { delay = "near" }
printed = 2e6
margin = 1e5
[target.gain]
metric = "each"
arm = "a"
against = "b"
reading = "gain"
printed = 0.0
rounding = 0.1
held_out = true
"""


@pytest.fixture
def question(tmp_path):
    (tmp_path / "scenario.toml").write_text(NETWORK)
    (tmp_path / "experiment.toml").write_text(EXPERIMENT)
    path = tmp_path / "infer.toml"
    path.write_text(QUESTION)
    return path


# ------------------------------------------------------------------ settings

UNKNOWNS = {
    "low": Unknown(path="queue.q.min_th", range=("4 kB", "10 kB")),
    "ratio": Unknown(paths=["queue.q.max_th", "queue.r.max_th"], range=(2.0, 4.0), times="low"),
    "count": Unknown(path="flow.f.count", range=(1, 9)),
    "rto": Unknown(path="tcp.t.min_rto", range=("10 ms", "1000 ms"), log=True),
    "sack": Unknown(path="tcp.t.sack", values=[True, False]),
    "unit": Unknown(
        points=[Choice("kB", {"queue.q.unit": "bytes"}), Choice("packets", {"queue.q.unit": "packets"}, 3)]
    ),
}


def test_a_setting_is_keys_with_units_products_and_choices():
    prior = Prior(UNKNOWNS)
    places = {"low": 0.5, "ratio": 0.25, "count": 0.5, "rto": 0.5}
    values = {name: prior.value(name, place) for name, place in places.items()}
    assert values == pytest.approx({"low": 7.0, "ratio": 2.5, "count": 5.0, "rto": 100.0})
    assert overrides(UNKNOWNS, values, {"sack": 1, "unit": 0}) == {
        "queue.q.min_th": "7 kB",
        "queue.q.max_th": "17.5 kB",
        "queue.r.max_th": "17.5 kB",
        "flow.f.count": 5,
        "tcp.t.min_rto": "100 ms",
        "tcp.t.sack": False,
        "queue.q.unit": "bytes",
    }


def test_a_factor_multiplies_the_unknown_that_is_set_at_each_point(question):
    text = QUESTION.replace('step = "1 packets"', 'step = "1 packets"\nwhere = { delay = "near" }')
    question.write_text(
        text
        + """[unknown.far]
path = "queue.q.limit"
range = ["100 packets", "200 packets"]
where = { delay = "far" }
[unknown.burst]
path = "queue.r.limit"
range = [2.0, 4.0]
times = ["buffer", "far"]
"""
    )
    unknowns = read_question(question).file.unknown
    for name, value, product in (("buffer", 10.0, "30 packets"), ("far", 150.0, "450 packets")):
        here = {one: unknowns[one] for one in (name, "burst")}
        assert overrides(here, {name: value, "burst": 3.0}, {})["queue.r.limit"] == product


def test_values_are_multiples_of_the_step_within_the_range():
    prior = Prior({"x": Unknown(path="a.b", range=(0.3, 2.9), step=0.5)})
    assert [prior.value("x", place) for place in (0.0, 0.1, 0.5, 1.0)] == [0.5, 0.5, 1.5, 2.5]


def test_the_first_wave_fills_each_range_evenly_and_has_choices_by_their_weights():
    settings = Prior(UNKNOWNS).spread(40, np.random.default_rng(1))
    assert sorted((settings[:, 0] * 40).astype(int)) == list(range(40))
    assert (settings[:, 5] == 1).sum() == 30


def test_the_density_of_a_proposal_is_that_of_its_draws():
    prior, random = Prior(UNKNOWNS), np.random.default_rng(2)
    parents = prior.spread(5, random)
    proposal = Proposal.near(prior, parents, np.array([0.4, 0.3, 0.1, 0.1, 0.1]))
    # Relative to the prior, a density has the mean 1 over the prior; and an expectation is the same by either sampling.
    fair, drawn = prior.spread(40_000, random), proposal.draw(40_000, random)
    density = proposal.density(fair)
    assert density.mean() == pytest.approx(1.0, abs=0.03)
    assert ((drawn >= 0.0) & (drawn[:, :4].max() <= 1.0)).all()
    for of in (lambda x: x[:, 0], lambda x: x[:, 3] ** 2, lambda x: x[:, 5] == 0, lambda x: x[:, 4] * x[:, 1]):
        assert np.mean(of(drawn)) == pytest.approx(np.mean(of(fair) * density), abs=0.03)


# ------------------------------------------------------------------ fits


def test_implausibility_and_likelihood_are_those_by_hand():
    # Two settings with four seeds. Variances 4 and 0; their median is 2, with the weight of 4 degrees of freedom beside 3.
    values = np.array([[[8.0, 12.0, 8.0, 12.0]], [[10.0] * 4]]) + 0.0
    variance = (4.0 * 2.0 * (16 / 3) / 4 + 3.0 * np.array([16 / 3, 0.0])) / 7.0
    found = fit([Target(metric="m", printed=13.0, rounding=1.0, margin=0.5)], values, 2)
    sd = np.sqrt(0.5**2 + 1.0 / 12.0 + variance * (1 / 4 + 1 / 2))
    assert found.mean[:, 0].tolist() == [10.0, 10.0]
    assert found.implausible[:, 0] == pytest.approx(3.0 / sd)
    assert found.log_likelihood[:, 0] == pytest.approx(-0.5 * (3.0 / sd) ** 2 - np.log(sd))


def test_a_limit_counts_how_far_the_mean_is_beyond_it():
    values = np.array([[[5.0, 5.0]], [[15.0, 15.0]], [[math.nan, 1.0]]])
    above = fit([Target(metric="m", at_least=10.0, tolerance=2.0)], values, 1)
    assert above.implausible[:, 0].tolist() == [2.5, 0.0, math.inf]
    assert above.log_likelihood[:2, 0] == pytest.approx(
        [math.log(0.5 * math.erfc(2.5 / math.sqrt(2))), log_normal_cdf(2.5)]
    )
    below = fit([Target(metric="m", at_most=10.0, tolerance=2.0)], values, 1)
    assert below.implausible[:, 0].tolist() == [0.0, 2.5, math.inf]
    assert not below.met[2, 0] and below.log_likelihood[2, 0] == -math.inf


def test_the_normal_distribution_is_smooth_far_below_zero():
    assert log_normal_cdf(-30.001) == pytest.approx(log_normal_cdf(-29.999), rel=3e-3)
    assert log_normal_cdf(0.0) == pytest.approx(math.log(0.5))


def test_weights_are_flattened_to_an_effective_number():
    log = -(np.arange(100.0) ** 2)
    assert effective(normalised(log)) < 2.0 < 19.9 < effective(tempered(log, 20.0)) < 20.1
    assert tempered(np.zeros(10), 5.0).tolist() == [0.1] * 10
    with_impossible = tempered(np.array([0.0, -math.inf, -1.0]), 1.9)
    assert with_impossible[1] == 0.0 and with_impossible.sum() == pytest.approx(1.0)
    assert normalised(np.array([-math.inf] * 4)).tolist() == [0.25] * 4


def test_quantiles_have_the_weights():
    assert quantiles(np.array([3.0, 1.0, 2.0]), np.array([0.2, 0.2, 0.6]), (0.1, 0.5, 0.9)) == [1.0, 2.0, 3.0]


# ------------------------------------------------------------------ answers about a known model

MODEL = """format = 1
title = "A model"
experiment = "experiment.toml"
seeds = 4
[unknown.x]
path = "queue.q.limit"
range = ["0 packets", "100 packets"]
[unknown.y]
path = "tcp.default.mss"
range = [0.0, 1.0]
[target.sum]
metric = "goodput"
arm = "a"
printed = 30.0
margin = 2.0
[target.twice]
metric = "segments"
arm = "a"
PRINTED
[target.beside]
metric = "segments"
arm = "b"
printed = 61.0
margin = 1.0
held_out = true
"""


@pytest.fixture
def model(question, monkeypatch):
    """The question of MODEL, whose quantities are x, 2 x and 2 x + 1 with some noise, in place of runs."""

    def read(printed):
        question.write_text(MODEL.replace("PRINTED", printed))
        return read_question(question)

    def do(asked, settings, seeds, **_):
        random = np.random.default_rng(seeds[0])
        x = 100.0 * settings[:, 0]
        exact = np.array([x, 2.0 * x, 2.0 * x + 1.0]).T[:, :, None]
        return Done(settings, exact + 0.1 * random.standard_normal((len(x), 3, 4)), [""] * len(x))

    monkeypatch.setattr(waves, "do", do)
    return read


def test_the_region_is_that_of_the_known_posterior(model):
    asked = model("printed = 61.0\nmargin = 3.0")
    found = waves.sample(asked, None, settings=400, waves=4)
    answered = answer(asked, found)
    # x has the precisions 1/2^2 and 1/1.5^2 around 30 and 30.5: the mean 30.32, the standard deviation 1.2.
    low, high = (100.0 * place for place in answered.regions[0].places)
    assert answered.verdict == "these" and answered.effective > 100
    assert (low, high) == pytest.approx((30.32 - 1.645 * 1.2, 30.32 + 1.645 * 1.2), abs=0.35)
    assert [one.identified for one in answered.regions] == [True, False]
    held_out = answered.predicted[2]
    assert held_out.agrees and (held_out.low + held_out.high) / 2 == pytest.approx(61.64, abs=0.5)
    assert answered.met[0] == 1.0 and answered.met[2] == pytest.approx(0.09, abs=0.03), "x from 25 to 35.5 meets both"
    assert "not identifiable: y" in answered.sentence


def test_numbers_that_exclude_each_other_are_named(model):
    asked = model("printed = 90.0\nmargin = 3.0")
    answered = answer(asked, waves.sample(asked, None, settings=200, waves=2))
    assert answered.verdict == "none" and answered.excluded == [("sum", "twice")]
    assert "no setting meets sum with twice" in answered.sentence
    asked = model("at_least = 300\ntolerance = 1")
    answered = answer(asked, waves.sample(asked, None, settings=200, waves=2))
    assert answered.excluded == [("twice",)]


def test_rare_numbers_do_not_exclude_each_other_by_chance():
    met = np.zeros((200, 3), dtype=bool)
    met[:100, 0], met[100:, 1], met[:10, 2] = True, True, True
    # By shares 50 settings would meet the first two, and 5 the second and third: with 7 sets, more than log(7 / 0.05) = 4.9 is enough.
    assert excluded(("a", "b", "c"), met) == [("a", "b"), ("b", "c")]
    met[9, 2] = False
    assert excluded(("a", "b", "c"), met) == [("a", "b")]
    met[:, 2] = False
    assert excluded(("a", "b", "c"), met) == [("c",), ("a", "b")]


def test_a_limit_cuts_the_region(model):
    asked = model("at_most = 58.0\ntolerance = 0.1")
    answered = answer(asked, waves.sample(asked, None, settings=400, waves=4))
    assert 100.0 * answered.regions[0].places[1] == pytest.approx(29.0, abs=0.3)


# ------------------------------------------------------------------ runs


def test_the_quantities_are_those_of_runs(question):
    found = ecnlab.infer(question, settings=20, waves=1)
    table = found.settings
    row = table.row(3, named=True)
    scenario, keys = (
        question.parent / "scenario.toml",
        {"duration": "1 s", "queue.q.limit": f"{row['buffer, packets']:g} packets"},
    )
    seeds, near, far = (
        (7, 8),
        {"link.l.delay": "5 ms"},
        {"link.l.delay": "20 ms", "tcp.default.mss": f"{row['segment, B']:g} B"},
    )

    def of(seed, place, **more):
        run = ecnlab.run(scenario, seed, overrides={**keys, **place, **more}).flows
        return run["goodput_bps"].sum(), run["goodput_bps"].sum() / run["segments_sent"].sum()

    assert row["mean of goodput"] == pytest.approx(np.mean([of(seed, near)[0] for seed in seeds]))
    late = {"flow.f.start": "100 ms"}
    first, second = (
        [np.mean([of(seed, place, **more)[1] for place in (near, far)]) for seed in seeds] for more in ({}, late)
    )
    assert row["mean of gain"] == pytest.approx(np.mean([a / b - 1.0 for a, b in zip(first, second, strict=True)]))


def test_the_folder_is_continued_and_gives_the_same_again(question, tmp_path, monkeypatch):
    first = ecnlab.infer(question, tmp_path / "out", settings=40, waves=2)
    assert (tmp_path / "out" / "infer.html").read_text().count("<svg") >= 2
    answered = json.loads((tmp_path / "out" / "answer.json").read_text())
    assert (answered["settings"], answered["waves"], answered["seed"], answered["seeds"]) == (40, 2, 1, 2)
    assert msgspec.convert(answered, Record).answer == first.answer
    stored = pl.read_parquet(tmp_path / "out" / "settings.parquet")
    assert stored.height == 40 and stored["weight"].sum() == pytest.approx(1.0)
    again = ecnlab.infer(question, settings=40, waves=2, threads=1)
    assert again.answer.sentence == first.answer.sentence and again.settings.equals(first.settings)
    monkeypatch.setattr(waves, "do", None)
    (tmp_path / "out" / "infer.html").unlink()
    assert ecnlab.infer(question, tmp_path / "out", settings=40, waves=2).settings.equals(first.settings)
    (tmp_path / "out" / "wave-2.parquet").write_bytes(b"PAR1 damaged")
    with pytest.raises(TypeError, match="NoneType"):  # it is done again
        ecnlab.infer(question, tmp_path / "out", settings=40, waves=2)


def test_an_unknown_may_have_the_name_of_a_column(question):
    question.write_text(QUESTION.replace("unknown.segment", "unknown.weight"))
    assert {"unknown weight, B", "weight"} <= set(ecnlab.infer(question, settings=20, waves=1).settings.columns)


def test_a_readme_shows_a_stored_answer_and_names_a_missing_or_damaged_one(question, tmp_path):
    with pytest.raises(
        EcnlabError, match=r"inferred\.json is missing: copy `answer\.json` of `ecnlab infer .*infer\.toml`"
    ):
        Inferred.read(tmp_path)
    found = ecnlab.infer(question, tmp_path / "out", settings=40, waves=2)
    stored = (tmp_path / "out" / "answer.json").read_text()
    (tmp_path / "inferred.json").write_text(stored)
    shown = Inferred.read(tmp_path)
    assert shown.sentence == found.answer.sentence and shown.share(0) == "100%"
    assert shown.size.startswith("40 settings in 2 waves, 2 seeds each, with ecnlab ")
    assert shown.unknowns.splitlines()[2].startswith("| buffer | 2 packets to 40 packets | ")
    assert [line.split(" | ")[3] for line in shown.numbers.splitlines()[2:]] == ["fitted", "held out"]
    (tmp_path / "inferred.json").write_text(stored.replace('"waves": 2', '"waves": "2"'))
    with pytest.raises(EcnlabError, match="`waves` is wrong"):
        Inferred.read(tmp_path)


def test_a_change_of_the_question_does_its_runs_again(question, tmp_path, monkeypatch):
    ecnlab.infer(question, tmp_path / "out", settings=20, waves=1)
    question.write_text(QUESTION.replace('"40 packets"', '"50 packets"'))
    monkeypatch.setattr(waves, "do", None)
    with pytest.raises(TypeError, match="NoneType"):
        ecnlab.infer(question, tmp_path / "out", settings=20, waves=1)


def test_the_command_prints_settings_numbers_and_the_answer(question, tmp_path):
    done = CliRunner().invoke(
        cli, ["infer", str(question), "--settings", "40", "--waves", "2", "--out", str(tmp_path / "out")]
    )
    assert done.exit_code == 0, done.output
    for word in ("buffer", "2 packets to 40 packets", "held out", "fitted", "infer.html"):
        assert word in done.output


def test_more_targets_can_be_held_out(question, tmp_path):
    question.write_text(QUESTION.replace("held_out = true", "held_out = false"))
    command = [
        "infer",
        str(question),
        "--out",
        str(tmp_path / "out"),
        "--settings",
        "40",
        "--waves",
        "2",
        "--hold-out",
        "goodput",
    ]
    assert CliRunner().invoke(cli, command).exit_code == 0
    record = json.loads((tmp_path / "out/answer.json").read_text())
    assert {one["name"]: one["target"]["held_out"] for one in record["answer"]["predicted"]} == {
        "goodput": True,
        "gain": False,
    }
    read = read_question(question)
    with pytest.raises(EcnlabError, match=r"infer\.toml: .*goodputs.*goodput"):
        ecnlab.infer(question, hold_out=["goodputs"])
    with pytest.raises(EcnlabError, match=r"infer\.toml: goodput, gain: no target is left"):
        read.holding_out(["goodput", "gain"])


def test_settings_that_are_no_scenarios_are_left_out_and_refused_if_nearly_all_are(question):
    question.write_text(
        QUESTION.replace('range = ["2 packets", "40 packets"]', 'range = ["-10 packets", "40 packets"]')
    )
    found = ecnlab.infer(question, settings=20, waves=1)
    assert 3 <= (found.settings["invalid"] != "").sum() <= 6 and found.answer.settings < 20
    question.write_text(
        QUESTION.replace('range = ["2 packets", "40 packets"]', 'range = ["-10 packets", "-2 packets"]')
    )
    with pytest.raises(EcnlabError, match=r"20 of 20 settings are no valid scenarios; the first: .*queue\.q\.limit"):
        ecnlab.infer(question, settings=20, waves=1)
    question.write_text(QUESTION.replace('step = "1 packets"\n', ""))
    with pytest.raises(EcnlabError, match=r'unknown\.buffer: write step = "1 packets"'):
        ecnlab.infer(question, settings=20, waves=1)


# ------------------------------------------------------------------ errors


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            'metric = "goodput"',
            'metric = "godput"',
            r"target.goodput: no metric is called 'godput'; did you mean 'goodput'\?",
        ),
        ('arm = "a"\nwhere', 'arm = "x"\nwhere', r"target.goodput: no arm is called 'x'; there are a, b"),
        ('arm = "a"\nwhere', "where", "target.goodput: the key 'arm' is missing: a, b"),
        ('delay = "near"', 'delay = "nearer"', r"no label on the axis delay is called 'nearer'; did you mean 'near'\?"),
        ('delay = "far"', 'load = "far"', "unknown.segment: no axis is called 'load'; there are delay"),
        ("printed = 2e6", "", "target.goodput: a target needs one of 'printed', 'at_most' and 'at_least'"),
        ('against = "b"', "", "target.gain: 'against' and a 'reading'"),
        ("margin = 1e5", "margin = -1", "'rounding', 'margin' and 'tolerance' are 0 or more"),
        (
            '"40 packets"',
            '"40 kB"',
            "unknown.buffer: the ends of 'range' and 'step' have different units: 'packets', 'kB'",
        ),
        ('"40 packets"', '"1 packets"', r"unknown.buffer: 'range' is \[least, greatest\]"),
        ('"40 packets"', '"many"', "unknown.buffer: 'many' is no number with a unit"),
        ('path = "queue.q.limit"', "", "unknown.buffer: an unknown needs 'path' or 'paths'"),
        ('range = ["500 B", "1400 B"]', "", "unknown.segment: an unknown needs one of 'range', 'values' and 'points'"),
        (
            'range = ["500 B", "1400 B"]\nstep = "1 B"',
            'range = [1, 2]\ntimes = "bufer"',
            r"no unknown is called 'bufer'; did you mean 'buffer'\?",
        ),
        (
            'range = ["500 B", "1400 B"]\nstep = "1 B"',
            'range = [1, 2]\ntimes = "buffer"',
            "unknown.segment: 'times' needs one unknown at each point of this one's 'where': buffer",
        ),
        (
            'range = ["500 B", "1400 B"]\nstep = "1 B"',
            'range = [1, 2]\ntimes = ["segment"]',
            "'times' needs an unknown with a range and without 'times': segment is none",
        ),
        (
            'range = ["500 B", "1400 B"]\nstep = "1 B"',
            "range = [0, 1400]\nlog = true",
            "a range with 'log' begins above 0",
        ),
        ("seeds = 2", "seeds = 1", "'seeds' is 2 or more"),
        ("held_out = true", "heldout = true", r"no key is called 'heldout'; did you mean 'held_out'\?"),
        ("format = 1", "format = 2", "format 2; this ecnlab reads format 1"),
    ],
)
def test_a_wrong_question_is_an_error_with_its_place(question, old, new, message):
    assert old in QUESTION
    question.write_text(QUESTION.replace(old, new, 1))
    with pytest.raises(EcnlabError, match=message) as refused:
        read_question(question)
    assert str(question) in str(refused.value)


def test_too_few_settings_are_refused(question):
    with pytest.raises(EcnlabError, match="give at least 20 settings for each"):
        ecnlab.infer(question, settings=39, waves=2)


def test_check_reads_questions(question):
    assert CliRunner().invoke(cli, ["check", str(question)]).exit_code == 0
    question.write_text(QUESTION.replace('metric = "goodput"', 'metric = "godput"'))
    wrong = CliRunner().invoke(cli, ["check", str(question)])
    assert wrong.exit_code == 2 and "did you mean 'goodput'?" in wrong.output
