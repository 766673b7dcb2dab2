"""``poise check``, ``compare`` and ``run``: the same numbers as the library, and exit statuses."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor

import poise
from shared.paths import ROOT

ROWS = "numbers.csv --target price --drop id"
RIDGE = "--algorithm sklearn.linear_model:Ridge"
NEIGHBOURS = "--algorithm sklearn.neighbors:KNeighborsRegressor(n_neighbors=10)"

QUESTIONS = """
[data]
file = "numbers.csv"
target = "price"
drop = ["id"]

[algorithms.ridge]
use = "sklearn.linear_model:Ridge"

[algorithms.mean]
use = "poise_test_models.py:mean"
params = { shift = 1.0 }

[defaults]
seed = 0
delta = 0.2

[[questions]]
name = "easy"
n = 20
epsilon = 0.5
"""


@pytest.fixture
def numbers(folder: Path) -> pd.DataFrame:
    return pd.read_csv(folder / "numbers.csv")


def in_python(ask, what, numbers: pd.DataFrame, **settings):
    """The library's answer to the question of ROWS: price by size, n = 20, delta = 0.2, seed 0."""
    X, y = numbers[["size"]].to_numpy(), numbers["price"].to_numpy()
    return ask(what, X, y, n=20, delta=0.2, random_state=0, **settings)


@pytest.fixture
def questions(folder: Path):
    """Write a file of questions into a folder of its own, beside nothing else."""

    def write(text: str) -> Path:
        path = folder / "stability.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_check_tells_what_the_library_found(run) -> None:
    done = run(f"check {ROWS} {RIDGE} --n 20 --seed 0")
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("Ridge() at n = 20: 10 checks, nothing found")
    assert "keeps nothing between fits" in done.stdout
    quiet = run(f"check {ROWS} {RIDGE} --n 20 --seed 0 --quiet")
    assert quiet.output == "ok\n"


def test_check_fails_where_a_check_failed(run) -> None:
    command = f"check {ROWS} --algorithm sklearn.neighbors:KNeighborsRegressor --n 5 --seed 0"
    done = run(f"{command} --json")
    assert done.exit_code == 1
    report = json.loads(done.stdout)
    assert report["ok"] is False
    failed = [finding for finding in report["findings"] if finding["severity"] == "fail"]
    # With too few rows for its neighbours it predicts nothing that could be compared.
    checks = [finding["check"] for finding in failed]
    assert checks == ["accepts n - 1 rows", "predictions can be compared"]
    assert run(f"{command} --quiet").output == "fail\n"
    shown = run(f"check {ROWS} --algorithm poise_test_models.py:last --n 20 --seed 0")
    assert shown.exit_code == 0
    assert "symmetric in its rows: a verdict is about removing the last row" in shown.stdout


def test_compare_is_the_library_s_comparison(run, numbers, folder: Path) -> None:
    command = f"compare {ROWS} {RIDGE} {NEIGHBOURS} --n 20 --epsilon 0.5 --delta 0.2 --seed 0"
    done = run(f"{command} --json --plot compared.svg")
    algorithms = [Ridge(), KNeighborsRegressor(n_neighbors=10)]
    expected = in_python(poise.compare, algorithms, numbers, epsilon=0.5)
    found = json.loads(done.stdout)
    assert set(found.pop("run")) == {"arguments", "digests", "warnings"}
    assert found == json.loads(expected.to_json())
    assert done.exit_code == (0 if expected.all_stable else 1)
    assert "<svg" in (folder / "compared.svg").read_text(encoding="utf-8")
    shown = run(command)
    assert shown.stdout.startswith("2 algorithms on the same trials")
    assert 'any "stable" is wrong' in " ".join(shown.stdout.split())
    first = run(f"{command} --quiet").stdout.splitlines()[0]
    assert first == f"{expected.rows[0].verdict.value}\tRidge()"


@pytest.mark.parametrize(
    ("epsilon", "status"), [("5.0", 0), ("0.0", 1)], ids=["all stable", "not all"]
)
def test_compare_exit_statuses(run, epsilon, status) -> None:
    command = f"compare {ROWS} {RIDGE} --n 20 --epsilon {epsilon} --delta 0.2 --seed 0"
    assert run(command).exit_code == status


@pytest.mark.parametrize(
    ("algorithm", "message"),
    [
        ("sklearn.linear_model:Ridge(alpha=", "parameters must look like"),
        ("sklearn.linear_model:Ridge(2.0)", "parameters must look like"),
        ("sklearn.linear_model:Ridge(alpha=x)", "parameters must look like"),
        ("sklearn.linear_model:Ridge(alhpa=2.0)", "did you mean 'alpha'"),
    ],
)
def test_compare_refuses_unreadable_parameters(run, algorithm, message) -> None:
    done = run(f"compare {ROWS} --n 20 --epsilon 1 --delta 0.2 --algorithm", algorithm)
    assert done.exit_code == 2
    assert message in done.stderr


