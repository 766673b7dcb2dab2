"""What the command line says: options and lines of files, never keywords of Python."""

from __future__ import annotations

import ast
import inspect
import json
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd
import pytest

import poise
from poise.cli import COMMANDS, main
from poise.cli.failed_fit import failed_fit
from poise.cli.option_words import (
    ARGUMENTS,
    OF_ALGORITHMS,
    in_options,
    options_by_argument,
)
from poise.cli.quoted_errors import around_quotes
from poise.errors import AlgorithmError, PoiseError, TrialError
from shared.paths import ROOT

BASE = "test numbers.csv --target price --drop id --n 20 --epsilon 0.5 --delta 0.2"
RIDGE = f"{BASE} --algorithm sklearn.linear_model:Ridge"


def test_every_option_of_every_command_is_translated() -> None:
    """No command line gives None, True or a keyword; --param alpha=1.0 is of the algorithm."""
    for command in set(COMMANDS) - {"run"}:  # which has keys in its file
        for option in main.get_command(None, command).params:
            name = ARGUMENTS.get(option.name, option.name)
            if isinstance(option, click.Option) and name not in OF_ALGORITHMS:
                assert in_options(f"say {name}='x'", command) == f"say {option.opts[0]} x", command


def _parameters_of_the_library() -> set[str]:
    public = [getattr(poise, name) for name in poise.__all__]
    classes = [each for each in public if inspect.isclass(each)]
    methods = [each for kind in classes for _, each in inspect.getmembers(kind, callable)]
    return {name for each in [*public, *methods] if callable(each) for name in _signature(each)}


def _signature(function: Any) -> Iterable[str]:
    try:
        return inspect.signature(function).parameters
    except ValueError:  # what is not written in Python may not say what it takes
        return ()


def test_an_option_with_another_name_is_a_parameter_of_the_library() -> None:
    assert set(ARGUMENTS.values()) <= _parameters_of_the_library()


def test_a_command_never_names_an_option_that_it_lacks() -> None:
    assert in_options("data=3, sep=';', n_jobs=2", "test") == "data=3, --sep ;, --jobs 2"
    assert in_options("data=3, n_jobs=2") == "--data 3, --jobs 2"  # no command is known
    assert in_options("data=3, sep=';' on_error", "verify") == "--data 3, --sep ; on_error"
    assert in_options("n_jobs, a_b, delta=3", "resume") == "n_jobs, a_b, delta=3"
    for command in set(COMMANDS) - {"run"}:
        options = {each for one in main.get_command(None, command).params for each in one.opts}
        for name in options_by_argument():
            said = in_options(f"got {name}='x'", command)
            assert said == f"got {name}='x'" or said.split()[1] in options, command


def test_only_options_have_other_names() -> None:
    assert set(ARGUMENTS.values()) <= set(options_by_argument())
    names = {each.name for command in COMMANDS for each in main.get_command(None, command).params}
    assert set(ARGUMENTS) | OF_ALGORITHMS <= names


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("--jobs 0", "--jobs must be a whole number other than 0, got 0"),
        ("--timeout 3", "worker processes (--jobs 2 or more), got --timeout 3.0"),
        ("--address a:1", "address needs --backend dask or ray, got no --backend"),
        ("--remove 20", "(or at most n with --replace), got 20"),
        ("--response predict_proba", "it can be asked with --response predict"),
        ("--distance label --epsilon 1.5", "labels: use --epsilon 0"),
        ("--test binomial --removals all", "(--removals all) need --test averaged"),
        (
            "--test binomial --removals 2 --points 3",
            "several changes a trial (--removals 2, --points 3) need --test averaged: ",
        ),
        ("--timeout -3", "timeout must be a number of seconds > 0, got -3.0"),
    ],
)
def test_messages_name_options(run, more: str, message: str) -> None:
    done = run(f"{RIDGE} {more}")
    assert done.exit_code == 2
    assert message in done.stderr
    assert json.loads(run(f"{RIDGE} {more} --json").stdout)["message"] in done.stderr


