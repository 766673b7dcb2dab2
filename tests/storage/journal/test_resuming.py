"""A run that was cut short goes on, and ends as if nothing had happened."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Ridge

import poise
from poise.errors import PoiseWarning, RecordError, TrialError
from poise.storage.journal import read_journal
from shared.algorithms import drift
from shared.data import linear_rows
from shared.journals import edit_header

X, y = linear_rows(330, [0.0, 0.0], 3)


@pytest.mark.parametrize("after", [0, 1, 2, 17, 58, 59])
def test_changes_are_those_of_an_undisturbed_run(after, measure, cut_short, journal) -> None:
    cut_short(journal, after)
    assert read_journal(journal).trials.n_observed == after // 2
    trials = measure(journal=journal)
    assert trials.changes.tobytes() == measure().changes.tobytes()
    assert read_journal(journal).trials.changes.tobytes() == trials.changes.tobytes()


def test_what_is_in_the_journal_is_not_computed_again(
    measure, cut_short, journal, fuse, monkeypatch
) -> None:
    cut_short(journal, 40)
    monkeypatch.setattr(fuse, "fits_left", 20)  # one more would be an exception
    measure(journal=journal, check=False)
    assert fuse.fits_left == 0
    measure(journal=journal)
    assert fuse.fits_left == 0, "a finished journal holds everything"


def test_a_seed_nobody_gave_is_kept(measure, cut_short, journal) -> None:
    cut_short(journal, 30, random_state=None)
    trials = measure(journal=journal, random_state=None)
    assert trials.design.seed == read_journal(journal).header.design.seed
    again = measure(random_state=trials.design.seed)
    assert trials.changes.tobytes() == again.changes.tobytes()


def test_a_verdict_and_its_early_stop(journal) -> None:
    asked = {"n": 10, "epsilon": 0.8, "delta": 0.5, "random_state": 1}
    undisturbed = poise.stability_test(drift, X, y, **asked)
    assert undisturbed.stopped_early
    first = poise.stability_test(drift, X, y, **asked, journal=journal)
    assert first == undisturbed
    lines = journal.read_bytes().splitlines(keepends=True)
    assert len(lines) == 1 + first.n_observed, "nothing beyond the trial that settled it"
    journal.write_bytes(b"".join(lines[:8]))
    assert poise.stability_test(drift, X, y, **asked, journal=journal) == undisturbed
    assert poise.stability_test(drift, X, y, **asked, journal=journal) == undisturbed


def test_another_question_may_be_put_to_the_same_trials(journal) -> None:
    common = {"n": 10, "random_state": 1, "journal": journal}
    first = poise.stability_test(drift, X, y, epsilon=0.8, delta=0.5, **common)
    other = poise.stability_test(drift, X, y, epsilon=0.1, delta=0.2, alpha=0.1, **common)
    trials = poise.measure(drift, X, y, **common)
    assert first.n_observed < trials.n_observed == 30
    assert trials.test(epsilon=0.8, delta=0.5).verdict == first.verdict
    assert trials.test(epsilon=0.1, delta=0.2, alpha=0.1).verdict == other.verdict


def test_blocks_of_a_shortcut(journal) -> None:
    X, y = np.random.default_rng(0).normal(size=(20_000, 3)), np.arange(20_000.0)
    whole = poise.measure(Ridge(), X, y, n=3, random_state=0)
    assert whole.design.path != "fit by fit"
    poise.measure(Ridge(), X, y, n=3, random_state=0, journal=journal)
    lines = journal.read_bytes().splitlines(keepends=True)
    for kept in (1, 100, 1234, len(lines) - 1):
        journal.write_bytes(b"".join(lines[:kept]))
        again = poise.measure(Ridge(), X, y, n=3, random_state=0, journal=journal)
        assert again.changes.tobytes() == whole.changes.tobytes()


def test_a_shortcut_looks_at_epsilon_so_it_must_be_the_same(journal) -> None:
    X, y = np.random.default_rng(0).normal(size=(2_000, 3)), np.arange(2_000.0)
    common = {"n": 9, "delta": 0.5, "random_state": 0, "journal": journal}
    poise.stability_test(Ridge(), X, y, epsilon=30.0, **common)
    with pytest.raises(RecordError, match=r"epsilon: \[30.0\] in the journal, \[20.0\] now"):
        poise.stability_test(Ridge(), X, y, epsilon=20.0, **common)


def test_a_failure_is_kept_where_it_counts(measure, journal) -> None:
    def mean(A, b, seed):
        if seed % 3 == 0:
            raise ValueError("a multiple\nof three")
        return lambda rows: [float(seed)]

    whole = measure(mean, on_error="unstable")
    assert 0 < len(whole.failures) < 30
    measure(mean, on_error="unstable", journal=journal)
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:20]))
    again = measure(mean, on_error="unstable", journal=journal)
    assert again.changes.tobytes() == whole.changes.tobytes()
    assert again.failures == whole.failures
    content = read_journal(journal)
    assert {failure.kind for failure in content.failures} == {"error"}
    assert content.trials.failures == whole.failures
    with pytest.raises(TrialError, match="a multiple of three"):
        measure(mean, on_error="raise", journal=journal)


def test_a_failure_that_ends_the_run_is_tried_again(measure, journal) -> None:
    broken = True

    def mean(A, b, seed):
        if broken and len(fits) == 20:
            raise ValueError("for the time being")
        fits.append(seed)
        return lambda rows: [float(seed)]

    fits: list[int] = []
    with pytest.raises(TrialError, match="for the time being") as caught:
        measure(mean, journal=journal)
    assert caught.value.trial == 10
    assert any("10 trials are in" in note for note in caught.value.__notes__)
    broken = False
    with pytest.warns(PoiseWarning, match="the code of mean has changed"):
        trials = measure(mean, journal=journal)
    assert trials.changes.tobytes() == measure(mean).changes.tobytes()


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_another_number_of_workers_may_go_on(n_jobs, measure, cut_short, journal) -> None:
    cut_short(journal, 25)
    trials = measure(journal=journal, n_jobs=n_jobs)
    assert trials.changes.tobytes() == measure().changes.tobytes()


def test_other_versions_are_mentioned(measure, cut_short, journal) -> None:
    cut_short(journal, 10)
    edit_header(journal, lambda header: header["versions"].update(numpy="1.2.3"))
    with pytest.warns(PoiseWarning, match=r"begun with numpy 1\.2\.3 \(now 2\."):
        trials = measure(journal=journal)
    assert trials.changes.tobytes() == measure().changes.tobytes()


def test_an_address_in_a_name_does_not_matter(measure, journal) -> None:
    class Odd:
        def __call__(self, A, b, seed):
            return lambda rows: [0.0]

    measure(Odd(), journal=journal)
    assert measure(Odd(), journal=journal).n_observed == 30
