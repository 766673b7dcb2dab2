"""The paper's claims: sections 2 to 5, appendices B and E.

A function whose docstring begins with its part is a claim. The comment beside it names an error
that it catches when it is planted in the library. Where the paper slips, a comment says so; its
theorems are not affected.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import product
from math import comb
from operator import eq
from typing import Any

import numpy as np

from poise import research, theory
from poise.algorithms.algorithm import as_algorithm
from poise.data.randomness import Coupling, Randomness, as_coupling
from poise.data.sample import Sample
from poise.data.split import Split
from poise.research import BinomialTest, Made, Query, Share, Trap, World, trap, worlds
from poise.results.design import Design
from poise.results.trials import Trials
from poise.simulation.claims import SURE, Effort, Found, beyond, both, equal, every, near
from poise.simulation.traps import Line, same_verdicts
from poise.simulation.worlds import everywhere, gaussian

SIZES = list(product(range(2, 8), range(0, 50, 3), range(0, 12, 2)))  # (n, N_l, N_u)
GRID = list(product(range(0, 41, 3), (0.01, 0.1, 0.25, 0.5), (0.01, 0.05, 0.1, 0.5)))  # (m, δ, α)


# Section 2: trials and tests


def most_sets(effort: Effort) -> Found:  # n + 2 for n + 1 in kappa
    """2: In Example 1, floor(kappa) is the most disjoint sets of n rows and a point."""
    short = (theory.kappa(n, lab, unl) * n == lab for n, lab, unl in SIZES)  # of labels alone
    many = (n * unl >= lab for n, lab, unl in SIZES)
    most = every(theory.n_trials(*size) == _filled(*size) for size in SIZES)
    return both(most, every(map(eq, short, many)))


def _filled(n: int, labeled: int, unlabeled: int) -> int:
    """Fill one set after the other, with an unlabelled point as long as there is one."""
    sets = 0
    while labeled >= n and labeled + unlabeled > n:
        labeled, unlabeled = labeled - n - (unlabeled == 0), max(0, unlabeled - 1)
        sets += 1
    return sets


def no_row_twice(effort: Effort) -> Found:  # trial k starts at row k(n - 1)
    """2: Trials share no row, in every design: removals, points, replaced, groups, position."""
    twice, positions = (False, True), ("last", "uniform")
    return every(_apart(*each) for each in product((2, 5), (1, 2), (1, 3), twice, twice, positions))


def _apart(n: int, removals: int, points: int, replace: bool, grouped: bool, position: Any) -> bool:
    units = np.append(np.arange(60) // (2 if grouped else 1), 100 + np.arange(9))
    groups: Any = {"groups": units[:60], "groups_unlabeled": units[60:]} if grouped else {}
    nothing = np.zeros((60, 1))
    sample = Sample.of(nothing, nothing[:, 0], X_unlabeled=nothing[:9], **groups)
    m = theory.trials(n, len(set(units[:60])), 9, points, int(replace))
    shape: dict[str, Any] = {"trials": m, "removals": removals, "n_points": points}
    shape |= {"replace": replace, "position": position}
    split, used = Split(sample, Randomness(1), as_coupling("shared"), n=n, **shape), []
    for k in range(m):
        fits = [rows for j in range(removals) for rows in split.rows(k, j)]
        used += [*{*units[np.concatenate(fits)].tolist()}, *units[split.points(k)].tolist()]
    return len(used) == len(set(used)) == int(m * (n + replace + points))


def symmetric(effort: Effort) -> Found:  # a trap that looks at the last response only
    """2: Algorithms are symmetric, and stay so in each of the proof's traps."""
    rng, mean = np.random.default_rng(0), worlds.mean_response(6)
    kinds: tuple[Any, ...] = ("label", "feature", "linear")
    traps = [trap(mean, kind, epsilon=0.5, delta=0.3, c=0.5).world for kind in kinds]
    others = [make(6) for make in (worlds.nearest_neighbours, worlds.unlucky_sets)]
    return every(_ignores_order(w, rng) for w in (mean, *others, *traps) for _ in range(20))


