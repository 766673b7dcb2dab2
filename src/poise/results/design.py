"""Everything that is known before the first fit: which trials, from which rows, compared how."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from poise import checks
from poise.checks import counted
from poise.data.randomness import Randomness
from poise.errors import ArgumentError, printable
from poise.numbers import without_noise
from poise.theory import counts

_NUMBERS = ("absolute", "euclidean")
_BOUNDED = ("label", "total_variation")
YES_OR_NO = ("label", "change of zero_one loss")  # distances whose changes are 0 or 1
_LEVEL = 0.05
_REMOVED = 2_000_000  # at most, for each point of all trials, where they cost no fit
MOST_FITTED = 1_000  # rows of a given training set; of more, one is drawn for each fresh row
Notion = Literal["new", "deployed", "without", "update", "add-one", "jackknife", "changed"]
GivenUp = Literal["removals", "points", "together"]
_COUNTS = dict.fromkeys(("removals", "points", "remove", "batch", "chosen_from", "max_trials"), 1)
_COUNTS |= dict.fromkeys(("n_labeled", "n_unlabeled", "n_groups", "n_groups_unlabeled"), 0)
_COUNTS |= dict.fromkeys(("n_classes", "seed", "set_aside"), 0)
_GROWING_LOSSES = ("change of squared loss", "change of absolute loss")


@dataclass(frozen=True, kw_only=True)
class Design:
    """The setting of a measurement.

    Attributes
    ----------
    algorithm, name : str
        Name with parameters; what headlines call it, "" for the same.
    n : int
        Training size whose stability is asked: rows, or groups if there are any.
    n_labeled, n_unlabeled : int
        Rows that trials may use, fresh ones where a training set is given; those set aside are not
        counted.
    notion : {"new", "deployed", "without", "update", "add-one", "jackknife", "changed"}
        What a trial is about: a new training set of size n, one that is given, or two fitted models
        ("changed").
    batch : int
        Rows (or groups) that a trial adds to the training set that is given.
    without, without_as_typed, chosen_from : tuple of int, str, int
        Rows of the training set that are left out, by their places; "where customer_id == 1234" if
        they were named so; sets of rows among which they were chosen by looking at changes.
    removals, points : int
        R and T as planned: a trial has R·T changes.
    given_up : tuple of str
        "removals" or "points", if one of them did not survive the look at the first trial. The
        changes then have R = 1 or T = 1; the number of trials and the test stay as planned.
        "together", if fresh rows are predicted one by one.
    remove, replace : int, bool
        Rows (or groups) removed at once, and whether new ones take their place.
    position : {"last", "uniform"}
        The last rows of the training set are removed, or random ones, in place.
    order_free : bool
        Whether the order of rows is known not to matter, by proof or by the first trial.
    one_full_fit : bool
        Whether one fit on all rows serves every removal of a trial.
    max_trials : int or None
        Largest number of trials.
    coupling : str
        How the two fits of a trial share randomness.
    compares : {"predictions", "losses", "decisions"}
        What is compared; losses need responses of the test rows.
    distance, response : str
        How two predictions are compared, and by which method they are made.
    n_groups, n_groups_unlabeled : int
        Groups, if they are kept and removed as a whole; those without any response.
    n_classes : int or None
        Classes, for classifiers.
    few_values : bool
        Whether the features have so few values that a test could try them all.
    shuffle, seed : bool, int
        Whether the rows were put in a random order first; the seed of that order and of the
        algorithm's random terms.
    from_rows : bool
        False for changes measured elsewhere, whose rows are not known.
    sd, set_aside, epsilon_as_typed : float or None, int, str
        Standard deviation of the responses of rows set aside for it, else of all; how many were;
        "5% of sd" if the allowed change was given so.
    randomized : bool
        Whether ties are decided by the paper's coin.

    Examples
    --------
    >>> design = Design(algorithm="Ridge()", n=20, n_labeled=442)
    >>> design.n_trials, design.kappa, design.fits(design.n_trials)
    (21, Fraction(442, 21), 42)
    """

    algorithm: str
    n: int
    n_labeled: int
    n_unlabeled: int = 0
    notion: Notion = "new"
    batch: int = 1
    without: tuple[int, ...] = ()
    without_as_typed: str = ""
    chosen_from: int = 1
    removals: int = 1
    points: int = 1
    given_up: tuple[GivenUp, ...] = ()
    remove: int = 1
    replace: bool = False
    position: Literal["last", "uniform"] = "last"
    order_free: bool = False
    one_full_fit: bool = False
    max_trials: int | None = 10_000
    coupling: str = "shared"
    compares: Literal["predictions", "losses", "decisions"] = "predictions"
    distance: str = "euclidean"
    response: str = "predict"
    n_groups: int | None = None
    n_groups_unlabeled: int = 0
    n_classes: int | None = None
    few_values: bool = False
    shuffle: bool = True
    seed: int = 0
    name: str = ""
    from_rows: bool = True
    sd: float | None = None
    set_aside: int = 0
    epsilon_as_typed: str = ""
    randomized: bool = False

    def __post_init__(self) -> None:
        for name in ("algorithm", "name"):
            object.__setattr__(self, name, printable(getattr(self, name)))
        checks.count("n", self.n, 0 if self.notion == "changed" else 2)
        for name, least in _COUNTS.items():
            if getattr(self, name) is not None:
                checks.count(name, getattr(self, name), least)
        if self.sd is not None:
            checks.positive("sd", self.sd)
        if self.notion != "new":
            return
        most, n = self.n if self.replace else self.n - 1, f"n = {self.n:,}"
        if self.remove > most:
            rule = f"must be at most {most:,} for {n}"
            raise ArgumentError(rule, argument="remove", got=self.remove)
        if self.removals > (blocks := self.n // self.remove):
            rule = f"must be at most {blocks:,}, as {n} rows hold no more blocks of {self.remove:,}"
            raise ArgumentError(rule, argument="removals_per_trial", got=self.removals)

    @property
    def unit(self) -> str:
        """What is kept or removed as a whole: "row" or "group"."""
        return "row" if self.n_groups is None else "group"

    @property
    def units(self) -> tuple[int, int]:
        """Labelled units, and others that can serve as test points."""
        if self.n_groups is None:
            labeled, unlabeled = self.n_labeled, self.n_unlabeled
        else:
            labeled, unlabeled = self.n_groups, self.n_groups_unlabeled
        return labeled, 0 if self.compares == "losses" else unlabeled

    @property
    def taken(self) -> int:
        """Labelled units that one trial trains on, with those that replace others.

        Of a given training set, only those that are added.
        """
        if self.notion != "new":
            return self.batch if self.notion in ("update", "add-one", "jackknife") else 0
        return self.n + (self.remove if self.replace else 0)

    @property
    def kappa(self) -> Fraction:
        """κ = min{N_ℓ/n, (N_ℓ+N_u)/(n+T)}: its whole part is the number of trials the rows hold."""
        labeled, unlabeled = self.units
        by_rows = Fraction(labeled + unlabeled, self._rows_of_a_trial)
        return min(by_rows, Fraction(labeled, self.taken)) if self.taken else by_rows

    @property
    def _rows_of_a_trial(self) -> int:
        """Units that a trial takes; the jackknife predicts at rows of the training set."""
        return self.taken + (0 if self.notion == "jackknife" else self.points)

    @property
    def held(self) -> int:
        """Number of trials that the rows hold, also those beyond ``max_trials``."""
        capped = self.n_trials == self.max_trials
        return self._least.n_trials if capped else self.n_trials

    @property
    def spare_points(self) -> int:
        """Points that each trial can have without losing a trial."""
        trials = max(1, self.n_trials)
        return max(1, (sum(self.units) - trials * self.taken) // trials)

    def rows_for(self, trials: int) -> int:
        """Return the fewest labelled units that hold so many trials of this size."""
        unlabeled = self.units[1] if self.notion == "new" else 0  # fresh units are all alike
        return max(trials * self.taken, trials * self._least._rows_of_a_trial - unlabeled)

    def size_for(self, trials: int) -> int:
        """Return the largest n at which these rows hold so many trials; 0 if there is none."""
        if self.notion != "new":
            return 0
        fresh = self.taken - self.n
        size = counts.size_for(trials, *self.units, self._least.points, fresh)
        return size if size > max(1, self.remove) else 0

    @property
    def _least(self) -> Self:
        """The same without a cap, and with one point where all of them were spare."""
        spare = self.points == min(counts.MOST_POINTS, self.spare_points)
        points = 1 if spare and self.compares != "decisions" else self.points
        return replace(self, points=points, max_trials=None)

    @property
    def n_trials(self) -> int:
        """Number of independent trials: what the rows hold, at most ``max_trials``."""
        held = math.floor(self.kappa)
        return held if self.max_trials is None else min(held, self.max_trials)

    @property
    def shape(self) -> tuple[int, int]:
        """R and T of the changes, after what was given up; a decision is one change at T points."""
        removals = 1 if "removals" in self.given_up else self.removals
        alone = "points" in self.given_up or self.compares == "decisions"
        return removals, 1 if alone else self.points

    def shaped(
        self,
        removals: int | Literal["all"] | None,
        points: int | None,
        decided_at: int | None = None,
        all_free: bool = False,
    ) -> Self:
        """Choose R and T from rows and algorithm alone: what costs no fit is recorded."""
        if decided_at is not None:  # by a decision, which names its points
            if points is not None:
                problem = "must be left out: a decision names its points"
                raise ArgumentError(problem, argument="points_per_trial")
            return replace(self, points=decided_at)
        design = replace(self, points=points or min(counts.MOST_POINTS, self.spare_points))
        if removals is None and all_free and design.n_trials * self.n * design.points <= _REMOVED:
            removals = self.n
        removals = self.n // self.remove if removals == "all" else removals or 1
        free = self.order_free and self.coupling in ("shared", "independent")
        return replace(design, removals=removals, one_full_fit=free and removals > 1)

    @property
    def sized(self) -> bool:
        """Whether a change has a size: that of a label is yes or no, that of a decision a share."""
        return self.compares != "decisions" and self.distance not in YES_OR_NO

    @property
    def least_epsilon(self) -> float | None:
        """The smallest change that may be allowed; None where a change has no size."""
        return 0.0 if self.sized else None

    @property
    def all_leave(self) -> bool:
        """Whether each row of the training set that is given leaves in turn, in every trial."""
        return self.notion in ("deployed", "jackknife") and self.removals > 1

    def drawn(self, trials: int) -> NDArray[np.int64]:
        """Return which row of a large training set leaves in each trial: independent draws."""
        words = Randomness(self.seed).block("row that leaves", 0, trials)[:, 0]
        shares = (words >> np.uint64(11)).astype(np.float64) * 2.0**-53
        return np.asarray(shares * self.n, dtype=np.int64)

    def threshold(self, epsilon: float | None) -> float | None:
        """Return what changes are compared with: 0 for labels, None for decisions, else ε."""
        return 0.0 if self.distance in YES_OR_NO and self.compares != "decisions" else epsilon

    def fits(self, trials: int) -> int:
        """Return the number of fits that some trials need."""
        if self.notion == "new":
            one_full_fit = self.one_full_fit or self.position == "uniform"
            return trials * counts.fits_per_trial(self.shape[0], one_full_fit)
        if not trials:
            return 0
        leave = self.n if self.all_leave else len(np.unique(self.drawn(trials)))
        given = {"changed": 0, "without": 2, "deployed": 1 + leave}
        given["jackknife"] = self.n * (1 + trials)
        return given.get(self.notion, 1 + trials)  # equal fits are shared

    @property
    def level(self) -> float:
        """Level of limits that nobody asked for; rows that were chosen by looking share it."""
        return _LEVEL / self.chosen_from

    def least_trials(self, delta: float, alpha: float) -> float:
        """Return the fewest trials that can show delta; infinite if none can."""
        return 1 if self.randomized else counts.clean_trials(delta, alpha)

    def hopeless(self, delta: float, alpha: float) -> str:
        """Say why "stable" cannot be shown even if nothing changes; "" if it can."""
        why = self.shortage(least := self.least_trials(delta, alpha))
        return f"{why}; {self.remedy(least)}" if why else ""

    def shortage(self, least: float) -> str:
        """Say why there are fewer trials than the ``least``; "" if there are not."""
        if math.isinf(least):
            return "no number of trials can show this delta"
        if self.n_trials >= least:
            return ""
        if self.held >= least:
            return f"max_trials = {self.max_trials:,}; {least:,.0f} trials are the least"
        few = f"{self.unit}s" if self.from_rows else "trials"
        few = f"fresh {few}" if self.notion != "new" else few
        return f"too few {few}: {counted(self.n_trials, 'trial')}, {least:,.0f} are the least"

    def remedy(self, least: float) -> str:
        """Name what holds so many trials: a larger cap, more rows, or a smaller training size."""
        if math.isinf(least):
            return "choose a larger delta"
        if not self.from_rows:
            return f"measure {counted(int(least), 'trial')} or more"
        if self.held >= least:
            return f"ask with max_trials={least:.0f} or more"
        size = self.size_for(int(least))
        instead = f", or ask about n = {size:,} or less" if size else ""
        of_this = " of this size" if self.notion == "new" else ""
        return f"{self.needed(int(least))} hold enough trials{of_this}{instead}"

    def needed(self, trials: int = 1) -> str:
        """Name the rows that so many trials take."""
        kind = "labelled" if self.notion == "new" else "fresh"
        return counted(self.rows_for(trials), f"{kind} {self.unit}")

    @property
    def title(self) -> str:
        """What headlines call the algorithm: one line of at most 80 characters."""
        return in_brief(" ".join((self.name or self.algorithm).split()))

    def ceiling(self, delta: float, alpha: float, epsilon: float | None) -> float | None:
        """Return the largest power that a valid black-box test can have on these rows, at δ* = 0.

        Theorems 2, 4 and 5 of the paper for predictions that are numbers, their extensions to
        groups, several or replaced rows and growing losses, and Theorem H for labels and
        probabilities. None where none is proved: for distances and losses of the user's own,
        decisions, features with few values, random positions of an algorithm for which the order
        of rows matters, given training sets, and changes measured elsewhere.
        """
        placed = self.notion == "new" and (self.position == "last" or self.order_free)
        if epsilon is None or not self.from_rows or self.few_values or not placed:
            return None
        if self.distance not in self._proved(epsilon):
            return None
        from poise.theory import ceilings

        if self.distance in _BOUNDED and not self._reach_is_wide(epsilon):
            rows = self.n_labeled + self.set_aside + self.n_unlabeled
            return float(ceilings.ceiling_large_epsilon(self.n + 1, rows, delta, 0.0, alpha))
        labeled, unlabeled = self.units
        labeled += self.set_aside  # another test could use these rows too
        unlabeled = self.n_unlabeled if self.compares == "losses" else unlabeled
        asked: dict[str, Any] = {"delta": delta, "alpha": alpha}
        asked["response"] = "uncountable" if self.n_classes is None else "countable"
        return float(ceilings.power_bound(self.taken, labeled, unlabeled, **asked))

    def _proved(self, epsilon: float) -> tuple[str, ...]:
        """Return the distances for which a ceiling is proved in this setting."""
        one_row = self.remove == 1 and self.n_groups is None
        papers = one_row and not self.replace
        if self.compares == "losses":
            return _GROWING_LOSSES if papers else ()
        if self.compares == "decisions":
            return ()
        numbers = _NUMBERS if one_row or not self.replace else ()
        return (*numbers, *(_BOUNDED if papers and epsilon < 1 else ()))

    def _reach_is_wide(self, epsilon: float) -> bool:
        """Tell whether probabilities can be moved so far that the paper's ceiling holds for them.

        By Theorem H(i), under one shared random term; a label may be one of two where there are
        more.
        """
        if self.distance == "label" or not self.n_classes or self.coupling != "shared":
            return False
        return epsilon < 1 - 1 / max(self.n_classes, 2)


def training_size(n: Any, delta: Any, rows: int, groups: int | None) -> int:
    """Read n: a number of labelled rows, or of groups, or a share of them."""
    units, unit = (rows, "row") if groups is None else (groups, "group")
    if n is None:
        least = counts.clean_trials(checks.delta(0.1 if delta is None else delta), 0.05)
        size = 0 if math.isinf(least) else counts.size_for(int(least), units)
        held = counted(units, f"labelled {unit}")
        reach = f"; {held} allow up to n = {size:,}" if size > 1 else ""
        raise ArgumentError(f"is missing: the size of the training sets{reach}", argument="n")
    if isinstance(n, float) and 0 < n < 1:
        n = math.floor(without_noise(n * units))
    size = checks.count("n", n, 2)
    if size > units:
        raise ArgumentError(f"must be at most the {units:,} labelled {unit}s", argument="n", got=n)
    return size


def in_brief(text: str, most: int = 80) -> str:
    """Shorten the repr of an algorithm: steps lose their names, then the middle goes.

    Examples
    --------
    >>> in_brief("Pipeline(steps=[('scale', StandardScaler()), ('svc', SVC(C=2.0))])", 50)
    'Pipeline(StandardScaler(), SVC(C=2.0))'
    """
    if len(text) <= most:
        return text
    bare = re.sub(r"\('\w+', (\w+\([^()]*\))\)", r"\1", text)
    bare = re.sub(r"^Pipeline\(steps=\[(.*?)\]", r"Pipeline(\1", bare)
    half = most // 2
    return bare if len(bare) <= most else f"{bare[:half]}…{bare[half + 1 - most :]}"
