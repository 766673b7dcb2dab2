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
from poise.questions.conditional.conditional_question import ConditionalQuestion
from poise.questions.conditional.conditional_setup import ConditionalSetup
from poise.questions.settings import (
    DATA,
    MeasureSettings,
    StabilityTestSettings,
    from_settings,
    refuse_unknown,
)
from poise.questions.setup import Setup
from poise.questions.toml_file import deployed_names, setting_names
from poise.running.execution import Execution

KINDS = (StabilityQuestion, Setup, Execution)
CONDITIONAL = (ConditionalQuestion, ConditionalSetup, Execution)  # of one training set

QUESTION = ["--epsilon", "1", "--delta", "0.1"]

# Settings without an option of `poise test`, and why.
NO_OPTION = {
    "check": "poise check looks closer",
    "progress": "it is --quiet",
}

# Further settings without an option of `poise deployed`, and why.
NO_OPTION_DEPLOYED = NO_OPTION | {
    "stop_early": "it stops early unless the changes are written to a file",
}

# Settings without a key in a TOML file, and why.
NO_KEY = {
    "progress": "it is a matter of who looks on: --quiet",
    "name": "algorithms have their names in the file",
}


def _fields(kinds: tuple[Any, ...] = KINDS) -> dict[str, Any]:
    """Return the default of every setting, MISSING where there is none."""
    return {field.name: field.default for kind in kinds for field in fields(kind)}


def _keywords(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the default of every keyword, MISSING where there is none."""
    parameters = inspect.signature(function).parameters.values()
    named = [each for each in parameters if each.kind is not each.VAR_KEYWORD]
    return {p.name: MISSING if p.default is p.empty else p.default for p in named}


def _options(command: str) -> dict[str, click.Parameter]:
    found = main.get_command(click.Context(main), command)
    assert found is not None
    return {str(option.name): option for option in found.params}


OTHERS = {"algorithm", "journal", "ledger", *DATA, "X_fresh", "y_fresh"}


@pytest.mark.parametrize(
    ("function", "kinds"),
    [(poise.stability_test, KINDS), (poise.conditional_test, CONDITIONAL)],
)
def test_every_keyword_is_a_field_and_every_field_a_keyword(function: Any, kinds: Any) -> None:
    keywords = _keywords(function)
    settings = {name: value for name, value in keywords.items() if name not in OTHERS}
    assert settings == _fields(kinds)


def test_no_setting_is_a_field_of_two_objects() -> None:
    """But n, which is part of a question and of a trial."""
    for kinds, twice in ((KINDS, {"n"}), (CONDITIONAL, set())):
        names = [field.name for kind in kinds for field in fields(kind)]
        assert {name for name in names if names.count(name) > 1} == twice


def test_measure_asks_no_question() -> None:
    """And so it has no ledger: a question is put when a verdict is asked for."""
    asked = {field.name for field in fields(StabilityQuestion)} - {"n"} | {"ledger"}
    expected = {
        name: default
        for name, default in _keywords(poise.stability_test).items()
        if name not in asked
    }
    assert _keywords(poise.measure) == expected


def test_measure_conditional_asks_no_question_and_repeats_no_trial_on_request() -> None:
    asked = {field.name for field in fields(ConditionalQuestion)} | {"check"}
    every = _keywords(poise.conditional_test).items()
    expected = {name: default for name, default in every if name not in asked}
    assert _keywords(poise.measure_conditional) == expected


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
    of_one_training_set = set(_fields(CONDITIONAL)) - set(NO_OPTION_DEPLOYED)
    assert of_one_training_set <= set(_options("deployed"))
    assert not set(NO_OPTION_DEPLOYED) & set(_options("deployed"))


@pytest.mark.parametrize(
    ("command", "name"),
    [("test", name) for name in sorted(set(_fields()) - set(NO_OPTION))]
    + [("deployed", name) for name in sorted(set(_fields(CONDITIONAL)) - set(NO_OPTION_DEPLOYED))],
)
def test_an_option_has_the_default_of_its_keyword(command: str, name: str) -> None:
    found = main.get_command(click.Context(main), command)
    assert found is not None
    given = ["rows.csv", *(["--n", "5"] if command == "test" else []), *QUESTION]
    kinds = KINDS if command == "test" else CONDITIONAL
    values, default = found.make_context(command, given).params, _fields(kinds)[name]
    assert _options(command)[name].required == (default is MISSING)
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


@pytest.mark.parametrize(
    ("names", "kinds", "command", "no_option"),
    [
        (setting_names(), KINDS, "test", NO_OPTION),
        (deployed_names(), CONDITIONAL, "deployed", NO_OPTION_DEPLOYED),
    ],
    ids=["questions", "deployed"],
)
def test_a_file_of_questions_calls_settings_as_the_command_line_does(
    names: dict[str, str], kinds: Any, command: str, no_option: dict[str, str]
) -> None:
    assert set(names.values()) == set(_fields(kinds)) - set(NO_KEY)
    options = _options(command)
    for key, name in names.items():
        if name not in no_option:
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
