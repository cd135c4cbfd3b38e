"""``ecnlab score aqm``: its scenarios are valid for every queue, its verdicts follow from intervals, and its card is read as written."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import mostly_slow
from drawn import drawing

from ecnlab import SpecError, _core
from ecnlab.base.errors import EcnlabError, FolderError
from ecnlab.base.stats import Interval
from ecnlab.scenario import advice, sketched
from ecnlab.scoring import building, judging, read, score, subject, subjects, write, write_page
from ecnlab.scoring.card import Card
from ecnlab.scoring.sheet import Criterion, Sheet, built_in, flows, limit_packets, read_limits

QUEUES = [name for name in _core.laws()["queue"] if "copy" not in sketched.sketched("queue", name)]

HALVES = """
from ecnlab.userlaws import QueueLaw

class Halves(QueueLaw):
    \"\"\"Drops every second packet.\"\"\"

    def __init__(self):
        self.odd = False

    def on_enqueue(self, packet, queue, now, random):
        self.odd = not self.odd
        return "drop" if self.odd else "pass"
"""

SHORT = {"newreno": ("40 s", "10 s"), "udp-mixed": ("20 s", "8 s"), "ecn": ("2 s", "1 s")}
"""Duration and warm-up of the scenarios that are run here."""


def short(names: Sequence[str], seeds: int = 3) -> Sheet:
    """The sheet of the scenarios ``names``, with short runs."""
    whole = built_in().only(names)
    runs = [replace(one, duration={"quick": SHORT[one.name][0]}, warmup=SHORT[one.name][1]) for one in whole.scenarios]
    return replace(drawing(whole, seeds), scenarios=runs, replicates={"quick": seeds})


def scored(queue: str, folder: Path, names: Sequence[str] = ("newreno", "udp-mixed"), seeds: int = 3) -> Card:
    return score(
        subjects(built_in(), subject(queue)),
        folder,
        short(names, seeds),
        workers=2,
        progress=lambda _name: lambda _done, _all: None,
    )


@pytest.fixture(scope="module")
def cards(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Card]:
    """Cards of two scenarios."""
    folder = tmp_path_factory.mktemp("cards")
    droptail = scored("droptail", folder / "droptail")
    return {"droptail": droptail, **{queue: scored(queue, folder / queue) for queue in ("codel", "fq_codel")}}


def criteria(card: Card, scenario: str) -> dict[str, dict]:
    """The criteria of a scenario with one case, by name."""
    return {row["name"]: row for one in card["scenarios"] if one["name"] == scenario for row in one["criteria"]}


def verdicts(card: Card) -> dict[str, str]:
    return {one["name"]: one["verdict"] for one in card["scenarios"]}


# ---- the sheet


def test_limits_are_the_product_of_rate_and_rtt_in_packets() -> None:
    # 10e6 * 0.1 / (8 * 1500) = 83.3; 10e6 * 0.56 / 12000 = 466.7; 100e6 * 0.1 / 12000 = 833.3
    assert [limit_packets("10 Mbps", "100 ms"), limit_packets("10 Mbps", "560 ms")] == [83, 467]
    assert limit_packets("100 Mbps", "100 ms") == 833
    # Of drawn paths a buffer is a multiple of the path's own BDP.
    (deep,) = built_in().only(["deep-buffer"]).of_size("quick").scenarios
    one, eight = (next(case for case in deep.cases if case.of == of) for of in ("1 BDP", "8 BDP"))
    assert one.paths == eight.paths
    for path, short, long in zip(one.paths, deep.limits(one), deep.limits(eight), strict=True):
        assert (short, long) == (
            max(round(path.rate * path.rtt / 12e3), 4),
            max(round(8 * path.rate * path.rtt / 12e3), 4),
        )


def test_numbers_of_flows_are_those_of_the_formulas() -> None:
    # S = 2 * 83 = 166: 0.036 S = 5.98, 0.081 S = 13.4, 0.114 S = 18.9.
    levels = built_in().congestion
    assert [flows(level, levels, 83) for level in ("mild", "medium", "heavy")] == [6, 13, 19]
    assert [flows(level, levels, 83) for level in ("medium - mild", "heavy - medium")] == [7, 6]
    # The RFC's loss, 0.76 N^2 / S^2, is the nominal one of each level to a twelfth of it.
    losses = [100 * 0.76 * flows(level, levels, 83) ** 2 / 166**2 for level in levels]
    assert losses == pytest.approx([0.1, 0.5, 1.0], rel=0.08)


def test_the_files_have_the_flows_and_limits_of_each_case(tmp_path: Path) -> None:
    sheet = built_in().of_size("full")
    by_name = {one.name: one for one in sheet.scenarios}
    made = {
        name: building.write(tmp_path, sheet, by_name[name], subjects(sheet, subject("codel")), "quick")
        for name in ("congestion", "varying-load", "rtt", "varying-rate")
    }
    assert [one.resolved["flow"]["tcp"]["count"] for one in made["congestion"].scenarios][::2] == [6, 13, 19]
    load = made["varying-load"].run(0).scenario.resolved["flow"]
    assert {name: flow["count"] for name, flow in load.items()} == {"mild": 6, "medium": 7, "heavy": 6}
    for one in made["rtt"].scenarios:
        limits = {one.resolved["queue"][arm]["limit"] for arm in sheet.arms}
        longer = {"279 ms": "467 packets", "99 ms": "167 packets"}  # RTTs of 560 and 200 ms
        assert limits == {longer.get(one.resolved["link"]["second"]["delay"], "83 packets")}
    rates = [one.resolved["link"]["bottleneck"]["rate"] for one in made["varying-rate"].scenarios]
    assert {rate["every"] for rate in rates} == {"40 s", "200 ms"}


@pytest.mark.parametrize("queue", mostly_slow(QUEUES, "fq_codel", "htb"))
def test_every_scenario_is_valid_for_every_queue(queue: str, tmp_path: Path) -> None:
    for size in ("quick", "full") if queue == "fq_codel" else ("quick",):
        sheet = built_in().of_size(size)
        assert len(sheet.scenarios) == 18
        for one in sheet.scenarios:
            if one.drawn and queue in ("htb", "tbf", "cbq"):  # a shaper has a rate of its own
                continue
            made = building.write(tmp_path, sheet, one, subjects(sheet, subject(queue)), size)
            of_each = [len(case.paths) or sheet.replicates[size] for case in one.cases]
            assert len(made) == 2 * sum(of_each)
            assert {c.measure for c in one.criteria} <= set(building.metrics(one))
            assert {name for c in one.criteria for name in c.cases} <= {
                case.of for case in built_in().only([one.name]).scenarios[0].cases
            }
            # The flows of some scenarios have no ECN, whatever the queue, and criteria are about the link.
            # On a slow path a packet takes longer than the target of 5 ms.
            known = ("no flow uses ECN", "mixes groups", "target")
            warned = [line for line in advice.of_experiment(made).lines if not any(one in line for one in known)]
            assert queue != "fq_codel" or not warned


# ---- verdicts

AT_MOST = Criterion("delay", "delay_p99_s", "reference", "at_most", 0.5, "")
AT_LEAST = replace(AT_MOST, bound="at_least")


@pytest.mark.parametrize(
    ("low", "high", "at_most", "at_least"),
    [
        (0.2, 0.4, "yes", "no"),
        (0.6, 0.9, "no", "yes"),
        (0.4, 0.6, "undecided", "undecided"),
        (0.5, 0.5, "yes", "yes"),
        (-math.inf, math.inf, "undecided", "undecided"),
    ],
)
def test_the_whole_interval_decides(low: float, high: float, at_most: str, at_least: str) -> None:
    measured = Interval((low + high) / 2, low, high, 3)
    assert judging.outcome(AT_MOST, measured) == at_most
    assert judging.outcome(AT_LEAST, measured) == at_least
    assert judging.outcome(AT_MOST, replace(measured, n=2)) == "undecided"
    assert judging.outcome(AT_MOST, None) == "undecided"


def test_all_of_six_values_on_one_side_decide_where_the_interval_does_not() -> None:
    wide = Interval(0.3, 0.1, 0.9, 6)
    assert judging.outcome(AT_MOST, wide, [0.01, 0.1, 0.4, 0.5, 0.5, 0.5]) == "yes"
    assert judging.outcome(AT_LEAST, wide, [0.01, 0.1, 0.4, 0.45, 0.45, 0.45]) == "no"
    assert judging.outcome(AT_MOST, wide, [0.01, 0.1, 0.4, 0.5, 0.5, 0.51]) == "undecided"
    assert judging.outcome(AT_MOST, wide, [0.01, 0.1, 0.4, 0.5, 0.5]) == "undecided"
    assert judging.outcome(AT_MOST, wide, [0.01, 0.1, 0.4, 0.5, 0.5, None]) == "undecided"


def test_a_sign_test_decides_if_the_mean_is_on_the_same_side() -> None:
    # Of 12 values two are on the other side: 2 (1 + 12 + 66) / 2^12 = 3.9 %; of three, with 220 more cases, 14.6 %.
    wide = Interval(0.4, 0.1, 0.9, 12)
    assert judging.outcome(AT_MOST, wide, [0.1] * 10 + [2.0] * 2) == "yes"
    assert judging.outcome(AT_MOST, wide, [0.1] * 9 + [2.0] * 3) == "undecided"
    assert judging.outcome(AT_MOST, replace(wide, mean=0.6), [0.1] * 10 + [2.0] * 2) == "undecided"
    assert judging.outcome(replace(AT_MOST, worst=True), wide, [0.1] * 10 + [2.0] * 2) == "undecided"


def test_one_failure_decides_a_scenario_then_an_undecided_criterion() -> None:
    def of(*outcomes: str) -> str:
        return judging.verdict([judging.Judged(AT_MOST, "", None, one) for one in outcomes])  # type: ignore[arg-type]

    assert [of("yes", "yes"), of("yes", "undecided"), of("no", "undecided", "yes")] == [
        "meets",
        "inconclusive",
        "fails",
    ]


def test_a_ratio_is_paired_by_seed() -> None:
    # Each pair has the ratio 2, so that the interval is a point however the values spread.
    paired = judging.ratio([2.0, 20.0, 200.0], [1.0, 10.0, 100.0])
    assert paired is not None
    assert (paired.mean, paired.low, paired.high) == pytest.approx((2.0, 2.0, 2.0))
    with_zero = judging.ratio([0.0, 1.0, 2.0], [2.0, 2.0, 2.0])
    assert with_zero is not None and with_zero.mean == pytest.approx(0.5)
    assert judging.ratio([1.0, None, 1.0], [1.0, 1.0, 1.0]) is None
    assert judging.ratio([1.0, 1.0], [0.0, 0.0]) is None


def test_drop_tail_fails_delay_against_itself(cards: dict[str, Card]) -> None:
    delay = criteria(cards["droptail"], "udp-mixed")["call-delay-loaded"]
    assert (delay["mean"], delay["low"], delay["high"], delay["n"], delay["outcome"]) == (1.0, 1.0, 1.0, 3, "no")
    assert criteria(cards["droptail"], "newreno")["no-more-delay"]["outcome"] == "yes"


def test_a_queue_with_a_target_of_5_ms_has_less_delay_on_each_path(cards: dict[str, Card]) -> None:
    found = criteria(cards["codel"], "newreno")["no-more-delay"]
    assert len(found["values"]) == 3 and max(found["values"]) <= 1


def test_fair_queueing_isolates_tcp_from_udp(cards: dict[str, Card]) -> None:
    assert verdicts(cards["fq_codel"])["udp-mixed"] == "meets"
    fair, single = (criteria(cards[queue], "udp-mixed")["responsive-share"] for queue in ("fq_codel", "codel"))
    assert fair["mean"] > 1.2 > 1.1 > single["mean"]


def test_a_law_that_drops_every_second_packet_fails_utilisation(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text(HALVES)
    card = scored(f"{tmp_path / 'bad.py'}:Halves", tmp_path / "card", ["newreno"])
    found = criteria(card, "newreno")
    assert verdicts(card) == {"newreno": "fails"}
    assert (found["no-more-delay"]["outcome"], found["utilisation-one-reno"]["outcome"]) == ("undecided", "no")
    assert card["summary"][1].startswith("1 fails: newreno (utilisation-one-reno 0.")


def test_a_shaper_above_the_rate_of_a_drawn_path_is_not_applicable_there(tmp_path: Path) -> None:
    card = scored("htb", tmp_path, ["udp-mixed", "ecn"])
    assert verdicts(card)["udp-mixed"] == "not applicable"
    assert "above the rate of the link behind it" in card["scenarios"][-1]["why_not"]


def test_ecn_does_not_apply_to_a_queue_that_does_not_mark(tmp_path: Path) -> None:
    card = scored("droptail", tmp_path, ["ecn"])
    assert verdicts(card) == {"ecn": "not applicable"}
    assert "does not mark" in card["scenarios"][0]["why_not"] and card["summary"][2] == "1 not applicable: ecn"
    assert card["summary"][3].endswith("no scenario was run")


def test_two_seeds_give_no_interval_and_no_verdict(tmp_path: Path) -> None:
    card = scored("codel", tmp_path, ["ecn"], seeds=2)
    assert verdicts(card) == {"ecn": "inconclusive"}
    assert {row["low"] for row in card["scenarios"][0]["measures"]} == {None}


# ---- the card


def test_the_card_is_read_as_it_was_written(cards: dict[str, Card], tmp_path: Path) -> None:
    card = cards["codel"]
    path = write(card, tmp_path)
    assert read(tmp_path) == card == json.loads(json.dumps(card))
    assert card["subject"]["parameters"]["target"] == "5 ms" and list(card["scenarios"][0]["limit_packets"]) == list(
        card["scenarios"][0]["paths"]
    )
    path.write_text(path.read_text().replace("5 ms", "6 ms"))
    with pytest.raises(FolderError, match=r"card\.json is damaged"):
        read(tmp_path)
    with pytest.raises(FolderError, match=r"has no card\.json: `ecnlab score aqm"):
        read(tmp_path / "none")


def test_the_page_has_the_summary_the_figures_and_the_commands(cards: dict[str, Card], tmp_path: Path) -> None:
    page = write_page(cards["fq_codel"], tmp_path).read_text()
    first = page[: page.index("<table")]
    for text in (
        "All limits are ecnlab",
        "2 of 2 scenarios with 3 drawn paths",
        "; widest margin to a limit: ",
        "No scenario fails",
    ):
        assert text in first
    assert 'href="#udp-mixed.0"' in first and 'id="udp-mixed.0"' in page and "undecided" not in page
    for text in ("FQ-CoDel in 2 scenarios of RFC 7928", "§5.1.1 One NewReno flow", "at most 1.05", "ecnlab sweep"):
        assert text in page
    assert page.count("<svg") >= 2 and "http://" not in page.replace("http://www.w3.org", "")
    assert page == write_page(cards["fq_codel"], tmp_path).read_text()


def test_another_queue_is_refused_in_the_same_folder_which_stays_as_it_is(tmp_path: Path) -> None:
    scored("codel", tmp_path, ["ecn"], seeds=2)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(FolderError, match="runs of another queue or other parameters: choose another folder"):
        scored("pie", tmp_path, ["ecn"], seeds=2)
    assert before == {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}


def test_a_card_can_be_moved_with_its_law(tmp_path: Path) -> None:
    sheet, hashes = built_in().of_size("quick"), []
    for project in (tmp_path / "one", tmp_path / "deeper" / "two"):
        if hashes:
            project.parent.mkdir()
            (tmp_path / "one").rename(project)
        else:
            project.mkdir()
            (project / "law.py").write_text(HALVES)
        law = subject(f"{project / 'law.py'}:Halves")
        made = building.write(project / "card", sheet, sheet.scenarios[0], subjects(sheet, law), "quick")
        hashes.append([made.id(index) for index in range(len(made))])
        (project / "card" / sheet.scenarios[0].name).mkdir(exist_ok=True)  # as with runs: another law is refused
    assert hashes[0] == hashes[1]


# ---- wrong arguments


def test_a_wrong_queue_is_refused_with_its_remedy(tmp_path: Path, scenario: Path) -> None:
    python = tmp_path / "law.py"
    python.write_text(HALVES)
    two = tmp_path / "two.toml"
    two.write_text(scenario.read_text() + '\n[queue.other]\ndiscipline = "codel"\nlimit = "9 packets"\n')
    bare = tmp_path / "bare.toml"
    bare.write_text(scenario.read_text().replace("min_th", "minth"))
    for argument, kind, message in (
        ("codle", EcnlabError, "there is no queue discipline 'codle'; did you mean `codel`?"),
        (f"{tmp_path}/none.py:Law", EcnlabError, "there is no such file: write FILE.py:CLASS"),
        (str(python), EcnlabError, "no class is named: write"),
        (f"{python}:a b", EcnlabError, "'a b' is no name of a class"),
        (str(two), EcnlabError, "has the queues red, other: write"),
        (f"{two}:green", EcnlabError, r"has no table \[queue.green\]; there are red, other"),
        (str(bare), SpecError, "did you mean `min_th`"),
        (str(tmp_path / "none.toml"), OSError, "none.toml"),
    ):
        with pytest.raises(kind, match=message):
            subject(argument)
    found = subject(f"{two}:red")
    assert (found.name, found.parameters["min_th"], "limit" in found.parameters) == ("red", "5 packets", False)
    assert found.table(83)["limit"] == "83 packets"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[criterion.cal-delay]\nat_most = 1", "unknown key `criterion.cal-delay`; did you mean `call-delay`?"),
        (
            "[criterion.call-delay]\nat_least = 1",
            "unknown key `criterion.call-delay.at_least`: the limit .* is `at_most`",
        ),
        ('[criterion.call-delay]\nat_most = "1"', "`criterion.call-delay.at_most` is '1': write a number"),
        ("[criterion.call-delay]\nat_most = -1", "write a number of at least 0"),
        ("[criterion.call-delay]\nat_most = true", "write a number of at least 0"),
        ("[criterion.call-delay]", "`criterion.call-delay` has no limit: write `at_most = NUMBER`"),
        ("[delay]\nat_most = 1", r"unknown key `delay`: write tables \[criterion.NAME\]"),
        ("criterion = 1", "`criterion` is no table"),
        ("[criterion", "not TOML"),
    ],
)
def test_wrong_criteria_are_refused_with_file_key_and_remedy(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "criteria.toml"
    path.write_text(text)
    with pytest.raises(EcnlabError, match=message) as refused:
        read_limits(path)
    assert str(refused.value).startswith(f"{path}: ")


def test_a_file_of_criteria_changes_their_limits(tmp_path: Path) -> None:
    path = tmp_path / "criteria.toml"
    path.write_text("[criterion.call-delay]\nat_most = 1\n")
    sheet = built_in().with_limits(read_limits(path))
    limits = {c.limit for one in sheet.scenarios for c in one.criteria if c.name == "call-delay"}
    assert limits == {1.0} and {
        c.limit for one in built_in().scenarios for c in one.criteria if c.name == "call-delay"
    } == {0.5}


def test_the_command_prints_three_sentences_and_the_extent_and_continues_with_its_runs(cli, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("[criterion.call-delay-loaded]\nat_most = 0.01\n")
    arguments = ("score", "aqm", "codel", "--scenario", "udp-above", "--jobs", 1)
    done = cli(*arguments)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == read(tmp_path / "results" / "score-codel")["summary"]
    assert len(done.stdout.splitlines()) == 4 and done.stderr.endswith("card: results/score-codel/card.html\n")
    assert (
        "17 not run" in done.stdout
        and "1 of 18 scenarios with 24, 12 or 10 drawn paths in each case (92 runs" in done.stdout
    )
    assert not (tmp_path / "results" / "score-codel" / "badge.svg").exists()
    again = cli(*arguments, "--criteria", "mine.toml", "--json")
    card = json.loads(again.stdout)
    assert "0 of 92 runs" not in again.stderr and card["criteria"] == "mine.toml" and card["left_out"] == 17
    assert {row["at_most"] for row in card["scenarios"][0]["criteria"] if row["name"] == "call-delay-loaded"} == {0.01}
    page = (tmp_path / "results" / "score-codel" / "card.html").read_text()
    assert "--criteria mine.toml" in page and "except those in mine.toml" in page
    for wrong, message in (
        (("codel", "--scenario", "newrno"), "--scenario: there is no 'newrno'; did you mean `newreno`?"),
        (("codel", "--against", "tail"), "there is no queue discipline 'tail'; did you mean `droptail`?"),
        (("codel", "--criteria", "none.toml"), "none.toml"),
    ):
        refused = cli("score", "aqm", *wrong)
        assert refused.returncode in (2, 3) and message in refused.stderr, refused.stderr
