"""Whatever fits do to NumPy's error handling, to warning filters and to random generators of the
whole process, every public function that runs fits leaves them as they were."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin

import poise
from poise.questions.cost_of_stability import cost_of_stability

RNG = np.random.default_rng(0)
X = RNG.normal(size=(66, 2))
Y = X[:, 0] + 0.1 * RNG.normal(size=66)
FRESH = RNG.normal(size=(20, 2))
ASKED = {"epsilon": 1.0, "delta": 0.5}


class Careless(RegressorMixin, BaseEstimator):
    """Predicts the mean, and changes whatever belongs to the whole process."""

    def __init__(self, shift: float = 0.0) -> None:
        self.shift = shift

    def fit(self, A: Any, b: Any) -> Careless:
        self.n_features_in_ = A.shape[1]
        self._disturb()
        self.level_ = float(np.mean(b)) + self.shift
        return self

    def predict(self, A: Any) -> Any:
        self._disturb()
        return np.full(len(A), self.level_)

    def _disturb(self) -> None:
        np.seterr(all="ignore", divide="warn")
        warnings.simplefilter("ignore")
        warnings.filterwarnings("error", "something")
        warnings.showwarning = print
        random.seed(3)
        np.random.seed(4)  # noqa: NPY002
        np.random.normal(size=3)  # noqa: NPY002


def disturbing(A: Any, b: Any, seed: int) -> Any:
    """Do the same as a function."""
    return Careless().fit(A, b).predict


def monitor(folder: Path, **how: Any) -> object:
    watch = poise.Monitor(folder / "a.record", disturbing, n=5, random_state=0, **ASKED, **how)
    return watch.add(X, Y), watch.add(X + 1, Y)


def verify(folder: Path, **how: Any) -> object:
    path = folder / "certificate.json"
    found = poise.stability_test(disturbing, X, Y, n=5, random_state=0, **ASKED)
    found.certificate().save(path)
    return poise.verify(path, algorithm=disturbing, X=X, y=Y, **how)


def advise(folder: Path, **how: Any) -> object:
    return poise.advise(X, Y, algorithm=Careless(), n=5, random_state=0, **how)


def jackknife(folder: Path, **how: Any) -> object:
    return poise.JackknifeRegressor(Careless(), **how).fit(X[:20], Y[:20])


def journalled(folder: Path, **how: Any) -> object:
    path = folder / "run.jsonl"
    return [poise.measure(disturbing, X, Y, n=5, random_state=0, journal=path, **how)] * 2


def audited(folder: Path, **how: Any) -> object:
    world = replace(poise.world.zoo.constant(n=5), algorithm=disturbing)
    test = poise.procedures.BinomialTest(n=5, **ASKED)
    return poise.audit(test, world, n_labeled=30, replications=3, random_state=0, **how)


def replayed(folder: Path, **how: Any) -> object:
    test = poise.procedures.BootstrapTest(n=5, **ASKED, resamples=4)
    return poise.replay(poise.run(test, disturbing, X, Y, random_state=0, **how).transcript)


QUESTIONS: dict[str, Callable[..., object]] = {
    "measure": lambda folder, **how: poise.measure(disturbing, X, Y, n=5, **how),
    "measure an estimator": lambda folder, **how: poise.measure(Careless(), X, Y, n=5, **how),
    "measure with a journal": journalled,
    "stability_test": lambda folder, **how: poise.stability_test(
        disturbing, X, Y, n=5, **ASKED, **how
    ),
    "averaged": lambda folder, **how: poise.stability_test(
        disturbing, X, Y, n=5, removals=2, points=2, **ASKED, **how
    ),
    "compare": lambda folder, **how: poise.compare(
        {"a": Careless(), "b": Careless(1.0)}, X, Y, n=5, **ASKED, **how
    ),
    "stability_curve": lambda folder, **how: poise.stability_curve(
        disturbing, X, Y, n=[4, 5], epsilon=1.0, **how
    ),
    "conditional_test": lambda folder, **how: poise.conditional_test(
        disturbing, X[:10], Y[:10], FRESH, **ASKED, **how
    ),
    "measure_conditional": lambda folder, **how: poise.measure_conditional(
        disturbing, X[:10], Y[:10], FRESH, **how
    ),
    "advise": advise,
    "JackknifeRegressor": jackknife,
    "assert_stable": lambda folder, **how: poise.testing.assert_stable(
        disturbing, X, Y, n=5, epsilon=1.0, delta=0.5, **how
    ),
    "Monitor": monitor,
    "check_algorithm": lambda folder, **how: poise.check_algorithm(disturbing, X, Y, n=5),
    "check_symmetry": lambda folder, **how: poise.notions.check_symmetry(disturbing, X, Y),
    "a certificate for intervals": lambda folder, **how: poise.conditional_test(
        Careless(), X[:10], Y[:10], FRESH, FRESH[:, 0], notion="jackknife", **ASKED, **how
    ),
    "audit": audited,
    "run and replay": replayed,
    "verify": verify,
}
TWO = ["measure", "stability_test", "compare", "conditional_test", "JackknifeRegressor", "Monitor"]


def settings() -> tuple[Any, ...]:
    return np.geterr(), list(warnings.filters), warnings.showwarning


def surroundings() -> tuple[Any, ...]:
    numbers = np.random.get_state()  # noqa: NPY002
    return (
        *settings(),
        random.getstate(),
        [part.tolist() if isinstance(part, np.ndarray) else part for part in numbers],
    )


@pytest.mark.parametrize(
    ("name", "how"),
    [*((name, {}) for name in QUESTIONS), *((name, {"n_jobs": 2}) for name in TWO)],
    ids=str,
)
def test_everything_is_left_as_it_was(name: str, how: dict[str, Any], tmp_path: Path) -> None:
    with np.errstate(divide="raise"), warnings.catch_warnings():
        warnings.simplefilter("ignore", ImportWarning)
        before = surroundings()
        QUESTIONS[name](tmp_path, **how)
        assert surroundings() == before


def test_fits_of_bags_leave_the_settings_as_they_were() -> None:
    model = poise.stabilize(Careless(), n=20, bounds=(-3.0, 3.0), **ASKED)
    with np.errstate(divide="raise"), warnings.catch_warnings():
        before = settings()
        model.fit(X[:20], Y[:20])
        assert settings() == before
        cost_of_stability(model, X, Y, splits=1, random_state=0)
        assert settings() == before


def test_predictions_leave_the_errors_of_numpy_as_they_were() -> None:
    with np.errstate(divide="raise"), warnings.catch_warnings():
        before = np.geterr()
        poise.JackknifeRegressor(Careless()).fit(X[:20], Y[:20]).predict_interval(FRESH)
        assert np.geterr() == before
        stable = poise.stabilize(Careless(), n=20, bounds=(-3.0, 3.0), **ASKED)
        stable.fit(X[:20], Y[:20]).predict(FRESH)
        assert np.geterr() == before


@pytest.mark.parametrize("name", ["measure", "JackknifeRegressor", "Monitor"])
def test_also_where_a_fit_fails(name: str, tmp_path: Path, monkeypatch) -> None:
    def failing(self: Careless, A: Any, b: Any) -> Careless:
        self._disturb()
        raise ArithmeticError("no solution")

    monkeypatch.setattr(Careless, "fit", failing)
    with np.errstate(divide="raise"), warnings.catch_warnings():
        before = surroundings()
        with pytest.raises((ArithmeticError, poise.errors.PoiseError)):
            QUESTIONS[name](tmp_path)
        assert surroundings() == before