def _ignores_order(world: World, rng: np.random.Generator) -> bool:
    (X, y), fit = world.draw(rng, 6), as_algorithm(world.algorithm).fit
    said = [fit(X[rows], y[rows], 7)(X[:1] + 0.1)[0] for rows in (range(6), rng.permutation(6))]
    return bool(abs(said[0] - said[1]) < 1e-9)


def two_calls(effort: Effort) -> Found:  # trials without a point
    """2: The Binomial test makes 2 floor(kappa) calls; at N_l = n, N_u = 1 its power is 1/9."""
    fits: list[int] = []

    def counted(X: Any, y: Any, seed: int) -> Any:
        fits.append(len(y))
        return everywhere(0.0)

    rows = World("counted", counted, gaussian(), 5).rows(np.random.default_rng(0), 60, 0)
    research.run(_binomial(delta=0.5), counted, **rows, progress=False)
    bound = theory.power_bound(5, 5, 1, delta=0.1, alpha=0.1)
    return equal([20, 1 / 9], [len(fits), bound])


def _binomial(**question: Any) -> BinomialTest:
    return BinomialTest(**({"n": 5, "epsilon": 0.0, "randomized": True} | question))


# Section 2.3: other examples of black-box tests

FEW = (12, 3)  # rows
ASKED: dict[str, Any] = {"n": 10, "epsilon": 0.0, "delta": 0.3}
BOOTSTRAP = research.BootstrapTest(**ASKED, resamples=40)


def _hidden() -> Trap:
    return trap(worlds.constant(10), epsilon=0.0, delta=0.3)


def bootstrap_power(effort: Effort) -> Found:  # a change of exactly epsilon counts
    """2.3: In Example 2, bootstrapped samples have more power than any valid test can have."""
    ceiling = theory.power_bound(10, *FEW, delta=0.3, alpha=0.05)
    return beyond(ceiling, effort.stable(BOOTSTRAP, worlds.constant(10), FEW, 60, seed=6))


def bootstrap_level(effort: Effort) -> Found:  # a trap that never springs
    """2.3: So they are not valid: in the label trap they say stable unless they see the star."""
    hidden = _hidden()
    return near((1 - hidden.c) ** 12, effort.stable(BOOTSTRAP, hidden.world, FEW, 60, seed=7))


def simulated_level(effort: Effort) -> Found:  # a change of exactly epsilon counts
    """2.3: In Example 3, simulated samples are not valid either: their level on the label trap."""
    test = research.SimulationTest(**ASKED, simulations=40)
    return beyond(0.05, effort.stable(test, _hidden().world, FEW, 60, seed=8))


def explored(effort: Effort) -> Found:  # the rows that were explored are tested as well
    """2.3: Learning on rows that are not tested is valid: its level on the label trap."""
    asked: dict[str, Any] = {"epsilon": 0.5, "delta": 0.2}
    hidden = trap(worlds.constant(4), **asked)
    test = research.ExploreThenTest(n=4, alpha=0.27, share=0.5, explorations=5, **asked)
    found = effort.stable(test, hidden.world, (64, 0), 300, seed=9)
    return near((1 - hidden.c) ** 24, found)  # 32 rows are left: 6 trials, and all must be quiet


@dataclass(frozen=True)
class Submits:
    """Tries some labels for five rows, 20 of 100 if none are given; stable if nothing moves."""

    labels: Any = None

    def ask(self, sample: Sample, randomness: Randomness) -> Any:
        """Train on sets of five of them."""
        drawn = randomness.generator("labels").permutation(100)[:20].astype(float)
        X, sets = np.zeros((5, 1)), drawn.reshape(4, 5) if self.labels is None else self.labels
        answers = yield research.Batch([Query(Made(X, y), Made(X[:1]), 0) for y in sets])
        return not np.any(answers.predictions)


