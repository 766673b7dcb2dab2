"""All changes of a data-conditional measurement, and what can be said about them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poise import arguments
from poise.arguments.field_rules import Count
from poise.arguments.typed_fields import read_object
from poise.errors import ArgumentError, RecordError
from poise.results.change_arrays import as_change_table, read_changes
from poise.results.conditional_design import ConditionalDesign
from poise.results.design import Design
from poise.results.json_encoding import fields_of
from poise.results.presented_result import PresentedTrials
from poise.results.trials import Trials

if TYPE_CHECKING:
    from poise.results.conditional_result import ConditionalResult
    from poise.results.influence import Influence
    from poise.results.text.summary import Summary

__all__ = ["FORM", "ConditionalTrials"]

FORM = "poise conditional trials 1"


@dataclass(frozen=True)
class _Header:
    """What a file holds beside the changes."""

    design: ConditionalDesign
    fresh: tuple[Count, ...]
    n_fits: Count
    failures: tuple[str, ...]
    warnings: tuple[str, ...]
    format: str = FORM


@dataclass(frozen=True, eq=False)
class ConditionalTrials(PresentedTrials):
    """The changes of every trial about one training set, in the order of the trials.

    Given the training set, the trials are independent: each has a fresh row of its own. Its
    share of changes beyond ε has the mean δ_D (:meth:`shares`).

    Attributes
    ----------
    changes : ndarray of float64, shape (m, K)
        The K changes of each trial; nan where a fit failed. For "deployed" and "jackknife"
        column i belongs to training row i, for "add-one" to one of the T points.
    design : ConditionalDesign
        What was measured, on which rows.
    fresh : ndarray of int
        For each trial the number of its fresh row, counting from 0: the point of "deployed",
        the added row of the other notions.
    n_fits : int
        Fits that were computed.
    failures : tuple of str
        Messages of fits that failed, where the policy keeps them.
    warnings : tuple of str
        What was noticed that may make the error level of a verdict wrong.

    Examples
    --------
    >>> design = ConditionalDesign("mean", "deployed", n=4, n_fresh=60)
    >>> record = ConditionalTrials(np.tile([0.1, 0.2, 0.1, 0.9], (60, 1)), design)
    >>> record.shares(0.5)[:2], record.test(epsilon=0.5, delta=0.3).verdict.value
    (array([0.25, 0.25]), 'stable')
    >>> record.test(epsilon=0.5, delta=0.1, gamma=0.25).verdict.value
    'stable'
    """

    file_format: ClassVar[str] = FORM

    changes: NDArray[np.float64]
    design: ConditionalDesign
    fresh: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    n_fits: int = 0
    failures: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        changes = _as_table(self.changes, self.design)
        fresh = np.array(self.fresh if len(self.fresh) else np.arange(len(changes)), np.int64)
        for name, array in {"changes": changes, "fresh": fresh}.items():
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    @property
    def n_trials(self) -> int:
        """Number of trials planned."""
        return self.design.n_trials

    @property
    def n_failures(self) -> int:
        """Number of trials in which at least one change could not be measured."""
        return int(np.isnan(self.changes).any(axis=1).sum())

    def shares(self, epsilon: float, *, failures_exceed: bool = True) -> NDArray[np.float64]:
        """Return each trial's share of changes that are strictly larger than ``epsilon``.

        Given the training set, they are i.i.d. in [0, 1] with mean δ_D.

        Parameters
        ----------
        epsilon : float
            Allowed change, >= 0.
        failures_exceed : bool
            Whether a failure counts as a larger change, as "stable" needs, or as none, as
            "unstable" needs.
        """
        return self.as_trials.shares(epsilon, failures_exceed=failures_exceed)

    def test(
        self, epsilon: float, delta: float, alpha: float = 0.05, gamma: float | None = None
    ) -> ConditionalResult:
        """Judge the changes: :func:`poise.conditional_test` without the fits.

        Valid for one (ε, δ, γ) that was fixed before looking at the changes.

        Parameters
        ----------
        epsilon : float
            Allowed change, >= 0.
        delta : float
            Allowed mean of the shares or, with ``gamma``, allowed probability that a share is
            larger than γ; in [0, 1).
        alpha : float
            Error level, in (0, 1).
        gamma : float, optional
            Tolerated share, in [0, 1): the Binomial test on 1{share > γ}. By default the
            averaged test on the shares.
        """
        from poise.results.conditional_result import judge

        return judge(self, epsilon, delta, alpha, gamma)

    def delta_hat(self, epsilon: float, alpha: float = 0.05, gamma: float | None = None) -> float:
        """Upper limit for δ_D (with ``gamma``: for P(share > γ)) at confidence 1 − α, for one ε.

        Trials that were not run count as exceedances.
        """
        from poise.theory.estimates import delta_hat

        if gamma is None:
            return self.as_trials.delta_hat(epsilon, alpha)
        moved = np.count_nonzero(self.tolerated(gamma) > float(arguments.epsilon(epsilon)))
        return float(delta_hat(moved + self.n_trials - self.n_observed, self.n_trials, alpha))

    def epsilon_hat(self, delta: float, alpha: float = 0.05, gamma: float | None = None) -> float:
        """Upper limit for the smallest ε that would do, at confidence 1 − α, for one δ."""
        from poise.theory.estimates import epsilon_hat

        if gamma is None:
            return self.as_trials.epsilon_hat(delta, alpha)
        unseen = self.n_trials - self.n_observed
        return float(epsilon_hat(self.tolerated(gamma), delta, alpha, unseen=unseen))

    def tolerated(self, gamma: float, *, failures_exceed: bool = True) -> NDArray[np.float64]:
        """Return one change per trial, which exceeds ε iff its share of larger changes exceeds γ.

        Parameters
        ----------
        gamma : float
            Tolerated share, in [0, 1).
        failures_exceed : bool
            As in :meth:`shares`.
        """
        from poise.theory.tolerated_share import tolerated_change

        return tolerated_change(self.changes, gamma, failures_exceed=failures_exceed)

    def influence(self, epsilon: float = 0.0) -> Influence:
        """Return which training rows move most predictions when they are removed.

        It describes the n refits of this training set; it certifies nothing about single rows.

        Parameters
        ----------
        epsilon : float
            A prediction counts as moved if it changes by more than this.
        """
        from poise.results.influence import Influence

        return Influence.of(self, float(arguments.epsilon(epsilon)))

    @property
    def as_trials(self) -> Trials:
        """The same changes as independent trials of R removals at T points."""
        m, n, size = self.n_trials, self.design.n, self.design.changes_per_trial
        removals, points = (1, size) if self.design.notion == "add-one" else (size, 1)
        design = Design(
            self.design.algorithm,
            n,
            m * n,
            m * points,
            distance=self.design.distance,
            from_rows=False,
            removals=removals,
            points=points,
        )
        if size > 1:
            return Trials(self.changes.reshape(-1, removals, points), design)
        failed = np.isnan(self.changes[:, 0])
        messages = ("a fit failed",) * int(failed.sum())
        return Trials(np.where(failed, np.inf, self.changes[:, 0]), design, failures=messages)

    def _header(self) -> dict[str, Any]:
        return {
            "design": self.design.to_dict(),
            "fresh": self.fresh.tolist(),
            "n_fits": self.n_fits,
            "failures": list(self.failures),
            "warnings": list(self.warnings),
        }

    @classmethod
    def from_json(cls, text: str) -> ConditionalTrials:
        """Read a measurement written by :meth:`to_json`."""
        wanted = ("changes", "design", "fresh", "n_fits", "failures", "warnings")
        content = fields_of(text, wanted, "conditional trials")
        return cls._from_header(content.pop("changes"), content)

    @classmethod
    def _from_header(cls, changes: ArrayLike, header: dict[str, Any]) -> Self:
        written = read_object(_Header, header, "conditional trials")
        fresh = np.array(written.fresh, dtype=np.int64)
        kept = written.n_fits, written.failures, written.warnings
        try:
            table = read_changes(changes).reshape(-1, written.design.changes_per_trial)
            if len(fresh) not in (0, len(table)):
                raise ArgumentError(f"{len(fresh)} fresh rows for {len(table)} trials")
            return cls(table, written.design, fresh, *kept)
        except (ArgumentError, TypeError, ValueError) as error:
            raise RecordError(
                f"these are not conditional trials written by poise: {error}"
            ) from None

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with one row per change."""
        import pandas as pd

        trial, place = np.indices(self.changes.shape).reshape(2, -1)
        column = "point" if self.design.notion == "add-one" else "training_row"
        places = {"trial": trial, "fresh_row": self.fresh[trial], column: place}
        return pd.DataFrame(places | {"change": self.changes.ravel()})

    def facts(self) -> dict[str, str]:
        """Return what was measured and how large the changes were, worded."""
        from poise.results.text.describe_conditional import facts_of_conditional_trials

        return facts_of_conditional_trials(self)

    def describe(self) -> Summary:
        """Return headline and paragraphs: what was measured, and how it can be judged."""
        from poise.results.text.describe_conditional import describe_conditional_trials

        return describe_conditional_trials(self)

    def __repr__(self) -> str:
        design = self.design
        return (
            f"ConditionalTrials({design.title}, {design.notion}, n={design.n}, "
            f"{self.n_observed:,} of {self.n_trials:,} trials)"
        )

    def plot(
        self,
        epsilon: float,
        *,
        gamma: float | None = None,
        delta: float | None = None,
        ax: Any = None,
        title: str | None = None,
        figsize: tuple[float, float] | None = None,
    ) -> Any:
        """Draw the shares of the fresh rows beyond ``epsilon``; return the figure, or ``ax``."""
        from poise.results.plots.shares import plot_shares

        place = {"ax": ax, "title": title, "figsize": figsize}
        return plot_shares(self, epsilon, gamma=gamma, delta=delta, **place)

    def _picture(self) -> Callable[[], Any]:
        from poise.results.plots.changes import plot_changes

        title = f"{self.design.title}, this training set of {self.design.n:,} rows"
        return lambda: plot_changes(self.as_trials, title)


def _as_table(values: ArrayLike, design: ConditionalDesign) -> NDArray[np.float64]:
    """Return a table of changes, nan where one failed; refuse other shapes and numbers."""
    axes = "(trials, changes of a trial)"
    changes = as_change_table(values, (design.changes_per_trial,), axes)
    if len(changes) > design.n_trials:
        raise ArgumentError(
            f"changes must hold at most {design.n_trials:,} trials for this design, got "
            f"{len(changes):,}"
        )
    return changes
