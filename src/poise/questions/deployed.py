"""Questions about one training set, or about two fitted models, that fresh rows answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from operator import eq, ge, gt, le, lt, ne
from typing import Any, Literal, Self, Unpack

import numpy as np

from poise.checks import counted
from poise.data.copies import copies, row_identities, rows_in_both
from poise.data.randomness import Ids, as_coupling
from poise.data.rows import Rows, as_rows, column_of, join
from poise.data.sample import Sample
from poise.data.split import Units
from poise.data.suitable import check_responses
from poise.engine.first_trial import ALONE, Look, look_at_fits
from poise.engine.messages import Answers, Batch, Floats, Query
from poise.engine.oracle import Oracle, converse
from poise.errors import AlgorithmError, ArgumentError, DataError
from poise.numbers import rounded_down
from poise.procedures.given_data import GivenSplit, Queries, given_data
from poise.questions.ask import question_of
from poise.questions.job import Job, randomness_of, sd_of
from poise.results.design import MOST_FITTED, MOST_POINTS, Notion
from poise.results.question import Question, Relative, allowed_change, law_for, read_epsilon
from poise.results.result import Result
from poise.results.trials import Trials, looked_at
from poise.settings import Everything, MoreSettings, OneTrainingSet, checked, documented

_OTHERS = ("X_unlabeled", "groups_unlabeled", "coupling", "position", "remove", "replace")
_COMPARED = {"==": eq, "!=": ne, "<=": le, ">=": ge, "<": lt, ">": gt}
_CONDITION = re.compile(r"\s*(.+?)\s*(==|!=|<=|>=|<|>)\s*(.+?)\s*")
_LOOKED_AT = 20  # training rows, to see whether their order matters
_BY_CHANCE = 1e-6  # probability of more fresh rows among the training rows


@documented(MoreSettings, OneTrainingSet, leave=_OTHERS)
def deployed_test(
    algorithm: Any,
    X: Any,
    y: Any,
    X_fresh: Any,
    y_fresh: Any = None,
    *,
    epsilon: float | str | None = None,
    delta: float | None = None,
    alpha: float = 0.05,
    gamma: float | None = None,
    without: Any = None,
    update: int | None = None,
    notion: Literal["deployed", "add-one", "jackknife"] = "deployed",
    groups: Any = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    **settings: Any,
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
    asked = {
        "epsilon": epsilon,
        "delta": delta,
        "alpha": alpha,
        "gamma": gamma,
        "without": without,
        "update": update,
        "notion": notion,
        "groups": groups,
        "random_state": random_state,
        "n_jobs": n_jobs,
        **settings,
    }
    rows = (X, y, X_fresh, y_fresh)
    job, question = about_training_set("deployed_test", algorithm, rows, asked)
    return job.run(question).judge(question)


@documented(MoreSettings, OneTrainingSet, leave=(*_OTHERS, "randomized", "gamma"))
def measure_deployed(
    algorithm: Any,
    X: Any,
    y: Any,
    X_fresh: Any,
    y_fresh: Any = None,
    *,
    delta: float = 0.1,
    random_state: Any = 0,
    **settings: Unpack[MoreSettings],
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
    asked = {"delta": delta, "random_state": random_state, **settings}
    return GivenJob.given("measure_deployed", algorithm, (X, y, X_fresh, y_fresh), asked).run()


def about_training_set(
    function: str, algorithm: Any, rows: tuple[Any, Any, Any, Any], asked: Mapping[str, Any]
) -> tuple[Job, Question]:
    """Check everything that a question is given; nothing is fitted yet."""
    given = GivenJob.given(function, algorithm, rows, asked)
    job, change = given.with_epsilon(asked.get("epsilon"))
    asks = question_of(job, change)
    law_for(job.planned().design, asks.delta, asks.alpha, asks.test, asks.gamma)  # refuses some
    return job, asks


@dataclass(frozen=True)
class GivenJob(Job):
    """What one question about a training set is about.

    ``base`` are its rows, and the fresh ones without responses; in ``sample`` they have them.
    """

    base: Sample = field(default=None)  # type: ignore[assignment]

    @classmethod
    def given(
        cls,
        function: str,
        algorithm: object,
        rows: tuple[Any, Any, Any, Any],
        asked: Mapping[str, Any],
    ) -> GivenJob:
        """Check the settings, then the rows, then the algorithm."""
        settings = checked(function, asked, Everything)
        _refuse_other_settings(settings)
        base, sample = _samples(*rows, settings)
        own = base.n_labeled if base.groups is None else base.n_groups or 0
        if own < 2:
            raise DataError(f"must hold 2 rows or more, got {own}", argument="X")
        left_out = _left_out(settings["without"], rows[0], base)
        return cls.on(algorithm, base, sample, settings, _notion(settings), left_out)

    @classmethod
    def on(
        cls,
        algorithm: object,
        base: Sample,
        sample: Sample,
        settings: Mapping[str, Any],
        notion: Notion,
        left_out: tuple[int, ...] = (),
    ) -> GivenJob:
        """Count rows or groups, and refuse what these rows cannot be asked."""
        own, fresh = base.n_labeled, base.n_unlabeled
        groups, labelled = base.groups_unlabeled is not None, sample is not base
        if groups:
            own, fresh = base.n_groups or 0, base.n_groups_unlabeled
        counts: dict[str, Any] = {
            "n": own,
            "notion": notion,
            "n_labeled": base.n_unlabeled if labelled else 0,
            "n_unlabeled": 0 if labelled else base.n_unlabeled,
            "n_groups": fresh * labelled if groups else None,
            "n_groups_unlabeled": fresh * (not labelled and groups),
            "sd": sd_of(base if own else sample),
            "batch": settings["update"] or 1,
            "without": left_out,
            "without_as_typed": _as_typed(settings["without"]),
            "chosen_from": settings["chosen_from"] or 1,
        }
        randomness = randomness_of(settings)
        with _own_words():
            shared = as_coupling("shared")
            job = cls.about(algorithm, sample, settings, shared, randomness, **counts)
        job = replace(job, algorithm=job.algorithm.keeping_seeds(), base=base)
        job._refuse_rows(labelled)
        return job

    def with_epsilon(self, epsilon: object) -> tuple[Self, float | None]:
        """Return the allowed change; the sd is that of the training set, which is given."""
        asked = read_epsilon(epsilon)
        if not isinstance(asked, Relative) or not self.design.sized:
            return super().with_epsilon(epsilon)
        self._require_units_of_y(epsilon)
        sd = self.design.sd or self.base.sd()  # which says why there is none
        change = allowed_change(rounded_down(asked.share * sd), self.design)
        design = replace(self.design, epsilon_as_typed=str(epsilon))
        return replace(self, design=design), self._reachable(change)

    def planned(self) -> GivenJob:
        """Choose how many rows leave, and how many points a trial has."""
        design, asked = self.design, self.settings
        few = design.n <= MOST_FITTED or asked["removals_per_trial"] == "all"
        all_of_them = design.notion == "jackknife" or few or asked["gamma"] is not None
        leaving = design.n if design.notion in ("deployed", "jackknife") and all_of_them else 1
        design = replace(design, removals=leaving)
        points = self.distance.points or asked["points_per_trial"]
        if points is None:
            grows = design.notion in ("update", "add-one")
            points = min(MOST_POINTS, design.spare_points) if grows else 1
        design = replace(design, points=points)
        return replace(self, design=design, split=self._given_split(design))  # type: ignore[arg-type]

    def _given_split(self, design: Any) -> GivenSplit:
        base, count = self.base, self.base.n_labeled
        whole = base.groups is None or design.notion == "without"
        own = Units(np.arange(count))
        if not whole:
            own = Units.of_groups(base.groups, np.arange(base.n_groups or 0))  # type: ignore[arg-type]
        fresh = Units(count + self._order("order of fresh rows", base.n_unlabeled))
        if base.groups_unlabeled is not None:
            order = self._order("order of fresh groups", base.n_groups_unlabeled)
            found = Units.of_groups(base.groups_unlabeled, order)
            fresh = Units(count + found.rows, found.starts)
        apart = self.distance.panel and self.algorithm.at_once is None
        trials = np.arange(design.n_trials)
        return GivenSplit(design, own, fresh, self.randomness, trials, apart)

    @property
    def _given(self) -> Any:
        return self.split  # a GivenSplit, once planned

    def _order(self, role: str, count: int) -> Ids:
        shuffle = self.settings["shuffle"]
        return self.randomness.order(role, count) if shuffle else np.arange(count)

    def after(self, seen: Look) -> GivenJob:
        """Predict one by one if predictions depend on each other."""
        design, split = replace(self.design, given_up=seen.given_up), self._given
        return replace(self, design=design, split=replace(split, design=design))

    def look(self, oracle: Oracle) -> Look:
        """Look at the fresh rows for copies, and at the first two fits."""
        self.warnings.extend(self.doubts())
        split = self._given
        if not self.settings["check"] or not len(split):
            return Look()
        rows = np.arange(self.base.n_labeled)
        ordered = Query(rows, rows[:_LOOKED_AT], split.xi)
        sure = self.design.notion != "jackknife" or self.design.order_free
        alone = split.tested.size if self.design.notion == "changed" else ALONE
        seen = look_at_fits(oracle, Queries(split)[:2], None if sure else ordered, alone)
        if seen.order_matters:
            seen.close()
            raise AlgorithmError(
                f"the order of the rows changes the predictions of {self.design.title}, and the "
                "jackknife adds a row to a set of rows: which place it takes must not matter",
                remedy={"notion": "add-one"},
            )
        self.warnings.extend(seen.warnings)
        return seen

    def doubts(self) -> list[str]:
        """Warn of copies among the fresh rows."""
        base, n = self.base, self.base.n_labeled
        y = np.zeros(base.n_unlabeled)
        if self.sample is not base:
            y = self.sample.y.take(np.arange(n, n + base.n_unlabeled))
        X: Any = base.X_unlabeled
        found = copies(Sample(X, as_rows(y, "y"), groups=base.groups_unlabeled))
        return [found.replace("groups=", "groups_fresh=")] if found else []

    def _procedure(
        self, oracle: Oracle, question: Question | None, rivals: int, seen: Look
    ) -> Generator[Batch, Answers, Answers]:
        until = self._until(question, rivals)
        return self._asks(oracle, self._given, until, seen.known)

    def _asks(
        self,
        oracle: Oracle,
        split: GivenSplit,
        until: Callable[[Floats], bool] | None = None,
        known: Any = None,
    ) -> Generator[Batch, Answers, Answers]:
        work, on_error = oracle.work(()), oracle.execution.on_error
        return given_data(split, work.compare, work.error, until, known, on_error)

    def repeated(self, oracle: Oracle, numbers: Ids) -> Floats:
        """Return the changes of some trials, fitted again."""
        split = replace(self._given, chosen=numbers)
        return converse(self._asks(oracle, split), oracle).changes

    def label_of(self, row: int) -> object:
        """Return what people call a row."""
        return self.base.label_of(row)

    # what cannot be asked

    def _refuse_rows(self, labelled: bool) -> None:
        design, settings = self.design, self.settings
        grows = design.taken > 0
        if (grows or design.compares == "losses") and not labelled:
            raise ArgumentError(
                "is missing: fresh rows that are added, or whose loss is compared, need responses",
                argument="y_fresh",
            )
        if grows and self.sample.per_row:
            raise ArgumentError(
                "must be left out where fresh rows are added, which have none",
                argument=f"fit_params[{next(iter(self.sample.per_row))!r}]",
            )
        if design.notion == "jackknife" and design.n_groups is not None:
            raise ArgumentError("must be left out for the jackknife", argument="groups")
        several = design.notion in ("update", "add-one")
        if settings["points_per_trial"] is not None and (self.distance.panel or not several):
            raise ArgumentError(
                "must be left out: a decision names its points"
                if self.distance.panel
                else "must be left out: each fresh row is a trial",
                argument="points_per_trial",
            )
        planned = self.planned().design
        if planned.n_trials == 0:
            need = counted(planned.rows_for(1), f"fresh {design.unit}")
            raise DataError(f"holds no trial: one takes {need}", argument="X_fresh")
        seen = looked_at(self.sample.digest()) if design.without else 0
        if seen and settings["chosen_from"] is None:
            raise ArgumentError(
                "names rows after their influence on these fresh rows was looked at, which breaks "
                "the level",
                argument="without",
                remedy=f"take other fresh rows, or say chosen_from={seen} (alpha is divided by it; "
                "1 if the table did not matter)",
            )


def _refuse_other_settings(settings: Mapping[str, Any]) -> None:
    plain = checked("deployed_test", {}, Everything)
    for name in ("n", *_OTHERS):
        if settings[name] is not plain[name] and settings[name] != plain[name]:
            raise ArgumentError("does not go with one training set", argument=name)
    if settings["removals_per_trial"] not in (None, "all"):
        raise ArgumentError(
            "must be 'all' or left out",
            argument="removals_per_trial",
            got=settings["removals_per_trial"],
        )
    if settings["chosen_from"] is not None and settings["without"] is None:
        raise ArgumentError("needs without", argument="chosen_from")


def _notion(settings: Mapping[str, Any]) -> Notion:
    """Return what a trial is about; at most one of three arguments may say it."""
    asked = [name for name in ("without", "update") if settings[name] is not None]
    if len(asked) + (settings["notion"] != "deployed") > 1:
        said = " and ".join([*asked, "notion"][:2])
        raise ArgumentError(f"{said} cannot be given together: they are different questions")
    return asked[0] if asked else settings["notion"]  # type: ignore[return-value]


# rows


def _samples(
    X: Any, y: Any, X_fresh: Any, y_fresh: Any, settings: Mapping[str, Any]
) -> tuple[Sample, Sample]:
    """Return the training set with the fresh rows as points, and with labelled ones as rows."""
    if X_fresh is None:
        raise DataError("is missing: rows that were not used for training", argument="X_fresh")
    if y_fresh is None and isinstance(y, str) and y in as_rows(X_fresh, "X_fresh").labels:
        y_fresh = column_of(X_fresh, y)
    names = ("groups", "fit_params", "sample_weight", "ids")
    more = {name: settings[name] for name in names}
    with _own_words():
        groups = settings["groups_fresh"]
        base = Sample.of(X, y, X_unlabeled=X_fresh, groups_unlabeled=groups, **more)
    responses = None if y_fresh is None else _responses(y_fresh, base)
    _refuse_training_rows(base, responses)
    if responses is None or base.X_unlabeled is None:
        return base, base
    X_all = as_rows(join(base.X.native, base.X_unlabeled.native), "X")
    y_all = as_rows(join(*_of_one_kind(base.y.native, responses.native)), "y")
    codes = None if base.groups is None else np.append(base.groups, base.groups_unlabeled)  # type: ignore[arg-type]
    return base, replace(
        base, X=X_all, y=y_all, X_unlabeled=None, groups=None, groups_unlabeled=codes, ids=None
    )


@contextmanager
def _own_words() -> Iterator[None]:
    """Call fresh rows so in errors about points."""
    try:
        yield
    except (ArgumentError, DataError, AlgorithmError) as error:
        for fresh, other in (("X_fresh", "X_unlabeled"), ("groups_fresh", "groups_unlabeled")):
            error.problem = error.problem.replace(other, fresh)
            error.argument = error.argument.replace(other, fresh)
        raise


def _responses(y_fresh: Any, base: Sample) -> Rows:
    found = as_rows(y_fresh, "y_fresh")
    if len(found) != base.n_unlabeled:
        rule = f"must hold one response per fresh row ({base.n_unlabeled}), got {len(found)}"
        raise DataError(rule, argument="y_fresh")
    check_responses(found, "y_fresh")
    return found


def _of_one_kind(y: Any, y_fresh: Any) -> tuple[Any, Any]:
    """Responses in different containers become arrays."""
    return (y, y_fresh) if type(y) is type(y_fresh) else (np.asarray(y), np.asarray(y_fresh))


def _refuse_training_rows(base: Sample, y_fresh: Rows | None) -> None:
    """Refuse fresh rows that are training rows, but for those that chance explains."""
    fresh = [base.X_unlabeled] + ([] if y_fresh is None else [y_fresh])
    own = [base.X, base.y][: len(fresh)]
    found = rows_in_both(own, fresh)  # type: ignore[arg-type]
    if not len(found):
        return
    _, equal, count = np.unique(row_identities(0, *own), return_inverse=True, return_counts=True)
    share = float(np.mean(count[equal] > 1))  # of training rows that are equal to another
    if share:
        from scipy.stats import binom

        if len(found) <= binom.isf(_BY_CHANCE, base.n_unlabeled, share):
            return
    verb = "is a training row" if len(found) == 1 else "are training rows"
    raise DataError(
        f"{counted(len(found), 'row')} of X_fresh {verb}, such as row {found[0]} (counting from "
        "0): a fresh row is one that the model has not seen"
    )


def _left_out(without: Any, X: Any, base: Sample) -> tuple[int, ...]:
    """Return the places of the rows that leave: named by a condition, a mask or labels."""
    if without is None:
        return ()
    if isinstance(without, Mapping) and len(without) == 1:
        return _left_out(next(iter(without.values())), X, base)
    if isinstance(without, str):
        places = np.flatnonzero(_condition(without, as_rows(X, "X")))
    else:
        named = np.asarray(without).ravel()
        if named.dtype == bool and len(named) == base.n_labeled:
            places = np.flatnonzero(named)
        else:
            known = {base.label_of(row): row for row in range(base.n_labeled)}
            unknown = [name for name in named.tolist() if name not in known]
            if unknown or named.dtype == bool:
                raise ArgumentError("names no row of X", argument="without", got=unknown or without)
            places = np.unique([known[name] for name in named.tolist()])
    if not 0 < len(places) < base.n_labeled:
        rule = f"must name some of the {base.n_labeled:,} rows, and not all of them"
        raise ArgumentError(rule, argument="without", got=without)
    return tuple(int(place) for place in places)


def _as_typed(without: Any) -> str:
    """Return a condition, or what rows are called together."""
    if isinstance(without, Mapping):
        return "".join(map(str, without))
    return f"where {without}" if isinstance(without, str) else ""


def _condition(text: str, rows: Rows) -> Any:
    """Read "age > 60 and site == A": comparisons of columns with numbers or words."""
    met = np.ones(len(rows), dtype=bool)
    for part in text.split(" and "):
        found = _CONDITION.fullmatch(part)
        names = {str(label): place for place, label in enumerate(rows.labels)}
        if not found or found[1] not in names:
            raise ArgumentError(
                "must be a condition such as 'customer_id == 1234' on a column of X",
                argument="without",
                got=text,
            )
        values, word = rows.column(names[found[1]]), found[3].strip("'\"")
        try:
            other: Any = float(word) if values.dtype.kind in "iufb" else word
            met &= np.asarray(_COMPARED[found[2]](values, other), dtype=bool)
        except (TypeError, ValueError):
            raise ArgumentError(
                f"compares column {found[1]!r} with another kind of value",
                argument="without",
                got=text,
            ) from None
    return met
