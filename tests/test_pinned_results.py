"""Results that must not change: written once, compared after every change of the code.

``python tests/test_pinned_results.py`` writes those of today again; do that only when a verdict
is meant to change, and say so in the changelog. Those from before the modules were moved into
their rooms are never written again: two rules have changed since then, and both can be asked for.

Every verdict and every count is compared exactly. So are changes, and the limits for ε that are
one of them, where only additions, divisions and comparisons in a fixed order lead to them (our
own algorithms, and labels): these give the same bits on every processor. Sums inside NumPy, BLAS
and scikit-learn do not, and their changes are compared to nine digits; p-values and limits for δ,
which rest on the exponential functions of the C library, to twelve.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

import poise
from poise.theory.early_stopping import Curtailment
from shared.older_files import as_then, mean

PINNED = Path(__file__).with_suffix(".json")
BEFORE_THE_MOVE = Path(__file__).with_name("pinned_results_before_the_move.json")

rng = np.random.default_rng(2024)
X = rng.normal(size=(900, 4))
# X @ [1, -2, 1/2, 0], in the order in which it was added up when the results were pinned.
y = (X[:, 0] + 0.5 * X[:, 2]) - 2.0 * X[:, 1] + rng.normal(size=900)
LABELS = np.where(y > 0, "high", "low")
EXTRA = rng.normal(size=(60, 4))
GROUPS = [f"patient {row // 3}" for row in range(900)]


def _noisy(X: Any, y: Any, seed: int) -> Any:
    shift = np.random.default_rng(seed).normal()
    [level] = mean(X, y, seed)(X[:1])
    return lambda rows: [level + shift / len(y)] * len(rows)


MEASURED: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "mean": (mean, y, {"n": 20}),
    "mean, rows in their order": (mean, y, {"n": 20, "shuffle": False}),
    "mean, extra points": (mean, y, {"n": 15, "X_unlabeled": EXTRA}),
    "mean, two removed": (mean, y, {"n": 20, "remove": 2}),
    "mean, replaced": (mean, y, {"n": 20, "replace": True}),
    "mean, groups": (mean, y, {"n": 10, "groups": GROUPS}),
    "noisy": (_noisy, y, {"n": 25}),
    "noisy, independent seeds": (_noisy, y, {"n": 25, "coupling": "independent"}),
    "loss": (mean, y, {"n": 20, "distance": poise.LossChange("squared")}),
    "ridge": (Ridge(), y, {"n": 20}),
    "ridge, fit by fit": (Ridge(), y, {"n": 20, "fast": False}),
    "least squares": (LinearRegression(), y, {"n": 20}),
    "scaled ridge": (make_pipeline(StandardScaler(), Ridge(0.1)), y, {"n": 18}),
    "neighbours": (KNeighborsRegressor(5), y, {"n": 20}),
    "tree": (DecisionTreeRegressor(max_depth=3), y, {"n": 30}),
    "labels": (KNeighborsClassifier(3), LABELS, {"n": 20}),
    "probabilities": (GaussianNB(), LABELS, {"n": 20, "response": "predict_proba"}),
}

# The changes of these are the same bits on every processor.
EXACT = [name for name, (algorithm, *_) in MEASURED.items() if algorithm in (mean, _noisy)]
EXACT += ["labels"]

JUDGED = [(0.05, 0.1, 0.05), (0.3, 0.2, 0.1), (0.0, 0.05, 0.05)]


def _limits(trials: poise.Trials) -> dict[str, Any]:
    results = [trials.test(epsilon=e, delta=d, alpha=a) for e, d, a in JUDGED]
    return {
        "verdicts": [result.verdict.value for result in results],
        "pvalues": [[result.pvalue, result.pvalue_unstable] for result in results],
        "delta_hat": [trials.delta_hat(epsilon=e, alpha=a) for e, _, a in JUDGED],
        "epsilon_hat": [str(trials.epsilon_hat(delta=d, alpha=a)) for _, d, a in JUDGED],
        "profile": [float(trials.profile(alpha=a).at(e)) for e, _, a in JUDGED],
    }


def measured(name: str, random_state: Any = 7) -> dict[str, Any]:
    """Return the changes of one case and what is said about them."""
    algorithm, response, settings = MEASURED[name]
    trials = poise.measure(algorithm, X, response, random_state=random_state, **settings)
    return {"changes": trials.changes.tolist(), **_limits(trials)}


def judged(name: str, random_state: Any = 7) -> dict[str, Any]:
    """Return the verdict of one case when it may stop early and toss the coin."""
    algorithm, response, settings = MEASURED[name]
    question = {"epsilon": 0.3, "delta": 0.2, "randomized": True, "test": "binomial"}
    question |= {"random_state": random_state, "progress": False}
    result = poise.stability_test(algorithm, X, response, **question, **settings)
    return {
        "verdict": result.verdict.value,
        "statistic": result.statistic,
        "n_fits": result.n_fits,
        "pvalue": result.pvalue,
        "acceptance_probability": result.acceptance_probability,
    }


COUNTED = ("verdict", "verdicts", "statistic", "n_fits")
CHANGES = ("changes", "epsilon_hat")


def assert_as_pinned(found: dict[str, Any], pinned: dict[str, Any], name: str) -> None:
    """Compare exactly what is the same on every processor, and the rest to its last digits."""
    assert found.keys() == pinned.keys()
    for key, value in pinned.items():
        if key in COUNTED:
            assert found[key] == value, key
            continue
        ours, theirs = (np.asarray(numbers, dtype=float) for numbers in (found[key], value))
        if key in CHANGES and name in EXACT:
            assert ours.tolist() == theirs.tolist(), key
        elif key in CHANGES:
            assert ours == pytest.approx(theirs, rel=1e-9, abs=1e-12), key
        else:
            assert ours == pytest.approx(theirs, rel=1e-12, abs=0), key


@pytest.mark.filterwarnings("ignore::poise.errors.PowerWarning")
@pytest.mark.parametrize("name", MEASURED)
@pytest.mark.parametrize("how", [measured, judged])
def test_results_are_those_of_earlier_versions(how: Any, name: str) -> None:
    pinned = json.loads(PINNED.read_text(encoding="utf-8"))[how.__name__][name]
    assert_as_pinned(how(name), pinned, name)


@pytest.mark.filterwarnings("ignore::poise.errors.PowerWarning")
@pytest.mark.parametrize("name", MEASURED)
@pytest.mark.parametrize("how", [measured, judged])
def test_results_are_those_before_the_move(
    how: Any, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same numbers, with the order of rows and the early stopping of that time."""
    pinned = json.loads(BEFORE_THE_MOVE.read_text(encoding="utf-8"))[how.__name__][name]
    # A run stopped as soon as its verdict was known, also where that saved next to nothing.
    monkeypatch.setattr(Curtailment, "worth_stopping", Curtailment.forced)
    assert_as_pinned(how(name, as_then(7)), pinned, name)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    results = {how.__name__: {name: how(name) for name in MEASURED} for how in (measured, judged)}
    PINNED.write_text(json.dumps(results, indent=0) + "\n", encoding="utf-8")
