"""Programs that die, lie, dawdle or shout: each is caught, and named."""

import re
import time

import numpy as np
import pytest

from poise.algorithms.program import Program
from poise.algorithms.program.process import Problem
from poise.algorithms.program.serving import Server
from poise.algorithms.program.task_files import Task, to_json
from poise.errors import TrialError
from shared.processes import gone

TRAIN = ([[0.0], [1.0], [2.0]], [1.0, 2.0, 3.0])
TEST = [[5.0], [6.0]]

WRITE = "open(predictions, 'w').write({!r})"


def predict(program):
    return program.fit(*TRAIN, xi=5)(TEST)


def complaint(program):
    with pytest.raises(TrialError) as caught:
        predict(program)
    text = str(caught.value)
    beginning = f"the program `{program.name}` "
    assert text.startswith(beginning)
    return text.removeprefix(beginning)


ONE_SHOT_LIES = {
    "missing": ("pass", "did not write the file {predictions}"),
    "empty": (WRITE.format(""), "gave no predictions for 2 test row(s)"),
    "short": (WRITE.format("1.5\n"), "gave 1 prediction for 2 test row(s)"),
    "many": (WRITE.format("1\n2\n3\n"), "gave 3 predictions for 2 test row(s)"),
    "short with header": (
        WRITE.format("fit\n1\n"),
        "gave 1 prediction for 2 test row(s) (line 1, 'fit', was taken as a header)",
    ),
    "text": (WRITE.format("1\ntwo\n"), "wrote 'two' on line 2, which is not one number"),
    "hole": (WRITE.format("1\n\n2\n"), "wrote '' on line 2, which is not one number"),
    "row names": (
        WRITE.format('"","x"\n"1",0.5\n"2",0.7\n'),
        "wrote '\"1\",0.5' on line 2, which is not one number",
    ),
    "python number": (WRITE.format("1\n1_0\n"), "wrote '1_0' on line 2, which is not one number"),
    "bytes": (
        "open(predictions, 'wb').write(b'1\\n\\xff\\n')",
        "wrote '\\\\xff' on line 2, which is not one number",
    ),
    "long text": (
        WRITE.format("1\n" + "x" * 500),
        "wrote '" + "x" * 76 + "... on line 2, which is not one number",
    ),
    "pipe": (
        "os.mkfifo(predictions)",
        "left a file {predictions} that cannot be read: it is a named pipe, not an ordinary file",
    ),
    "endless": (
        "os.symlink('/dev/zero', predictions)",
        "left a file {predictions} that cannot be read: it is a device, not an ordinary file",
    ),
    "folder": (
        "os.mkdir(predictions)",
        "left a file {predictions} that cannot be read: it is a folder, not an ordinary file",
    ),
    "huge": (
        "open(predictions, 'w').truncate(1 << 40)",
        "left a file {predictions} that cannot be read: it has more than 1,048,704 bytes",
    ),
    "exit": ("sys.exit(3)", "failed (exit status 3)"),
    "exit after writing": (WRITE.format("1\n2\n") + "; sys.exit(1)", "failed (exit status 1)"),
    "signal": ("os.kill(os.getpid(), 9)", "failed (killed by signal 9, Killed)"),
}


@pytest.mark.parametrize("lie", ONE_SHOT_LIES)
def test_one_shot_lies_are_named(write_program, lie):
    code, expected = ONE_SHOT_LIES[lie]
    assert complaint(write_program(code, "one-shot")) == expected


