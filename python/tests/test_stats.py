"""Statistics against numbers from textbooks, by hand, and against their own promise."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats as scipy_stats

from ecnlab.base import stats
from ecnlab.base.stats import Interval

# Student's sleep data (Biometrika 1908): hours gained under two drugs, ten patients.
FIRST = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
SECOND = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]


def test_students_sleep_data_gives_the_published_interval() -> None:
    found = stats.paired_difference(SECOND, FIRST)
    assert found.n == 10
    assert found.mean == pytest.approx(1.58)
    assert (found.low, found.high) == pytest.approx((0.7001142, 2.4598858), abs=1e-6)
    assert found.excludes_zero()


def test_means_of_independent_replicates_differ_by_welchs_interval() -> None:
    expected = scipy_stats.ttest_ind(SECOND, FIRST[:6], equal_var=False).confidence_interval(0.95)
    found = stats.independent_difference(SECOND, FIRST[:6])
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), rel=1e-6)
    assert found.n == 6
    assert stats.independent_difference([1.0], [2.0, 3.0]).low == -math.inf


def test_two_values_have_the_interval_of_the_cauchy_quantile() -> None:
    # n = 2: t(0.975, 1) = tan(0.475 pi) = 12.706; mean 1, standard error 1.
    found = stats.mean_interval([0.0, 2.0])
    assert found.high == pytest.approx(1.0 + math.tan(0.475 * math.pi))


def test_one_replicate_excludes_nothing() -> None:
    found = stats.mean_interval([3.0])
    assert (found.mean, found.low, found.high) == (3.0, -math.inf, math.inf)
    assert stats.ratio_of_means([2.0], [1.0]).low == -math.inf


@pytest.mark.parametrize("function", [stats.mean_interval, stats.jain_index])
@pytest.mark.parametrize("values", [[], [1.0, math.nan], [math.inf]])
def test_missing_values_are_refused(function, values) -> None:
    with pytest.raises(ValueError):
        function(values)


SHARE = stats.Bounds(0.0, 1.0)


def test_a_bounded_interval_is_that_of_the_logit() -> None:
    # mean 0.9, standard error 0.05, t(0.975, 1) = 12.706: the logit log 9 moves by 12.706 * 0.05 / (0.9 * 0.1)
    found = SHARE.interval(stats.mean_interval([0.85, 0.95]))
    shift = math.tan(0.475 * math.pi) * 0.05 / 0.09
    assert (found.mean, found.n) == (pytest.approx(0.9), 2)
    for end, sign in ((found.low, -1), (found.high, 1)):
        assert math.log(end / (1 - end)) == pytest.approx(math.log(9) + sign * shift)


def test_a_quantity_with_one_bound_has_the_interval_of_the_logarithm() -> None:
    plain = stats.mean_interval([1.0, 2.0, 3.0])
    factor = math.exp((plain.high - 2.0) / 2.0)
    above = stats.Bounds(low=0.0).interval(plain)
    assert (above.low, above.high) == pytest.approx((2.0 / factor, 2.0 * factor))
    below = stats.Bounds(high=0.0).interval(stats.mean_interval([-1.0, -2.0, -3.0]))
    assert (below.low, below.high) == pytest.approx((-above.high, -above.low))


@pytest.mark.parametrize(
    "values", [[0.2, 1.0], [1.0] * 19 + [0.99], [0.0] * 5 + [1.0], [1e-9, 0.0, 0.0], [0.5, 1.0, 0.0]]
)
@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (-1.0, 1.0), (0.0, math.inf), (-math.inf, 1.0)])
def test_a_bounded_interval_holds_its_mean_and_stays_within_the_bounds(values, low, high) -> None:
    found = stats.Bounds(low, high).interval(stats.mean_interval(values))
    assert found.mean == pytest.approx(float(np.mean(values)))
    assert low <= found.low < found.mean < found.high <= high


def test_far_from_its_bounds_an_interval_is_students() -> None:
    values = 0.5 + 1e-4 * np.array(FIRST)
    plain, bounded = stats.mean_interval(values), SHARE.interval(stats.mean_interval(values))
    assert (bounded.low, bounded.high) == pytest.approx((plain.low, plain.high), rel=1e-6)


def test_where_nothing_varied_the_interval_is_the_value() -> None:
    for values in ([1.0] * 20, [0.1] * 3, [0.3, 0.1 + 0.2]):
        found = SHARE.interval(stats.mean_interval(values))
        assert found.low == found.high == found.mean


def test_one_replicate_excludes_only_what_the_bounds_exclude() -> None:
    found = SHARE.interval(stats.mean_interval([0.7]))
    assert (found.low, found.high) == (0.0, 1.0)
    assert stats.verdict(found, 0.7, 0.1) == "inconclusive"


def test_bounds_without_room_are_refused() -> None:
    with pytest.raises(ValueError, match="no room"):
        stats.Bounds(1.0, 0.0)


def test_coverage_near_a_bound_is_no_worse_than_students_and_never_leaves() -> None:
    def draw(rng):
        return (rng.beta(12.0, 0.6, 20),)  # mean 0.952, skewed, often 1

    def bounded(values):
        return SHARE.interval(stats.mean_interval(values))

    plain, kept = (_coverage(draw, method, 12.0 / 12.6) for method in (stats.mean_interval, bounded))
    assert kept > 0.92 and kept >= plain - 0.01


def test_pairs_of_unequal_length_are_refused() -> None:
    with pytest.raises(ValueError, match="3 and 2"):
        stats.paired_difference([1, 2, 3], [1, 2])


def test_log_ratio_is_the_geometric_mean() -> None:
    # ratios 2 and 8: geometric mean 4
    assert stats.log_ratio([2.0, 8.0], [1.0, 1.0]).mean == pytest.approx(4.0)
    with pytest.raises(ValueError, match="positive"):
        stats.log_ratio([0.0, 1.0], [1.0, 1.0])


def test_ratio_of_means_is_the_set_a_paired_t_test_does_not_reject() -> None:
    rng = np.random.default_rng(4)
    b = rng.gamma(9.0, 1.0, 12)
    a = 1.3 * b + rng.normal(0.0, 0.8, 12)
    found = stats.ratio_of_means(a, b)
    for bound in (found.low, found.high):
        assert scipy_stats.ttest_1samp(a - bound * b, 0.0).pvalue == pytest.approx(0.05)
    assert found.low < found.mean < found.high


def test_ratio_over_a_denominator_near_zero_is_unbounded() -> None:
    assert stats.ratio_of_means([1.0, 2.0, 1.5], [1.0, -1.0, 0.3]).high == math.inf


def test_ratio_allows_zeros_in_the_numerator() -> None:
    found = stats.ratio_of_means([0.0, 0.0, 3.0], [1.0, 1.1, 0.9])
    assert found.mean == pytest.approx(1.0)


def test_bootstrap_and_fieller_agree_on_well_behaved_data() -> None:
    rng = np.random.default_rng(11)
    b = rng.normal(10.0, 1.0, 40)
    a = b * 1.2 + rng.normal(0.0, 0.5, 40)
    bootstrap = scipy_stats.bootstrap(
        (a, b),
        lambda p, q, axis: p.mean(axis=axis) / q.mean(axis=axis),
        paired=True,
        n_resamples=4000,
        method="BCa",
        rng=np.random.default_rng(1),
    ).confidence_interval
    fieller = stats.ratio_of_means(a, b)
    assert (fieller.low, fieller.high) == pytest.approx((bootstrap.low, bootstrap.high), abs=0.01)


def test_jain_index_by_hand() -> None:
    assert stats.jain_index([5.0, 5.0, 5.0]) == pytest.approx(1.0)
    # 20 dollars to 20 of 100 people: 20% fair (DEC-TR-301, section 2)
    assert stats.jain_index([1.0] * 20 + [0.0] * 80) == pytest.approx(0.2)
    assert stats.jain_index([1.0, 2.0, 3.0]) == pytest.approx(36.0 / 42.0)
    with pytest.raises(ValueError, match="without throughput"):
        stats.jain_index([0.0, 0.0])


def test_trend_by_hand() -> None:
    # slopes 1 and 3 per unit: mean 2, standard error 1, t(0.975, 1) = 12.706
    found = stats.trend([0.0, 1.0, 2.0], [[0.0, 1.0, 2.0], [0.0, 3.0, 6.0]])
    assert found.slope.mean == pytest.approx(2.0)
    assert found.slope.high == pytest.approx(2.0 + 12.7062, abs=1e-4)
    assert [step.mean for step in found.steps] == pytest.approx([2.0, 2.0])
    assert found.direction == "undecided"


def test_trend_pairs_replicates_so_that_their_levels_do_not_hide_it() -> None:
    # Levels differ by hundreds, every replicate rises by one a step.
    rng = np.random.default_rng(2)
    level = rng.normal(0.0, 100.0, (10, 1))
    rising = level + np.arange(4.0) + rng.normal(0.0, 0.1, (10, 4))
    found = stats.trend([0, 1, 2, 3], rising)
    assert found.direction == "increasing"
    assert found.monotone
    assert stats.trend([0, 1, 2, 3], -rising).direction == "decreasing"


def test_trend_with_a_decided_step_backwards_is_not_monotone() -> None:
    rng = np.random.default_rng(3)
    shape = np.array([0.0, 5.0, 3.0, 9.0])
    found = stats.trend([0, 1, 2, 3], shape + rng.normal(0.0, 0.1, (8, 4)))
    assert found.direction == "increasing"
    assert not found.monotone


def noisy(shape, noise: float = 0.02, seeds: int = 20) -> np.ndarray:
    """``shape`` in each of ``seeds`` replicates that have a level of their own, with noise."""
    rng = np.random.default_rng(5)
    level = rng.normal(0.0, 1.0, (seeds, 1))
    return level + np.asarray(shape) + rng.normal(0.0, noise, (seeds, len(shape)))


@pytest.mark.parametrize(
    ("shape", "noise", "answer", "reach"),
    [
        ([0.0, 1.0, 2.0, 3.0], 0.02, "yes", 4),
        # Rises and levels off: the slope alone said yes.
        ([0.86, 1.38, 1.56, 1.53, 1.56, 1.52], 0.02, "partly", 3),
        ([0.86, 1.38, 1.56, 1.53, 1.56, 1.52], 0.2, "partly", 3),
        # Each step within its interval, the fall over several of them not.
        ([0.0, 1.0, 2.0, 1.99, 1.98, 1.97], 0.02, "partly", 3),
        # The slope is decided, no step is.
        ([0.0, 0.04, 0.08, 0.12], 0.15, "partly", 0),
        # Decided at the end, but not monotone on the way: it holds up to the point before the fall.
        ([0.0, 2.0, 1.0, 4.0], 0.02, "partly", 2),
        # Up and down again.
        ([0.0, 1.0, 2.0, 1.0, 0.0], 0.02, "partly", 3),
        ([0.0, 0.0, 0.0, 0.0], 0.02, "undecided", 0),
        ([3.0, 2.0, 1.0, 0.0], 0.02, "no", 0),
        # Rises at first, falls on the whole.
        ([0.0, 1.0, -1.0, -3.0], 0.02, "no", 0),
    ],
)
def test_a_trend_needs_slope_monotone_means_and_a_decided_last_step(shape, noise, answer, reach) -> None:
    scores = [float(i) for i in range(len(shape))]
    found = stats.follows(scores, noisy(shape, noise), "increasing")
    assert (found.answer, found.reach) == (answer, reach)
    mirrored = stats.follows(scores, -noisy(shape, noise), "decreasing")
    assert (mirrored.answer, mirrored.reach) == (answer, reach)


def test_one_replicate_decides_no_trend() -> None:
    assert stats.follows([0, 1, 2], [[0.0, 1.0, 2.0]], "increasing").answer == "undecided"
    assert stats.excludes([0, 1, 2], [[0.0, -1.0, -2.0]], "increasing", 0.1).answer == "undecided"


@pytest.mark.parametrize(
    ("shape", "noise", "answer"),
    [
        ([1.0, 1.0, 1.0, 1.0], 0.02, "yes"),  # "decreasing" would be undecided
        ([4.0, 3.0, 2.0, 1.0], 0.02, "yes"),
        ([1.0, 1.05, 1.1, 1.15], 0.02, "yes"),  # within the tolerance of 0.1
        ([1.0, 1.2, 1.4, 1.6], 0.02, "no"),
        ([1.0, 1.1, 1.2, 1.3], 0.5, "undecided"),
        ([1.0, 2.0, 1.0, 0.0], 0.02, "partly"),  # on the whole it falls, at first it grows
    ],
)
def test_no_growth_is_growth_excluded(shape, noise, answer) -> None:
    scores = [float(i) for i in range(len(shape))]
    assert stats.excludes(scores, noisy(shape, noise), "increasing", 0.1).answer == answer
    assert stats.excludes(scores, -noisy(shape, noise), "decreasing", 0.1).answer == answer


def test_trend_refuses_a_shape_that_does_not_fit() -> None:
    with pytest.raises(ValueError, match="one column per score"):
        stats.trend([0, 1], [[1, 2, 3]])


GAIN = Interval(0.30, 0.25, 0.35, 20)


@pytest.mark.parametrize(
    ("printed", "margin", "neutral", "expected"),
    [
        (0.34, 0.05, 0.0, "agrees"),
        (0.38, 0.1, 0.0, "agrees"),
        (0.60, 0.1, 0.0, "same direction"),
        (-0.20, 0.1, 0.0, "differs"),
        (0.60, 0.1, None, "differs"),
        (0.60, 0.1, 0.28, "differs"),
        (0.30, 0.04, 0.0, "inconclusive"),  # the interval is 0.10 wide, 2 margins are 0.08
        (0.42, 0.1, 0.0, "inconclusive"),  # the mean is 0.12 off, the end of the interval 0.07
        (0.25, 0.0, 0.0, "inconclusive"),
        (0.24, 0.0, 0.0, "same direction"),
    ],
)
def test_verdicts(printed, margin, neutral, expected) -> None:
    assert stats.verdict(GAIN, printed, margin, neutral) == expected


def test_an_unbounded_interval_is_inconclusive() -> None:
    assert stats.verdict(Interval(0.3, -math.inf, math.inf, 1), 0.3, 0.1) == "inconclusive"
    assert stats.verdict(Interval(0.3, 0.0, 1.0, 1), 0.9, 0.1) == "inconclusive"


def test_fewer_replicates_do_not_agree_more_easily() -> None:
    """DualPI2's M02: an interval from -9.7 to 19.4 ms holds every printed delay."""
    few, many = Interval(4.85, -9.7, 19.4, 2), Interval(4.85, 4.8, 4.9, 30)
    assert [stats.verdict(measured, 6.0, 0.5, None) for measured in (few, many)] == ["inconclusive", "differs"]
    assert [stats.verdict(measured, 5.0, 0.5, None) for measured in (few, many)] == ["inconclusive", "agrees"]


