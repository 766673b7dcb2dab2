"""What Ray may not change when poise starts it."""

from __future__ import annotations

import signal
from types import SimpleNamespace

import pytest

from poise.running.workers import ray_cluster


def exits(number, frame):
    raise SystemExit(number)


def ours(number, frame):
    raise KeyboardInterrupt


@pytest.fixture
def starts(monkeypatch):
    """Stand for a Ray that is not connected, and takes SIGTERM for itself as the real one does."""
    before = signal.getsignal(signal.SIGTERM)
    ray = SimpleNamespace(
        is_initialized=lambda: False, init=lambda **_: signal.signal(signal.SIGTERM, exits)
    )
    monkeypatch.setattr(ray_cluster, "_ray", lambda: ray)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.mark.parametrize(
    ("arranged", "afterwards"), [(ours, ours), (signal.SIG_DFL, exits), (signal.SIG_IGN, exits)]
)
def test_what_was_arranged_for_a_termination_stays(arranged, afterwards, starts) -> None:
    signal.signal(signal.SIGTERM, arranged)
    ray_cluster._joined(None)
    assert signal.getsignal(signal.SIGTERM) is afterwards