SEVERAL_CHANGES = "a trial (--removals 2) need --test averaged: the Binomial test has one"
PROBABILITIES = "ask for them with --response predict_proba. To count a failed trial"
RIDGE_ON_ROWS = "numbers.csv --target price --drop id --algorithm sklearn.linear_model:Ridge"
CHANGE = "--epsilon 0.5 --delta 0.2 --seed 0"
LOG_LOSS_OF_THOUSANDS = (
    "numbers.csv --target price --drop id --algorithm poise_test_models.py:mean "
    f"--param shift=1000.0 --distance loss:log {CHANGE}"
)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (f"test {LOG_LOSS_OF_THOUSANDS} --n 20", PROBABILITIES),
        (
            f"compare {RIDGE_ON_ROWS} {CHANGE} --n 20 --removals 2 --test binomial",
            SEVERAL_CHANGES,
        ),
        (f"curve {RIDGE_ON_ROWS} {CHANGE} --n 20 --removals 2 --test binomial", SEVERAL_CHANGES),
        (f"deployed {LOG_LOSS_OF_THOUSANDS} --hold-out 0.2", PROBABILITIES),
        (
            f"deployed {RIDGE_ON_ROWS} {CHANGE} --hold-out 0.2 --points 3",
            "points must be 1 for --notion deployed, where every",
        ),
        (f"monitor new.record {LOG_LOSS_OF_THOUSANDS} --n 20", PROBABILITIES),
        (
            "plan --n 100 --delta 0.1 --delta-star 0.2",
            "delta must be above --delta-star 0.2, got 0.1",
        ),
    ],
)
def test_no_command_speaks_python(run, asked: str, message: str) -> None:
    said = run(asked).stderr
    assert message in said
    assert not re.search(r"\w='|=True|=False|=None", said)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        (
            'test = "binomial"\nremovals = "all"',
            'several changes a trial (removals = "all") need test = "averaged": the Binomial',
        ),
        ("remove = 20", "(or at most n with replace = true), got 20"),
        ("jobs = 0", "jobs must be a whole number other than 0, got 0"),
        ("n_jobs = 2", "unknown key 'n_jobs' in [[questions]] 1; did you mean 'jobs'?"),
        ("seed = -1", "seed must be a whole number >= 0, got -1"),
        ("timeout = 3", "worker processes (jobs = 2 or more), got timeout = 3 with"),
        ('stop_early = "x"', "stop_early must be true, false or 'stable', got 'x'"),
        (
            'distance = "loss:log"',
            'with response = "predict_proba". To count a failed trial against stability: '
            'on_error = "unstable"',
        ),
    ],
)
def test_messages_about_a_file_of_questions_name_its_keys(
    run, folder: Path, setting: str, message: str
) -> None:
    (folder / "wrong.toml").write_text(
        'data = {file = "numbers.csv", target = "price", drop = ["id"]}\n'
        'algorithms.mean = {use = "poise_test_models.py:mean", params = {shift = 1000.0}}\n'
        f"[[questions]]\nn = 20\nepsilon = 0.5\ndelta = 0.2\n{setting}\n"
    )
    assert message in run("run wrong.toml").stderr


def test_messages_of_the_library_that_name_arguments_in_every_way() -> None:
    said = in_options("random_state, n_jobs=2; delta_star = 0.1, groups= or check; n_labels=3")
    assert said == "--seed, --jobs 2; --delta-star 0.1, --groups or check; n_labels=3"
    assert in_options("set decimal to ',' now", "test") == "set --decimal to ',' now"
    assert in_options("add a line, or set header to false") == "add a line, or give --no-header"
    assert in_options("see poise.check_algorithm; ridge.alpha=2, my_delta=3") == (
        "see poise check; ridge.alpha=2, my_delta=3"
    )
    assert in_options("Bagging(Ridge(), n_jobs=2): n_jobs=2; a column 'n_jobs' of --param n=2") == (
        "Bagging(Ridge(), n_jobs=2): --jobs 2; a column 'n_jobs' of --param n=2"
    )


def test_paths_columns_and_parameters_keep_their_names() -> None:
    said = "rows/name=a/n_jobs.csv has no column 'x'. It has: n_jobs, random_state"
    assert in_options(said) == in_options(said, "test") == said
    assert in_options('say "n_jobs", or n_jobs=2 (n_jobs=1)') == (
        'say "n_jobs", or --jobs 2 (--jobs 1)'
    )


USERS_WORDS = "n_jobs=2 is bad; random_state, on_error='unstable'"


@pytest.mark.parametrize("jobs", [1, 2])
def test_the_words_of_a_failed_fit_stay_as_they_are(run, shell, jobs: int) -> None:
    """Workers that earlier tests started look for modules elsewhere: two have a process."""
    failing = "poise_test_models.py:fails_in_words_of_options"
    command = f"{BASE} --algorithm {failing} --jobs {jobs} --seed 0"
    said = (run if jobs == 1 else shell)(command).stderr
    assert said.startswith(f"poise: trial 0 failed: ValueError: {USERS_WORDS}. To count")
    assert "against stability: --on-error unstable." in said


@pytest.mark.parametrize(("command", "named"), [("test", True), ("run", True), ("check", False)])
def test_only_a_command_that_can_count_failed_trials_says_how(command: str, named: bool) -> None:
    said = failed_fit(TrialError("trial 3 failed: no memory", trial=3), command)
    assert said.startswith("trial 3 failed: no memory")
    assert ("To count a failed trial" in said) == named
    assert "on_error='" not in said


def test_the_words_of_a_program_stay_as_they_are(run, folder: Path) -> None:
    (folder / "words.py").write_text(f"import sys\nsys.exit({USERS_WORDS!r})\n")
    program = f"{sys.executable} words.py n_jobs=3 {{train}} {{test}} {{predictions}}"
    said = run(f"{BASE} --seed 0", "--program", program).stderr
    assert f"standard error: {USERS_WORDS}. To count" in said
    assert "words.py n_jobs=3 " in said


