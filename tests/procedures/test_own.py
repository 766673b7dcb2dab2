"""Procedures of one's own: the protocol (Definition 2), its permissions, and what they certify."""

from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.tree import DecisionTreeRegressor

import poise
from poise import research
from poise.data.randomness import Randomness
from poise.data.sample import Sample
from poise.errors import AlgorithmError, ArgumentError, DataError, TrialError
from poise.research import Answers, Batch, Made, Query, Trial

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(120, 2)), RNG.normal(size=120)
ASKED = {"n": 6, "epsilon": 0.5, "delta": 0.2, "alpha": 0.1}
FITS = []


def mean(X, y, seed):
    FITS.append(len(y))
    level = float(np.mean(y))
    return lambda rows: np.full(len(rows), level)


def coin(X, y, seed):
    level = float(seed % 5 == 0)
    return lambda rows: np.full(len(rows), level)


def asked(test, changes, sample=None):
    """Answer every trial by a function of its rows; return the batches and the claim."""
    asking = test.ask(sample or Sample.of(X, Y, X_unlabeled=X[:40] + 9), Randomness(0))
    batches, answers = [], None
    while True:
        try:
            batches.append(asking.send(answers).tasks)
        except StopIteration as stop:
            return batches, stop.value
        table = np.array([[[changes(task.full[0])]] for task in batches[-1]], dtype=float)
        answers = Answers(table, np.zeros(len(table)))


@pytest.mark.parametrize("coupling", ["shared", "independent"])
def test_the_binomial_test_is_that_of_the_public_function(coupling):
    tree = DecisionTreeRegressor(max_features=1)
    for n, points, seed in product((4, 9), (0, 2, 40), (0, 7)):
        more = {"X_unlabeled": X[:points] + 1} if points else {}
        test = research.BinomialTest(**{**ASKED, "n": n}, coupling=coupling)
        mine = research.run(test, tree, X, Y, random_state=seed, **more)
        more |= {"coupling": coupling, "points_per_trial": 1, "check": False}
        other = poise.stability_test(tree, X, Y, **{**ASKED, "n": n}, random_state=seed, **more)
        found = mine.verdict, mine.n_trials, mine.statistic
        assert found == (other.verdict, other.n_trials, other.statistic)
        assert mine.certified


@dataclass
class Looks:
    """Asks for whatever it is given, and concludes with the answers."""

    task: object
    batch: bool = True

    def ask(self, sample, randomness):
        return (yield Batch([self.task]) if self.batch else self.task)


def test_what_breaks_the_protocol_is_said_before_any_fit():
    none = np.arange(3)
    for procedure, words in (
        (Looks([], batch=False), "must yield a Batch"),
        (Looks(Batch([]), batch=False), "at least one task"),
        (type("At_once", (), {"ask": lambda *given: "stable"})(), "must be a generator"),
    ):
        with pytest.raises(TypeError, match=words):
            research.run(procedure, mean, X, Y)
    look = Looks(Query(none, none, 1, look=lambda predict, rows: [predict(rows)[0], 7.0]))
    with pytest.raises(ArgumentError, match="transparent"):
        research.run(look, mean, X, Y)
    found = research.run(look, mean, X, Y, models="transparent")
    assert found.predictions[0].tolist() == [Y[:3].mean(), 7.0]
    test = research.BinomialTest(**ASKED)
    for distance in (poise.loss_change("squared"), poise.decisions.flips(0.5, of=5)):
        with pytest.raises(ArgumentError, match="distance"):
            research.run(test, mean, X, Y, distance=distance)
    FITS.clear()
    with pytest.raises(ArgumentError, match="34 fits after 0"):
        research.run(test, mean, X, Y, budget=33)
    assert not FITS
    assert research.run(test, mean, X, Y, budget=34).n_trials == 17
    assert sorted(FITS) == [5] * 17 + [6] * 17


