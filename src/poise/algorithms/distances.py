"""How far apart two fits are: distances of the predictions at the points of a trial.

A distance takes the predictions of two fits at T points and returns T changes >= 0. A point where
a prediction is missing, or where neither fit gives a finite number, has no change (nan): that is a
failed trial and never a small change.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Container
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from poise import checks
from poise.algorithms.predictions import (
    Array,
    Floats,
    Undefined,
    are_probabilities,
    as_array,
    gaps,
    holes,
    is_number,
    require_labels,
    shown,
)
from poise.data.suitable import is_text
from poise.errors import AlgorithmError, ArgumentError

if TYPE_CHECKING:
    from poise.data.sample import Sample

LABELS_ONLY = "labels only"  # natural distances that are not offered by name
CLUSTER_NUMBERS = "cluster numbers"
OF_PROBABILITIES = ("total_variation", "change of log loss")


@dataclass(frozen=True)
class Distance:
    """What compares two fits at the points of a trial.

    Attributes
    ----------
    name : str
        For records and messages.
    compare : callable
        ``compare(full, reduced)``, two arrays of T predictions (and an array of T responses, if
        ``needs_response``), to T changes; of a panel to one share in [0, 1].
    largest : float
        No change is larger: an epsilon from here on would let every algorithm pass.
    panel, points : bool, int or None
        Whether all points of a trial are judged together, and how many these are.
    needs_classes : bool
        Whether :meth:`prepared` has to find the classes of the data.
    user_code : tuple
        Functions of the user's own.
    """

    name: str
    compare: Callable[..., Any]
    largest: float = math.inf
    needs_response: bool = False
    panel: bool = False
    points: int | None = None
    needs_classes: bool = False
    user_code: tuple[object, ...] = ()

    @property
    def compares(self) -> Literal["predictions", "losses", "decisions"]:
        """What changes are those of."""
        if self.panel:
            return "decisions"
        return "losses" if self.needs_response else "predictions"

    def __call__(self, full: Any, reduced: Any, y: Any = None) -> Floats:
        """Return the change at each point, nan where there is none; one share for a panel."""
        a, b = as_array(full), as_array(reduced)
        if a.shape != b.shape:
            raise Undefined(f"predictions of the two fits differ in shape: {a.shape}, {b.shape}")
        if self.points not in (None, len(a)):
            raise Undefined(f"{self.name} is about {self.points} points, got {len(a)}")
        arrays = (a, b, as_array(y)) if self.needs_response else (a, b)
        without = holes(a, b)
        if without is None:
            found = self.compare(*arrays)
            return np.array([found]) if self.panel else np.asarray(found, dtype=np.float64)
        changes = np.full(1 if self.panel else len(a), np.nan)
        if not self.panel and not without.all():
            changes[~without] = self.compare(*(each[~without] for each in arrays))
        return changes

    def prepared(self, sample: Sample) -> Distance:
        """Return the distance to use on these rows: the log loss has to know all classes."""
        if not self.needs_classes:
            return self
        classes = list(map(np.unique, sample.y.columns()))
        if len(classes) > 1:
            problem, remedy = f"is that of one response, and y has {len(classes)}", "write your own"
            raise ArgumentError(problem, argument="distance", got=self.name, remedy=remedy)
        return replace(self, compare=partial(self.compare, classes=classes[0].tolist()))


# Distances of predictions


def absolute(a: Array, b: Array) -> Floats:
    """Absolute difference of numbers."""
    found = gaps(a, b)
    if found.size != len(found):
        raise Undefined(f"predictions must be single numbers, got {shown(a[0])}")
    return found.reshape(len(found))


def euclidean(a: Array, b: Array) -> Floats:
    """Absolute difference of numbers, Euclidean norm of vectors."""
    found = gaps(a, b)
    if found.ndim == 1:
        return found
    return np.array([math.hypot(*row) for row in found.reshape(len(found), -1).tolist()])


def total_variation(a: Array, b: Array) -> Floats:
    """Half the sum of absolute differences of two rows of probabilities.

    For one response this is the largest change of the probability of any event. For several
    responses, side by side, it is the sum over them.
    """
    if a.ndim != 2 or not (are_probabilities(a) and are_probabilities(b)):
        got = f"{shown(a[0])} and {shown(b[0])}; response='predict_proba' asks for them"
        raise Undefined(f"total variation compares one probability per class, got {got}")
    return np.asarray(gaps(a, b).sum(axis=1) / 2)


def label(a: Array, b: Array) -> Floats:
    """0 where two labels agree and 1 where they do not; labels of several responses flip as one."""
    require_labels(a)
    require_labels(b)
    flips = np.asarray(a != b).reshape(len(a), -1)
    return np.array(flips.any(axis=1), dtype=np.float64)


def labels_only(a: Array, b: Array) -> Floats:
    """Compare labels where y holds text: numbers may be codes or probabilities there."""
    for array in (a, b):
        if is_number(array.flat[0]):
            problem = f"y holds labels and the algorithm returns numbers ({shown(array[0])})"
            remedy = "say distance='euclidean', or distance='label' if they stand for classes"
            raise Undefined(f"{problem}; {remedy}")
    return label(a, b)


# What a user may give

DISTANCES: dict[str, Callable[[Array, Array], Floats]] = {
    each.__name__: each for each in (absolute, euclidean, total_variation, label)
}


def as_distance(distance: object, natural: str = "euclidean", outputs: int = 1) -> Distance:
    """Turn a name, a text such as "top_k(50, of=500)" or a function into a distance.

    "auto" is the ``natural`` distance of the algorithm; total variations of several ``outputs``
    add up.
    """
    if isinstance(distance, str) and "(" in distance:
        distance = _called(distance)
    said = getattr(distance, "name", distance)
    if natural == "label" and said in OF_PROBABILITIES:
        problem = "compares probabilities, and the algorithm predicts labels"
        remedy = {"response": "predict_proba"}
        raise ArgumentError(problem, argument="distance", got=said, remedy=remedy)
    if natural == CLUSTER_NUMBERS and not _is_own(distance):
        problem = "numbers its clusters, in an order that means nothing"
        centres = "return cluster_centers_[predict(rows)] in a function fit(X, y, seed)"
        own = "or give a distance of your own that is invariant under renaming"
        raise AlgorithmError(problem, argument="algorithm", remedy=f"{centres}, {own}")
    if isinstance(distance, Distance):
        return distance
    if callable(distance):
        compare = partial(one_by_one, "distance", distance, 0.0)
        return Distance(own_name(distance, DISTANCES), compare, user_code=(distance,))
    name = natural if distance == "auto" else distance
    if name == LABELS_ONLY:
        return Distance("label", labels_only, 1.0)
    if not isinstance(name, str) or name not in DISTANCES:
        hint = checks.did_you_mean(str(name), DISTANCES)
        listed = ", ".join(map(repr, ("auto", *DISTANCES)))
        rule = f"must be {listed}, a decision such as 'top_k(50, of=500)', or a function{hint}"
        raise ArgumentError(rule, argument="distance", got=distance)
    return Distance(name, DISTANCES[name], _largest(name, natural, outputs))


def _largest(name: str, natural: str, outputs: int) -> float:
    """Return the largest possible change: probabilities are bounded."""
    if name == "label":
        return 1.0
    if name == "total_variation":
        return float(outputs)
    return math.sqrt(2 * outputs) if natural == "total_variation" else math.inf


def _called(text: str) -> Distance:
    """Read "top_k(50, of=500)" as a call with literal arguments; nothing is evaluated."""
    from poise.algorithms import decisions, losses

    makers = (decisions.flips, decisions.ranking, decisions.top_k, losses.loss_change)
    known: dict[str, Callable[..., Distance]] = {each.__name__: each for each in makers}
    try:
        call: Any = ast.parse(text.strip(), mode="eval").body
        values = [ast.literal_eval(each) for each in call.args]
        named = {str(each.arg): ast.literal_eval(each.value) for each in call.keywords}
        return known[call.func.id](*values, **named)
    except ArgumentError:
        raise
    except (SyntaxError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        examples = "'top_k(50, of=500)', 'flips(0.5, of=500)', 'ranking(of=500)'"
        problem = f"must be a call such as {examples} or \"loss_change('squared')\""
        raise ArgumentError(problem, argument="distance", got=text) from None


def _is_own(distance: object) -> bool:
    return bool(distance.user_code) if isinstance(distance, Distance) else callable(distance)


def own_name(function: Callable[..., Any], taken: Container[str] = ()) -> str:
    """Name a user's function, marked if poise has one of that name."""
    name = str(getattr(function, "__name__", type(function).__name__))
    return f"{name} (own)" if name in taken else name


