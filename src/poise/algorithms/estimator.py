"""A scikit-learn-compatible estimator as an algorithm: copies, seeds, threads, responses."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from poise.algorithms.algorithm import (
    RESPONSES,
    Algorithm,
    Predict,
    blaming_user_code,
    fit_params_of,
    require_arguments,
    seed_from,
    without_addresses,
)
from poise.algorithms.distances import CLUSTER_NUMBERS
from poise.algorithms.predictions import Undefined
from poise.algorithms.provenance import holds_own_code
from poise.algorithms.refused import require_suitable, tags_of
from poise.data.copies import hashed
from poise.errors import AlgorithmError

if TYPE_CHECKING:
    from poise.data.sample import Sample

_SEEDS = ("random_state", "random_seed", "seed")
_THREADS = ("n_jobs", "nthread", "num_threads", "thread_count")
_PLAIN = (bool, int, float, complex, str, bytes, type(None))
# CatBoost lists only parameters that were set, and refuses two names for one.
_UNLISTED = {"catboost": {"random_seed": "random_state", "thread_count": "thread_count"}}
_GOLDEN, _WORD = 0x9E3779B97F4A7C15, 2**64  # derive the seeds of nested estimators from one ξ
_NOTHING = 1e-5  # boosters keep probabilities away from zero: LightGBM 1e-15, XGBoost 1e-6
Known = dict[str, dict[str, tuple[object, ...]]]  # classes of scikit-learn, and parameters
# Known to be the same fit in any order of the rows, for one ξ; exact types only. A forest is not:
# its trees draw positions. Nor are neighbours: ties are broken by position.
_ANY_ORDER: Known = {
    "Ridge": {"solver": ("auto", "cholesky", "svd"), "positive": (False,)},
    "LinearRegression": {"positive": (False,)},
    "KernelRidge": {},
    "GaussianNB": {},
    "DummyRegressor": {},
    "DummyClassifier": {"strategy": ("prior", "most_frequent")},
    "LinearDiscriminantAnalysis": {},
    "QuadraticDiscriminantAnalysis": {},
}
# NumPy takes 60 µs to make a generator of a seed, a third of a cheap fit. Known to draw nothing
# that matters, and known to make one generator a fit, so that one that is seeded anew will do:
_DRAWS_NOTHING: Known = {
    "Lasso": {"selection": ("cyclic",)},
    "ElasticNet": {"selection": ("cyclic",)},
    "LogisticRegression": {"solver": ("lbfgs", "newton-cg", "newton-cholesky")},
}
_DRAWS_FROM_ONE: Known = {
    "DecisionTreeRegressor": {},
    "DecisionTreeClassifier": {},
    "ExtraTreeRegressor": {},
    "ExtraTreeClassifier": {},
}


class Estimator(Algorithm):
    """Fits a fresh copy of an estimator each time; the user's object is never changed.

    Every parameter that holds a seed, at any depth, is set from ξ (unless nothing is drawn from
    it), and every number of threads to one: trials run side by side, not the inside of a fit.
    """

    def __init__(self, estimator: Any, response: str = "predict") -> None:
        _require_response(estimator, response)
        self.estimator, self.response = estimator, response
        self._asked = "" if response == "predict" else f".{response}"
        self.name = without_addresses(_in_words(estimator)) + self._asked
        self.natural_distance = natural_distance(estimator, response)
        self.is_classifier = _kind(estimator) == "classifier"
        self.user_code = (estimator,)
        parameters = estimator.get_params(deep=True) if hasattr(estimator, "get_params") else {}
        plain = _plain_parameters(estimator)
        seeds = [name for name, _, _ in _named(estimator, parameters, _SEEDS)]
        seeds = [] if _is_among(_DRAWS_NOTHING, estimator, plain) else seeds
        self._seeds = {name: i for i, name in enumerate(seeds)}
        one = _is_among(_DRAWS_FROM_ONE, estimator, plain)
        self._generator = np.random.RandomState(0) if one else None
        threads = _named(estimator, parameters, _THREADS)
        # some of scikit-learn's, which take one if they are not told, object to being told
        self._threads = {
            name: 1 for name, value, library in threads if (value, library) != (None, "sklearn")
        }
        self.has_own_code = plain is None and holds_own_code(estimator)
        self._plain = None if plain is None else plain | self._threads
        self.ignores_row_order = _is_among(_ANY_ORDER, estimator, plain)
        self._classes: tuple[NDArray[Any], ...] | None = None
        self._weighted = False

    @property
    def identity(self) -> str:
        """The estimator with every parameter written out, also where its repr leaves some out."""
        with blaming_user_code(f"{self.name} cannot be described"):
            return without_addresses(_in_full(self.estimator)) + self._asked

    def prepared(self, sample: Sample) -> Estimator:
        """Find the classes; refuse data that the estimator is certain to refuse."""
        with blaming_user_code(f"{self.name} cannot be copied or described by its tags"):
            require_suitable(self.estimator, sample)
            self._copy(0)
            require_arguments(self.estimator.fit, ("X", "y"), fit_params_of(sample))
        ready = self.on(sample)
        if self.response != "predict":
            ready.natural_distance = self.natural_distance  # scores are numbers, whatever y holds
        if self._generator is not None:
            ready._generator = np.random.RandomState(0)  # a run in another thread has its own
        ready._weighted = bool(fit_params_of(sample))
        if self.is_classifier or self.response != "predict":
            classes = tuple(map(np.unique, sample.y.columns()))
            ready._classes = None if self.response == "predict" else classes
            ready.n_classes = math.prod(map(len, classes)) if self.is_classifier else None
        return ready

    def fit(self, X: Any, y: Any, xi: int, **fit_params: Any) -> Predict:
        """Fit a fresh copy with every seed taken from ``xi``, on one thread."""
        estimator = self._copy(xi)
        model = estimator.fit(X, y, **fit_params)
        model = estimator if model is None else model  # a few libraries return nothing
        if self._classes is None:
            predict: Predict = getattr(model, self.response)
            return predict
        return Aligned(model, self.response, self._classes)

    def keeping_seeds(self) -> Estimator:
        """Return the algorithm with the whole numbers that the user has given as seeds."""
        kept = copy.copy(self)
        values = self.estimator.get_params(deep=True) if self._seeds else {}
        whole = (int, np.integer)
        kept._seeds = {n: i for n, i in self._seeds.items() if not isinstance(values.get(n), whole)}
        return kept

    def unchecked(self) -> AbstractContextManager[object]:
        """Skip scikit-learn's checks, for its own plain estimators only.

        Inside a composite a check may protect intermediate values, and weights may be bad in any
        trial.
        """
        if self._plain is None or self._weighted:
            return nullcontext()
        from sklearn import config_context

        relaxed = {"assume_finite": True, "skip_parameter_validation": True}
        return cast("AbstractContextManager[object]", config_context(**relaxed))

    def _copy(self, xi: int) -> Any:
        """Return an unfitted copy with seeds from ξ."""
        if self._plain is not None:  # saves most of what would be added to a cheap fit
            seed: Any = seed_from(xi)
            if self._generator is not None:
                self._generator.seed(seed)
                seed = self._generator
            return type(self.estimator)(**(self._plain | dict.fromkeys(self._seeds, seed)))
        fresh = _cloned(self.estimator)
        terms = {name: (int(xi) + i * _GOLDEN) % _WORD for name, i in self._seeds.items()}
        seeds = {name: seed_from(term) for name, term in terms.items()}
        return fresh.set_params(**seeds, **self._threads) if seeds or self._threads else fresh


# Parameters


def _named(
    estimator: Any, parameters: dict[str, Any], wanted: tuple[str, ...]
) -> Iterator[tuple[str, Any, str]]:
    """Yield (name, value, library of the owner) of parameters with these names, at any depth."""
    owners = {"": estimator} | {k: v for k, v in parameters.items() if hasattr(v, "get_params")}
    known = dict(parameters)
    for prefix, owner in owners.items():
        place = f"{prefix}__" if prefix else ""
        for name, other in _UNLISTED.get(_library(owner), {}).items():
            if place + other not in known:
                known.setdefault(place + name, None)
    for name in sorted(known):
        prefix, _, last = name.rpartition("__")
        if last in wanted:
            yield name, known[name], _library(owners.get(prefix))


def _library(value: object) -> str:
    return type(value).__module__.partition(".")[0]


def _plain_parameters(estimator: Any) -> dict[str, Any] | None:
    """Return constructor arguments if calling scikit-learn's class again is the same as cloning."""
    if _library(estimator) != "sklearn":
        return None
    parameters: dict[str, Any] = estimator.get_params(deep=False)
    return parameters if all(isinstance(value, _PLAIN) for value in parameters.values()) else None


