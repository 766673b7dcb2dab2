"""Settings shared by all tests, and a search for what runs leave behind."""

from __future__ import annotations

import functools
import gc
import inspect
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from shared.processes import Traces

# The suite times nothing: a first import inside an example must not fail it.
settings.register_profile("poise", deadline=None, derandomize=True)
settings.load_profile("poise")

# Nor does it depend on where it is started: a background job of a shell ignores SIGINT and
# hands that down, and a CI server may ask everybody for colours.
signal.signal(signal.SIGINT, signal.default_int_handler)
for name in ("FORCE_COLOR", "NO_COLOR", "PYTHON_COLORS", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
    os.environ.pop(name, None)

# scikit-learn asks of every array whether it is a data frame; the answer takes 40 % of a small fit
# until Python 3.12, which remembers what it has found out about a class. So does the suite.
if sys.version_info < (3, 12):
    inspect._shadowed_dict = functools.lru_cache(maxsize=256)(inspect._shadowed_dict)

# All tests of a file run in one process, and so do the files that share what is dear to start:
# a Dask and a Ray cluster, programs compiled by JAX.
ONE_PROCESS = {
    "tests/running/faults/test_time_limit.py": "clusters",
    "tests/running/faults/test_worker_death.py": "clusters",
    "tests/running/shuffle/test_clusters.py": "clusters",
    "tests/running/shuffle/test_files_on_clusters.py": "clusters",
    "tests/running/transport/": "clusters",
    "tests/running/workers/test_backend.py": "clusters",
    "tests/running/workers/test_conformance.py": "clusters",
    "src/poise/algorithms/jax/": "compiled programs",
    "src/poise/algorithms/networks/": "compiled programs",
    "tests/algorithms/jax/": "compiled programs",
    "tests/algorithms/networks/": "compiled programs",
}
# What takes longest begins first: no process is left alone with it at the end.
LONGEST_FIRST = (
    *ONE_PROCESS,
    "tests/test_docs.py",
    "tests/test_fuzz.py",
    "tests/cli/ui/test_in_a_browser.py",
    "tests/questions/test_guarantees.py",
    "tests/simulation/paper/test_reproduce.py",
    "tests/shortcuts/test_last_digits.py",
)
# What `make test-long` runs and `make test` does not: what takes long, and claims that `make test`
# checks once are checked there at greater length. Two processes are enough to start clusters in.
_DEATHS = "tests/running/faults/test_worker_death.py::test_"
_LIMITS = "tests/theory/test_averaged_limits.py::test_stable_is_what_the_limits_say_at_any_stopping"
LONG = (
    "src/poise/algorithms/networks/",
    "tests/algorithms/networks/test_networks.py",
    "tests/algorithms/test_global_state.py::test_a_fit_that_imports_pytorch",
    "tests/cli/test_processes.py::test_modules_beside_the_data_are_not_run[2",
    "tests/cli/test_processes.py::test_stdout_holds_json_and_nothing_an_algorithm_prints[2",
    "tests/data/on_disk/test_stored_table.py",
    _DEATHS + "a_fit_beyond_its_time[dask",
    _DEATHS + "a_fit_beyond_its_time[ray",
    _DEATHS + "a_segfault_is_a_failure_too",
    _DEATHS + "of_queries_that_share_a_random_term",
    _DEATHS + "a_trial_that_kills_its_worker_is_a_failure[dask",
    _DEATHS + "a_worker_killed_from_outside_costs_nothing[dask",
    _DEATHS + "a_worker_killed_from_outside_costs_nothing[ray",
    _DEATHS + "a_worker_whose_memory_grows",
    _DEATHS + "an_extension_that_hangs",
    _DEATHS + "every_trial_kills_its_worker",
    _DEATHS + "more_memory_than_there_is[dask",
    _DEATHS + "more_memory_than_there_is[ray",
    "tests/running/shuffle/test_clusters.py::test_a_fit_beyond_its_time",
    "tests/running/shuffle/test_clusters.py::test_a_trial_that_kills_its_worker",
    "tests/running/shuffle/test_clusters.py::test_many_shards_take_p2p_or_ray_data[ray",
    "tests/running/test_soak.py",
    "tests/running/transport/test_pickle_by_value.py::test_on_",
    "tests/running/transport/test_shared_files.py",
    "tests/running/workers/test_memory_growth.py",
    "tests/shortcuts/test_last_digits.py",
    "tests/simulation/audit/test_audit.py",
    "tests/test_docs.py::test_examples[case]",
    "tests/test_docs.py::test_examples[jax]",
    "tests/test_docs.py::test_examples[libraries]",
    *(f"{_LIMITS}_time[{seed}" for seed in (2, 3, 4, 5)),
)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect tests without a search for garbage: modules and tests stay, none of it is any."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.set_threshold(20_000, 20, 20)  # a million objects stay: look at them less often
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is long, and put the files that take longest at the beginning."""
    for item in items:
        if item.nodeid.startswith(LONG):
            item.add_marker(pytest.mark.long)
    items.sort(key=lambda item: _rank(item.nodeid))


def _rank(nodeid: str) -> int:
    """Return where a test stands in the list of what begins first, or the end of the list."""
    found = [i for i, place in enumerate(LONGEST_FIRST) if nodeid.startswith(place)]
    return found[0] if found else len(LONGEST_FIRST)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give the tests of a file, and the files that belong together, to one process."""
    from xdist.scheduler import LoadFileScheduling

    class TogetherScheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            names = (name for place, name in ONE_PROCESS.items() if nodeid.startswith(place))
            return next(names, super()._split_scope(nodeid))

    return TogetherScheduling(config, log)


@pytest.fixture
def traces(tmp_path: Path) -> Callable[[], Traces]:
    """Make a TMPDIR for a process, and look later for what it left behind."""

    def make() -> Traces:
        folder = tmp_path / "tmp"
        folder.mkdir(exist_ok=True)
        return Traces(folder)

    return make


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder in which this process makes its temporary folders, ours alone."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def nothing_left(temporary: Path) -> Iterator[None]:
    """Check afterwards that no temporary folder is left."""
    yield
    assert list(temporary.iterdir()) == []
