"""Claims beyond the paper: Theorems A to C, G to J, L and M of the documentation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, product
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise import research, theory
from poise.algorithms.algorithm import as_algorithm
from poise.data.randomness import Randomness
from poise.data.sample import Sample
from poise.procedures.own import orders
from poise.questions.ask import measure
from poise.questions.deployed import deployed_test, measure_deployed
from poise.research import Made, Query, World, worlds
from poise.simulation.claims import Effort, Found, beyond, both, equal, every, near
from poise.simulation.worlds import everywhere, gaussian
from poise.theory.martingales import Processes

Floats = NDArray[np.float64]
QUICK: dict[str, Any] = {"check": False, "progress": False}


# Theorems A to C: the averaged test


def _wealth(shares: Floats, delta: float, alpha: float, mirror: bool = False) -> Floats:
    """Return the last value of u for each row of shares."""
    run = Processes(shares.shape[1], np.full(len(shares), delta), alpha, mirror)
    return run.run(lambda rows, a, b: shares[rows, a:b]).u


def _sequences(m: int, law: dict[float, float]) -> tuple[Floats, Floats]:
    """Return every sequence of m values, and its probability."""
    values, chances = (np.array(list(product(part, repeat=m))) for part in (law, law.values()))
    return values, chances.prod(axis=1)


def _mean_wealth(m: int, delta: float, alpha: float, law: dict[float, float]) -> list[float]:
    """Return E u of the hedge and of the mirror."""
    shares, chances = _sequences(m, law)
    return [float(chances @ _wealth(shares, delta, alpha, side)) for side in (False, True)]


def _three_points(mean: float) -> dict[float, float]:
    return {0.0: 1 - 1.5 * mean, 0.5: mean, 1.0: mean / 2}


def contains_binomial(effort: Effort) -> Found:  # fractions of nine tenths
    """beyond: Theorem C: on every 0/1 sequence the hedge is the Binomial test, with its coin."""
    return every(held for case in BITS for held in _as_binomial(*case))


def contains_mirror(effort: Effort) -> Found:  # fractions of nine tenths
    """beyond: Theorem C: on every 0/1 sequence the mirror is the Binomial test of instability."""
    return every(held for case in BITS for held in _as_binomial(*case, mirror=True))


BITS = list(product((1, 4, 9), (0.1, 0.35), (0.05, 0.3)))


def _as_binomial(m: int, delta: float, alpha: float, mirror: bool = False) -> Iterator[bool]:
    bits, _ = _sequences(m, {0.0: 1.0, 1.0: 1.0})
    ones = bits.sum(axis=1).astype(int)  # the mirror asks about the zeros, at 1 - delta
    asked = (m - ones, m, 1 - delta) if mirror else (ones, m, delta)
    expected = theory.acceptance_probability(*asked, alpha)
    yield from np.isclose(_wealth(bits, delta, alpha, mirror), expected, atol=1e-8)


def averaged_level(effort: Effort) -> Found:  # alpha wrong by 1%
    """beyond: Theorem A: E u = alpha at delta* = delta, over all sequences of shares 0, 1/2, 1."""
    cases = ((5, 0.3, 0.1), (6, 0.2, 0.05), (7, 0.4, 0.3))
    means = [_mean_wealth(*case, _three_points(case[1])) for case in cases]
    return equal([2 * [alpha] for _, _, alpha in cases], means)


def averaged_power(effort: Effort) -> Found:  # the ceiling of one trial more
    """beyond: Theorem B: all-in attains its ceiling; the hedge has power beyond the Binomial."""
    shares, chances = _sequences(5, _three_points(0.2))
    u = np.array([theory.all_in(row, 0.3, 0.1) for row in shares])
    attained = equal(theory.share_ceiling(5, 0.3, 0.2, 0.1), chances @ np.minimum(1, u))
    rng, size = np.random.default_rng(41), (effort.count(1000), 100)
    twentieths = rng.binomial(20, rng.beta(1, 19, size)) / 20  # mean .05
    stable = _wealth(twentieths, 0.1, 0.05) >= 1 - 1e-9
    return both(attained, beyond(theory.power(100, 0.1, 0.05, 0.05), stable))


# One full fit for all removals


def one_full_fit(effort: Effort) -> Found:  # one full fit serves all removals
    """beyond: Label of row floor(xi |D|) + 1: delta* = 1/2, and (n+1)/(3n) with one full fit."""
    pick = lambda X, y, seed: everywhere(float(y[seed * len(y) >> 31]))  # noqa: E731
    n, steps = 8, 8 * 7 * 40
    rows = worlds.gaussian()(np.random.default_rng(0), effort.count(300) * (n + 1))
    trials = measure(pick, *rows, n=n, removals_per_trial=n, points_per_trial=1, **QUICK)
    xi = (np.arange(steps) + 0.5) / steps  # no edge falls on this grid
    full, left = np.floor(xi * n), np.floor(xi * (n - 1))
    in_place = np.mean([full != left + (left >= i) for i in range(n)])
    return both(near(0.5, trials.changes[:, 3, 0] > 0), equal((n + 1) / (3 * n), in_place))


def forest_in_place(effort: Effort) -> Found:  # every fit has a seed of its own
    """beyond: Forest with one seed: removed in place, its first row moves more than delta*."""
    from sklearn.ensemble import RandomForestRegressor

    fit, moved = as_algorithm(RandomForestRegressor(1)).fit, []
    for k in range(effort.count(200, 200)):
        rng = np.random.default_rng([43, k])
        X, y, point = rng.normal(size=(20, 2)), rng.normal(size=20), rng.normal(size=(1, 2))
        parts = (slice(None), slice(-1), slice(1, None))  # all rows, without the last, the first
        full, *less = (fit(X[part], y[part], k << 33)(point)[0] for part in parts)
        moved.append(np.abs(np.array(less) - full) > 0.1)
    last, first = np.transpose(moved)  # P(the last one moves) < .51 < P(the first one does)
    return both(beyond(0.49, ~last), beyond(0.5, first))


# Looking again and again

LOOKS = [46 * 2**i for i in range(6)]


def repeated_looks(effort: Effort) -> Found:  # ties are accepted
    """beyond: Looks at the Binomial test, each after doubling: .0480, .1390 (5), .1648 (6)."""
    looks = theory.repeated_looks(LOOKS, 0.1, 0.05)
    return equal([0.0480, 0.1390, 0.1648], np.round(looks, 4)[[0, 4, 5]])


def one_process(effort: Effort) -> Found:  # evidence that grows by itself
    """beyond: One e-process has mean 1 at each look, and errs at all together at most alpha."""
    law, crossed, means, seen = np.ones(1), 0.0, [], 0
    for m in LOOKS[:3]:
        values = np.array([theory.mixture(1.0 * (np.arange(m) < b), 0.1) for b in range(m + 1)])
        law = np.convolve(law, _binomial(m - seen))  # of counts that no look has ended
        means.append(_binomial(m) @ values)
        crossed, law, seen = crossed + law[values >= 20].sum(), np.where(values >= 20, 0, law), m
    return both(equal([1, 1, 1], means), every([crossed <= 0.05]))


def _binomial(m: int) -> Floats:
    return np.array([comb(m, b) * 0.1**b * 0.9 ** (m - b) for b in range(m + 1)])


# Theorem G: responses that are missing, of a finite number


@dataclass(frozen=True, kw_only=True)
class WorstLabelling(research.Asks):
    """Trains on rows without a response under every labelling; the largest change counts."""

    missing: int

    def ask(self, sample: Sample, randomness: Randomness) -> Any:
        """Ask for trials of n - j labelled rows and j others."""
        j, known = self.missing, self.n - self.missing
        m = theory.trials_missing(self.n, sample.n_labeled, sample.n_unlabeled, j)
        labeled, unlabeled = orders(sample, randomness)
        spare, trials = np.append(labeled[m * known :], unlabeled), []
        for k, xi in enumerate(randomness.block("xi", 0, m)[:, 0].tolist()):
            X, y, _ = sample.training(labeled[k * known : (k + 1) * known])
            X, point = np.vstack([X, sample.points(spare[k * j :][:j])]), spare[m * j + k :][:1]
            rows = [Made(X, np.append(y, guess)) for guess in product((0.0, 1.0), repeat=j)]
            full, less = ([Query(each[:i], point, xi) for each in rows] for i in (None, -1))
            trials.append(research.Trial(tuple(full), tuple(less)))
        answers = yield research.Batch(trials)
        return self.said(answers.changes[:, :, 0].max(axis=1), 1 - randomness.uniform("coin"))

    def said(self, worst: Floats, zeta: float) -> Any:
        """Conclude; large counts do not show instability."""
        return self.judge(worst, certified=True, reason="all labels", upper=True, zeta=zeta)


class Mirrored(WorstLabelling):
    """The same, but says whether it would call the algorithm unstable."""

    def said(self, worst: Floats, zeta: float) -> Any:
        """Take large counts for evidence."""
        moved = int((worst > self.epsilon).sum())
        return bool(theory.pvalue_unstable(moved, len(worst), self.delta) <= self.alpha)


def worst_labelling(effort: Effort) -> Found:  # trials of n labelled rows
    """beyond: Theorem G: the worst labelling attains its ceiling, beyond that of kappa."""
    test = WorstLabelling(n=4, epsilon=0.5, delta=0.2, alpha=0.1, missing=2)
    unlucky = worlds.unlucky_sets(4, 0.02).algorithm
    fit = lambda X, y, seed: everywhere(0.0) if y.any() else unlucky(X, y, seed)  # noqa: E731
    draw = lambda rng, size: (rng.random((size, 1)), np.zeros(size))  # noqa: E731
    found = effort.stable(test, World("unlucky zeros", fit, draw, 4), (20, 30), 400, seed=32)
    asked: dict[str, Any] = {"delta": 0.2, "delta_star": 0.02, "alpha": 0.1}
    unknown, known = (
        theory.power_bound(4, 20, 30, **asked, response=space)
        for space in ("uncountable", "countable")
    )
    return both(near(known, found), beyond(unknown, found))


def no_mirror(effort: Effort) -> Found:  # a bound that may say unstable
    """beyond: Theorem G: its mirror would err too often (delta* = 1/6 < .17) and is not used."""
    asked: dict[str, Any] = {"n": 3, "epsilon": 0.5, "delta": 0.17, "alpha": 0.1, "missing": 3}
    world = worlds.nearest_neighbours(3, on_coins=True)
    would = effort.stable(Mirrored(**asked), world, (3, 157), 60, seed=34)
    said = WorstLabelling(**asked).said(np.ones(40), 1.0).verdict
    known = equal(1 / 6, world.delta_star(0.5))
    return both(known, beyond(0.1, would), every([said == "inconclusive"]))


# Theorem H: traps that stay within bounded outputs


def _labels(count: int) -> World:
    """Predict label 1; with a marked row another one on fewer rows, and a third on all, if any."""

    def marked(rng: np.random.Generator, size: int) -> tuple[Any, Any]:
        X, y = worlds.coins(rng, size)
        return X, np.where(rng.random(size) < 0.1, 9.0, y)

    def fit(X: Any, y: Any, seed: int) -> Any:
        return everywhere((0.0 if len(y) < 4 else count - 1.0) if 9.0 in y else 1.0)

    return World(f"{count} labels", fit, marked, 4)


def bounded_outputs(effort: Effort) -> Found:  # nothing is removed
    """beyond: Theorem H: three labels hide instability 1-(1-c)^n, two only 1-(1-c)^(n-1)."""
    found = [effort.moves(_labels(count), 0.5, 6000, seed=36) for count in (3, 2)]
    return both(*map(near, (1 - 0.9**4, 1 - 0.9**3), found))


def root(effort: Effort) -> Found:  # the root of n + 1
    """beyond: Theorem H(ii): the ceiling for large epsilon, its root found on a grid."""
    grid = np.linspace(0, 1, 200_001)[1:-1]
    cases = product((2, 5, 20), (0.05, 0.3), (0.0, 0.4, 0.9))
    return every(_is_root(n, delta, share * delta, grid) for n, delta, share in cases)


def _is_root(n: int, delta: float, star: float, grid: Floats) -> bool:
    largest = grid[grid ** (n - 1) * (1 - grid * star) < 1 - delta].max()
    said = theory.ceiling_large_epsilon(n, 2 * n, delta, star, 0.05)
    return bool(np.isclose(said, min(1, 0.05 * largest ** (-2 * n)), rtol=1e-3))


# Proposition I: one training set


def average_over_sets(effort: Effort) -> Found:  # two rows leave
    """beyond: Proposition I, mean response: the mean of delta_D over training sets is delta*."""
    world, moved = worlds.mean_response(5), []
    for seed in range(effort.count(200)):
        X, y = world.draw(np.random.default_rng([5, seed]), 6)
        found = measure_deployed(world.algorithm, X[:5], y[:5], X[5:], **QUICK)
        moved.append(found.changes[0, 0, 0] > 0.3)  # one change of each training set
    return near(world.delta_star(0.3), moved)


def unlucky_sets(effort: Effort) -> Found:  # a row that never trains
    """beyond: Proposition I, delta* = .3: the lucky training sets are certified, .7 of all."""
    world, said = worlds.unlucky_sets(5, probability=0.3), []
    asked: dict[str, Any] = {"epsilon": 0.5, "delta": 0.1, "gamma": 0.0} | QUICK
    for seed in range(effort.count(100)):
        X, y = world.draw(np.random.default_rng([9, seed]), 45)
        said.append(deployed_test(world.algorithm, X[:5], y[:5], X[5:], **asked).verdict)
    certified = near(0.7, [verdict == "stable" for verdict in said])
    return both(certified, every(verdict != "inconclusive" for verdict in said))


def given_data(effort: Effort) -> Found:  # a row that never trains
    """beyond: Given D, at E[S|D] = delta = .4: E u = alpha over all sequences of its six shares."""
    above = lambda X, y, seed: lambda rows: (X[:, 0] > rows[:, :1]).sum(axis=1)  # noqa: E731
    X = np.array([0.1, 0.2, 0.4, 0.5, 0.8])[:, None]
    edges = np.concatenate([[0], X[:, 0], [1]])
    cells = ((edges[1:] + edges[:-1]) / 2)[:, None]  # between two rows all points are alike
    shares = measure_deployed(above, X, np.ones(5), cells, **QUICK).shares(0.5)
    law = dict(zip(sorted(shares.tolist(), reverse=True), np.diff(edges).tolist(), strict=True))
    return equal([0.2, 0.2], _mean_wealth(5, 0.4, 0.2, law))


# Theorems L and M: averages over bags


def bags(effort: Effort) -> Found:  # a reach without the part outside the bag
    """beyond: Theorem L: no base algorithm moves k removals further (linear programmes)."""
    sizes = ((4, 1), (4, 2), (4, 3), (5, 2), (6, 2), (6, 3), (6, 5), (7, 3))
    cases = ((n, b, k) for n, b in sizes for k in range(1, n + 1))
    return every(_reach(n, b, k) <= theory.bag_reach(n, b, k) + 1e-9 for n, b, k in cases)


def _reach(n: int, b: int, k: int) -> float:
    """Find how far some base fit in [0, 1] moves k removals, in the worst of the directions."""
    inside = np.array([[row in bag for row in range(n)] for bag in combinations(range(n), b)])
    changes = (1 / len(inside) - ~inside / (~inside).sum(axis=0)).T[:k]
    goal, bounds = [0.0] * len(inside) + [-1.0], [(0, 1)] * len(inside) + [(None, None)]
    found = []
    for plus in range((k + 1) // 2, k + 1):
        signed = changes * np.repeat([-1.0, 1.0], [plus, k - plus])[:, None]
        found.append(_most(goal, np.column_stack([signed, np.ones(k)]), np.zeros(k), bounds=bounds))
    return max(found)


def _most(*programme: Any, **bounds: Any) -> float:
    from scipy.optimize import linprog

    return -float(linprog(*programme, **bounds).fun)


def shared_labels(effort: Effort) -> Found:  # hardly inflated
    """beyond: Theorem M: scores less than epsilon apart share k labels of their inflated top k."""
    rng = np.random.default_rng(0)
    w = rng.uniform(size=(5000, 4)) * rng.choice([0.1, 0.5, 1.0], size=(5000, 1))
    step = rng.normal(size=w.shape)
    v = w + 0.2999 * step / np.linalg.norm(step, axis=1, keepdims=True)
    sets = {k: [theory.inflated_mask(each, k, 0.3) for each in (w, v)] for k in range(1, 5)}
    return every(held for k, (one, other) in sets.items() for held in (one & other).sum(1) >= k)


# Theorem J: intervals


def worst_law(effort: Effort) -> Found:  # unstable rows are forgotten
    """beyond: Theorem J: the bound is the worst case of its linear programme."""
    cases = product((3, 6), (0.0, 0.2, 0.5), (0.01, 0.05, 0.2, 0.6))
    return every(np.isclose(theory.jackknife_miss(*c), _largest_miss(*c)) for c in cases)


def _largest_miss(n: int, a: float, delta: float) -> float:
    """Maximise P(rank <= K + N) over laws of a rank and a count N with E N <= n delta."""
    rank, count = (grid.ravel() for grid in np.mgrid[1 : n + 2, 0 : n + 2])
    missed = rank <= round(a * (n + 1), 9) // 1 + count
    ranks = np.arange(1, n + 2)
    parts, most = [*(rank <= ranks[:, None]), count], [*(ranks / (n + 1)), n * delta]
    return _most(-missed.astype(float), np.array(parts, float), most, np.ones((1, rank.size)), [1])


def exact_rank(effort: Effort) -> Found:  # the residual of the next rank
    """beyond: Theorem J: of a constant the jackknife misses exactly K of n + 1 ranks."""
    return near(0.2, _missed(worlds.constant(9), effort.count(2000, 1000))[0])


def without_stability(effort: Effort) -> Found:  # the ends of a quarter of the rank
    """beyond: Coins, and d = n: the jackknife misses more than a, jackknife+ at most 2a."""
    solve = lambda X, y, seed: lambda rows: rows @ np.linalg.lstsq(X, y)[0]  # noqa: E731
    places = worlds.flipping(9, 0.3, height=5.0), World("d = n", solve, gaussian(20, slope=1.0), 20)
    found = [_missed(place, effort.count(400, 300)) for place in places]
    return both(*(each for one, plus in found for each in (beyond(0.2, one), beyond(0.6, ~plus))))


def _missed(world: World, count: int) -> Any:
    """Tell where intervals with a = .2 miss: those of the jackknife, and of jackknife+."""
    rng, n, missed = np.random.default_rng(0), world.n, []
    others = [np.delete(np.arange(n), row) for row in range(n)]
    for _ in range(count):
        (X, y), seed = world.draw(rng, n + 1), int(rng.integers(2**31))
        models = [world.algorithm(X[rows], y[rows], seed) for rows in others]
        residuals = np.abs(y[:n] - [model(X[i : i + 1])[0] for i, model in enumerate(models)])
        error = world.algorithm(X[:n], y[:n], seed)(X[n:])[0] - y[n]
        errors = np.array([[model(X[n:])[0] - y[n] for model in models]])  # 0 has to be inside
        low, high = theory.jackknife_plus_ends(errors, residuals, 0.2)[0]
        one = abs(error) > theory.residual_quantile(residuals, 0.2)
        missed.append((one, low > 0 or high < 0))
    return np.transpose(missed)
