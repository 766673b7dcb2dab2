"""Places that say something about every setting: a new setting must be in each of them.

Most take the settings from the fields. What is written in files, and what people read, is a
list; each list is compared here with the fields, and a failure says where to put the new name.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from dataclasses import fields
from typing import Any

import click
import numpy as np
import pytest

import poise
from poise.cli import main
from poise.cli.fit_options import SETTINGS
from poise.cli.help_sections import _OTHER, SECTIONS, _place
from poise.cli.monitor import _NOT_OFFERED
from poise.procedures.checked_question import StabilityQuestion
from poise.procedures.trial_setup import TrialSetup
from poise.questions.certificates.same_question import settings_to_repeat
from poise.questions.combine_records import _MAY_DIFFER
from poise.questions.setup import Setup
from poise.results.design import Design
from poise.running.execution import Execution
from poise.storage.ledger.described_question import _SAME_QUESTION, _SAME_RUN
from poise.storage.monitor_record.record_header import RecordQuestion

# Fields of a design that make no two questions, or no two runs, different; and why.
NOT_IN_A_LEDGER = {
    "algorithm": "it is described without addresses",
    "name": "it decides nothing",
    "path": "shortcuts are exact",
    "n_labeled": "the rows have their digest",
    "n_unlabeled": "the rows have their digest",
    "n_groups": "the unit says whether there are groups",
    "n_classes": "it follows from the rows",
    "n_points": "it follows from the rows",
    "from_rows": "a ledger takes trials of rows only",
    "one_full_fit": "it saves fits and changes nothing",
    "zeta": "it follows from the seed",
    "spread": "a share of it is asked about as a share",
    "set_aside": "those rows are in no trial",
    "order": "questions of before do not say it, so it is added where it is new",
}

# Settings that a certificate need not repeat, and why.
NOT_REPEATED = {"name": "it decides nothing"}

# Settings of Execution that a certificate must repeat, and why; the others change no trial.
REPEATED_OF_EXECUTION = {
    "fast": "the changes are computed in the same way, to the last digit",
    "on_error": "a trial that failed is a trial of the certificate",
    "on_timeout": "a trial that failed is a trial of the certificate",
    "check": "the trials of the certificate are compared anyway: none is computed once more",
}

# Settings of a trial that a record of a monitor does not hold, and why.
NOT_IN_A_RECORD = {
    "shuffle": "the record puts rows in order itself",
    "remove": "a trial removes one row at a time",
    "replace": "monitors do not offer it: a row is removed, never exchanged for another",
}


def _names(*kinds: Any) -> set[str]:
    return {field.name for kind in kinds for field in fields(kind)}


def _agree(listed: Iterable[str], expected: Iterable[str], where: str) -> None:
    missing, unknown = set(expected) - set(listed), set(listed) - set(expected)
    assert not missing, f"put {sorted(missing)} into {where}"
    assert not unknown, f"remove {sorted(unknown)} from {where}: there is no such setting"


def _options(command: str) -> list[click.Option]:
    found = main.get_command(click.Context(main), command)
    assert found is not None
    return [each for each in found.params if isinstance(each, click.Option)]


def test_a_design_holds_every_setting_of_a_trial() -> None:
    """A file of trials must say how they were made."""
    missing = _names(TrialSetup) - _names(Design)
    assert not missing, f"put {sorted(missing)} into Design, with what older files mean by it"
    design = Design("Ridge()", 20, 442)
    for field in fields(TrialSetup):
        if field.name not in ("n", "points"):  # points is left to the test
            assert getattr(design, field.name) == field.default


def test_a_ledger_says_what_every_field_of_a_design_means() -> None:
    listed = [*_SAME_QUESTION, *_SAME_RUN, *NOT_IN_A_LEDGER]
    assert len(listed) == len(set(listed))
    made = {"unit"}  # from the number of groups
    where = (
        "_SAME_QUESTION or _SAME_RUN of storage/ledger/described_question.py (only where it is "
        "not the default: older ledgers do not have it), or NOT_IN_A_LEDGER here"
    )
    _agree(set(listed) - made, _names(Design), where)


def test_a_certificate_says_how_every_setting_is_repeated() -> None:
    trials = poise.measure(
        _mean, np.zeros((30, 1)), np.arange(30.0), n=5, random_state=0, check=False
    )
    repeated = set(settings_to_repeat(trials))
    assert not repeated & set(NOT_REPEATED)
    listed = repeated | set(NOT_REPEATED)
    where = "settings_to_repeat of questions/certificates/same_question.py, or NOT_REPEATED here"
    _agree(listed, {*_names(Setup), *REPEATED_OF_EXECUTION}, where)
    assert set(REPEATED_OF_EXECUTION) <= _names(Setup, Execution)


def _mean(X: Any, y: Any, seed: int) -> Any:
    return lambda rows: [float(np.mean(y))] * len(rows)


def test_a_record_holds_every_setting_of_a_trial() -> None:
    missing = _names(TrialSetup) - _names(RecordQuestion) - set(NOT_IN_A_RECORD)
    assert not missing, f"put {sorted(missing)} into RecordQuestion, or NOT_IN_A_RECORD here"
    assert not set(NOT_IN_A_RECORD) & _names(RecordQuestion)
    assert set(NOT_IN_A_RECORD) <= set(_NOT_OFFERED)
    assert set(_MAY_DIFFER) <= _names(RecordQuestion)


def test_a_monitor_has_every_setting_that_its_command_has() -> None:
    keywords = set(inspect.signature(poise.Monitor).parameters)
    options = {str(option.name) for option in _options("monitor")}
    expected = set(SETTINGS) - set(NOT_IN_A_RECORD)
    _agree(keywords & set(SETTINGS), expected, "poise.Monitor, or NOT_IN_A_RECORD here")
    _agree(options & set(SETTINGS), expected, "_NOT_OFFERED of cli/monitor.py")


def test_trials_are_asked_what_is_in_a_question() -> None:
    question = StabilityQuestion(10, epsilon=0.5, delta=0.1)
    keywords = set(inspect.signature(poise.Trials.test).parameters) - {"self", "ledger"}
    where = "the keywords of Trials.test, or `before` of StabilityQuestion.for_trials"
    _agree(keywords, question.for_trials, where)


@pytest.mark.parametrize("command", ["test", "compare", "curve", "profile", "monitor"])
def test_help_has_a_place_for_every_setting(command: str) -> None:
    settings = _names(StabilityQuestion, Setup, Execution)
    for option in _options(command):
        if option.name in settings:
            section = _place(option)[0]
            assert section != _OTHER, f"put {option.opts[0]} into SECTIONS of cli/help_sections.py"


def test_help_has_no_place_for_an_option_that_does_not_exist() -> None:
    known = {name for command in main.lazy for each in _options(command) for name in each.opts}
    placed = {option for options in SECTIONS.values() for option in options.split()}
    _agree(placed & known | {"--help"}, placed, "a command; SECTIONS names what no command has")