def test_compare_calls_twins_by_the_names_their_user_gave(run) -> None:
    twins = "--algorithm sklearn.linear_model:Ridge --algorithm sklearn.linear_model:Ridge()"
    done = run(f"compare {ROWS} {twins} --n 20 --epsilon 1 --delta 0.2 --seed 0 --quiet")
    assert [line.split("\t")[1] for line in done.stdout.splitlines()] == [
        "sklearn.linear_model:Ridge",
        "sklearn.linear_model:Ridge()",
    ]


def test_compare_names_the_algorithm_that_failed(run) -> None:
    failing = "--algorithm poise_test_models.py:failing"
    done = run(f"compare {ROWS} {RIDGE} {failing} --n 20 --epsilon 1 --delta 0.2 --seed 0")
    assert done.exit_code == 3
    assert "The algorithm is 'failing'" in done.stderr


def test_run_answers_every_question(run, questions, numbers) -> None:
    path = questions(QUESTIONS)
    done = run(f"run {path} --json")
    assert done.exit_code == 0, done.output
    first, second = json.loads(done.stdout)["answers"]
    expected = in_python(poise.stability_test, Ridge(), numbers, epsilon=0.5, name="ridge")
    assert poise.StabilityResult.from_json(json.dumps(first["result"])) == expected
    assert (second["algorithm"], second["verdict"]) == ("mean", "stable")
    assert second["result"]["design"]["algorithm"] == "mean(shift=1.0)"
    quiet = run(f"run {path} --quiet")
    assert quiet.stdout == "stable\tridge\teasy\nstable\tmean\teasy\n"
    shown = run(f"run {path} --jobs 1").stdout
    assert "easy" in shown
    assert "0 of" in shown


def test_run_takes_paths_from_the_file(run, questions, tmp_path, monkeypatch) -> None:
    path = questions(QUESTIONS)
    monkeypatch.chdir(tmp_path)
    assert run(f"run {path} --quiet").exit_code == 0


def test_run_ends_with_the_worst_status_and_goes_on_after_a_failure(run, questions) -> None:
    worse = QUESTIONS.replace("epsilon = 0.5", "epsilon = 0.0")
    assert run(f"run {questions(worse)} --quiet").exit_code == 1
    failing = '[algorithms.failing]\nuse = "poise_test_models.py:failing"\n[algorithms.ridge]'
    worst = QUESTIONS.replace("[algorithms.ridge]", failing)
    done = run(f"run {questions(worst)} --quiet")
    assert done.exit_code == 3
    assert done.stdout.splitlines() == [
        "failed\tfailing\teasy",
        "stable\tridge\teasy",
        "stable\tmean\teasy",
    ]
    assert "easy, failing: trial 0 failed" in done.stderr
    assert "poise --traceback" not in done.stderr  # a run that goes on shows no traceback
    alone = run(
        f"test {ROWS} --algorithm poise_test_models.py:failing --n 20 --epsilon 0.5 --delta 0.2"
    )
    assert "To see where it failed: poise --traceback …" in alone.stderr
    answer = json.loads(run(f"run {questions(worst)} --json").stdout)["answers"][0]
    assert "the matrix is singular" in answer["error"]
    assert "failed" in run(f"run {questions(worst)}").stdout


def test_run_finds_mistakes_before_the_first_fit(run, questions) -> None:
    failing = '[algorithms.failing]\nuse = "poise_test_models.py:failing"\n[algorithms.ridge]'
    late = QUESTIONS.replace("[algorithms.ridge]", failing) + (
        '\n[[questions]]\nname = "late"\nn = 20\nepsilon = -1.0\n'
    )
    path = questions(late)
    done = run(f"run {path}")
    assert done.exit_code == 2
    assert done.stderr == (
        f"poise: {path}, late, failing: epsilon must be a finite number >= 0, in the units of the "
        "predictions, got -1.0\n"
    )
    for text, message in [
        (QUESTIONS.replace("numbers.csv", "nimbers.csv"), "did you mean 'numbers.csv'"),
        (QUESTIONS.replace(":Ridge", ":Rigde"), "did you mean 'Ridge'"),
        (QUESTIONS.replace("n = 20", "n = 1000"), "n must be at most"),
        (QUESTIONS.replace("epsilon", "epsilom"), "did you mean 'epsilon'"),
    ]:
        done = run(f"run {questions(text)}")
        assert done.exit_code == 2
        assert message in done.stderr


