"""The command line as the shell sees it: real processes, pipes and signals."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

MEAN = (
    "test numbers.csv --target price --drop id --n 20 --epsilon 1 --delta 0.2 "
    "--algorithm poise_test_models.py:mean --no-look"
)


@pytest.mark.parametrize("jobs", [1, 2])
def test_stdout_holds_json_and_nothing_that_fits_print(shell, folder: Path, jobs: int) -> None:
    (folder / "poise_test_loud.py").write_text(
        "import os\n"
        "print('while it is imported')\n"
        "def loud(X, y, seed):\n"
        "    print('a printed line')\n"
        "    os.write(1, b'from compiled code\\n')\n"
        "    return lambda rows: [0.0] * len(rows)\n"
    )
    done = shell(f"{MEAN.replace('models.py:mean', 'loud.py:loud')} --json --jobs {jobs}")
    assert json.loads(done.stdout)["verdict"] == "stable", done.stderr
    assert done.returncode == 0
    assert "while it is imported" in done.stderr


def test_a_reader_that_goes_away_is_no_error(shell) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = shell(MEAN, stdout=writing)
    os.close(writing)
    assert done.returncode == 141
    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr


def test_an_answer_that_cannot_be_written_is_no_verdict(shell) -> None:
    for form in ("", " --json"):
        with open(os.devnull) as read_only:  # as a full disk, which few systems have at hand
            done = shell(MEAN + form, stdout=read_only)
        assert (done.returncode, done.stderr) == (2, "poise: Bad file descriptor\n")


@pytest.mark.parametrize(
    ("number", "status", "word"),
    [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")],
)
def test_a_signal_ends_in_one_line_and_a_status(folder, number, status, word) -> None:
    (folder / "started").unlink(missing_ok=True)
    (folder / "poise_test_slow.py").write_text(
        "import pathlib, time\n"
        "def slow(X, y, seed):\n"
        "    pathlib.Path('started').touch()\n"
        "    time.sleep(60)\n"
    )
    words = MEAN.replace("models.py:mean", "slow.py:slow").split()
    words = [sys.executable, "-m", "poise", *words]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen(words, cwd=folder, **pipes)
    while not (folder / "started").exists() and process.poll() is None:
        time.sleep(0.05)
    process.send_signal(number)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err.strip()) == (status, "", f"poise: {word}")


def test_a_bare_machine(shell) -> None:
    """No home, no letters beyond ASCII, no terminal: plain lines of any length."""
    bare = {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii", "HOME": ""}
    done = shell(MEAN, env=bare)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("STABLE: ")
    assert len(done.stdout.splitlines()) == 5
    assert "\x1b" not in done.stdout


def test_modules_beside_the_data_are_not_run(shell, folder: Path, tmp_path: Path) -> None:
    shutil.copy(folder / "numbers.csv", tmp_path)
    for name in ("csv", "joblib", "sklearn", "queue"):
        (tmp_path / f"{name}.py").write_text("print('it was run'); raise SystemExit(9)")
    done = shell(MEAN.replace("poise_test_models.py:mean", "Lasso -q"), cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "stable\n", "")