def supremum(effort: Effort) -> Found:  # a trap that springs at any large response
    """2.3: For a supremum, 181 values of y do not tell A from A', with y* they do."""
    hidden, grid = trap(worlds.constant(5), epsilon=0.0, delta=0.1), np.linspace(-9, 9, 181)
    tried = (np.outer(y, np.arange(5) == 4) for y in (grid, [*grid, hidden.world.algorithm.star]))
    return equal([0, 20], [same_verdicts(Submits(y), hidden, (6, 0), 20, 1)[0] for y in tried])


# Section 3: the Binomial test, Theorem 1


def law_of_the_count(effort: Effort) -> Found:  # nothing is removed
    """3: B is Binomial(20, 1/5) on nearest neighbours: its mean, and P(B = 4)."""
    changes = worlds.nearest_neighbours(5).changes(20 * effort.count(500), random_state=1)
    moved = changes.reshape(-1, 20) > 0
    return both(near(0.2, moved), near(_pmf(4, 20, 0.2), moved.sum(axis=1) == 4))


def _pmf(k: int, m: int, p: Any) -> Any:
    return comb(m, k) * p**k * (1 - p) ** (m - k)


def strict(effort: Effort) -> Found:  # >= for >
    """3: (2.1): a change of exactly epsilon does not count against stability."""
    changes = worlds.memorising(4, rarity=1.0, height=0.5).changes(20, random_state=0)
    trials = Trials.from_changes(changes, n=4)
    return equal([0, 1], [trials.observed(0.5), trials.observed(0.499)])


def unique(effort: Effort) -> Found:  # alpha halved
    """3: k* and a* exist and are unique: all k are tried in rationals."""
    return every(_same_as_library(*case) for case in GRID)


def _same_as_library(m: int, delta: float, alpha: float) -> bool:
    found = _solutions(m, Fraction(delta), Fraction(alpha))
    count, tie = theory.critical_value(m, delta, alpha)
    return len(found) == 1 and count in found and bool(np.isclose(float(found[count]), tie))


def _solutions(m: int, delta: Fraction, alpha: Fraction) -> dict[int, Fraction]:
    """Return every k that has an a in (0, 1] with P(B < k) + a P(B = k) = alpha."""
    found, below = {}, Fraction(0)
    for k in range(m + 1):
        atom = _pmf(k, m, delta)
        if 0 < alpha - below <= atom:
            found[k] = (alpha - below) / atom
        below += atom
    return found


def decision(effort: Effort) -> Found:  # < for <=
    """3: (3.2): declares stable iff B < k*, or B = k* and zeta <= a*."""
    cases = product((1, 7, 12), (0.1, 0.3), (0.05, 0.2))
    return every(held for case in cases for held in _decided(*case))


def _decided(m: int, delta: float, alpha: float) -> Iterator[bool]:
    """Compare at every B, with coins on both sides of a* and at a* as the library computes it."""
    [(count, exact)] = _solutions(m, Fraction(delta), Fraction(alpha)).items()
    tie = float(exact)
    coins = 0.999 * tie, min(1.0, 1.001 * tie), 1.0, theory.critical_value(m, delta, alpha)[1]
    for B, zeta in product(range(m + 1), coins):
        said = _stable(np.repeat([1.0, 0.0], [B, m - B]), zeta, delta, alpha)
        yield said == (count > B or (count == B and zeta <= tie * (1 + 1e-12)))


def _stable(changes: Any, zeta: float, delta: float, alpha: float, epsilon: float = 0.5) -> bool:
    """Ask the library about changes, with this coin."""
    m = len(changes)
    design = Design(algorithm="any", n=5, n_labeled=6 * m, randomized=True)
    trials = Trials(np.reshape(changes, (m, 1, 1)), design, zeta=zeta)
    return trials.test(epsilon, delta, alpha, test="binomial", randomized=True).stable


def no_trials(effort: Effort) -> Found:  # without trials the coin decides
    """3: With floor(kappa) = 0 the paper accepts with probability alpha; here no coin is tossed."""
    said = _stable(np.empty(0), 0.01, delta=0.2, alpha=0.2)
    return equal([0.2, 0], [theory.acceptance_probability(0, 0, 0.2, 0.2), said])


