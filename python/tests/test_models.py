"""The models against printed numbers, against arithmetic by hand, and against each other where they must meet."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecnlab.models import aimd, compare, ecn, equilibrium, padhye, red, units, usual_timeout

PROBABILITIES = st.floats(1e-6, 0.5)
RTTS = st.floats(1e-3, 2.0)
TIMEOUTS = st.floats(0.1, 10.0)
SHARES = st.floats(0.0, 1.0)
PER_ACK = st.sampled_from([1.0, 2.0])


# Printed numbers


@pytest.mark.parametrize(
    ("p", "printed"), [(1e-2, 12), (1e-3, 38), (1e-4, 120), (1e-5, 379), (1e-6, 1200), (1e-7, 3795), (1e-10, 120_000)]
)
def test_reno_response_is_the_table_of_rfc_3649(p, printed):
    # Table 2 takes 1.2 for sqrt(3/2) = 1.2247, 2.1% less, and whole segments.
    assert aimd.mean_window(p) * 1.2 / np.sqrt(1.5) == pytest.approx(printed, abs=0.5)


def test_friendly_increase_is_as_printed_for_seven_eighths():
    assert aimd.friendly_alpha(0.875) == pytest.approx(ecn.ALPHA)  # Kwon and Fahmy: 0.2
    assert float(aimd.friendly_alpha(0.875, "timeouts")) == 0.3125  # Yang and Lam: 0.31
    assert float(aimd.friendly_alpha(0.5)) == float(aimd.friendly_alpha(0.5, "timeouts")) == 1.0
    with pytest.raises(ValueError, match='"window" or "timeouts"'):
        aimd.friendly_alpha(0.5, "rate")


# By hand


def test_padhye_approximation_by_hand():
    # p = 0.06: sqrt(2p/3) = 0.2, 3 sqrt(3p/8) = 0.45, p (1 + 32 p^2) = 0.06 * 1.1152 = 0.066912.
    # RTT 0.1 s, T0 1 s: 0.02 + 0.45 * 0.066912 = 0.0501104 seconds a packet.
    assert padhye.approximate(0.1, 0.06, timeout_s=1.0) == pytest.approx(1 / 0.0501104)


def test_padhye_full_by_hand():
    # d = 2, p = 1/9: (1-p)/p = 8, W = 2/3 + sqrt(4 * 8 / 3 + 4/9) = 2/3 + 10/3 = 4.
    p = Fraction(1, 9)
    x = 1 - p
    q = (1 - x**3) * (1 + x**3 * (1 - x)) / (1 - x**4)
    f = 1 + p + 2 * p**2 + 4 * p**3 + 8 * p**4 + 16 * p**5 + 32 * p**6
    assert padhye.peak_window(1 / 9, d=2) == pytest.approx(4.0)
    assert padhye.timeout_probability(1 / 9, 4.0) == pytest.approx(float(q))
    assert padhye.backoff(1 / 9) == pytest.approx(float(f))
    # RTT 0.1 s over W + 1 = 5 rounds, T0 1 s
    free = (8 + 4 + q / x) / (Fraction(1, 10) * 5 + q * f / x)
    assert padhye.full(0.1, 1 / 9, timeout_s=1.0, d=2) == pytest.approx(float(free))
    # The window limited to 3, where every loss is a timeout: 3/4 + 8/3 + 2 rounds
    limited = (8 + 3 + 1 / x) / (Fraction(1, 10) * (Fraction(3, 4) + Fraction(8, 3) + 2) + f / x)
    assert padhye.full(0.1, 1 / 9, timeout_s=1.0, d=2, max_window=3) == pytest.approx(float(limited))


def test_aimd_windows_by_hand():
    # AIMD(1, 1/2), p = 0.015: mean sqrt(1.5 / p) = 10; peak sqrt(8 / (3p)) = 13.33, and 3/4 of that is the mean.
    assert aimd.mean_window(0.015) == pytest.approx(10.0)
    assert 0.75 * aimd.peak_window(0.015) == pytest.approx(10.0)
    # AIMD(1, 0.8): 1.8 / 0.4 = 4.5 in place of 1.5, so sqrt(3) times the window
    assert aimd.mean_window(0.015, beta=0.8) == pytest.approx(10.0 * np.sqrt(3.0))
    # Delayed ACKs halve the slope
    assert aimd.mean_window(0.015, d=2) == pytest.approx(10.0 / np.sqrt(2.0))


def test_yang_and_lam_by_hand():
    # alpha 0.2, beta 7/8, p = 0.06: first term as Reno's, 0.02; timeouts 3 sqrt(15/64 * 0.06 / 0.4) = 0.5625
    expected = 1.0 / (0.02 + 0.5625 * 0.066912)
    assert aimd.sending_rate(0.1, 0.06, timeout_s=1.0, alpha=0.2, beta=0.875) == pytest.approx(expected)


def test_ecn_rate_by_hand():
    # alpha 0.2, beta 7/8, r = 1/2: A = 0.6, G = 0.6875. p = 0.0324:
    # 2 * 0.3125 p / (0.6 * 1.6875) = 0.02, timeouts 3 sqrt((1 - 0.47265625) p / 1.2) = 0.3579735
    p = 0.0324
    avoidance = 0.1 * np.sqrt(0.02)
    waiting = 0.5 * 0.3579735 * p * (1 + 32 * p * p)
    assert ecn.mean_window(p, 0.5) == pytest.approx(1 / np.sqrt(0.02))
    assert ecn.sending_rate(0.1, p, 0.5, timeout_s=1.0) == pytest.approx(1 / (avoidance + waiting), rel=1e-6)


def test_units_by_hand():
    # 1 Mbit/s of 1000 B packets: Kwon and Fahmy's bottleneck
    assert float(units.packets_per_second(1e6, 1000)) == 125.0
    assert float(units.bits_per_second(125.0, 1000)) == 1e6


# Limits


@given(RTTS, PROBABILITIES, TIMEOUTS, PER_ACK, st.floats(0.05, 2.0), st.floats(0.0, 0.95))
def test_without_marks_ecn_is_padhye(rtt, p, t0, d, alpha, beta):
    found = ecn.sending_rate(rtt, p, 0.0, timeout_s=t0, alpha=alpha, beta=beta, d=d)
    assert found == pytest.approx(padhye.approximate(rtt, p, timeout_s=t0, d=d))


@given(RTTS, PROBABILITIES, TIMEOUTS, PER_ACK)
def test_one_and_one_half_is_reno(rtt, p, t0, d):
    assert aimd.sending_rate(rtt, p, timeout_s=t0, d=d) == pytest.approx(padhye.approximate(rtt, p, timeout_s=t0, d=d))
    # With Reno's response to marks r moves nothing but the share of timeouts
    assert ecn.mean_window(p, 0.3, alpha=1.0, beta=0.5, d=d) == pytest.approx(aimd.mean_window(p, d=d))


@given(RTTS, PROBABILITIES, TIMEOUTS, PER_ACK)
def test_marks_alone_give_renos_square_root_law_and_no_timeout(rtt, p, t0, d):
    assert ecn.sending_rate(rtt, p, 1.0, timeout_s=t0, d=d) * rtt == pytest.approx(aimd.mean_window(p, d=d))


@given(PROBABILITIES, st.floats(0.05, 2.0), st.floats(0.0, 0.95), PER_ACK)
def test_the_mean_of_the_saw_is_half_its_peak_and_foot(p, alpha, beta, d):
    peak = aimd.peak_window(p, alpha=alpha, beta=beta, d=d)
    assert peak * (1 + beta) / 2 == pytest.approx(aimd.mean_window(p, alpha=alpha, beta=beta, d=d))


@pytest.mark.parametrize("d", [1, 2])
def test_full_and_approximate_meet_for_rare_losses(d):
    p = np.logspace(-7, -5, 5)
    ratio = padhye.full(0.1, p, timeout_s=1.0, d=d) / padhye.approximate(0.1, p, timeout_s=1.0, d=d)
    assert ratio == pytest.approx(1.0, abs=0.01)
    # and the wait of a timeout is 3 in W of the losses
    assert padhye.timeout_probability(p, 1e3) * 1e3 / 3 == pytest.approx(1.0, abs=0.02)


def test_both_padhye_forms_end_at_the_window_limit():
    assert padhye.approximate(0.1, 1e-9, timeout_s=1.0, max_window=20) == pytest.approx(200.0)
    assert padhye.full(0.1, 1e-9, timeout_s=1.0, max_window=20) == pytest.approx(200.0, rel=1e-5)


def test_the_two_branches_of_the_full_model_meet_for_delayed_acks():
    # At W = Wm the limited cycle has bW/2 + 3/2 - b/4 rounds, the free one bW/2 + 1: equal for b = 2.
    for d, step in [(2.0, 0.0), (1.0, 0.25)]:
        peak = float(padhye.peak_window(1e-3, d=d))
        cycles = [1 / padhye.full(1.0, 1e-3, timeout_s=1e-9, d=d, max_window=w) for w in (peak, np.nextafter(peak, 99))]
        packets = 999 + peak + float(padhye.timeout_probability(1e-3, peak)) / 0.999
        assert (cycles[0] - cycles[1]) * packets == pytest.approx(step, abs=1e-6)


def test_full_model_has_its_limit_where_every_packet_is_lost():
    # 64 T0 a packet: the longest timeout, over and over
    assert padhye.full(0.1, 1.0, timeout_s=2.0) == pytest.approx(1 / 128)


def test_ecn_rate_follows_the_saw_it_is_derived_from():
    # Indications 1/p packets apart, each a mark with probability r; the window's square grows by 2 slope a packet.
    # The derivation replaces slope and kept part by their means: 3% is what docs/models.md says that costs.
    for alpha, beta in [(ecn.ALPHA, ecn.BETA), (1.0, 0.8)]:
        for r in (0.25, 0.5, 0.65, 0.9):
            assert ecn.mean_window(0.01, r, alpha=alpha, beta=beta) == pytest.approx(
                _saw(0.01, r, alpha, beta), rel=0.03
            )


def _saw(p: float, r: float, alpha: float, beta: float, cycles: int = 20_000) -> float:
    """Packets per round trip of a window that follows the rules cycle by cycle."""
    foot, slope, rounds = 5.0, 1.0, 0.0
    for marked in np.random.default_rng(1).random(cycles) < r:
        peak = np.sqrt(foot * foot + 2.0 * slope / p)
        rounds += (peak - foot) / slope
        foot, slope = (beta * peak, alpha) if marked else (peak / 2.0, 1.0)
    return cycles / p / rounds


# Monotonicity

MODELS = {
    "approximate": padhye.approximate,
    "full": padhye.full,
    "aimd": partial(aimd.sending_rate, alpha=0.3, beta=0.8),
    "ecn": lambda rtt, p, **given: ecn.sending_rate(rtt, p, 0.7, **given),
}


@pytest.mark.parametrize("rate", MODELS.values(), ids=MODELS)
@given(rtt=RTTS, p=PROBABILITIES, rtts=st.floats(2.0, 100.0), d=PER_ACK, more=st.floats(1.01, 2.0))
def test_more_of_anything_bad_is_slower(rate, rtt, p, rtts, d, more):
    # A timeout is never shorter than a round trip; the full model rises again with p if it is.
    t0 = rtts * rtt
    here = rate(rtt, p, timeout_s=t0, d=d)
    assert rate(rtt * more, p, timeout_s=t0, d=d) < here
    assert rate(rtt, p * more, timeout_s=t0, d=d) < here
    assert rate(rtt, p, timeout_s=t0 * more, d=d) < here
    assert rate(rtt, p, timeout_s=t0, d=d * more) < here


@given(RTTS, PROBABILITIES, TIMEOUTS, SHARES, SHARES)
def test_marks_in_place_of_drops_never_slow_a_reno_response(rtt, p, t0, r, s):
    few, many = (ecn.sending_rate(rtt, p, x, timeout_s=t0, alpha=1.0, beta=0.5) for x in sorted((r, s)))
    assert many >= few * (1 - 1e-12)


@given(st.floats(1e-4, 1.0), st.floats(1.0, 500.0))
def test_timeout_probability_is_one(p, w):
    assert 0.0 <= padhye.timeout_probability(p, w) <= 1.0
    assert padhye.timeout_probability(p, min(w, 3.0)) == pytest.approx(1.0)


def test_arguments_broadcast():
    table = ecn.sending_rate(0.1, np.array([[0.01], [0.1]]), np.array([0.0, 0.5, 1.0]), timeout_s=1.0)
    assert table.shape == (2, 3)
    assert table[1, 2] == ecn.sending_rate(0.1, 0.1, 1.0, timeout_s=1.0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: padhye.full(0.0, 0.1, timeout_s=1.0), r"rtt_s .* got 0\.0: give seconds"),
        (lambda: padhye.full(0.1, 0.1, timeout_s=np.inf), r"timeout_s .* got inf: give seconds"),
        (lambda: padhye.approximate(0.1, [0.1, 2.0], timeout_s=1.0), r"p must .* got 2\.0: .*not a percentage"),
        (lambda: padhye.approximate(0.1, 0.0, timeout_s=1.0), r"p must .* got 0\.0: .*limited by its window"),
        (lambda: padhye.approximate(0.1, np.nan, timeout_s=1.0), r"p must .* got nan"),
        (lambda: padhye.approximate(0.1, 0.1, timeout_s=1.0, d=0.5), r"d must .* got 0\.5: .*segments per ACK"),
        (lambda: padhye.full(0.1, 0.1, timeout_s=1.0, max_window=0), r"max_window must .* segments, not bytes"),
        (lambda: aimd.mean_window(0.1, beta=1.0), r"beta must .* got 1\.0: .*kept"),
        (lambda: aimd.mean_window(0.1, alpha=-1), r"alpha must .* got -1\.0: give segments per window"),
        (lambda: ecn.mean_window(0.1, 1.5), r"r must .* got 1\.5: give a fraction"),
        (lambda: red.red(15, 5, 0.1), r"min_th must .* got 15 and 5"),
        (lambda: red.red(5, 15, 10), r"max_p must .* got 10"),
        (lambda: red.red(5, 15, 0.1, mark_p=0), r"mark_p must .* leave it out"),
        (lambda: red.red(5, 15, 0.1, limit=0), r"limit must .* leave it out"),
        (lambda: red.red(5, 15, 0.1, spacing="even").probability(9), "spacing must be"),
        (lambda: red.red(5, 15, 0.1).probability(-1), "queue must not be negative"),
        (lambda: units.packets_per_second(1e6, 0), "packet_bytes .* give bytes"),
    ],
)
def test_impossible_arguments_are_named_with_the_remedy(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# The router


def test_red_curve_at_its_corners():
    plain, gentle = red.red(5, 15, 0.1), red.red(5, 15, 0.1, gentle=True)
    assert plain.probability([0, 5, 10, 14.999, 15, 99]) == pytest.approx([0, 0, 0.05, 0.1, 1, 1], abs=1e-4)
    # gentle: 0.1 + 0.9 * (22.5 - 15) / 15 = 0.55
    assert gentle.probability([10, 15, 22.5, 30, 99]) == pytest.approx([0.05, 0.1, 0.55, 1, 1])
    assert red.drop_tail(50).probability([49.9, 50]) == pytest.approx([0, 1])


@pytest.mark.parametrize("gentle", [False, True])
@pytest.mark.parametrize("limit", [10, 15, 22, 40])
def test_a_full_buffer_drops_whatever_the_curve_says(gentle, limit):
    free, bounded = (red.red(5, 15, 0.1, gentle=gentle, ecn=True, above="mark", limit=x) for x in (np.inf, limit))
    below = np.linspace(0, limit, 50)[:-1]
    assert bounded.probability(below) == pytest.approx(free.probability(below))
    assert bounded.point(bounded.last) == (limit, 0.0, 1.0)


@pytest.mark.parametrize("gentle", [False, True])
@pytest.mark.parametrize("mark_p", [0.05, 0.1, 0.3, np.inf])
def test_marking_changes_the_kind_of_signal_and_not_the_curve(gentle, mark_p):
    plain = red.red(5, 15, 0.1, gentle=gentle)
    marking = red.red(5, 15, 0.1, gentle=gentle, ecn=True, mark_p=mark_p)
    queue = np.linspace(0, 40, 401)
    assert marking.probability(queue) == pytest.approx(plain.probability(queue))
    for corner, (queue, marked, dropped) in enumerate(map(marking.point, range(marking.last + 1))):
        assert marked == 0.0 or dropped == 0.0, corner
        assert marked <= mark_p and (dropped == 0.0 or dropped >= min(mark_p, 1.0)), corner
        assert corner == 0 or queue >= marking.point(corner - 1)[0]


def test_spacing_is_the_table_of_mean_gaps():
    # docs/laws/red.md: with p_b = 1/k the mean gap is k, (k + 1) / 2 and (3k - 1) / 2
    k = np.array([1, 2, 10, 50])
    assert 1 / red.signalled(1 / k, "geometric") == pytest.approx(k)
    assert 1 / red.signalled(1 / k, "uniform") == pytest.approx((k + 1) / 2)
    assert 1 / red.signalled(1 / k, "wait") == pytest.approx((3 * k - 1) / 2)


# Equilibrium

MARKS = partial(ecn.sending_rate, timeout_s=1.0)
TEN = {"flows": 10, "capacity": 1000, "base_rtt_s": 0.05}


def test_equilibrium_by_hand():
    # 10 flows on 1000 packets/s: 100 each. At q = 50 the round trip is 0.05 + 50/1000 = 0.1 s, so w = 10 and
    # p = 1.5 / w^2 = 0.015; the curve gives 0.05 * (50 - 20) / (120 - 20) = 0.015.
    found = equilibrium(MARKS, red.red(20, 120, 0.05, ecn=True), **TEN)
    assert (float(found.queue), float(found.p), float(found.r)) == pytest.approx((50.0, 0.015, 1.0))
    assert (float(found.rtt_s), float(found.rate), float(found.utilisation)) == pytest.approx((0.1, 100.0, 1.0))


def test_flows_held_by_their_window_leave_the_link_idle_or_queue_without_signals():
    # 10 windows of 4 in 0.05 s are 800 packets/s: no queue. Windows of 6 fill 60 = 1000 * 0.06 s: 10 packets wait.
    found = equilibrium(MARKS, red.red(20, 120, 0.05, ecn=True), **TEN, max_window=[4, 6])
    assert found.queue == pytest.approx([0.0, 10.0])
    assert found.utilisation == pytest.approx([0.8, 1.0])
    assert found.p.tolist() == [0.0, 0.0]
    assert np.isnan(found.r).all()


def test_on_the_step_of_red_the_queue_is_its_threshold():
    # max_th 30: round trip 0.08 s, w = 8, p = 1.5 / 64 = 0.0234375, more than max_p = 0.02.
    found = equilibrium(MARKS, red.red(10, 30, 0.02, ecn=True, above="mark"), **TEN)
    assert (float(found.queue), float(found.p), float(found.r)) == pytest.approx((30.0, 0.0234375, 1.0))
    # If the step drops, a part x of the packets meets it: marks 0.02 (1 - x), drops x.
    mixed = equilibrium(MARKS, red.red(10, 30, 0.02, ecn=True), **TEN)
    x = (float(mixed.p) - 0.02) / 0.98
    assert float(mixed.queue) == 30.0
    assert x > 0.0
    assert float(mixed.r) == pytest.approx(0.02 * (1 - x) / float(mixed.p))


def test_between_marking_and_dropping_both_happen():
    # Gentle RED that drops from max_th on: enough flows put it on the step from marks to drops, more put it past.
    law = red.red(10, 30, 0.02, ecn=True, gentle=True, mark_p=0.02)
    found = equilibrium(MARKS, law, flows=[5, 11, 20], capacity=1000, base_rtt_s=0.05)
    assert (found.r[0], found.r[2]) == (1.0, 0.0)
    assert found.queue[0] < 30.0 < found.queue[2]
    assert found.queue[1] == pytest.approx(30.0)
    assert 0.0 < found.r[1] < 1.0


@pytest.mark.parametrize("spacing", ["geometric", "uniform", "wait"])
@pytest.mark.parametrize("gentle", [False, True])
@pytest.mark.parametrize("marking", [False, True])
def test_both_equations_hold_at_the_equilibrium(spacing, gentle, marking):
    law = red.red(20, 60, 0.1, gentle=gentle, ecn=marking, spacing=spacing, limit=168)
    n, c, base = np.array([2.0, 20.0, 60.0]), np.array([[125.0], [1250.0]]), 0.12
    found = equilibrium(MARKS, law, flows=n, capacity=c, base_rtt_s=base)
    assert found.queue.shape == (2, 3)
    assert found.rtt_s == pytest.approx(base + found.queue / c)
    assert n * MARKS(found.rtt_s, found.p, found.r) == pytest.approx(np.broadcast_to(c, (2, 3)), rel=1e-8)
    off_step = found.queue != 60.0
    assert off_step.any()
    assert law.probability(found.queue)[off_step] == pytest.approx(found.p[off_step], rel=1e-9)


@given(st.floats(1.0, 20.0), st.floats(1.01, 3.0), st.booleans(), st.booleans())
def test_more_flows_mean_more_queue_and_more_signals(n, more, gentle, marking):
    law = red.red(20, 60, 0.1, gentle=gentle, ecn=marking, above="mark")
    rate = partial(ecn.sending_rate, timeout_s=1.0, alpha=1.0, beta=0.5)
    found = equilibrium(rate, law, flows=[n, n * more], capacity=500, base_rtt_s=0.1)
    assert found.queue[0] <= found.queue[1] * (1 + 1e-9)
    assert found.p[0] < found.p[1]


def test_the_full_model_and_drop_tail_have_an_equilibrium_too():
    found = equilibrium(lambda rtt, p, r: padhye.full(rtt, p, timeout_s=1.0), red.drop_tail(50), **TEN)
    assert float(found.queue) == 50.0
    assert 10 * padhye.full(0.1, found.p, timeout_s=1.0) == pytest.approx(1000.0)


def test_too_many_flows_for_a_law_that_only_marks_are_refused():
    with pytest.raises(ValueError, match="no equilibrium: 5000 flows exceed 125 packets/s"):
        equilibrium(MARKS, red.red(5, 15, 0.1, ecn=True, above="mark"), flows=5000, capacity=125, base_rtt_s=0.1)


# Against a run


def test_prediction_from_the_tables_of_a_run():
    flows = pl.DataFrame(
        {
            "data_segments_sent": [2000, 500],
            "ecn_reductions": [24, 0],
            "timeouts": [2, 0],
            "fast_recoveries": [4, 0],
            "rtt_mean_s": [0.1, 0.1],
            "goodput_bps": [80_000.0, 40_000.0],
            "bytes_delivered": [1_000_000, 500_000],
        }
    )
    found = compare(flows, ecn.sending_rate, timeout_s=1.0)
    # 30 indications in 2000 packets, 24 of them marks; 8e6 bits at 80 kbit/s are 100 s, 20 packets each
    assert (found.p[0], found.r[0], found.measured[0]) == pytest.approx((0.015, 0.8, 20.0))
    assert found.predicted[0] == pytest.approx(ecn.sending_rate(0.1, 0.015, 0.8, timeout_s=1.0))
    assert found.relative_error[0] == pytest.approx(found.predicted[0] / 20.0 - 1.0)
    # A flow without congestion gives the model nothing
    assert found.measured[1] == pytest.approx(5.0)
    assert np.isnan(found.predicted[1])


def test_the_usual_timeout_is_the_median_without_the_start():
    series = {
        "flow": ["a", "a", "a", "a", "b"],
        "time_s": [0.0, 1.0, 2.0, 3.0, 1.0],
        "rto_s": [3.0, 0.5, 1.0, 0.5, 9.0],
    }
    assert usual_timeout(series, "a", since_s=1.0) == 0.5
    with pytest.raises(ValueError, match="no timeout of flow c"):
        usual_timeout(series, "c")
