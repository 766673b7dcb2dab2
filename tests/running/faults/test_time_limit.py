"""A time limit is refused where it could not be kept without harm."""

from __future__ import annotations

import pytest

import poise
from poise.errors import ArgumentError
from poise.running.workers.engine import choose_engine


def never_called(A, b, seed):
    raise AssertionError("it must be refused before the first fit")


@pytest.mark.parametrize(
    ("threads", "processes"),
    [
        pytest.param(1, False, id="in this very process, which would end"),
        pytest.param(2, True, id="two threads, which share a clock"),
    ],
)
def test_dask_workers_that_are_threads(threads, processes, rows) -> None:
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=1, threads_per_worker=threads, processes=processes, dashboard_address=":0"
    ) as cluster:
        where = {"backend": "dask", "address": cluster.scheduler_address}
        with pytest.raises(ArgumentError, match=r"one thread each.*threads_per_worker=1"):
            poise.measure(never_called, *rows, n=10, timeout=5.0, **where)


def test_dask_workers_that_are_processes(dask_client) -> None:
    choose_engine(backend="dask", timeout=5.0)
    choose_engine(backend="dask", address=dask_client.scheduler.address, timeout=5.0)
