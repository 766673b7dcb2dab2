"""Certificates are checked by somebody who does not trust them."""

from __future__ import annotations

import copy
import json
import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsClassifier

import poise
from poise.errors import ArgumentError, PoiseError, RecordError
from poise.results.certificate_file import CertificateFile
from poise.results.verification import NOT_REPEATED, VERIFIED, WRONG
from shared.forgery import altered, at, leaves, redigested

RNG = np.random.default_rng(8)
X = RNG.normal(size=(420, 2))
Y = X[:, 0] + RNG.normal(size=420)


def mean_of_some(X, y, seed):
    """An algorithm of the user's own, with randomness: the mean of half the rows."""
    chosen = np.random.default_rng(seed).random(len(y)) < 0.5
    level = float(np.sum(y[chosen])) / max(1, int(chosen.sum()))
    return lambda rows: [level] * len(rows)


def fails_sometimes(X, y, seed):
    if seed % 3 == 0:
        raise ValueError("one in three")
    return lambda rows: [float(y[0])] * len(rows)


class Shrunk(RegressorMixin, BaseEstimator):
    """An estimator of the user's own."""

    def __init__(self, factor: float = 0.5) -> None:
        self.factor = factor

    def fit(self, X, y):
        self.level_ = self.factor * np.mean(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.level_)


def far(a, b):
    return abs(float(a) - float(b)) ** 2


def judged(algorithm: Any = mean_of_some, X: Any = X, y: Any = Y, **settings: Any) -> Any:
    asked = {"n": 12, "epsilon": 0.3, "delta": 0.3, "random_state": 4, "test": "binomial"}
    return poise.stability_test(algorithm, X, y, **(asked | settings))


FUNCTION = judged().certificate()