def _is_among(known: Known, estimator: Any, plain: dict[str, Any] | None) -> bool:
    """Tell whether a plain estimator is a known one, with parameters for which that is known."""
    rules = None if plain is None else known.get(type(estimator).__name__)
    return rules is not None and all(getattr(estimator, k) in v for k, v in rules.items())


def _cloned(estimator: Any) -> Any:
    if not hasattr(estimator, "get_params"):
        return copy.deepcopy(estimator)
    from sklearn.base import clone

    try:
        return clone(estimator)
    except RuntimeError as error:  # a constructor that copies what it is given
        remedy = "make it in a function fit(X, y, seed) that returns the predict of the model"
        if any("cat_features" in name for name in estimator.get_params(deep=True)):
            remedy = f"give cat_features as a tuple instead of a list, or {remedy}"
        raise AlgorithmError(str(error), remedy=remedy) from error


def _in_words(estimator: Any) -> str:
    """Return the repr of an estimator or, if that says little, its class and parameters."""
    if _library(estimator) == "xgboost":  # its repr lists two dozen that nobody has set
        return _in_full(estimator, all_of_them=False)
    words: object = type(estimator).__repr__
    return _in_full(estimator) if words is object.__repr__ else repr(estimator)


def _in_full(estimator: Any, all_of_them: bool = True) -> str:
    """Write all parameters at any depth: scikit-learn leaves out the middle of long lists."""
    parameters = estimator.get_params(deep=True) if hasattr(estimator, "get_params") else {}
    shown = [f"{k}={_written(v)}" for k, v in parameters.items() if all_of_them or v is not None]
    return f"{type(estimator).__name__}({', '.join(shown)})"


