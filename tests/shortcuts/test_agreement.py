"""Formulas against fits, on rows and responses that are hard for them."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
import sklearn
from sklearn.linear_model import LinearRegression, Ridge, RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from poise.shortcuts import family_of
from poise.shortcuts.blocks import AGREEMENT, Shortcut

KINDS = (
    *("plain", "unequal scales", "far from 0", "collinear", "duplicated", "discrete", "far points"),
    *("a far row", "a constant column", "a nearly constant column", "huge"),
)


def spoil(kind, rng, X, points):
    """Make rows hard for formulas, in place."""
    d, both = X.shape[2], (X, points)
    match kind:
        case "unequal scales":
            scales = 10.0 ** rng.uniform(-5, 5, size=d)
            for rows in both:
                rows *= scales
        case "far from 0":
            shift = 10.0 ** rng.uniform(0, 6, size=d)
            for rows in both:
                rows += shift
        case "collinear":
            weights, noise = rng.normal(size=d - 1), 10.0 ** rng.uniform(-9, -1)
            for rows in both:
                rows[..., -1] = rows[..., :-1] @ weights + noise * rows[..., -1]
        case "duplicated":
            X[..., -1], points[..., -1] = X[..., 0], points[..., 0]
            X[:, 0] = X[:, -1]
            points[0] = X[0, 1]
        case "discrete":
            for rows in both:
                np.rint(rows, out=rows)
        case "far points":
            points *= 10.0 ** rng.uniform(0, 8)
        case "a far row":
            X[:, -1] *= 10.0 ** rng.uniform(0, 8)
        case "a constant column":
            X[..., 0] = rng.choice([0.0, 1 / 3, 1e8])
        case "a nearly constant column":  # and points far from it
            X[..., 0] = 1.0 + 10.0 ** rng.uniform(-16, -6) * X[..., 0]
        case "huge":  # squares overflow, or vanish
            X *= 10.0 ** rng.choice([-200, -160, 150, 200])


RESPONSES = (
    lambda rng, X: X @ rng.normal(size=X.shape[2]) + rng.normal(size=X.shape[:2]),
    lambda rng, X: 1e6 + rng.normal(size=X.shape[:2]),
    lambda rng, X: np.full(X.shape[:2], rng.choice([0.0, 1 / 3, -1e6])),
    lambda rng, X: rng.choice([-1.0, 1.0], size=X.shape[:2]),
    lambda rng, X: np.rint(5 * rng.normal(size=X.shape[:2])),
    lambda rng, X: np.eye(X.shape[1])[rng.integers(X.shape[1], size=len(X))],
)
ESTIMATORS = {
    "ridge": lambda a, k: Ridge(alpha=a),
    "ridge without intercept": lambda a, k: Ridge(alpha=a, fit_intercept=False),
    "least squares": lambda a, k: LinearRegression(),
    "least squares without intercept": lambda a, k: LinearRegression(fit_intercept=False),
    "neighbours": lambda a, k: KNeighborsRegressor(k),
    "ridge classes": lambda a, k: RidgeClassifier(alpha=a),
    "neighbour classes": lambda a, k: KNeighborsClassifier(k),
}


def fits(estimator, X, y, points):
    """Full predictions, and those without each row, the last row first."""
    n = len(X)
    kept = [np.arange(n), *(np.delete(np.arange(n), n - 1 - j) for j in range(n))]
    with sklearn.config_context(skip_parameter_validation=True):
        found = np.array([estimator.fit(X[rows], y[rows]).predict(points) for rows in kept])
    return found[0], found[1:]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("scaled", [False, True], ids=["", "scaled"])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_trusted_changes_are_those_of_fits_within_their_bound(name, scaled):
    trusted, nothing_changed, easy = 0, 0, []
    for seed in range(66):
        rng = np.random.default_rng([seed, 20261119])
        n, d = int(rng.integers(5, 20)), int(rng.integers(2, 30 if seed % 4 == 0 else 8))
        X, points = rng.normal(size=(2, n, d)), rng.normal(size=(2, 2, d))
        kind = KINDS[seed % len(KINDS)]
        with np.errstate(all="ignore"):
            spoil(kind, rng, X, points)
            y = RESPONSES[rng.integers(len(RESPONSES))](rng, X)
        classes = int(rng.integers(2, 5)) if name.endswith("classes") else 0
        if classes:
            y = rng.integers(0, classes, size=(2, n)).astype(float)
        estimator = ESTIMATORS[name](10.0 ** rng.uniform(-6, 3), int(rng.integers(1, 4)))
        estimator = make_pipeline(StandardScaler(), estimator) if scaled else estimator
        family = family_of(estimator, n, d, classes)
        if family is None:
            assert isinstance(estimator, LinearRegression) or scaled
            continue
        with np.errstate(all="ignore"):
            full, _, slack, _ = cells = family.cells(X, y, points, n)
            changes, doubtful = Shortcut(family, X[0], y[0], None, None, n)._judged(cells, y)
        slack = np.broadcast_to(slack, changes.shape)
        easy += [not doubt for doubt in doubtful] if kind == "plain" and np.ptp(y) > 0 else []
        for t in np.flatnonzero(~doubtful):
            before, after = fits(estimator, X[t], y[t], points[t])
            trusted += after.size
            if classes:
                assert (full[t] == before).all()
                assert ((before != after) == changes[t]).all()
                continue
            expected = np.abs(before - after)
            error = np.abs(changes[t] - expected)
            size = np.maximum(np.sqrt((y[t] ** 2).mean()), np.abs(before))
            assert (error <= slack[t]).all(), (seed, kind)
            assert (error <= AGREEMENT * size).all()
            assert ((expected == 0) == (changes[t] == 0)).all()
            nothing_changed += (expected == 0).sum()
    assert trusted > 500
    assert np.mean(easy) > 0.8  # a bound that is infinite would pass all of the above
    assert nothing_changed > 100 or name != "neighbours"


@pytest.mark.parametrize("shape", [(12, 3), (6, 20)], ids=["narrow", "wide"])
def test_ridge_is_right_to_the_digits_that_its_bound_promises(shape):
    """Against arithmetic with 60 digits, which no estimator has."""
    (n, d), rng = shape, np.random.default_rng(1)
    X, y, point = rng.normal(size=shape) + 5, rng.normal(size=n), rng.normal(size=d)
    cells = family_of(Ridge(alpha=0.3), n, d).cells(X[None], y[None], point[None, None], n)
    mpmath.mp.dps = 60

    def predicted(rows):
        A, b = mpmath.matrix(X[rows].tolist()), mpmath.matrix(y[rows].tolist())
        ones = mpmath.ones(1, len(rows)) / len(rows)
        mean, level = ones * A, (ones * b)[0]
        centred = A - mpmath.ones(len(rows), 1) * mean
        system = centred.T * centred + mpmath.mpf(0.3) * mpmath.eye(d)
        weights = mpmath.lu_solve(system, centred.T * b)
        return level + ((mpmath.matrix([point.tolist()]) - mean) * weights)[0]

    before = predicted(list(range(n)))
    for j in range(n):
        after = predicted([row for row in range(n) if row != n - 1 - j])
        change = float(abs(before - after))
        mine = abs(cells.reduced[0, j, 0] - cells.full[0, 0])
        assert abs(mine - change) <= np.broadcast_to(cells.slack, (1, n, 1))[0, j, 0] < 1e-9


@pytest.mark.parametrize(("n", "d", "classes"), [(12, 4, 0), (8, 20, 0), (12, 4, 3)])
def test_the_bits_of_a_trial_do_not_depend_on_its_company(n, d, classes):
    rng = np.random.default_rng(3)
    X, points, y = rng.normal(size=(7 * n, d)), rng.normal(size=(14, d)), rng.normal(size=7 * n)
    kinds = Ridge(), LinearRegression(), KNeighborsRegressor(3)
    if classes:
        y = rng.integers(0, classes, size=7 * n).astype(float)
        kinds = RidgeClassifier(), KNeighborsClassifier(3)
    rows, tested = rng.permutation(7 * n).reshape(7, n), 7 * n + np.arange(14).reshape(7, 2)
    for estimator in (*kinds, *(make_pipeline(StandardScaler(), each) for each in kinds)):
        family = family_of(estimator, n, d, classes)
        for removals, some in ((1, tested), (n, tested), (1, tested[:, :1])) if family else ():
            shortcut = Shortcut(family, X, y, points, None, removals)
            together = shortcut.table(rows, some)
            for k in range(7):
                alone = shortcut.table(rows[k : k + 1], some[k : k + 1])
                for one, other in zip(together, alone, strict=True):
                    assert np.array_equal(one[k : k + 1], other, equal_nan=True)


def test_ties_are_left_to_fits():
    X = np.array([[0.0], [1.0], [-1.0], [3.0], [7.0]])
    y = np.array([1.0, 2.0, 4.0, 8.0, 16.0])
    # the second and third row are equally far from 0; from .1 they are not
    for point, k, doubt in ((0.0, 2, True), (0.1, 2, False), (0.0, 3, False), (0.1, 3, False)):
        family = family_of(KNeighborsRegressor(k), 5, 1)
        cells = family.cells(X[None], y[None], np.array([[[point]]]), 5)
        changes, doubtful = Shortcut(family, X, y, None, None, 5)._judged(cells, y[None])
        assert doubtful[0] == doubt
        if not doubt and k == 2:  # 1 and 2 give 1.5; without 2: 1 and 4; without 1: 2 and 4
            assert changes[0, :, 0].tolist() == [0, 0, 0, 1.0, 1.5]
    for responses, sure in ((y, True), (y / 3, False)):  # sums in another order may differ
        cells = family_of(KNeighborsRegressor(3), 5, 1).cells(
            X[None], responses[None], X[None, :1], 5
        )
        assert cells.exact.tolist() == [[sure]]