KINDS: dict[str, dict[str, Any]] = {
    "function": {},
    "stopped early": {"epsilon": 1e-9, "delta": 0.1},
    "estimator": {"algorithm": Shrunk()},
    "shortcut": {"algorithm": Ridge()},
    "shortcut in blocks": {"algorithm": Ridge(), "removals": "all", "test": "averaged"},
    "averaged": {"removals": 3, "points": 2, "test": "averaged", "n": 9},
    "one full fit": {"algorithm": Ridge(), "removals": 3, "test": "averaged", "fast": False},
    "failures": {"algorithm": fails_sometimes, "on_error": "unstable"},
    "failures in tables": {
        "algorithm": fails_sometimes,
        "on_error": "unstable",
        "points": 2,
        "test": "averaged",
    },
    "relative": {"epsilon": "50% of spread"},
    "groups": {"groups": np.arange(420) // 2, "n": 8},
    "replace": {"remove": 2, "replace": True, "shuffle": False, "coupling": "independent"},
    "labels": {"algorithm": KNeighborsClassifier(3), "y": np.where(Y > 0, "a", "b"), "epsilon": 0},
    "probabilities": {
        "algorithm": DummyClassifier(strategy="prior"),
        "y": (Y > 0).astype(int),
        "response": "predict_proba",
        "epsilon": 0.05,
    },
    "frame": {"X": pd.DataFrame(X, columns=["a", "b"]), "algorithm": Shrunk(0.1)},
    "unlabelled": {"X_unlabeled": X[:30] + 1, "randomized": True},
    "own distance": {"distance": far},
    "loss": {"distance": "loss:squared"},
    "weights": {"algorithm": Ridge(), "fit_params": {"sample_weight": np.abs(Y) + 1}},
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_run_is_repeated_bit_for_bit(kind) -> None:
    settings = KINDS[kind]
    result = judged(**settings)
    rows = {"X": settings.get("X", X), "y": settings.get("y", Y)}
    for name in ("X_unlabeled", "groups", "fit_params"):
        if name in settings:
            rows[name] = settings[name]
    if callable(settings.get("distance")):
        rows["distance"] = far
    file = CertificateFile.from_json(result.certificate().to_json())
    algorithm = settings.get("algorithm", mean_of_some)
    found = poise.verify(file, algorithm, **rows, trials="all")
    assert found.outcome == VERIFIED, found.summary()
    assert found.n_repeated == found.n_observed == result.n_observed > 0
    assert ("shortcut" in kind) == ("downdate" in result.design.path)
    some = poise.verify(file, algorithm, **rows, trials=5)
    assert some.outcome == VERIFIED, some.summary()
    assert some.n_repeated == 5


def outcome(certificate: CertificateFile, *given: Any, **settings: Any) -> str:
    try:
        text = json.dumps(certificate.content)
        return poise.verify(CertificateFile.from_json(text), *given, **settings).outcome
    except (RecordError, ArgumentError) as error:
        return str(error)


def twice(rows: Any) -> Any:
    return np.concatenate([rows[:210], rows[:210]])


with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # that rows occur twice
    DOUBTED = judged(X=twice(X), y=twice(Y)).certificate()
AVERAGED = judged(removals=2, points=2, test="averaged", n=25).certificate()
SHORTCUT = judged(Ridge()).certificate()
ALL = {"function": FUNCTION, "averaged": AVERAGED, "shortcut": SHORTCUT, "doubted": DOUBTED}


@pytest.mark.parametrize("kind", ALL)
def test_every_altered_field_is_noticed_by_the_digest(kind) -> None:
    places = list(leaves(ALL[kind].content))
    assert len(places) > 70
    for place in places:
        forged = altered(ALL[kind], place)
        if place == ("format",):
            assert "poise certificate 0" in outcome(forged)
        else:
            assert outcome(forged) == WRONG, place


def removed(content: Any) -> Iterator[dict[str, Any]]:
    """Yield the content without one of its keys, at every depth."""
    for place in {place[:depth] for place in leaves(content) for depth in (1, 2, 3)}:
        # A version that is missing is one that nobody can compare.
        if isinstance(place[-1], str) and place != ("digest",) and "versions" not in place[:-1]:
            less = copy.deepcopy(content)
            del at(less, place[:-1])[place[-1]]
            yield less


def test_every_field_that_is_left_out_is_noticed() -> None:
    design = FUNCTION.content["design"]
    without_order = {name: value for name, value in design.items() if name != "order"}
    for less in removed(FUNCTION.content):
        assert outcome(CertificateFile(less)) not in (VERIFIED, NOT_REPEATED)
        if less.get("design") == without_order:  # as in older files, which mean another order
            continue
        assert outcome(redigested(CertificateFile(less))) not in (VERIFIED, NOT_REPEATED)


def follows_from_the_changes(place: tuple[Any, ...]) -> bool:
    """Whether a field can be checked without the rows and the algorithm."""
    inside = place[0] in ("statement", "theorem", "numbers", "question", "not_shown", "changes")
    return inside or place[-1] in ("zeta", "n", "poise_version", "n_labeled", "removals")


@pytest.mark.parametrize("kind", ["averaged", "shortcut"])
def test_every_altered_field_is_noticed_although_the_digest_fits(kind) -> None:
    certificate = ALL[kind]
    for place in filter(follows_from_the_changes, leaves(certificate.without("digest"))):
        found = outcome(redigested(altered(certificate, place)))
        assert found not in (VERIFIED, NOT_REPEATED), place


GIVEN = {
    "function": (mean_of_some, X, Y),
    "averaged": (mean_of_some, X, Y),
    "shortcut": (Ridge(), X, Y),
    "doubted": (mean_of_some, twice(X), twice(Y)),
}


@pytest.mark.parametrize("kind", ["function", "averaged", "shortcut"])
def test_with_rows_and_algorithm_no_altered_field_passes(kind) -> None:
    certificate, given = ALL[kind], GIVEN[kind]
    for place in leaves(certificate.without("digest")):
        forged = redigested(altered(certificate, place))
        if "versions" in place:  # then it is said that they differ
            found = poise.verify(forged, *given, trials=3)
            poise_itself = place[-1] == "poise"
            assert poise_itself or any("versions differ" in text for text in found.checked), place
        elif place[-1] == "name":  # of the algorithm, in headlines
            assert outcome(forged) == WRONG
        else:
            assert outcome(forged, *given, trials="all") not in (VERIFIED, NOT_REPEATED), place


def forged(certificate: CertificateFile, **parts: Any) -> CertificateFile:
    """Forge changes so that everything else fits: numbers, words and digest."""
    from poise.results.certified_result import certified_result

    result = certified_result(certificate)
    asked = result.epsilon, result.delta, result.alpha, result.randomized, result.test
    return replace(result.trials, **parts).test(*asked).certificate()


def other_changes(certificate: CertificateFile, count: int) -> Any:
    from poise.results.certified_result import certified_result

    changes = certified_result(certificate).trials.changes.copy()
    changes[:count] = np.nextafter(changes[:count], 9)
    return changes


@pytest.mark.parametrize("kind", ["function", "averaged", "shortcut"])
def test_a_last_digit_is_noticed_only_by_computing_again(kind) -> None:
    false = forged(ALL[kind], changes=other_changes(ALL[kind], 1))
    assert outcome(false) == VERIFIED
    found = poise.verify(false, *GIVEN[kind], trials="all")
    assert found.outcome == WRONG
    assert "1 of " in found.wrong[0]
    assert "trial 0 is" in found.wrong[0]


def test_a_false_verdict_is_noticed() -> None:
    false = forged(SHORTCUT, changes=np.zeros(32))
    assert false.verdict == "stable" != judged(Ridge(), epsilon=0.001).verdict.value
    assert outcome(false, Ridge(), X, Y) == WRONG


def test_other_versions_are_named() -> None:
    origin = judged().trials.provenance
    older = replace(origin, versions={**origin.versions, "numpy": "1.26.0"})
    false = forged(FUNCTION, changes=other_changes(FUNCTION, 32), provenance=older)
    found = poise.verify(false, mean_of_some, X, Y)
    assert found.outcome == NOT_REPEATED
    assert found.other_versions == (f"numpy 1.26.0 (here {np.__version__})",)
    assert "all of them on the same side of epsilon = 0.3" in found.unrepeated[0]
    assert not found.verified
    assert "could not be repeated" in found.summary()
    assert f"made with other versions: numpy 1.26.0 (here {np.__version__})" in found.summary()
    assert "neither that the certificate is right nor that it is wrong" in found.summary()
    same = forged(FUNCTION, provenance=older)
    assert poise.verify(same, mean_of_some, X, Y).verified


def test_a_library_that_is_missing_here_may_be_the_reason() -> None:
    origin = judged().trials.provenance
    more = replace(origin, versions={**origin.versions, "torch": "2.1"})
    false = forged(FUNCTION, changes=other_changes(FUNCTION, 32) + 0.3, provenance=more)
    found = poise.verify(false, mean_of_some, X, Y)
    assert found.outcome == NOT_REPEATED
    assert found.other_versions == ("torch 2.1 (not used here)",)
    assert " across epsilon = 0.3" in found.unrepeated[0]
    assert poise.verify(forged(FUNCTION, provenance=more), mean_of_some, X, Y).verified


@pytest.mark.parametrize("version", [{"numpy": "1.26.0"}, {"scikit-learn": "1.0"}])
@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("numbers", "pvalue"), 1e-9),
        (("numbers", "n_failed"), 1),
        (("statement", "headline"), "STABLE: everything"),
        (("design", "n_unlabeled"), 1),
    ],
)
def test_no_other_library_explains_a_false_claim(version, place, value) -> None:
    """Only the last digits of a number depend on libraries; the rest is arithmetic of poise."""
    origin = judged().trials.provenance
    older = replace(origin, versions={**origin.versions, **version})
    content = copy.deepcopy(forged(FUNCTION, provenance=older).content)
    content[place[0]][place[1]] = value
    assert outcome(redigested(CertificateFile(content)), mean_of_some, X, Y) == WRONG


