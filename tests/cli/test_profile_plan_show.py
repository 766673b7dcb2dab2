"""``poise profile``, ``plan`` and ``show``: numbers of the library, on the terminal and as JSON."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import poise
from poise import Plan, StabilityResult, Trials
from poise.arguments.printed_numbers import at_least, at_most

PROFILE = (
    "profile numbers.csv --target price --drop id --n 20 --seed 0 "
    "--algorithm sklearn.linear_model:Ridge"
)


def rows_of(text: str) -> list[list[str]]:
    """Return the cells of the table in a text: the lines that begin with a number."""
    return [line.split() for line in text.splitlines() if re.match(r"[\d.]+ +\d+ of ", line)]


def test_profile_prints_the_band_and_keeps_the_trials(run, folder: Path) -> None:
    done = run(f"{PROFILE} --alpha 0.1 --save profile.trials --plot profile.png")
    assert done.exit_code == 0
    trials = Trials.load(folder / "profile.trials")
    band = trials.profile(0.1)
    rows = rows_of(done.stdout)
    assert len(rows) == 16
    assert "16 of 32 steps; --json has all." in done.stdout
    assert rows[0][0] == "0"
    assert float(rows[-1][0]) == pytest.approx(trials.changes.max(), rel=1e-3)
    for epsilon, larger, _, total, limit in rows:
        position = np.argmin(np.abs(band.epsilon - float(epsilon)))
        assert float(limit) == pytest.approx(band.delta_hat[position], rel=1e-3)
        assert (int(larger), int(total)) == (band.exceedances[position], 31)
    assert (folder / "profile.png").read_bytes().startswith(b"\x89PNG")


def test_profile_at_chosen_epsilons(run) -> None:
    done = run(f"{PROFILE} --quiet --epsilon 0.1 --epsilon 0.25")
    assert [row[0] for row in rows_of(done.stdout)] == ["0.1", "0.25"]
    assert len(done.output.splitlines()) == 3


def test_profile_as_json(run) -> None:
    done = run(f"{PROFILE} --json --band pointwise")
    content = json.loads(done.stdout)
    assert done.stderr == ""
    assert content["band"] == "pointwise"
    assert len(content["epsilon"]) == len(content["delta_hat"]) == 32
    assert "for one epsilon fixed before" in run(f"{PROFILE} --band pointwise").stdout


def test_limits_up_to_a_delta(run) -> None:
    content = json.loads(run(f"{PROFILE} --json --delta-max 0.4").stdout)
    assert content["band"] == "equal-local-levels up to 0.4"
    assert min(content["delta_hat"]) <= 0.4
    refused = run(f"{PROFILE} --delta-max 0.4 --band ks")
    assert refused.exit_code == 2
    assert "--delta-max needs --band equal-local-levels" in refused.stderr


PLAN = "plan --n 1e2 --delta 0.1 --alpha 0.05 --power 0.9 --delta-star 0.01"


def test_plan_is_that_of_the_library(run) -> None:
    expected = poise.plan(n=100, delta=0.1, alpha=0.05, power=0.9, delta_star=0.01)
    done = run(PLAN)
    assert done.exit_code == 0
    words, _, table = done.stdout.partition("\n\n")
    assert " ".join(words.split()) == " ".join(expected.summary().split())
    assert [line.split() for line in table.splitlines()[1:]] == [
        [at_least(truth), at_least(power)] for truth, power in expected.power_table()
    ]
    assert Plan.from_json(run(f"{PLAN} --json").stdout) == expected
    assert run(f"{PLAN} --quiet").output == f"{expected.n_labeled}\n"
    assert int(run(f"{PLAN} --randomized --n-unlabeled 1000 -q").output) < expected.n_labeled


def test_plan_of_the_averaged_test_is_that_of_the_library(run, folder: Path) -> None:
    asked = "plan --n 100 --delta 0.1 --delta-star 0.05 --power 0.8 --test averaged --spread 0.3"
    expected = poise.plan(n=100, delta=0.1, delta_star=0.05, power=0.8, test="averaged", spread=0.3)
    assert json.loads(run(f"{asked} --json").stdout).items() >= expected.to_dict().items()
    assert run(f"{asked} -q").stdout == f"{expected.n_labeled}\n"
    text = run(f"{asked} --plot power.svg").stdout
    assert "a planning value, not a guarantee" in " ".join(text.split())
    assert "power Binomial   power averaged, spread 0.3" in text
    assert text.splitlines()[-1].split() == ["0.1", "0.0254", "at", "most", "0.05"]
    assert (folder / "power.svg").stat().st_size > 0
    done = run("plan --rows 3000 --test averaged")
    assert done.exit_code == 2
    assert "--test belongs to one" in done.output


def test_the_level_of_a_plan_stands_beside_delta_itself(run) -> None:
    """At a δ* below δ the averaged test may declare stable more often than the level."""
    asked = "plan --n 100 --n-labeled 9000 --delta 0.123456 --delta-star 0.05 --test averaged"
    last = run(f"{asked} --spread 0.3 --alpha 0.0234567").stdout.splitlines()[-1].split()
    assert (last[0], last[-3:]) == ("0.123456", ["at", "most", "0.0234567"])


def test_plan_fills_in_level_and_power_and_draws(run, folder: Path) -> None:
    expected = poise.plan(n=100, delta=0.1, alpha=0.05, power=0.9, algorithms=3, replace=True)
    done = run("plan --n 100 --delta 0.1 --algorithms 3 --replace --plot power.png --json")
    assert Plan.from_json(done.stdout) == expected
    assert (folder / "power.png").read_bytes().startswith(b"\x89PNG")


def test_plan_lists_what_rows_can_answer(run) -> None:
    lines = run("plan --rows 3000 --n 3000").stdout.splitlines()
    assert lines[0] == (
        "What 3,000 labelled rows can answer: delta = 0.1 can be certified up to n = 102 "
        "(29 trials)."
    )
    table = [line.split() for line in lines if re.match(r"[\d,]+ +\d", line)]
    assert table[0][:4] == ["3,000", "0", "0", "-"]
    assert ["102", "29", "58", "0.09815", "0.007665", "-", "-"] in table
    content = json.loads(run("plan --rows 3000 --delta 0.1 --json").stdout)
    assert [row["n"] for row in content["rows"]][5] == 102
    assert run("plan --rows 3000 -q").output == "102\n"
    assert run("plan --rows 20 -q").output == "none\n"


@pytest.fixture
def saved(folder: Path) -> Trials:
    trials = Trials.from_changes([0.1] * 28 + [0.5, np.inf], n=20, algorithm="a [b] c")
    trials.save(folder / "saved.trials")
    return trials


@pytest.mark.parametrize(("epsilon", "status"), [(1.0, 0), (0.05, 1), (0.2, 0)])
def test_show_judges_again(run, saved: Trials, epsilon: float, status: int) -> None:
    command = f"show saved.trials --epsilon {epsilon} --delta 0.3 --alpha 0.1"
    expected = saved.test(epsilon, 0.3, 0.1)
    done = run(f"{command} --json")
    assert StabilityResult.from_json(done.stdout) == expected
    assert done.exit_code == status
    assert run(f"{command} -q").output == f"{expected.verdict.value}\n"
    text = run(command).stdout
    assert " ".join(expected.summary().splitlines()[0].split()) in " ".join(text.split())


def test_show_gives_the_limit_that_was_not_asked_with(run, saved: Trials) -> None:
    limit = saved.delta_hat(0.2, 0.1)
    assert float(run("show saved.trials --epsilon 0.2 --alpha 0.1 -q").output) == limit
    text = run("show saved.trials --epsilon 0.2 --alpha 0.1").stdout
    assert f"at most {at_most(limit)}." in " ".join(text.split())
    found = json.loads(run("show saved.trials --epsilon 0.2 --json").stdout)
    assert found.pop("run")["arguments"] == ["show", "saved.trials", "--epsilon", "0.2", "--json"]
    assert found == {
        "poise_version": poise.__version__,
        "epsilon": 0.2,
        "delta_hat": saved.delta_hat(0.2),
        "alpha": 0.05,
        "warnings": [],
    }
    assert float(run("show saved.trials --delta 0.3 -q").output) == saved.epsilon_hat(0.3)
    found = json.loads(run("show saved.trials --delta 0.01 --json").stdout)
    del found["run"]
    assert found == {
        "poise_version": poise.__version__,
        "epsilon_hat": None,
        "epsilon_hat_is_infinite": True,
        "delta": 0.01,
        "alpha": 0.05,
        "warnings": [],
    }


def test_show_without_a_question_tells_what_is_there(run, saved: Trials) -> None:
    done = run("show saved.trials")
    assert done.exit_code == 0
    assert "a [b] c" in done.stdout
    assert "median 0.1, 90% up to 0.1, largest infinity" in done.stdout
    assert [row[0] for row in rows_of(done.stdout)] == ["0", "0.1", "0.5"]
    content = json.loads(run("show saved.trials --json").stdout)
    assert content["changes"][-2:] == [0.5, None]
    assert content["changes_infinite_at"] == [len(content["changes"]) - 1]


def test_show_writes_pictures_and_reports(run, saved: Trials, folder: Path) -> None:
    question = "--epsilon 0.2 --delta 0.3"
    assert run(f"show saved.trials {question} --plot s.pdf --report s.html -q").exit_code == 0
    assert (folder / "s.pdf").read_bytes().startswith(b"%PDF")
    assert "a [b] c" in (folder / "s.html").read_text(encoding="utf-8")
    assert run("show saved.trials --plot only.png").exit_code == 0
    assert (folder / "only.png").exists()
