"""The digest of the user's code: what matters changes it, and nothing else."""

from __future__ import annotations

import functools
import types
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from helpers import python
from poise.algorithms.algorithm import as_algorithm
from poise.algorithms.distances import as_distance
from poise.algorithms.losses import loss_change
from poise.algorithms.provenance import code_digest, versions

SOURCE = """
SCALE = 2.0
TABLE = {"a": [1, 2], "b": {"x", "y", "z"}}

def helper(y):
    return sum(y)

class Tool:
    "What helps."
    level = 3
    def use(self):
        return self.level

def fit(X, y, seed, power=1):
    "Fit it."
    level = SCALE * helper(y) ** power if "a" in {"a", "b", "c"} else Tool().use()
    return lambda rows: ["a word", level + TABLE["a"][0] + 1.0]
"""


MINE = """
from sklearn.linear_model import Ridge
class Mine(Ridge):
    'One.'
    level = 2
    half = property(lambda self: 0.5)
    one = staticmethod(lambda: 7)
    def fit(self, X, y): return self
    def __call__(self): return 1
fit = Mine()
"""


def fit_of(source: str, **names):
    scope = {"__name__": "user_module", **names}
    exec(source, scope)
    return scope["fit"]


def test_edits():
    edits = ["+ 1.0 -> + 2.0", "SCALE = 2.0 -> SCALE = 3.0", "sum(y) -> max(y)", "[1, 2] -> [1, 3]"]
    edits += ["power=1 -> power=2", "** power -> * power", "level = 3 -> level = 4"]
    edits += ['"x", "y" -> "x", "w"', "return self.level -> return self", "a word -> two words"]
    for edit in edits:
        edited = SOURCE.replace(*edit.split(" -> "))
        assert code_digest(fit_of(SOURCE)) != code_digest(fit_of(edited)) != "", edit
    nothing = ["def fit -> # a word\n\ndef fit", "SCALE = 2.0 -> SCALE = 2.0; OTHER = 5"]
    for edit in (*nothing, "What helps. -> A tool."):
        edited = SOURCE.replace(*edit.split(" -> "))
        assert code_digest(fit_of(SOURCE)) == code_digest(fit_of(edited)), edit


def test_another_process_gets_the_same_digest():
    code = f"""
import numpy as np
from poise.algorithms.provenance import code_digest
scope = {{"__name__": "user_module"}}
exec({SOURCE!r}, scope)
print(code_digest(scope["fit"], (lambda a: lambda: a)(np.arange(3.0))))
"""
    said = {python(code, env={"PYTHONHASHSEED": seed}).stdout for seed in ("1", "2")}
    assert len(said) == 1
    assert len(said.pop()) == 17


@dataclass(slots=True)
class Slotted:
    by: float


class Pair(NamedTuple):
    first: float
    second: object


class Scaled:
    def __init__(self, by):
        self.by = by

    def method(self, a, b):
        return self.by + abs(a - b)


def scaled(a, b, by):
    return by * abs(a - b)


def enclosing(value):
    return lambda X, y, seed: lambda rows: value


def test_what_a_function_encloses():
    """Two values of each kind, and an equal copy of the first."""

    def kinds(v):
        yield from (v, [1, [v]], {"a": {"b": v}}, {("x", v), "y"}, np.arange(5.0) + v)
        yield from (pd.DataFrame({"a": [0.0, v]}), np.random.default_rng(int(v)), Ridge(alpha=v))
        yield from (make_pipeline(StandardScaler(), Ridge(alpha=v)), Pair(v, np.zeros(2)))
        yield from (Scaled(v), Slotted(v), functools.partial(scaled, by=v), Scaled(v).method)
        yield from (enclosing(v), functools.cache(enclosing(v)))

    for one, equal, other in zip(kinds(1.0), kinds(1.0), kinds(2.0), strict=True):
        first, again, second = (code_digest(enclosing(each)) for each in (one, equal, other))
        assert first == again != second, type(one)


def test_distances_and_losses_of_one_name():
    for wrap in (as_distance, loss_change):
        pair = wrap(lambda a, b: abs(a - b)), wrap(lambda a, b: 100 * abs(a - b))
        first, second = (code_digest(*each.user_code) for each in pair)
        assert "" != first != second != ""
    assert code_digest(*as_distance("label").user_code) == ""


def test_estimators_count_by_the_users_own_code_in_them():
    def digest(estimator):
        return code_digest(*as_algorithm(estimator).user_code)

    assert digest(Ridge(1.0)) == digest(make_pipeline(StandardScaler(), Ridge(2.0))) == ""
    inner = [make_pipeline(FunctionTransformer(f), Ridge()) for f in (lambda a: a, lambda a: -a)]
    searches = [GridSearchCV(each, {"ridge__alpha": [1.0]}) for each in inner]
    cached = [functools.cache(lambda X, y, seed, v=v: v) for v in (1.0, 2.0)]
    for first, second in (inner, searches, cached):
        assert "" != digest(first) != digest(second) != ""
    plain = digest(fit_of(MINE))
    assert plain == digest(fit_of(MINE.replace("'One.'", "'Two.'"))) != ""
    for edit in ("return self -> return None", "= 2 -> = 3", "0.5 -> 0.25", "7 -> 8", "1\n -> 2\n"):
        assert plain != digest(fit_of(MINE.replace(*edit.split(" -> ")))), edit


def test_a_module_of_ones_own():
    def digest(body):
        tools = types.ModuleType("tools_of_mine")
        exec(body, vars(tools))
        return code_digest(fit_of("def fit(X, y, seed): return tools.predict", tools=tools))

    first = digest("def predict(rows): return 1\ndef other(): return 1")
    assert first == digest("def predict(rows): return 1\ndef other(): return 2")
    assert first != digest("def predict(rows): return 2\ndef other(): return 1")


class Refuses:
    def __getattr__(self, name):
        raise ZeroDivisionError(name)


class Holder:
    part = Refuses()

    def __init__(self):
        self.me = [self]


def test_objects_that_are_hard_to_look_at():
    assert len(code_digest(Holder(), Refuses())) == 16
    assert "numpy" in versions(Holder(), Refuses())


def test_versions_are_those_of_what_the_algorithm_is_made_of():
    assert "pandas" in versions(pd.DataFrame())
    found = versions(*as_algorithm(Ridge()).user_code)
    own = ["blas", "machine", "numpy", "poise", "python", "scikit-learn", "scipy"]
    assert sorted(found) == own
