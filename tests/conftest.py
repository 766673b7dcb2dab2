"""Settings shared by all tests, and a search for what runs leave behind."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from shared.processes import Traces

# The suite times nothing: a first import inside an example must not fail it.
settings.register_profile("poise", deadline=None, derandomize=True)
settings.load_profile("poise")


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
