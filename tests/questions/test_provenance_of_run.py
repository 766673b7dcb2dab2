"""Rows are digested while the fits run, and what is recorded is their digest."""

from __future__ import annotations

import pickle
import threading

import numpy as np
import pytest

import poise
from poise.data.sample import Sample
from shared.algorithms import mean

RNG = np.random.default_rng(0)
LARGE = RNG.normal(size=(20_000, 8))  # 1.3 MB
SMALL = LARGE[:300]


def _settings(X: np.ndarray) -> dict:
    return {"n": len(X) // 4, "random_state": 0, "fast": False}


@pytest.mark.parametrize("X", [SMALL, LARGE, LARGE.T.copy().T], ids=["small", "large", "columns"])
def test_the_digest_is_that_of_the_rows(X) -> None:
    y = X[:, 0]
    trials = poise.measure(mean, X, y, **_settings(X))
    assert trials.provenance.rows == Sample(X, y).digest(32)
    result = poise.stability_test(mean, X, y, epsilon=10.0, delta=0.9, **_settings(X))
    assert result.trials.provenance.rows == trials.provenance.rows


@pytest.mark.parametrize(("X", "beside"), [(SMALL, False), (LARGE, True)], ids=["small", "large"])
def test_a_large_array_is_digested_beside_the_fits(X, beside, monkeypatch) -> None:
    main, digest = threading.current_thread(), Sample.digest
    threads = []

    def noted(self: Sample, size: int = 16) -> str:
        threads.append(threading.current_thread())
        return digest(self, size)

    monkeypatch.setattr(Sample, "digest", noted)
    poise.measure(mean, X, X[:, 0], **_settings(X))
    assert [thread is not main for thread in threads] == [beside]
    assert not any(thread.is_alive() for thread in threads if thread is not main)


def test_a_digest_that_fails_beside_the_fits_fails_where_it_is_used(monkeypatch) -> None:
    def broken(self: Sample, size: int = 16) -> str:
        raise OSError("the file is gone")

    monkeypatch.setattr(Sample, "digest", broken)
    with pytest.raises(OSError, match="the file is gone"):
        poise.measure(mean, LARGE, LARGE[:, 0], **_settings(LARGE))


def test_a_sample_is_pickled_from_a_copy_of_its_attributes() -> None:
    """A thread that keeps the digest in the sample cannot disturb it."""
    sample = Sample(SMALL, SMALL[:, 0])
    state = sample.__getstate__()
    assert state == vars(sample)
    assert state is not vars(sample)
    assert pickle.loads(pickle.dumps(sample)).digest() == sample.digest()
