"""Tables and paragraphs: no word is cut, and what is no terminal has no width."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from poise import CompareResult, Trials
from poise.cli.screen import print_facts, print_paragraphs, print_result, print_table
from poise.cli.terminal_tables import print_presented, print_words
from shared.terminal import Terminal

NAME = "make_pipeline(StandardScaler(), KNeighborsRegressor(n_neighbors=10))"
WORDS = ["inconclusive", "sklearn.linear_model:Ridge", "KNeighborsRegressor(n_neighbors=10)"]


def trials_of(name: str) -> Trials:
    return Trials.from_changes(np.linspace(0, 1, 40), n=5, algorithm=name)


def show_everything() -> None:
    print_words(["algorithm", "verdict"], [[NAME, WORDS[0]], [WORDS[1], "stable"]])
    print_table(["what was found", "share of it"], [[" ".join(WORDS), 0.25], ["short", 12345.678]])
    print_facts({"algorithm": NAME, "verdict": " ".join(WORDS)})
    result = CompareResult.judge({NAME: trials_of(NAME)}, epsilon=0.5, delta=0.5)
    print_presented(result)
    print_result(trials_of(NAME).test(epsilon=0.5, delta=0.5))


@pytest.mark.parametrize("columns", [20, 40, 80, 200])
def test_a_terminal_of_any_width_cuts_no_word(
    monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    shown = Terminal()
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setattr(sys, "stdout", shown)
    show_everything()
    text = shown.getvalue()
    assert "…" not in text
    found = text.split()
    assert all(text.count(word) >= 2 for word in WORDS[:2])
    for word in [*WORDS, "12345.678", "make_pipeline(StandardScaler(),"]:
        assert word in found or f"{word})" in found, word


def test_a_pipe_has_lines_as_long_as_they_are(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    print_words(["algorithm", "verdict"], [[NAME, "inconclusive"]] * 2)
    _, *rows = capsys.readouterr().out.splitlines()
    assert [row.split("   ") for row in rows] == [[NAME, "inconclusive"]] * 2
    print_paragraphs("word " * 100 + "end")
    assert capsys.readouterr().out.splitlines() == ["word " * 100 + "end"]
    result = trials_of(NAME).test(epsilon=0.5, delta=0.5)
    print_result(result)
    lines = capsys.readouterr().out.splitlines()
    assert all(sentence in lines for sentence in result.summary().splitlines())
