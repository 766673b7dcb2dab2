"""A large memory map on a cluster: workers open the file, or are sent the rows."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import poise
from poise.data.sample import Sample
from poise.errors import DataError
from poise.running.transport.shared_files import SentAsPaths, files_of

ROWS = np.random.default_rng(0).normal(size=(66, 200))


@pytest.fixture
def mapped(tmp_path, monkeypatch):
    """Rows in a file, which count as large."""
    monkeypatch.setattr("poise.running.transport.memmap._LARGE_BYTES", ROWS.nbytes)
    np.save(tmp_path / "rows.npy", ROWS)
    return np.load(tmp_path / "rows.npy", mmap_mode="r")


def spread(A, b, seed):
    level = float(np.ptp(A) * len(b) + seed % 7)
    return lambda rows: [level + float(np.sum(rows))]


def test_rows_stay_in_their_file(mapped, tmp_path) -> None:
    sample = Sample(mapped, ROWS[:, 0])
    assert files_of(sample) == [
        (str(tmp_path / "rows.npy"), (tmp_path / "rows.npy").stat().st_size)
    ]
    assert files_of(Sample(ROWS, ROWS[:, 0])) == []
    sent = pickle.dumps(SentAsPaths((sample, "plan")))
    assert len(sent) < ROWS.nbytes / 20
    back, plan = pickle.loads(sent)
    assert plan == "plan"
    assert (back.X.native == ROWS).all()
    (tmp_path / "rows.npy").unlink()
    with pytest.raises(DataError, match=r"a worker cannot find .*rows\.npy, and another can"):
        pickle.loads(sent)


@pytest.mark.parametrize("visible", [True, False], ids=["same disk", "another disk"])
@pytest.mark.parametrize("backend", ["dask", "ray"])
def test_a_cluster_opens_the_file_or_is_sent_the_rows(
    backend, visible, mapped, monkeypatch, dask_client, ray_here
) -> None:
    sent = []
    monkeypatch.setattr(
        "poise.running.workers.cluster.SentAsPaths",
        lambda data: sent.append(1) or SentAsPaths(data),
    )
    if not visible:
        monkeypatch.setattr(
            "poise.running.workers.cluster.files_of", lambda sample: [("/nowhere/rows.npy", 80)]
        )
    expected = poise.measure(spread, ROWS, ROWS[:, 0], n=5, random_state=0)
    trials = poise.measure(spread, mapped, ROWS[:, 0], n=5, random_state=0, backend=backend)
    assert trials.changes.tobytes() == expected.changes.tobytes()
    assert bool(sent) == visible
