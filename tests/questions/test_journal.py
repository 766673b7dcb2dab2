"""Runs that are kept in a file: gone on with, refused, replayed."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Lasso, LinearRegression, Ridge
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import poise
from poise.errors import RecordError, TrialError, ValidityWarning

X, Y = load_diabetes(return_X_y=True)
LABELS = np.where(Y > 140, "high", "low").astype(object)
FITS: list[int] = []  # rows of each fit of ``level``


def level(rows, y, seed):
    """A fit that is counted, and fails where the first response is small."""
    FITS.append(len(rows))
    if y[0] < 50:
        raise ValueError(f"a response of {y[0]:g}")
    noise = np.random.default_rng(seed).normal()
    return lambda points: y.mean() + noise + points[:, 0]


def by_batch(rows, y, seed):
    """Predictions depend on the points beside them: the look gives them up."""
    FITS.append(len(rows))
    return lambda points: y.mean() + points[:, 0] - points[:, 0].mean() + y[0]


level_only = partial(poise.measure, level, X, Y, n=10, on_error="record", check=False)
GIVEN = (X[:30], Y[:30], X[400:], Y[400:])
RUNS = {
    "plain": partial(poise.measure, DecisionTreeRegressor(), X, Y, n=10),
    "own function, failures": level_only,
    "two workers": partial(level_only, n_jobs=2),
    "looked at": partial(level_only, check=True, coupling="independent"),
    "given up": partial(poise.measure, by_batch, X, Y, n=10, points_per_trial=2),
    "several removals": partial(level_only, removals_per_trial=2, points_per_trial=3),
    "by formula": partial(poise.measure, Ridge(), X, Y, n=10),
    "partly by formula": partial(poise.measure, LinearRegression(), np.round(X, 2), Y, n=12),
    "stopped early": partial(
        poise.stability_test, Ridge(), X, Y, n=10, epsilon=1, delta=0.2, stop_early=True
    ),
    "share of the sd": partial(
        poise.stability_test, Lasso(), X, Y, n=10, epsilon="20% of sd", delta=0.2
    ),
    "coin": partial(
        poise.stability_test, level, X, Y, n=20, epsilon=9, delta=0.2,
        on_error="record", check=False, randomized=True,
    ),
    "groups": partial(poise.measure, Lasso(), X, Y, n=8, groups=np.arange(442) // 3),
    "labels": partial(poise.measure, DecisionTreeClassifier(), X, LABELS, n=20),
    "decision": partial(
        poise.measure, Lasso(), X, Y, n=20, distance=poise.decisions.top_k(2, of=5)
    ),
    "deployed": partial(poise.measure_deployed, level, *GIVEN[:3], check=False, on_error="record"),
    "update": partial(poise.measure_deployed, DecisionTreeRegressor(), *GIVEN, update=2),
    "jackknife": partial(poise.measure_deployed, Lasso(), *GIVEN, notion="jackknife"),
}  # fmt: skip


def trials_of(answer):
    return getattr(answer, "trials", answer)


def changes_of(answer):
    trials = trials_of(answer)
    return trials.changes.tobytes(), trials.errors.tobytes(), trials.failures, trials.asked


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "run.journal"


@pytest.mark.filterwarnings("ignore::poise.errors.PoiseWarning", "ignore::UserWarning")
@pytest.mark.parametrize("name", RUNS)
def test_a_run_goes_on_from_wherever_it_was_cut_to_the_same_bits(name, path):
    run, rng = RUNS[name], random.Random(name)
    plain = run()
    FITS.clear()
    whole = run(journal=path)
    assert changes_of(whole) == changes_of(plain)
    content, fits = path.read_bytes(), len(FITS)
    lines = content.splitlines(keepends=True)
    for size in [len(content), len(lines[0]), 50, *(rng.randrange(50, len(content)) for _ in "12")]:
        path.write_bytes(content[:size] + b"\0" * rng.choice((0, 9)))
        if size >= len(lines[0]):
            so_far = poise.load(path)
            assert (
                so_far.changes.tobytes() == trials_of(whole).changes[: so_far.n_observed].tobytes()
            )
        kept = content[:size].count(b"\n") - 1
        FITS.clear()
        again = run(journal=path)
        assert changes_of(again) == changes_of(whole)
        after = path.read_bytes().rstrip(b"\0").splitlines()
        assert after[1:] == content.splitlines()[1:]
        if kept >= 0:  # else it began again, at another time and with another coin
            assert after[0] == content.splitlines()[0]
            assert trials_of(again) == trials_of(whole)
        if fits and name != "two workers" and kept >= 0:
            each = {"deployed": 1, "several removals": 4}.get(name, 2)
            assert len(FITS) <= each * (len(lines) - 1 - kept)  # a failed full fit spares one
    assert trials_of(poise.load(path)) == trials_of(again)


SCRIPT = """
import sys, time
import numpy as np
import poise
def level(X, y, seed):
    time.sleep(0.01)
    value = y.mean() + np.random.default_rng(seed).normal()
    return lambda points: np.full(len(points), value)
