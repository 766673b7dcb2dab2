"""All changes of one measurement, and what they say without a further fit."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poise import checks
from poise.data.randomness import fresh_coin
from poise.errors import ArgumentError, DataError, printable
from poise.results.design import Design
from poise.results.plots import Shown, as_frame
from poise.results.question import Floats, Question, allowed_change

if TYPE_CHECKING:
    import pandas as pd

    from poise.data.split import Split
    from poise.results.profile import Profile
    from poise.results.result import Result
    from poise.theory.changes import Changes

MOST_FAILURES = 20  # that are kept with their message
# what two fits differ by, and where they predict, unless rows are removed
_CALLED = {
    "update": ("added", "tested"),
    "add-one": ("added", "tested"),
    "jackknife": ("tested", "added"),
}
LOOKED_AT: dict[str, int] = {}  # samples whose influential rows were looked at, and their number


@dataclass(frozen=True)
class Failed:
    """Why a trial, or a part of it, has no change."""

    trial: int
    kind: Literal["error", "undefined", "death", "timeout"]
    message: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "message", printable(self.message))


class Answer(Shown):
    """An answer about the trials of a design: drawn, shown by notebooks, and kept in a file."""

    design: Any  # a Design
    changes: Any  # as of trials
    drawn_by = "plot_changes"

    @property
    def n_trials(self) -> int:
        """Number of planned trials m."""
        return int(self.design.n_trials)

    @property
    def n_observed(self) -> int:
        """Number of trials that were run; fewer than planned if the run was stopped."""
        return len(self.changes)

    @property
    def stopped_early(self) -> bool:
        """Whether fewer trials were run than were planned."""
        return self.n_observed < self.n_trials

    @property
    def n_fits(self) -> int:
        """Number of fits of these trials; 0 if they were measured elsewhere."""
        return self.design.fits(self.n_observed) if self.design.from_rows else 0

    @property
    def n_failures(self) -> int:
        """Number of trials in which at least one change could not be measured."""
        return int(np.isnan(self.changes).any(axis=(1, 2)).sum())

    def to_html(self, picture: bool = True) -> str:
        """Return what a notebook shows: an HTML fragment in words, a picture and numbers.

        Parameters
        ----------
        picture : bool, default True
            Whether to draw the changes; without matplotlib there are words and numbers only.
        """
        from poise.results.report import card

        return card(self, picture)  # type: ignore[arg-type]

    def _repr_html_(self) -> str:
        return self.to_html()

    def save(self, path: str | Path) -> None:
        """Write everything to one JSON file, which :func:`poise.load` reads.

        Parameters
        ----------
        path : str or Path
            The file; an older one is replaced only when the new one is complete.
        """
        from poise.results.file import write

        write(path, self)  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False)
class Trials(Answer):
    """The changes of independent trials, to be judged under any question.

    ``print`` shows how large the changes are: limits, each with its confidence.

    Attributes
    ----------
    changes : ndarray of shape (m, R, T)
        Change of each trial, removal and test point; nan where a fit failed, inf where one
        prediction was infinite. Read-only.
    design : Design
        Everything that was known before the first fit.
    failures : tuple of Failed
        The first 20 failures, with their reasons.
    warnings : tuple of str
        Why the error level may not hold.
    errors : ndarray of shape (m,)
        Prediction error of each trial's full fit (mean absolute error, or share of wrong labels);
        nan where no test point has a response.
    delta : float
        Probability at which ``print`` gives a limit, and which chooses the law of limits.
    asked : Question or None
        The question that the run was begun with.
    zeta : float or None
        The coin of randomized tests, drawn once from fresh entropy.

    Examples
    --------
    >>> trials = Trials.from_changes([0.1, 0.3, 0.2] * 20, n=10, algorithm="mine")
    >>> trials.test(epsilon=0.5, delta=0.1).verdict
    'stable'
    >>> trials.observed(0.25)
    0.3333333333333333
    """

    changes: Floats
    design: Design
    failures: tuple[Failed, ...] = ()
    warnings: tuple[str, ...] = ()
    errors: Floats = field(default_factory=lambda: np.empty(0))  # left out: nan for every trial
    delta: float = 0.1
    asked: Question | None = None
    zeta: float | None = None
    origin: Any = None  # a run, or a file: split, data, code, versions and label_of, as they know

    def __post_init__(self) -> None:
        table = _table(self.changes, self.design)
        errors = _numbers(self.errors if np.size(self.errors) else np.full(len(table), np.nan))
        if errors.shape != (len(table),):
            rule = f"must have shape ({len(table)},)"
            raise ArgumentError(rule, argument="errors", got=errors.shape)
        zeta = fresh_coin() if self.zeta is None and self.design.randomized else self.zeta
        if zeta is not None:
            checks.number("zeta", zeta, "a number in (0, 1]")
        checked: dict[str, Any] = {"changes": table, "errors": errors, "zeta": zeta}
        checked["warnings"] = tuple(printable(text) for text in self.warnings)
        checked["failures"] = tuple(self.failures[:MOST_FAILURES])
        self.__setstate__(checked | {"delta": checks.delta(self.delta)})

    @classmethod
    def from_changes(cls, changes: ArrayLike, *, n: int, algorithm: str = "An algorithm") -> Trials:
        """Take changes that were measured elsewhere.

        The guarantees hold if the trials share no row, and each removes the last of its n rows.

        Parameters
        ----------
        changes : array of shape (m,) or (m, R, T)
            Changes >= 0; nan where a fit failed.
        n : int
            Training size, at least 2.
        algorithm : str
            What to call the algorithm.

        Examples
        --------
        >>> Trials.from_changes([0.5, 0.0, float("nan")], n=10).n_failures
        1
        """
        table = _numbers(changes)
        table = table[:, None, None] if table.ndim == 1 else table
        if table.ndim != 3 or 0 in table.shape[1:]:
            rule = "must have shape (trials,) or (trials, removals, points)"
            raise ArgumentError(rule, argument="changes", got=np.shape(changes))
        size = checks.count("n", n, 2)
        m, removals, points = table.shape
        shape = {"removals": removals, "points": points, "n_unlabeled": m * points}
        made: dict[str, Any] = {"max_trials": None, "shuffle": False, "from_rows": False, **shape}
        return cls(table, Design(algorithm=algorithm, n=size, n_labeled=m * size, **made))

    # counts

    @property
    def error(self) -> float:
        """Mean prediction error of the full fits; nan where it is not known."""
        known = self.errors[~np.isnan(self.errors)]
        return float(known.mean()) if known.size else math.nan

    @property
    def values(self) -> Floats:
        """The first change of each trial, one-dimensional; infinite where it failed."""
        first = self.changes[:, 0, 0]
        return np.where(np.isnan(first), np.inf, first)

    def shares(self, epsilon: float | None = None, *, failures_exceed: bool = True) -> Floats:
        """Compute the share of each trial's changes that are larger than epsilon (strictly).

        Parameters
        ----------
        epsilon : float or None
            Allowed change; left out for labels and decisions.
        failures_exceed : bool, default True
            Whether a failed fit counts as a larger change.
        """
        exceed = checks.flag("failures_exceed", failures_exceed)
        return self.table.shares(self._threshold(epsilon), failures_exceed=exceed)

    def observed(self, epsilon: float | None = None) -> float:
        """Compute the share of all changes that are larger than epsilon; a failure is not."""
        shares = self.shares(epsilon, failures_exceed=False)
        return float(shares.mean()) if shares.size else 0.0

    # questions

    def test(
        self,
        epsilon: float | None = None,
        delta: float | None = None,
        alpha: float = 0.05,
        *,
        gamma: float | None = None,
        test: Literal["auto", "binomial", "averaged"] = "auto",
        randomized: bool | None = None,
    ) -> Result:
        """Test whether a change larger than epsilon has probability at most delta.

        P(verdict is wrong) <= alpha for every algorithm and distribution, if epsilon, delta and
        alpha were chosen without looking at the changes.

        Parameters
        ----------
        epsilon : float
            Allowed change, in units of the prediction; left out for labels and decisions.
        delta : float
            Allowed probability of a larger change, in [0, 1).
        alpha : float, default 0.05
            Error level, in (0, 1).
        gamma : float, optional
            Tolerated share of larger changes in a trial, as in :func:`poise.deployed_test`.
        test : {"auto", "binomial", "averaged"}
            The paper's Binomial test, which reads the first change of each trial, the averaged
            test, which reads all of them, or the one that fits their number.
        randomized : bool, optional
            Whether ties are decided by the coin of these trials; by default as in the run.

        Returns
        -------
        Result

        Examples
        --------
        >>> Trials.from_changes([0.1] * 60, n=10).test(0.2, delta=0.1).pvalue
        0.00179...
        """
        if delta is None:
            raise ArgumentError(
                "is missing: how often a change may be larger",
                argument="delta",
                remedy={"delta": self.delta},
            )
        question = Question(epsilon, delta, alpha, test, gamma=gamma)
        return self._with_coin(randomized).judge(question)

    def judge(self, question: Question) -> Result:
        """Answer a question, which must be one that these trials can be asked."""
        from poise.results.result import Result

        return Result(question, self)

    def _with_coin(self, randomized: bool | None) -> Trials:
        """Return these trials with or without their coin, which is drawn once."""
        if randomized is None or checks.flag("randomized", randomized) == self.design.randomized:
            return self
        if self.zeta is None:
            object.__setattr__(self, "zeta", fresh_coin())
        design = replace(self.design, randomized=bool(randomized))
        return replace(self, design=design, asked=None)  # another question than the run's

    # limits

    @cached_property
    def table(self) -> Changes:
        """The changes as the laws of :mod:`poise.theory` read them."""
        from poise.theory.changes import Changes

        values = self.changes.reshape(self.n_observed, self.changes[:1].size or 1)
        return Changes(values, self.n_trials)

    def delta_upper(
        self, epsilon: float | None = None, alpha: float = 0.05, *, delta: float | None = None
    ) -> float:
        """Compute the upper confidence limit for P(change > epsilon).

        P(the probability is at most the limit) >= 1 - alpha, for an epsilon chosen without looking
        at the changes (Proposition 1; Theorem F where the averaged test reads the trials).

        Parameters
        ----------
        epsilon : float
            Allowed change; left out for labels and decisions.
        alpha : float, default 0.05
            One minus the confidence.
        delta : float, optional
            The limit is that of the test which "auto" takes for this delta; by default for the one
            that the run was begun with.
        """
        return self._asked(epsilon, delta, alpha).delta_upper

    def epsilon_upper(self, delta: float, alpha: float = 0.05) -> float | None:
        """Compute the upper confidence limit for the (1 - delta)-quantile of the change.

        With confidence 1 - alpha, at most a share delta of changes is larger, for a delta chosen
        without looking at the changes (Proposition 1; Theorem F where the averaged test reads the
        trials). Infinite if the trials are too few for this delta; None for labels and decisions.
        """
        return self._asked(self.design.least_epsilon, delta, alpha).epsilon_upper

    def _asked(self, epsilon: float | None, delta: float | None, alpha: float) -> Result:
        return self.judge(Question(epsilon, self.delta if delta is None else delta, alpha))

    def mean_limit(self, bound: float, alpha: float = 0.05) -> float:
        """Compute an upper confidence limit for the mean of min(change, bound).

        It is one for the mean change itself if no change can exceed the bound: with losses in
        [0, bound] it bounds the hypothesis stability E|change of loss|. Failures count as the
        bound. m trials cannot show a mean far below 3·bound/m.

        Parameters
        ----------
        bound : float
            Positive.
        alpha : float, default 0.05
            One minus the confidence.

        Examples
        --------
        >>> Trials.from_changes([0.1, 0.2] * 50, n=10).mean_limit(bound=1.0) < 0.25
        True
        """
        from poise.theory import averaged
        from poise.theory.changes import Changes

        parts = np.minimum(self.table.values / checks.positive("bound", bound), 1.0)
        limit = averaged.upper_delta(Changes(parts, self.n_trials), None, checks.alpha(alpha))
        return float(bound * limit)

    def profile(
        self, alpha: float = 0.05, *, delta: float | None = None, **options: Any
    ) -> Profile | None:
        """Compute limits for all epsilon at once: the curve that may be looked at before choosing.

        Parameters
        ----------
        alpha : float, default 0.05
            One minus the confidence with which all limits hold.
        delta : float, optional
            As in :meth:`delta_upper`.
        **options
            ``delta_max`` as in :func:`poise.theory.restricted_limits` where the Binomial test
            reads the trials, ``levels`` where the averaged test does.

        Returns
        -------
        Profile or None
            None for labels and decisions, whose changes have no size.
        """
        from poise.results.profile import Profile

        law = self._asked(self.design.least_epsilon, delta, alpha).law
        return Profile.of(self.table, law, alpha, **options) if self.design.sized else None

    @property
    def law(self) -> ModuleType:
        """The law of limits that nobody asked for."""
        return self._asked(self.design.least_epsilon, None, self.design.level).law

    def _threshold(self, epsilon: float | None) -> float | None:
        return self.design.threshold(allowed_change(epsilon, self.design))

    # rows

    def rows(self, k: int) -> dict[str, list[object]]:
        """Return the rows of trial k, by the names that people call them.

        ``"trained"`` are the rows of its first full fit, ``"removed"`` those that its reduced fits
        went without, one after the other (or ``"added"``), and ``"tested"`` its test rows.
        """
        split = self._split
        trial = checks.count("k", k)
        if trial >= self.n_observed:
            raise ArgumentError(f"must be below {self.n_observed:,}", argument="k", got=k)
        differ, tested = self._called
        return {
            "trained": self._labels(split.rows(trial, 0)[0]),
            differ: [label for labels in self._removed(trial) for label in labels],
            tested: self._labels(split.points(trial)),
        }

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each change, failed ones too.

        Its columns are trial, removal, point and change; where the rows are known also
        ``removed_row`` (or ``added_row``) and ``test_row``, by your own labels (lists where there
        are several).
        """
        places = np.indices(self.changes.shape).reshape(3, -1)
        columns: dict[str, Any] = dict(zip(("trial", "removal", "point"), places, strict=True))
        columns["change"] = self.changes.ravel()
        if getattr(self.origin, "split", None) is not None:
            trials = range(self.n_observed)
            removed = [self._removed(k) for k in trials]
            tested: list[Any] = [self._labels(self._split.points(k)) for k in trials]
            if self.design.compares == "decisions":  # which are about all points together
                tested = [[_one_or_several(labels)] for labels in tested]
            differ, point_of = (f"{each.replace('tested', 'test')}_row" for each in self._called)
            if self.design.notion != "changed":  # there, nothing is removed
                columns[differ] = [_one_or_several(removed[k][j]) for k, j, _ in places.T]
            columns[point_of] = [tested[k][t] for k, _, t in places.T]
        return as_frame(columns)

    @property
    def _called(self) -> tuple[str, str]:
        """What two fits differ by, and where they predict."""
        return _CALLED.get(self.design.notion, ("removed", "tested"))

    def _removed(self, k: int) -> list[list[object]]:
        """Name what leaves in each removal of a trial."""
        return [self._labels(self._split.removed(k, j)) for j in range(self.design.shape[0])]

    def influence(self, epsilon: float | None = None) -> pd.DataFrame:
        """List the rows (or groups) of a given training set, those that matter most first.

        It describes and certifies nothing: the first row was chosen by looking at all of them. To
        ask about one of them, take other fresh rows, or divide α by the number of rows:
        ``deployed_test(..., without=…, chosen_from=…)``.

        Parameters
        ----------
        epsilon : float
            Change beyond which a prediction counts as moved; left out for labels and decisions.

        Returns
        -------
        DataFrame
            ``row`` by your own labels (a list for a group), ``moved``: the share of trials in which
            the change is larger, ``mean_change``, ``largest_change`` and ``failed``.
        """
        design = self.design
        if design.notion != "deployed" or not design.all_leave:
            raise DataError(
                "influence is known where each row of a training set leaves in turn",
                remedy="ask poise.measure_deployed with removals_per_trial='all'",
            )
        left_out = self._removed(0)
        LOOKED_AT[self.origin.data] = design.n
        changes, threshold = self.changes[:, :, 0], self._threshold(epsilon)
        failed = np.isnan(changes)
        changes = np.where(failed, 0.0, changes)
        moved = changes if threshold is None else changes > threshold
        columns = {
            "row": [_one_or_several(labels) for labels in left_out],
            "moved": moved.mean(axis=0),
            "mean_change": changes.mean(axis=0),
            "largest_change": changes.max(axis=0, initial=0.0),
            "failed": failed.sum(axis=0),
        }
        order = ["moved", "mean_change"]
        return as_frame(columns).sort_values(order, ascending=False, ignore_index=True)

    def _labels(self, rows: NDArray[np.int64]) -> list[object]:
        """Name rows by the user's own labels; files hold none."""
        label_of = getattr(self.origin, "label_of", int)
        return [label_of(row) for row in rows.tolist()]

    @property
    def _split(self) -> Split:
        found: Split | None = getattr(self.origin, "split", None)
        if found is None:
            raise ArgumentError("the rows of these trials are not known: they came without them")
        return found

    def __bool__(self) -> bool:
        raise TypeError("trials are neither true nor false: say trials.test(...).stable")

    def __str__(self) -> str:
        from poise.results.sentences import measured

        return "\n".join(measured(self))

    def __repr__(self) -> str:
        shape = " × ".join(map(str, self.changes.shape))
        size = f"n={self.design.n}, " if self.design.n else ""
        return f"Trials({self.design.title}, {size}changes: {shape})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Trials):
            return NotImplemented
        mine, theirs = self.__getstate__(), other.__getstate__()
        tables = [(mine.pop(name), theirs.pop(name)) for name in ("changes", "errors")]
        return mine == theirs and all(np.array_equal(a, b, equal_nan=True) for a, b in tables)

    def __hash__(self) -> int:
        return hash((self.changes.tobytes(), self.design))

    def __getstate__(self) -> dict[str, Any]:
        return {name: vars(self)[name] for name in self.__dataclass_fields__} | {"origin": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        for table in (self.changes, self.errors):
            table.setflags(write=False)


def _one_or_several(labels: list[object]) -> object:
    return labels[0] if len(labels) == 1 else labels


def _numbers(values: ArrayLike) -> Floats:
    try:
        return np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        rule = "must be numbers >= 0, or nan"
        raise ArgumentError(rule, argument="changes", got=values) from None


def _table(values: ArrayLike, design: Design) -> Floats:
    table = _numbers(values)
    table = table.reshape(0, *design.shape) if table.size == 0 else table
    if table.shape[1:] != design.shape or len(table) > design.n_trials:
        rule = f"must have shape {(design.n_trials, *design.shape)}, or fewer trials"
        raise ArgumentError(rule, argument="changes", got=table.shape)
    shares = design.compares == "decisions"
    beyond = table[(table < 0) | (table > (1 if shares else np.inf))]
    if beyond.size:
        rule = f"must be {'shares in [0, 1]' if shares else 'numbers >= 0'}, or nan"
        raise ArgumentError(rule, argument="changes", got=float(beyond[0]))
    return table
