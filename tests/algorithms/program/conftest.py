"""Programs written on the spot, and a search for what they leave behind."""

import os
import sys

import pytest

from poise.algorithms.program import Program
from poise.algorithms.program.server_pool import servers
from shared.paths import EXAMPLES
from shared.processes import gone, python


@pytest.fixture
def examples():
    return EXAMPLES / "programs"


@pytest.fixture(autouse=True)
def no_process_left(nothing_left, tmp_path):
    """After every test: no folder, no process. Programs note their pid in ``pids``."""
    yield
    servers.end()
    notes = tmp_path / "pids"
    pids = [int(line) for line in notes.read_text().split()] if notes.exists() else []
    assert [pid for pid in pids if not gone(pid)] == []


_PREAMBLE = """
import json, os, sys, time
with open(os.environ["PIDS"], "a") as notes:
    notes.write(f"{os.getpid()}\\n")
"""

_ONE_SHOT = "train, test, predictions, seed = sys.argv[1:]\n"

_SERVING = """
for line in sys.stdin:
    request = json.loads(line)
    rows = len(next(iter(request["test"].values())))
    def say(text):
        print(text, flush=True)
    def answer(*numbers):
        say(json.dumps({"id": request["id"], "predictions": numbers}))
"""


@pytest.fixture
def write_program(tmp_path):
    """Write Python code as a one-shot or a serving program; return it as an algorithm."""

    def write(code: str, mode: str, **options) -> Program:
        path = tmp_path / f"{mode}.py"
        body = "".join(f"    {line}\n" for line in code.splitlines())
        if mode == "one-shot":
            path.write_text(_PREAMBLE + _ONE_SHOT + "if True:\n" + body)
            files = ["{train}", "{test}", "{predictions}", "{seed}"]
        else:
            path.write_text(_PREAMBLE + _SERVING + body)
            files = []
        options.setdefault("env", {})["PIDS"] = str(tmp_path / "pids")
        return Program([sys.executable, "-S", str(path), *files], mode=mode, **options)

    return write


@pytest.fixture
def run_script(tmp_path, temporary):
    """Run a script in a Python of its own, from start to exit; return what it prints."""

    def run(code: str) -> str:
        path = tmp_path / "script.py"
        path.write_text(code)
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TMPDIR": str(temporary)}
        done = python(str(path), env=env)
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        return done.stdout

    return run
