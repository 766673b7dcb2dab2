"""poise status and poise resume; Ctrl-C; a disk that is full."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

import poise
from poise.cli import main
from poise.storage.journal import read_journal
from shared.journals import edit_header, shorten
from shared.processes import POISE, python, until

MODELS = textwrap.dedent("""
    import time
    import numpy as np

    def drift(X, y, seed, pause=0.0):
        time.sleep(pause)
        change = np.random.default_rng(seed).uniform()
        return lambda rows: [change * len(y)]

    def failing(X, y, seed):
        if np.asarray(y)[0] == 200:
            raise ZeroDivisionError("a singular matrix")
        return lambda rows: [0.0]
""")
TEST = ["test", "rows.csv", "--target", "y", "--n", "10", "--seed", "1"]
DRIFT = [*TEST, "--algorithm", "models.py:drift", "--epsilon", "0.9", "--delta", "0.4"]
# The same rows for processes that need not import pandas.
ARRAYS = ["test", "rows.npz", *DRIFT[4:]]


@pytest.fixture
def folder(tmp_path) -> Path:
    (tmp_path / "models.py").write_text(MODELS)
    rows = "\n".join(f"{i * 7 % 331},{i}" for i in range(330))
    (tmp_path / "rows.csv").write_text(f"x,y\n{rows}\n")
    np.savez(tmp_path / "rows.npz", X=[[i * 7 % 331] for i in range(330)], y=np.arange(330))
    return tmp_path


@pytest.fixture
def run(folder, monkeypatch):
    monkeypatch.setattr(sys, "path", sys.path[:])

    def call(*arguments: str, cwd: Path = folder) -> Result:
        monkeypatch.chdir(cwd)
        monkeypatch.delitem(sys.modules, "models", raising=False)  # of an earlier test
        return CliRunner().invoke(main, arguments)

    return call


def test_status_and_resume(run, folder) -> None:
    journal = folder / "run.jsonl"
    done = run(*DRIFT, "--journal", "run.jsonl", "--quiet")
    assert (done.stdout, done.exit_code) == ("stable\n", 0)
    trials = read_journal(journal).trials.n_observed
    shorten(journal, 9)

    shown = run("status", "run.jsonl").stdout
    for words in ("drift", "9 of 30", "verdict so far  open", "epsilon 0.9, delta 0.4"):
        assert words in shown
    facts = json.loads(run("status", "run.jsonl", "--json").stdout)
    assert (facts["trials"], facts["planned"], facts["verdict"]) == (9, 30, "open")
    assert facts["exceedances"] == int((read_journal(journal).trials.changes > 0.9).sum())
    other = ["--epsilon", "0.0", "--delta", "0.1"]
    assert run("status", "run.jsonl", *other, "--quiet").stdout == "unstable\n"
    half = run("status", "run.jsonl", "--epsilon", "0.5")
    assert (half.exit_code, "--epsilon needs" in half.stderr) == (2, True)

    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    resumed = run("resume", "../run.jsonl", "--yes", cwd=elsewhere)
    assert (resumed.stdout, resumed.exit_code) == ("stable\n", 0), resumed.stderr
    assert read_journal(journal).trials.n_observed == trials
    assert run("status", "run.jsonl", "--quiet").stdout == "stable\n"


def _resume_in_a_terminal(answer: str, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str, int]:
    """Answer the question of ``poise resume`` in a real terminal."""
    above, below = os.openpty()
    os.write(above, answer.encode())
    runner = CliRunner()
    with open(below, encoding="utf-8") as terminal, runner.isolation() as (out, err, _):
        monkeypatch.setattr(sys, "stdin", terminal)
        monkeypatch.setattr("click.termui.visible_prompt_func", lambda text: terminal.readline())
        status = main.main(["resume", "run.jsonl"], standalone_mode=False)
        found = out.getvalue().decode(), err.getvalue().decode(), status
    os.close(above)
    return found


@pytest.mark.parametrize(("answer", "expected"), [("y\n", 0), ("n\n", 2), ("\n", 2)])
def test_resume_shows_the_command_and_asks(answer, expected, run, folder, monkeypatch) -> None:
    run(*DRIFT, "--journal", "run.jsonl", "--quiet")
    shorten(folder / "run.jsonl", 9)
    before = (folder / "run.jsonl").read_bytes()
    out, err, status = _resume_in_a_terminal(answer, monkeypatch)
    assert status == expected
    shown = (
        f"in {folder}: poise test rows.csv --target y --n 10 --seed 1 --algorithm models.py:drift"
    )
    assert shown in err
    assert ((folder / "run.jsonl").read_bytes() == before) == (expected == 2)
    assert (out == "stable\n") == (expected == 0)
    assert ("nothing was run" in err) == (expected == 2)


def test_resume_without_a_terminal_needs_yes(run, folder) -> None:
    run(*DRIFT, "--journal", "run.jsonl", "--quiet")
    shorten(folder / "run.jsonl", 9)
    before = (folder / "run.jsonl").read_bytes()
    done = run("resume", "run.jsonl")
    assert done.exit_code == 2
    assert "poise test rows.csv --target y" in done.stderr, "it is shown"
    assert "there is no terminal to ask" in done.stderr
    assert (folder / "run.jsonl").read_bytes() == before


@pytest.mark.parametrize(
    ("command", "complaint"),
    [
        ({"arguments": ["check", "rows.csv"]}, "names the command 'check'"),
        ({"arguments": ["resume", "run.jsonl", "--yes"]}, "names the command 'resume'"),
        ({"arguments": ["monitor", "a.record"]}, "names the command 'monitor'"),
        ({"arguments": ["--traceback", "demo"]}, "names the command 'demo'"),
        ({"arguments": ["rm", "-rf", "."]}, "names the command 'rm'"),
        ({"arguments": []}, "names the command ''"),
        ({"arguments": "test"}, "names no command"),
        ({"arguments": [3]}, "names no command"),
        ({"arguments": ["test"], "folder": None}, "names no command"),
    ],
)
def test_resume_runs_commands_that_measure_and_no_others(command, complaint, run, folder) -> None:
    run(*DRIFT, "--journal", "run.jsonl", "--quiet")
    edit_header(folder / "run.jsonl", lambda header: header["command"].update(command))
    done = run("resume", "run.jsonl", "--yes")
    assert done.exit_code == 2
    assert complaint in done.stderr


QUESTIONS = """
data = {file = "rows.csv", target = "y"}
algorithms.drift.use = "models.py:drift"
defaults = {seed = 1, jobs = 1}
[[questions]]
n = 10
epsilon = 0.9
delta = 0.4
"""


def test_resume_speaks_in_the_words_of_the_command_that_it_resumes(run, folder) -> None:
    file = folder / "questions.toml"
    file.write_text(QUESTIONS)
    assert run("run", "questions.toml", "--journal", "kept", "--json").exit_code == 0
    file.write_text(QUESTIONS.replace("jobs = 1", "jobs = 0"))
    done = run("resume", "kept", "--yes")
    assert done.exit_code == 2
    assert "drift: jobs must be a whole number other than 0, got 0" in done.stderr
    assert json.loads(done.stdout)["message"] in done.stderr  # as --json was given to the run

    assert run(*DRIFT, "--journal", "run.jsonl").exit_code == 0
    begun = {"arguments": [*DRIFT, "--jobs", "0"]}
    edit_header(folder / "run.jsonl", lambda header: header["command"].update(begun))
    done = run("resume", "run.jsonl", "--yes")
    assert "poise: --jobs must be a whole number other than 0, got 0" in done.stderr


def test_resume_a_journal_that_was_moved(run, folder) -> None:
    run(*DRIFT, "--journal", "run.jsonl", "--quiet")
    (folder / "run.jsonl").rename(folder / "moved.jsonl")
    shorten(folder / "moved.jsonl", 5)
    assert run("resume", "moved.jsonl", "--yes").stdout == "stable\n"
    assert not (folder / "run.jsonl").exists()


def test_resume_explains_a_journal_from_python(run, folder) -> None:
    rows = np.arange(66.0).reshape(33, 2)
    poise.measure(
        lambda A, b, s: lambda r: [0.0], rows, rows[:, 0], n=3, journal=folder / "run.jsonl"
    )
    done = run("resume", "run.jsonl", "--yes")
    assert done.exit_code == 2
    assert "call the same Python function" in done.stderr
    assert run("status", "run.jsonl", "--quiet").stdout == "8\n"


def test_resume_where_the_folder_is_gone(run, folder) -> None:
    run(*DRIFT, "--journal", "run.jsonl", "--quiet")
    gone = {"folder": "/no/such/place"}
    edit_header(folder / "run.jsonl", lambda header: header["command"].update(gone))
    done = run("resume", "run.jsonl", "--yes")
    assert (done.exit_code, "cannot be entered" in done.stderr) == (2, True)


def test_another_run_is_refused_in_one_line(run) -> None:
    run(*DRIFT, "--journal", "run.jsonl", "--quiet")
    done = run(*DRIFT, "--journal", "run.jsonl", "--seed", "2")
    assert done.exit_code == 2
    assert "seed: 1 in the journal, 2 now" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_failed_fit_says_how_to_go_on(run) -> None:
    algorithm = ["--algorithm", "models.py:failing", "--epsilon", "1", "--delta", "0.4"]
    done = run(*TEST, *algorithm, "--no-shuffle", "--journal", "run.jsonl")
    assert done.exit_code == 3
    assert "a singular matrix" in done.stderr
    assert "poise resume run.jsonl goes on from there" in done.stderr


def test_a_full_disk_ends_with_the_verdict_so_far(run, folder) -> None:
    run(*ARRAYS, "--journal", "run.jsonl", "--quiet")
    shorten(folder / "run.jsonl", 7)
    room = (folder / "run.jsonl").stat().st_size + 5

    # Set by the process itself: to do it in between, this one would have to fork. It writes no
    # bytecode, which Python would cut short as well, and keep for the processes that follow.
    limited = f"""