def size(effort: Effort) -> Found:  # zeta <= a*/2 for zeta <= a*
    """3: Theorem 1: the size is exactly alpha at delta* = delta, with the coin."""
    cases = ((1, 0.2, 0.05), (5, 0.5, 0.3), (20, 0.1, 0.05))  # (m, δ, α)
    sizes = [_probability(partial(_stable, delta=d, alpha=a), m, d) for m, d, a in cases]
    return equal([a for _, _, a in cases], sizes)


def _probability(event: Callable[[Any, float], Any], m: int, p: float) -> float:
    """Return the probability of an event that small zeta favour: B is Bin(m, p), zeta uniform."""
    fine = 2**40  # parts of [0, 1] among which the largest zeta is found

    def largest(changes: Any) -> float:
        return (
            bisect_left(range(1, fine + 1), True, key=lambda z: not event(changes, z / fine)) / fine
        )

    return float(
        sum(_pmf(B, m, p) * largest(np.repeat([1.0, 0.0], [B, m - B])) for B in range(m + 1))
    )


def first_regime(effort: Effort) -> Found:  # the coin is ignored
    """3: Theorem 1, first regime: power alpha((1-delta*)/(1-delta))^20, by fits and coins."""
    rare, test = worlds.memorising(5, rarity=0.02), _binomial(delta=0.1, alpha=0.1)
    return near(0.1 * (0.98 / 0.9) ** 20, effort.stable(test, rare, (120, 0), 400, seed=4))


def closed_form(effort: Effort) -> Found:  # a tie counts half
    """3: Theorem 1: the closed form of the power, in both regimes."""
    # Of both regimes the paper says that acceptance can occur only when B = 0. In the second one
    # k* > 0, and B = 0 holds almost surely instead.
    stars = [(0.0, d / 3, d) if m == 0 or d <= 1 - a ** (1 / m) else (0.0,) for m, d, a in GRID]
    return every(
        np.isclose(theory.power(m, d, s, a, True), min(1, a * ((1 - s) / (1 - d)) ** m), rtol=1e-9)
        for (m, d, a), some in zip(GRID, stars, strict=True)
        for s in some
    )


def worked_example(effort: Effort) -> Found:  # alpha halved
    """3: At delta = alpha = .1, k* = 0 up to floor(kappa) = 21; powers .8225, .9139, 1."""
    # The paper says kappa < 21. The condition holds at 21 as well.
    last = max(m for m in range(1, 60) if theory.critical_value(m, 0.1, 0.1)[0] == 0)
    powers = theory.power([20, 21, 22], 0.1, 0.0, 0.1, randomized=True).round(4)
    return equal([21, 0.8225, 0.9139, 1], [last, *powers])


# Section 4.1: estimation, Proposition 1


def inverts(effort: Effort) -> Found:  # delta_hat with one exceedance less
    """4.1: Proposition 1: delta_hat <= delta iff accepted iff eps_hat <= eps, with one zeta."""
    rng = np.random.default_rng(0)
    return every(_inverted(rng) for _ in range(150))


def _inverted(rng: np.random.Generator) -> bool:
    changes = rng.integers(0, 6, size=rng.integers(1, 30)) / 4
    epsilon, delta = rng.integers(0, 6) / 4, float(rng.uniform(0, 0.9))
    alpha, zeta = float(rng.uniform(0.02, 0.5)), float(rng.uniform(1e-6, 1))
    m, B = len(changes), int((changes > epsilon).sum())
    by_delta = theory.delta_hat(B, m, alpha, zeta) <= delta
    by_epsilon = theory.epsilon_hat(changes, delta, alpha, zeta) <= epsilon
    return bool(_stable(changes, zeta, delta, alpha, epsilon) == by_delta == by_epsilon)


def delta_hat_misses(effort: Effort) -> Found:  # delta_hat without zeta
    """4.1: Proposition 1(c): P(delta_hat < delta*) is alpha exactly, with the coin."""
    misses = lambda changes, zeta: theory.delta_hat(int(sum(changes)), 6, 0.4, zeta) < 0.2  # noqa: E731
    return equal(0.4, _probability(misses, 6, 0.2))


