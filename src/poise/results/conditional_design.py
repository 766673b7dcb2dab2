"""The design of a data-conditional measurement: known before the first fit."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated, Any

from poise import arguments
from poise.arguments.field_rules import (
    MOST_ROWS,
    Among,
    Count,
    Digest,
    Positive,
    Seed,
    TrainingSize,
)
from poise.arguments.typed_fields import read_object
from poise.errors import RecordError

__all__ = ["NOTIONS", "ConditionalDesign"]

NOTIONS = ("deployed", "add-one", "jackknife")


@dataclass(frozen=True)
class ConditionalDesign:
    """The setting of a measurement about one given training set D.

    Attributes
    ----------
    algorithm : str
        The algorithm's name and parameters.
    notion : {"deployed", "add-one", "jackknife"}
        What a trial compares: see :func:`poise.conditional_test`.
    n : int
        Number of training rows.
    n_fresh : int
        Rows that are not training rows.
    points : int
        For "add-one": at how many fresh points each trial compares predictions.
    distance : str
        How far apart two predictions are.
    losses : bool
        Whether losses are compared instead of predictions.
    seed : int
        Root seed; with the same data and arguments it gives the same changes.
    training_seed : int
        The seed of every fit: the ``random_state`` with which a scikit-learn estimator has to
        be fitted to give the model that the verdict is about.
    path : str
        How the changes were computed: fit by fit, or by which formula.
    name : str
        What headlines call the algorithm; "" for a short form of ``algorithm``.
    training_digest : str
        A digest of the training rows, in any order: the certificate is about no other rows.

    Examples
    --------
    >>> design = ConditionalDesign("Ridge()", "deployed", n=300, n_fresh=100)
    >>> design.n_trials, design.changes_per_trial, design.n_fits
    (100, 300, 301)
    """

    algorithm: str
    notion: Annotated[str, Among(NOTIONS)]
    n: TrainingSize
    n_fresh: Count
    points: Positive = 1
    distance: str = "euclidean"
    losses: bool = False
    seed: Seed = 0
    training_seed: Seed = 0
    path: str = "fit by fit"
    name: str = ""
    training_digest: Digest = ""

    @property
    def spread(self) -> float | None:
        """None: ε is given as a number here, never as a share of the spread."""
        return None

    @property
    def title(self) -> str:
        """What headlines call the algorithm."""
        return arguments.shortened(self.name or self.algorithm)

    @property
    def n_trials(self) -> int:
        """Number of trials: no division by n.

        Every fresh row is one; for "add-one" a trial takes 1 + T of them.

        Examples
        --------
        >>> ConditionalDesign("Ridge()", "add-one", 300, 100, points=3).n_trials
        25
        """
        if self.notion == "add-one":
            return self.n_fresh // (1 + self.points)
        return self.n_fresh

    @property
    def changes_per_trial(self) -> int:
        """How many changes one trial has: n removals, or T points."""
        return self.points if self.notion == "add-one" else self.n

    @property
    def n_fits(self) -> int:
        """Fits of a full run that fits every model."""
        return self.fits(self.n_trials)

    def fits(self, trials: int) -> int:
        """Return the fits that so many trials take.

        Examples
        --------
        >>> [ConditionalDesign("x", notion, 30, 10).fits(5) for notion in NOTIONS]
        [31, 6, 180]
        """
        if self.notion == "deployed":
            return self.n + 1
        return 1 + trials if self.notion == "add-one" else self.n + self.n * trials

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, content: object) -> ConditionalDesign:
        """Read what :meth:`to_dict` wrote; refuse what no run can have.

        Examples
        --------
        >>> design = ConditionalDesign("Ridge()", "deployed", n=300, n_fresh=100)
        >>> ConditionalDesign.from_dict(design.to_dict()) == design
        True
        """
        design = read_object(cls, content, "a design")
        if design.n_fresh * (design.n + design.points) > MOST_ROWS:
            raise RecordError("this is not a design written by poise: it has too many rows")
        return design
