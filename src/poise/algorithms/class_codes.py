"""Class labels as codes 0, 1, 2, …, for algorithms in JAX or PyTorch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise import arguments
from poise.errors import ArgumentError, DataError

__all__ = ["Labels"]


class Labels:
    """The classes that may occur, known before the first fit.

    They cannot be taken from the training rows: if a class is missing in one fit of a
    pair, its predictions would have another shape.

    Parameters
    ----------
    classes : int or sequence
        The labels themselves, at least two and all different; or their number
        K, for the labels 0 to K − 1.
    response : {"predict_proba", "predict"}
        Whether a prediction is one probability per class, or a label.

    Examples
    --------
    >>> colours = Labels(["red", "green", "blue"], "predict")
    >>> colours.encode(np.array([["red", "blue"], ["green", "pink"]])).tolist()
    [[2, 0], [1, -1]]
    >>> colours.predictions(np.array([2, 0])).tolist()
    ['red', 'blue']
    """

    def __init__(self, classes: int | Sequence[Any], response: str = "predict_proba") -> None:
        self.classes = _sorted_classes(classes)
        self.response = arguments.choice("response", response, ("predict_proba", "predict"))

    def __len__(self) -> int:
        return len(self.classes)

    def encode(self, y: NDArray[Any]) -> NDArray[np.int32]:
        """Return the position of each label among the sorted classes, or −1."""
        try:
            found = np.searchsorted(self.classes, y).clip(max=len(self) - 1)
        except TypeError:  # labels of mixed types
            return np.full(np.shape(y), -1, dtype=np.int32)
        return np.where(self.classes[found] == y, found, -1).astype(np.int32)

    def predictions(self, outputs: NDArray[Any]) -> NDArray[Any]:
        """Return the labels at these positions, or the probabilities as they are."""
        return np.asarray(self.classes[outputs] if self.response == "predict" else outputs)

    def encode_all(self, y: NDArray[Any]) -> NDArray[np.int32]:
        """Encode labels, all of which must be known."""
        codes = self.encode(y)
        if (codes < 0).any():
            row = int(np.argmax(codes < 0))
            raise DataError(
                f"y must hold the classes {self.classes.tolist()} only, got {y[row]!s} in row "
                f"{row}; name all classes in the parameter classes, or leave it out"
            )
        return codes


def _sorted_classes(classes: int | Sequence[Any]) -> NDArray[Any]:
    if isinstance(classes, str) or np.ndim(classes) > 1:
        raise ArgumentError(f"classes must be a number or a sequence of labels, got {classes!r}")
    if np.ndim(classes) == 0:
        return np.arange(int(arguments.count("classes", classes, minimum=2)))
    known = np.unique(np.asarray(classes))
    if len(known) < 2 or len(known) != len(np.asarray(classes)):
        raise ArgumentError(f"classes must be two or more different labels, got {classes!r}")
    return known