def one_by_one(
    what: str, function: Callable[[Any, Any], float], least: float, a: Array, b: Array
) -> Floats:
    """Call a user's function for each pair; it must return numbers from ``least`` on."""
    values = np.array([float(function(p, q)) for p, q in zip(a, b, strict=True)])
    wrong = ~(values >= least)  # also nan
    if wrong.any():
        rule = "a number >= 0" if least == 0 else "a number"
        raise Undefined(f"your {what} must be {rule}, got {values[wrong][0]:g}")
    return values


# Errors of predictions


def error_of(predictions: Any, y: Any, labels: bool | None = None) -> float:
    """Return the mean absolute error, or the share of wrong labels; nan where it is not defined."""
    try:
        found, truth = as_array(predictions), as_array(y)
        wrong = zero_one if is_text(truth) or labels else errors
        losses = wrong(truth, found)
        return float(losses.sum() / losses.size) if losses.size else math.nan
    except (Undefined, TypeError, ValueError):  # probabilities beside labels, for instance
        return math.nan


def errors(y: Array, prediction: Array) -> Floats:
    """Return |y − prediction| of every response of every row."""
    if prediction.size != y.size:
        raise Undefined(f"responses of shape {y.shape} and predictions of {prediction.shape}")
    return gaps(prediction.reshape(y.shape), y).reshape(len(y), -1)


def zero_one(y: Array, prediction: Array) -> Floats:
    """Return 1 where a label is wrong."""
    if prediction.size != y.size or is_text(y) != is_text(prediction):
        both = f"response {shown(y[0])} and prediction {shown(prediction[0])}"
        raise Undefined(f"{both} are of different kinds: one could never be right")
    return label(prediction.reshape(y.shape), y)