rng = np.random.default_rng(1)
X, y = rng.normal(size=(600, 2)), rng.normal(size=600)
found = poise.measure(level, X, y, n=5, n_jobs=int(sys.argv[1]), check=False, **eval(sys.argv[2]))
print(found.n_observed, found.changes.tolist(), found.errors.tolist())
"""


def lines_in(path):
    return path.read_bytes().count(b"\n") if path.exists() else 0


def started(workers, **more):
    command = [sys.executable, "-c", SCRIPT, str(workers), repr(more)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_a_run_killed_at_random_moments_ends_as_if_nothing_had_happened(path):
    said = started(1).communicate()[0]
    rng, kept = random.Random(5), 0
    for workers in (1, 2, 1, 2):
        process = started(workers, journal=str(path))
        while kept < 90 and kept == lines_in(path):
            time.sleep(0.01)
        time.sleep(rng.random() / 3)
        process.kill()
        process.communicate()
        assert lines_in(path) >= kept
        kept = lines_in(path)
    assert kept > 0
    assert started(2, journal=str(path)).communicate()[0] == said


OTHERS = {
    "n: 10 there, 11 here": {"n": 11},
    "seed: 0 there, 1 here": {"random_state": 1},
    "coupling: shared there, independent here": {"coupling": "independent"},
    "max_trials: 10000 there, 5 here": {"max_trials": 5},
    "points: 1 there, 2 here": {"points_per_trial": 2},
    "removals: 1 there, 2 here": {"removals_per_trial": 2},
    "distance: <lambda> there, absolute here": {"distance": "absolute"},
    "rows: ": {"X": X * (1 + 1e-15)},
    "algorithm: ": {"algorithm": Lasso(alpha=2)},
    "shuffle: true there, false here": {"shuffle": False},
    "code of the distance:": {"distance": lambda a, b: 2 * np.abs(a - b)},
}


@pytest.mark.parametrize("said", OTHERS)
def test_another_run_is_refused_with_both_values(said, path):
    same = {"algorithm": Lasso(), "X": X, "y": Y, "n": 10}
    if "distance:" in said:
        same["distance"] = lambda a, b: np.abs(a - b)
    poise.measure(**same, journal=path)
    before = path.read_bytes()
    with pytest.raises(RecordError, match=r"run.journal belongs to another run") as error:
        poise.measure(**same | OTHERS[said], journal=path)
    assert said.lower() in str(error.value).lower()
    assert path.read_bytes() == before


def test_what_may_differ(path):
    run = partial(level_only, random_state=None)
    first = run(journal=path, max_trials=20, name="one")
    result = poise.stability_test(
        level, X, Y, n=10, epsilon=9, delta=0.2, random_state=None, max_trials=20, check=False,
        n_jobs=2, progress=False, on_error="record", randomized=True, journal=path, name="two",
    )  # fmt: skip
    assert np.array_equal(result.trials.changes, first.changes, equal_nan=True)
    assert result.trials.zeta == first.zeta
    assert "Asked after the fits" in str(result)
    assert "Asked after" not in str(
        poise.stability_test(Lasso(), X, Y, n=10, epsilon=9, delta=0.2, journal=f"{path}2")
    )


def test_other_code_goes_on_with_a_warning_that_stays(path):
    def shifted(by):
        return lambda X, y, seed: lambda points: points[:, 0] * y.mean() + by

    run = partial(poise.measure, X=X, y=Y, n=10, journal=path, name="f")
    run(shifted(1))
    content = path.read_bytes()
    with pytest.warns(ValidityWarning, match="begun with other code"):
        run(shifted(2))
    assert path.read_bytes() == content  # nothing was computed by it
    os.truncate(path, len(content) - 1)
    for by in (2, 2, 1):
        with pytest.warns(ValidityWarning, match="begun with other code"):
            trials = run(shifted(by))
    assert path.read_text().count("other code") == 1
    assert poise.load(path).warnings == trials.warnings


def test_a_failure_that_ended_a_run_is_tried_again_and_one_that_counted_is_not(path):
    mended = []

    def fails_once(rows, y, seed):
        if y[0] < 50 and not mended:
            raise ValueError("too small")
        return lambda points: points[:, 0]

    run = partial(poise.measure, fails_once, X, Y, n=10, check=False, journal=path)
    with pytest.raises(TrialError, match="too small") as error:
        run()
    assert error.value.partial.n_observed == lines_in(path) - 1
    mended.append(True)
    assert run().n_failures == 0
    counted = f"{path}2"
    assert level_only(journal=counted).n_failures == 2
    with pytest.raises(TrialError, match="a response of"):
        level_only(journal=counted, on_error="raise")
