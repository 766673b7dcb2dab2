"""Questions about one training set, which fresh rows answer."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Self, Unpack

import numpy as np

from poise.checks import counted
from poise.data.copies import copies, rows_in_both
from poise.data.randomness import Ids
from poise.data.rows import Rows, as_rows, column_of
from poise.data.sample import Sample
from poise.engine.first_trial import ALONE, Look, look_at_fits
from poise.engine.messages import Answers, Batch
from poise.engine.oracle import Oracle, converse
from poise.errors import AlgorithmError, ArgumentError, DataError, PoiseWarning, note
from poise.procedures.given_data import GivenSplit, given_data
from poise.questions.job import Job, Until
from poise.results.design import MOST_FITTED, Design, Notion
from poise.results.question import Question
from poise.results.result import Result
from poise.results.trials import LOOKED_AT, Trials
from poise.settings import OF_A_VERDICT, Everything, checked, documented
from poise.theory.counts import MOST_POINTS

_OTHERS = ("n", "X_unlabeled", "groups_unlabeled", "coupling", "position", "remove", "replace")
Tables = tuple[Any, Any, Any, Any]  # X, y, X_fresh, y_fresh
Places = tuple[int, ...]
_FIRST = np.arange(1)
_GROWS = ("update", "add-one")  # notions in which fresh rows are added, and others predicted
_POINTS = {"X_unlabeled": "X_fresh", "groups_unlabeled": "groups_fresh"}  # of a sample
_ROWS = {name: f"{name}_fresh" for name in ("X", "y", "groups")}
_WEIGHED = "must be left out: added rows have none"


@documented(Everything, leave=_OTHERS)
def deployed_test(
    algorithm: Any, X: Any, y: Any, X_fresh: Any, y_fresh: Any = None, **asked: Unpack[Everything]
) -> Result:
    """Test whether the model trained on exactly these rows is stable.

    Fresh rows are the trials: independent given the training set D. By default, each row of D in
    turn leaves it, and "stable" says that the prediction for a new row changes by more than ε with
    probability at most δ when a row of D, drawn at random, leaves. With ``without``, rows that you
    name leave; with ``update``, so many new rows are added (churn). Given D,

        P(the verdict is wrong) ≤ α

    for every algorithm, if the fresh rows are independent, come from one distribution and had no
    part in choosing D, the algorithm or the question. It says nothing about other training sets.
    Seeds that you set stay as they are.

    Parameters
    ----------
    algorithm : estimator, function or Algorithm
        As in :func:`poise.stability_test`.
    X : array, sparse matrix, data frame or list
        The training set D.
    y : array or str
        Its responses, or the name of their column in X.
    X_fresh : array, sparse matrix, data frame or list
        Fresh rows. Of more than 1,000 rows of D, one is drawn for each of them, unless
        ``removals_per_trial="all"``.
    y_fresh : array, optional
        Their responses, or a column of X_fresh by the name ``y``: needed where fresh rows are
        added, or losses are compared.
    {settings}

    Returns
    -------
    Result

    See Also
    --------
    measure_deployed : How large are the changes? And which rows matter?
    changed : Two fitted models.

    Examples
    --------
    >>> import poise
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Lasso
    >>> X, y = load_diabetes(return_X_y=True)
    >>> result = poise.deployed_test(
    ...     Lasso(), X[:380], y[:380], X[380:], epsilon=3, delta=0.1
    ... )
    >>> result.verdict, result.n_trials, result.n_fits
    ('stable', 62, 381)
    """
    rows = (X, y, X_fresh, y_fresh)
    job, question = GivenJob.given("deployed_test", algorithm, rows, asked).asked()
    return job.run(question).judge(question)


@documented(Everything, leave=(*_OTHERS, *OF_A_VERDICT))
def measure_deployed(
    algorithm: Any, X: Any, y: Any, X_fresh: Any, y_fresh: Any = None, **asked: Unpack[Everything]
) -> Trials:
    """Measure how much predictions change when this training set does; judge nothing.

    Parameters
    ----------
    algorithm : estimator, function or Algorithm
        As in :func:`poise.stability_test`.
    X, y, X_fresh, y_fresh
        As in :func:`deployed_test`.
    {settings}

    Returns
    -------
    Trials
        ``trials.influence(epsilon)`` lists the rows that matter; ``trials.test(epsilon, delta)``
        judges, without a further fit.

    Examples
    --------
    >>> import poise
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Lasso
    >>> X, y = load_diabetes(return_X_y=True)
    >>> trials = poise.measure_deployed(Lasso(), X[:99], y[:99], X[400:])
    >>> trials.changes.shape
    (42, 99, 1)
    """
    given = {"delta": 0.1, **asked}
    return GivenJob.given("measure_deployed", algorithm, (X, y, X_fresh, y_fresh), given).run()


@dataclass(frozen=True)
class GivenJob(Job):
    """A question about one training set: the fresh rows are the unlabelled ones of its sample."""

    split: Any = None  # a GivenSplit, once planned

    @classmethod
    def given(
        cls, function: str, algorithm: object, rows: Tables, asked: Mapping[str, Any]
    ) -> GivenJob:
        """Check the settings, then the rows, then the algorithm."""
        settings = checked(function, asked, Everything)
        sample = with_fresh_rows(*rows, settings)
        own = sample.n_labeled if sample.groups is None else sample.n_groups or 0
        if own < 2:
            raise DataError(f"must hold 2 rows or more, got {own}", argument="X")
        left_out = _left_out(settings["without"], rows[0], sample)
        return cls.on(algorithm, sample, settings, _notion(settings), left_out)

    @classmethod
    def on(
        cls, algorithm: object, sample: Sample, settings: Any, notion: Notion, left_out: Places = ()
    ) -> GivenJob:
        """Count rows or groups, and refuse what these rows cannot be asked."""
        n, groups = sample.n_labeled, sample.groups_unlabeled is not None
        fresh = sample.n_groups_unlabeled if groups else sample.n_unlabeled
        known = len(sample.y) > n
        y = sample.y.take(np.arange(n if n else len(sample.y)))
        counts: dict[str, Any] = {
            "n": (sample.n_groups or 0) if groups else n,
            "notion": notion,
            "n_labeled": sample.n_unlabeled * known,
            "n_unlabeled": sample.n_unlabeled * (not known),
            "n_groups": fresh * known if groups else None,
            "n_groups_unlabeled": fresh * (groups and not known),
            "sd": replace(sample, y=as_rows(y, "y")).sd(),
            "batch": settings["update"] or 1,
            "without": left_out,
            "without_as_typed": _as_typed(settings["without"]),
            "chosen_from": settings["chosen_from"] or 1,
        }
        with _called(_POINTS):
            job = cls.about(algorithm, sample, settings, **counts)
        job = replace(job, algorithm=job.algorithm.keeping_seeds())
        job._refuse_rows(known)
        return job

    def _sd_of_some(self, rows: int) -> tuple[Sample, dict[str, Any]]:
        """Take the sd of the training set, which is given."""
        return self.sample, {}

    def planned(self) -> Self:
        """Choose how many rows leave, and how many points a trial has."""
        design, asked = self.design, self.settings
        few = design.n <= MOST_FITTED or asked["removals_per_trial"] == "all"
        all_of_them = design.notion == "jackknife" or few or asked["gamma"] is not None
        leaving = design.n if design.notion in ("deployed", "jackknife") and all_of_them else 1
        design = replace(design, removals=leaving)
        chosen = min(MOST_POINTS, design.spare_points) if design.notion in _GROWS else 1
        points = self.distance.points or asked["points_per_trial"] or chosen
        design = replace(design, points=points)
        return self.with_design(design)

    def with_design(self, design: Design) -> Self:
        """Return the same job with these trials."""
        apart = self.distance.panel and self.algorithm.at_once is None
        trials = np.arange(design.n_trials)
        split = GivenSplit(design, self.sample, self.randomness, trials, apart)
        return replace(self, design=design, split=split)

    def after(self, seen: Look) -> Self:
        """Predict one by one if predictions depend on each other."""
        return self.with_design(replace(self.design, given_up=seen.given_up))

    def look(self, oracle: Oracle) -> Look:
        """Look at the fresh rows for copies, and at the first two fits."""
        self.warnings.extend(self.doubts())
        split = self.split
        if not self.settings["check"] or not len(split):
            return Look()
        sure = self.design.notion != "jackknife" or self.design.order_free
        alone = split.tested.size if self.design.notion == "changed" else ALONE
        fits = split.queries()[: max(2, len(split.befores))]
        seen = look_at_fits(oracle, fits, not sure, alone)
        if seen.order_matters:
            seen.close()
            problem = f"the order of the rows changes the predictions of {self.design.title}, and "
            problem += "the jackknife adds a row: which place it takes must not matter"
            raise AlgorithmError(problem, remedy={"notion": "add-one"})
        self.warnings.extend(seen.warnings)
        return seen

    def doubts(self) -> list[str]:
        """Warn of copies among the fresh rows."""
        sample, n, fresh = self.sample, self.sample.n_labeled, self.sample.n_unlabeled
        y = np.zeros(fresh) if len(sample.y) == n else sample.y.take(n + np.arange(fresh))
        X: Any = sample.X_unlabeled
        found = copies(Sample(X, as_rows(y, "y"), groups=sample.groups_unlabeled))
        return [found.replace("groups=", "groups_fresh=")] if found else []

    def warn_of_power(self, question: Question | None) -> None:
        """Say how many fits it takes, too, where that may surprise."""
        super().warn_of_power(question)
        fits = self.design.fits(self.design.n_trials)
        if self.design.all_leave and fits > MOST_FITTED + 1:
            note(PoiseWarning, f"Every row leaves in turn, so this takes {fits:,} fits.")

    def _procedure(
        self, oracle: Oracle, until: Until, seen: Look
    ) -> Generator[Batch, Answers, Answers]:
        return given_data(self.split, oracle.work(()), until, seen.known)

    def repeated(self, oracle: Oracle, numbers: Ids) -> Answers:
        """Return some trials, fitted again."""
        split = replace(self.split, chosen=numbers)
        return converse(given_data(split, oracle.work(())), oracle)

    # what cannot be asked

    def _refuse_rows(self, known: bool) -> None:
        design, settings, panel = self.design, self.settings, self.distance.panel
        grows, jackknife = design.taken > 0, design.notion == "jackknife"
        needs = (grows or design.compares == "losses") and not known
        useless = settings["points_per_trial"] and (panel or design.notion not in _GROWS)
        why = "a decision names its points" if panel else "each fresh row is a trial"
        some = settings["removals_per_trial"] not in (None, "all")
        refused: dict[str, Any] = {
            "y_fresh": needs and "is missing: rows that are added, or losses, need responses",
            "groups": jackknife and design.unit == "group" and "must be left out for the jackknife",
            "distance": jackknife and panel and "must not be a decision: one row is predicted",
            "points_per_trial": useless and f"must be left out: {why}",
            "removals_per_trial": some and "must be 'all' or left out",
            "chosen_from": design.chosen_from > 1 and not design.without and "needs without",
            **{f"fit_params[{name!r}]": grows and _WEIGHED for name in self.sample.per_row},
        }
        for argument, problem in refused.items():
            if problem:
                raise ArgumentError(problem, argument=argument)
        planned = self.planned().design
        if planned.n_trials == 0:
            problem = f"holds no trial: one takes {planned.needed()}"
            raise DataError(problem, argument="X_fresh")
        seen = LOOKED_AT.get(self.sample.digest()) if design.without else None
        if seen and settings["chosen_from"] is None:
            problem = "names rows after their influence on these fresh rows was looked at"
            remedy = f"take other fresh rows, or say chosen_from={seen}: alpha is divided by it"
            raise ArgumentError(problem, argument="without", remedy=remedy)


def _notion(settings: Mapping[str, Any]) -> Notion:
    """Return what a trial is about; at most one of three arguments may say it."""
    asked = [name for name in ("without", "update") if settings[name] is not None]
    if len(asked) + (settings["notion"] != "deployed") > 1:
        said = " and ".join([*asked, "notion"][:2])
        raise ArgumentError(f"{said} cannot be given together: they are different questions")
    return asked[0] if asked else settings["notion"]  # type: ignore[return-value]


# rows


def with_fresh_rows(
    X: Any, y: Any, X_fresh: Any, y_fresh: Any, settings: Mapping[str, Any]
) -> Sample:
    """Return the training set with the fresh rows as points, and their responses if known."""
    if X_fresh is None:
        raise DataError("is missing: rows that were not used for training", argument="X_fresh")
    rows = as_rows(X_fresh, "X_fresh")
    if y_fresh is None and isinstance(y, str) and y in rows.labels:
        y_fresh = column_of(rows, "y_fresh", y)
    more = {name: settings[name] for name in ("groups", "fit_params", "sample_weight", "ids")}
    more["groups_unlabeled"] = settings["groups_fresh"]
    with _called(_POINTS):
        sample = Sample.of(X, y, X_unlabeled=X_fresh, **more)
    known = None if y_fresh is None else fresh_rows(X_fresh, y_fresh).y
    if known is not None and np.shape(known.take(_FIRST)) != np.shape(sample.y.take(_FIRST)):
        raise DataError("must have the columns of y", argument="y_fresh")
    _refuse_training_rows(sample, known)
    return sample if known is None else sample.knowing(known)


def fresh_rows(X_fresh: Any, y_fresh: Any, groups_fresh: Any = None) -> Sample:
    """Check fresh rows and their responses; errors call them so."""
    with _called(_ROWS, {"labelled row": "fresh row"}):
        return Sample.of(X_fresh, y_fresh, groups=groups_fresh)


@contextmanager
def _called(arguments: Mapping[str, str], words: Mapping[str, str] = _POINTS) -> Iterator[None]:
    """Let errors about a sample call fresh rows as they were given."""
    try:
        yield
    except (ArgumentError, DataError, AlgorithmError) as error:
        error.argument = arguments.get(error.argument, error.argument)
        for word, fresh in words.items():
            error.problem = error.problem.replace(word, fresh)
        raise


def _refuse_training_rows(sample: Sample, y_fresh: Rows | None) -> None:
    """Refuse fresh rows that are training rows, except those that chance explains."""
    fresh: Any = (sample.X_unlabeled, y_fresh)[: 1 + (y_fresh is not None)]
    own = (sample.X, sample.y)[: len(fresh)]
    found = rows_in_both(own, fresh)
    if len(found):
        verb = "is a training row" if len(found) == 1 else "are training rows"
        some = f"{counted(len(found), 'row')} of X_fresh {verb}, such as row {found[0]}"
        raise DataError(f"{some} (counting from 0): the model has not seen fresh rows")


def _left_out(without: Any, X: Any, sample: Sample) -> Places:
    """Return the places of the rows that leave: named by a condition, a mask or labels."""
    if without is None:
        return ()
    if isinstance(without, Mapping):
        return _left_out(next(iter(without.values())), X, sample)
    n, text = sample.n_labeled, isinstance(without, str)
    named = _condition(without, as_rows(X, "X")) if text else np.asarray(without).ravel()
    if named.dtype == bool:
        places = np.flatnonzero(named) if len(named) == n else np.array([-1])
    else:
        known = {sample.label_of(row): row for row in range(n)}
        places = np.unique([known.get(name, -1) for name in named.tolist()])
    if -1 in places:
        raise ArgumentError("names no row of X", argument="without", got=without)
    if not 0 < len(places) < n:
        rule = f"must name some of the {n:,} rows, and not all of them"
        raise ArgumentError(rule, argument="without", got=without)
    return tuple(int(place) for place in places)


def _as_typed(without: Any) -> str:
    """Return a condition, or what rows are called together."""
    if isinstance(without, Mapping):
        return "".join(map(str, without))
    return f"where {without}" if isinstance(without, str) else ""


def _condition(text: str, rows: Rows) -> Any:
    """Read "customer_id == 1234": which rows hold that value."""
    places = {str(label): place for place, label in enumerate(rows.labels)}
    name, _, word = (part.strip() for part in text.partition("=="))
    try:
        values = rows.column(places[name])
        if values.dtype.kind in "iuf":
            return values == values.dtype.type(word)
    except (KeyError, ValueError, OverflowError):
        rule = "must be a condition such as 'customer_id == 1234' on a column of X"
        raise ArgumentError(rule, argument="without", got=text) from None
    return values.astype(str) == word.strip("'\"")
