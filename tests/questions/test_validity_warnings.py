"""What may make an error level wrong is part of the result, wherever the result goes."""

from __future__ import annotations

import itertools
import json
import warnings

import numpy as np
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import Ridge

import poise
from poise.errors import PowerWarning, TrialError, ValidityWarning
from poise.procedures import BinomialTest, BootstrapTest, ExploreThenTest
from poise.storage.journal import read_journal
from shared.algorithms import constant
from shared.data import linear_rows

X, y = linear_rows(200, [0.0, 0.0, 0.0])
TWICE = np.vstack([X, X[:7]]), np.append(y, y[:7])
QUESTION = {"epsilon": 1.0, "delta": 0.2}
ASKED = {"n": 5, "random_state": 0, **QUESTION}
SAID = "14 of the 207 rows have an equal elsewhere."

pytestmark = pytest.mark.filterwarnings("ignore::poise.errors.ValidityWarning")


@pytest.fixture(scope="module")
def result() -> poise.StabilityResult:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ValidityWarning)
        return poise.stability_test(DummyRegressor(), *TWICE, **ASKED)


@pytest.fixture(scope="module")
def trials() -> poise.Trials:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ValidityWarning)
        return poise.measure(DummyRegressor(), *TWICE, n=5, random_state=0)


def test_a_result_says_so_everywhere(result) -> None:
    (said,) = result.warnings
    assert said.startswith(SAID)
    assert "the error level does not hold" in said
    assert f"Warning: {said}" in result.summary().splitlines()
    assert json.loads(result.to_json())["warnings"] == [said]
    assert poise.StabilityResult.from_json(result.to_json()) == result
    for page in (result.to_html(), result._repr_html_()):
        assert SAID in page


def test_a_measurement_hands_it_on(trials, result, tmp_path) -> None:
    assert trials.warnings == result.warnings
    trials.save(tmp_path / "trials.npz")
    for again in (
        poise.Trials.load(tmp_path / "trials.npz"),
        poise.Trials.from_json(trials.to_json()),
    ):
        assert again.test(**QUESTION).warnings == result.warnings
    assert f"Warning: {SAID}" in trials.summary()
    assert SAID in trials._repr_html_()


def test_a_profile_has_it(trials) -> None:
    profile = trials.profile()
    assert profile.warnings == trials.warnings
    assert poise.Profile.from_json(profile.to_json()) == profile
    assert json.loads(profile.to_json())["warnings"] == list(trials.warnings)
    assert SAID in profile._repr_html_()


def test_clean_rows_have_none() -> None:
    result = poise.stability_test(DummyRegressor(), X, y, **ASKED)
    assert result.warnings == ()
    assert "Warning" not in result.summary()


def test_it_is_noted_where_warnings_are_not_shown(recwarn) -> None:
    warnings.simplefilter("ignore")
    assert poise.stability_test(DummyRegressor(), *TWICE, **ASKED).warnings[0].startswith(SAID)
    assert not recwarn.list


def test_comparisons_and_curves_have_it_once() -> None:
    compared = poise.compare([DummyRegressor(), DummyRegressor(strategy="median")], *TWICE, **ASKED)
    curve = poise.stability_curve(
        DummyRegressor(), *TWICE, n=[5, 8], random_state=0, epsilon=1.0, delta=0.2
    )
    for several in (compared, curve):
        (said,) = several.warnings
        assert said.startswith(SAID)
        assert several.summary().count(SAID) == 1
        assert json.loads(several.to_json())["warnings"] == [said]
        assert SAID in several._repr_html_()
        assert f"Warning: {said}" in several.meaning()


@pytest.mark.parametrize(
    "procedure",
    [BinomialTest(n=5, **QUESTION), ExploreThenTest(n=5, **QUESTION)],
    ids=lambda procedure: type(procedure).__name__,
)
def test_procedures_and_their_transcripts_have_it(procedure, tmp_path) -> None:
    ran = poise.run(procedure, DummyRegressor(), *TWICE, random_state=0)
    assert ran.result.warnings[0].startswith(SAID)
    assert f"Warning: {SAID}" in str(ran)
    assert SAID in ran._repr_html_()
    assert type(ran.result).from_json(ran.result.to_json()) == ran.result
    ran.transcript.save(tmp_path / "run.npz")
    assert poise.replay(poise.Transcript.load(tmp_path / "run.npz")) == ran.result


def test_a_procedure_that_uses_rows_again_has_nothing_to_fear_from_copies() -> None:
    bootstrap = BootstrapTest(n=5, **QUESTION, resamples=20)
    assert poise.run(bootstrap, DummyRegressor(), *TWICE, random_state=0).result.warnings == ()


def test_an_algorithm_with_a_memory() -> None:
    fits = itertools.count()
    result = poise.stability_test(lambda X, y, seed: constant(next(fits) ** 1.5), X, y, **ASKED)
    (said,) = result.warnings
    assert said.startswith("the first trial, computed once more, gave a change of")
    assert "the error level may not hold" in said


