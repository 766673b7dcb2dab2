"""Rows that come in over time: no row serves twice, no look costs anything, no call is lost."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.linear_model import Lasso, LogisticRegression

import poise
from poise.cli import main
from poise.data.randomness import Randomness
from poise.errors import (
    ArgumentError,
    DataError,
    PoiseWarning,
    RecordError,
    TrialError,
    ValidityWarning,
)
from poise.theory import open_ended

RNG = np.random.default_rng(47)
X = RNG.normal(size=(400, 2))
y = X @ [1.0, 2.0] + RNG.normal(size=400)
DAYS = [slice(0, 90), slice(90, 130), slice(130, 250)]
N, T = 5, 3


def noisy(X, y, seed):
    """A mean, and a number that the seed decides: whatever is used twice shows."""
    level = float(np.mean(y)) + np.random.default_rng(seed).normal()
    return lambda rows: level + 0.1 * rows[:, 0] * len(y)


def monitor(path, algorithm=noisy, **settings):
    asked = {"n": N, "epsilon": 0.4, "delta": 0.3, "random_state": 8, "points_per_trial": T}
    asked |= {} if str(path).endswith("looked") else {"check": False}  # which takes a process
    return poise.Monitor(path, algorithm, **{**asked, **settings})


def by_hand():
    """The changes of all days, from the order of rows and the seeds."""
    tables, first, source = [], 0, Randomness(8)
    for day in DAYS:
        rows = np.arange(400)[day][source.order("order of labelled rows", day.stop - day.start)]
        m = len(rows) // (N + T)
        for k in range(m):
            train, points = rows[k * N : (k + 1) * N], rows[m * N + k + m * np.arange(T)]
            seed = int(source.block("xi", first + k, first + k + 1)[0, 0]) >> 33
            full, reduced = (noisy(X[t], y[t], seed)(X[points]) for t in (train, train[:-1]))
            tables.append([abs(full - reduced)])
        first += m
    return np.array(tables)


def test_trials_are_those_of_a_loop_and_every_look_is_that_of_the_theory(tmp_path):
    changes, seen = by_hand(), 0
    for day, trials in zip(DAYS, (11, 5, 15), strict=True):
        asked = {} if seen else {"n": N, "epsilon": 0.4, "delta": 0.3, "random_state": 8}
        asked |= {} if seen else {"points_per_trial": T}
        watch = poise.Monitor(tmp_path / "a.record", noisy, check=False, **asked)  # of another day
        result = watch.add(X[day], y[day])
        seen += trials
        assert np.array_equal(result.trials.changes, changes[:seen])
        theory = open_ended((changes[:seen] > 0.4).mean(axis=(1, 2)), 0.3, 0.05)
        assert (result.verdict, watch.verdict) == (theory.verdict, theory.verdict)
        assert np.isclose(watch.e_value, np.exp(theory.log_e[-1]), rtol=1e-12)
        assert (result.n_trials, result.stopped_early) == (seen, False)
        assert watch.decided_now == (seen - trials < (theory.decided_at or 0) <= seen)
    assert str(poise.load(tmp_path / "a.record")) == str(result)


# Rows -------------------------------------------------------------------------------------------


def test_a_row_is_used_once(tmp_path):
    watch = monitor(tmp_path / "a.record")
    watch.add(X[:90], y[:90])
    with pytest.raises(DataError, match=r"88 of 190 rows were used before, .* such as row 100"):
        watch.add(*(np.append(each[300:], each[:90], axis=0) for each in (X, y)))
    grown = watch.add(X[:130], y[:130], skip_used=True)
    assert grown.n_trials == 11 + (130 - 88) // (N + T)
    for few in (X[130:132], X[130:135]):  # they are not used
        with pytest.warns(PoiseWarning, match="rows are too few for a trial, which takes 8"):
            assert watch.add(few, y[130 : 130 + len(few)]).n_trials == grown.n_trials
    assert watch.add(X[130:138], y[130:138]).n_trials == grown.n_trials + 1
    frame = pd.DataFrame(X[:90], columns=["a", "b"]).assign(y=y[:90])
    with pytest.raises(DataError, match="used before"):  # in another container
        watch.add(frame, "y")


def test_names_tell_equal_rows_apart_and_chance_is_no_copy(tmp_path):
    watch = monitor(tmp_path / "ids.record")
    rows, names = (X[:90], y[:90]), np.arange(180)
    watch.add(*rows, ids=names[:90])
    assert watch.add(*rows, ids=names[90:]).n_trials == 22
    with pytest.raises(DataError, match="used before"):
        watch.add(*rows, ids=names[90:])
    with pytest.raises(DataError, match="a different name for each row"):
        watch.add(*rows, ids=names[:90] // 2)
    few = RNG.integers(0, 3, size=(240, 3)).astype(float)
    watch = monitor(tmp_path / "few.record")
    for part in np.split(few, 2):
        result = watch.add(part[:, :2], part[:, 2])
    assert result.n_trials == 30
    with pytest.raises(ArgumentError, match="equal by chance"):
        watch.add(few[:, :2], few[:, 2], skip_used=True)


# Calls ------------------------------------------------------------------------------------------


def test_the_first_trial_is_looked_at_once(tmp_path):
    def beside(X, y, seed):
        return lambda rows: rows[:, 0] * y.sum() * (1 + (len(rows) > 1))

    watch = monitor(tmp_path / "a.looked", beside)
    with pytest.warns(ValidityWarning, match="only one point of each trial is used"):
        watch.add(X[:90], y[:90])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = watch.add(X[90:130], y[90:130])
    assert result.trials.changes.shape == (16, 1, 1)
    assert "only one point" in str(result)
    assert "removing one of them" in str(result)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.35, 0.42, 0.5, 0.75, 0.99])
def test_an_interrupted_call_is_finished_by_the_same_rows(tmp_path, share):
    whole = monitor(tmp_path / "whole.record")
    for day in DAYS:
        whole.add(X[day], y[day])
    lines = whole.path.read_text().splitlines(keepends=True)
    kept = 2 + int(share * (len(lines) - 2))
    path = tmp_path / "cut.record"
    path.write_text("".join(lines[:kept]) + lines[kept][: len(lines[kept]) // 2])
    text = path.read_text().splitlines()[1:kept]
    ended, begun = (sum(f'"{word}"' in line for line in text) for word in ("order_free", "rows"))
    partial = poise.Monitor(path).result
    assert partial.n_observed == sum('"changes"' in line for line in text)
    if partial.stopped_early:
        assert "repeat the call that was interrupted" in str(partial)
        with pytest.raises(RecordError, match=r"of its .* rows are not among these"):
            monitor(path).add(X[300:], y[300:])
    for k, day in enumerate(DAYS[ended:]):
        order = np.arange(400)[day]
        if begun > ended and not k:  # its rows are found in any order
            order = np.random.default_rng(1).permutation(order)
        result = monitor(path).add(X[order], y[order])
    assert path.read_text() == "".join(lines)
    assert result.n_trials == 31


def test_a_failed_fit_ends_a_call_which_then_goes_on_and_a_record_may_begin_again(tmp_path):
    full = tmp_path / "full"
    row = y[Randomness(8).order("order of labelled rows", 90)[6 * N]]  # the first of trial 6

    def fails(X, y, seed):
        if full.exists() and y[0] == row:
            raise ZeroDivisionError("no memory")
        return noisy(X, y, seed)

    full.touch()
    watch = monitor(tmp_path / "a.record", fails)
    with pytest.raises(TrialError, match="no memory") as caught:
        watch.add(X[:90], y[:90])
    assert "keeps the trials so far" in caught.value.__notes__[-1]
    assert watch.result.n_observed == 6
    full.unlink()
    done = watch.add(X[:90], y[:90])
    assert np.array_equal(done.trials.changes, by_hand()[:11])
    again = watch.restart()  # which forgets evidence, but neither rows nor random terms
    assert (again.n_trials, again.verdict) == (0, "inconclusive")
    with pytest.raises(DataError, match="used before"):
        watch.add(X[:90], y[:90])
    assert np.array_equal(watch.add(X[90:130], y[90:130]).trials.changes, by_hand()[11:16])


def test_the_outlook_is_about_calls_like_the_last_one(tmp_path):
    watch = monitor(tmp_path / "a.record", Lasso(0.1), n=5, epsilon=5.0, delta=0.1)
    rows = np.split(RNG.normal(size=(480, 2)), 6)
    said = []
    for part in rows:
        watch.add(part, part.sum(axis=1))
        said.append(watch.outlook)
        if watch.verdict != "inconclusive":
            break
    assert watch.decided_now
    calls = [int(text.split()[4]) for text in said[:-1]]
    assert calls == list(range(len(said) - 1, 0, -1))  # no change was large: the rate is kept
    assert said[-1] == ""

    def fails(X, y, seed):  # which counts against "stable", and never for "unstable"
        return (lambda rows: rows[:, 0]) if y[0] > 0 else 1 / 0

    never = monitor(tmp_path / "b.record", fails, on_error="record")
    assert never.add(X[:90], y[:90]).n_failures > 3
    assert str(never).endswith("At this rate no verdict is in sight.")


# What is refused, and what else a monitor can ask ----------------------------------------------


def test_another_question_is_refused(tmp_path):
    monitor(tmp_path / "a.record").add(X[:90], y[:90])
    more = (X[90:200], y[90:200])
    edited = lambda rows, y, seed: lambda new: np.zeros(len(new))  # noqa: E731
    edited.__name__ = edited.__qualname__ = "noisy"
    for settings, words in [
        ({"epsilon": 0.5}, "epsilon: 0.4 there, 0.5 here"),
        ({"n": 6}, "n: 5 there, 6 here"),
        ({"random_state": 9}, "seed: 8 there, 9 here"),
        ({"distance": "absolute"}, "distance: euclidean there, absolute here"),
        ({"algorithm": Lasso()}, "algorithm: noisy there"),
        ({"algorithm": edited}, "code"),
        ({"algorithm": None}, "algorithm is missing"),
        ({"epsilon": "5% of sd"}, "epsilon must be a number"),
        ({"fit_params": {"a": 1}}, "fit_params is not an argument of Monitor"),
    ]:
        with pytest.raises((RecordError, ArgumentError), match=words):
            monitor(tmp_path / "a.record", **settings).add(*more)
    with pytest.raises(RecordError, match="does not exist"):
        _ = monitor(tmp_path / "b.record").verdict
    (tmp_path / "c.record").write_text("mine\n")
    with pytest.raises(RecordError, match="not a record written by poise"):
        monitor(tmp_path / "c.record")
    assert (tmp_path / "c.record").read_text() == "mine\n"


@pytest.mark.parametrize("kind", ["labels", "decisions", "losses"])
def test_labels_decisions_and_losses(tmp_path, kind):
    algorithm, responses, asked = {
        "labels": (LogisticRegression(), np.where(y > 0, "yes", "no"), {"epsilon": None}),
        "decisions": (Lasso(0.1), y, {"epsilon": None, "distance": "top_k(2, of=4)"}),
        "losses": (Lasso(0.1), y, {"distance": poise.loss_change("squared")}),
    }[kind]
    watch = monitor(tmp_path / "a.record", algorithm, n=20, points_per_trial=None, **asked)
    for part in (slice(0, 200), slice(200, 400)):
        result = watch.add(X[part], responses[part])
    assert result.n_trials == 2 * (200 // (20 + result.design.points))
    result.save(tmp_path / "a.json")
    assert str(poise.load(tmp_path / "a.json")) == str(result)
    assert "monitor" in poise.verify(tmp_path / "a.json", algorithm, X, responses).open[-1]


def test_the_command_keeps_what_the_first_call_said(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(y=y, id=np.arange(400))
    for name, day in zip(("one", "two", "three"), DAYS, strict=True):
        frame[day].to_csv(f"{name}.csv", index=False)
    frame[:250].to_csv("all.csv", index=False)

    def run(words):
        return CliRunner().invoke(main, ["monitor", "a.record", *words.split()])

    assert "Missing --target: a.record is begun by this call" in run("one.csv").stderr
    run("one.csv --target y --ids id --algorithm Lasso --n 5 --epsilon 0.4 --delta 0.3")
    assert "rows were used before, says a.record, such as line 2" in run("one.csv").stderr
    run("two.csv")
    last = run("all.csv --skip-used --json")
    told = json.loads(last.stdout)
    assert told["n_trials"] == 15 + 6 + 20
    assert set(told) >= {"decided_now", "outlook", "e_value"}
    assert run("-q").stdout.strip() == told["verdict"]
    assert "n: 5 there, 6 here" in run("three.csv --n 6").stderr
    assert "no trial" in run("--restart").stdout
