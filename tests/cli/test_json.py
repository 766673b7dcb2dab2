"""``--json``: numbers or null, where they came from, warnings, and errors as JSON too."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

import poise

BASE = "test numbers.csv --target price --drop id --n 20 --seed 0 --json"
ASKED = f"{BASE} --epsilon 0.5 --delta 0.2"


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_result_says_where_it_came_from(run, folder: Path) -> None:
    command = f"{ASKED} --algorithm poise_test_models.py:mean --drop size --unlabeled more.csv"
    done = run(command.replace("--drop size", ""))
    content = json.loads(done.stdout)
    assert content["poise_version"] == poise.__version__
    assert content["run"]["digests"] == {
        name: sha256(folder / name) for name in ("numbers.csv", "more.csv", "poise_test_models.py")
    }
    assert content["run"]["arguments"][:2] == ["test", "numbers.csv"]
    assert content["run"]["warnings"] == []


def test_a_file_of_questions_names_what_it_read(run, folder: Path) -> None:
    (folder / "asked.toml").write_text(
        """
        data = {file = "numbers.csv", target = "price"}
        algorithms.mean.use = "poise_test_models.py:mean"
        questions = [{n = 20, epsilon = 0.5, delta = 0.2}]
        """
    )
    content = json.loads(run("run asked.toml --json").stdout)
    digests = {Path(name).name: digest for name, digest in content["run"]["digests"].items()}
    assert digests == {
        name: sha256(folder / name)
        for name in ("asked.toml", "numbers.csv", "poise_test_models.py")
    }


@pytest.mark.parametrize("quiet", ["", " -q"])
def test_warnings_are_a_field(run, quiet: str) -> None:
    ridge = "--algorithm sklearn.linear_model:Ridge"
    done = run(f"{BASE} --epsilon 0.5 --delta 0.01 {ridge}{quiet}")
    (warning,) = json.loads(done.stdout)["run"]["warnings"]
    assert warning.startswith("with 31 trials at n = 20 the plain test cannot")


def test_infinite_limits_are_null(run) -> None:
    done = run(f"{ASKED} --algorithm poise_test_models.py:failing --on-error unstable")
    content = json.loads(done.stdout)
    assert (content["epsilon_hat"], content["epsilon_hat_is_infinite"]) == (None, True)
    assert poise.StabilityResult.from_json(done.stdout).epsilon_hat == float("inf")


@pytest.mark.parametrize(
    ("command", "kind", "message", "status"),
    [
        (f"{ASKED} --algorithm nowhere:x", "AlgorithmError", "cannot import 'nowhere'", 2),
        (ASKED.replace("price", "prize"), "DataError", "did you mean 'price'?", 2),
        (f"{ASKED} --n many", "BadParameter", "'many' is not a whole number", 2),
        ("plan --n 5 --json --delta 0.1 --power 0.9 --delta-star 0.2", "ArgumentError", "delta", 2),
    ],
)
def test_errors_are_json(run, command: str, kind: str, message: str, status: int) -> None:
    done = run(command)
    assert done.exit_code == status
    content = json.loads(done.stdout)
    assert content["error"] == kind
    assert message in content["message"]
    assert content["exit_status"] == status
    assert done.stderr == f"poise: {content['message']}\n"


def test_a_failed_trial_is_named(run) -> None:
    done = run(f"{ASKED} --algorithm poise_test_models.py:failing")
    content = json.loads(done.stdout)
    assert (content["error"], content["trial"], content["kind"]) == ("TrialError", 0, "error")
    assert content["exit_status"] == done.exit_code == 3
