"""The algorithm that is tested: rows and a random term in, a prediction function out."""

from __future__ import annotations

import abc
import copy
import inspect
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, Self

from poise import checks
from poise.algorithms.distances import CLUSTER_NUMBERS, LABELS_ONLY, error_of
from poise.errors import AlgorithmError, PoiseError, in_one_line

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from poise.data.sample import Sample

Predict = Callable[[Any], Any]
RESPONSES = ("predict", "predict_proba", "decision_function")
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


class Algorithm(abc.ABC):
    r"""The algorithm to be tested: :math:`\mathcal{A}[\mathcal{D}; \xi]` as one method.

    Estimators and functions can be given to poise as they are. Subclass this for anything else.

    Attributes
    ----------
    name : str
        One line that tells a reader which algorithm, with which parameters.
    natural_distance : str
        What ``distance="auto"`` means for these predictions.
    is_classifier : bool
        Whether the responses are classes.
    ignores_row_order : bool
        Whether a fit is known to be the same in any order of the rows, for one random term.
    user_code : tuple
        Objects whose code decides what is computed; see :mod:`poise.algorithms.provenance`.
    has_own_code : bool
        Whether any part is code from outside scikit-learn: it might remember earlier fits.
    n_outputs : int
        Responses of a row; known once prepared.
    n_classes : int or None
        Different responses of a classifier; known once prepared.
    at_once : int or None
        Data sets that :meth:`many` takes; None if there is no such method.
    device : str
        The accelerator that fits are computed on; then they stay in this process.

    Examples
    --------
    >>> class Mean(Algorithm):
    ...     name = "mean of the responses"
    ...     def fit(self, X, y, xi):
    ...         level = sum(y) / len(y)
    ...         return lambda rows: [level] * len(rows)
    >>> Mean().fit([[0], [1]], [1.0, 3.0], xi=7)([[5]])
    [2.0]
    """

    name: str
    natural_distance: str = "euclidean"
    is_classifier: bool = False
    ignores_row_order: bool = False
    user_code: tuple[object, ...] = ()
    has_own_code: bool = True
    n_outputs: int = 1
    n_classes: int | None = None
    at_once: int | None = None
    device: str = ""

    @property
    def identity(self) -> str:
        """What a record compares: the name with every parameter written out."""
        return self.name

    @abc.abstractmethod
    def fit(self, X: Any, y: Any, xi: int, **fit_params: Any) -> Predict:
        """Train on the rows with the random term ``xi`` (64 bits) and return the predictor.

        The same rows and the same ``xi`` must give the same predictions. The rows are copies: a
        fit may change them.
        """

    def many(self, X: Any, y: Any, points: Any, xi: NDArray[np.uint64]) -> Any:
        """Train ``at_once`` data sets of one shape and predict at the points of each.

        An algorithm that has ``at_once`` is asked in this way alone. A stack is always full:
        where there are too few data sets, one of them is repeated. Predictions may depend on the
        place of a data set in the stack, but not on the other data sets, nor on the other points.

        Parameters
        ----------
        X, y, points : array
            Of shapes (at_once, n, d), (at_once, n) and (at_once, T, d).
        xi : array of uint64
            One random term for each.

        Returns
        -------
        array of shape (at_once, T) or (at_once, T, outputs)
        """
        raise AlgorithmError(f"{self.name} has at_once, but no method many")

    def prepared(self, sample: Sample) -> Algorithm:
        """Return the algorithm to run on these rows, or refuse them before the first fit.

        Called once a run. Nothing that is learnt here may alter a prediction.
        """
        require_arguments(self.fit, ("X", "y", "xi"), fit_params_of(sample))
        return self.on(sample)

    def keeping_seeds(self) -> Algorithm:
        """Return the algorithm with the seeds that the user has set: ξ is for the others."""
        return self

    def with_limit(self, seconds: float) -> Algorithm | None:
        """Return the algorithm that keeps the time limit of a fit itself.

        None if it cannot: then a late fit ends its process.
        """
        return None

    def unchecked(self) -> AbstractContextManager[object]:
        """Context of the trials after a first one that passed with every check switched on."""
        return nullcontext()

    def error(self, predictions: Any, y: Any) -> float:
        """Return the mean absolute error, or the share of wrong labels; nan if neither is known."""
        labels = self.natural_distance in ("label", LABELS_ONLY)
        if self.natural_distance == CLUSTER_NUMBERS or (self.is_classifier and not labels):
            return math.nan
        return error_of(predictions, y, labels)

    def on(self, sample: Sample) -> Self:
        """Return a copy that knows the responses: how many a row has, and whether they are labels.

        Text cannot be subtracted, and which distance is used has to be known before the first fit.
        """
        from poise.data.suitable import holds_labels

        ready = copy.copy(self)
        ready.n_outputs = sample.n_responses
        numbers = self.natural_distance == "euclidean" and not self.is_classifier
        if numbers and holds_labels(sample.y):
            ready.natural_distance = LABELS_ONLY
        return ready