def test_equivalence_needs_the_whole_interval_inside_the_margin() -> None:
    assert stats.equivalent(GAIN, 0.3, 0.06)
    assert not stats.equivalent(GAIN, 0.3, 0.04)


def test_batch_means_leave_out_the_remainder_at_the_start() -> None:
    # 100 belongs to no batch; the batches are (1, 1) and (3, 3)
    assert stats.batch_means([100.0, 1.0, 1.0, 3.0, 3.0], batches=2).mean == pytest.approx(2.0)


def _coverage(draw, estimate, truth: float, rounds: int = 2000) -> float:
    rng = np.random.default_rng(7)
    return sum(estimate(*draw(rng)).contains(truth) for _ in range(rounds)) / rounds


# 2000 rounds of a 95% interval: standard error 0.5 points, so three of them make 1.5.
NEAR_95 = pytest.approx(0.95, abs=0.015)


def test_coverage_of_the_mean() -> None:
    assert _coverage(lambda r: (r.normal(3.0, 2.0, 8),), stats.mean_interval, 3.0) == NEAR_95


def test_coverage_of_the_paired_difference() -> None:
    def draw(rng):
        shared = rng.normal(0.0, 5.0, 10)
        return shared + 1.0 + rng.normal(0, 1, 10), shared + rng.normal(0, 1, 10)

    assert _coverage(draw, stats.paired_difference, 1.0) == NEAR_95


