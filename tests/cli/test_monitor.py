"""``poise monitor`` and ``poise combine``: a first call, later calls, and every refusal."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

BEGIN = (
    "monitor a.record day1.csv --target price --drop id "
    "--algorithm {folder}/poise_test_models.py:mean --n 4 --epsilon 1.5 --delta 0.2 --seed 3"
)


@pytest.fixture
def begin(folder: Path) -> str:
    """The first call, with an algorithm in a file."""
    return BEGIN.format(folder=folder)


@pytest.fixture
def here(run, tmp_path: Path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"id": np.arange(160), "size": rng.normal(size=160)})
    frame["price"] = rng.uniform(0, 2, 160)
    for day in (1, 2, 3):
        part = frame[50 * (day - 1) : 50 * day + 2 * (day == 2)]
        part.to_csv(f"day{day}.csv", index=False)
    frame.to_csv("all.csv", index=False)
    return tmp_path


def test_the_first_call_begins_and_later_calls_need_only_the_file(
    run, begin, here, monkeypatch
) -> None:
    first = run(begin)
    assert first.exit_code == 1, first.output
    assert first.stdout.startswith("INCONCLUSIVE: whether mean is (1.5, 0.2)-stable at n = 4")
    assert "algorithms like to print" not in first.stdout
    (here / "elsewhere").mkdir()
    monkeypatch.chdir(here / "elsewhere")  # as cron does
    later = run(f"monitor {here}/a.record {here}/day3.csv --json")
    content = json.loads(later.stdout)
    assert (later.exit_code, content["verdict"], content["n_trials"]) == (0, "stable", 20)
    assert content["design"]["seed"] == 3
    shown = run(f"monitor {here}/a.record --quiet")
    assert (shown.exit_code, shown.stdout) == (0, "stable\n")


def test_rows_already_used(run, begin, here) -> None:
    run(begin)
    again = run("monitor a.record day1.csv")
    assert again.exit_code == 2
    assert "50 of the 50 rows given are already in a.record: line 2 is the first" in again.stderr
    assert "say --skip-used for a file that grows" in again.stderr
    grown = run("monitor a.record all.csv --skip-used --json")
    assert json.loads(grown.stdout)["n_trials"] == 32


def test_rows_named_by_a_column(run, begin, here) -> None:
    named = begin.replace("--drop id", "--id id")
    assert run(named).exit_code == 1
    frame = pd.read_csv("day1.csv").assign(size=5.0, price=1.0)
    frame.to_csv("edited.csv", index=False)
    assert "50 of the 50 rows" in run("monitor a.record edited.csv").stderr
    both = run("monitor a.record day3.csv --unlabeled day2.csv")
    assert (both.exit_code, "--id names labelled rows" in both.stderr) == (2, True)


def test_leftovers_beside_the_record(run, begin, here) -> None:
    run(begin.replace("day1.csv", "day2.csv") + " --keep-leftovers")
    assert Path("a.record.leftovers.npz").exists()
    content = json.loads(run("monitor a.record --json").stdout)
    assert (content["n_trials"], content["n_leftover"]) == (10, 2)


def test_restart_plot_and_abandon(run, begin, here) -> None:
    run(begin)
    drawn = run("monitor a.record --plot limits.svg --restart")
    assert drawn.exit_code == 1
    assert "This is epoch 2" in drawn.stdout
    assert b"written by poise" in Path("limits.svg").read_bytes()
    assert "nothing to abandon" in run("monitor a.record --abandon").stderr
    lost = run("monitor a.record day2.csv --plot a.record")
    assert (lost.exit_code, "would replace another file" in lost.stderr) == (2, True)


def test_a_failed_fit_has_status_3_and_can_be_counted(run, begin, here) -> None:
    failing = begin.replace("models.py:mean", "models.py:failing")
    failed = run(failing)
    assert failed.exit_code == 3
    assert "singular" in failed.stderr
    other = run("monitor a.record day3.csv")
    assert "or give it up with --abandon" in other.stderr
    counted = run("monitor a.record day1.csv --on-error unstable --json")
    assert json.loads(counted.stdout)["n_failures"] == 10


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (
            "monitor b.record day1.csv",
            "b.record is not begun yet: give --algorithm, --n, --epsilon",
        ),
        ("monitor b.record", "cannot read b.record"),
        ("monitor a.record day3.csv --n 9", "n: 4 in the record, 9 now"),
        ("monitor a.record day3.csv --epsilon 1", "epsilon: 1.5 in the record, 1.0 now"),
        ("monitor a.record day3.csv --seed 4", "seed: 3 in the record, 4 now"),
        ("monitor a.record day3.csv --points spare", "points must be a whole number"),
        ("monitor day1.csv day3.csv", "day1.csv is not a record written by poise"),
        ("combine a.record", "at least two records, got 1"),
        ("combine a.record b.record", "cannot read b.record"),
    ],
)
def test_refusals(run, begin, here, command, said) -> None:
    run(begin)
    done = run(command)
    assert done.exit_code == 2, done.output
    assert said in done.stderr


def test_combine(run, begin, here) -> None:
    Path("key").write_bytes(b"0123456789abcdef\n")
    run(f"{begin} --key-file key")
    run(begin.replace("a.record day1", "b.record day2") + " --key-file key")
    assert "was begun with a key of yours" in run("monitor a.record day3.csv").stderr
    both = run("combine a.record b.record --alpha 0.1 --json")
    assert (both.exit_code, json.loads(both.stdout)["compared"]) == (0, True)
    run(begin.replace("a.record day1", "c.record day3"))
    unknown = run("combine a.record c.record")
    assert unknown.exit_code == 2
    assert "or declare --disjoint if you know" in unknown.stderr
    assert run("combine a.record c.record --disjoint --alpha 0.1 -q").stdout == "stable\n"
    several = run("combine a.record b.record --different")
    assert several.exit_code == 1
    assert "holds for every one of them" in several.stdout
