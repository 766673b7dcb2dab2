"""The design of a run: everything that is known before the first fit."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Any

from poise import arguments
from poise.arguments.field_rules import (
    Among,
    Count,
    Epsilon,
    Positive,
    Probability,
    Seed,
    TrainingSize,
)
from poise.arguments.typed_fields import read_object
from poise.errors import RecordError
from poise.protocol.random_order import ORDERS, PERMUTATION
from poise.theory.averaged_design import fits_per_trial, spare_points, trials
from poise.theory.number_of_trials import kappa

__all__ = ["Design"]


@dataclass(frozen=True)
class Design:
    """The setting of a measurement.

    Attributes
    ----------
    algorithm : str
        The algorithm's name and parameters.
    n : int
        Training size whose stability is asked: rows, or groups if there are any.
    n_labeled, n_unlabeled : int
        Rows available.
    coupling : str
        How the two fits of a trial share randomness.
    distance : str
        How far apart two predictions are.
    seed : int
        Root seed; with the same data and arguments it gives the same changes.
    zeta : float
        The test's own uniform number, used only by randomised decisions.
    shuffle : bool
        Whether rows were put in random order before they were split.
    order : {"keys", "permutation"}
        How that order was drawn: by a key of each row, or by numpy's shuffle in older files.
    path : str
        How the changes were computed: fit by fit, or the name of an exact shortcut.
    remove : int
        How many of the n rows (or groups) are left out of the second fit of a trial.
    replace : bool
        Whether fresh ones take their place.
    n_groups : int or None
        Number of groups, if whole groups are kept and removed together.
    labeled_test : bool
        Whether test rows must have a response, as changes of a loss need.
    removals, points : int
        R and T: how many rows of a trial are removed, each by itself, and at how many
        points the predictions are compared. A trial has R·T changes.
    one_full_fit : bool
        Whether one fit on all rows serves every removal of a trial, because the order
        of the rows does not matter to the algorithm; otherwise each has its own.
    name : str
        What headlines call the algorithm; "" for a short form of ``algorithm``.
    spread : float or None
        Standard deviation of the responses of the rows set aside, if there are any.
    set_aside : int
        Rows that were set aside to find it, and are not among ``n_labeled``.
    n_classes : int or None
        Number of different responses, where they are labels, whole numbers or few: a
        test could try every one of them.
    n_points : int or None
        Number of different points that the features can be, where it is so small that
        a test could try every one of them.
    from_rows : bool
        False for changes that were measured elsewhere. Their rows were not counted: the numbers
        of rows are then the smallest that so many trials need.

    Examples
    --------
    >>> design = Design("Ridge()", n=20, n_labeled=442, n_unlabeled=0)
    >>> design.n_trials, float(design.kappa)
    (21, 21.047619047619047)
    """

    algorithm: str
    n: TrainingSize
    n_labeled: Count
    n_unlabeled: Count = 0
    coupling: str = "shared"
    distance: str = "euclidean"
    seed: Seed = 0
    zeta: Probability = 1.0
    shuffle: bool = True
    path: str = "fit by fit"
    remove: Positive = 1
    replace: bool = False
    n_groups: Count | None = None
    labeled_test: bool = False
    n_classes: Count | None = None
    n_points: Count | None = None
    from_rows: bool = True
    removals: Positive = 1
    points: Positive = 1
    one_full_fit: bool = False
    name: str = ""
    spread: Epsilon | None = None
    set_aside: Count = 0
    order: Annotated[str, Among(ORDERS)] = PERMUTATION  # what a file means that does not say it

    @property
    def title(self) -> str:
        """What headlines call the algorithm.

        Examples
        --------
        >>> Design("Ridge()", 20, 442).title, Design("Ridge()", 20, 442, name="ridge").title
        ('Ridge()', 'ridge')
        """
        return arguments.shortened(self.name or self.algorithm)

    @property
    def unit(self) -> str:
        """What is kept or removed as a whole: ``"row"`` or ``"group"``."""
        return "row" if self.n_groups is None else "group"

    @property
    def n_units(self) -> int:
        """Labelled units: rows, or groups."""
        return self.n_labeled if self.n_groups is None else self.n_groups

    @property
    def training_units(self) -> int:
        """Labelled units that one trial trains on: n, plus the fresh ones that replace some."""
        return self.n + (self.remove if self.replace else 0)

    @cached_property
    def n_trials(self) -> int:
        """Number of independent trials the data hold, ⌊κ⌋."""
        rows = self.training_units, self.n_units, self.spare_points
        return int(trials(*rows, self.points))

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one trial's changes: () for a single one, else (R, T)."""
        return () if self.removals == self.points == 1 else (self.removals, self.points)

    @property
    def fits_per_trial(self) -> int:
        """Fits of one trial: R + 1 where one full fit serves all removals, else 2R."""
        return fits_per_trial(self.removals, self.one_full_fit)

    @property
    def n_fits(self) -> int:
        """Fits of all trials together."""
        return self.n_trials * self.fits_per_trial

    @property
    def kappa(self) -> Fraction:
        """κ = min{N_ℓ/n, (N_ℓ+N_u)/(n+1)}, before it is rounded down to a number of trials.

        N_ℓ counts groups if there are any. Replacing k units takes n+k of them
        instead of n; a labelled test row leaves N_u out: κ = N_ℓ/(n+1). T test points
        a trial make it N_ℓ+N_u over n+T.
        """
        rows = Fraction(self.n_units + self.spare_points, self.training_units + self.points)
        return min(kappa(self.training_units, self.n_units, self.spare_points), rows)

    @property
    def spare_points(self) -> int:
        """Unlabelled rows that can serve as test points."""
        return 0 if self.labeled_test else self.n_unlabeled

    @property
    def most_points(self) -> int:
        """The most points that a trial can have if no trial is lost for them; at least 1.

        Examples
        --------
        >>> Design("Ridge()", n=20, n_labeled=2000, n_unlabeled=1000).most_points
        10
        """
        return spare_points(self.training_units, self.n_units, self.spare_points)

    @property
    def is_papers(self) -> bool:
        """Whether one row is removed and predictions are compared: the setting of the paper."""
        one_row = self.remove == 1 and not self.replace and self.n_groups is None
        return one_row and not self.labeled_test

    def ceiling(self, delta: float, alpha: float, epsilon: float) -> float | None:
        """Return the largest power any valid black-box test can have here, at δ* = 0.

        None where no ceiling is proved: for a distance or loss that the user wrote, for replacing
        several rows, for labels and probabilities if groups or several rows are removed or ε is
        as large as the distance can be, where responses and features have values that a test
        could try one by one, and for changes measured elsewhere.
        """
        from poise.results.proved_ceiling import proved_ceiling

        return proved_ceiling(self, delta, alpha, epsilon)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, content: object) -> Design:
        """Read what :meth:`to_dict` wrote; refuse what no run can have.

        Examples
        --------
        >>> design = Design("Ridge()", n=20, n_labeled=442)
        >>> Design.from_dict(design.to_dict()) == design
        True
        >>> Design.from_dict(design.to_dict() | {"n": 1})
        Traceback (most recent call last):
        poise.errors.RecordError: this is not a design written by poise: n is 1
        """
        design = read_object(cls, content, "a design")
        if design.remove > design.n or design.removals > design.n:
            raise RecordError("this is not a design written by poise: its numbers contradict")
        return design