def test_the_words_of_an_algorithm_that_cannot_be_made_stay_as_they_are() -> None:
    error = AlgorithmError(f"set n_jobs=2: ValueError: {USERS_WORDS}.")
    error.__cause__ = ValueError(f"{USERS_WORDS}.")
    failed = TrialError("trial 3 failed", trial=3)
    failed.__cause__ = error
    said = failed_fit(failed, "test")
    assert f"set --jobs 2: ValueError: {USERS_WORDS}. To count" in said


def test_the_words_of_a_failure_in_a_journal_stay_as_they_are() -> None:
    error = TrialError(f"trial 3 failed: ValueError: {USERS_WORDS}. What was measured …", trial=3)
    assert f"ValueError: {USERS_WORDS}. What" in failed_fit(error, "test")


def test_an_error_without_words_quotes_none() -> None:
    error = PoiseError("n_jobs=2 is wrong")
    error.__cause__ = ValueError("...")  # full stops at the end are no words
    assert around_quotes(str(error), error, "test") == "--jobs 2 is wrong"


def test_the_library_never_names_options() -> None:
    """Commands are proposed in one place, which is for them; dask has a program of its own."""
    allowed = {"results/text/next_questions.py", "running/faults/time_limit.py"}
    folder = ROOT / "src" / "poise"
    for path in folder.rglob("*.py"):
        name = path.relative_to(folder).as_posix()
        if name.startswith("cli/") or name in allowed:
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                said = re.search(r"(?<![-\w])--[a-z]", node.value)
                assert not said or id(node) in docs, f"{name}: {node.value}"


@pytest.mark.parametrize(
    ("wrong", "suggested"), [("--x", None), ("--colour", None), ("--sede", "--seed")]
)
def test_what_is_not_near_is_not_suggested(run, wrong: str, suggested: str | None) -> None:
    line = run(f"{RIDGE} {wrong} 3").stderr
    assert f"No such option '{wrong}'." in line
    assert ("Did you mean" in line) == (suggested is not None)
    assert suggested is None or f"Did you mean '{suggested}'?" in line


def test_lines_and_columns_are_those_of_the_file(run, folder: Path) -> None:
    frame = pd.read_csv(folder / "numbers.csv")
    frame.loc[40, "size"] = np.nan  # the header is line 1, and row 0 is line 2
    frame.to_csv(folder / "holes.csv", index=False)
    line = run(RIDGE.replace("numbers.csv", "holes.csv")).stderr
    assert "column 'size' holds nan in line 42; fill it in" in line


def test_what_breaks_the_guarantee_is_told_also_when_quiet(run, folder: Path) -> None:
    frame = pd.read_csv(folder / "numbers.csv")
    pd.concat([frame, frame.head(30)]).to_csv(folder / "copies.csv", index=False)
    asked = RIDGE.replace("numbers.csv", "copies.csv")
    quiet = run(f"{asked} -q")
    assert quiet.stdout == "stable\n"
    assert "the error level does not hold; drop all but one of them, or give --groups so" in (
        quiet.stderr
    )
    (warning,) = json.loads(run(f"{asked} --json").stdout)["run"]["warnings"]
    assert warning in quiet.stderr
    assert run(f"{RIDGE} --n 300 -q").stderr == ""  # too few rows are no error of the level


@pytest.mark.parametrize(
    ("epsilon", "n"), [(0.5, 20), (0.05, 20), (1e-9, 20), (0.5, 60), (0.5, 300), (0.5, 660)]
)
def test_no_sentence_is_said_twice(run, epsilon: float, n: int) -> None:
    """Also where the warning before the run and the summary after it are about few trials."""
    done = run(f"{RIDGE} --epsilon {epsilon} --n {n} --delta 0.02 --seed 0")
    words = " ".join((done.stdout + " " + done.stderr).split())
    parts = (part.strip(".:; ") for part in re.split(r"[.:;] ", words))
    sentences = [part for part in parts if len(part) > 20]
    assert len(sentences) == len(set(sentences)) > 5


def test_the_model_of_all_rows_is_a_command_here_and_a_function_in_python(run) -> None:
    said = run(f"{RIDGE} --n 660 --seed 0").stdout
    assert "which fresh rows can answer: poise deployed." in said
    assert "conditional_test" not in said


def test_a_wrong_coupling_names_the_two_there_are(run) -> None:
    result = run(
        "test numbers.csv --target price --algorithm sklearn.linear_model:Ridge --n 20 "
        "--epsilon 0.5 --delta 0.2 --coupling none"
    )
    assert result.exit_code == 2
    assert "'none' is not one of 'shared', 'independent'" in result.stderr


def test_remedies_of_checks_name_options(run, folder: Path) -> None:
    """One row in 30 is of the rare class: most training sets of 20 lack it."""
    frame = pd.read_csv(folder / "numbers.csv")
    frame.assign(fraud=np.where(frame["id"] % 30, "no", "yes")).to_csv(
        folder / "rare.csv", index=False
    )
    logistic = "--algorithm sklearn.linear_model:LogisticRegression"
    said = run(f"check rare.csv --target fraud --drop id {logistic} --n 20").stdout
    assert "it fails on training sets with only class 'no'" in said
    assert "--on-error unstable counts such trials" in said
    assert "on_error" not in said