def test_made_rows_are_copied_for_each_fit_and_failures_are_recorded():
    def spoils(X, y, seed):
        level = float(np.mean(y + 1))  # in one of the fits there is no y
        X[:], y[:] = np.nan, np.nan
        return lambda rows: np.full(len(rows), level + rows[0, 0])

    made, points = Made(np.ones((4, 1)), np.ones(4)), Made(np.zeros((1, 1)))
    fits = [Query(rows, points, 1) for rows in (made, made[:-1], Made(made.X))]
    found = research.run(Looks(Trial((fits[0],), (fits[1],))), spoils, X, Y)
    assert found.changes.tolist() == [[[0.0]]]
    assert made.X.sum() == 4
    assert np.isnan(found.errors).all()
    broken = Looks(Trial((fits[0],), (fits[2],)))
    with pytest.raises(TrialError):
        research.run(broken, spoils, X, Y)
    assert np.isnan(research.run(broken, spoils, X, Y, on_error="record").changes).all()


def test_only_valid_procedures_say_certified():
    for test, worth in (
        (research.BinomialTest(**ASKED), "STABLE (certified)"),
        (research.BootstrapTest(**ASKED, resamples=30), "STABLE (certifies nothing)"),
        (research.SimulationTest(**ASKED, simulations=9), "INCONCLUSIVE"),
        (research.AdaptiveTest(**ASKED, explorations=9, aimed=5), "INCONCLUSIVE"),
    ):
        claim = research.run(test, Ridge(1e9), X, Y, random_state=0)
        assert str(claim).startswith(f"{worth}: ")
        assert claim.certified == (type(test) is research.BinomialTest)
    with pytest.raises(TypeError, match=r"claim\.stable"):
        bool(claim)


def test_the_bootstrap_draws_from_the_sample_and_simulations_from_an_estimate():
    rare = np.zeros(120)
    rare[0] = 1e6

    shows = lambda X, y, seed: lambda rows: np.full(len(rows), float(max(y)))  # noqa: E731
    test = research.BootstrapTest(**ASKED, resamples=4000)
    found = research.run(test, shows, X, rare, random_state=0)
    assert 5 < found.statistic < 80  # Binomial(4000, (119/120)^5 / 120): the row is last, and alone
    [tasks], _ = asked(research.BootstrapTest(**ASKED, resamples=500), lambda query: 0.0)
    points = {int(task.full[0].points[0]) for task in tasks}
    assert points == set(range(120, 160))  # rows without a response, all of them
    flat = np.column_stack([X, np.full(120, 3.0)])
    research.run(research.SimulationTest(**ASKED, simulations=5), LinearRegression(), flat, Y)
    seen = []

    def estimate(X, y, rng, size):
        seen.append(size)
        return X[: size - 1], y[: size - 1]

    with pytest.raises(DataError, match="must draw the 7 rows"):
        research.run(research.SimulationTest(**ASKED, estimate=estimate), mean, X, Y)
    assert seen == [7]


def test_too_few_rows_are_told_before_any_fit():
    FITS.clear()
    for kind in (research.BinomialTest, research.TransparentLinearTest):
        claim = research.run(kind(**{**ASKED, "n": 121}), mean, X, Y, models="transparent")
        assert (claim.verdict, claim.n_trials) == ("inconclusive", 0)
    for test, words in (
        (research.AdaptiveTest(**{**ASKED, "n": 120}), "needs 121 labelled rows, got 120"),
        (research.ExploreThenTest(n=61, delta=0.2), "no 61 labelled rows are left"),
    ):
        with pytest.raises(DataError, match=words):
            research.run(test, mean, X, Y)
    assert not FITS


def test_exploring_and_testing_never_share_a_row():
    test = research.ExploreThenTest(n=6, delta=0.2, alpha=0.1, explorations=40)
    batches, claim = asked(test, lambda query: float(query.xi % 7))
    explored, tested = (
        {int(row) for task in tasks for q in task.full for row in (*q.train, *q.points)}
        for tasks in batches
    )
    assert not explored & tested
    assert len(tested) == 7 * claim.n_trials
    assert claim.found["epsilon"] == 6.0
    assert claim.certified
    assert claim.n_trials == 15  # 90 rows that were not explored
    failing = asked(test, lambda query: np.nan)[1]
    assert (failing.found["epsilon"], failing.verdict) == (0.0, "inconclusive")


