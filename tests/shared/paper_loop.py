"""The paper's split as a loop written by hand: what measurements are compared with."""

from __future__ import annotations

import math

import numpy as np
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from poise.protocol.randomness import Randomness

GOLDEN = 0x9E3779B97F4A7C15


def loop(estimator, X, y, *, n, response="predict", seed=0, weights=None):
    """Yield ((classes, answer), (classes, answer)) per trial of the paper's split."""
    m = len(X) // (n + 1)
    words = Randomness(seed).block("xi", 0, m)[:, 0]
    names = sorted(p for p in estimator.get_params() if p.split("__")[-1] == "random_state")
    for k in range(m):
        pair = []
        for stop in (k * n + n, k * n + n - 1):
            model = clone(estimator)
            model.set_params(
                **{
                    name: ((int(words[k]) + i * GOLDEN) % 2**64) >> 33
                    for i, name in enumerate(names)
                }
            )
            rows = slice(k * n, stop)
            extra = {} if weights is None else {"sample_weight": weights[rows]}
            fitted = model.fit(_take(X, rows), _take(y, rows), **extra)
            answer = getattr(fitted, response)(_take(X, slice(m * n + k, m * n + k + 1)))
            pair.append((getattr(fitted, "classes_", None), answer))
        yield pair


def _take(table, rows):
    return table.iloc[rows] if hasattr(table, "iloc") else table[rows]


def number_change(pair) -> float:
    (_, a), (_, b) = pair
    return math.dist(np.ravel(a), np.ravel(b))


def label_change(pair) -> float:
    (_, a), (_, b) = pair
    return float(not np.array_equal(a, b))


def probability_change(pair) -> float:
    """Total variation, looking every class up by its name; the sum over several outputs."""
    (seen_a, a), (seen_b, b) = pair
    if not isinstance(a, list):
        seen_a, a, seen_b, b = [seen_a], [a], [seen_b], [b]
    total = 0.0
    for classes_a, p, classes_b, q in zip(seen_a, a, seen_b, b, strict=True):
        first = dict(zip(list(classes_a), p[0], strict=True))
        second = dict(zip(list(classes_b), q[0], strict=True))
        labels = set(first) | set(second)
        total += sum(abs(first.get(c, 0.0) - second.get(c, 0.0)) for c in labels) / 2
    return total


def chances_change(pair) -> float:
    """Total variation where an answer is the probability of label 1 for each output."""
    (_, a), (_, b) = pair
    return float(np.abs(a - b).sum())


KINDS = {
    "number": number_change,
    "label": label_change,
    "probability": probability_change,
    "one probability per output": chances_change,
}


def changes_by_hand(estimator, X, y, *, kind, **settings) -> list[float]:
    """Changes of the loop; workers of the suite share the cores, so each keeps to one thread."""
    with threadpool_limits(1):
        return [KINDS[kind](pair) for pair in loop(estimator, X, y, **settings)]
