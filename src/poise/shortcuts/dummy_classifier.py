"""The shortcut for scikit-learn's DummyClassifier: the class with the most rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from poise.shortcuts.class_labels import Classes, encode, label_pairs
from poise.shortcuts.rounding_bounds import finite_trials
from poise.shortcuts.shortcut import Floats, Pairs, Tables

__all__ = ["DummyClassifierShortcut", "find_dummy_classifier"]


@dataclass(frozen=True)
class DummyClassifierShortcut:
    """Counts of the classes with and without a row; of equal counts the first class wins."""

    name: str = "counts of the classes"

    def pairs(self, X: Floats, y: NDArray[Any], x: Floats) -> Pairs:
        """See :meth:`poise.shortcuts.shortcut.Shortcut.pairs`."""
        classes = encode(y)
        full, reduced = _most_frequent(classes, 1)
        return label_pairs(classes, full, reduced[:, 0], finite_trials(y))

    def removes_all(self, n: int, d: int) -> bool:
        """See :meth:`poise.shortcuts.shortcut.TableShortcut.removes_all`."""
        return n > 1

    @property
    def seldom_needs_fits(self) -> bool:
        """See :attr:`poise.shortcuts.shortcut.TableShortcut.seldom_needs_fits`."""
        return False

    def tables(self, X: Floats, y: NDArray[Any], points: Floats, removals: int) -> Tables:
        """See :meth:`poise.shortcuts.shortcut.TableShortcut.tables`."""
        classes = encode(y)
        found = label_pairs(classes, *_most_frequent(classes, removals), finite_trials(y))
        # The model is a constant: it predicts the same at all points.
        full = np.repeat(found.full[:, None], points.shape[1], axis=1)
        reduced = np.repeat(found.reduced[..., None], points.shape[1], axis=2)
        return Tables(full, reduced, np.zeros(full.shape), found.trusted)

    def on_rounded_rows(self, roundings: Floats) -> Self:
        """See :meth:`poise.shortcuts.shortcut.PlainShortcut.on_rounded_rows`."""
        return self

    def workspace_bytes(self, n: int, d: int) -> int:
        """See :meth:`poise.shortcuts.shortcut.Shortcut.workspace_bytes`."""
        return 8 * 30 * n


def _most_frequent(classes: Classes, removals: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the first of the largest classes, with all rows and without each of the last."""
    sizes = np.count_nonzero(classes.member, axis=2)
    without = sizes[..., None] - classes.member[..., : -removals - 1 : -1]
    return sizes.argmax(axis=1), without.argmax(axis=1)


def find_dummy_classifier(estimator: Any) -> DummyClassifierShortcut | None:
    """Return the shortcut of a ``DummyClassifier`` that predicts the most frequent class."""
    from sklearn.dummy import DummyClassifier

    if type(estimator) is not DummyClassifier:
        return None
    counts = estimator.strategy in ("prior", "most_frequent")
    return DummyClassifierShortcut() if counts else None
