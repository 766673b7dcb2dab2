"""Every procedure's transcript gives its verdict again, bit for bit, with the algorithm absent."""

from __future__ import annotations

import dataclasses
from functools import cache

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import KernelDensity

import poise
from poise import Batch, Made, Query, Transcript
from poise.errors import RecordError
from poise.procedures import (
    AdaptiveTest,
    AveragedTest,
    BinomialTest,
    BootstrapTest,
    ExhaustiveTest,
    ExploreThenTest,
    LinearSmootherTest,
    MeasureChanges,
    SimulationTest,
    TransparentLinearTest,
    WorstLabellingTest,
)
from shared.data import linear_rows

X, y = linear_rows(120, [1.0, -2.0])
extra = np.random.default_rng(1).normal(size=(30, 2))


def shifted(X, y, generator, size):
    rows = generator.integers(len(y), size=size)
    return np.asarray(X)[rows] + 0.1, np.asarray(y)[rows]


def uniform(generator, size):
    return generator.uniform(-1, 1, size=(size, 2))


question = {"n": 10, "epsilon": 0.4, "delta": 0.2}
on_coins = {
    "X": np.array([[0.0], [1.0]] * 20),
    "y": np.array([0.0, 0.0, 1.0, 1.0] * 10),
    "X_unlabeled": None,
}
coins = {"support_X": [[0.0], [1.0]] * 2, "support_y": [0.0, 0.0, 1.0, 1.0]}
see_through = {"models": "transparent"}

CASES = {
    "measure": (MeasureChanges(n=10), {}),
    "binomial": (BinomialTest(**question, randomized=True), {}),
    "binomial, stopped": (BinomialTest(**question | {"epsilon": 0.0}), {}),
    "binomial, all trials": (BinomialTest(**question, stop_early=False, shuffle=False), {}),
    "averaged": (AveragedTest(**question, removals=2, points=2), {}),
    "averaged, a coin": (AveragedTest(**question, points=2, randomized=True), {}),
    "bootstrap": (BootstrapTest(**question, resamples=40), {}),
    "gaussian": (SimulationTest(**question, simulations=40), {}),
    "smoothed": (SimulationTest(**question, simulations=40, estimate="smoothed-bootstrap"), {}),
    "kernel density": (SimulationTest(**question, simulations=9, estimate=KernelDensity()), {}),
    "mixture": (SimulationTest(**question, simulations=9, estimate=GaussianMixture(2)), {}),
    "user law": (SimulationTest(**question, simulations=9, estimate=shifted), {}),
    "adaptive": (AdaptiveTest(**question, explorations=30, per_stage=20), {}),
    "explore, then test": (ExploreThenTest(n=5, delta=0.2, explorations=30), {}),
    "exhaustive, certain": (ExhaustiveTest(3, 2.0, 0.1, **coins, deterministic=True), on_coins),
    "exhaustive, under terms": (ExhaustiveTest(3, 2.0, 0.5, **coins), on_coins),
    "exhaustive, fallen back": (ExhaustiveTest(3, 0.01, 0.1, **coins), on_coins),
    "worst labelling": (WorstLabellingTest(3, 0.5, 0.2, responses=(0.0, 1.0)), on_coins),
    "linear smoother": (LinearSmootherTest(**question, low=-50.0, high=50.0), {}),
    "transparent": (TransparentLinearTest(**question), see_through),
    "transparent, ball": (TransparentLinearTest(**question, radius=9.0), see_through),
    "transparent, law": (TransparentLinearTest(**question, feature_law=uniform), see_through),
}
# What a file cannot rebuild, because it is code, has to be given to replay again.
CODE = {"kernel density", "mixture", "user law", "transparent, law"}

cases = pytest.mark.parametrize("name", CASES)


def make_slope():
    """Return a function inside a function: it travels by value, and workers import nothing."""

    def slope(A, b, seed):
        fitted = np.linalg.solve(A.T @ A + np.eye(A.shape[1]), A.T @ (b - b.mean()))

        def predict(rows):
            return rows @ fitted + b.mean()

        predict.coef_, predict.intercept_ = fitted, b.mean()  # for tests that look into models
        return predict

    return slope


def run_case(name: str, algorithm=None, **options):
    procedure, settings = CASES[name]
    arguments = {"X": X, "y": y, "X_unlabeled": extra, "random_state": 7} | settings | options
    data = arguments.pop("X"), arguments.pop("y")
    return poise.run(procedure, algorithm or Ridge(), *data, **arguments)


