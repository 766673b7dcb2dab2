"""Two fitted models: how often the new one predicts something else than the old one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Unpack

import numpy as np

from poise.algorithms.algorithm import Algorithm, Predict, blaming_user_code, name_of
from poise.data.rows import as_rows
from poise.data.sample import Sample
from poise.errors import AlgorithmError
from poise.questions.deployed import GivenJob, fresh_rows
from poise.results.result import Result
from poise.settings import Everything, checked, documented, settings_of

_OF_TWO_MODELS = (
    *("epsilon", "delta", "alpha", "groups_fresh", "response", "distance", "test", "randomized"),
    *("max_trials", "shuffle", "on_error", "check", "progress", "name", "random_state"),
)


@documented(Everything, leave=settings_of(Everything).keys() - set(_OF_TWO_MODELS))
def changed(
    old: Any, new: Any, X_fresh: Any, y_fresh: Any = None, **asked: Unpack[Everything]
) -> Result:
    """Test whether replacing one fitted model by another changes predictions by more than epsilon.

    Each fresh row is a trial. "stable" says that the two predictions for a new row differ by more
    than ε with probability at most δ, and

        P(the verdict is wrong) ≤ α

    for any two models (Theorem 1), if the fresh rows are independent, come from one distribution
    and trained, tuned or chose neither model. Nothing is fitted. It does not say which model is
    more accurate.

    Parameters
    ----------
    old, new : fitted models or functions
        Objects with a method ``predict``, or functions from rows to predictions.
    X_fresh : array, sparse matrix, data frame or list
        Fresh rows.
    y_fresh : array or str, optional
        Their responses, or the name of their column in X_fresh: needed where losses are compared.
    {settings}

    Returns
    -------
    Result

    See Also
    --------
    deployed_test : The same before it happens: what would removing or adding rows change?

    Examples
    --------
    >>> import poise
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> X, y = load_diabetes(return_X_y=True)
    >>> old, new = Ridge().fit(X[:300], y[:300]), Ridge().fit(X[:350], y[:350])
    >>> result = poise.changed(old, new, X[350:], epsilon=20, delta=0.1)
    >>> result.verdict, result.n_trials
    ('stable', 92)
    """
    job, question = two_models("changed", (old, new), X_fresh, y_fresh, asked).asked()
    return job.run(question).judge(question)


def two_models(
    function: str, models: tuple[Any, Any], X_fresh: Any, y_fresh: Any, asked: Mapping[str, Any]
) -> GivenJob:
    """Check everything but the question; the sample has no row that is trained on."""
    settings = checked(function, asked, Everything)
    pair = TwoModels(*models, settings["response"])
    sample = _only_points(X_fresh, y_fresh, settings["groups_fresh"])
    return GivenJob.on(pair, sample, settings, "changed")


def _only_points(X_fresh: Any, y_fresh: Any, groups_fresh: Any) -> Sample:
    """Take fresh rows as points; without responses any will do, as they are not kept."""
    y = np.zeros(len(as_rows(X_fresh, "X_fresh"))) if y_fresh is None else y_fresh
    fresh = fresh_rows(X_fresh, y, groups_fresh)
    none = fresh.only(np.arange(0))
    known = none.y if y_fresh is None else fresh.y
    more = replace(none, groups=None, groups_unlabeled=fresh.groups)
    return replace(more, y=known, X_unlabeled=fresh.X)


class TwoModels(Algorithm):
    """Fits nothing: the fit with ξ = 0 is the old model, and that with ξ = 1 the new one."""

    has_own_code = False  # no fit could remember an earlier one

    def __init__(self, old: Any, new: Any, response: str = "predict") -> None:
        self.models, self.response, self.user_code = (old, new), response, (old, new)
        described = [_described(model, response) for model in self.models]
        self.name = " → ".join(name for name, _ in described)
        natural = {kind for _, kind in described}
        if len(natural) > 1:
            raise AlgorithmError(f"{self.name}: one predicts labels, the other does not")
        self.natural_distance = natural.pop()

    def fit(self, X: Any, y: Any, xi: int, **fit_params: Any) -> Predict:
        """Return what the model predicts; class probabilities in the same columns for both."""
        model = self.models[xi]
        predict: Callable[[Any], Any] = getattr(model, self.response, model)
        classes = [getattr(each, "classes_", None) for each in self.models]
        if self.response == "predict" or any(each is None for each in classes):
            return predict
        from poise.algorithms.estimator import Aligned

        several = isinstance(classes[0], list)
        outputs = zip(*classes, strict=True) if several else [classes]
        return Aligned(model, self.response, tuple(np.union1d(*each) for each in outputs))


def _described(model: Any, response: str) -> tuple[str, str]:
    """Return a model's name and the distance that suits its predictions; refuse unfitted ones."""
    with blaming_user_code(f"{type(model).__name__} cannot be described"):
        if hasattr(model, "fit") and hasattr(model, "get_params"):
            from sklearn.utils.validation import check_is_fitted

            from poise.algorithms.estimator import Estimator

            check_is_fitted(model)
            known = Estimator(model, response)
            return known.name, known.natural_distance
        if hasattr(model, response):
            return type(model).__name__, "euclidean"
        if not callable(model) or response != "predict" or isinstance(model, type):
            rule = f"must be a fitted model with {response}, or a function from rows to predictions"
            raise AlgorithmError(rule, argument="old and new", got=model)
        return name_of(model), "euclidean"
