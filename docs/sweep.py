"""Every regressor and classifier of scikit-learn, asked whether poise can test it.

    python docs/sweep.py

writes the table of ``docs/estimators.rst`` into ``docs/estimators.csv``. The tests
run the same cases and check that the table is up to date.
"""

from __future__ import annotations

import csv
import inspect
import io
import warnings
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.utils import all_estimators, get_tags

from poise.algorithms import seeds_and_threads
from poise.algorithms.response_method import RESPONSES, can_answer
from poise.algorithms.sklearn_suitability import objection
from poise.data.sample import Sample
from poise.shortcuts.find_shortcut import find_shortcut

TABLE = Path(__file__).parent / "estimators.csv"
N, TRIALS = 40, 2

# Defaults that make a fit slow, or that fail by chance on forty rows.
SETTINGS: dict[str, dict[str, Any]] = {
    "CalibratedClassifierCV": {"cv": 2},
    "HistGradientBoostingClassifier": {"max_iter": 5},
    "HistGradientBoostingRegressor": {"max_iter": 5},
    "LogisticRegressionCV": {"Cs": 2, "cv": 2},
    "RadiusNeighborsClassifier": {"radius": 10.0},
    "RadiusNeighborsRegressor": {"radius": 10.0},
    "MLPClassifier": {"max_iter": 20},
    "MLPRegressor": {"max_iter": 20},
    "NuSVC": {"nu": 0.2},
    "SelfTrainingClassifier": {"estimator": LogisticRegression()},
    "StackingClassifier": {"cv": 2},
    "TheilSenRegressor": {"max_subpopulation": 50},
    "TunedThresholdClassifierCV": {"cv": 2, "thresholds": 10},
}


@dataclass(frozen=True)
class Case:
    """One estimator, and what poise says about it."""

    name: str
    kind: str
    make: Any

    @cached_property
    def estimator(self) -> Any:
        """A small instance, whatever its constructor asks for."""
        inner = Ridge() if self.kind == "regressor" else LogisticRegression()
        given: dict[str, Any] = {"estimator": inner, "estimators": [("inner", inner)]}
        parameters = inspect.signature(self.make).parameters.values()
        settings = {p.name: given[p.name] for p in parameters if p.default is p.empty}
        if any(p.name == "n_estimators" for p in parameters):
            settings["n_estimators"] = 5
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # deprecated, and still there
            return self.make(**settings | SETTINGS.get(self.name, {}))

    @cached_property
    def responses(self) -> list[str]:
        """The methods it can be asked with."""
        return [name for name in RESPONSES if can_answer(self.estimator, name)]

    @cached_property
    def objection(self) -> str | None:
        """Why it is refused on ordinary data: features and responses of either sign."""
        return objection(self.estimator, Sample(*self.ordinary_data()))

    def data(self) -> tuple[Any, Any]:
        """Return ordinary data, or of the kind it asks for if it refuses those."""
        return self.ordinary_data() if self.objection is None else self.suitable_data()

    def suitable_data(self) -> tuple[Any, Any]:
        """Return data of the kind it asks for."""
        tags = get_tags(self.estimator)
        several = not tags.target_tags.single_output or self.name in ("CCA", "PLSCanonical")
        features = 1 if tags.input_tags.one_d_array else 3
        X, y = self.ordinary_data(features, 2 if several else 1, classes=2 if several else 3)
        if tags.input_tags.positive_only:
            X = np.abs(X) if self.name != "CategoricalNB" else (X > 0).astype(int)
        if tags.target_tags.positive_only:
            y = np.exp(y)
        if tags.classifier_tags is not None and not tags.classifier_tags.multi_class:
            y = y % 2
        return X, y

    def ordinary_data(
        self, features: int = 3, responses: int = 1, classes: int = 3
    ) -> tuple[Any, Any]:
        """Return features and responses of either sign, or three classes."""
        rng = np.random.default_rng(7)
        X = rng.normal(size=(TRIALS * (N + 1), features))
        y = X[:, :1] + 0.3 * rng.normal(size=(len(X), responses))
        if self.kind == "classifier":
            y = (np.argsort(np.argsort(y, axis=0), axis=0) * classes) // len(X)
        return X, y if responses > 1 else y[:, 0]

    def row(self) -> list[str]:
        """Return its line of the table."""
        marks = ["yes" if name in self.responses else "" for name in RESPONSES]
        drawn = "yes" if seeds_and_threads.seeds(self.estimator) else ""
        exact = getattr(find_shortcut(self.estimator), "name", "")
        return [self.name, self.kind, *marks, drawn, exact, self.objection or ""]


def cases() -> list[Case]:
    """List every regressor and classifier that scikit-learn has."""
    return [
        Case(name, kind, make)
        for kind in ("regressor", "classifier")
        for name, make in all_estimators(type_filter=kind)
    ]


def table() -> str:
    """Return the table as it should be in the file."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["Estimator", "Kind", *RESPONSES, "Seed", "Exact shortcut", "Refused"])
    writer.writerows(case.row() for case in cases())
    return text.getvalue()


if __name__ == "__main__":
    TABLE.write_text(table(), encoding="utf-8")
    print(f"{TABLE}: {len(cases())} estimators")
