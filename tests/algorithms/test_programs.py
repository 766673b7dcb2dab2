from __future__ import annotations

import csv
import datetime
import decimal
import io
import os
import pickle
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression

import poise
from helpers import ROOT, needs, python
from poise.algorithms import program as home
from poise.data.sample import Sample
from poise.engine.pool import Pool
from poise.errors import AlgorithmError, TrialError

SERVE = """
import os, subprocess, sys, time
def note(pid):
    with open({pids!r}, "a") as file: file.write(f"{{pid}} ")
def child():
    note(subprocess.Popen(["sleep", "600"]).pid)
note(os.getpid())
{before}
while line := sys.stdin.readline():
    k, seed, n, m = map(int, line.split())
    train = [sys.stdin.readline() for _ in range(n + 1)]
    test = [sys.stdin.readline() for _ in range(m + 1)]
    def say(text): print(text, flush=True)
    def answer(*values): say(f"predictions {{k}} " + ",".join(map(str, values)))
{code}
"""
TRAIN, TEST = ([[0.0], [1.0], [2.0]], [1.0, 2.0, 3.0]), [[5.0], [6.0]]
MANY = [[float(k)] for k in range(50_000)], [0.0] * 50_000  # more than a pipe holds


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Write a program that answers with ``code``; afterwards none of its family may be left."""
    monkeypatch.setattr(home, "_PATIENCE", 0.5)
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    pids = tmp_path / "pids"

    def written(code="answer(1, 2)", before="", **options):
        body = "".join(f"    {line}\n" for line in code.splitlines())
        path = tmp_path / "program.py"
        path.write_text(SERVE.format(pids=str(pids), before=before, code=body))
        made = poise.Program([sys.executable, "-S", str(path)], **options)
        written.made.append(made)
        return made

    written.made = []
    written.family = lambda: [int(pid) for pid in pids.read_text().split()] if pids.exists() else []
    yield written
    for each in written.made:
        each.close()
    if idle := Pool._idle.pop(os.getpid(), None):
        idle.close()
    assert gone(*written.family())


def gone(*family):
    """Wait until none of these processes runs; one that nobody has reaped counts as gone."""
    deadline = time.monotonic() + 10
    while running := [pid for pid in family if _runs(pid)]:
        if time.monotonic() > deadline:
            return not running
        time.sleep(0.01)
    return True


def _runs(pid):
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def ask(program, points=TEST, xi=0):
    return program.fit(*TRAIN, xi=xi)(points)


# Name: code that answers, what is read.
ANSWERS = {
    "numbers": ("answer(1, -2.5e3)", [1, -2500]),
    "spaces and quotes": ("say(f'  predictions {k} \"1\", 2 ')", [1, 2]),
    "of windows": ("sys.stdout.write(f'predictions {k} 1,2\\r\\n'); sys.stdout.flush()", [1, 2]),
    "missing": ("answer('NA', 'NaN')", [np.nan, np.nan]),
    "nothing is missing, too": ("answer('', '')", [np.nan, np.nan]),
    "infinite": ("answer('Inf', '-inf')", [np.inf, -np.inf]),
    "vectors": ("answer('.2 .8', '1 0')", [[0.2, 0.8], [1, 0]]),
    "progress": ("sys.stderr.write('50% '); sys.stderr.flush(); answer(1, 2)", [1, 2]),
    "chat": ("say('loading'); print('really', file=sys.stderr); answer(1, 2)", [1, 2]),
    "no text": ("os.write(1, b'\\xff\\xfe\\x00\\n'); answer(1, 2)", [1, 2]),
    "flood of errors": ("sys.stderr.write('x' * 5_000_000 + '\\n'); answer(1, 2)", [1, 2]),
    "flood": ("[print('x' * 99) for _ in range(50_000)]; answer(1, 2)", [1, 2]),
    "seed": ("answer(seed, 0)", [2**31 - 1, 0]),
    "one thread": ("answer(os.environ['OMP_NUM_THREADS'], len(os.getcwd()))", [1, 4]),
}


@pytest.mark.parametrize("case", ANSWERS)
@pytest.mark.parametrize("keep", [True, False])
def test_what_is_read(write, monkeypatch, case, keep):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    code, expected = ANSWERS[case]
    program = write(code, keep=keep, folder="/tmp")
    for _ in range(2):
        np.testing.assert_array_equal(ask(program, xi=2**64 - 1), expected)
    assert len(write.family()) == (1 if keep else 2)


# Name: code, what happens before it reads, what the error says.
MISBEHAVIOUR = {
    "ends": ("sys.exit(3)", "", r"ended, or closed its output, .*\(exit status 3\)"),
    "ends at once": ("", "sys.exit(4)", r"\(exit status 4\)"),
    "crashes": ("os.kill(os.getpid(), 11)", "", r"\(killed by signal 11\)"),
    "gives a reason": ("sys.exit('no such column')", "", r"status 1\).*\n    no such column$"),
    "is long-winded": ("[say(i) for i in range(99)]; 1 / 0", "", r"\n    97\n    98\n.*Division"),
    "reports": ("say(f'error {k} singular matrix')", "", "reported an error: singular matrix$"),
    "answers twice": ("answer(1, 2); answer(1, 2)", "", "answered request 1 when 2 was asked"),
    "answers another": ("k = 7; answer(1, 2)", "", "answered request 7 when 1 was asked"),
    "answers too little": ("answer(1)", "", "gave 1 prediction for 2 rows: 1"),
    "answers too much": ("answer(1, 2, 3)", "", "gave 3 predictions for 2 rows"),
    "answers nothing": ("answer()", "", "gave 0 predictions for 2 rows"),
    "answers with text": ("answer(1, 'two')", "", "no numbers: .* 'two'"),
    "answers in Python": ("answer(1, '1_0')", "", "no numbers: .* '1_0'"),
    "answers with ragged rows": ("answer('1 2', 3)", "", "no numbers: "),
    "closes its output": ("os.close(1); os.close(2); time.sleep(600)", "", "closed its output"),
    "hangs": (
        "say('Continue? [y/n]'); time.sleep(600)",
        "",
        r"longer than fit_timeout=1.5;.*\[y/n\]",
    ),
    "never reads": ("", "time.sleep(600)", "longer than fit_timeout=1.5$"),
    "shouts, never reads": ("", "print('x' * 900_000); time.sleep(600)", "fit_timeout=1.5; .*xxx"),
    "never ends its line": ("", "while True: sys.stdout.write('x' * 9999)", "fit_timeout=1.5"),
    "floods for ever": ("while 1: sys.stderr.write('no\\n')", "", "fit_timeout=1.5; .*no\n    no"),
    "forgets to flush": ("print('predictions', k, '1,2')", "", "fit_timeout=1.5$"),
    "has a child and hangs": ("child(); time.sleep(600)", "", "fit_timeout=1.5"),
    "has a child and ends": ("child(); sys.exit(2)", "", r"\(exit status 2\)"),
    "closes its input": ("", "os.close(0); time.sleep(600)", "fit_timeout=1.5"),
}


@pytest.mark.parametrize("case", MISBEHAVIOUR)
def test_misbehaviour_is_named_and_leaves_nothing(write, case):
    code, before, expected = MISBEHAVIOUR[case]
    program = write(code, before).with_limit(1.5)
    predict = program.fit(*(MANY if before else TRAIN), xi=0)
    if "twice" in case:
        predict(TEST)
    with pytest.raises(TrialError, match=f"(?s){expected}") as caught:
        predict(TEST)
    assert str(caught.value).startswith("the program `")
    assert len(str(caught.value).splitlines()) <= 11
    assert caught.value.kind == ("timeout" if "fit_timeout" in expected else "error")
    answered = case.startswith(("answers with", "answers too", "answers in", "answers n", "rep"))
    assert answered or gone(*write.family())  # it goes on where its state is known
    program.close()
    assert ask(write()).tolist() == [1, 2]  # a failure is not for ever


def test_what_a_program_says_first_blocks_nothing_and_explains_no_later_error(write, tmp_path):
    asked = tmp_path / "asked"
    note = f"open({str(asked)!r}, 'a').write('.')\n"
    program = write(
        note + "if k > 1: sys.exit(4)\nsay('old')\nanswer(1, 2)",
        before="print('x' * 900_000, flush=True)",
    )
    assert program.fit(*MANY, xi=0)(TEST).tolist() == [1, 2]
    with pytest.raises(TrialError) as caught:
        ask(program)
    assert "old" not in str(caught.value)
    assert asked.read_text() == ".."  # it was not tried again
    assert ask(program).tolist() == [1, 2]


def test_programs_that_cannot_be_started(tmp_path):
    code_in_a_word = poise.Program([sys.executable, "-c", "#" * 5000])  # longer than a file's name
    assert code_in_a_word.user_code == (Path(sys.executable),)
    for command in ("", "no-such-program --at all", "./no-such-file"):
        with pytest.raises(AlgorithmError, match="cannot find the program"):
            poise.Program(command)
    script = tmp_path / "fit.sh"
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o755)
    program = poise.Program("./fit.sh", folder=tmp_path)
    for _ in range(2):
        with pytest.raises(TrialError, match=r"could not be started: .*No such file"):
            ask(program)
        script.unlink(missing_ok=True)


# Where programs run, and how they end


def test_one_program_is_kept_per_process_and_command(write):
    program = write("answer(os.getpid(), k)")
    pid, first = ask(program)
    assert ask(pickle.loads(pickle.dumps(program))).tolist() == [pid, first + 1]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: ask(program), range(8)))
    program.close()
    assert gone(int(pid))
    assert ask(program)[0] != pid
    stubborn = write("answer(1, 2)\ntime.sleep(600)")
    ask(stubborn)
    stubborn.close()  # its input has ended, and it does not look
    assert gone(*write.family())


def test_a_fork_neither_uses_nor_ends_the_program_of_its_parent(write):
    program = write("answer(os.getpid(), 2)")
    done = python(
        "import os, poise, warnings\n"
        f"program = poise.Program({list(program.words)!r})\n"
        "ask = lambda: program.fit([[0.0], [1.0]], [1.0, 2.0], xi=0)([[5.0], [6.0]])[0]\n"
        "before = ask()\n"
        "warnings.simplefilter('ignore')\n"
        "if child := os.fork(): os.wait()\n"
        "print((ask() == before) == bool(child), flush=True)\n"
    )
    assert (done.stdout.split(), done.stderr) == (["True", "True"], "")
    assert len(write.family()) == 2


RUN = (
    "import poise\n"
    "X = [[float(i)] for i in range(40)]\n"
    "program = poise.Program({words!r})\n"
    "poise.measure(program, X, list(range(40)), n=3, n_jobs={n_jobs}, check=False)\n"
)


@pytest.mark.parametrize(("how", "n_jobs"), [("SIGKILL", 2), ("SIGINT", 2), ("SIGINT", 1)])
def test_nothing_survives_a_run_that_is_killed(write, how, n_jobs):
    """Not even programs that do not read, and so cannot see that nobody writes any more."""
    program = write("child(); time.sleep(600)")
    code = RUN.format(words=list(program.words), n_jobs=n_jobs)
    with subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.DEVNULL) as owner:
        while len(write.family()) < 2 * n_jobs:
            time.sleep(0.01)
        owner.send_signal(signal.Signals[how])
    assert gone(*write.family())


def test_a_run_with_workers_and_a_time_limit(write):
    rows = np.arange(60.0).reshape(-1, 1)
    late = "if float(train[1].split(',')[0]) == 9: child(); time.sleep(600)\n"
    program = write(late + "answer(*[n + seed % 7] * m)")
    asked = {"n": 3, "shuffle": False, "progress": False, "on_error": "record", "check": False}
    one = poise.measure(program, rows, rows[:, 0], **asked, fit_timeout=3)
    two = poise.measure(program, rows, rows[:, 0], **asked, fit_timeout=3, n_jobs=2)
    np.testing.assert_array_equal(one.changes, two.changes)
    [failed] = two.failures
    assert failed.kind == "timeout"
    assert "longer than fit_timeout=3" in failed.message
    np.testing.assert_array_equal(np.delete(two.changes, failed.trial), 1.0)


# Rows as text

ECHO = "say('predictions ' + str(k) + ' ' + repr(''.join(train + test)).replace(',', ';'))"
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\n\r\0"), min_size=1)
FLOATS = st.floats(allow_nan=False)
KINDS = st.booleans(), st.integers(-(2**62), 2**62), FLOATS, TEXTS, st.dates()
COLUMNS = st.one_of(st.lists(kind | st.none(), min_size=1, max_size=5) for kind in KINDS)


def written(X, y):
    """What a program is given, as lists of cells."""
    rows, responses = home.as_rows(X, "X"), home.as_rows(y, "y")
    names = home._names(rows, responses)
    text = home._csv(names, [*rows.columns(), *responses.columns()])
    return list(csv.reader(io.StringIO(text, newline="")))


@given(COLUMNS, FLOATS)
def test_values_read_back_as_they_were(values, y):
    header, *lines = written([[value] for value in values], [y] * len(values))
    assert header == ["x1", "y"]
    for value, (cell, response) in zip(values, lines, strict=True):
        assert float(response).hex() == y.hex()
        if value is None or isinstance(value, bool):
            assert cell == {None: "NA", True: "TRUE", False: "FALSE"}[value]
        elif isinstance(value, float):
            assert float(cell).hex() == value.hex()
        else:
            assert cell == str(value)


def test_columns_of_frames_keep_their_names_and_kinds():
    days = [datetime.datetime(2024, 2, 29), None]
    columns = {"a": [1, 2], "b": [True, False], "day": days, "t": ["x,y", None], "d": [0.1, None]}
    expected = [
        ["a", "b", "day", "t", "d", "price"],
        ["1", "TRUE", "2024-02-29", "x,y", "0.1", "1.5"],
        ["2", "FALSE", "NA", "NA", "NA", "2.5"],
    ]
    frames = pd.DataFrame(columns), pl.DataFrame(columns)
    responses = pd.Series([1.5, 2.5], name="price"), pl.Series("price", [1.5, 2.5])
    for X, y in zip(frames, responses, strict=True):
        assert written(X, y) == expected
    odd = [[np.float32(0.5), decimal.Decimal("0.10"), np.int8(3), pd.NaT, datetime.time(8)]]
    assert written(odd, [0])[1] == ["0.5", "0.1", "3", "NA", "08:00:00", "0"]


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (scipy.sparse.eye(4).tocsr(), [0.0] * 4, "reads a table; give X.toarray()"),
        (np.eye(4), np.eye(4)[:, :2], "predicts one response, and y has 2"),
        (pd.DataFrame({"y": [1.0] * 4}), [0.0] * 4, "a feature and the response are both named"),
        ([["a"], ["b\nc"], ["d"], ["e"]], [0.0] * 4, "text on one line, got 'b"),
        ([[1 + 2j]] * 4, [0.0] * 4, "a program reads numbers, dates"),
    ],
)
def test_rows_that_cannot_be_written_are_refused_before_the_first_fit(write, X, y, message):
    with pytest.raises(AlgorithmError, match=message):
        write().prepared(Sample.of(X, y))
    with pytest.raises(AlgorithmError, match="sample_weight"):
        write().prepared(Sample.of(np.eye(4), [0.0] * 4, sample_weight=[1.0] * 4))
    assert write.family() == []


def test_labels_are_compared_as_labels(write):
    y = ["New York", "Bath"] * 20
    program = write('answer(*[train[-1].strip().rpartition(",")[2]] * m)')
    X = np.arange(40.0).reshape(-1, 1)
    trials = poise.measure(program, X, y, n=3, check=False, progress=False)
    assert trials.design.distance == "label"
    assert set(trials.values) == {0.0, 1.0}


# In R, with nothing but base


@needs("Rscript")
@pytest.mark.parametrize("keep", [True, False])
def test_a_linear_model_in_r_is_that_of_scikit_learn(keep):
    frame = pd.read_csv(ROOT / "examples" / "diabetes.csv")[["age", "bmi", "progression"]]
    program = poise.Program("Rscript examples/fit.R", keep=keep, folder=ROOT)
    asked = {"n": 12, "max_trials": 3, "progress": False, "check": keep}
    found = poise.measure(program, frame, "progression", **asked)
    known = poise.measure(LinearRegression(), frame, "progression", **asked, fast=False)
    np.testing.assert_allclose(found.changes, known.changes, rtol=1e-9)
    assert (found.changes > 0).all()
    assert found.warnings == ()
    program.close()
