"""Bounds on rounding errors: never below the error itself, and as large as they must be."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor

from poise.shortcuts.find_shortcut import find_shortcut
from poise.shortcuts.kernel_ridge import kernel_workspace
from poise.shortcuts.nearest_rows import Neighborhood
from poise.shortcuts.rounding_bounds import Estimate, sums_are_exact

EPS = float(np.finfo(np.float64).eps)
RNG = np.random.default_rng(0)
X, Y, AT = RNG.normal(size=(40, 12, 2)), RNG.normal(size=(40, 12)), RNG.normal(size=(40, 2))


def estimate(estimator, y=Y, rows=X, at=AT) -> Estimate:
    shortcut = find_shortcut(estimator)
    assert shortcut is not None
    return shortcut.estimate(rows, y, at)


def test_the_mean_response() -> None:
    found = estimate(DummyRegressor())
    exact = [sum(map(Fraction, row.tolist())) / 12 for row in Y]
    missed = np.array([abs(float(Fraction(v) - e)) for v, e in zip(found.full, exact, strict=True)])
    assert (missed <= found.error).all()
    # A sum rounds in proportion to what is added up, whatever cancels: 16 roundoffs of it.
    np.testing.assert_allclose(found.error, 16 * EPS * np.abs(Y).mean(axis=1), rtol=1e-12)
    whole = estimate(DummyRegressor(), np.round(100 * Y))
    assert (whole.error == 0).all()  # whole numbers add up exactly
    assert (estimate(DummyRegressor(strategy="median")).error == 0).all()  # picked, not computed


@pytest.mark.parametrize("k", [1, 3, 7])
def test_the_mean_of_the_nearest(k) -> None:
    found = estimate(KNeighborsRegressor(k))
    near = np.argsort(((X - AT[:, None]) ** 2).sum(axis=2), axis=1)[:, :k]
    responses = np.take_along_axis(Y, near, axis=1)
    exact = [sum(map(Fraction, row.tolist())) / k for row in responses]
    missed = np.array([abs(float(Fraction(v) - e)) for v, e in zip(found.full, exact, strict=True)])
    apart = found.full != found.reduced
    assert apart.any()
    assert not apart.all()
    assert (missed <= found.error).all()
    at_least = 16 * EPS * np.abs(responses).sum(axis=1)
    assert (found.error[apart] >= at_least[apart] * (1 - 1e-12)).all()
    assert (found.error[apart] <= 4 * at_least[apart].max()).all()


@pytest.mark.parametrize("make", [
    lambda: GaussianProcessRegressor(RBF(2.0), alpha=0.1, optimizer=None, normalize_y=True),
    lambda: Ridge(alpha=0.5),
    lambda: Ridge(alpha=0.5, solver="svd"),
], ids=["gaussian process", "ridge", "ridge by svd"])  # fmt: skip
@pytest.mark.parametrize("wide", [False, True])
def test_a_level_far_from_zero_is_paid_for(make, wide) -> None:
    """Responses near 10^6 are rounded at 10^6·eps, and no formula gets the digits back."""
    rng = np.random.default_rng(1)
    rows, at = (
        (rng.normal(size=(30, 12, 40)), rng.normal(size=(30, 40))) if wide else (X[:30], AT[:30])
    )
    near, far = (estimate(make(), Y[:30] + level, rows, at) for level in (0.0, 1e6))
    scale = np.maximum(np.abs(far.full), np.abs(far.reduced))
    assert (far.error >= 16 * EPS * 1e6).all()
    assert (far.error <= 1e5 * 16 * EPS * 1e6).all()
    assert (far.error > 100 * near.error).all()
    # Both compute the same function, but for the level, and differ by less than the bounds.
    assert (np.abs((far.full - 1e6) - near.full) <= far.error + near.error).all()
    assert (np.abs((far.reduced - 1e6) - near.reduced) <= far.error + near.error).all()
    assert (scale > 9e5).all()


def test_accuracy_is_relative_and_refuses_extreme_numbers() -> None:
    values = np.array([1.0, 1.0, 1e-150, 0.0, 1e150, 1.0, 1.0])
    errors = np.array([1e-9, 1.1e-9, 0.0, 0.0, 0.0, np.inf, np.nan])
    sure = Estimate(values, values / 2, errors).is_accurate
    assert sure.tolist() == [True, False, False, True, False, False, False]
    # The larger of the two predictions sets the scale.
    assert Estimate(np.array([1e-3]), np.array([1.0]), np.array([5e-10])).is_accurate.all()
    better = Estimate(values, values, errors).replaced(
        np.array([True] + [False] * 6),
        Estimate(*(np.array([number]) for number in (5.0, 6.0, 7.0))),
    )
    assert (better.full[0], better.reduced[0], better.error[0]) == (5.0, 6.0, 7.0)
    assert better.full[1:].tolist() == values[1:].tolist()


def test_which_sums_are_exact() -> None:
    whole = np.array([[1.0, 2.0, 3.0], [2.0**52, 2.0**52, 1.0], [0.5, 1.0, 1.0], [1e300, 1.0, 1.0]])
    assert sums_are_exact(whole).tolist() == [True, False, False, False]


def test_a_root_of_a_kernel_is_never_trusted() -> None:
    """Its derivative has no bound where an entry is near 0; a kernel to the power 1 is fine."""
    root, plain = (KernelRidge(kernel="poly", degree=d, coef0=50.0) for d in (0.5, 1.0))
    assert not estimate(root).is_accurate.any()
    assert estimate(plain).is_accurate.all()


@pytest.mark.parametrize("power", [1.0, 2.0, 3.0, np.inf])
@pytest.mark.parametrize("exact_zeros", [False, True])
def test_errors_of_coordinates_reach_distances_by_no_more_than_the_bound(
    power, exact_zeros
) -> None:
    noise, rng = 1e-4, np.random.default_rng(2)
    rows, at = rng.normal(size=(50, 12, 3)), rng.normal(size=(50, 3))
    rows[:, 0] = at  # a distance of 0, where the first derivative says nothing
    shaken = rows + noise * rng.choice([-1.0, 1.0], rows.shape)
    blurred = Neighborhood(3, power, False, exact_zeros, noise)
    sharp = Neighborhood(3, power, False, exact_zeros)
    before, after = (blurred.distances(some, at) for some in (rows, shaken))
    added = blurred.slack(before, at) - sharp.slack(before, at)
    assert (np.abs(after - before) <= 1.001 * added + 1e-12).all()
    assert (added <= 100 * np.maximum(noise, noise * before)).all()


def test_the_memory_of_a_kernel_is_that_of_its_arrays() -> None:
    n, d = 50, 5
    assert kernel_workspace(n, d) == 2 * np.zeros((n, n)).nbytes + 3 * np.zeros((n, d + 2)).nbytes
