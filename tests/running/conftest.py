"""Every backend, started once."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from shared.data import linear_rows

PROCESSES = ["loky", "dask", "ray"]
BACKENDS = ["serial", "threading", *PROCESSES]


@pytest.fixture(scope="session")
def dask_client() -> Iterator[Any]:
    """A real Dask cluster on this machine: two workers, each a process."""
    import dask
    from distributed import Client, LocalCluster

    # Or else a worker that is down a quarter of a minute after it was killed is given up.
    dask.config.set({"distributed.deploy.lost-worker-timeout": "1 day"})
    cluster = LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
    )
    with cluster, Client(cluster) as client:
        yield client


@pytest.fixture(scope="session")
def ray_here() -> Iterator[None]:
    """A real Ray on this machine, with two processors."""
    import ray

    os.environ["RAY_AUTH_MODE"] = "disabled"  # nobody else can reach it; write no token to ~
    with warnings.catch_warnings():
        # Ray leaves files open and warns about its own defaults while it starts.
        warnings.simplefilter("ignore")
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    yield
    ray.shutdown()


@pytest.fixture(params=BACKENDS, scope="session")
def backend(request: pytest.FixtureRequest) -> dict[str, Any]:
    """The arguments that choose a backend with two workers (one, for the serial engine)."""
    return _arguments(request)


@pytest.fixture(params=PROCESSES, scope="session")
def process_backend(request: pytest.FixtureRequest) -> dict[str, Any]:
    """A backend whose workers are processes, which can be killed."""
    return _arguments(request)


def _arguments(request: pytest.FixtureRequest) -> dict[str, Any]:
    if request.param == "dask":
        request.getfixturevalue("dask_client")
    if request.param == "ray":
        request.getfixturevalue("ray_here")
    if request.param == "serial":
        return {"n_jobs": 1}
    return {"n_jobs": 2, "backend": request.param}


@pytest.fixture(scope="session")
def rows() -> tuple[np.ndarray, np.ndarray]:
    return linear_rows(660, [1.0, 2.0, 3.0])
