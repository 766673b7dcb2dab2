"""How large are the changes, and are they small enough? The two main functions."""

from __future__ import annotations

from typing import Any, Literal, Unpack

from poise import checks
from poise.errors import PoiseError
from poise.questions.job import Job
from poise.results.result import Result
from poise.results.trials import Trials
from poise.settings import OF_A_VERDICT, Every, MoreSettings, Settings, documented


@documented(Settings)
def stability_test(
    algorithm: Any,
    X: Any,
    y: Any = None,
    *,
    n: float | None = None,
    epsilon: float | str | None = None,
    delta: float | None = None,
    alpha: float = 0.05,
    X_unlabeled: Any = None,
    groups: Any = None,
    response: Literal["predict", "predict_proba", "decision_function"] = "predict",
    distance: Any = "auto",
    test: Literal["auto", "binomial", "averaged"] = "auto",
    stop_early: bool = False,
    random_state: Any = 0,
    n_jobs: int | None = None,
    **settings: Unpack[Settings],
) -> Result:
    """Test whether removing one training row changes predictions by more than epsilon.

    The algorithm is called (ε, δ)-stable at n if a model trained on n rows and one trained without
    the last of them differ by more than ε at a new row with probability at most δ. As many
    independent trials as the rows hold are run, and

        P(the verdict is wrong) ≤ α

    for every algorithm and every distribution of independent rows (Theorem 1 of Kim and Barber;
    Theorem A where a trial has several changes). "inconclusive" is not a verdict against the
    algorithm. The verdict is about training sets of n rows: not about accuracy, and not about a
    model trained on all of these rows. It assumes that rows are independent and identically
    distributed, that a fit depends on its rows and its seed alone, and that ε, δ, α and the
    algorithm were chosen without these rows.

    Parameters
    ----------
    algorithm : estimator, function or Algorithm
        A scikit-learn compatible estimator, or a function ``fit(X, y, seed)`` that returns a
        function from rows to predictions.
    X : array, sparse matrix, data frame or list
        Labelled rows. The algorithm gets rows of the same kind.
    y : array or str
        Responses, or the name of their column in X.
    {settings}

    Returns
    -------
    Result
        ``print(result)`` says it in five lines.

    See Also
    --------
    measure : How large are the changes? For choosing epsilon.
    assert_stable : The same as a test of your own test suite.

    Examples
    --------
    >>> import poise
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Lasso
    >>> X, y = load_diabetes(return_X_y=True)
    >>> result = poise.stability_test(Lasso(), X, y, n=10, epsilon=25, delta=0.2)
    >>> result.verdict
    'stable'
    """
    asked: dict[str, Any] = {"n": n, "epsilon": epsilon, "delta": delta, "alpha": alpha}
    asked |= {"test": test, "stop_early": stop_early, "random_state": random_state}
    asked |= {"X_unlabeled": X_unlabeled, "groups": groups, "n_jobs": n_jobs}
    asked |= {"response": response, "distance": distance, **settings}
    job, question = Job.of("stability_test", algorithm, X, y, asked).asked()
    return job.run(question).judge(question)


@documented(MoreSettings, leave=OF_A_VERDICT)
def measure(
    algorithm: Any,
    X: Any,
    y: Any = None,
    *,
    n: float | None = None,
    delta: float = 0.1,
    random_state: Any = 0,
    **settings: Unpack[MoreSettings],
) -> Trials:
    """Measure how much predictions change when one training row is removed; judge nothing.

    Parameters
    ----------
    {rows}
    {settings}

    Returns
    -------
    Trials
        ``print(trials)`` says, for the share ``delta`` of changes, which size they stay below.
        ``trials.test(epsilon, delta)`` judges them, without a further fit.

    See Also
    --------
    stability_test : Is a change beyond epsilon rare enough?

    Examples
    --------
    >>> import poise
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Lasso
    >>> X, y = load_diabetes(return_X_y=True)
    >>> trials = poise.measure(Lasso(), X, y, n=10)
    >>> trials.n_trials, round(trials.epsilon_upper(delta=0.2), 1)
    (40, 23.7)
    """
    asked = {"n": n, "delta": delta, "random_state": random_state, **settings}
    return Job.of("measure", algorithm, X, y, asked).run()


@documented(Every)
def assert_stable(
    algorithm: Any,
    X: Any,
    y: Any = None,
    *,
    inconclusive: Literal["fail", "skip", "pass"] = "fail",
    **asked: Unpack[Every],
) -> Result:
    """Fail unless the algorithm is declared stable: :func:`stability_test` for a test suite.

    A stable algorithm may be inconclusive on few rows; :func:`poise.plan` says how many rows make
    that unlikely. Nothing is guaranteed for an algorithm that was revised until it passed on the
    same rows.

    Parameters
    ----------
    {rows}
    inconclusive : {"fail", "skip", "pass"}
        What to do where the rows cannot decide; "skip" skips the running pytest test.
    {settings}

    Returns
    -------
    Result

    Raises
    ------
    AssertionError
        If the verdict is "unstable", or "inconclusive" where that fails; the message is the result
        in words.
    DataError
        Before the first fit, if these rows cannot give "stable" even if nothing changes.

    Examples
    --------
    >>> import poise
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Lasso
    >>> X, y = load_diabetes(return_X_y=True)
    >>> poise.assert_stable(Lasso(), X, y, n=10, epsilon=25, delta=0.2).verdict
    'stable'
    """
    __tracebackhide__ = True  # pytest shows the line of the test
    checks.choice("inconclusive", inconclusive, ("fail", "skip", "pass"))
    try:
        job, question = Job.of("assert_stable", algorithm, X, y, asked).asked()
        job.require_answerable(question)
    except PoiseError as error:
        raise error.with_traceback(None) from error.__cause__
    result = job.run(question).judge(question)
    if result.verdict == "inconclusive" and inconclusive == "skip":
        import pytest

        pytest.skip(str(result))
    if not result.stable and not (result.verdict == "inconclusive" and inconclusive == "pass"):
        raise AssertionError(str(result))
    return result
