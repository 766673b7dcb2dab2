"""Symmetry in the rows: what the check finds, and what the wrapper repairs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import BaggingRegressor
from sklearn.linear_model import Ridge, SGDRegressor
from sklearn.tree import DecisionTreeClassifier, ExtraTreeRegressor

from poise.errors import ArgumentError
from poise.notions import Symmetrized, check_symmetry
from poise.protocol.randomness import Randomness


def data(n: int = 48) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(7)
    X = rng.normal(size=(n, 2))
    return X, X @ [1.0, 2.0] + rng.normal(size=n)


def last_response(X: Any, y: Any, seed: int) -> Any:
    return lambda rows: np.full(len(rows), y[-1])


def one_random_response(X: Any, y: Any, seed: int) -> Any:
    chosen = y[np.random.default_rng(seed).integers(len(y))]
    return lambda rows: np.full(len(rows), chosen)


def usually_an_early_response(X: Any, y: Any, seed: int) -> Any:
    chosen = y[min(np.random.default_rng(seed).geometric(0.6), len(y)) - 1]
    return lambda rows: np.full(len(rows), chosen)


def first_label(X: Any, y: Any, seed: int) -> Any:
    return lambda rows: np.full(len(rows), "up" if y[0] > y[-1] else "down")


def global_generator(X: Any, y: Any, seed: int) -> Any:
    shift = np.random.rand()  # noqa: NPY002 - algorithms do this
    return lambda rows: np.full(len(rows), y.mean() + shift)


@pytest.mark.parametrize(
    ("algorithm", "finding"),
    [
        (Ridge(), "exact"),
        (DecisionTreeClassifier(random_state=0), "exact"),
        (global_generator, "exact"),
        (one_random_response, "in distribution"),
        (ExtraTreeRegressor(), "exact"),
        (BaggingRegressor(Ridge(), 1), "in distribution"),
        (last_response, "not symmetric"),
        (usually_an_early_response, "not symmetric"),
        (first_label, "not symmetric"),
        (SGDRegressor(max_iter=1, tol=None, shuffle=False), "not symmetric"),
        (Symmetrized(last_response), "in distribution"),
        (Symmetrized(usually_an_early_response), "in distribution"),
        (Symmetrized(SGDRegressor(max_iter=1, tol=None, shuffle=False)), "in distribution"),
    ],
    ids=lambda value: value if isinstance(value, str) else getattr(value, "__name__", None),
)
def test_findings(algorithm: Any, finding: str) -> None:
    X, y = data()
    if isinstance(algorithm, DecisionTreeClassifier):
        y = y > 0
    reports = [check_symmetry(algorithm, X, y, level=0.01, random_state=seed) for seed in range(3)]
    findings = {report.finding for report in reports}
    if finding == "in distribution":
        # Each report may be wrong with probability 0.01: all three, with 1e-6.
        assert findings & {finding}
        assert "exact" not in findings
    else:
        assert findings == {finding}
    for report in reports:
        assert report.symmetric == (report.finding != "not symmetric")
        assert (report.pvalue <= 0.01) == (not report.symmetric)
        assert report.pvalue > 0  # a rank among finitely many relabellings is never zero
        assert (report.largest_change == 0) == (report.finding == "exact")
        assert ("Symmetrized" in report.summary()) == (not report.symmetric)


def test_the_check_holds_its_level() -> None:
    X, y = data(12)
    level, repetitions = 0.2, 300
    alarms = sum(
        not check_symmetry(
            one_random_response, X, y, n_draws=8, level=level, random_state=seed
        ).symmetric
        for seed in range(repetitions)
    )
    # Binomial(300, 0.2) exceeds 98 with probability below 1e-6.
    assert alarms <= 98
    assert alarms > 0  # the test is not a constant


def test_two_orders_are_paid_for(monkeypatch: pytest.MonkeyPatch) -> None:
    # Two tests are made, so the smaller of their p-values counts twice.
    values = iter([0.03, 0.6])
    monkeypatch.setattr(
        "poise.questions.check.symmetry._permutation_pvalue", lambda *arguments: next(values)
    )
    X, y = data()
    report = check_symmetry(one_random_response, X, y, level=0.05, random_state=0)
    assert (report.pvalue, report.finding) == (0.06, "in distribution")


def test_fits_are_counted() -> None:
    X, y = data()
    assert check_symmetry(Ridge(), X, y, random_state=0).n_fits == 3
    assert check_symmetry(last_response, X, y, n_draws=10, random_state=0).n_fits == 3 + 30


def test_bad_arguments_are_refused() -> None:
    X, y = data()
    with pytest.raises(ArgumentError, match="n_draws must be a whole number >= 8, got 3"):
        check_symmetry(Ridge(), X, y, n_draws=3)
    with pytest.raises(ArgumentError, match="same number of rows, at least 4, got 48 and 47"):
        check_symmetry(Ridge(), X, y[:-1])
    with pytest.raises(ArgumentError, match="level"):
        check_symmetry(Ridge(), X, y, level=0.0)


def row_order(X: Any, y: Any, seed: int) -> Any:
    order = np.asarray(y).copy()
    return lambda rows: order


def test_orders_are_coupled_and_uniform() -> None:
    rows, ids = np.zeros((5, 1)), np.arange(5)
    shuffled = Symmetrized(row_order)
    orders = []
    for xi in Randomness(0).block("xi", 0, 3000)[:, 0]:
        full = shuffled.fit(rows, ids, int(xi))(rows)
        reduced = shuffled.fit(rows[:4], ids[:4], int(xi))(rows)
        # The reduced fit sees the full order with the last row left out.
        assert np.array_equal(reduced, full[full != 4])
        orders.append(full)
    place = np.bincount(np.argmax(np.stack(orders) == 4, axis=1), minlength=5)
    # Each count is Binomial(3000, 1/5); z beyond 6 has probability 2e-9.
    assert (np.abs(place - 600) < 6 * np.sqrt(3000 * 0.2 * 0.8)).all()


def test_the_wrapped_algorithm_gets_a_random_term_that_does_not_tell_the_order() -> None:
    terms = []

    def note_the_seed(X: Any, y: Any, seed: int) -> Any:
        terms.append(seed)
        return lambda rows: np.zeros(len(rows))

    wrapped = Symmetrized(note_the_seed)
    for xi in (1, 1, 2):
        wrapped.fit(np.zeros((3, 1)), np.zeros(3), xi)
    assert terms[0] == terms[1] != terms[2]


def test_the_wrapper_keeps_models_and_names() -> None:
    X, y = data()
    wrapped = Symmetrized(Ridge(alpha=0.5))
    assert wrapped.name == "symmetrized Ridge(alpha=0.5)"
    assert wrapped.model(wrapped.fit(X, y, 0)).coef_.shape == (2,)