@cache
def usual(name: str):
    """The run of a case that several tests look at; none of them changes it."""
    return run_case(name)


@pytest.fixture
def algorithm_absent(monkeypatch):
    """From when it is called, no one can fit anything."""

    def gone(*args, **kwargs):
        raise AssertionError("replay must not call the algorithm")

    def remove() -> None:
        monkeypatch.setattr(Ridge, "fit", gone)
        monkeypatch.setattr(poise.running.oracle.Oracle, "answer", gone)
        monkeypatch.setattr(poise.running.tasks.FitByFitWork, "__call__", gone)

    return remove


def same(first, second) -> bool:
    """Equality that also looks into arrays."""
    if isinstance(first, poise.Trials):
        return np.array_equal(first.changes, second.changes) and first.design == second.design
    return type(first) is type(second) and first == second


def test_every_procedure_is_among_the_cases() -> None:
    tried = {type(procedure).__name__ for procedure, _ in CASES.values()}
    assert tried == set(poise.procedures.__all__)


@cases
def test_replay_in_memory(name: str, algorithm_absent) -> None:
    run = usual(name)
    algorithm_absent()
    assert same(poise.replay(run.transcript), run.result)


@cases
def test_replay_from_a_file(name: str, algorithm_absent, tmp_path) -> None:
    run = usual(name)
    run.transcript.save(tmp_path / "run.npz")
    algorithm_absent()
    loaded = Transcript.load(tmp_path / "run.npz")
    assert loaded.counts == run.counts
    assert loaded.algorithm == "Ridge()"
    if name in CODE:
        with pytest.raises(RecordError, match=r"cannot rebuild.*procedure="):
            poise.replay(loaded)
        result = poise.replay(loaded, procedure=CASES[name][0])
    else:
        result = poise.replay(loaded)
    assert same(result, run.result)


@cases
def test_parallel_equals_serial(name: str) -> None:
    serial, parallel = (run_case(name, make_slope(), n_jobs=jobs) for jobs in (1, 2))
    assert same(serial.result, parallel.result)
    assert serial.counts == parallel.counts


@cases
def test_a_second_seed_is_another_run(name: str) -> None:
    run, other = usual(name), run_case(name, random_state=8)
    swapped = dataclasses.replace(run.transcript, seed=other.transcript.seed)
    with pytest.raises(RecordError, match="stage 1"):
        poise.replay(swapped)


@cases
def test_every_result_says_what_it_is_worth(name: str) -> None:
    result = usual(name).result
    if not isinstance(result, poise.Trials):
        heuristic = {"BootstrapTest", "SimulationTest", "AdaptiveTest"}
        assert result.certifies is (type(CASES[name][0]).__name__ not in heuristic)
        assert result.reason.endswith(".")
        assert ("certifies nothing" in str(result)) is not result.certifies


# Differences are found and named


def tampered(transcript: Transcript, which: str = "full", **changes) -> Transcript:
    stage = transcript.stages[0]
    tasks = list(stage.tasks)
    query = dataclasses.replace(getattr(tasks[3], which), **changes)
    tasks[3] = dataclasses.replace(tasks[3], **{which: query})
    stages = (dataclasses.replace(stage, tasks=tuple(tasks)), *transcript.stages[1:])
    return dataclasses.replace(transcript, stages=stages)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"xi": 1}, "stage 1, task 3, full fit: the random term differs: recorded 1"),
        ({"train": np.arange(10)}, r"stage 1, task 3, full fit: the training rows differ: .*\[0 1"),
        ({"evaluate": np.array([99])}, r"task 3, full fit: the evaluation points differ: .*\[99\]"),
        ({"train": Made(X[:10], y[:10])}, "10 made-up rows, now"),
        ({"evaluate": None}, "recorded None"),
    ],
)
@pytest.mark.parametrize("which", ["full", "reduced"])
def test_a_changed_question_is_named(which: str, changes, message: str) -> None:
    transcript = run_case("bootstrap").transcript
    with pytest.raises(RecordError, match=message.replace("full fit", f"{which} fit")):
        poise.replay(tampered(transcript, which, **changes))


def test_a_made_up_row_changed_in_its_last_bit_is_found() -> None:
    transcript = run_case("gaussian").transcript
    made = transcript.stages[0].tasks[3].full.train
    nudged = made.X.copy()
    nudged[4, 1] = np.nextafter(nudged[4, 1], np.inf)
    with pytest.raises(RecordError, match="task 3, full fit: the training rows differ"):
        poise.replay(tampered(transcript, train=Made(nudged, made.y)))


