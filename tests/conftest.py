"""Settings shared by all tests, and a search for what runs leave behind."""

from __future__ import annotations

import gc
import importlib.util
import os
import signal
import tempfile
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from shared.arrays import unless_array
from shared.long_tests import COLLECTED, LONG
from shared.processes import Traces

# The suite times nothing: a first import inside an example must not fail it.
settings.register_profile("poise", deadline=None, derandomize=True)
settings.load_profile("poise")

# Nor does it depend on where it is started: a background job of a shell ignores SIGINT and
# hands that down, and a CI server may ask everybody for colours.
signal.signal(signal.SIGINT, signal.default_int_handler)
for name in ("FORCE_COLOR", "NO_COLOR", "PYTHON_COLORS", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
    os.environ.pop(name, None)

# scikit-learn asks of every array whether it is a data frame or a series; to find out that it is
# neither takes half of a small fit. Of what is an array and nothing else the suite knows it.
if importlib.util.find_spec("narwhals.stable.v2"):
    questions: Any = importlib.import_module("narwhals.stable.v2.dependencies")
    for name in ("is_into_dataframe", "is_into_series"):
        setattr(questions, name, unless_array(getattr(questions, name)))

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


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect tests without a search for garbage: modules and tests stay, none of it is any."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.set_threshold(20_000, 20, 20)  # a million objects stay: look at them less often
        gc.enable()


@pytest.hookimpl(tryfirst=True)  # before tests are left out by `-m` and `-k`
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what is long, and put the files that take longest at the beginning."""
    in_parts = {argument.partition("::")[0] for argument in config.args if "::" in argument}
    whole = (each.nodeid for each in items if each.nodeid.partition("::")[0] not in in_parts)
    config.stash[COLLECTED] = frozenset(whole)
    for item in items:
        if item.nodeid.startswith(tuple(LONG)):
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