def test_last_digits_of_a_number_may_depend_on_versions() -> None:
    origin = judged().trials.provenance
    older = replace(origin, versions={**origin.versions, "scipy": "1.11.0"})
    content = copy.deepcopy(forged(FUNCTION, provenance=older).content)
    content["numbers"]["delta_hat"] = float(np.nextafter(content["numbers"]["delta_hat"], 1))
    found = poise.verify(redigested(CertificateFile(content)))
    assert found.outcome == NOT_REPEATED
    assert found.other_versions[0].startswith("scipy 1.11.0 (here ")
    same = copy.deepcopy(FUNCTION.content)
    same["numbers"]["delta_hat"] = content["numbers"]["delta_hat"]
    assert outcome(redigested(CertificateFile(same))) == WRONG


@pytest.mark.parametrize(
    ("algorithm", "X", "y", "words"),
    [
        (mean_of_some, X + 1, Y, "the rows that were given are not those"),
        (mean_of_some, X, Y[::-1].copy(), "the rows that were given are not those"),
        (mean_of_some, X[:-1], Y[:-1], "n_labeled is 420 in the certificate and 419"),
        (Ridge(), X, Y, "algorithm is mean_of_some in the certificate and Ridge()"),
        (fails_sometimes, X, Y, "algorithm is mean_of_some"),
    ],
)
def test_other_rows_and_other_algorithms(algorithm, X, y, words) -> None:
    found = poise.verify(FUNCTION, algorithm, X, y)
    assert found.outcome == WRONG
    assert any(words in text for text in found.wrong)
    assert found.n_repeated == 0


