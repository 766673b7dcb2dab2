"""Every backend, started once."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shared.data import linear_rows

PROCESSES = ["loky", "dask", "ray"]
BACKENDS = ["serial", "threading", *PROCESSES]


# A Dask cluster that does nothing takes 15 % of a core by looking after itself so often.
_QUIET = {
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.admin.system-monitor.gil.enabled": False,
    "distributed.worker.profile.enabled": False,
    # Or else a worker that is down a quarter of a minute after it was killed is given up.
    "distributed.deploy.lost-worker-timeout": "1 day",
    # A test may have a folder of its own, which ends with it.
    "temporary-directory": tempfile.gettempdir(),
}


@contextmanager
def _dask() -> Iterator[Any]:
    import dask
    from distributed import Client, LocalCluster

    dask.config.set(_QUIET)
    workers = {"n_workers": 2, "threads_per_worker": 1, "processes": True}
    with (
        LocalCluster(**workers, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        yield client


@contextmanager
def _ray() -> Iterator[None]:
    import ray

    os.environ["RAY_AUTH_MODE"] = "disabled"  # nobody else can reach it; write no token to ~
    with warnings.catch_warnings():
        # Ray leaves files open and warns about its own defaults while it starts.
        warnings.simplefilter("ignore")
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    yield
    ray.shutdown()


class _Started:
    """What was started for a test, for this one and those that follow."""

    def __init__(self) -> None:
        self.things: dict[Any, Any] = {}
        self.ends = ExitStack()

    def get(self, start: Callable[[], AbstractContextManager[Any]]) -> Any:
        """Return what ``start`` starts, once for all tests."""
        if start not in self.things:
            self.things[start] = self.ends.enter_context(start())
        return self.things[start]

    def stop(self) -> None:
        """Stop everything."""
        self.things.clear()
        self.ends.close()


_started = _Started()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> Iterator[None]:
    """Stop the clusters after the last test that may want them: others need the cores."""
    yield
    if nextitem is None or not nextitem.path.is_relative_to(Path(__file__).parent):
        _started.stop()


@pytest.fixture
def dask_client() -> Any:
    """A real Dask cluster on this machine: two workers, each a process."""
    return _started.get(_dask)


@pytest.fixture
def ray_here() -> None:
    """A real Ray on this machine, with two processors."""
    _started.get(_ray)


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> dict[str, Any]:
    """The arguments that choose a backend with two workers (one, for the serial engine)."""
    return _arguments(request)


@pytest.fixture(params=PROCESSES)
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
