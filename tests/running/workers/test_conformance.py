"""What every backend promises: the same changes bit for bit, in plan order, and no more work.

The serial engine is the reference; the others are real: processes, threads, a Dask
cluster of processes, and Ray.
"""

from __future__ import annotations

import struct
import sys
import threading
import time
import types

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.tree import DecisionTreeRegressor

import poise
from poise.data.sample import Sample
from poise.errors import AlgorithmError, TrialError
from poise.procedures.split_of_rows import Split, TrialSizes
from poise.protocol.messages import Failure
from poise.protocol.randomness import Randomness, Shared
from poise.running.tasks import ComparisonWork
from poise.running.workers.engine import choose_engine
from poise.storage.journal import read_journal

pytestmark = [
    pytest.mark.usefixtures("nothing_left"),
    # Filters belong to the whole process: one that another thread sets may be lost for a moment.
    pytest.mark.filterwarnings("ignore:`sklearn.utils.parallel.delayed` should be used"),
]


def make_noisy():
    """Return a function inside a function: it travels by value, and workers import nothing."""

    def noisy(A, b, seed):
        own = np.random.default_rng(seed).normal() * len(b)
        shared = np.random.normal()  # noqa: NPY002 - the global one is the point
        return lambda rows: [float(b.mean() + own + shared)] * len(rows)

    return noisy


noisy = make_noisy()


# A forest takes longer than a function; a third of the rows are enough for every worker.
ALGORITHMS = {
    "function": (noisy, 660),
    "forest": (RandomForestRegressor(2, max_features=1, n_jobs=-1), 220),
}
APART = {"n": 10, "random_state": 7, "coupling": "independent"}


@pytest.fixture(scope="module", params=ALGORITHMS)
def one_by_one(request, rows):
    """An algorithm, rows, and the changes that one process finds."""
    algorithm, n_rows = ALGORITHMS[request.param]
    some = [column[:n_rows] for column in rows]
    reference = poise.measure(algorithm, *some, **APART)
    assert len(set(reference.changes)) > reference.n_trials / 2
    return algorithm, some, reference.changes


def test_same_changes_bit_for_bit(one_by_one, backend) -> None:
    algorithm, some, expected = one_by_one
    for _ in range(2):  # the second time with workers that have worked before
        trials = poise.measure(algorithm, *some, **APART, **backend)
        assert trials.changes.tobytes() == expected.tobytes()


def test_tables_of_changes_are_the_same_bit_for_bit(backend, rows) -> None:
    settings = {"n": 10, "removals": 2, "points": 3, "random_state": 5}
    reference = poise.measure(noisy, *rows, **settings, n_jobs=1)
    assert reference.changes.shape == (50, 2, 3)
    assert poise.measure(noisy, *rows, **settings, **backend) == reference


def test_a_data_frame_stays_one(backend, rows) -> None:
    X = pd.DataFrame(rows[0], columns=["a", "b", "c"])

    def by_name(A, b, seed):
        level = float(A["b"].mean() * len(b))
        return lambda new: (level + new["c"]).to_numpy()

    arguments = {"n": 20, "random_state": 7}
    reference = poise.measure(by_name, X, rows[1], **arguments)
    trials = poise.measure(by_name, X, rows[1], **arguments, **backend)
    assert trials.changes.tobytes() == reference.changes.tobytes()


def test_a_shortcut_gives_the_same_bits(backend) -> None:
    from sklearn.linear_model import Ridge

    X = np.random.default_rng(0).normal(size=(9_000, 4))
    arguments = {"n": 5, "random_state": 7}
    reference = poise.measure(Ridge(), X, X[:, 0] ** 2, **arguments)
    trials = poise.measure(Ridge(), X, X[:, 0] ** 2, **arguments, **backend)
    assert trials.design.path == reference.design.path != "fit by fit"
    assert trials.changes.tobytes() == reference.changes.tobytes()


def test_plan_order_whatever_finishes_first(backend, rows) -> None:
    """The first trial takes longest; its answer still comes first."""
    first = float(rows[0][0, 0])

    def slow_at_first(A, b, seed):
        time.sleep(0.3 if A[0, 0] == first else 0.001)
        return lambda new: [float(A[0, 0]) * len(b)]

    trials = poise.measure(slow_at_first, *rows, n=10, shuffle=False, **backend)
    expected = np.abs(rows[0][:600:10, 0] * 10 - rows[0][:600:10, 0] * 9)
    assert trials.changes.tobytes() == expected.tobytes()


def test_the_engine_begins_where_it_is_told(backend, rows) -> None:
    sample = Sample(*rows)
    tasks = Split(TrialSizes(10, 60, 660, 0), Randomness(7), Shared())
    work = ComparisonWork(
        poise.as_algorithm(noisy), sample, tasks, False, lambda a, b: abs(float(a) - float(b))
    )
    answers = np.concatenate([np.atleast_1d(a) for a in choose_engine(**backend).map(work, 17, 41)])
    expected = poise.measure(noisy, *rows, n=10, random_state=7).changes[17:41]
    assert answers.tobytes() == expected.tobytes()


def fails_at(trial, rows):
    bad = float(rows[0][trial * 10, 0])

    def fit(A, b, seed):
        if A[0, 0] == bad:
            raise ZeroDivisionError("a singular matrix")
        return lambda new: [0.25]

    return fit