class Function(Algorithm):
    """A function ``fit(X, y, seed) -> predict``."""

    def __init__(self, function: Callable[..., Predict], name: str = "") -> None:
        require_arguments(function, ("X", "y", "seed"))
        self.function, self.user_code = function, (function,)
        self.name = name or name_of(function)

    def prepared(self, sample: Sample) -> Algorithm:
        """Refuse ``fit_params`` that the function does not take."""
        require_arguments(self.function, ("X", "y", "seed"), fit_params_of(sample))
        return self.on(sample)

    def fit(self, X: Any, y: Any, xi: int, **fit_params: Any) -> Predict:
        """Call the function, which must return a function."""
        predict = self.function(X, y, seed_from(xi), **fit_params)
        if not callable(predict):
            raise TypeError(
                f"{self.name}(X, y, seed) must return a function from rows to predictions, got "
                f"{type(predict).__name__}"
            )
        return predict


def as_algorithm(candidate: object, response: str = "predict") -> Algorithm:
    """Turn an estimator or a function into an algorithm, or say what is wrong with it.

    Parameters
    ----------
    candidate : estimator, function or Algorithm
        A scikit-learn-compatible estimator, a function ``fit(X, y, seed)`` that returns a
        prediction function, or an :class:`Algorithm`, which is returned as it is.
    response : {"predict", "predict_proba", "decision_function"}
        The method of a fitted estimator whose output is compared.
    """
    checks.choice("response", response, RESPONSES)
    with blaming_user_code(f"{type(candidate).__name__} cannot be described"):
        if isinstance(candidate, type):
            rule, remedy = "must be an instance, not a class", f"write {candidate.__name__}()"
            raise AlgorithmError(rule, argument="algorithm", got=candidate, remedy=remedy)
        if hasattr(candidate, "fit") and not isinstance(candidate, Algorithm):
            from poise.algorithms.estimator import Estimator

            return Estimator(candidate, response)
        if not (isinstance(candidate, Algorithm) or callable(candidate)):
            rule = "must be an estimator with fit and predict, or a function fit(X, y, seed) that "
            rule += "returns a prediction function"
            river = "wrap a model of river: river.compat.convert_river_to_sklearn(model)"
            remedy = river if hasattr(candidate, "learn_one") else ""
            raise AlgorithmError(rule, argument="algorithm", got=candidate, remedy=remedy)
        algorithm = candidate if isinstance(candidate, Algorithm) else Function(candidate)
        if response != "predict" and getattr(algorithm, "response", None) != response:
            problem = f"is for estimators; {algorithm.name} returns what it returns"
            raise AlgorithmError(problem, argument="response", got=response)
        return algorithm


def seed_from(xi: int) -> int:
    """Return 31 bits of ξ: a seed that every library accepts."""
    return int(xi) >> 33


def fit_params_of(sample: Sample) -> list[str]:
    """Name the further arguments of fit."""
    return [*sample.per_row, *sample.constant]


def require_arguments(
    function: Callable[..., Any], fixed: Iterable[str], names: Iterable[str] = ()
) -> None:
    """Refuse a function that cannot be called with these arguments by position and by name."""
    try:
        signature = inspect.signature(function)
        signature.bind(*fixed, **dict.fromkeys(names))
    except ValueError:  # a built-in without a signature: the first call shows
        return
    except TypeError as error:
        wanted = ", ".join((*fixed, *names))
        label = getattr(function, "__qualname__", name_of(function))
        raise AlgorithmError(f"{label}{signature} must accept ({wanted}): {error}") from None


def name_of(function: object) -> str:
    """Name a function or a callable object in one line."""
    name = str(getattr(function, "__name__", "")).replace("<lambda>", "a lambda")
    return name or without_addresses(repr(function))


def without_addresses(text: str) -> str:
    """Write text in one line, without memory addresses, which differ in every process."""
    return _ADDRESS.sub("", " ".join(text.split()))


@contextmanager
def blaming_user_code(what: str, remedy: str | Mapping[str, object] = "") -> Iterator[None]:
    """Turn whatever user code raises in a constructor, repr or tag into one line about it.

    A ``SystemExit(0)`` would otherwise end the program with the status of "stable".
    """
    try:
        yield
    except (PoiseError, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise AlgorithmError(f"{what}: {in_one_line(error)}", remedy=remedy) from error
