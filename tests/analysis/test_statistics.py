# SPDX-License-Identifier: GPL-2.0-or-later
"""Estimates on samples whose truth is known: coverage, power, error over many statements.

Coverage is that of the product's intervals, with as many resamples, of many experiments at once:
one row of an array is one experiment. It holds the tables of ``docs/reference/measures.md``.
"""

import dataclasses
import math
from collections.abc import Callable, Iterator
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from eascope.analysis import statistics
from eascope.analysis.compare import Comparison, comparison, discoveries
from eascope.analysis.compare_text import text
from eascope.analysis.derive import Derived
from eascope.analysis.difference import difference
from eascope.analysis.glance import glance
from eascope.analysis.records.cell import Expectation
from eascope.analysis.records.verdict import LEVEL, UNDECIDED
from eascope.analysis.statistics import ENOUGH, MOST_SEEDS, POWER, Estimate, estimate, seeds_needed
from eascope.analysis.verdicts import judge
from eascope.configs.platform import Platform
from tests.support.stated import stated

#: Share of runs that are in the other state.
OTHERWISE = 0.2
#: Of the first of seven statements that are judged together.
STRICT = 1 - (1 - LEVEL) / 7
#: Standard deviations between the states; runs of eas/video-playback had 3 to 6.
GAPS = (0, 3, 6)
#: Experiments at once: their resamples take some 100 MB.
_AT_ONCE = 500

Values = NDArray[np.float64]
Draw = Callable[[np.random.Generator, tuple[int, int], float], tuple[Values, ...]]


def states(random: np.random.Generator, shape: int | tuple[int, int], gap: float) -> Values:
    """Values of which one in five is in another state."""
    return random.normal(size=shape) + gap * (random.random(shape) < OTHERWISE)


def _alone(random: np.random.Generator, shape: tuple[int, int], gap: float) -> tuple[Values, ...]:
    return (states(random, shape, gap),)


def _in_first(
    random: np.random.Generator, shape: tuple[int, int], gap: float
) -> tuple[Values, ...]:
    return states(random, shape, gap), states(random, shape, 0)


def _in_both(random: np.random.Generator, shape: tuple[int, int], gap: float) -> tuple[Values, ...]:
    return states(random, shape, gap), states(random, shape, gap)


def _together(
    random: np.random.Generator, shape: tuple[int, int], gap: float
) -> tuple[Values, ...]:
    common = states(random, shape, gap)
    first, second = (common + random.normal(size=shape) for _ in range(2))
    return first, second


#: Samples by what varies, and their true effect as a share of the gap.
CASES: dict[str, tuple[Draw, float]] = {
    "one variant": (_alone, OTHERWISE),
    "the first of two variants": (_in_first, OTHERWISE),
    "both, each by itself": (_in_both, 0.0),
    "both, with the same seeds": (_together, 0.0),
}


def samples_of(case: str, gap: float, seeds: int, experiments: int) -> tuple[Values, ...]:
    """Samples of a case, always the same ones; a row for each experiment."""
    random = np.random.Generator(np.random.PCG64(list(CASES).index(case)))
    return CASES[case][0](random, (experiments, seeds), gap)


def covered(case: str, gap: float, seeds: int, experiments: int) -> tuple[float, float]:
    """Percent of intervals that have the truth in them, and percent that were paired."""
    truth = CASES[case][1] * gap
    samples = samples_of(case, gap, seeds, experiments)
    ends, paired = intervals(samples)
    hits = (ends[0] <= truth) & (truth <= ends[1])
    return 100 * float(hits.mean()), 100 * float(paired.mean())


def intervals(samples: tuple[Values, ...]) -> tuple[Values, NDArray[np.bool_]]:
    """Ends of the interval of each row's difference of means, and whether it was paired."""
    if len(samples) == 1:
        return _ends(samples), np.zeros(len(samples[0]), dtype=bool)
    first, second = samples
    paired = stats.pearsonr(first, second, axis=-1).statistic > statistics.PAIRED_ABOVE
    ends = np.empty((2, len(first)))
    ends[:, paired] = _ends((first[paired] - second[paired],))
    ends[:, ~paired] = _ends((first[~paired], -second[~paired]))
    return ends, paired


def _ends(groups: tuple[Values, ...], level: float = LEVEL) -> Values:
    """As `Estimate.interval`, of each row."""
    parts = [_ends_of_some(some, level) for some in _some(groups)]
    return np.concatenate(parts, axis=1) if parts else np.empty((2, 0))


def _some(groups: tuple[Values, ...]) -> Iterator[tuple[Values, ...]]:
    for begin in range(0, len(groups[0]), _AT_ONCE):
        yield tuple(group[begin : begin + _AT_ONCE] for group in groups)


