"""Our queues beside the kernel's, packet by packet: what needs no kernel."""

from __future__ import annotations

import pytest
from queues_beside_the_kernel import HEAD, LAWS, scenario

from ecnlab._core import Scenario, SpecError, replay_packets
from ecnlab.agreement.arrivals import Arrival, drawn
from ecnlab.agreement.packets import Fate, Question, Trace, questions
from ecnlab.base.errors import EcnlabError
from ecnlab.laws.kernel.twin import Twin
from ecnlab.linux.replay import Left


def question(queue: str, rate: int = 1_000_000) -> Question:
    """The one about a queue ``q``."""
    (found,) = questions(Scenario("x.toml", HEAD.format(rate=rate) + queue))
    return found


def refusal(queue: str) -> str:
    with pytest.raises(SpecError) as caught:
        question(queue)
    return str(caught.value)


def test_a_queue_is_asked_packet_by_packet():
    # 8 us a byte. 100 B are on the line until 800 us; one waits; the third finds no room; the fourth comes to a free line.
    rows = [Arrival(at, 100, 2, 0, 0) for at in (0, 1_000, 2_000, 1_600_000)]
    asked = question('[queue.q]\ndiscipline = "droptail"\nlimit = "1 packets"\n')
    fates = replay_packets(asked.scenario, asked.index, 1, rows)
    assert [left for left, *_ in fates] == [0, 800_000_000, None, 1_600_000_000]
    assert [(tos, place, busy) for _, tos, place, busy in fates] == [(2, [], 800_000)] * 4


def test_packets_out_of_order_and_impossible_ones_are_refused():
    asked = question('[queue.q]\ndiscipline = "droptail"\nlimit = "1 packets"\n')
    with pytest.raises(ValueError, match="not in the order"):
        replay_packets(asked.scenario, 0, 1, [(5, 100, 0, 0, 0), (4, 100, 0, 0, 0)])
    with pytest.raises(ValueError, match="0 B"):
        replay_packets(asked.scenario, 0, 1, [(5, 0, 0, 0, 0)])
    with pytest.raises(ValueError, match="group 9"):
        replay_packets(asked.scenario, 0, 1, [(5, 100, 0, 9, 0)])
    with pytest.raises(ValueError, match="no link 9"):
        replay_packets(asked.scenario, 9, 1, [])


def test_arrivals_are_those_of_their_seed():
    assert drawn(3, 10_000_000, 200) == drawn(3, 10_000_000, 200)
    assert drawn(3, 10_000_000, 200) != drawn(4, 10_000_000, 200)
    rows = drawn(5, 2_000_000, 2_000, groups=3, dscps=(0, 46))
    assert len(rows) == 2_000
    assert [row.at_ns for row in rows] == sorted(row.at_ns for row in rows)
    assert {row.tos & 3 for row in rows} == {0, 1, 2, 3}
    assert {row.tos >> 2 for row in rows} == {0, 46}
    assert (min(row.length for row in rows), max(row.length for row in rows)) == (40, 1500)
    # A flow is of one group.
    assert all(len({row.group for row in rows if row.flow == flow}) == 1 for flow in {row.flow for row in rows})


def test_fifos_are_named_as_tc_names_them():
    fifo = '[queue.q]\ndiscipline = "droptail"\nlimit = "{}"\nfull = "{}"\n'
    assert question(fifo.format("9 packets", "tail")).twin.words == "pfifo limit 9"
    assert question(fifo.format("9 kB", "tail")).twin.words == "bfifo limit 9000"
    assert question(fifo.format("9 packets", "front")).twin.words == "pfifo_head_drop limit 9"
    assert "cannot drop at the random" in refusal(fifo.format("9 packets", "random"))


def test_a_rate_that_changes_is_refused_with_its_key():
    changing = 'rate = { square = ["2 Mbps", "1 Mbps"], every = "1 s" }'
    text = HEAD.format(rate=10**6).replace('rate = "1000000 bps"', changing)
    with pytest.raises(SpecError, match=r"`link\.l\.rate`: the kernel's queue is in front of a link of fixed rate"):
        questions(Scenario("x.toml", text + '[queue.q]\ndiscipline = "droptail"\nlimit = "9 packets"\n'))


def test_codel_is_told_its_times_and_says_what_the_kernel_has_otherwise():
    codel = '[queue.q]\ndiscipline = "codel"\nlimit = "50 packets"\necn = true\ninterval = "20 ms"\n'
    asked = question(codel)
    assert asked.twin.words == "codel limit 50 target 5000us interval 20000us ecn"
    assert asked.twin.mtu == 1514
    assert [(told["key"], told["asked"], told["kernel"]) for told in asked.instead] == [
        ("queue.q.sqrt", "exact", "linux"),
        ("queue.q.clock", "exact", "linux"),
    ]
    assert question(codel + 'sqrt = "linux"\nclock = "linux"\n').instead == ()
    assert "whole microseconds" in refusal(codel + 'target = "1500 ns"\n')
    assert "counts packets" in refusal('[queue.q]\ndiscipline = "codel"\nlimit = "50 kB"\n')