SERVING_LIES = {
    "short": ("answer(1.5)", "gave 1 prediction for 2 test row(s)"),
    "none": ("answer()", "gave no predictions for 2 test row(s)"),
    "many": ("answer(1, 2, 3)", "gave 3 predictions for 2 test row(s)"),
    "text": ("answer(1, 'two')", "gave 'two' as prediction 1, which is not a number"),
    "number as text": ("answer('1.5', 2)", "gave '1.5' as prediction 0, which is not a number"),
    "truth": ("answer(True, 2)", "gave True as prediction 0, which is not a number"),
    "nested": ("answer([1], [2])", "gave [1] as prediction 0, which is not a number"),
    "nothing": (
        "say(json.dumps({'id': request['id'], 'fit': 1}))",
        "answered without 'predictions' or 'error', only with ['fit', 'id']",
    ),
    "error": (
        "say(json.dumps({'id': request['id'], 'error': 'singular'}))",
        "reported an error: singular",
    ),
    "garbage": (
        "say('Loading model...')",
        "printed 'Loading model...' where one JSON object on one line was due; everything else "
        "belongs on standard error",
    ),
    "not an object": ("say('[1, 2]')", re.compile(r"printed '\[1, 2\]' where one JSON object")),
    "other id": (
        "say(json.dumps({'id': -1, 'predictions': [1, 2]}))",
        re.compile(r"answered request -1 when \d+ was asked; it must print exactly one line"),
    ),
    "exit": (
        "sys.exit(3)",
        "ended, or closed its standard output, before answering (exit status 3)",
    ),
    "signal": (
        "os.kill(os.getpid(), 9)",
        "ended, or closed its standard output, before answering (killed by signal 9, Killed)",
    ),
    "flood": (
        "sys.stdout.write('x' * 3_000_000); time.sleep(600)",
        re.compile(r"printed 'x{197}\.\.\.' where one JSON object"),
    ),
}


@pytest.mark.parametrize("lie", SERVING_LIES)
def test_serving_lies_are_named(write_program, lie):
    code, expected = SERVING_LIES[lie]
    found = complaint(write_program(code, "serving"))
    assert expected.match(found) if isinstance(expected, re.Pattern) else found == expected


GOOD = {
    "header": ("one-shot", WRITE.format("fit\n1\n2\n"), [1, 2]),
    "quotes": ("one-shot", WRITE.format('"x"\n"1"\n 2 \n\n'), [1, 2]),
    "windows": ("one-shot", WRITE.format("\ufefffit\r\n1e3\r\n-.5\r\n"), [1000, -0.5]),
    "missing": ("one-shot", WRITE.format("NA\nNaN\n"), [np.nan, np.nan]),
    "infinite": ("one-shot", WRITE.format("Inf\n-inf\n"), [np.inf, -np.inf]),
    "null": ("serving", "answer(None, float('nan'))", [np.nan, np.nan]),
    "as jsonlite writes": ("serving", "answer('NA', '-Inf')", [np.nan, -np.inf]),
}


@pytest.mark.parametrize("case", GOOD)
def test_what_is_accepted(write_program, case):
    mode, code, expected = GOOD[case]
    np.testing.assert_array_equal(predict(write_program(code, mode)), expected)


def test_a_bare_number_is_one_prediction(write_program):
    """R's jsonlite unboxes a vector of length one if asked to unbox the id."""
    program = write_program("say(json.dumps({'id': request['id'], 'predictions': 4}))", "serving")
    assert program.fit(*TRAIN, xi=0)([[1.0]]) == [4.0]
    with pytest.raises(TrialError, match="gave 1 prediction for 2"):
        predict(program)


@pytest.mark.parametrize("mode", ["one-shot", "serving"])
def test_last_lines_of_stderr_are_in_the_error(write_program, mode):
    shout = "for k in range(50_000): print('line', k, file=sys.stderr)\nsys.exit(2)"
    lines = complaint(write_program(shout, mode)).splitlines()
    assert lines[0].endswith("(exit status 2); the last lines of its standard error:")
    assert lines[1:] == [f"    line {k}" for k in range(49_990, 50_000)]


def test_an_earlier_request_explains_nothing(write_program):
    code = "if request['id'] == 2: sys.exit(4)\nprint('old', file=sys.stderr)\nanswer(1, 2)"
    server = Server(write_program(code, "serving").command)
    task = Task({"x1": [1.0], "y": [1.0]}, {"x1": [1.0, 2.0]}, seed=0)
    server.ask(to_json(task, 1), 1, expected=2, timeout=None)
    while not server.process.last_words().endswith("old"):
        time.sleep(0.01)
    with pytest.raises(Problem, match="exit status 4"):
        server.ask(to_json(task, 2), 2, expected=2, timeout=None)
    server.kill()
    assert server.process.last_words() == ""


