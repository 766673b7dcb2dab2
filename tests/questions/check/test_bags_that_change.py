"""Bags of scikit-learn's ensembles at n and n − 1 rows, and what check_algorithm says of them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import BaggingClassifier, ExtraTreesRegressor, RandomForestRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import poise
from poise.questions.check.bags_that_change import BAGS

rng = np.random.default_rng(0)
X, y = rng.normal(size=(150, 2)), rng.normal(size=150)
FOREST = RandomForestRegressor(1)


def said(algorithm, n: int, y=y, **options) -> list[str]:
    report = poise.check_algorithm(algorithm, X, y, n=n, random_state=0, **options)
    return [finding.found for finding in report.findings if finding.check == BAGS]


@pytest.mark.parametrize("n", [17, 33])
def test_the_sizes_at_which_bags_change_are_told(n: int) -> None:
    [found] = said(FOREST, n)
    assert found.startswith(f"RandomForestRegressor: n - 1 = {n - 1} is a power of two")
    assert said(FOREST, n - 1) == said(FOREST, n + 1) == []


def test_ensembles_without_bags_are_left_in_peace() -> None:
    assert said(ExtraTreesRegressor(1), 33) == []
    assert said(RandomForestRegressor(1, bootstrap=False), 33) == []
    assert said(lambda X, y, seed: lambda rows: np.zeros(len(rows)), 33) == []
    assert said(FOREST, 33, groups=np.arange(150) // 2) == []


def test_an_ensemble_inside_a_pipeline_is_found() -> None:
    voting = make_pipeline(StandardScaler(), BaggingClassifier(DecisionTreeClassifier(), 1))
    [found] = said(voting, 33, y=(y > 0).astype(int))
    assert found.startswith("BaggingClassifier:")


@pytest.mark.parametrize("n", [32, 33, 34, 64, 65, 66])
def test_what_is_said_of_the_bags_is_so(n: int) -> None:
    """Counts of each row in 50 bags, with n and with n − 1 rows: the share that is the same."""
    bags = [
        RandomForestRegressor(50, random_state=3, max_depth=1).fit(X[:k], y[:k]).estimators_samples_
        for k in (n, n - 1)
    ]
    counts = [[np.bincount(bag, minlength=n)[: n - 1] for bag in one] for one in bags]
    shared = np.minimum(*counts).sum() / (50 * (n - 1))
    # Half of the draws are common; of the others as many agree as of two unrelated bags.
    assert shared < 0.8 if (n - 1) & (n - 2) == 0 else shared > 0.95