def test_adaptive_stages_remove_the_rows_that_moved_most():
    worst = {3, 4, 5}
    test = research.AdaptiveTest(**ASKED, explorations=300, aimed=50, stages=1, share=0.03)
    batches, claim = asked(test, lambda query: float(query.train[-1] in worst))
    assert set(claim.found["worst_rows"]) == worst
    assert {int(task.full[0].train[-1]) for task in batches[1]} == worst
    assert claim.verdict == "inconclusive"  # aimed comparisons exaggerate
    terms = [task.full[0].xi for tasks in batches for task in tasks]
    assert len(set(terms)) == 350
    assert asked(test, lambda query: 1.0)[1].verdict == "unstable"


def test_a_search_of_the_support():
    cells = np.array([[0.0], [1.0], [0.0], [1.0]]), np.array([0.0, 0.0, 1.0, 1.0])
    rows = RNG.integers(4, size=60)
    data = cells[0][rows], cells[1][rows]
    support = {"support_X": cells[0], "support_y": cells[1]}
    asked = {"n": 3, "delta": 0.1, "alpha": 0.1}
    test = research.ExhaustiveTest(**asked, epsilon=0.34, **support)
    found = research.run(test, mean, *data)
    assert (found.verdict, found.certified) == ("stable", True)
    assert found.found["largest_change"] == pytest.approx(1 / 3)
    moved = research.ExhaustiveTest(**asked, epsilon=0.3, **support)
    found = research.run(moved, mean, *data, random_state=0)
    assert found.n_trials == 15  # the Binomial test decides

    first = lambda X, y, seed: lambda rows: np.full(len(rows), y[0])  # noqa: E731
    for uses in (coin, first):
        with pytest.raises(AlgorithmError, match="cannot be searched"):
            research.run(test, uses, *data, random_state=0)
    few = research.ExhaustiveTest(**asked, epsilon=1, **support, max_fits=79)
    with pytest.raises(ArgumentError, match="less than the 80 fits"):
        research.run(few, mean, *data)
    with pytest.raises(DataError, match="row 0, "):
        research.run(test, mean, data[0] + 7, data[1])


def test_linear_models_are_read():
    class Clipped(LinearRegression):
        def predict(self, X):
            return np.clip(super().predict(X), -0.1, 0.1)

    class Fragile(LinearRegression):
        def fit(self, X, y):
            assert Y[0] not in y
            return super().fit(X, y)

    asked = {"n": 8, "epsilon": 1.0, "delta": 0.3, "alpha": 0.1}
    plain = research.TransparentLinearTest(**asked)
    seen = {"models": "transparent", "random_state": 3}
    found = research.run(plain, LinearRegression(), X, Y, **seen)
    black_box = research.run(research.BinomialTest(**asked), LinearRegression(), X, Y, **seen)
    assert (found.n_trials, found.statistic) == (black_box.n_trials, black_box.statistic)
    law = lambda rng, size: rng.normal(size=(size, 2))  # noqa: E731
    known = research.TransparentLinearTest(**asked, feature_law=law)
    drawn = research.run(known, LinearRegression(), X, Y, **seen)
    assert drawn.n_trials == 15 > found.n_trials
    assert "law of the features" in drawn.reason
    assert "law" not in found.reason
    lost = research.run(plain, Fragile(), X, Y, **seen, on_error="record")
    assert (lost.n_trials, lost.statistic) == (found.n_trials, found.statistic + 1)
    for wrong in (Clipped(), DecisionTreeRegressor()):
        with pytest.raises((AlgorithmError, TrialError), match="linear"):
            research.run(plain, wrong, X, Y, **seen)