def epsilon_hat_misses(effort: Effort) -> Found:  # eps_hat one rank further
    """4.1: Proposition 1(d): P(eps_hat < eps*) is alpha exactly, with the coin."""
    misses = lambda changes, zeta: theory.epsilon_hat(changes + 1, 0.2, 0.4, zeta) < 1.5  # noqa: E731
    return equal(0.4, _probability(misses, 6, 0.2))  # changes lie on either side of eps* = 1.5


# Section 4.2: the ceiling, Theorem 2


def attained(effort: Effort) -> Found:  # N_l/(n + 1) for N_l/n
    """4.2: Theorem 2, integer kappa, first regime: the Binomial test attains the ceiling."""
    grid = product(range(1, 22), (0.02, 0.1), (0.05, 0.1), (0.0, 0.5, 1.0))
    first = ((m, d, a, s) for m, d, a, s in grid if d <= 1 - a ** (1 / m))
    return every(np.isclose(*_power_and_ceiling(m, d, a, s * d)) for m, d, a, s in first)


def _power_and_ceiling(m: int, delta: float, alpha: float, star: float) -> tuple[float, float]:
    power = theory.power(m, delta, star, alpha, randomized=True)
    return power, theory.power_bound(10, 10 * m, m, delta=delta, delta_star=star, alpha=alpha)


def gaps(effort: Effort) -> Found:  # a tie counts half
    """4.2: At delta = alpha = .1, delta* = .02: .6430 < .6511 (kappa = 22), .6816 < 1 (30)."""
    found = [*_power_and_ceiling(22, 0.1, 0.1, 0.02), *_power_and_ceiling(30, 0.1, 0.1, 0.02)]
    return equal([0.6430, 0.6511, 0.6816, 1.0], np.round(found, 4))


def exponents(effort: Effort) -> Found:  # (N_l + N_u)/n for (N_l + N_u)/(n + 1)
    """4.2: (4.4), (4.5), Theorems 2 to 4: all six exponents, and none for known supports."""
    unknown = {"features": "unknown-support", "response": "unknown-support"}
    known = {"features": "countable", "response": "countable"}
    models: list[dict[str, Any]] = [{"models": "transparent"}, {"models": "linear"}]
    states = [{}, unknown, {"response": "countable"}, {"features": "countable"}, *models, known]
    cases = product((1, 30), states)  # unlabelled rows; with 1 of them rows are scarce
    asked = ((10, 33, unl, {"delta": 0.5, "alpha": 1e-12, **state}) for unl, state in cases)
    found = np.array([theory.power_bound(*rows, **state) for *rows, state in asked]) / 1e-12
    labels, few, many, none = 33 / 10, 34 / 11, 63 / 11, np.log2(1e12)
    scarce = [few, few, few, labels, labels, labels, none]
    spare = [labels, labels, many, labels, labels, labels, none]
    return every(np.isclose(np.log2(found), [*scarce, *spare]))


# Section 4.3: models that can be read, Theorem 3; linear models, Theorem 4

READ: dict[str, Any] = {"models": "transparent"}
LEVEL: dict[str, Any] = {"delta": 0.25, "alpha": 0.06}  # .75^10 < .06: stable iff nothing moves


def _lines(n: int, shrink: float = 1.0) -> World:
    """Return the mean response as a linear model, which can be read; with 0 nothing moves."""
    law = worlds.mean_response(n).law if shrink else worlds.constant(n).law

    def fit(X: Any, y: Any, seed: int) -> Any:
        return Line(np.zeros(X.shape[1]), shrink * float(np.mean(y))).predict

    return World("mean as a line", fit, gaussian(), n, law)


def _reading() -> research.TransparentLinearTest:
    law = lambda rng, size: rng.standard_normal((size, 1))  # noqa: E731
    return research.TransparentLinearTest(n=5, epsilon=0.0, feature_law=law, **LEVEL)