def test_a_journal_keeps_it_and_adds_what_resuming_shows(tmp_path) -> None:
    def run(fit):
        return poise.measure(fit, *TWICE, n=5, random_state=0, journal=tmp_path / "run.jsonl")

    def fit(X, y, seed):
        calls.append(seed)
        if len(calls) > 9:
            raise ValueError("for the time being")
        return constant(np.mean(y))

    calls: list[int] = []
    with pytest.raises(TrialError) as caught:
        run(fit)
    assert caught.value.partial.warnings[0].startswith(SAID)
    (known,) = read_journal(tmp_path / "run.jsonl").trials.warnings
    assert known.startswith(SAID)

    def fit(X, y, seed):
        return constant(np.mean(y))

    first, second = run(fit).warnings
    assert first == known
    assert second.startswith("the code of ")
    assert "the error level does not hold" in second
    assert read_journal(tmp_path / "run.jsonl").trials.warnings == (first, second)


def versions_of_a_fit():
    """Return two functions of one name, the first of which fails after a while."""
    calls = itertools.count()

    def fit(X, y, seed):
        if next(calls) > 9:
            raise ValueError("for the time being")
        return constant(np.mean(y))

    first = fit

    def fit(X, y, seed):
        if next(calls) > 19:
            raise ValueError("for the time being")
        return constant(np.median(y))

    return first, fit


def test_a_journal_by_two_codes_says_so_whoever_goes_on(tmp_path) -> None:
    path = tmp_path / "run.jsonl"

    def run(fit):
        return poise.measure(fit, X, y, n=5, random_state=0, journal=path)

    first, other = versions_of_a_fit()
    with pytest.raises(TrialError):
        run(first)
    assert read_journal(path).trials.warnings == ()
    with pytest.raises(TrialError) as caught:
        run(other)
    (said,) = caught.value.partial.warnings
    assert said.startswith("the code of ")
    assert path.read_text().count('"warnings": ["') == 1  # once, beside the first trial after it
    with pytest.raises(TrialError) as caught:
        run(other)
    assert caught.value.partial.warnings == (said,)
    assert path.read_text().count('"warnings": ["') == 1
    with pytest.raises(TrialError) as caught:  # the code of the header, but not of every trial
        run(first)
    assert caught.value.partial.warnings == (said,)
    assert read_journal(path).trials.warnings == (said,)


@pytest.mark.parametrize("asked", ["measure", "compare", "stability_curve"])
def test_every_way_to_measure_computes_the_first_trial_again(asked: str) -> None:
    calls = itertools.count()

    def forgetful(X, y, seed):
        return constant(next(calls) ** 1.5)

    def ask(**settings):
        if asked == "measure":
            return poise.measure(forgetful, X, y, n=5, random_state=0, **settings)
        if asked == "compare":
            both = {"forgetful": forgetful, "mean": lambda X, y, seed: constant(np.mean(y))}
            return poise.compare(both, X, y, **ASKED, **settings)
        rest = {"epsilon": 1.0, "random_state": 0}
        return poise.stability_curve(forgetful, X, y, n=[9, 5], **rest, **settings)

    found = ask()
    fits = next(calls)
    (said,) = found.warnings
    name = " of forgetful" if asked == "compare" else ""
    assert said.startswith(f"the first trial{name}, computed once more, gave a change of")
    if asked != "measure":
        assert f"Warning: {said}" in found.summary()
        assert json.loads(found.to_json())["warnings"] == [said]
    assert ask(check=False).warnings == ()
    assert next(calls) == 2 * fits - 1  # two fits fewer, and one call of the test itself


def test_a_certificate_has_it(result) -> None:
    stated = poise.notions.Certificate.from_result(result)
    assert stated.warnings == result.warnings
    assert all(weaker.warnings == result.warnings for weaker in stated.implications())
    assert str(stated).splitlines()[1:] == [f"Warning: {text}" for text in result.warnings]
    assert SAID in stated._repr_html_()
    assert json.loads(stated.to_json())["warnings"] == list(result.warnings)
    assert poise.notions.Certificate.from_json(stated.to_json()) == stated


HOPELESS = {"n": 10, "epsilon": 0.3, "delta": 0.1, "random_state": 0}


@pytest.mark.parametrize(
    ("ask", "kind"),
    [
        (lambda: poise.stability_test(Ridge(), X[:40], y[:40], **HOPELESS), PowerWarning),
        (lambda: poise.measure(Ridge(), X[:10], y[:10], n=10), PowerWarning),
        (lambda: poise.compare([Ridge(), Ridge(2)], X[:40], y[:40], **HOPELESS), PowerWarning),
        (
            lambda: poise.stability_curve(Ridge(), X[:40], y[:40], **(HOPELESS | {"n": [10]})),
            PowerWarning,
        ),
        (lambda: poise.stability_test(DummyRegressor(), *TWICE, **ASKED), ValidityWarning),
        (lambda: poise.measure(DummyRegressor(), *TWICE, n=5), ValidityWarning),
        (lambda: poise.compare([DummyRegressor()], *TWICE, **ASKED), ValidityWarning),
        (lambda: poise.run(BinomialTest(5, 1.0, 0.2), DummyRegressor(), *TWICE), ValidityWarning),
    ],
)
def test_a_warning_names_the_line_of_the_caller(ask, kind) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ask()
    [warning] = caught
    line = ask.__code__.co_firstlineno
    assert (warning.category, warning.filename, warning.lineno) == (kind, __file__, line)
