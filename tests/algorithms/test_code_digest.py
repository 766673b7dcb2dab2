"""A function that was edited between two runs: whoever goes on with its journal is told."""

from __future__ import annotations

import functools
import os

import lightgbm
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import poise
from poise.algorithms.as_algorithm import as_algorithm
from poise.algorithms.code_digest import class_digest, code_digest
from poise.algorithms.library_versions import versions_that_compute
from poise.errors import PoiseWarning, RecordError
from shared.journals import edit_header
from shared.processes import printed

SOURCE = """
SCALE = 2.0
WORDS = frozenset({"a", "b", "c", "d"})

def helper(y):
    return sum(y)

def fit(X, y, seed, power=1):
    level = SCALE * helper(y) ** power if "a" in {"a", "b", "c"} else 0.0
    return lambda rows: [level + 1.0] * len(rows)
"""


def fit_of(source: str, **names):
    scope = {"__name__": "user_module", **names}
    exec(source, scope)
    return scope["fit"]


@pytest.mark.parametrize(
    "edit",
    [
        ("+ 1.0", "+ 2.0"),
        ("SCALE = 2.0", "SCALE = 3.0"),
        ("sum(y)", "max(y)"),
        ("power=1", "power=2"),
        ("** power", "* power"),
    ],
    ids=" to ".join,
)
def test_code_that_does_something_else_is_noticed(edit) -> None:
    assert code_digest(fit_of(SOURCE)) != code_digest(fit_of(SOURCE.replace(*edit)))


@pytest.mark.parametrize(
    "edit", [("def fit", "# a word\n\ndef fit"), ("SCALE = 2.0", "SCALE = 2.0; OTHER = 5")]
)
def test_what_makes_no_difference_is_not(edit) -> None:
    assert code_digest(fit_of(SOURCE)) == code_digest(fit_of(SOURCE.replace(*edit)))


def test_another_process_gets_the_same_digest() -> None:
    script = f"""
from poise.algorithms.code_digest import code_digest
scope = {{"__name__": "user_module"}}
exec({SOURCE!r}, scope)
print(code_digest(scope["fit"]))
"""
    for seed in ("1", "2"):
        said = printed(script, env=os.environ | {"PYTHONHASHSEED": seed})
        assert said.strip() == code_digest(fit_of(SOURCE))


def test_what_a_function_encloses_counts() -> None:
    def shifted(by):
        return lambda X, y, seed: lambda rows: [by] * len(rows)

    assert code_digest(shifted(1.0)) == code_digest(shifted(1.0)) != code_digest(shifted(2.0))
    fit = fit_of(SOURCE)
    by_power = [code_digest(functools.partial(fit, power=power)) for power in (1, 2)]
    assert by_power[0] != by_power[1]
    assert code_digest(object()) == ""


def test_a_journal_continued_by_other_code(tmp_path) -> None:
    X = np.random.default_rng(0).normal(size=(66, 2))

    def run(source: str) -> poise.Trials:
        question = {"n": 5, "random_state": 0, "journal": tmp_path / "run.jsonl"}
        return poise.measure(fit_of(source), X, X[:, 0], **question)

    first = run(SOURCE)
    assert run(SOURCE).changes.tobytes() == first.changes.tobytes()
    with pytest.warns(PoiseWarning, match=r"the code of fit has changed since .*run\.jsonl"):
        assert run(SOURCE.replace("2.0", "3.0")).changes.tobytes() == first.changes.tobytes()


class Scaled:
    """A distance that is an object."""

    def __init__(self, by):
        self.by = by

    def __call__(self, a, b):
        return self.by * abs(a - b)

    def method(self, a, b):
        return self.by + abs(a - b)


def scaled(a, b, by):
    return by * abs(a - b)


DISTANCES = {
    "lambdas": (lambda a, b: abs(a - b), lambda a, b: 100 * abs(a - b)),
    "partial": tuple(functools.partial(scaled, by=by) for by in (1.0, 100.0)),
    "objects": (Scaled(1.0), Scaled(100.0)),
    "methods": (Scaled(1.0).method, Scaled(100.0).method),
    "losses": (
        poise.LossChange(lambda y, p: abs(y - p)),
        poise.LossChange(lambda y, p: 100 * abs(y - p)),
    ),
}


@pytest.mark.parametrize("kind", DISTANCES)
def test_a_journal_does_not_mix_two_distances_of_one_name(kind, tmp_path) -> None:
    X = np.random.default_rng(0).normal(size=(66, 2))
    first, second = DISTANCES[kind]

    def run(distance) -> poise.Trials:
        question = {"n": 5, "random_state": 0, "journal": tmp_path / "run.jsonl"}
        return poise.measure(fit_of(SOURCE), X, X[:, 0], distance=distance, **question)

    before = run(first)
    with pytest.raises(RecordError, match=r"distance: the code of .* is not what it was"):
        run(second)
    assert run(first).changes.tobytes() == before.changes.tobytes()
    # A journal of an earlier version says nothing about the code, and is gone on with.
    journal = tmp_path / "run.jsonl"
    edit_header(journal, lambda header: header.pop("distance_code"))
    assert run(second).changes.tobytes() == before.changes.tobytes()


def _estimator(body: str) -> object:
    """Make an estimator of a module of the user's own."""
    space: dict = {"__name__": "my_models"}
    exec(body, space)
    return space["Mine"]()


PLAIN = "class Mine:\n    'One.'\n    def fit(self, X, y):\n        return self\n    level = 2\n"


def test_the_class_of_an_estimator() -> None:
    plain = class_digest(_estimator(PLAIN))
    assert plain == class_digest(_estimator(PLAIN.replace("'One.'", "'Two.'")))
    assert plain != class_digest(_estimator(PLAIN.replace("return self", "return None")))
    assert plain != class_digest(_estimator(PLAIN.replace("level = 2", "level = 3")))
    assert class_digest(StandardScaler(), 3) == ""
    with_property = PLAIN + "    @property\n    def half(self):\n        return 0.5\n"
    changed = with_property.replace("0.5", "0.25")
    assert class_digest(_estimator(with_property)) != class_digest(_estimator(changed))


def test_objects_that_refuse_to_be_looked_at() -> None:
    class Refuses:
        __module__ = "my_models"

        def __getattr__(self, name):
            raise ZeroDivisionError(name)

    class Holder:
        __module__ = "my_models"
        part = Refuses()

    assert len(class_digest(Holder(), Refuses())) == 16
    assert "numpy" in versions_that_compute(Holder(), Refuses())


def test_versions_are_those_of_what_the_algorithm_names() -> None:
    def fit(X, y, seed):
        return inner(X)

    def inner(X):
        return lightgbm.LGBMRegressor

    fit.__module__ = inner.__module__ = "my_models"
    assert "lightgbm" in versions_that_compute(as_algorithm(fit))
    assert "lightgbm" not in versions_that_compute(as_algorithm(Ridge()))
    pipe = make_pipeline(StandardScaler(), lightgbm.LGBMRegressor())
    named = versions_that_compute(pipe, pd.DataFrame())
    assert {"lightgbm", "scikit-learn", "pandas"} <= set(named)
    assert named["lightgbm"] == lightgbm.__version__