def test_another_procedure_is_found_out() -> None:
    transcript = run_case("bootstrap").transcript
    with pytest.raises(RecordError, match="number of tasks differs: recorded 40, now 41"):
        poise.replay(transcript, procedure=BootstrapTest(**question, resamples=41))
    adaptive = run_case("adaptive").transcript
    fewer = AdaptiveTest(**question, explorations=30, per_stage=20, stages=1)
    more = AdaptiveTest(**question, explorations=30, per_stage=20, stages=3)
    with pytest.raises(RecordError, match=r"ended after stage 2, .* goes on to stage 3"):
        poise.replay(adaptive, procedure=fewer)
    with pytest.raises(RecordError, match=r"asks for a stage 4, .* ends after 3"):
        poise.replay(adaptive, procedure=more)


def test_another_place_to_stop_is_found_out() -> None:
    transcript = run_case("binomial, stopped").transcript
    assert 0 < len(transcript.stages[0].tasks) < transcript.stages[0].asked
    other = dataclasses.replace(transcript.procedure, epsilon=1e9)
    with pytest.raises(RecordError, match="place where the batch was stopped differs"):
        poise.replay(transcript, procedure=other)


def test_another_verdict_is_found_out() -> None:
    transcript = run_case("bootstrap").transcript
    for verdict in {"stable", "unstable", "inconclusive"} - {transcript.verdict}:
        with pytest.raises(RecordError, match="the verdict differs"):
            poise.replay(dataclasses.replace(transcript, verdict=verdict))


def test_the_record_does_not_follow_what_the_procedure_does_to_its_arrays() -> None:
    class Restless:
        def ask(self, sample, randomness):
            rows, made = np.arange(10), Made(np.ones((3, 2)), np.ones(3))
            answers = yield Batch([Query(rows, rows, 0), Query(made, made, 0)])
            rows[:], made.X[:] = 0, -1.0
            return float(answers.predictions[0].sum())

    run = poise.run(Restless(), Ridge(), X, y)
    assert poise.replay(run.transcript) == run.result
    assert run.transcript.stages[0].tasks[0].train.tolist() == list(range(10))


# Failures and refusals are part of the record


def explosive(X, y, seed):
    if y[0] > 1.0:
        raise RuntimeError("too large")
    level = float(np.mean(y))
    return lambda rows: np.full(len(rows), level)


@pytest.mark.parametrize("saved", [False, True])
@pytest.mark.parametrize("kind", ["queries", "comparisons"])
def test_failures_are_replayed(kind: str, saved: bool, tmp_path) -> None:
    class Tolerant:
        def ask(self, sample, randomness):
            answers = yield Batch([Query(np.array([k]), np.array([0]), 0) for k in range(60)])
            return sum(isinstance(p, poise.Failure) for p in answers.predictions)

    procedure = Tolerant() if kind == "queries" else BootstrapTest(**question, resamples=60)
    run = poise.run(procedure, explosive, X, y, on_error="unstable", random_state=0)
    transcript = run.transcript
    if saved:
        transcript.save(tmp_path / "run.npz")
        transcript = Transcript.load(tmp_path / "run.npz")
    assert len(transcript.stages[0].answers.failures) > 5
    assert poise.replay(transcript, procedure=procedure) == run.result


@pytest.mark.parametrize("kind", ["queries", "comparisons"])
def test_refusals_are_replayed_from_a_file(kind: str, tmp_path) -> None:
    class Stubborn:
        def ask(self, sample, randomness):
            ascending, point = np.argsort(y), np.array([0])
            tasks = [Query(np.array([row]), point, 0) for row in ascending]
            if kind == "comparisons":
                tasks = [poise.Comparison(task, tasks[0]) for task in tasks]
            try:
                yield Batch(tasks)
            except poise.errors.TrialError as error:
                yield Batch(tasks[:1])
                return f"{error.trial} {len(error.partial)} {error}"

    run = poise.run(Stubborn(), explosive, X, y)
    below = int((y <= 1.0).sum())
    assert run.result.startswith(f"{below} {below} trial {below} failed")
    run.transcript.save(tmp_path / "run.npz")
    loaded = Transcript.load(tmp_path / "run.npz")
    assert poise.replay(loaded, procedure=Stubborn()) == run.result
