"""Rows, trials and fits, in integers: floor a float, and a trial may be counted that is not there.

One formula serves every kind of trial. A trial takes ``n`` training rows, ``fresh`` more where
removed rows are replaced, and ``points`` test rows. Where rows come in groups, all of these count
groups. Where losses are compared, test rows need a response: then ``n_unlabeled`` is 0.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from fractions import Fraction

from poise import checks
from poise.errors import ArgumentError

COUNTED_EXACTLY = 2**53  # beyond, floats skip whole numbers
MOST_POINTS = 20  # of a trial, where nobody says: more hardly lower the spread of its share


def n_trials(n: int, n_labeled: int, n_unlabeled: int = 0) -> int:
    """Count the :func:`trials` of the paper: m = ⌊κ⌋ = min{ N_ℓ // n, (N_ℓ + N_u) // (n + 1) }.

    Examples
    --------
    >>> n_trials(n=100, n_labeled=1000), n_trials(n=100, n_labeled=1000, n_unlabeled=10)
    (9, 10)
    """
    return trials(n, n_labeled, n_unlabeled)


def trials(n: int, n_labeled: int, n_unlabeled: int = 0, points: int = 1, fresh: int = 0) -> int:
    """Count the independent trials with T test points each that the rows hold; 0 if none.

    m = min{ N_ℓ // (n + g), (N_ℓ + N_u) // (n + g + T) }, with g fresh rows for removed ones.

    Parameters
    ----------
    n : int, at least 2
        Training size whose stability is asked.
    n_labeled, n_unlabeled : int, at least 0
        Rows with and without a response.
    points, fresh : int
        Test points T of a trial, and rows that replace removed ones.

    Examples
    --------
    >>> trials(n=100, n_labeled=1000, n_unlabeled=200, points=20)
    10
    """
    return math.floor(kappa(n, n_labeled, n_unlabeled, points, fresh))


def kappa(
    n: int, n_labeled: int, n_unlabeled: int = 0, points: int = 1, fresh: int = 0
) -> Fraction:
    """Compute κ, the number of :func:`trials` before it is rounded down.

    κ = min{ N_ℓ / n, (N_ℓ + N_u) / (n + 1) } is the exponent of the ceiling on the power of every
    black-box test (Theorem 2).

    Examples
    --------
    >>> kappa(n=100, n_labeled=1000, n_unlabeled=5)
    Fraction(1005, 101)
    """
    size = checks.count("n", n, 2) + checks.count("fresh", fresh)
    labeled = checks.count("n_labeled", n_labeled)
    rows = labeled + checks.count("n_unlabeled", n_unlabeled)
    points = checks.count("points", points, 1)
    return min(Fraction(labeled, size), Fraction(rows, size + points))


def rows_for(count: int, n: int, n_unlabeled: int = 0, points: int = 1, fresh: int = 0) -> int:
    """Compute the fewest labelled rows that hold so many trials: the inverse of :func:`trials`.

    Examples
    --------
    >>> rows_for(29, n=100), rows_for(29, n=100, n_unlabeled=29)
    (2929, 2900)
    """
    count = checks.count("count", count)
    size = checks.count("n", n, 2) + checks.count("fresh", fresh)
    unlabeled = checks.count("n_unlabeled", n_unlabeled)
    return max(count * size, count * (size + checks.count("points", points, 1)) - unlabeled)


def size_for(
    count: int, n_labeled: int, n_unlabeled: int = 0, points: int = 1, fresh: int = 0
) -> int:
    """Compute the largest training size at which the rows hold so many :func:`trials`.

    It may be too small to train on: below 2, and even negative.

    Examples
    --------
    >>> size_for(29, n_labeled=1000), size_for(29, n_labeled=1000, n_unlabeled=29)
    (33, 34)
    """
    count, labeled = checks.count("count", count, 1), checks.count("n_labeled", n_labeled)
    rows = labeled + checks.count("n_unlabeled", n_unlabeled)
    by_points = rows // count - checks.count("points", points, 1)
    return min(labeled // count, by_points) - checks.count("fresh", fresh)


def spare_points(n: int, n_labeled: int, n_unlabeled: int = 0, fresh: int = 0) -> int:
    """Compute the most test points that a trial can have without costing a trial, at least 1.

    T = ⌊(N_ℓ + N_u − m(n + g)) / m⌋ with the m of T = 1; see :func:`trials`. Points cost no fits.

    Examples
    --------
    >>> spare_points(n=100, n_labeled=1000, n_unlabeled=200)
    20
    """
    m = trials(n, n_labeled, n_unlabeled, fresh=fresh)
    return int(n_labeled + n_unlabeled - m * (n + fresh)) // m if m else 1


def test_row(n: int, m: int, k: int, t: int) -> int:
    """Return the number of the row whose X is the t-th test point of trial k of m, all from 1.

    Row mn + (t − 1)m + k, labelled rows before unlabelled ones; no row serves two trials. ``n`` are
    the labelled rows of a trial.

    Examples
    --------
    >>> [test_row(n=100, m=10, k=3, t=t) for t in (1, 2)]
    [1003, 1013]
    """
    size, m = checks.count("n", n, 2), checks.count("m", m, 1)
    k, t = checks.count("k", k, 1), checks.count("t", t, 1)
    if k > m:
        raise ArgumentError(f"must be at most m = {m}", argument="k", got=k)
    return m * size + (t - 1) * m + k


test_row.__test__ = False  # type: ignore[attr-defined]  # no test, although its name begins so


def fits_per_trial(
    removals: int,
    pointwise_symmetric: bool = False,
    coupling: str = "shared",
    *,
    exchangeable_bags: bool = False,
) -> int:
    """Count the fits of a trial with R removals: R + 1 where one full fit serves all, else 2R.

    One full fit may serve all only if the pair (full fit, fit without row i) has the same law for
    every i. With "shared" randomness that needs pointwise symmetry, A[D; ξ] = A[D_σ; ξ] for the
    *same* ξ; the paper's symmetry in distribution would certify a forest with one seed falsely.
    With "independent" randomness symmetry in distribution is enough, and with "coupled" randomness
    either pointwise symmetry or reused bags that are exchangeable.

    Examples
    --------
    >>> fits_per_trial(7, pointwise_symmetric=True), fits_per_trial(7)
    (8, 14)
    """
    r = checks.count("removals", removals, 1)
    checks.choice("coupling", coupling, ("shared", "independent", "coupled"))
    symmetric = checks.flag("pointwise_symmetric", pointwise_symmetric)
    reused = checks.flag("exchangeable_bags", exchangeable_bags) and coupling == "coupled"
    return r + 1 if symmetric or reused or coupling == "independent" else 2 * r


def clean_trials(delta: float, alpha: float) -> float:
    """Compute m0, the fewest trials with which "stable" can be declared without a coin.

    The smallest m with (1 − δ)^m ≤ α, infinite for δ = 0: from there on, the Binomial test and the
    averaged test declare "stable" where no change exceeds ε.

    Examples
    --------
    >>> clean_trials(0.1, 0.05), clean_trials(0.05, 0.05), clean_trials(0.0, 0.05)
    (29, 59, inf)
    """
    from poise.theory.binomial import critical_count

    allowed, level = checks.delta(delta), checks.alpha(alpha)
    if allowed == 0:
        return math.inf
    m = math.log(level) / math.log1p(-allowed)
    if m > COUNTED_EXACTLY:
        return math.ceil(m) if math.isfinite(m) else math.inf
    if abs(m - round(m)) > 1e-9 * m:
        return math.ceil(m)
    near = max(1, math.ceil(m) - 1)  # the logarithms round: the test decides
    return next(m for m in range(near, near + 3) if critical_count(m, allowed, level) >= 0)


def trials_for_averaging(delta: float, alpha: float) -> float:
    """Compute the number of trials from which the averaged test is used without a coin.

    ⌈1.4·m0⌉, with the m0 of :func:`clean_trials`: from about there on the averaged test was
    measured to have more power than the Binomial test. Both are valid at every number of trials.

    Examples
    --------
    >>> trials_for_averaging(0.1, alpha=0.05)
    41
    """
    least = clean_trials(delta, alpha)
    return -(-7 * int(least) // 5) if math.isfinite(least) else math.inf


def trials_missing(
    n: int, n_labeled: int, n_unlabeled: int, missing: int, *, points: int = 1
) -> int:
    """Count the :func:`trials` if j of the n training rows of each may be unlabelled (Theorem G).

    m_j = min{ N_ℓ // (n − j), (N_ℓ + N_u) // (n + T) }, and (N_ℓ + N_u) // (n + T) for j = n.

    Examples
    --------
    >>> [trials_missing(10, 200, 600, missing=j) for j in (0, 2, 10)]
    [20, 25, 72]
    """
    size, j = checks.count("n", n, 2), checks.count("missing", missing)
    if j > size:
        raise ArgumentError(f"must be at most n = {size:,}", argument="missing", got=j)
    labeled = checks.count("n_labeled", n_labeled)
    rows = labeled + checks.count("n_unlabeled", n_unlabeled)
    by_points = rows // (size + checks.count("points", points, 1))
    return by_points if j == size else min(labeled // (size - j), by_points)


def first_beyond(low: int, holds: Callable[[int], object], high: int | None = None) -> int:
    """Find the smallest whole number beyond ``low``, at most ``high``, for which ``holds``.

    It must stay true from there on, and is not asked at ``high``.
    """
    width = 1
    while high is None:
        high = low + width if holds(low + width) else None
        width *= 2
        if low + width > 2 * COUNTED_EXACTLY:
            rule = "needs more trials than can be counted"
            raise ArgumentError(rule, argument="power", remedy="ask for less, or a larger delta")
    return bisect_left(range(high), True, lo=low + 1, key=lambda count: bool(holds(count)))