def _ends_of_some(groups: tuple[Values, ...], level: float) -> Values:
    boot = stats.bootstrap(
        groups,
        statistics._sum_of_means,
        n_resamples=0,
        method="BCa",
        confidence_level=level,
        bootstrap_result=SimpleNamespace(bootstrap_distribution=_resampled(groups)),
        axis=-1,
    ).confidence_interval
    if len(groups) == 1:
        student = stats.ttest_1samp(groups[0], 0.0, axis=-1).confidence_interval(level)
    else:
        test = stats.ttest_ind(groups[0], -groups[1], equal_var=False, axis=-1)
        student = test.confidence_interval(level)
    low, high = np.minimum(boot.low, student.low), np.maximum(boot.high, student.high)
    return np.array([low, high])


def _resampled(groups: tuple[Values, ...]) -> Values:
    """Each row's sums of means, of scipy's own draws; a value counts as often as it is drawn."""
    random = np.random.Generator(np.random.PCG64(statistics._BOOTSTRAP_SEED))
    total = np.zeros((len(groups[0]), statistics.RESAMPLES))
    for group in groups:
        seeds = group.shape[-1]
        chosen = random.integers(0, seeds, (statistics.RESAMPLES, seeds))
        counts = np.stack([np.bincount(item, minlength=seeds) for item in chosen])
        total += group @ counts.T / seeds
    return total


def covered_rare(share: float, noise: float, level: float, experiments: int) -> float:
    """Percent of the intervals of one variant that cover the mean.

    :param share: of runs in another state, `GAPS`' last away.
    :param noise: standard deviation in a state.
    """
    random = np.random.Generator(np.random.PCG64(round(1 / share)))
    shape = (experiments, 20)
    gap = GAPS[-1]
    values = noise * random.normal(size=shape) + gap * (random.random(shape) < share)
    low, high = _with_spread(values, level)
    return 100 * float(((low <= gap * share) & (gap * share <= high)).mean())


def _with_spread(values: Values, level: float) -> Values:
    """The ends of each row's interval; a row of equal values has one point, as in the product."""
    ends = np.array([values[:, 0], values[:, 0]])
    spread = np.ptp(values, axis=1) > 0
    ends[:, spread] = _ends((values[spread],), level)
    return ends


def mean_of(values: list[float]) -> Estimate:
    return estimate(lambda means: means[0], [{0: values}])


def drawn(random: np.random.Generator, seeds: int, gap: float = 0.0) -> list[float]:
    return [float(value) for value in states(random, seeds, gap)]


@pytest.mark.parametrize("gap", GAPS)
@pytest.mark.parametrize("case", CASES)
def test_the_experiments_have_the_products_intervals(case: str, gap: float) -> None:
    """Those of many experiments at once, resample by resample."""
    samples = samples_of(case, gap, 20, 6)
    ends, paired = intervals(samples)
    for number in range(6):
        rows = [{place: sample[number].tolist()} for place, sample in enumerate(samples)]
        estimated = estimate(lambda means: means[0] - means.get(1, 0.0), rows)
        assert estimated.interval() == pytest.approx(tuple(ends[:, number]), rel=1e-6, abs=1e-6)
        assert estimated.paired == paired[number]


@pytest.mark.parametrize("gap", GAPS)
@pytest.mark.parametrize("case", CASES)
def test_intervals_cover_the_truth(case: str, gap: float) -> None:
    """With 2000 experiments the standard error is half a point."""
    share, paired = covered(case, gap, 20, 2000)
    assert 93 <= share <= 97
    assert (paired > 75) == (case == "both, with the same seeds")


def test_rare_states_have_the_products_intervals() -> None:
    """Of rows with a spread and of a row whose values are equal."""
    values = np.array([[0.0] * 20, [0.0] * 19 + [6.0], list(range(20))])
    for level in (0.95, STRICT):
        ends = _with_spread(values, level)
        for row, low, high in zip(values, *ends, strict=True):
            mean = mean_of(row.tolist())
            assert mean.interval(level) == pytest.approx((low, high), rel=1e-6, abs=1e-6)


def test_seldom_states_are_covered_seldom() -> None:
    """As the page says: with one run in five well, with one in twenty and no noise badly."""
    assert 93 <= covered_rare(0.2, 1.0, 0.95, 2000) <= 98
    assert covered_rare(0.05, 0.0, 0.95, 2000) < 75


def test_a_shape_that_is_not_symmetric_has_an_interval_that_is_not() -> None:
    """The few values far away may be more than were seen."""
    mean = mean_of([0.0, 0.1, -0.1, 0.05, -0.05] * 3 + [0.0, 0.0, 0.0, 10.0, 10.0])
    low, high = mean.interval() or (0.0, 0.0)
    assert high - mean.value > 1.3 * (mean.value - low)