def test_other_code_under_the_same_name() -> None:
    def edited(X, y, seed):
        return mean_of_some(X, y, seed + 1)

    edited.__name__ = "mean_of_some"
    found = poise.verify(FUNCTION, edited, X, Y)
    assert found.wrong == ("the code of the algorithm is not that of the certificate",)


def test_a_warning_that_was_taken_out() -> None:
    assert any("have an equal elsewhere" in text for text in DOUBTED.content["warnings"])
    false = forged(DOUBTED, warnings=())
    assert outcome(false) == VERIFIED
    found = poise.verify(false, *GIVEN["doubted"])
    assert found.outcome == WRONG
    assert "leaves out a warning" in found.wrong[0]


def test_what_the_chance_is() -> None:
    found = poise.verify(FUNCTION, mean_of_some, X, Y, trials=7, random_state=11)
    assert found.seed == 11
    assert found.chance_to_miss(0.1) == pytest.approx(0.9**7)
    assert "(1 - f)^7" in found.summary()
    whole = poise.verify(FUNCTION, mean_of_some, X, Y, trials="all")
    assert whole.chance_to_miss(0.01) == 0.0
    assert "Every trial was computed again" in whole.summary()
    assert json.loads(found.to_json())["outcome"] == VERIFIED


def test_open_points_are_said() -> None:
    found = poise.verify(FUNCTION)
    assert found.verified
    assert len(found.open_points) == 2
    assert "not signed" in found.open_points[0]
    assert "not checked: that the changes are those of the algorithm" in found.summary()
    assert found.chance_to_miss(0.5) == 1.0


def test_changes_from_elsewhere_cannot_be_repeated() -> None:
    made = poise.Trials.from_changes([0.1] * 30, n=5).test(0.2, 0.1).certificate()
    assert poise.verify(made).verified
    with pytest.raises(ArgumentError, match="does not say from which rows"):
        poise.verify(made, mean_of_some, X, Y)


def test_wrong_arguments() -> None:
    with pytest.raises(ArgumentError, match="give algorithm, X and y together"):
        poise.verify(FUNCTION, mean_of_some)
    own = judged(distance=far).certificate()
    with pytest.raises(ArgumentError, match="distance must be given"):
        poise.verify(own, mean_of_some, X, Y)
    with pytest.raises(PoiseError):
        poise.verify("no such file")


def test_a_journal_and_a_pool_make_no_difference(tmp_path) -> None:
    place = tmp_path / "run.jsonl"
    judged(journal=place)
    assert judged(journal=place).certificate() == FUNCTION


def test_what_a_ledger_says_is_in_it(tmp_path) -> None:
    place = tmp_path / "rows.ledger"
    judged(ledger=place, epsilon=0.4)
    file = judged(ledger=place).certificate()
    assert file.content["ledger"]["n_questions"] == 2
    assert poise.verify(file, mean_of_some, X, Y).verified
    forged = copy.deepcopy(file.content)
    forged["ledger"]["n_questions"] = 1
    assert poise.verify(redigested(CertificateFile(forged))).outcome == WRONG
