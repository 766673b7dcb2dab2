"""Journals of comparisons, curves and files of questions: one file per measurement."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

import poise
from poise.cli import main
from poise.errors import ArgumentError, RecordError
from poise.storage.journal import JournalFolder, read_journal
from shared.data import linear_rows
from shared.journals import edit_header, shorten

X, y = linear_rows(330, [0.0, 0.0], 3)
QUESTION = {"n": 10, "epsilon": 0.5, "delta": 0.2}


class Counted:
    """An algorithm whose changes depend on rows and seed, and that counts its fits."""

    def __init__(self) -> None:
        self.calls: list[int] = []

    @property
    def fits(self) -> int:
        return len(self.calls)

    def __call__(self, A, b, seed):
        self.calls.append(seed)
        level = np.random.default_rng(seed).uniform() * len(b)
        return lambda rows: [level + b.mean()]


def compare(algorithms, **settings):
    return poise.compare(algorithms, X, y, **QUESTION, check=False, **settings)


def changes(result) -> list[bytes]:
    return [trials.changes.tobytes() for trials in result.trials]


@pytest.mark.parametrize("seed", [5, None])
def test_a_comparison_goes_on_where_it_was_cut_short(seed, tmp_path) -> None:
    one, two = Counted(), Counted()
    folder = tmp_path / "journals"
    first = compare({"one": one, "two": two}, random_state=seed, journal=folder)
    assert (one.fits, two.fits) == (60, 60)
    files = {path.name.split("-")[0]: path for path in folder.iterdir()}
    assert sorted(files) == ["one", "two"]
    shorten(files["one"], 12)
    files["two"].unlink()
    again = compare({"one": one, "two": two}, random_state=seed, journal=str(folder))
    assert (one.fits, two.fits) == (60 + 2 * 18, 120)
    assert changes(again) == changes(first)
    assert again.to_dict() == first.to_dict()


def test_an_algorithm_added_later_sees_the_trials_of_the_others(tmp_path) -> None:
    first = compare({"one": Counted()}, journal=tmp_path)
    both = compare({"two": Counted(), "one": Counted()}, journal=tmp_path)
    seeds = {trials.design.seed for trials in (*first.trials, *both.trials)}
    assert len(seeds) == 1
    assert changes(both) == changes(first) * 2


def test_another_run_is_refused(tmp_path) -> None:
    compare({"one": Counted()}, random_state=1, journal=tmp_path)
    with pytest.raises(RecordError, match="seed: 1 in the journal, 2 now"):
        compare({"one": Counted()}, random_state=2, journal=tmp_path)


def test_a_curve_goes_on_where_it_was_cut_short(tmp_path) -> None:
    algorithm = Counted()
    asked = {"delta": 0.3, "journal": tmp_path / "curve", "check": False}
    first = poise.stability_curve(algorithm, X, y, n=[10, 20], **asked)
    assert algorithm.fits == 2 * (30 + 15)
    files = sorted((tmp_path / "curve").iterdir())
    assert [path.name.split("-")[:2] for path in files] == [["n", "10"], ["n", "20"]]
    shorten(files[1], 4)
    again = poise.stability_curve(algorithm, X, y, n=[10, 20], **asked)
    assert algorithm.fits == 2 * (30 + 15 + 11)
    assert changes(again) == changes(first)
    more = poise.stability_curve(algorithm, X, y, n=[10, 15, 20], **asked)
    assert algorithm.fits == 2 * (30 + 15 + 11 + 20)
    assert {trials.design.seed for trials in more.trials} == {first.trials[0].design.seed}


def test_names_are_kept_apart_and_do_not_depend_on_the_process(tmp_path) -> None:
    folder = JournalFolder(tmp_path)
    names = [folder.journal(name).path.name for name in ("a/b", "a b", "../a b", "x" * 300, "é")]
    assert len(set(names)) == 5
    assert all("/" not in name and len(name) < 60 for name in names)
    here, there = (folder.journal(f"<function f at 0x{spot}>") for spot in ("7f01", "7f02"))
    assert here.path == there.path
    assert folder.journal("a", 1).path != folder.journal("a", 2).path


def test_a_folder_that_cannot_be_used(tmp_path) -> None:
    (tmp_path / "file").write_text("mine")
    never = {"never": lambda A, b, seed: pytest.fail("fitted")}
    with pytest.raises(RecordError, match="journal must be a folder here"):
        compare(never, journal=tmp_path / "file")
    with pytest.raises(RecordError, match=r"cannot make the folder .*No such file"):
        compare(never, journal=tmp_path / "no" / "such")
    with pytest.raises(ArgumentError, match="path of a folder, got 7"):
        compare(never, journal=7)
    assert (tmp_path / "file").read_text() == "mine"


# The command line

ROWS = "rows.csv --target y --n 10 --epsilon 0.5 --delta 0.2 --seed 1"
COMPARE = (
    f"compare {ROWS} --no-fast --algorithm sklearn.linear_model:Ridge "
    "--algorithm sklearn.neighbors:KNeighborsRegressor"
)
QUESTIONS = """
data = {file = "rows.csv", target = "y"}
defaults = {delta = 0.2, seed = 1, fast = false, n = 10}
questions = [{epsilon = 0.5}, {epsilon = 2.0, name = "wide"}]
[algorithms]
ridge = {use = "sklearn.linear_model:Ridge"}
"""


@pytest.fixture
def run(tmp_path, monkeypatch):
    rows = "\n".join(f"{a!r},{b!r}" for a, b in zip(X[:, 0].tolist(), y.tolist(), strict=True))
    (tmp_path / "rows.csv").write_text(f"x,y\n{rows}\n")
    (tmp_path / "stability.toml").write_text(QUESTIONS)

    def call(command: str, cwd: Path = tmp_path):
        monkeypatch.chdir(cwd)
        return CliRunner().invoke(main, command.split())

    return call


def answered(done: Result) -> tuple[int, dict]:
    """What was found, by whichever command."""
    facts = json.loads(done.stdout)
    del facts["run"]  # the words of the command line
    return done.exit_code, facts


@pytest.mark.parametrize("command", [COMPARE, "run stability.toml"])
def test_the_command_line_goes_on_too(run, tmp_path, command) -> None:
    plain = run(f"{command} --json")
    done = run(f"{command} --json --journal kept")
    assert answered(done) == answered(plain), done.stderr
    files = sorted((tmp_path / "kept").iterdir())
    assert len(files) == 2
    shorten(files[0], 3)
    unit = "algorithm" if command == COMPARE else "question"
    together = json.loads(run("status kept --json").stdout)
    assert (together["finished"], together["measurements"]) == (1, 2)
    assert [known["trials"] for known in together["journals"]] == [
        3,
        read_journal(files[1]).trials.n_observed,
    ]
    assert run("status kept --quiet").exit_code == 0
    shown = run("status kept").stdout
    assert shown.startswith(f"1 of 2 {unit}s finished.")
    assert shown.count("3 of 30") == 1
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    again = run("resume ../kept --yes", cwd=elsewhere)
    assert answered(again) == answered(plain), again.stderr
    assert not list(elsewhere.iterdir())


def test_a_folder_without_journals(run, tmp_path) -> None:
    (tmp_path / "empty").mkdir()
    for command in ("status empty", "resume empty --yes"):
        done = run(command)
        assert done.exit_code == 2
        assert "holds no journal" in done.stderr


def test_a_failure_tells_how_to_go_on(run, tmp_path) -> None:
    (tmp_path / "half.py").write_text(
        "def failing(X, y, seed):\n"
        "    if abs(float(y.iloc[0])) > 1.5: raise ValueError('odd')\n"
        "    return lambda rows: [0.0]\n"
    )
    done = run(f"compare {ROWS} --algorithm half.py:failing --journal kept")
    assert done.exit_code == 3
    assert "poise resume kept goes on from there" in done.stderr


def test_a_damaged_journal_among_others_is_named(run, tmp_path) -> None:
    run(f"{COMPARE} --journal kept")
    first, second = sorted((tmp_path / "kept").glob("*.jsonl"))
    lines = second.read_bytes().splitlines(keepends=True)
    second.write_bytes(b"".join([lines[0], lines[1].replace(b"0", b"1"), *lines[2:]]))
    (tmp_path / "kept" / "folder.jsonl").mkdir()
    os.mkfifo(tmp_path / "kept" / "pipe.jsonl")
    for form in ("", "--json", "--quiet"):
        done = run(f"status kept {form}")
        assert done.exit_code == 2
        assert f"line 2 of kept/{second.name} does not match its checksum" in done.stderr
        assert done.stdout, "what can be read is shown"
    first.unlink()
    assert "does not match its checksum" in run("status kept").stderr


@pytest.mark.parametrize(
    "edit",
    [
        lambda header: header.update(question={"epsilon": "x", "delta": 0.1, "alpha": 0.1}),
        lambda header: header.update(question={"delta": 0.1}),
        lambda header: header.update(siblings={"count": "many", "unit": 3}),
        lambda header: header.update(design={}),
        lambda header: header.update(format="poise journal 7"),
    ],
)
def test_a_header_that_somebody_made_up(edit, run, tmp_path) -> None:
    run(f"{COMPARE} --journal kept")
    for path in (tmp_path / "kept").glob("*.jsonl"):
        edit_header(path, edit)
    done = run("status kept")
    assert done.exit_code in (0, 2)
    assert "defect" not in done.stderr
