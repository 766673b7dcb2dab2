"""Which method of a fitted estimator is called; its columns are aligned.

Two fits of one trial may have different classes: the removed row may be the only row of
a rare class. So columns are put in the order of all classes that occur in the data
before they are compared.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise import arguments
from poise.algorithms.distance import CLUSTER_NUMBERS, Undefined
from poise.errors import AlgorithmError

__all__ = [
    "RESPONSES",
    "AlignedResponse",
    "can_answer",
    "detects_outliers",
    "natural_distance",
    "numbers_clusters",
    "predicts_numbers",
    "require_response",
]

RESPONSES = ("predict", "predict_proba", "decision_function")

Classes = tuple[NDArray[Any], ...]
"""All classes of each output, in ascending order."""

_NOTHING = 1e-5  # boosters keep probabilities away from zero: LightGBM 1e-15, XGBoost 1e-6


def require_response(estimator: Any, response: str) -> None:
    """Refuse an estimator that cannot be fitted, or that lacks this method.

    Examples
    --------
    >>> from sklearn.svm import LinearSVC
    >>> require_response(LinearSVC(), "predict_proba")
    Traceback (most recent call last):
    poise.errors.AlgorithmError: algorithm must have a method predict_proba(X), got LinearSVC, ...
    """
    kind = type(estimator).__name__
    arguments.choice("response", response, RESPONSES)
    if not callable(getattr(estimator, "fit", None)):
        raise AlgorithmError(f"algorithm must have a method fit(X, y), got {kind}")
    if can_answer(estimator, response):
        return
    others = [repr(name) for name in RESPONSES if can_answer(estimator, name)]
    remedy = "wrap it in a pipeline that ends in a regressor or classifier"
    if others:
        remedy = f"it can be asked with response={' or '.join(others)}"
    raise AlgorithmError(
        f"algorithm must have a method {response}(X), got {kind}, which has none; {remedy}"
    )


def can_answer(estimator: Any, response: str) -> bool:
    """Tell whether an estimator will have this method once it is fitted.

    A stack without an explicit final estimator has its methods only then; before, its
    class tells.

    Examples
    --------
    >>> from sklearn.ensemble import StackingClassifier
    >>> from sklearn.naive_bayes import GaussianNB
    >>> can_answer(StackingClassifier([("naive", GaussianNB())]), "predict_proba")
    True
    """
    if hasattr(estimator, response):
        return True
    parameters = estimator.get_params(deep=True) if hasattr(estimator, "get_params") else {}
    unsettled = any(
        value is None and name.endswith("final_estimator") for name, value in parameters.items()
    )
    return unsettled and hasattr(type(estimator), response)


def natural_distance(estimator: Any, response: str) -> str:
    """Return the default distance between two predictions.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression, Ridge
    >>> natural_distance(Ridge(), "predict")
    'euclidean'
    >>> [natural_distance(LogisticRegression(), name) for name in RESPONSES]
    ['label', 'total_variation', 'euclidean']
    """
    if numbers_clusters(estimator):
        return CLUSTER_NUMBERS
    if response == "predict":
        return "label" if _predicts_labels(estimator) else "euclidean"
    return "total_variation" if response == "predict_proba" else "euclidean"


def _predicts_labels(estimator: Any) -> bool:
    from sklearn.base import is_classifier

    return _is(is_classifier, estimator) or detects_outliers(estimator)


def detects_outliers(estimator: Any) -> bool:
    """Tell whether an estimator is an outlier detector, which needs no responses.

    Examples
    --------
    >>> from sklearn.ensemble import IsolationForest
    >>> detects_outliers(IsolationForest()), detects_outliers(None)
    (True, False)
    """
    from sklearn.base import is_outlier_detector

    return _is(is_outlier_detector, estimator)


def numbers_clusters(estimator: Any) -> bool:
    """Tell whether an estimator numbers its clusters: another fit may number them otherwise.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.mixture import GaussianMixture
    >>> numbers_clusters(KMeans()), numbers_clusters(GaussianMixture(2))
    (True, True)
    """
    from sklearn.base import is_clusterer

    return _is(is_clusterer, estimator) or _is(_estimates_a_density, estimator)


def _estimates_a_density(estimator: Any) -> bool:
    """Tell whether an estimator is a mixture, whose components are numbered like clusters."""
    from sklearn.utils import get_tags

    return bool(get_tags(estimator).estimator_type == "density_estimator")


def predicts_numbers(estimator: Any) -> bool:
    """Tell whether an estimator is a regressor by its own tags.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> predicts_numbers(Ridge()), predicts_numbers(object())
    (True, False)
    """
    from sklearn.base import is_regressor

    return _is(is_regressor, estimator)


def _is(kind: Callable[[Any], bool], estimator: Any) -> bool:
    try:
        return bool(kind(estimator))
    except (AttributeError, TypeError):  # without scikit-learn's tags
        return False


class AlignedResponse:
    """A fitted model whose columns mean the same in every fit.

    ``predict_proba``: a class that this fit did not see has probability zero.
    LightGBM and XGBoost answer a fit that saw one class with two columns: the
    first is that of the class, and the other, which holds nothing, is left out.
    Several outputs stand side by side; where a model gives one probability per
    output (that of label 1), it becomes those of label 0 and label 1.

    ``decision_function``: a class that this fit did not see has score −∞, and
    the single score of two classes is that of the second, against 0 for the
    first. Scores of a fit that saw all classes are left as they are.

    Parameters
    ----------
    model : object
        The fitted estimator.
    response : {"predict_proba", "decision_function"}
        What it is asked.
    classes : tuple of arrays
        All classes of each output, in ascending order.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> model = GaussianNB().fit([[0.0], [1.0]], ["a", "c"])
    >>> ask = AlignedResponse(model, "predict_proba", (np.array(["a", "b", "c"]),))
    >>> ask([[0.5]]).round(6).tolist()
    [[0.5, 0.0, 0.5]]
    """

    def __init__(self, model: Any, response: str, classes: Classes) -> None:
        self.model = model
        self.response = response
        self.classes = classes

    def __call__(self, rows: object) -> NDArray[Any]:
        """Return one row of numbers per row asked about."""
        answer = getattr(self.model, self.response)(rows)
        if self.response == "predict_proba":
            return self._probabilities(answer)
        return self._scores(np.asarray(answer))

    def _probabilities(self, answer: object) -> NDArray[Any]:
        seen = getattr(self.model, "classes_", None)
        if isinstance(answer, list):
            columns = [
                _spread(np.asarray(part), _output(seen, j), known, 0.0)
                for j, (part, known) in enumerate(zip(answer, self.classes, strict=True))
            ]
            return np.concatenate(columns, axis=1)
        array = np.asarray(answer)
        if len(self.classes) == 1:
            return _spread(array, seen, self.classes[0], 0.0)
        return np.stack([1 - array, array], axis=2).reshape(len(array), -1)

    def _scores(self, array: NDArray[Any]) -> NDArray[Any]:
        seen = getattr(self.model, "classes_", None)
        if len(self.classes) > 1 or _sees(seen, self.classes[0]):
            return array
        if array.ndim == 1:
            array = np.stack([np.zeros_like(array), array], axis=1)
        return _spread(array, seen, self.classes[0], -np.inf)


def _output(seen: Any, index: int) -> Any:
    return None if seen is None else seen[index]


def _sees(seen: Any, known: NDArray[Any]) -> bool:
    """Tell whether a fit had every class; if it does not say, it is assumed."""
    return seen is None or (len(seen) == len(known) and bool(np.all(np.asarray(seen) == known)))


def _spread(array: NDArray[Any], seen: object, known: NDArray[Any], absent: float) -> NDArray[Any]:
    """Put the columns of the fitted classes at their places among all classes."""
    if _sees(seen, known):
        return array
    labels = np.asarray(seen)
    place = np.searchsorted(known, labels).clip(max=len(known) - 1)
    columns = _without_empty_columns(array) if len(labels) == 1 else array
    if columns.ndim != 2 or columns.shape[1] != len(labels) or not np.all(known[place] == labels):
        raise Undefined(
            f"an array of shape {array.shape} cannot be matched with the classes "
            f"{labels.tolist()} that this fit saw, among {known.tolist()}; choose a larger n, so "
            "that every fit sees every class, or compare labels with response='predict'"
        )
    spread = np.full((len(array), len(known)), absent)
    spread[:, place] = columns
    return spread


def _without_empty_columns(array: NDArray[Any]) -> NDArray[Any]:
    """Leave the first column of a fit that saw one class, if the others hold nothing."""
    empty = array.ndim == 2 and array.shape[1] > 1 and bool(np.all(abs(array[:, 1:]) <= _NOTHING))
    return array[:, :1] if empty else array