@pytest.mark.parametrize("mode", ["one-shot", "serving"])
def test_a_flood_on_stderr_blocks_nothing(write_program, mode):
    code = {"one-shot": WRITE.format("1\n2\n"), "serving": "answer(1, 2)"}[mode]
    flood = "sys.stderr.write('x' * 5_000_000)\n"
    assert predict(write_program(flood + code, mode)).tolist() == [1, 2]


def test_a_flood_on_stdout_is_ignored_by_one_shot(write_program):
    flood = "sys.stdout.write('x' * 5_000_000)\n"
    program = write_program(flood + WRITE.format("1\n2\n"), "one-shot")
    assert predict(program).tolist() == [1, 2]


def test_a_program_that_talks_before_it_listens_blocks_nothing(tmp_path, write_program):
    """Both pipes are full at once: it shouts into one and does not read the other."""
    program = write_program("pass", "serving")
    path = tmp_path / "serving.py"
    shout = "print('x' * 900_000, flush=True)\nimport time\ntime.sleep(600)\n"
    path.write_text(path.read_text().replace("for line", shout + "for line", 1))
    rows = [[float(k)] for k in range(200_000)]
    with pytest.raises(TrialError, match="printed 'xxx"):
        program.fit(rows, [0.0] * len(rows), xi=0)(TEST)


@pytest.mark.parametrize("mode", ["one-shot", "serving"])
def test_a_slow_program_is_killed(write_program, mode):
    word = {"one-shot": "finish", "serving": "answer"}[mode]
    found = complaint(write_program("time.sleep(600)", mode, timeout=0.5))
    assert found == f"did not {word} within 0.5 s and was killed"


def test_an_answer_without_end_of_line_is_shown(write_program):
    code = "print('{}', end='', flush=True); time.sleep(600)"
    found = complaint(write_program(code, "serving", timeout=3.0))
    assert found == (
        "did not answer within 3 s after printing '{}' without an end of line and was killed"
    )


def test_a_program_that_never_reads_is_killed(tmp_path, write_program):
    program = write_program("pass", "serving", timeout=1.0)
    path = tmp_path / "serving.py"
    path.write_text(path.read_text().replace("for line", "time.sleep(600)\nfor line", 1))
    rows = [[float(k)] for k in range(200_000)]
    with pytest.raises(TrialError, match="did not answer within 1 s"):
        program.fit(rows, [0.0] * len(rows), xi=0)(TEST)


# Fails the first time it is asked, whichever process is asked.
FICKLE = """
first = not os.path.exists(os.environ["PIDS"] + ".asked")
open(os.environ["PIDS"] + ".asked", "a").write("asked\\n")
if first: sys.exit(1)
"""


@pytest.mark.parametrize("mode", ["one-shot", "serving"])
def test_a_failure_is_never_retried_and_the_next_request_starts_afresh(
    write_program, tmp_path, mode
):
    code = {"one-shot": WRITE.format("1\n2\n"), "serving": "answer(1, 2)"}[mode]
    program = write_program(FICKLE + code, mode)
    assert "exit status 1" in complaint(program)
    assert (tmp_path / "pids.asked").read_text() == "asked\n"
    assert predict(program).tolist() == [1, 2]


def test_a_server_that_ends_between_requests_is_replaced(write_program):
    program = write_program("answer(os.getpid(), 2)\nbreak", "serving")
    first = int(predict(program)[0])
    assert gone(first)
    assert int(predict(program)[0]) != first


def test_an_answer_too_many_is_caught_with_the_next_request(write_program):
    program = write_program("answer(1, 2); answer(1, 2)", "serving")
    assert predict(program).tolist() == [1, 2]
    assert re.match(r"answered request \d+ when \d+ was asked", complaint(program))
    assert predict(program).tolist() == [1, 2]


def test_a_program_that_vanished_is_named(tmp_path):
    path = tmp_path / "here"
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    program = Program([str(path), "{train}", "{test}", "{predictions}"])
    path.unlink()
    assert re.match("could not be started: .*No such file", complaint(program))
    serving = tmp_path / "there"
    serving.write_text("#!/no/such/interpreter\n")
    serving.chmod(0o755)
    assert "could not be started" in complaint(Program([str(serving)], mode="serving"))
