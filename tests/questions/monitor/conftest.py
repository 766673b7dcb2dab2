"""A record in a folder of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import poise
from shared.monitors import last_row


@pytest.fixture
def record(tmp_path: Path) -> Path:
    return tmp_path / "last.record"


@pytest.fixture
def begin(record: Path) -> Callable[..., poise.Monitor]:
    def make(algorithm: Any = last_row, **changed: Any) -> poise.Monitor:
        asked = {"n": 4, "epsilon": 1.5, "delta": 0.2, "random_state": 7, "progress": False}
        return poise.Monitor(record, algorithm, **(asked | changed))

    return make
