"""How many random bags make an algorithm stable, and which bags to take.

Theorems K and L (:mod:`poise.theory.bagging`) are about the average over all bags. M random bags
add noise. By Theorem K that costs W²/M; by Theorem L each row pays for it by its own distance from
ε: with c(d) Chernoff's bound on the chance that a mean of M independent differences with mean d
reaches ε, and r_j the bound on the j-th largest change, δ = (1/n) Σ_j min{1, c(r_j) + c(0)}.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np

from poise import checks
from poise.errors import ArgumentError
from poise.numbers import at_most, exactly, without_noise
from poise.theory.bagging import EXACT_UP_TO, checked_bag, largest, reach
from poise.theory.binomial_law import NOISE, Floats, ceiling

_MOST_BAGS = 2**60
# The default bag is the largest for which so many times the fewest bags are enough: up to there
# the bag grows faster than the price, beyond it a tenth more rows can cost twice the fits.
_USUAL_MULTIPLE = 4


def bags_needed(
    n: int, b: int, eps: float, delta: float, width: float = 1.0, coupled: bool = False
) -> int:
    """Compute how many random bags keep subbagging (ε, δ)-stable (Theorem K); 0 if none are enough.

    ⌈1/(δε²/W² − p/(4(n − 1)(1 − p)))⌉: with M bags, drawn again for n − 1 rows with any dependence,
    W²/M is added to Theorem K's bound on the mean squared change. It is pW²/M if bags without the
    removed row are kept (``coupled``); the guarantee is then for fits that share ξ. The other
    parameters are those of :func:`bag_delta`.

    Examples
    --------
    >>> bags_needed(145, 56, 0.2, 0.05), bags_needed(145, 120, 0.2, 0.05)
    (1102, 0)
    """
    rows, size = (int(count) for count in checked_bag(n, b))
    # With the decimals as they are written: the difference loses digits in doubles.
    decimals = checks.epsilon(eps, "eps"), checks.positive("width", width), checks.delta(delta)
    tolerated, breadth, allowed = (Fraction(repr(each)) for each in decimals)
    given = allowed * (tolerated / breadth) ** 2
    spare = given - Fraction(size, 4 * (rows - 1) * (rows - size))
    share = size / rows if checks.flag("coupled", coupled) else 1.0
    return int(ceiling(share / float(spare))) if spare > given * Fraction(NOISE) else 0


class BagChoice(NamedTuple):
    """A bag size and a number of bags that are (ε, δ)-stable for every distribution.

    A removal changes a prediction by more than ``epsilon`` with probability at most ``delta``. Base
    fits lie in a range of this ``width``, 2√(1 − 1/L) for L class probabilities. The number of bags
    rests on ``theorem`` "K" or "L"; if ``coupled``, the guarantee is for fits that share ξ.
    """

    n: int
    bag_size: int
    n_bags: int
    epsilon: float
    delta: float
    width: float
    theorem: str
    coupled: bool


def choose_bags(
    n: int,
    *,
    epsilon: float,
    delta: float,
    width: float = 1.0,
    n_classes: int | None = None,
    bag_size: int | None = None,
    n_bags: int | None = None,
    coupled: bool = False,
) -> BagChoice:
    """Choose bags that make any base algorithm (ε, δ)-stable for every distribution.

    Theorem L with Chernoff's inequality counts the bags, or Theorem K where that needs fewer. With
    ``bag_size`` the answer has the fewest bags that are enough, with ``n_bags`` the largest bag;
    with neither, the largest bag for which four times the fewest bags are enough. An error says
    what would be possible. Small bags may fit badly.

    Parameters
    ----------
    n : int, at least 2
        Training rows.
    epsilon : float, positive
        Allowed change; for classes, Euclidean distance of the probabilities.
    delta : float in (0, 1)
        Allowed probability of a larger change.
    width : float, positive
        Width of the range of the base fits, in the units of ``epsilon``.
    n_classes : int, optional
        Number of classes, if base fits are class probabilities; ``width`` is then ignored.
    bag_size, n_bags : int, optional
        Fixed beforehand.
    coupled : bool
        As in :func:`bags_needed`.

    Examples
    --------
    >>> choice = choose_bags(200, epsilon=0.1, delta=0.1)
    >>> choice.bag_size, choice.n_bags, choice.theorem
    (74, 2438, 'L')
    >>> choose_bags(200, epsilon=0.1, delta=0.1, n_bags=1000).bag_size
    31
    """
    rows, tolerated = checks.count("n", n, 2), checks.positive("epsilon", epsilon)
    allowed, paired = checks.alpha(delta, "delta"), checks.flag("coupled", coupled)
    numbers = n_classes is None or n_classes == 2  # two classes are one number
    breadth = checks.positive("width", width)
    if n_classes is not None:
        breadth = 2 * math.sqrt(1 - 1 / checks.count("n_classes", n_classes, 2))
    asked = partial(_fewest, rows, tolerated, allowed, breadth, numbers)
    size = 1 if bag_size is None else int(checked_bag(rows, bag_size, "bag_size")[1])
    fewest, _ = asked(size, paired)
    if not fewest:
        raise _impossible(rows, size, tolerated, allowed, breadth, numbers)
    most = fewest if n_bags is None else checks.count("n_bags", n_bags, 1)
    if most < fewest:
        rule = f"must be at least {fewest:,} for bags of {checks.counted(size, 'row')}"
        raise ArgumentError(rule, argument="n_bags", got=n_bags)
    if bag_size is None:  # a bag chosen by default does not depend on the coupling
        usual = _USUAL_MULTIPLE * asked(1, False)[0]
        kind, limit = (False, usual) if n_bags is None else (paired, most)
        size = largest(rows - 1, lambda b: 0 < asked(b, kind)[0] <= limit)
    fewest, theorem = asked(size, paired)
    bags = fewest if n_bags is None else most
    return BagChoice(rows, size, bags, tolerated, allowed, breadth, theorem, paired)


@lru_cache(maxsize=1024)
def _fewest(
    n: int, eps: float, delta: float, width: float, numbers: bool, b: int, coupled: bool
) -> tuple[int, str]:
    """Count the bags that are enough, and name the theorem; 0 if none."""
    found = [(bags_needed(n, b, eps, delta, width, coupled), "K")]
    if numbers:
        by_chernoff = _needed_by_chernoff(n, b, eps / width, delta, b / n if coupled else 1.0)
        found.append((by_chernoff, "L" if n <= EXACT_UP_TO else "K"))
    return min((pair for pair in found if pair[0]), default=(0, "K"))


def _needed_by_chernoff(n: int, b: int, relative: float, delta: float, share: float) -> int:
    """Count the bags M with (1/n) Σ_j min{1, c(r_j) + c(0)} ≤ δ.

    r_j bounds the j-th largest change with all bags (Theorem L), and c(d) is Chernoff's bound on
    the chance that a mean of M independent differences with mean d reaches ε. The two bags of a
    pair may depend on each other in any way and differ with probability ``share`` at most.
    """
    blocks = _blocks(n, b, delta)

    def too_few(n_bags: int) -> bool:
        # A sum that equals δ up to rounding may be above it.
        return _chance(n, n_bags, relative, share, *blocks) > delta * (1 - NOISE)

    return 0 if too_few(_MOST_BAGS) else largest(_MOST_BAGS, too_few) + 1


def _blocks(n: int, b: int, delta: float) -> tuple[Floats, Floats]:
    """Divide 1 … n into blocks; return their sizes and the largest change in each."""
    at = max(1, int(ceiling(delta * n)))
    to = min(max(3 * at, 32), n)  # beyond, Theorem L is costly
    parts = np.linspace(1, at, 32), np.geomspace(at, to, 12), np.geomspace(to, n, 12)
    starts = np.unique(np.concatenate(parts).round())
    moved = [_ranked_change(n, b, int(j), exact=j <= to) for j in starts]
    return np.diff(np.append(starts, n + 1)), np.minimum.accumulate(moved)


def _ranked_change(n: int, b: int, j: int, exact: bool = True) -> float:
    """Bound the j-th largest change with all bags, as a share of the width."""
    if exact and n <= EXACT_UP_TO:
        return reach(n, b, j)
    by_k = math.sqrt(b * n / (4 * (n - 1) * (n - b) * j))
    return min(by_k, b / n)  # no removal moves more than the share of the bags that hold the row


@np.errstate(under="ignore")
def _chance(
    n: int, n_bags: int, relative: float, share: float, sizes: Floats, moved: Floats
) -> float:
    each, still = (_crosses(n_bags, relative, share, d) for d in (moved, np.zeros(1)))
    return float(sizes @ np.minimum(1.0, each + still) / n)


@np.errstate(under="ignore")
def _crosses(n_bags: int, relative: float, share: float, moved: Floats) -> Floats:
    """Bound the probability that a mean of differences with mean ``moved`` reaches ε.

    For W = 1 and a, b = (p ± d)/2, E exp(λX) ≤ 1 − p + a exp(λ) + b exp(−λ) by convexity, p being
    the chance that the bags differ; the best λ solves a quadratic equation.
    """
    e, p = min(relative, 1.0), share
    d = np.minimum(moved, e)
    a, b = (p + d) / 2, (p - d) / 2
    if e == 1.0:  # all differences must be 1
        return np.asarray(np.exp(n_bags * np.log(a)))
    root = np.sqrt((e * (1 - p)) ** 2 + 4 * a * b * (1 - e * e))
    s = np.maximum((e * (1 - p) + root) / (2 * a * (1 - e)), 1.0)
    exponent = e * np.log(s) - np.log1p(a * (s - 1) + b * (1 / s - 1))
    return np.asarray(np.exp(-n_bags * np.maximum(exponent, 0.0)))


def _impossible(
    n: int, b: int, eps: float, delta: float, width: float, numbers: bool
) -> ArgumentError:
    """Say which ε would be possible."""
    least = width * math.sqrt(b / (4 * (n - 1) * (n - b)) / delta)
    if numbers:
        least = min(least, width * _ranked_change(n, b, max(1, int(ceiling(delta * n)))))
    asked = f"({exactly(eps)}, {exactly(delta)})-stable on {checks.counted(n, 'row')}"
    smaller = "bags of fewer rows" if b > 1 else "more rows"
    return ArgumentError(
        f"no bags of {checks.counted(b, 'row')} make an algorithm {asked}",
        remedy=f"try epsilon above {at_most(without_noise(least))}, or {smaller}",
    )