import os, resource
os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
resource.setrlimit(resource.RLIMIT_FSIZE, ({room}, resource.RLIM_INFINITY))
command = {[*POISE, "resume", "run.jsonl", "--yes"]!r}
os.execv(command[0], command)
"""
    done = python("-c", limited, cwd=folder)
    assert done.returncode == 2
    first, second = done.stderr.splitlines()
    assert first.startswith("poise: 8 of 30 trials, ")
    assert first.endswith("verdict open")
    assert "File too large" in second
    assert read_journal(folder / "run.jsonl").trials.n_observed == 7


@pytest.mark.parametrize(
    ("jobs", "number"),
    [("1", signal.SIGINT), ("2", signal.SIGINT), ("1", signal.SIGTERM)],
    ids=["Ctrl-C", "Ctrl-C, two jobs", "SIGTERM"],
)
def test_interrupted(jobs, number, folder) -> None:
    """As a terminal does it: the signal goes to every process of the group."""
    journal = folder / "run.jsonl"
    options = ["--param", "pause=0.05", "--jobs", jobs, "--journal", "run.jsonl"]
    with subprocess.Popen(
        [*POISE, *ARRAYS, *options],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        while not journal.exists() or journal.read_bytes().count(b"\n") < 6:
            time.sleep(0.01)
        os.killpg(process.pid, number)
        output, errors = process.communicate()
    status, ended = (143, "terminated") if number == signal.SIGTERM else (130, "interrupted")
    assert process.returncode == status
    assert output == ""
    trials = read_journal(journal).trials.n_observed
    assert 5 <= trials < 30
    last = errors.splitlines()[-1]
    assert last == (
        f"poise: {ended}; {trials} trials are in run.jsonl; "
        "poise resume run.jsonl goes on from there"
    )
    assert "Traceback" not in errors
    assert until(lambda: _ended(process.pid))


def _ended(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return True
    return False
