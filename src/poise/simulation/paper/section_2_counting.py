"""Section 2: how many independent trials the data hold, and what a test costs."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np

from poise import theory
from poise.procedures import BinomialTest
from poise.procedures.split_of_rows import Split
from poise.protocol.randomness import Randomness, Shared
from poise.questions.run import run
from poise.simulation.paper.claim import Claim, equal, holds
from poise.simulation.worlds import zoo

__all__ = ["claims"]

_SIZES = list(product(range(2, 9), range(60), range(12)))  # (n, N_l, N_u)


def claims() -> list[Claim]:
    """Check the number of trials, the split and the number of calls."""
    return [_largest(), _no_row_twice(), _limited_by_labels(), _no_unlabeled(), *_two_calls()]


def _most_sets(n: int, labeled: int, unlabeled: int) -> int:
    """Count disjoint sets of n labelled rows and a point, by handing rows out set by set."""
    sets = 0
    while labeled >= n and (labeled - n) + unlabeled >= 1:
        labeled -= n
        # A point comes from the unlabelled rows while they last.
        labeled, unlabeled = (labeled, unlabeled - 1) if unlabeled else (labeled - 1, 0)
        sets += 1
    return sets


def _largest() -> Claim:
    wrong = sum(theory.n_trials(*size) != _most_sets(*size) for size in _SIZES)
    text = "floor(kappa) is the largest number of disjoint sets of n labelled rows and a point"
    return holds("2.3, Example 1", text, len(_SIZES), wrong)


def _no_row_twice() -> Claim:
    wrong = 0
    for n, labeled, unlabeled in _SIZES:
        m = theory.n_trials(n, labeled, unlabeled)
        split = Split(n, m, labeled, unlabeled, Randomness(1), Shared())
        used = [row for k in range(m) for row in _rows_of(split, k)]
        wrong += len(set(used)) != m * (n + 1)
    return holds("2.3, Example 1", "the trials share no row", len(_SIZES), wrong)


def _rows_of(split: Split, trial: int) -> list[int]:
    rows = np.asarray(split[trial].full.train)
    return [*rows.tolist(), split.test_row(trial)]


def _limited_by_labels() -> Claim:
    wrong = sum(
        (theory.kappa(n, labeled, unlabeled) == Fraction(labeled, n))
        != (unlabeled >= Fraction(labeled, n))
        for n, labeled, unlabeled in _SIZES
    )
    return holds("2.3", "kappa = N_l/n if and only if N_u >= N_l/n", len(_SIZES), wrong)


def _no_unlabeled() -> Claim:
    sizes = [(n, labeled) for n, labeled, unlabeled in _SIZES if unlabeled == 0]
    wrong = sum(theory.kappa(n, labeled) != Fraction(labeled, n + 1) for n, labeled in sizes)
    return holds("2.3", "N_u = 0 gives kappa = N_l/(n+1)", len(sizes), wrong)


def _two_calls() -> list[Claim]:
    rng = np.random.default_rng(0)
    rows = []
    for labeled, unlabeled, m in ((60, 0, 10), (5, 1, 1)):
        sample = zoo.constant(n=5).draw(rng, labeled, unlabeled)
        test = BinomialTest(n=5, epsilon=0.0, delta=0.5, stop_early=False)
        points = None if sample.X_unlabeled is None else sample.X_unlabeled.native
        ran = run(
            test, zoo.constant(n=5).algorithm, sample.X.native, sample.y.native, X_unlabeled=points
        )
        text = f"the Binomial test makes 2 floor(kappa) calls (N_l = {labeled}, N_u = {unlabeled})"
        rows.append(equal("3.1", text, 2 * m, ran.counts.calls))
    best = theory.power_bound(5, 5, 1, delta=0.1, alpha=0.1)
    text = "N_l = n, N_u = 1: power at most alpha/(1-delta), alpha = delta = .1"
    return [*rows, equal("3.2.1", text, 0.1 / 0.9, best)]
