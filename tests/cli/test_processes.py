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

from shared.processes import POISE, python

# Arrays, so that the processes need not import pandas; CSV only where a column is named.
MEAN = (
    "test numbers.npz --n 20 --seed 0 --epsilon 1 --delta 0.2 --algorithm poise_test_models.py:mean"
)


@pytest.mark.parametrize("jobs", [1, 2])
def test_stdout_holds_json_and_nothing_an_algorithm_prints(shell, jobs: int) -> None:
    done = shell(f"{MEAN} --json --jobs {jobs}")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["verdict"] == "stable"
    assert "a line that algorithms like to print" in done.stderr


def test_exit_statuses(shell) -> None:
    assert shell(f"{MEAN} -q --epsilon 0").returncode == 1
    assert shell(f"{MEAN.replace('npz', 'csv')} -q --target nothing").returncode == 2
    failed = shell(f"{MEAN.replace(':mean', ':failing')} -q")
    assert failed.returncode == 3
    assert failed.stdout == ""
    assert failed.stderr.count("\n") == 1


def test_compiled_code_cannot_write_into_the_json_either(shell, folder: Path) -> None:
    (folder / "poise_test_loud.py").write_text(
        "import os\n"
        "def loud(X, y, seed):\n"
        "    os.write(1, b'from below\\n')\n"
        "    return lambda rows: [0.0] * len(rows)\n"
    )
    done = shell(f"{MEAN.replace('models.py:mean', 'loud.py:loud')} --json")
    assert json.loads(done.stdout)["verdict"] == "stable"
    assert "from below" in done.stderr


@pytest.mark.parametrize("form", [["--json"], []], ids=["JSON", "text"])
def test_a_reader_that_goes_away_is_no_error(folder: Path, form: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)  # nobody will ever read
    done = subprocess.run(
        [*POISE, *MEAN.split(), *form], cwd=folder, stdout=writing, stderr=subprocess.PIPE
    )
    os.close(writing)
    assert done.returncode == 141
    assert b"Traceback" not in done.stderr
    assert b"BrokenPipe" not in done.stderr


@pytest.mark.parametrize(
    ("number", "status", "word"),
    [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")],
)
def test_interrupting_ends_in_one_line_and_a_status(folder, number, status, word) -> None:
    (folder / "started").unlink(missing_ok=True)
    (folder / "poise_test_slow.py").write_text(
        "import pathlib, time\n"
        "def slow(X, y, seed):\n"
        "    pathlib.Path('started').touch()\n"
        "    time.sleep(60)\n"
    )
    arguments = MEAN.replace("models.py:mean", "slow.py:slow").split()
    process = subprocess.Popen(
        [*POISE, *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not (folder / "started").exists() and process.poll() is None:
        time.sleep(0.1)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == status
    assert out == ""
    assert err.strip() == f"poise: {word}"


def test_a_terminal_without_greek_letters(folder: Path) -> None:
    env = os.environ | {"PYTHONIOENCODING": "latin-1", "PYTHONUTF8": "0"}
    done = python("-m", "poise", "profile", "--help", cwd=folder, env=env, text=False)
    assert done.returncode == 0
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("jobs", [1, 2])
def test_modules_beside_the_data_are_not_run(folder: Path, tmp_path: Path, jobs: int) -> None:
    shutil.copy(folder / "numbers.csv", tmp_path)
    for name in ("csv", "joblib", "sklearn", "pickle", "queue"):
        (tmp_path / f"{name}.py").write_text("print('it was run'); raise SystemExit(9)")
    asked = "test numbers.csv --target price --n 20 --epsilon 1 --delta 0.2 --quiet --no-fast"
    ridge = f"--jobs {jobs} --seed 0 --algorithm sklearn.linear_model:Ridge(alpha=2.0)"
    done = subprocess.run(
        [sys.executable, "-m", "poise", *f"{asked} {ridge}".split()],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "stable\n", "")


def test_programs_find_their_own_neighbours(folder: Path) -> None:
    (folder / "poise_test_sibling.py").write_text("LEVEL = 1.0")
    (folder / "train.py").write_text(
        "import sys\n"
        "from poise_test_sibling import LEVEL\n"
        "open(sys.argv[1], 'w').write(f'{LEVEL}\\n')\n"
    )
    program = f"{sys.executable} train.py {{predictions}} {{train}} {{test}}"
    few = f"{MEAN.rpartition(' --algorithm')[0]} --n 100 --delta 0.5 --quiet --program".split()
    done = subprocess.run(
        [sys.executable, "-m", "poise", *few, program],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "stable\n"), done.stderr
