r"""Changes of a loss instead of a prediction: hypothesis stability.

Bousquet and Elisseeff call an algorithm stable if its *loss* at a fresh
labelled row changes little:
:math:`|\ell(\hat\mu_n; (X, Y)) - \ell(\hat\mu_{n-1}; (X, Y))|`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.algorithms.distance import Distance, absolute, as_distance, label, own_name
from poise.algorithms.numbers_of_any_type import Undefined, objection_to, shown
from poise.algorithms.prediction_arrays import Category
from poise.data.sample import Sample
from poise.errors import ArgumentError

__all__ = ["LOSSES", "LossChange", "as_change"]

_OF_A_LOSS = "loss:"  # before the name of a loss: the change of that loss is meant

Loss = Callable[[Any, Any], float]


def squared(y: Any, prediction: object) -> float:
    """Squared error, summed over responses.

    Examples
    --------
    >>> squared(np.array([1.0, 2.0]), np.array([0.0, 4.0]))
    5.0
    """
    return float(np.sum(_differences(y, prediction) ** 2))


def absolute_error(y: Any, prediction: object) -> float:
    """Absolute error, summed over responses.

    Examples
    --------
    >>> absolute_error(1.0, -2.0)
    3.0
    """
    return float(np.sum(np.abs(_differences(y, prediction))))


def zero_one(y: Any, prediction: object) -> float:
    """1 if the label predicted is wrong, else 0.

    Examples
    --------
    >>> zero_one("spam", "ham")
    1.0
    """
    truth, found = np.asarray(y).ravel(), np.asarray(prediction).ravel()
    if truth.shape != found.shape or _is_text(truth) != _is_text(found):
        raise Undefined(
            f"response {shown(y)} and prediction {shown(prediction)} are of different kinds: one "
            "could never be right"
        )
    return label(truth, found)


def _is_text(values: NDArray[Any]) -> bool:
    return values.dtype.kind in "UST" or any(isinstance(value, (str, bytes)) for value in values)


def log(y: Any, prediction: Any) -> float:
    """Return −log of the probability of the true class, whose number is ``y``.

    One probability is that of class 1; several are those of classes 0, 1, 2, …

    Examples
    --------
    >>> log(0, 0.75) == log(1, np.array([0.75, 0.25])) == math.log(4)
    True
    """
    chances = np.atleast_1d(prediction)
    plain = chances.dtype.kind in "biuf" and chances.ndim == 1
    if not plain or not np.all((chances >= -1e-9) & (chances <= 1 + 1e-9)):
        raise Undefined(
            f"the log loss needs probabilities, got {shown(prediction)}; ask for them with "
            "response='predict_proba'"
        )
    if len(chances) == 1:
        chances = np.array([1 - chances[0], chances[0]])
    if not int(y) < len(chances):
        raise Undefined(f"{len(chances)} probabilities for more classes: {shown(prediction)}")
    chance = float(chances[int(y)])
    return -math.log(chance) if chance > 0 else math.inf


LOSSES: dict[str, Loss] = {
    "squared": squared,
    "absolute": absolute_error,
    "zero_one": zero_one,
    "log": log,
}


@dataclass(frozen=True)
class LossChange:
    r"""The change of the loss at a fresh labelled row: hypothesis stability.

    :math:`\Delta = |\ell(\hat\mu_n; (X, Y)) - \ell(\hat\mu_{n-1}; (X, Y))|`.
    The Binomial test (Theorem 1) holds for this Δ as for any other. Since the
    loss needs the response of the test row, unlabelled rows cannot be used:
    :math:`\lfloor N_\ell / (n+1) \rfloor` trials.

    A stable loss is not a small one, and says nothing about predictions: two
    models may differ everywhere and be equally wrong.

    Parameters
    ----------
    loss : {"squared", "absolute", "zero_one", "log"} or callable
        ``loss(y, prediction)``, a number. With ``response="predict_proba"`` a
        prediction is one probability per class, the classes in ascending order.
    classes : sequence, optional
        The labels in the order of the probabilities, for the log loss; by
        default the distinct labels of y in ascending order.

    See Also
    --------
    stability_test, measure

    Examples
    --------
    >>> change = LossChange("squared")
    >>> change(3.0, 1.0, 2.5)  # |0.25 − 2.25|
    2.0
    >>> LossChange("hinge")
    Traceback (most recent call last):
    poise.errors.ArgumentError: loss must be 'squared', ..., got 'hinge'
    """

    loss: str | Loss
    classes: Sequence[Any] | None = None

    needs_response = True

    def __post_init__(self) -> None:
        if not callable(self.loss) and self.loss not in LOSSES:
            listed = ", ".join(repr(name) for name in LOSSES)
            raise ArgumentError(f"loss must be {listed} or a function, got {self.loss!r}")

    @property
    def __name__(self) -> str:
        name = own_name(self.loss, LOSSES) if callable(self.loss) else self.loss
        return f"change of {name} loss"

    def about(self, sample: Sample) -> LossChange:
        """Return the same with the classes set; refuse labels that the loss cannot use."""
        if self.loss != "log" or self.classes is not None:
            return self
        if len(sample.classes) != 1:
            raise ArgumentError(
                "the log loss is that of one response, "
                f"got {len(sample.classes)}; write a loss of your own"
            )
        return replace(self, classes=tuple(sample.classes[0].tolist()))

    def __call__(self, full: object, reduced: object, y: Any) -> float:
        """Return the difference of the two losses at a row whose response is ``y``."""
        if self.loss == "log":
            y = self._code(y)
        losses = (self._value(y, Category.plain(prediction)) for prediction in (full, reduced))
        return absolute(*losses)

    def _value(self, y: Any, prediction: object) -> float:
        loss = self.loss if callable(self.loss) else LOSSES[self.loss]
        value = loss(y, prediction)
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = math.nan
        if math.isnan(number):
            raise Undefined(
                f"the loss of {shown(prediction)} at y = {shown(y)} is {shown(value)}, which is "
                "not a number"
            )
        return number

    def _code(self, y: Any) -> int:
        label = y.item() if isinstance(y, np.generic) else y
        classes = (0, 1) if self.classes is None else self.classes
        if label not in classes:
            raise Undefined(f"y = {label!r} is not among the classes {list(classes)}")
        return list(classes).index(label)


def _differences(y: Any, prediction: object) -> NDArray[np.float64]:
    truth, found = _numbers(y), _numbers(prediction)
    if truth.shape != found.shape:
        raise Undefined(f"response {shown(y)} and prediction {shown(prediction)} differ in shape")
    return truth - found


def _numbers(values: object) -> NDArray[np.float64]:
    """Return numbers of any type as floats; text is refused, also text such as "1"."""
    array = np.asarray(values).ravel()
    if array.dtype.kind not in "biuf":
        reason = next(filter(None, map(objection_to, array)), None)
        if reason is not None or array.dtype.kind == "c":
            raise Undefined(f"this loss needs numbers, got {shown(values)}")
    return array.astype(np.float64)


def as_change(distance: str | Distance, natural: str = "euclidean") -> Distance:
    """Turn a name or a function into what compares two fits: a distance, or a change of loss.

    Examples
    --------
    >>> as_change("loss:squared")
    LossChange(loss='squared', classes=None)
    >>> as_change("absolute")(1.0, 4.0)
    3.0
    """
    if isinstance(distance, str) and distance.startswith(_OF_A_LOSS):
        return LossChange(distance.removeprefix(_OF_A_LOSS))
    return as_distance(distance, natural)
