"""Results that must not change: written once, compared after every change of the code.

``python tests/test_pinned_results.py`` writes them again; do that only when a verdict is
meant to change, and say so in the changelog.
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

PINNED = Path(__file__).with_suffix(".json")

rng = np.random.default_rng(2024)
X = rng.normal(size=(900, 4))
y = X @ [1.0, -2.0, 0.5, 0.0] + rng.normal(size=900)
LABELS = np.where(y > 0, "high", "low")
EXTRA = rng.normal(size=(60, 4))
GROUPS = [f"patient {row // 3}" for row in range(900)]


def _mean(X: Any, y: Any, seed: int) -> Any:
    level = sum(float(value) for value in y) / len(y)
    return lambda rows: [level] * len(rows)


def _noisy(X: Any, y: Any, seed: int) -> Any:
    shift = np.random.default_rng(seed).normal()
    level = sum(float(value) for value in y) / len(y)
    return lambda rows: [level + shift / len(y)] * len(rows)


MEASURED: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "mean": (_mean, y, {"n": 20}),
    "mean, rows in their order": (_mean, y, {"n": 20, "shuffle": False}),
    "mean, extra points": (_mean, y, {"n": 15, "X_unlabeled": EXTRA}),
    "mean, two removed": (_mean, y, {"n": 20, "remove": 2}),
    "mean, replaced": (_mean, y, {"n": 20, "replace": True}),
    "mean, groups": (_mean, y, {"n": 10, "groups": GROUPS}),
    "noisy": (_noisy, y, {"n": 25}),
    "noisy, independent seeds": (_noisy, y, {"n": 25, "coupling": "independent"}),
    "loss": (_mean, y, {"n": 20, "distance": poise.LossChange("squared")}),
    "ridge": (Ridge(), y, {"n": 20}),
    "ridge, fit by fit": (Ridge(), y, {"n": 20, "fast": False}),
    "least squares": (LinearRegression(), y, {"n": 20}),
    "scaled ridge": (make_pipeline(StandardScaler(), Ridge(0.1)), y, {"n": 18}),
    "neighbours": (KNeighborsRegressor(5), y, {"n": 20}),
    "tree": (DecisionTreeRegressor(max_depth=3), y, {"n": 30}),
    "labels": (KNeighborsClassifier(3), LABELS, {"n": 20}),
    "probabilities": (GaussianNB(), LABELS, {"n": 20, "response": "predict_proba"}),
}

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


def measured(name: str) -> dict[str, Any]:
    """Return the changes of one case and what is said about them."""
    algorithm, response, settings = MEASURED[name]
    trials = poise.measure(algorithm, X, response, random_state=7, **settings)
    return {"changes": trials.changes.tolist(), **_limits(trials)}


def judged(name: str) -> dict[str, Any]:
    """Return the verdict of one case when it may stop early and toss the coin."""
    algorithm, response, settings = MEASURED[name]
    question = {"epsilon": 0.3, "delta": 0.2, "randomized": True, "test": "binomial"}
    result = poise.stability_test(
        algorithm, X, response, random_state=7, progress=False, **question, **settings
    )
    return {
        "verdict": result.verdict.value,
        "statistic": result.statistic,
        "n_fits": result.n_fits,
        "pvalue": result.pvalue,
        "acceptance_probability": result.acceptance_probability,
    }


@pytest.mark.filterwarnings("ignore::poise.errors.PowerWarning")
@pytest.mark.parametrize("name", MEASURED)
@pytest.mark.parametrize("how", [measured, judged])
def test_results_are_those_of_earlier_versions(how: Any, name: str) -> None:
    pinned = json.loads(PINNED.read_text(encoding="utf-8"))[how.__name__][name]
    result = how(name)
    assert result.keys() == pinned.keys()
    for key, value in pinned.items():
        if isinstance(value, list) and not isinstance(value[0], str):
            # Libraries may be built for another processor: the last digits are theirs.
            assert np.asarray(result[key]) == pytest.approx(np.asarray(value), rel=1e-9, abs=1e-12)
        elif key == "epsilon_hat":
            expected = pytest.approx([float(limit) for limit in value], rel=1e-9, abs=1e-12)
            assert [float(limit) for limit in result[key]] == expected
        elif isinstance(value, float):
            assert result[key] == pytest.approx(value, rel=1e-9, abs=1e-12)
        else:
            assert result[key] == value


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    results = {how.__name__: {name: how(name) for name in MEASURED} for how in (measured, judged)}
    PINNED.write_text(json.dumps(results, indent=0) + "\n", encoding="utf-8")
