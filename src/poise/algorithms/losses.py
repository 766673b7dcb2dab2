"""Changes of a loss at a labelled row, instead of changes of a prediction."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from poise import checks
from poise.algorithms.distances import Distance, absolute, errors, one_by_one, own_name, zero_one
from poise.algorithms.predictions import Array, Floats, Undefined, are_probabilities, shown


def loss_change(
    loss: str | Callable[[Any, Any], float], classes: Sequence[object] | None = None
) -> Distance:
    r"""Compare losses at fresh labelled rows instead of predictions.

    The change is :math:`|\ell(Y, \hat\mu_n(X)) - \ell(Y, \hat\mu_{n-1}(X))|`, and every test of
    poise holds for it as for a change of predictions. Unlabelled rows cannot serve.

    A stable loss is not a small one, and says nothing about predictions: two models may differ
    everywhere and be equally wrong. Nor is it hypothesis stability, which limits the mean change of
    a loss: see :meth:`poise.Trials.mean_limit`.

    Parameters
    ----------
    loss : {"squared", "absolute", "zero_one", "log"} or callable
        A function of your own takes one response and one prediction, and returns a number. With
        ``response="predict_proba"`` a prediction is one probability per class, the classes in
        ascending order.
    classes : sequence, optional
        The classes in the order of the probabilities, for the log loss; by default the distinct
        values of y in ascending order.

    Examples
    --------
    >>> change = loss_change("squared")
    >>> change([1.0], [2.5], y=[3.0])  # |4 - 0.25|
    array([3.75])
    """
    if callable(loss):
        name, each = own_name(loss, LOSSES), partial(one_by_one, "loss", loss, -math.inf)
    else:
        name = checks.choice("loss", loss, LOSSES)
        each = partial(LOSSES[name])
    known: dict[str, Any] = {}
    if name == "log" and classes is not None:
        known["classes"] = list(classes)
    return Distance(
        f"change of {name} loss",
        partial(_change_of_loss, each, **known),
        1.0 if name == "zero_one" else math.inf,
        needs_response=True,
        needs_classes=name == "log" and not known,
        user_code=(loss,) if callable(loss) else (),
    )


def _change_of_loss(
    loss: Callable[..., Any], full: Array, reduced: Array, y: Array, **known: Any
) -> Floats:
    return absolute(loss(y, full, **known), loss(y, reduced, **known))


def _squared(y: Array, prediction: Array) -> Floats:
    return np.asarray((errors(y, prediction) ** 2).sum(axis=1))


def _absolute(y: Array, prediction: Array) -> Floats:
    return np.asarray(errors(y, prediction).sum(axis=1))


def _log(y: Array, prediction: Array, classes: list[object] | None = None) -> Floats:
    """Return −log of the probability of the true class; one column is that of the second."""
    if not are_probabilities(prediction):
        remedy = "ask for them with response='predict_proba'"
        raise Undefined(f"the log loss needs probabilities, got {shown(prediction[0])}; {remedy}")
    chances = prediction.astype(np.float64).reshape(len(y), -1)
    if chances.shape[1] == 1:
        chances = np.column_stack([1 - chances, chances])
    known = list(range(chances.shape[1])) if classes is None else classes
    try:
        place = [known.index(each) for each in y.tolist()]
    except ValueError:
        place = []
    if chances.shape[1] != len(known) or len(place) < len(y):
        got = f"{chances.shape[1]} probabilities and response {shown(y[0])}"
        raise Undefined(f"{got} do not fit the classes {known}")
    with np.errstate(divide="ignore"):
        return np.asarray(-np.log(np.maximum(chances[np.arange(len(y)), place], 0.0)))


LOSSES: dict[str, Callable[..., Floats]] = {
    each.__name__.strip("_"): each for each in (_squared, _absolute, zero_one, _log)
}
