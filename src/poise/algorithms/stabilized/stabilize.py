"""``poise.stabilize``: from any estimator to one that is stable by theorem."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poise.errors import ArgumentError
from poise.protocol.randomness import RandomStateLike

if TYPE_CHECKING:
    from poise.algorithms.stabilized.classifier import StabilizedClassifier
    from poise.algorithms.stabilized.regressor import StabilizedRegressor

__all__ = ["stabilize"]


def stabilize(
    estimator: Any,
    *,
    n: int,
    epsilon: float,
    delta: float,
    bounds: tuple[float, float] | None = None,
    classes: object = None,
    bag_size: int | None = None,
    n_bags: int | None = None,
    shared_seed: bool = False,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
) -> StabilizedRegressor | StabilizedClassifier:
    """Make an estimator that is (ε, δ)-stable by theorem, for every distribution.

    The estimator is averaged over bags of the training rows, drawn without replacement. Small
    bags make the average stable whatever is bagged (Theorems K and L of
    :func:`poise.theory.choose_bags`): when one of n rows is removed, a prediction changes by
    more than ε with probability at most δ. Classifiers average probabilities and offer sets of
    labels that survive removals (``predict_set``, Theorem M).

    It is a promise about stability, not about accuracy. Unlike a test, it needs no data and
    holds for all of them; a test can certify an algorithm with larger bags, or none, on the
    distribution at hand.

    Parameters
    ----------
    estimator : scikit-learn estimator
        A regressor or a classifier.
    n : int, at least 2
        Training rows that the promise is about.
    epsilon : float, positive
        Largest change that is tolerated: in units of the response; as a share of the range of
        the training responses if ``bounds`` is None; for classifiers, Euclidean distance of
        the probabilities.
    delta : float in (0, 1)
        Probability of a larger change. Without bounds 2/n is added, and the statement is no
        (ε, δ)-certificate.
    bounds : pair of float, optional
        For regressors: smallest and largest prediction; others are clipped.
    classes : sequence of labels, optional
        For classifiers: all labels there are.
    bag_size, n_bags : int, optional
        Rows in a bag, and number of bags. By default the largest bag (Theorem L up to 1,000
        rows, K beyond) for which four times the fewest bags are enough: larger bags fit better,
        and beyond this a few rows more cost many times the fits. ``.trade_off()`` lists other
        choices, cheapest first. If one of the two is given, the other is the best for it.
    shared_seed : bool, default False
        Promise it for fits with one ``random_state`` only, as in the definition of stability:
        bags are coupled, so that fewer are enough.
    random_state : None, int, Generator or RandomState
        Decides the bags and the random states of the members.
    n_jobs : int, optional
        Workers, as in joblib.

    Returns
    -------
    StabilizedRegressor or StabilizedClassifier
        Unfitted, with ``.guarantee``, ``.bag_size`` and ``.n_bags``.

    Raises
    ------
    ArgumentError
        If what is asked is impossible; the message says what would be possible.

    See Also
    --------
    StabilizedRegressor, StabilizedClassifier, stability_test, poise.theory.choose_bags

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> stable = stabilize(
    ...     DecisionTreeRegressor(), n=442, epsilon=50, delta=0.1, bounds=(0, 400),
    ...     shared_seed=True, random_state=0,
    ... )
    >>> stable.bag_size, stable.n_bags
    (295, 1026)
    >>> print(stable.guarantee.sentence)
    Whatever the distribution: if one of 442 training rows is removed and both fits have the
    same random_state, the prediction at a new point changes by more than 50 with probability
    at most 0.1 (1,026 bags of 295 rows, Theorem L). It says nothing about accuracy.
    >>> stable.set_params(n_bags=5).guarantee.delta
    1.0
    """
    made: StabilizedRegressor | StabilizedClassifier = _builder(estimator, bounds, classes)(
        n=n,
        epsilon=epsilon,
        delta=delta,
        bag_size=bag_size,
        n_bags=n_bags,
        shared_seed=shared_seed,
        random_state=random_state,
        n_jobs=n_jobs,
    )
    made.refuse_unreachable_epsilon()
    _fill_in_bags(made)
    return made


def _builder(estimator: Any, bounds: Any, classes: Any) -> Any:
    """Choose the class, and refuse arguments of the other class."""
    from functools import partial

    from sklearn.base import is_classifier, is_regressor

    from poise.algorithms.stabilized.classifier import StabilizedClassifier
    from poise.algorithms.stabilized.regressor import StabilizedRegressor

    if isinstance(estimator, type) or not hasattr(estimator, "get_params"):
        raise ArgumentError(f"estimator must be a scikit-learn estimator, got {estimator!r}")
    if is_classifier(estimator):
        if bounds is not None:
            raise ArgumentError("bounds are for regressors; a classifier takes classes")
        return partial(StabilizedClassifier, estimator, classes=classes)
    if not is_regressor(estimator):
        raise ArgumentError(f"estimator must be a regressor or a classifier, got {estimator!r}")
    if classes is not None:
        raise ArgumentError("classes are for classifiers; a regressor takes bounds")
    return partial(StabilizedRegressor, estimator, bounds=bounds)


def _fill_in_bags(made: StabilizedRegressor | StabilizedClassifier) -> None:
    """Choose what was not given; refuse bags that do not keep the guarantee."""
    from poise.theory.bag_choice import choose_bags

    bags = choose_bags(made.n, bag_size=made.bag_size, n_bags=made.n_bags, **made.question())
    made.set_params(bag_size=bags.bag_size, n_bags=bags.n_bags)
