"""Figures in files; drawing needs matplotlib, and opens no window."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from poise import Trials
from poise.errors import ArgumentError, PoiseError
from poise.results.plots import plot_trials, save_figure
from shared.processes import printed

TRIALS = Trials.from_changes([0.1, 0.2], n=5, algorithm="an algorithm")


@pytest.mark.parametrize(
    ("name", "start"), [("a.png", b"\x89PNG"), ("a.svg", b"<?xml"), ("a.PDF", b"%PDF")]
)
def test_files_are_what_their_ending_says(name: str, start: bytes, tmp_path: Path) -> None:
    save_figure(plot_trials(TRIALS), tmp_path / name)
    assert (tmp_path / name).read_bytes().startswith(start)


def test_an_unknown_ending_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match=r"must end in \.png, \.svg, \.pdf, got 'a\.bmp'"):
        save_figure(plot_trials(TRIALS), tmp_path / "a.bmp")


def test_without_matplotlib_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(PoiseError, match=r"pip install 'poise\[plot\]'"):
        plot_trials(TRIALS)


def test_no_window_and_no_global_figure() -> None:
    printed(
        "import sys, poise; t = poise.Trials.from_changes([0.1, 0.2], n=5); t.plot(epsilon=0.1);"
        "t.profile().plot(); assert 'matplotlib.pyplot' not in sys.modules"
    )