def test_an_interval_is_the_wider_the_surer() -> None:
    mean = mean_of(drawn(np.random.default_rng(3), 20, 4))
    ends = [mean.interval(level) or (0.0, 0.0) for level in (0.9, 0.95, 0.99)]
    assert ends[2][0] < ends[1][0] < ends[0][0] < mean.value < ends[0][1] < ends[1][1] < ends[2][1]
    assert mean_of(drawn(np.random.default_rng(3), 20, 4)).interval() == mean.interval()


def test_normal_values_have_students_interval() -> None:
    mean = mean_of([math.cos(number) for number in range(400)])
    low, high = mean.interval() or (0.0, 0.0)
    error = 1.966 * mean.deviation / math.sqrt(400)
    assert (low, high) == pytest.approx((mean.value - error, mean.value + error), abs=0.002)


def test_a_quotient_of_means_is_as_certain_as_its_parts() -> None:
    random = np.random.default_rng(5)
    base = [100 + value for value in drawn(random, 40)]
    other = [110 + value for value in drawn(random, 40)]
    estimated = estimate(
        lambda means: means["b"] / means["a"] - 1, [{"a": base}, {"b": other}], aligned=False
    )
    assert estimated.value == pytest.approx(sum(other) / sum(base) - 1)
    # 1 % of either, over 40 seeds: 0.17 % and 0.16 %.
    assert estimated.deviation / math.sqrt(40) == pytest.approx(0.0023, rel=0.2)


def test_values_that_do_not_vary_have_a_point() -> None:
    assert mean_of([0.1] * 20).interval() == (0.1, 0.1)
    same = estimate(lambda means: means[1] - means[0], [{0: [0.3] * 20}, {1: [0.1] * 20}])
    assert same.interval() == pytest.approx((-0.2, -0.2))
    assert (same.paired, same.correlation) == (False, None)


def test_empty_or_unaligned_samples_have_no_interval() -> None:
    assert mean_of([1.0] * (ENOUGH - 1)).interval() is None
    assert mean_of([1.0]).interval() is None
    with pytest.raises(ValueError, match="one positive length"):
        mean_of([])
    with pytest.raises(ValueError, match="aligned"):
        estimate(lambda means: means[0] - means[1], [{0: [1.0, 2.0]}, {1: [1.0]}])


@pytest.mark.parametrize(
    ("value", "bounds"), [(0.6, (0.0, math.inf)), (-0.6, (0.0, math.inf)), (0.1, (-0.7, 0.7))]
)
def test_the_seeds_needed_decide_four_times_of_five(
    value: float, bounds: tuple[float, float]
) -> None:
    spread = np.linspace(-1, 1, 100)
    population = (value + spread / spread.std(ddof=1)).tolist()
    needed = seeds_needed(mean_of(population), bounds, 0.95, 10)
    assert needed is not None
    assert needed > 15
    random = np.random.default_rng(11)

    def decides(seeds: int) -> bool:
        values = [value + noise for noise in drawn(random, seeds)]
        low, high = mean_of(values).interval() or (0.0, 0.0)
        within = bounds[0] < low and high < bounds[1]
        return within if value > 0 else high < bounds[0]

    share = sum(decides(needed) for _ in range(300)) / 300
    assert share == pytest.approx(POWER, abs=0.07)


def test_no_number_of_seeds_decides_an_effect_at_its_bound() -> None:
    values = drawn(np.random.default_rng(2), 20)
    at_the_bound = sum(values) / len(values)
    assert seeds_needed(mean_of(values), (at_the_bound, math.inf), 0.95, 20) is None
    assert seeds_needed(mean_of([1.0]), (0.0, math.inf), 0.95, 20) is None
    sure = mean_of([5.0] * 20)
    assert seeds_needed(sure, (0.0, math.inf), 0.95, 20) == 20
    assert MOST_SEEDS == 1000


