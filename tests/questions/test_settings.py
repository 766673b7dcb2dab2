"""A setting is a keyword, a field and an option of the command line: the three must agree."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields
from typing import Any, get_type_hints

import click
import pytest

import poise
from poise.cli import main
from poise.cli.fit_options import SETTINGS
from poise.procedures.averaged import AveragedTest
from poise.procedures.binomial import BinomialTest, MeasureChanges
from poise.procedures.checked_question import StabilityQuestion
from poise.questions.assert_stable import assert_stable
from poise.questions.settings import (
    DATA,
    MeasureSettings,
    StabilityTestSettings,
    from_settings,
    refuse_unknown,
)
from poise.questions.setup import Setup
from poise.questions.toml_file import setting_names
from poise.running.execution import Execution

KINDS = (StabilityQuestion, Setup, Execution)

# Settings without an option of `poise test`, and why.
NO_OPTION = {
    "check": "poise check looks closer",
    "progress": "it is --quiet",
}

# Settings without a key in a TOML file, and why.
NO_KEY = {
    "progress": "it is a matter of who looks on: --quiet",
    "name": "algorithms have their names in the file",
}


def _fields() -> dict[str, Any]:
    """Return the default of every setting, MISSING where there is none."""
    return {field.name: field.default for kind in KINDS for field in fields(kind)}


def _keywords(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the default of every keyword, MISSING where there is none."""
    parameters = inspect.signature(function).parameters.values()
    named = [each for each in parameters if each.kind is not each.VAR_KEYWORD]
    return {p.name: MISSING if p.default is p.empty else p.default for p in named}


def _options(command: str) -> dict[str, click.Parameter]:
    found = main.get_command(click.Context(main), command)
    assert found is not None
    return {str(option.name): option for option in found.params}


OTHERS = {"algorithm", "journal", "ledger", *DATA}


def test_every_keyword_is_a_field_and_every_field_a_keyword() -> None:
    keywords = _keywords(poise.stability_test)
    settings = {name: value for name, value in keywords.items() if name not in OTHERS}
    assert settings == _fields()


def test_no_setting_is_a_field_of_two_objects() -> None:
    """But n, which is part of a question and of a trial."""
    names = [field.name for kind in KINDS for field in fields(kind)]
    assert {name for name in names if names.count(name) > 1} == {"n"}


def test_measure_asks_no_question() -> None:
    """And so it has no ledger: a question is put when a verdict is asked for."""
    asked = {field.name for field in fields(StabilityQuestion)} - {"n"} | {"ledger"}
    expected = {
        name: default
        for name, default in _keywords(poise.stability_test).items()
        if name not in asked
    }
    assert _keywords(poise.measure) == expected


def test_run_leaves_the_trials_to_its_procedure() -> None:
    of_a_trial = {field.name for field in fields(MeasureChanges)} | {"journal", "name", "check"}
    expected = {k: v for k, v in _keywords(poise.measure).items() if k not in of_a_trial}
    own = {"procedure": MISSING, "models": "black-box", "budget": None}
    assert _keywords(poise.run) == expected | own


def test_procedures_take_the_settings_of_a_trial() -> None:
    of_a_run = {"distance", "response", "random_state", "name"}
    expected = {f.name: f.default for f in fields(Setup) if f.name not in of_a_run}
    about_trials = {"labeled_test": False, "one_full_fit": False}
    assert _keywords(MeasureChanges) == expected | about_trials
    asked = {f.name: f.default for f in fields(StabilityQuestion)}
    assert _keywords(BinomialTest) == expected | asked | about_trials | {"test": "binomial"}
    assert _keywords(AveragedTest) == expected | asked | about_trials | {"test": "averaged"}


@pytest.mark.parametrize(
    ("function", "passed_on", "settings"),
    [
        (poise.compare, poise.measure, MeasureSettings),
        (poise.stability_curve, poise.measure, MeasureSettings),
        (assert_stable, poise.stability_test, StabilityTestSettings),
    ],
)
def test_what_is_passed_on_is_what_the_other_function_takes(
    function: Any, passed_on: Any, settings: Any
) -> None:
    left = get_type_hints(passed_on, localns={"StabilityResult": None, "Trials": None})
    for name in ("return", *_keywords(function)):
        left.pop(name, None)
    left.pop("algorithm", None)
    assert get_type_hints(settings) == left


def test_every_setting_is_an_option_of_the_command_line() -> None:
    asked = {field.name for field in fields(StabilityQuestion)}
    expected = set(_fields()) - set(NO_OPTION)
    assert set(SETTINGS) == expected - asked | {"n"}
    assert expected <= set(_options("test"))
    assert not set(NO_OPTION) & set(_options("test"))


@pytest.mark.parametrize("name", sorted(set(_fields()) - set(NO_OPTION)))
def test_an_option_has_the_default_of_its_keyword(name: str) -> None:
    command = main.get_command(click.Context(main), "test")
    assert command is not None
    given = ["rows.csv", "--n", "5", "--epsilon", "1", "--delta", "0.1"]
    values, default = command.make_context("test", given).params, _fields()[name]
    assert _options("test")[name].required == (default is MISSING)
    assert default is MISSING or values[name] == default


def test_compare_and_profile_have_the_same_options() -> None:
    test, profile, compare = (_options(name) for name in ("test", "profile", "compare"))
    asked = {field.name for field in fields(StabilityQuestion)} - {"n", "alpha"}
    several = {"algorithms", "programs"}
    of_a_verdict = {"report", "certificate"}
    own = {"band", "delta_max", "epsilon"}
    assert set(profile) == set(test) - asked - of_a_verdict - {"ledger"} | own
    one = {"algorithm", "program", "param", "name", "save", *of_a_verdict}
    every_trial = {"stop_early"}  # a comparison runs them all
    assert set(compare) == set(test) - one - every_trial | several


def test_a_file_of_questions_calls_settings_as_the_command_line_does() -> None:
    assert set(setting_names().values()) == set(_fields()) - set(NO_KEY)
    options = _options("test")
    for key, name in setting_names().items():
        if name not in NO_OPTION:
            assert f"--{key.replace('_', '-')}" in options[name].opts + options[name].secondary_opts


def test_an_unknown_keyword_is_refused_before_anything_is_computed() -> None:
    def never(X: Any, y: Any, seed: int) -> Any:
        raise AssertionError

    question = {"epsilon": 1.0, "delta": 0.5}
    with pytest.raises(TypeError, match=r"compare\(\) got .* 'distanse'; did you mean 'distance'"):
        poise.compare([never], [[0.0]] * 9, [0.0] * 9, n=2, **question, distanse="label")
    with pytest.raises(TypeError, match=r"stability_curve\(\) got an unexpected .* 'randomized'$"):
        poise.stability_curve(never, [[0.0]] * 9, [0.0] * 9, n=[2], **question, randomized=True)
    refuse_unknown("compare", {"n_jobs": 2})


def test_settings_that_are_no_fields_are_left_to_others() -> None:
    settings = {"n": 7, "epsilon": 1.0, "remove": 2, "n_jobs": 3, "X": None}
    assert from_settings(Setup, settings) == Setup(7, remove=2)
    assert from_settings(Execution, settings) == Execution(n_jobs=3)