def _gains(rng: np.random.Generator):
    shared = rng.normal(10.0, 1.0, 10)
    return 1.5 * shared + rng.normal(0, 0.7, 10), shared + rng.normal(0, 0.7, 10)


def test_coverage_of_the_ratio_of_means() -> None:
    assert _coverage(_gains, stats.ratio_of_means, 1.5) == NEAR_95


def test_coverage_of_the_log_ratio() -> None:
    def draw(rng):
        shared = rng.lognormal(0.0, 0.5, 10)
        return 1.4 * shared * rng.lognormal(0, 0.2, 10), shared * rng.lognormal(0, 0.2, 10)

    assert _coverage(draw, stats.log_ratio, 1.4) == NEAR_95


def test_coverage_of_the_trend_slope() -> None:
    def draw(rng):
        level = rng.normal(0.0, 3.0, (10, 1))
        return (level + 0.5 * np.arange(4.0) + rng.normal(0.0, 1.0, (10, 4)),)

    rounds = _coverage(draw, lambda y: stats.trend([0, 1, 2, 3], y).slope, 0.5)
    assert rounds == NEAR_95


def test_batch_means_cover_a_correlated_series_where_the_plain_interval_does_not() -> None:
    def draw(rng):
        noise = rng.normal(0.0, 1.0, 2000)
        x = np.empty(2000)
        x[0] = noise[0] / math.sqrt(1 - 0.8**2)
        for i in range(1, x.size):
            x[i] = 0.8 * x[i - 1] + noise[i]
        return (x,)

    batched = _coverage(draw, stats.batch_means, 0.0, rounds=400)
    naive = _coverage(draw, stats.mean_interval, 0.0, rounds=400)
    assert batched > 0.90
    assert naive < 0.60


def test_parts_of_a_ratio_average_to_the_ratio() -> None:
    # mean(a) = 2, mean(b) = 4: ratio 0.5; parts 0.5 + (0 - 0.5 * 2) / 4 and 0.5 + (4 - 0.5 * 6) / 4
    assert stats.ratio_parts([0.0, 4.0], [2.0, 6.0]) == pytest.approx([0.25, 0.75])
    with pytest.raises(ValueError, match="denominator"):
        stats.ratio_parts([1.0], [0.0])


def test_a_clipped_interval_stays_within_the_bounds_and_holds_its_mean() -> None:
    found = SHARE.clip(stats.mean_interval([0.85, 0.95]))
    assert (found.low, found.high) == (pytest.approx(0.9 - 0.05 * math.tan(0.475 * math.pi)), 1.0)
    assert SHARE.clip(stats.Interval(1.0 + 1e-15, 0.9, 1.1, 3)).high == 1.0 + 1e-15
    assert stats.Bounds(low=0.0).clip(stats.Interval(2.0, -1.0, math.inf, 3)) == stats.Interval(2.0, 0.0, math.inf, 3)