def test_raise_names_the_trial_and_keeps_what_was_measured(backend, rows) -> None:
    with pytest.raises(TrialError, match="trial 23 failed: ZeroDivisionError: a sing") as caught:
        poise.measure(fails_at(23, rows), *rows, n=10, shuffle=False, **backend)
    assert caught.value.trial == 23
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert caught.value.partial.changes.tolist() == [0.0] * 23


def test_unstable_counts_a_failed_trial_as_an_infinite_change(backend, rows) -> None:
    trials = poise.measure(
        fails_at(23, rows), *rows, n=10, shuffle=False, on_error="unstable", **backend
    )
    assert np.flatnonzero(np.isinf(trials.changes)).tolist() == [23]
    assert trials.n_observed == 60
    assert trials.failures == ("ZeroDivisionError: a singular matrix",)


def test_nothing_begins_once_the_verdict_is_forced(backend, rows, tmp_path) -> None:
    """Every change is larger: 60 trials, delta = 0.1, and the verdict is forced after 11."""
    marks, forced = str(tmp_path / "marks"), []

    def marked(A, b, seed):
        if len(b) == 10:
            with open(marks, "ab", buffering=0) as file:
                file.write(struct.pack("d", time.time()))
        time.sleep(0.1)
        return lambda new: [float(len(b))]

    class Test(poise.procedures.BinomialTest):
        def _until(self, design):
            rule = super()._until(design)

            def until(change):
                if rule(change):
                    forced.append(time.time())
                return bool(forced)

            until.forced = False
            return until

    test = Test(10, 0.5, 0.1)
    result = poise.run(test, marked, *rows, distance="absolute", **backend).result
    assert result.verdict == "unstable"
    assert result.n_observed == 11
    time.sleep(0.5)  # whatever was waiting has begun by now, if it is ever going to
    begun = np.fromfile(marks)
    # One on the way to each worker while the news is on its way to them.
    assert (begun > forced[0]).sum() <= (0 if backend["n_jobs"] == 1 else 2)


def test_an_algorithm_that_cannot_be_packed(process_backend, rows) -> None:
    lock = threading.Lock()

    def fit(A, b, seed):
        with lock:
            return lambda new: [0.0]

    with pytest.raises(AlgorithmError, match=r"be sent .* cannot pickle '_thread.lock' object"):
        poise.measure(fit, *rows, n=10, **process_backend)
    assert not poise.measure(fit, *rows, n=10, n_jobs=2, backend="threading").changes.any()


def test_an_algorithm_that_cannot_be_unpacked(process_backend, rows, monkeypatch) -> None:
    """It comes from a module that only this process knows."""
    module = types.ModuleType("only_here")
    exec("def fit(A, b, seed): return lambda new: [0.0]", vars(module))
    monkeypatch.setitem(sys.modules, "only_here", module)
    with pytest.raises(AlgorithmError, match=r"No module named 'only_here'.* or use n_jobs=1"):
        poise.measure(module.fit, *rows, n=10, **process_backend)
    assert not poise.measure(module.fit, *rows, n=10).changes.any()


def test_queries_and_models(backend, rows) -> None:
    class Ask:
        def ask(self, sample, randomness):
            queries = [poise.Query(slice(0, 20 + k), slice(600, 605), xi=k) for k in range(12)]
            answers = yield poise.Batch(queries)
            return [list(values) for values in answers.predictions]

    arguments = {"distance": "absolute", "random_state": 0}
    tree = DecisionTreeRegressor(max_features=1)
    reference = poise.run(Ask(), tree, *rows, **arguments).result
    assert poise.run(Ask(), tree, *rows, **arguments, **backend).result == reference


def test_a_run_cut_short_goes_on_elsewhere(backend, rows, tmp_path) -> None:
    journal = tmp_path / "run.jsonl"
    arguments = {"n": 10, "random_state": 7, "journal": journal}
    reference = poise.measure(noisy, *rows, **arguments)
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:24]) + lines[24][:9])
    trials = poise.measure(noisy, *rows, **arguments, **backend)
    assert trials.changes.tobytes() == reference.changes.tobytes()
    assert read_journal(journal).trials.changes.tobytes() == reference.changes.tobytes()


def test_failures_say_their_kind(backend, rows, tmp_path) -> None:
    journal = tmp_path / "run.jsonl"
    poise.measure(
        fails_at(3, rows), *rows, n=10, shuffle=False, on_error="unstable", journal=journal,
        **backend,
    )  # fmt: skip
    [failure] = read_journal(journal).failures
    assert failure == Failure(3, "ZeroDivisionError: a singular matrix", kind="error")
    assert Shared().name == read_journal(journal).header.design.coupling


def test_a_long_fit_is_not_waited_for(process_backend, rows, tmp_path) -> None:
    """The verdict is forced after 7 trials; the fits after them take long, and mark their end.

    A trial of a tenth of a second is a chunk of its own, and the seventh takes longer than a
    next run would need to start new workers. This test is the last: a worker of a cluster is
    busy after it.
    """
    slow, ended = set(rows[0][70:600:10, 0].tolist()), str(tmp_path / "ended")
    seventh = float(rows[0][60, 0])

    def fit(A, b, seed):
        time.sleep(0.6 if A[0, 0] == seventh else 0.06)
        if A[0, 0] in slow:
            time.sleep(8)
            open(ended, "w").close()
        return lambda new: [float(len(b))]

    result = poise.stability_test(
        fit, *rows, n=10, epsilon=0.5, delta=0.05, shuffle=False, check=False, **process_backend
    )
    assert result.verdict == "unstable"
    assert result.n_observed == 7
    assert not (tmp_path / "ended").exists()
