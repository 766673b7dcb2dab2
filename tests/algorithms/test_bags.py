"""Bags that are coupled between n and n - 1 rows, and averages over them."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.tree import DecisionTreeClassifier

import poise
from poise.algorithms.bags import poisson_bag, subbag
from poise.data.randomness import Randomness
from poise.data.sample import Sample
from poise.errors import AlgorithmError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 2))
y = X[:, 0] + RNG.normal(size=200)
ORDER = "ignore:The first trial gives other predictions when its rows"
SEED = Randomness(3)


def test_rows_are_in_a_bag_poisson_times_and_it_loses_the_last_row_and_nothing_else():
    for bag in range(50):
        full = poisson_bag(SEED, bag, 33)
        assert poisson_bag(SEED, bag, 32).tolist() == full[full != 32].tolist()
    counts = np.bincount(poisson_bag(SEED, 0, 20_000), minlength=20_000)
    seen = np.bincount(counts.clip(max=5), minlength=6)
    wanted = 20_000 * np.append(stats.poisson.pmf(range(5), 1), stats.poisson.sf(4, 1))
    assert stats.chisquare(seen, wanted).pvalue > 1e-6


def test_a_subbag_replaces_the_last_row_by_another_one():
    replaced = 0
    for bag in range(200):
        full, reduced = (subbag(SEED, bag, n, 4) for n in (9, 8))
        assert len(set(full)) == 4
        differ = full != reduced
        assert differ.sum() == (8 in full)
        replaced += 8 in full
    assert stats.binomtest(replaced, 200, 4 / 9).pvalue > 1e-6
    # Every ordered bag is as likely.
    places = {order: k for k, order in enumerate(permutations(range(5), 3))}
    drawn = [places[tuple(subbag(SEED, bag, 5, 3).tolist())] for bag in range(6000)]
    assert stats.chisquare(np.bincount(drawn, minlength=60)).pvalue > 1e-6


def test_the_average_is_a_loop_over_bags():
    algorithm = poise.coupled_bags(Ridge(), n_bags=7).prepared(Sample.of(X, y))
    assert "7 coupled bags" in algorithm.name
    predict = algorithm.fit(X[:20], y[:20], 5)
    bags = [poisson_bag(Randomness(5), k, 20) for k in range(7)]
    wanted = np.mean([Ridge().fit(X[rows], y[rows]).predict(X) for rows in bags], axis=0)
    np.testing.assert_allclose(predict(X), wanted)


@pytest.mark.filterwarnings(ORDER)
def test_weights_follow_rows_into_bags_and_probabilities_have_their_classes():
    labels = np.array(["a", "b", "c"])[np.digitize(y, [-1, 1])]
    bags = poise.coupled_bags(LogisticRegression(), n_bags=3, response="predict_proba")
    trials = poise.measure(bags, X, labels, n=15, progress=False, sample_weight=np.ones(200))
    assert trials.design.distance == "total_variation"
    assert np.isfinite(trials.changes).all()
    with pytest.raises(AlgorithmError, match="response='predict_proba'"):
        poise.measure(poise.coupled_bags(DecisionTreeClassifier()), X, labels, n=15)
