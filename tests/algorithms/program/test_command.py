"""What is wrong with a command is said before anything runs."""

import os
import sys

import pytest

from poise.algorithms.program import Program
from poise.errors import AlgorithmError, ArgumentError

FILES = "{train} {test} {predictions}"

REFUSED = {
    "": "command must be a string or a list of strings",
    "sh 'open": r"command cannot be split \(No closing quotation\)",
    "no-such-program-here " + FILES: "program 'no-such-program-here', not found; install it",
    "./absent.sh " + FILES: r"program './absent.sh', not found; check the path",
    "sh {train} {test}": r"command must contain \{predictions\}",
    "sh {test} {predictions}": r"command must contain \{train\}",
    "sh {train} {predictions}": r"command must contain \{test\}",
    f"sh {FILES} {{sed}}": r"unknown placeholder \{sed\}; known are \{train\}, .*\{seed\}",
    f"awk 'NR>1{{next}}' {FILES}": r"unknown placeholder \{next\}.* belongs in a file",
}


@pytest.mark.parametrize("command", REFUSED)
def test_one_shot_commands_that_are_refused(command):
    with pytest.raises(AlgorithmError, match=REFUSED[command]):
        Program(command)


@pytest.mark.parametrize("command", [None, [], ["sh", 5], 7, b"sh"])
def test_commands_that_are_no_commands(command):
    with pytest.raises(AlgorithmError, match="command must be a string or a list of strings"):
        Program(command)


@pytest.mark.parametrize("name", ["train", "test", "predictions", "seed"])
def test_serving_takes_no_placeholders(name):
    with pytest.raises(AlgorithmError, match=f"must not contain {{{name}}} with mode='serving'"):
        Program(["sh", f"--file={{{name}}}"], mode="serving")


def test_serving_leaves_other_braces_alone():
    assert Program(["awk", "{print}"], mode="serving").name == "awk '{print}'"


@pytest.mark.parametrize("timeout", [0, -1.0, float("nan"), float("inf"), "10", True])
def test_timeout_is_a_positive_number_of_seconds(timeout):
    with pytest.raises(ArgumentError, match="timeout must be a number of seconds > 0"):
        Program("sh", mode="serving", timeout=timeout)


def test_other_arguments_are_checked(tmp_path):
    with pytest.raises(
        ArgumentError, match="mode must be one of 'one-shot', 'serving', got 'fast'"
    ):
        Program("sh", mode="fast")
    with pytest.raises(ArgumentError, match="env must map strings to strings, got 'LEVEL': 7"):
        Program("sh", mode="serving", env={"LEVEL": 7})
    with pytest.raises(ArgumentError, match=r"cwd must be an existing folder, got '.*absent'"):
        Program("sh", mode="serving", cwd=tmp_path / "absent")


def test_a_relative_program_is_looked_for_in_its_folder(tmp_path):
    script = tmp_path / "fit.sh"
    script.write_text('#!/bin/sh\necho "$3" > "$3"\necho 7 > "$3"\n')
    script.chmod(0o644)
    with pytest.raises(AlgorithmError, match=r"'\./fit\.sh', not found; .*executable"):
        Program(f"./fit.sh {FILES}", cwd=tmp_path)
    script.chmod(0o755)
    program = Program(f"./fit.sh {FILES}", cwd=tmp_path)
    assert program.fit([[1.0]], [1.0], xi=0)([[1.0]]) == [7.0]


def test_the_program_is_looked_for_on_the_path_it_will_see(tmp_path):
    script = tmp_path / "only-here"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    path = os.pathsep.join([str(tmp_path), os.environ["PATH"]])
    assert Program("only-here", mode="serving", env={"PATH": path}).name == "only-here"
    with pytest.raises(AlgorithmError, match="not found"):
        Program("only-here", mode="serving")


def test_no_shell_reads_the_command(tmp_path):
    """Semicolons, pipes and redirections are characters like any other."""
    script = tmp_path / "count.py"
    script.write_text("import sys\nopen(sys.argv[3], 'w').write(str(len(sys.argv)))\n")
    command = [sys.executable, str(script), *FILES.split(), "; touch", "|", ">", "$HOME", "*"]
    assert Program(command).fit([[1.0]], [1.0], xi=0)([[1.0]]) == [9.0]


def test_a_placeholder_may_be_part_of_a_word_and_come_twice(tmp_path):
    script = tmp_path / "same.py"
    script.write_text(
        "import sys\n"
        "path = sys.argv[3].removeprefix('--out=')\n"
        "open(path, 'w').write(str(int(sys.argv[2] == path)))\n"
    )
    command = [sys.executable, str(script), "{train}:{test}", "{predictions}"]
    program = Program([*command, "--out={predictions}"])
    assert program.fit([[1.0]], [1.0], xi=0)([[1.0]]) == [1.0]


def test_names_and_defaults():
    program = Program(f"sh fit.sh {FILES} {{seed}}")
    assert program.name == "sh fit.sh '{train}' '{test}' '{predictions}' '{seed}'"
    assert (program.mode, program.timeout, program.natural_distance) == (
        "one-shot",
        None,
        "absolute",
    )
    assert Program("sh", mode="serving", name="my model", timeout=2).timeout == 2.0
    assert Program("sh", mode="serving", name="my model").name == "my model"
    assert repr(Program("sh -e", mode="serving")) == "Program('sh -e', mode='serving')"