def _written(value: Any) -> str:
    if hasattr(value, "get_params"):  # its parameters are listed, too
        return type(value).__name__
    if isinstance(value, _PLAIN) or callable(value):
        return repr(value)
    return hashed(value)


# Which method is asked, and what its answers mean


def _require_response(estimator: Any, response: str) -> None:
    if not _answers(estimator, response):
        rule = f"must have a method {response}(X)"
        remedy = next(({"response": n} for n in RESPONSES[::-1] if _answers(estimator, n)), "")
        wrap = "wrap it in a pipeline that ends in a regressor or classifier"
        raise AlgorithmError(rule, argument="algorithm", got=estimator, remedy=remedy or wrap)


def _answers(estimator: Any, response: str) -> bool:
    if hasattr(estimator, response):
        return True
    parameters = estimator.get_params(deep=True) if hasattr(estimator, "get_params") else {}
    unsettled = any(  # a stack without a final estimator has its methods only when fitted
        value is None and name.endswith("final_estimator") for name, value in parameters.items()
    )
    return unsettled and hasattr(type(estimator), response)


def natural_distance(estimator: Any, response: str) -> str:
    """Return the default distance between two predictions."""
    kind = _kind(estimator)
    if kind in ("clusterer", "density_estimator"):
        return CLUSTER_NUMBERS
    if response == "predict":
        return "label" if kind in ("classifier", "outlier_detector") else "euclidean"
    return "total_variation" if response == "predict_proba" else "euclidean"


def _kind(estimator: Any) -> str | None:
    """Return what the tags of an estimator say that it is."""
    tags = tags_of(estimator)
    return None if tags is None else tags.estimator_type


class Aligned:
    """A fitted model whose columns mean the same in every fit.

    Classes come from the whole data: the removed row may be the only one of its class. A class
    that a fit did not see has probability 0 or score −∞; the one score of two classes is that of
    the second, against 0. Several outputs stand side by side. Scores of a fit that saw all classes
    are left as they are.
    """

    def __init__(self, model: Any, response: str, classes: tuple[NDArray[Any], ...]) -> None:
        self.model, self.response, self.classes = model, response, classes

    def __call__(self, rows: Any) -> NDArray[Any]:
        """Predict, with a column for every class."""
        answer = getattr(self.model, self.response)(rows)
        seen, chances = getattr(self.model, "classes_", None), self.response == "predict_proba"
        if chances and isinstance(answer, list):  # an array for each output
            own = [None] * len(answer) if seen is None else seen
            each = zip(answer, own, self.classes, strict=True)
            parts = [_spread(np.asarray(part), mine, known, 0.0) for part, mine, known in each]
            return np.concatenate(parts, axis=1)
        array = np.asarray(answer)
        if len(self.classes) > 1:
            if chances:  # one for each output, that of label 1
                array = np.stack([1 - array, array], axis=2).reshape(len(array), -1)
            return array
        if array.ndim == 1 and not _sees(seen, self.classes[0]):
            array = np.stack([np.zeros_like(array), array], axis=1)
        return _spread(array, seen, self.classes[0], 0.0 if chances else -np.inf)


def _sees(seen: Any, known: NDArray[Any]) -> bool:
    return seen is None or (len(seen) == len(known) and bool(np.all(np.asarray(seen) == known)))


def _spread(array: NDArray[Any], seen: Any, known: NDArray[Any], absent: float) -> NDArray[Any]:
    """Put the columns of the classes of a fit at their places among all classes."""
    if _sees(seen, known):
        return array
    labels = np.asarray(seen)
    place = np.searchsorted(known, labels).clip(max=len(known) - 1)
    columns = array
    if len(labels) == 1 and bool(np.all(abs(array[:, 1:]) <= _NOTHING)):
        columns = array[:, :1]  # LightGBM and XGBoost answer two columns for one class
    if columns.shape[1:] != (len(labels),) or not np.all(known[place] == labels):
        saw = f"the classes {labels.tolist()} that this fit saw, among {known.tolist()}"
        remedy = "choose a larger n, so that every fit sees every class, or response='predict'"
        raise Undefined(f"shape {array.shape} cannot be matched with {saw}; {remedy}")
    spread = np.full((len(array), len(known)), absent)
    spread[:, place] = columns
    return spread
