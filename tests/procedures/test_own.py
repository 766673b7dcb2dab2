"""Procedures of one's own: the protocol (Definition 2), what they certify, and their journals."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import product

import numpy as np
import pytest
from sklearn.linear_model import Lasso, LinearRegression, Ridge
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import poise
from poise import research
from poise.data.randomness import Randomness
from poise.data.sample import Sample
from poise.engine.log import Log, read
from poise.errors import AlgorithmError, ArgumentError, DataError, RecordError, TrialError
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
    with pytest.raises(ArgumentError, match="asks for 80 fits after 128, got 207"):
        research.run(test, mean, *data, budget=207)
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


# in a journal: gone on with, and replayed without the algorithm

KINDS = np.array(["a", "b", None], dtype=object)[np.arange(120) % 2]


@dataclass(frozen=True)
class InStages:
    """Asks for fits, as many as it likes; what it returns is up to a function."""

    sizes: tuple[int, ...] = (3, 2)
    stop: float = np.inf
    n: int = 5

    def ask(self, sample, randomness) -> Iterator[Batch]:
        found = []
        for stage, size in enumerate(self.sizes):
            rows = [randomness.order(f"{stage} {k}", 120)[: self.n] for k in range(size)]
            asks = [Query(each, np.arange(2), 7 + stage) for each in rows]
            until = None if self.stop == np.inf else lambda value: value[0] > self.stop
            answers = yield Batch(asks, until)
            found += [value.tolist() for value in answers.predictions]
        return str(found) if np.isfinite(self.stop) else found


def kinds(X, y, seed):
    """Predictions that are no plain array."""
    rng = np.random.default_rng(seed)
    some = np.array(["é\x00", None, 3, 2**80, True, 0.1, np.nan, -np.inf], dtype=object)
    return lambda rows: rng.permutation(some)[: len(rows)]


RUNS = {
    "Example 1": (research.BinomialTest(**ASKED), Ridge()),
    "adaptive": (research.AdaptiveTest(**ASKED, explorations=30, aimed=9), LinearRegression()),
    "explore": (research.ExploreThenTest(n=4, delta=0.3, alpha=0.2, explorations=9), Ridge()),
    "bootstrap": (research.BootstrapTest(**ASKED, resamples=30), DecisionTreeRegressor()),
    "simulated": (research.SimulationTest(**ASKED, simulations=30), Ridge()),
    "look at models": (research.TransparentLinearTest(**ASKED), LinearRegression()),
    "stages": (InStages(), DecisionTreeRegressor()),
    "stops": (InStages((9, 9), stop=0.5), DecisionTreeRegressor()),
    "text": (InStages(), DecisionTreeClassifier()),
    "objects": (InStages(), kinds),
}


def run(name, journal=None, **more):
    procedure, algorithm = RUNS[name]
    y = KINDS if name == "text" else Y
    looks = {"models": "transparent"} if name == "look at models" else {}
    settings = {"random_state": 5, "on_error": "record", "journal": journal, **looks, **more}
    return research.run(procedure, algorithm, X, y, **settings)


@pytest.mark.parametrize("name", RUNS)
def test_a_procedure_goes_on_and_is_replayed_without_its_algorithm(name, tmp_path):
    path, rng = tmp_path / "run.journal", random.Random(name)
    found = run(name, path)
    content = path.read_bytes()
    y = KINDS if name == "text" else Y
    for size in [len(content), *(rng.randrange(100, len(content)) for _ in range(4))]:
        path.write_bytes(content[:size])
        if size < len(content):
            with pytest.raises(RecordError, match=r"nothing comes next there|ends before"):
                research.replay(path, RUNS[name][0], X, y)
        assert str(run(name, path, n_jobs=2 if size % 2 else 1)) == str(found) == str(run(name))
        assert path.read_bytes().splitlines()[1:] == content.splitlines()[1:]
    assert str(research.replay(path, RUNS[name][0], X, y)) == str(found)


def test_a_replay_names_another_stage_or_stop(tmp_path):
    path, later = tmp_path / "run.journal", tmp_path / "stops.journal"
    run("stages", path)
    run("stops", later)
    stops = replace(RUNS["stops"][0], stop=9.0)
    for journal, procedure, message in (
        (path, InStages((3, 1)), r"stage 2 belongs to another run \(tasks: 2 there, 1 here"),
        (path, InStages((3,)), "stage 2 comes next there, and the verdict here"),
        (path, InStages((3, 2, 2)), "the verdict comes next there, and stage 3 here"),
        (path, InStages(n=6), r"stage 1 belongs to another run \(digest:"),
        (path, InStages(stop=-9.0), "an answer comes next there, and stage 2 here"),
        (later, stops, r"stage 2 comes next there, and task \d here"),
    ):
        with pytest.raises(RecordError, match=message):
            research.replay(journal, procedure, X, Y)


def test_another_verdict_is_named_and_another_question_is_not_another_verdict(tmp_path):
    path = tmp_path / "run.journal"
    claim = run("Example 1", path)
    other = research.replay(path, replace(RUNS["Example 1"][0], epsilon=0.1), X, Y)
    assert other.statistic > claim.statistic
    stated = replace(RUNS["Example 1"][0])
    object.__setattr__(stated, "judge", lambda *given, **named: replace(claim, statistic=7))
    with pytest.raises(RecordError, match=r"\(verdict: Claim.*statistic=.* there, Claim.*=7"):
        research.replay(path, stated, X, Y)
    with pytest.raises(RecordError, match="rows:"):
        research.replay(path, RUNS["Example 1"][0], X + 1, Y)


def test_a_run_takes_the_seed_that_is_there_and_refuses_what_it_cannot_keep(tmp_path):
    path, procedure = tmp_path / "run.journal", InStages()
    research.run(procedure, Lasso(), X, Y, journal=path)
    research.run(procedure, Lasso(), X, Y, journal=path)
    with pytest.raises(RecordError, match="seed"):
        research.run(procedure, Lasso(), X, Y, journal=path, random_state=1)
    decimal = lambda X, y, seed: lambda rows: [Decimal(1)] * len(rows)  # noqa: E731
    with pytest.raises(RecordError, match="Decimal cannot be kept in a journal"):
        research.run(procedure, decimal, X, Y, journal=tmp_path / "decimal")


LINES = [
    {"errors": []}, {"changes": [1.0], "errors": []}, {"changes": "!", "errors": [1.0]},
    {"changes": [-1.0], "errors": [1.0]}, {"errors": [1.0] * 999}, {"stage": 1}, {"more": 1},
    {"predictions": ["O", [1], "x"]}, {"predictions": "AAAA"}, {"tasks": "x"},
    {"predictions": ["<f8", [-1, -1], "[3]"]}, {"failure": ["magic", ""]},
]  # fmt: skip


@pytest.mark.parametrize("line", LINES, ids=str)
def test_lines_that_poise_did_not_write_are_refused(line, tmp_path):
    path = tmp_path / "run.journal"
    run("stages", path)
    entries = list(read(path, "journal"))
    path.unlink()
    with Log(path, "journal") as log:
        log.begin(entries[0])
        log.append(entries[1])
        log.append(line)
    with pytest.raises(RecordError):
        research.replay(path, InStages(), X, Y)