def reads_models(effort: Effort) -> Found:  # models that are read have exponent kappa
    """4.3: Theorem 3: a test that reads models exceeds the black-box ceiling, to its own."""
    found = effort.stable(_reading(), _lines(5, shrink=0.0), (50, 0), 60, seed=1, **READ)
    black_box, own = (theory.power_bound(5, 50, **LEVEL, **seen) for seen in ({}, READ))
    return both(beyond(black_box, found), near(own, found))


def linear_level(effort: Effort) -> Found:  # a trap that never springs
    """4.3: Theorem 3 allows it: in the linear trap it says stable with probability (1-c)^N_l."""
    hidden = trap(_lines(5, shrink=0.0), "linear", epsilon=0.0, delta=0.25)
    found = effort.stable(_reading(), hidden.world, (50, 0), 200, seed=2, **READ)
    return near((1 - hidden.c) ** 50, found)


def stays_linear(effort: Effort) -> Found:  # raised above the first of these models
    """4.3: Theorem 4, D: A' stays linear, above all models without a row by t on the ball."""
    from sklearn.linear_model import LinearRegression

    world = World("lines", LinearRegression(), gaussian(2, slope=1.0), 6)
    found = trap(world, "linear", epsilon=0.5, delta=0.7, delta_star=0.5).world
    rng = np.random.default_rng(0)
    return every(_raised(found, rng) for _ in range(40))


def _raised(world: World, rng: np.random.Generator) -> bool:
    (X, y), points = world.draw(rng, 6), rng.normal(size=(200, 2))
    y[rng.integers(6)] = world.algorithm.star
    points *= 2 * rng.random((200, 1)) / np.linalg.norm(points, axis=1, keepdims=True)
    rest, fit = [np.delete(np.arange(6), i) for i in range(6)], world.algorithm.fit
    highest = np.max([fit(X[rows], y[rows], 0)(points) for rows in rest], axis=0)
    above = fit(X, y, 0)
    bend = above(points[:100]) + above(points[100:]) - 2 * above((points[:100] + points[100:]) / 2)
    return bool((above(points) > highest + 0.5).all() and np.allclose(bend, 0, atol=1e-9))


def linear_instability(effort: Effort) -> Found:  # half of the stars spring it
    """4.3: Theorem 4, D, linear trap around constants: instability 1-(1-delta*)(1-c)^n."""
    hidden = trap(_lines(4), "linear", epsilon=0.4, delta=0.3, c=0.15)
    expected = 1 - (1 - hidden.delta_star) * 0.85**4
    return near(expected, effort.moves(hidden.world, 0.4, 2000, seed=3))


# Section 5.1: finite spaces

SUPPORT = np.array([[0.0], [1.0], [0.0], [1.0]]), np.array([0.0, 0.0, 1.0, 1.0])


def _mean_of_coins() -> World:
    fit = lambda X, y, seed: everywhere(float(np.mean(y)))  # noqa: E731
    return World("mean of coins", fit, worlds.empirical(*SUPPORT), 3)


def _search(X: Any, y: Any, delta: float) -> research.ExhaustiveTest:
    asked: dict[str, Any] = {"n": 3, "epsilon": 0.34, "delta": delta, "alpha": 0.1}
    return research.ExhaustiveTest(**asked, support_X=X, support_y=y)


def known_support(effort: Effort) -> Found:  # the largest change, and 1
    """5.1: Known support: a search of all data sets exceeds the ceiling of Theorem 2."""
    found = effort.stable(_search(*SUPPORT, 0.1), _mean_of_coins(), (3, 1), 60, seed=9)
    return beyond(theory.power_bound(3, 3, 1, delta=0.1, alpha=0.1), found)


class SearchOfWhatWasSeen:
    """Searches all data sets made of rows that were seen, as if no others could occur."""

    def ask(self, sample: Sample, randomness: Randomness) -> Any:
        """Take the rows at hand for the support."""
        X, y, _ = sample.training(np.arange(sample.n_labeled))
        return (yield from _search(X, y, 0.2).ask(sample, randomness))