@pytest.mark.long
@pytest.mark.parametrize("gap", [0.0, 4.0])
def test_statements_that_are_all_at_their_bound_are_rarely_decided(
    gap: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is decided of them is wrong: in one comparison of twenty at most, and some noise."""
    monkeypatch.setattr(statistics, "RESAMPLES", 1_999)
    truth = OTHERWISE * gap
    names = ("a_us", "b_us", "c_us", "d_us")
    entries = [Expectation("cas", f"m.{name} < {truth}", "s") for name in names]
    random = np.random.default_rng(17)
    wrong = 0
    for _ in range(1000):
        rows = {name: drawn(random, 20, gap) for name in names}
        results = {
            "cas": {seed: {"m": {name: rows[name][seed] for name in names}} for seed in range(20)}
        }
        verdicts = judge(entries, results)
        wrong += any(verdict.verdict != UNDECIDED for verdict in verdicts)
    assert wrong <= 65  # 50, and two standard errors


SEEDS = 20


def test_benjamini_and_hochberg_by_hand() -> None:
    """Of five tests, the largest p that is below its rank's part of 5 % takes all before along."""
    p_values = {"a": 0.001, "b": 0.021, "c": 0.029, "d": 0.2, "e": 0.9}
    assert discoveries(p_values) == {"a", "b", "c"}
    assert discoveries({"a": 0.04, "b": 0.04}) == {"a", "b"}
    assert discoveries({"a": 0.04, "b": 0.2}) == set()
    assert discoveries({}) == set()


def test_a_difference_has_the_p_value_of_its_t_test() -> None:
    random = np.random.default_rng(3)
    base, other = random.normal(0, 1, SEEDS), random.normal(0.7, 1, SEEDS)
    diff = difference(base.tolist(), other.tolist(), aligned=False)
    error = np.sqrt(base.var(ddof=1) / SEEDS + other.var(ddof=1) / SEEDS)
    assert diff.p is not None
    assert 0.3 < abs(diff.absolute) / error < 6
    assert (diff.p < 0.05) == (abs(diff.absolute) / error > 2.03)
    assert difference([1.0] * SEEDS, [2.0] * SEEDS).p == 0
    assert difference([1.0] * SEEDS, [1.0] * SEEDS).p == 1
    assert difference([1.0] * 5, [2.0] * 5).p is None


def together(platform: Platform, gap: float, seed: int) -> Comparison:
    """Two samples of mainline, whose six busy shares all follow one draw; ``gap`` in deviations."""
    random = np.random.default_rng(seed)

    def run(name: str, number: int, more: float) -> Derived:
        result = stated("mainline", 0)
        draw = random.normal()
        busy = tuple(0.3 + 0.01 * (draw + more + 0.1 * random.normal()) for _ in range(6))
        cell = dataclasses.replace(result.cell, variant=name, seed=number)
        return dataclasses.replace(
            result, cell=cell, result=dataclasses.replace(result.result, cpu_busy=busy)
        )

    runs = {
        name: [run(name, number, more) for number in range(SEEDS)]
        for name, more in (("mainline", 0.0), ("again", gap))
    }
    return comparison(platform, runs)


def stars(compared: Comparison) -> int:
    lines = [line for line in compared.lines if line.row.path[0] == "cpu_busy"]
    assert len(lines) == 6
    return sum(compared.starred(line, "again") for line in lines)


def test_rows_that_move_together_are_seldom_starred_where_nothing_differs() -> None:
    """Of 1000 tables of 80 rows that are alike, in which nothing differs."""
    random = np.random.default_rng(5)
    common = random.normal(size=(1000, 1, 2 * SEEDS))
    values = common + 0.7 * random.normal(size=(1000, 80, 2 * SEEDS))
    tests = stats.ttest_ind(values[..., :SEEDS], values[..., SEEDS:], axis=-1, equal_var=False)
    plain = (tests.pvalue < 0.05).mean(axis=1)
    starred = [len(discoveries(dict(enumerate(item)))) / 80 for item in tests.pvalue]
    assert plain.mean() == pytest.approx(0.05, abs=0.01)
    assert (plain > 0.05).mean() > 0.15, "rows come in bunches"
    assert np.mean(np.array(starred) > 0.05) < 0.05


def test_what_differs_is_starred(platform: Platform) -> None:
    assert stars(together(platform, 3.0, 1)) == 6


@pytest.fixture
def weak(platform: Platform) -> Comparison:
    """Energies that differ by so little that a correction would take the star away."""
    random = np.random.default_rng(8)

    def run(name: str, number: int, more: float) -> Derived:
        outcome = stated("mainline", 0)
        energy = dataclasses.replace(
            outcome.result.energy_j, total=0.2 + 0.001 * (random.normal() + more)
        )
        busy = tuple(0.3 + 0.01 * random.normal() for _ in range(6))
        result = dataclasses.replace(outcome.result, energy_j=energy, cpu_busy=busy)
        cell = dataclasses.replace(outcome.cell, variant=name, seed=number)
        return dataclasses.replace(outcome, cell=cell, result=result)

    return comparison(
        platform,
        {
            name: [run(name, number, more) for number in range(SEEDS)]
            for name, more in (("mainline", 0.0), ("again", 0.75))
        },
    )


def test_the_primary_energy_is_asked_about_by_itself(weak: Comparison) -> None:
    difference_of = weak.total.differences["again"]
    assert difference_of.p is not None
    assert 0.01 < difference_of.p < 0.05, "else this test says nothing"
    assert weak.starred(weak.total, "again")
    power = next(line for line in weak.lines if line.row.per_second)
    assert power.differences["again"].clear
    assert not weak.starred(power, "again")
    total = next(line for line in glance(weak).splitlines() if line.startswith("energy, total"))
    assert total.endswith("*")
    words = " ".join(text(weak).split())
    assert "* significant at a false discovery rate of 5 %." in words
