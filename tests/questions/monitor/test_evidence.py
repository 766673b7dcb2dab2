"""What a monitor says: the theory's numbers on the shares of disjoint trials, at any time."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import poise
from poise import theory
from poise.storage.monitor_record import read_record
from shared.algorithms import Spy, mean
from shared.monitors import last_row, rows


def test_it_says_what_the_theory_says_of_its_shares(begin, record) -> None:
    monitor = begin(points=3, removals=2)
    for day in range(3):
        monitor.add(*rows(50, day))
    status = monitor.status
    shares = theory.shares(read_record(record).changes, 1.5)
    assert len(shares) == 21
    assert 0 < shares.mean() < 0.5
    assert list(status.shares) == shares.tolist() == list(status.shares_unstable)
    assert monitor.e_value == theory.mixture(shares, 0.2)
    assert status.e_value_unstable == theory.mirror_mixture(shares, 0.2)
    assert monitor.verdict == theory.open_ended_verdict(shares, 0.2, 0.05).verdict
    limits = monitor.confidence_sequence
    assert limits.upper == pytest.approx(theory.limits_over_time(shares, 0.05).upper)
    assert status.delta_hat == pytest.approx(
        min(theory.mixture_delta_hat(shares[:t], 0.05) for t in range(22)), rel=1e-8
    )
    assert status.looks == (7, 14, 21)


def test_its_changes_are_those_of_the_trials_it_names(begin, record) -> None:
    """|last − last but one| of the rows that the record lists for each trial, in its order."""
    from poise.data.keyed_row_hashes import RowKey, row_identities
    from poise.data.tables import as_table

    X, y = rows(30)
    begin(random_state=3).add(X, y)
    content = read_record(record)
    key = RowKey(bytes.fromhex(content.header.key))
    known = row_identities(key, as_table(X, "X"), as_table(y, "y"))
    (batch,) = content.batches
    order = [known.index(each) for each in batch.rows]
    assert len(set(order)) == batch.trials * 5 == 30
    trained = np.array(order[:24]).reshape(6, 4)
    assert [float(c) for c in np.ravel(content.changes)] == pytest.approx(
        np.abs(y[trained[:, 3]] - y[trained[:, 2]]).tolist()
    )


def test_no_row_serves_twice(record) -> None:
    spy = Spy()
    monitor = poise.Monitor(record, spy, n=4, epsilon=1, delta=0.2, random_state=1, check=False)
    everything = np.arange(1000.0)
    for start in (0, 23, 46):
        part = everything[start : start + 23, None]
        monitor.add(np.hstack([part, part]), part[:, 0])
    seen = [[*full, point] for full, _, point in spy.trials()]
    flat = [row for trial in seen for row in trial]
    assert len(seen) == 13  # 69 rows: four are left after the third call
    assert len(flat) == len(set(flat)) == 65
    assert monitor.status.n_leftover == 4


def test_unlabelled_rows_are_the_points_and_save_labelled_ones(record) -> None:
    spy = Spy()
    monitor = poise.Monitor(record, spy, n=4, epsilon=1, delta=0.2, random_state=1, check=False)
    X = np.arange(8.0)[:, None] * [1, 1]
    status = monitor.add(X, X[:, 0], X + 100)
    assert status.n_trials == 2
    assert all(point >= 100 for *_, point in spy.trials())
    assert (status.n_rows, status.n_leftover) == (10, 6)


@pytest.mark.parametrize("settings", [{}, {"points": 3, "removals": "all"}])
def test_the_same_seed_and_calls_give_the_same_record(begin, record, settings) -> None:
    found = []
    for _ in range(2):
        monitor = begin(**settings)
        monitor.add(*rows(40, 1))
        monitor.add(*rows(40, 2))
        found.append(monitor.status.shares)
        record.unlink()
    assert found[0] == found[1]
    assert len(found[0]) > 5


def test_reopening_goes_on_where_it_was(begin, record) -> None:
    begin().add(*rows(40, 1))
    later = begin()
    later.add(*rows(40, 2))
    record.unlink()
    at_once = begin()
    at_once.add(*rows(40, 1))
    at_once.add(*rows(40, 2))
    assert later.status.shares == at_once.status.shares


def test_without_a_seed_the_seed_of_the_record_goes_on(begin) -> None:
    begin().add(*rows(40, 1))
    again = begin(random_state=None)
    again.add(*rows(40, 2))
    assert again.status.design.seed == 7


def test_two_objects_see_each_other(begin) -> None:
    one, other = begin(), begin()
    one.add(*rows(40, 1))
    assert other.status.n_trials == one.status.n_trials == 8
    other.add(*rows(40, 2))
    assert one.status.n_trials == 16


def test_verdicts_are_reached_and_kept(begin, tmp_path) -> None:
    stable = begin(mean)
    status = stable.add(*rows(400))
    first = next(t for t in range(99) if theory.e_value(0, t, 0.2) >= 20)
    assert (status.verdict.value, status.stable, status.decided_at) == ("stable", True, first)
    unstable = poise.Monitor(
        tmp_path / "u", last_row, n=4, epsilon=0.1, delta=0.2, random_state=0, progress=False
    )
    assert unstable.verdict == "inconclusive"
    assert unstable.add(*rows(200)).verdict == "unstable"
    assert unstable.add(*rows(200, 1)).verdict == "unstable"


def test_the_level_holds_for_one_who_looks_after_every_call(tmp_path) -> None:
    """δ* = δ: at most a share α of records may ever say "stable", at any of three looks.

    More than 14 of 30 have probability below 1e-6 if each has probability .1.
    """
    from scipy.stats import binom

    assert binom.sf(14, 30, 0.1) < 1e-6
    false = 0
    for seed in range(30):
        monitor = poise.Monitor(
            tmp_path / f"{seed}",
            last_row,
            n=2,
            epsilon=2 - math.sqrt(0.8),  # |U − U'| > ε has probability (2 − ε)² / 4 = δ
            delta=0.2,
            alpha=0.1,
            random_state=seed,
            progress=False,
            check=False,
        )
        for day in range(3):
            monitor.add(*rows(75, 1000 + 10 * seed + day))
        assert monitor.status.n_trials == 75
        false += monitor.verdict == "stable"
    assert false <= 14


def test_failures_count_against_stable_and_never_for_unstable(begin) -> None:
    def fails(X, y, seed):
        raise ZeroDivisionError("singular")

    monitor = begin(fails, on_error="unstable")
    status = monitor.add(*rows(200))
    assert (status.n_trials, status.n_failures) == (40, 40)
    assert status.verdict == "inconclusive"
    assert status.e_value == pytest.approx(1 / 41)
    assert status.e_value_unstable == pytest.approx(1 / 41)
    assert "40 trials failed at least in part" in monitor.summary()


def test_the_summary_says_what_it_is_about(begin) -> None:
    monitor = begin(points=3)
    assert "No trial has been run yet." in monitor.summary()
    monitor.add(*rows(150))
    text = monitor.summary()
    for words in (
        "it does not watch for drift",
        "holds for all looks together",
        "share of its 3 points",
        "the first to reach 20 decides",
        "each limit holds at all times together with confidence 0.95",
        "3 rows were too few for a trial: not used yet.",
    ):
        assert words in text, words
    assert repr(monitor).startswith("Monitor(")
    assert str(monitor.status) == text
    assert "e-value, stable" in monitor.status._repr_html_()


def test_json_holds_everything(begin) -> None:
    monitor = begin()
    monitor.add(*rows(60))
    content = json.loads(monitor.to_json())
    assert content["verdict"] == "inconclusive"
    assert content["e_value"] == monitor.e_value
    assert len(content["confidence_sequence"]["upper"]) == content["n_trials"] + 1 == 13
    assert content["design"]["algorithm"] == "last_row"


def test_losses_need_labelled_points(begin) -> None:
    monitor = begin(distance="loss:absolute")
    status = monitor.add(*rows(50), rows(50, 3)[0])
    assert (status.n_trials, status.n_leftover) == (10, 50)
    assert "loss" in monitor.summary()


def test_frames_and_sparse_rows(begin, tmp_path) -> None:
    import pandas as pd
    import scipy.sparse

    X, y = rows(33)
    frame = pd.DataFrame({"a": X[:, 0], "town": ["Ely", "Bath", "York"] * 11})
    monitor = begin()
    monitor.add(frame[:16], y[:16])
    monitor.add(frame[16:], y[16:])
    assert (monitor.status.n_trials, monitor.status.n_leftover) == (6, 3)
    with pytest.raises(poise.errors.DataError, match="30 of the 33 rows"):
        monitor.add(frame, y)
    sparse = poise.Monitor(
        tmp_path / "sparse", last_row, n=4, epsilon=1.5, delta=0.2, random_state=0, progress=False
    )
    sparse.add(scipy.sparse.csr_array(X), y)
    assert sparse.status.n_trials == 6