def test_dualpi2_is_asked_while_it_draws_nothing():
    queue = '[queue.q]\ndiscipline = "dualpi2"\nlimit = "9 packets"\n'
    # 41·(2^32 - 1)/4/10^9 = 44 and 879: with 1259 s no delay below 1259·44/923 = 60.02 s raises p'.
    assert question(queue + 'target = "1259 s"\nmtu = "1500 B"\n').twin == Twin(
        "dualpi2 1:4:9 3:4:1259000000 10:1:2 14:1:1 4:4:4294967 2:4:4294967295", mtu=1500, attached=True
    )
    assert "draws random numbers once p' is above 0" in refusal(queue + 'target = "1258 s"\n')
    assert "draws random numbers" in refusal(queue)
    assert "at most 4294967 us" in refusal(queue + 'target = "2000 s"\nstep_thresh = "4294968 us"\n')
    tbf = '[queue.q]\ndiscipline = "tbf"\nlimit = "9 packets"\nrate = "500 kbps"\nburst = "3 kB"\n'
    inner = '[queue.q.class.inner]\ndiscipline = "dualpi2"\ntarget = "2000 s"\n'
    assert "tc does not know" in refusal(tbf + inner)


def test_a_packet_has_the_class_of_its_place():
    rounds = (
        '[queue.q]\ndiscipline = "classes"\nschedule = "drr"\nlimit = "90 packets"\n'
        '[queue.q.class.b]\ngroups = ["x"]\nturn = "300 B"\ndiscipline = "droptail"\nlimit = "9 packets"\n'
        '[queue.q.class.a]\norder = 1\ndiscipline = "droptail"\nlimit = "7 packets"\n'
    )
    asked = question(rounds)
    assert asked.twin.words == "drr"
    assert asked.twin.below == (
        "class add dev DEVICE parent 10: classid 10:1 drr quantum 300",
        "qdisc add dev DEVICE parent 10:1 handle 20: pfifo limit 9",
        "class add dev DEVICE parent 10: classid 10:2 drr quantum 1514",
        "qdisc add dev DEVICE parent 10:2 handle 21: pfifo limit 7",
    )
    fates = replay_packets(asked.scenario, 0, 1, [(1, 100, 0, 0, 0), (2, 100, 0, 1, 1)])
    assert [asked.twin.priority(place) for _, _, place, _ in fates] == [0x100001, 0x100002]
    assert "no common limit" in refusal(rounds.replace("90 packets", "15 packets"))


def test_ets_counts_the_classes_in_rounds_behind_the_strict_ones():
    asked = question(scenario("ets", 1)[scenario("ets", 1).index("[queue.q]") :])
    assert asked.twin.words.startswith("ets bands ")
    assert [asked.twin.priority(place) for place in ([0], [1, 0], [1, 1])] == [0x100001, 0x100002, 0x100003]


@pytest.mark.parametrize("law", LAWS)
def test_each_discipline_of_the_tests_has_a_twin(law):
    for seed in range(1, 21):
        (asked,) = questions(Scenario(f"{law}.toml", scenario(law, seed)))
        rows = drawn(seed, asked.rate_bps, 50, groups=3, dscps=asked.dscps)
        fates = replay_packets(asked.scenario, asked.index, seed, rows)
        assert all(asked.twin.priority(place) == 0 or asked.twin.handle for _, _, place, _ in fates)


def test_disciplines_that_draw_random_numbers_and_links_without_a_queue_are_refused():
    red = '[queue.q]\ndiscipline = "red"\nlimit = "50 packets"\nmin_th = "5 packets"\nmax_th = "15 packets"\n'
    message = refusal(red)
    assert "no discipline of the kernel treats every packet as `red` does" in message
    assert "droptail, codel" in message
    with pytest.raises(EcnlabError, match=r"no link of x\.toml names a queue"):
        questions(Scenario("x.toml", HEAD.format(rate=10**6).replace(', queue = "q"', "")))


def test_the_first_packet_that_fared_differently_is_shown_with_those_around_it():
    asked = question('[queue.q]\ndiscipline = "droptail"\nlimit = "1 packets"\n')

    def fate(number: int, ours: Left | None, kernels: Left | None) -> Fate:
        return Fate(Arrival(number, 100, 2, 0, 0), (), ours, kernels)

    same = [fate(i, Left(100 * i, 2), Left(100 * i, 2)) for i in range(9)]
    fates = [*same, fate(9, Left(2_000, 2), None), fate(10, None, Left(950, 3)), fate(11, None, None)]
    trace = Trace(asked, 7, tuple(fates))
    assert trace.differences == 2
    # The second of them by number leaves first, at the kernel's.
    rows = [line.split() for line in trace.first().splitlines()[1:]]
    assert [row[0] for row in rows[:3]] == ["6", "7", "8"]
    assert rows[3:] == [
        "> 10 10 100 ECT(0) - dropped 950 CE".split(),  # noqa: SIM905
        "> 9 9 100 ECT(0) - 2000 dropped".split(),  # noqa: SIM905
    ]


def test_options_that_mean_nothing_are_refused(cli, tmp_path):
    path = tmp_path / "x.toml"
    path.write_text(HEAD.format(rate=10**6) + '[queue.q]\ndiscipline = "droptail"\nlimit = "1 packets"\n')
    for words, told in (
        (("--packets", "--margin", 0.1), "--packets does not take --margin"),
        (("--packets", "--out", "there"), "--packets does not take --out"),
        (("--traces", 3), "agree without --packets does not take --traces"),
        (("--packets", "--engine", "packets"), "--packets compares with the engine `linux`"),
    ):
        done = cli("agree", path, *words)
        assert done.returncode == 2
        assert told in done.stderr