def unknown_support(effort: Effort) -> Found:  # every row of P' shows the star
    """5.1: Unknown support: a search of the rows that were seen is not valid, its level."""
    hidden = trap(_mean_of_coins(), epsilon=0.34, delta=0.2)
    return beyond(0.1, effort.stable(SearchOfWhatWasSeen(), hidden.world, (4, 0), 60, seed=12))


def budget(effort: Effort) -> Found:  # a trap that springs at any large response
    """5.1: Budgets: a test that submits 20 of 100 labels finds A' out with probability .2."""
    hidden = trap(worlds.constant(5), epsilon=0.0, delta=0.1, star=37.0)
    differing, _ = same_verdicts(Submits(), hidden, (6, 0), count := effort.count(400), seed=13)
    return near(0.2, Share(differing, count, SURE))


# Appendix B: the traps


def _trapped(kind: Any) -> Trap:
    return trap(worlds.nearest_neighbours(10), kind, epsilon=0.0, delta=0.2)  # delta* = 1/10


def label_trap(effort: Effort) -> Found:  # half of the stars spring it
    """B: (B.3), label trap: instability 1-(1-delta*)(1-c)^n."""
    hidden = trap(worlds.nearest_neighbours(4), epsilon=0.0, delta=0.5, c=0.2)
    return near(1 - 0.75 * 0.8**4, effort.moves(hidden.world, 0.0, 2000, seed=3))


def feature_trap(effort: Effort) -> Found:  # not sprung by a point of evaluation
    """B: (B.3), feature trap: instability 1-(1-delta*)(1-c)^(n+1)."""
    hidden = trap(worlds.nearest_neighbours(2), "feature", epsilon=0.0, delta=0.7, c=0.3)
    return near(1 - 0.5 * 0.7**3, effort.moves(hidden.world, 0.0, 2000, seed=4))


def same_verdict(effort: Effort) -> Found:  # a trap that springs at any large response
    """B: (B.7): A and A' get the same verdict on data from P, and both verdicts occur."""
    asked: dict[str, Any] = {"n": 10, "delta": 0.2, "alpha": 0.1}
    test, count = _binomial(**asked), effort.count(40, 30)
    kinds = (_trapped("label"), _trapped("feature"))
    found = [same_verdicts(test, hidden, (121, 0), count, 4) for hidden in kinds]
    return every([d == 0 for d, _ in found] + [0 < stable < count for _, stable in found])


def coincidence(effort: Effort) -> Found:  # every row of P' shows the star
    """B: (B.5), (B.6): data from P and P' coincide with probability (1-c)^N."""
    count, hidden = effort.count(1000), {60: _trapped("label"), 66: _trapped("feature")}
    same = {N: sum(_coincide(each, k) for k in range(count)) for N, each in hidden.items()}
    return both(*(near((1 - hidden[N].c) ** N, Share(same[N], count, SURE)) for N in same))


def _coincide(hidden: Trap, k: int) -> bool:
    drawn = [w.rows(np.random.default_rng(k), 60, 6) for w in (hidden.honest, hidden.world)]
    return all(map(np.array_equal, drawn[0].values(), drawn[1].values()))


def better_trap(effort: Effort) -> Found:  # c halved
    """B: (B.8), (B.9): alpha(1-c)^-N of the better trap, just beyond delta, is the ceiling."""
    cases = product((2, 7), (20, 33), (0, 1, 30), (0.0, 0.05))
    return every(_is_the_ceiling(*case) for case in cases)


def _is_the_ceiling(n: int, labeled: int, unlabeled: int, star: float) -> bool:
    world, said, bounds = worlds.memorising(n, star), [], []
    kinds: Any = {"label": labeled, "feature": labeled + unlabeled}
    for kind, exposed in kinds.items():
        hidden = trap(world, kind, epsilon=0.5, delta=0.1)
        said.append(1 - (1 - star) * (1 - hidden.c) ** (n + (kind == "feature")))
        bounds.append(0.05 * (1 - hidden.c) ** -exposed)
    most = theory.power_bound(n, labeled, unlabeled, delta=0.1, delta_star=star, alpha=0.05)
    barely = 0.1 < min(said) <= max(said) < 0.1 + 1e-5
    return barely and bool(most <= min(1.0, *bounds) <= most * (1 + 1e-3))


