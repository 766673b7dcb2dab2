"""Errors: one line on stderr, nothing on stdout, and a status that is no verdict."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from poise import Trials
from poise.cli import main
from poise.cli.failed_fit import failed_fit
from poise.errors import TrialError

BASE = "test numbers.csv --target price --n 20 --epsilon 0.5 --delta 0.2"
RIDGE = f"{BASE} --algorithm sklearn.linear_model:Ridge"
MODELS = f"{BASE} --algorithm poise_test_models.py"
PIPELINE = f"{BASE} --algorithm poise_test_pipelines.py:pipeline"

WRONG_USE = [
    ("tset", "no command 'tset'; did you mean 'test'? See poise --help"),
    ("--nonsense", "No such option"),
    ("test numbers.csv", "Missing option"),
    (f"{RIDGE} --n many", "'many' is not a whole number"),
    (f"{RIDGE} --n 1.5", "'1.5' is not a whole number"),
    (f"{RIDGE} --n 1", "n must be a whole number >= 2"),
    (f"{RIDGE} --n 661", "n must be at most the number of labelled rows (660), got 661"),
    (f"{RIDGE} --delta 1.2", "delta must be in [0, 1), got 1.2"),
    (f"{RIDGE} --delta 1.2 --save x.trials", "delta must be in [0, 1), got 1.2"),
    (f"{RIDGE} --epsilon -1", "epsilon must be a finite number >= 0"),
    (f"{RIDGE} --alpha 0", "alpha must be in (0, 1), got 0"),
    (f"{RIDGE} --coupling loose", "'loose' is not one of 'shared', 'independent'"),
    (f"{RIDGE} --distance manhattan", "distance must be"),
    (f"{RIDGE} --seed -1", "-1 is not in the range"),
    (f"{RIDGE} --jobs 0", "--jobs must be a whole number other than 0"),
    (f"{RIDGE} --on-error ignore", "'ignore' is not one of"),
    (f"{RIDGE} --target prize", "has no column 'prize'; did you mean 'price'?"),
    (f"{RIDGE} --drop idd", "has no column 'idd'; did you mean 'id'?"),
    (f"{RIDGE} --unlabeled nowhere.csv", "no such file: nowhere.csv"),
    (f"{RIDGE} --plot nowhere/x.png", "there is no folder nowhere"),
    (f"{RIDGE} --save .", ". is a folder"),
    (f"{RIDGE} --plot x.bmp", "must end in .png, .svg, .pdf"),
    (f"{RIDGE} --param alpha", "a parameter must look like alpha=1.0, got 'alpha'"),
    (f"{RIDGE} --param alhpa=2", "Ridge has no parameter 'alhpa'; did you mean 'alpha'?"),
    (f"{BASE} --algorithm Ridge", "expected module:name or file.py:name"),
    (f"{BASE} --algorithm sklearn.linear_model.Ridge", "did you mean sklearn.linear_model:Ridge?"),
    (f"{BASE} --algorithm sklearn.linear_model:Ridg", "has no 'Ridg'; did you mean 'Ridge'?"),
    (f"{BASE} --algorithm no_such_module:x", "cannot import 'no_such_module'"),
    (f"{BASE} --algorithm nowhere.py:x", "no such file"),
    (f"{MODELS}:maen", "has no 'maen'; did you mean 'mean'?"),
    (f"{MODELS}:number", "algorithm must be an estimator with fit and predict"),
    (f"{MODELS}:number --param a=1", "expected an estimator or a function, got 7"),
    (f"{MODELS}:mean --param shfit=1", "mean has no parameter 'shfit'; did you mean 'shift'?"),
    (f"{PIPELINE} --param ridge__gamma=1", "Invalid parameter 'gamma'"),
    (
        "profile numbers.csv --target price --n 20 --algorithm x:y --band wide",
        "'wide' is not one of",
    ),
    ("profile numbers.csv --target price --n 20 --algorithm x:y --alpha 2", "alpha must be in"),
    ("show nowhere.trials", "no such file: nowhere.trials"),
    ("show numbers.csv", "numbers.csv does not hold trials saved by poise"),
    ("plan --n 100", "leave out exactly one of --n-labeled, --n, --delta, --alpha"),
    ("plan --rows 100 --n-labeled 100", "--rows lists several questions; --n-labeled belongs to"),
    ("plan --rows 100 --plot a.png", "--rows lists several questions; --plot belongs to one"),
    ("plan --n 100 --delta 0.1 --alpha 0.1 --power 0.5 --n-labeled 9", "left out now: none"),
    ("plan --n 100 --delta 0.1 --alpha 0.05 --power 0.9 --delta-star 0.2", "delta must be above"),
]


@pytest.mark.parametrize(("command", "message"), WRONG_USE)
def test_wrong_use_and_wrong_data_are_one_line_and_status_2(
    run, command: str, message: str
) -> None:
    result = run(command)
    assert result.exit_code == 2
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("poise: ")
    assert message in line


def test_a_file_that_took_the_name_of_a_module(run, tmp_path: Path) -> None:
    path = tmp_path / "json.py"
    path.write_text("def fit(X, y, seed): ...")
    result = run(f"{BASE} --algorithm", f"{path}:fit")
    assert result.exit_code == 2
    assert "json.py has the name of a module that is already there (json); rename" in result.stderr


def test_a_file_that_does_not_even_load(run, folder: Path) -> None:
    (folder / "poise_test_broken.py").write_text("raise SystemExit('no')")
    result = run(f"{BASE} --algorithm poise_test_broken.py:fit")
    assert result.exit_code == 2
    assert "cannot import 'poise_test_broken': SystemExit: no" in result.stderr


def test_a_failing_fit_is_status_3_and_names_the_trial(run) -> None:
    result = run(f"{MODELS}:failing")
    assert result.exit_code == 3
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert "trial 0 failed: ZeroDivisionError: the matrix is singular." in line
    assert "--on-error unstable" in line


def test_a_failing_fit_counts_against_stable_and_shows_no_change(run) -> None:
    result = run(f"{MODELS}:failing --on-error unstable --quiet")
    assert (result.exit_code, result.output) == (1, "inconclusive\n")


def test_a_failing_fit_does_not_lose_the_trials_before_it(run, folder: Path) -> None:
    result = run(f"{MODELS}:fails_late --save late.trials --seed 0")
    assert result.exit_code == 3
    assert "what was measured before the failed trial (5 trials) is in late.trials" in result.stderr
    assert Trials.load(folder / "late.trials").changes.tolist() == [0.0] * 5


def test_a_traceback_is_there_for_those_who_ask(run) -> None:
    result = run(f"--traceback {MODELS}:failing")
    assert result.exit_code == 3
    assert "Traceback" in result.stderr
    assert "in failing" in result.stderr
    assert "Traceback" not in run(f"{MODELS}:failing").stderr


def test_a_report_needs_a_verdict(run, folder: Path) -> None:
    Trials.from_changes([0.1] * 9, n=5).save(folder / "nine.trials")
    result = run("show nine.trials --report x.html --epsilon 1")
    assert result.exit_code == 2
    assert "a report needs a verdict: give --epsilon and --delta. See poise show" in result.stderr


@pytest.mark.parametrize(
    ("error", "status", "line"),
    [
        (KeyboardInterrupt(), 130, "poise: interrupted"),
        (click.Abort(), 130, "poise: interrupted"),
        (PermissionError(13, "Permission denied", "x"), 2, "poise: [Errno 13] Permission denied"),
        (KeyError("x"), 70, "poise: a defect in poise: KeyError: 'x'"),
        (EOFError("marshal data too short"), 70, "poise: a defect in poise: EOFError: marshal"),
    ],
)
def test_what_cannot_be_foreseen(
    run, monkeypatch: pytest.MonkeyPatch, error: BaseException, status: int, line: str
) -> None:
    def fail(*args: object, **kwargs: object) -> None:
        raise error

    monkeypatch.setattr("poise.questions.plan.plan", fail)
    result = run("plan --n 100 --delta 0.1 --alpha 0.05 --power 0.9")
    assert result.exit_code == status
    assert line in result.stderr
    assert len(result.stderr.split("\n\n")) <= 2


def test_programs_that_embed_the_commands_see_the_errors_themselves() -> None:
    with pytest.raises(click.UsageError):
        main.main(["plan"], standalone_mode=False)


PROFILE = "profile numbers.csv --target price --algorithm poise_test_models.py"


def test_an_epsilon_that_cannot_be_is_refused_before_the_first_fit(run) -> None:
    result = run(f"{PROFILE}:failing --n 20 --epsilon 0.5 --epsilon -1")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "epsilon must be a finite number >= 0" in result.stderr


def test_a_profile_without_a_single_trial_says_so(run) -> None:
    result = run(f"{PROFILE}:failing --n 660")
    assert result.exit_code == 0
    assert "warning: no trial can be run: 660 labelled and 0 unlabelled rows" in result.stderr


def test_a_response_that_is_none_is_named_with_its_column_and_row(run, folder: Path) -> None:
    rows = (folder / "numbers.csv").read_text().splitlines()
    cells = rows[5].split(",")
    cells[rows[0].split(",").index("price")] = "inf"
    (folder / "broken.csv").write_text("\n".join([*rows[:5], ",".join(cells), *rows[6:]]))
    result = run(RIDGE.replace("numbers.csv", "broken.csv"))
    assert result.exit_code == 2
    assert "column 'price' of broken.csv must not hold missing or infinite" in result.stderr
    assert "got inf in line 6;" in result.stderr


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_warning_of_every_fit_is_one_line(shell, folder: Path, jobs: int) -> None:
    (folder / "poise_test_warns.py").write_text(
        "import warnings\n"
        "def fit(X, y, seed):\n"
        "    warnings.warn('no convergence')\n"
        "    return lambda rows: [0.0] * len(rows)\n"
    )
    asked = "test numbers.npz --n 20 --epsilon 1 --delta 0.2 --no-stop-early"  # without pandas
    done = shell(f"{asked} --seed 0 --jobs {jobs} --algorithm poise_test_warns.py:fit")
    warned = [line for line in done.stderr.splitlines() if "no convergence" in line]
    assert warned == ["poise: warning: no convergence (in 62 of 62 fits)"]


@pytest.mark.parametrize("kind", ["death", "timeout"])
def test_a_trial_that_failed_without_an_exception_is_told_in_options(kind) -> None:
    told = "trial 7 failed: its worker died. What was measured before it (7 trials) is in the "
    error = TrialError(f"{told}`partial` attribute of this error; …", trial=7, kind=kind)
    option = "--on-timeout" if kind == "timeout" else "--on-error"
    assert failed_fit(error) == (
        f"trial 7 failed: its worker died. To count a failed trial against stability: {option} "
        "unstable"
    )
