"""How stable are the algorithms people use? Measure 26 of them on twelve real data sets.

    python benchmarks/atlas.py                                # add what docs/atlas.csv lacks
    python benchmarks/atlas.py --data diabetes --name lasso   # measure again, write nothing

A line of the file is one call of ``poise.measure`` with seed 0: up to 50 trials of n rows, without
the last of them, at up to 20 fresh points each. Numeric responses are divided by their standard
deviation. Classes are predicted as probabilities; their change is the total variation. ``share5``
and ``share20`` are the shares of changes larger than 0.05 and 0.2; the limits lie above the true
probability with 95% confidence each, and count a failed fit as a larger change.
"""

from __future__ import annotations

import argparse
import csv
import os
import time
import warnings
from functools import cache
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from lightgbm import LGBMClassifier, LGBMRegressor
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import (
    BayesianRidge,
    ElasticNet,
    HuberRegressor,
    Lasso,
    LassoCV,
    LinearRegression,
    LogisticRegression,
    LogisticRegressionCV,
    Ridge,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, SplineTransformer, StandardScaler
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from xgboost import XGBClassifier, XGBRegressor

import poise

FILE = Path(__file__).parent.parent / "docs" / "atlas.csv"
COLUMNS = [
    "data",
    "name",
    "n",
    "trials",
    "points",
    "failed",
    "share5",
    "limit5",
    "share20",
    "limit20",
]
SIZES = (20, 50, 100, 200, 500, 1000, 2000)
TRIALS, FEWEST, SPREADS = 50, 14, (0.05, 0.2)  # 14 trials are the least for delta = 0.2

# name: (for numbers, for classes); those that are not trees have their features standardised
SMOOTH: dict[str, tuple[Any, Any]] = {
    "constant": (DummyRegressor(), DummyClassifier()),
    "linear": (LinearRegression(), LogisticRegression(C=np.inf, max_iter=500)),
    "ridge": (Ridge(), LogisticRegression(max_iter=500)),
    "lasso": (Lasso(0.1), LogisticRegression(l1_ratio=1, solver="saga", max_iter=500)),
    "elastic net": (ElasticNet(0.1), None),
    "Bayesian ridge": (BayesianRidge(), None),
    "Huber": (HuberRegressor(max_iter=500), None),
    "discriminant": (None, LinearDiscriminantAnalysis()),
    "naive Bayes": (None, GaussianNB()),
    "lasso, tuned": (LassoCV(cv=5), LogisticRegressionCV(Cs=5, cv=3, l1_ratios=(0,), max_iter=500)),
    "quadratic": (
        make_pipeline(PolynomialFeatures(2), Ridge()),
        make_pipeline(PolynomialFeatures(2), LogisticRegression(max_iter=500)),
    ),
    "splines": (
        make_pipeline(SplineTransformer(), Ridge()),
        make_pipeline(SplineTransformer(), LogisticRegression(max_iter=500)),
    ),
    "1 neighbour": (KNeighborsRegressor(1), KNeighborsClassifier(1)),
    "5 neighbours": (KNeighborsRegressor(5), KNeighborsClassifier(5)),
    "kernels": (SVR(), make_pipeline(Nystroem(n_components=10), LogisticRegression(max_iter=500))),
    "network": (MLPRegressor(max_iter=100), MLPClassifier(max_iter=100)),
}
TREES: dict[str, tuple[Any, Any]] = {
    "tree": (DecisionTreeRegressor(), DecisionTreeClassifier()),
    "tree of depth 3": (DecisionTreeRegressor(max_depth=3), DecisionTreeClassifier(max_depth=3)),
    "10 bagged trees": (BaggingRegressor(), BaggingClassifier()),
    "forest": (RandomForestRegressor(), RandomForestClassifier()),
    "extra trees": (ExtraTreesRegressor(), ExtraTreesClassifier()),
    "AdaBoost": (AdaBoostRegressor(), AdaBoostClassifier()),
    "boosted trees": (GradientBoostingRegressor(), GradientBoostingClassifier()),
    "boosted histograms": (HistGradientBoostingRegressor(), HistGradientBoostingClassifier()),
    "LightGBM": (LGBMRegressor(n_jobs=1, verbose=-1), LGBMClassifier(n_jobs=1, verbose=-1)),
    "XGBoost": (XGBRegressor(n_jobs=1), XGBClassifier(n_jobs=1)),
}


def of_statsmodels(name: str, y: str, drop: tuple[str, ...] = ()) -> tuple[Any, Any]:
    from statsmodels import datasets

    frame = getattr(datasets, name).load_pandas().data
    return frame.drop(columns=[y, *drop]).to_numpy(float), frame[y].to_numpy(float)


def schools() -> tuple[Any, Any]:
    """Districts: pupils above the national median of mathematics, as a share."""
    X, above = of_statsmodels("star98", "NABOVE")
    return X[:, 1:13], above / (above + X[:, 0])  # without products of columns


def of_river(name: str) -> tuple[Any, Any]:
    from river import datasets

    rows = list(getattr(datasets, name)())
    X = np.array([list(row.values()) for row, _ in rows])
    return X, np.array([next(iter(y.values())) if isinstance(y, dict) else y for _, y in rows])


def flares() -> tuple[Any, Any]:
    """Regions of the sun: number of C-class flares within a day."""
    X, y = of_river("SolarFlare")
    return np.column_stack([np.unique(x, return_inverse=True)[1] for x in X.T]).astype(float), y


NUMBERS = {
    "diabetes": lambda: load_diabetes(return_X_y=True),
    "schools": schools,
    "flares": flares,
    "income": lambda: of_statsmodels("anes96", "income", ("popul",)),
    "affairs": lambda: of_statsmodels("fair", "affairs"),
}
CLASSES = {
    "breast cancer": lambda: load_breast_cancer(return_X_y=True),
    "vote": lambda: of_statsmodels("anes96", "vote", ("popul",)),
    "phishing": lambda: of_river("Phishing"),
    "digits": lambda: load_digits(return_X_y=True),
    "segments": lambda: of_river("ImageSegments"),
    "bananas": lambda: of_river("Bananas"),
    "shuttle": lambda: of_river("Shuttle"),
}


@cache
def rows_of(data: str) -> tuple[Any, Any]:
    """Load a data set; classes are numbered from 0, numbers have standard deviation 1."""
    X, y = (NUMBERS | CLASSES)[data]()
    y = np.unique(y, return_inverse=True)[1] if data in CLASSES else y / np.std(y)
    return X.astype(float), y


def sizes(data: str) -> list[int]:
    """Return the training sizes that leave enough trials; 7% of shuttle are of the rare class."""
    fitting = [n for n in SIZES if len(rows_of(data)[1]) // (n + 1) >= FEWEST]
    return [n for n in fitting if data != "shuttle" or n >= 100]


def estimator(name: str, data: str) -> Any:
    """Return the algorithm for this data set, None where there is none."""
    found = (SMOOTH | TREES)[name][data in CLASSES]
    return found if found is None or name in TREES else make_pipeline(StandardScaler(), found)


def measured(data: str, name: str, n: int) -> dict[str, Any]:
    """Measure one line of the file."""
    X, y = rows_of(data)
    asked: dict[str, Any] = {"response": "predict_proba"} if data in CLASSES else {}
    asked |= {"max_trials": TRIALS, "removals_per_trial": 1, "on_error": "record"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of convergence, and that the order of rows matters
        trials = poise.measure(estimator(name, data), X, y, n=n, delta=0.2, **asked)
    points = trials.design.points
    line = {"data": data, "name": name, "n": n, "trials": trials.n_trials, "points": points}
    line["failed"] = trials.n_failures
    for spread in SPREADS:
        line[f"share{100 * spread:.0f}"] = round(trials.observed(spread), 4)
        line[f"limit{100 * spread:.0f}"] = round(trials.delta_upper(spread), 4)
    return line


def wanted(data: str | None, name: str | None) -> list[tuple[str, str, int]]:
    """Return what to measure: cheap sizes first."""
    found = [
        (each, algorithm, n)
        for each in (NUMBERS | CLASSES if data is None else [data])
        for algorithm in (SMOOTH | TREES if name is None else [name])
        for n in sizes(each)
        if estimator(algorithm, each) is not None
    ]
    return sorted(found, key=lambda line: line[2])


def add_what_is_missing() -> None:
    """Append to the file, line by line: whoever stops it can go on later."""
    known = set()
    if FILE.exists():
        with FILE.open(encoding="utf-8", newline="") as file:
            known = {(line["data"], line["name"], int(line["n"])) for line in csv.DictReader(file)}
    with FILE.open("a", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        if not known:
            writer.writeheader()
        for key in [each for each in wanted(None, None) if each not in known]:
            writer.writerow(measured(*key))
            file.flush()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", choices=[*NUMBERS, *CLASSES])
    parser.add_argument("--name", choices=[*SMOOTH, *TREES])
    given = parser.parse_args()
    if given.data is None and given.name is None:
        began = time.perf_counter()
        add_what_is_missing()
        print(f"{FILE} is complete ({time.perf_counter() - began:.0f} s)")
    else:
        for key in wanted(given.data, given.name):
            print(*(f"{column}={value}" for column, value in measured(*key).items()))