def binomial_on_the_trap(effort: Effort) -> Found:  # a trap that never springs
    """B: Binomial test on the label trap: its power on A times (1-c)^N_l."""
    hidden = trap(worlds.constant(5), epsilon=0.0, delta=0.3, c=0.1)
    found = effort.stable(_binomial(delta=0.3, alpha=0.1), hidden.world, (30, 6), 300, seed=6)
    return near(0.1 / 0.7**6 * 0.9**30, found)


# Appendix E: how the two fits share randomness, Theorem 5


def _uneven(p: float, q: float) -> World:
    """Predict 1 if xi < p on 5 rows, and if 1 - xi < q on fewer: no coupling makes them agree."""

    def fit(X: Any, y: Any, seed: int) -> Any:
        term, chance = (seed, p) if len(y) == 5 else (2**31 - 1 - seed, q)
        return everywhere(float(term < chance * 2**31))

    return World("uneven coin", fit, gaussian(), 5)


def _rotated(by: float) -> Coupling:
    return Coupling(f"rotated {by}", lambda w: (w[:, 0], w[:, 0] + np.uint64(by * 2**64)))


ANTITHETIC = Coupling("antithetic", lambda words: (words[:, 0], ~words[:, 0]))
COUPLINGS: tuple[Any, ...] = ("shared", "independent", ANTITHETIC, _rotated(0.25))


def three_notions(effort: Effort) -> Found:  # independent terms that are shared
    """E: (E.1) to (E.3), uneven coin: delta with shared, independent and antithetic terms."""
    found = [effort.moves(_uneven(0.5, 0.4), 0.5, 2000, 7, how) for how in COUPLINGS[:3]]
    return both(*map(near, (0.9, 0.5, 0.1), found))


def smallest(effort: Effort) -> Found:  # nothing is removed
    """E: No coupling of eight is below delta_cpl = .1."""
    couplings = [*COUPLINGS, *(_rotated(by) for by in (0.1, 0.5, 0.7, 0.9))]
    found = [effort.moves(_uneven(0.5, 0.4), 0.5, 1000, 8, how) for how in couplings]
    return every(share.interval[1] >= 0.1 for share in found)


def independent_size(effort: Effort) -> Found:  # the coupling is ignored
    """E: With independent terms the size is alpha in their own notion, at delta_indep = .42."""
    asked = {"epsilon": 0.5, "delta": 0.42, "alpha": 0.3}  # with shared terms delta* is .6
    test, world = _binomial(**asked, coupling="independent"), worlds.flipping(5, probability=0.3)
    return near(0.3, effort.stable(test, world, (60, 0), 400, seed=8))


def coupled_trap(effort: Effort) -> Found:  # a trap that never springs
    """E: Theorem 5: the coupled trap is not stable (delta = .3) under any of four couplings."""
    world = worlds.flipping(2, probability=0.1, height=1.5)
    hidden = trap(world, epsilon=0.5, delta=0.3, notion="coupled", a=0.3, c=0.6).world
    count = effort.count(150, 150)
    shares = (hidden.estimate_delta_star(0.5, count, 12, how, SURE) for how in COUPLINGS)
    return both(*(beyond(0.3, share) for share in shares))


def coupled_ceiling(effort: Effort) -> Found:  # the coupling is ignored
    """E: Theorem 5, (E.8): the coupled ceiling is attained with the best coupling."""
    test = _binomial(epsilon=0.5, delta=0.1, alpha=0.1, coupling=ANTITHETIC)
    found = effort.stable(test, _uneven(0.05, 0.03), (120, 0), 400, seed=13)
    return near(theory.power_bound(5, 100, 20, delta=0.1, delta_star=0.02, alpha=0.1), found)