def test_run_takes_groups_distances_and_programs(run, questions, folder: Path) -> None:
    frame = pd.read_csv(folder / "numbers.csv")
    frame.assign(home=frame["id"] // 2).to_csv(folder / "homes.csv", index=False)
    (folder / "slope.sh").write_text((ROOT / "examples/programs/slope.sh").read_text())
    text = """
    [data]
    file = "homes.csv"
    target = "price"
    drop = ["id"]
    groups = "home"
    [algorithms.slope]
    program = "sh slope.sh {train} {test} {predictions}"
    [[questions]]
    n = 20
    epsilon = 999.0
    delta = 0.5
    seed = 0
    distance = "poise_test_models.py:far"
    """
    done = run(f"run {questions(text)} --json")
    [answer] = json.loads(done.stdout)["answers"]
    design = answer["result"]["design"]
    assert (design["n_groups"], design["distance"], design["algorithm"]) == (330, "far", "slope")
    assert answer["verdict"] == "unstable"


def test_the_example_file_runs(run) -> None:
    done = run(f"run {ROOT / 'examples' / 'stability.toml'} --quiet")
    assert done.exit_code == 0
    assert done.stdout.count("stable\t") == 3


@pytest.mark.parametrize(
    ("options", "field", "value"),
    [
        ("--remove 2", "remove", 2),
        ("--remove 2 --replace", "replace", True),
        ("--groups id", "n_groups", 660),
    ],
)
def test_variants_reach_the_library(run, options, field, value) -> None:
    rows = "numbers.csv --target price"
    done = run(f"test {rows} {RIDGE} --n 20 --epsilon 1 --delta 0.2 --seed 0 --json {options}")
    assert json.loads(done.stdout)["design"][field] == value


def test_programs_from_the_command_line(run, folder: Path) -> None:
    (folder / "slope.sh").write_text((ROOT / "examples/programs/slope.sh").read_text())
    asked = f"test {ROWS} --n 20 --epsilon 0.5 --delta 0.2 --seed 0 --quiet"
    command = "sh slope.sh {train} {test} {predictions}"
    assert run(asked, "--program", command).output == "stable\n"
    for extra, message in [
        ([], "give either --algorithm or --program"),
        (["--program", command, "--algorithm", "a:b"], "give either --algorithm or --program"),
        (["--program", command, "--param", "a=1"], "--param is for --algorithm"),
        (["--program", "cat {train}"], "{test}"),
    ]:
        done = run(asked, *extra)
        assert done.exit_code == 2
        assert message in done.stderr


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('timeout = "5"', "timeout must be a number of seconds > 0, got '5'"),
        ("distance = 7", "distance must be 'auto'"),
        ('distance = "loss:square"', "loss must be 'squared'"),
        ('replace = "no"', "replace must be true or false, got 'no'"),
        ('check = "no"', "check must be true or false, got 'no'"),
        ("seed = -4", "seed must be a whole number >= 0, got -4"),
        ('stop_early = "maybe"', "stop_early must be true, false or 'stable'"),
        ('response = "predict_proba"', "algorithm must have a method predict_proba"),
        ('on_error = "ignore"', "on_error must be one of 'raise', 'unstable'"),
        ("remove = 20", "remove must be less than n = 20"),
    ],
)
def test_a_later_question_that_cannot_be_asked_ends_the_run_before_the_first_fit(
    run, questions, line, message
) -> None:
    text = QUESTIONS.replace("poise_test_models.py:mean", "poise_test_models.py:failing")
    later = f'[[questions]]\nname = "later"\nalgorithms = ["ridge"]\nn = 20\nepsilon = 1\n{line}\n'
    done = run(f"run {questions(text.replace('params = { shift = 1.0 }', '') + later)}")
    assert done.exit_code == 2
    assert f"later, ridge: {message}" in done.stderr
    assert done.stdout == ""


def test_losses_on_the_command_line(run, numbers) -> None:
    done = run(f"test {ROWS} {RIDGE} --n 20 --epsilon 1 --delta 0.2 --seed 0 --json", "--distance",
               "loss:squared")  # fmt: skip
    expected = in_python(
        poise.stability_test, Ridge(), numbers, epsilon=1, distance=poise.LossChange("squared")
    )
    assert poise.StabilityResult.from_json(done.stdout) == expected


def test_compare_programs_with_algorithms(run, folder: Path) -> None:
    (folder / "zero.sh").write_text('sed 1d "$2" | sed "s/.*/0/" > "$3"\n')
    program = "sh zero.sh {train} {test} {predictions}"
    done = run(f"compare {ROWS} {RIDGE} --n 20 --epsilon 1 --delta 0.2 --seed 0 --quiet",
               "--program", program)  # fmt: skip
    assert done.stdout.splitlines()[1].startswith("stable\tsh zero.sh"), done.output
    nothing = run(f"compare {ROWS} --n 20 --epsilon 1 --delta 0.2")
    assert (nothing.exit_code, "give --algorithm or --program" in nothing.stderr) == (2, True)
