"""All changes of one measurement, and everything that can be said about them.

Nothing here fits a model: a saved measurement can be judged again with another
ε, δ or α in microseconds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poise import arguments
from poise.arguments import counted
from poise.arguments.field_rules import Count
from poise.arguments.printed_numbers import number
from poise.arguments.typed_fields import read_object
from poise.errors import ArgumentError, RecordError
from poise.protocol.randomness import Randomness, RandomStateLike
from poise.results.change_arrays import as_changes, read_changes
from poise.results.design import Design
from poise.results.json_encoding import fields_of
from poise.results.presented_result import PresentedTrials
from poise.results.profile import Profile
from poise.results.provenance import Provenance
from poise.results.several_changes import SeveralChanges
from poise.results.single_changes import SingleChanges
from poise.results.stability_result import StabilityResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from poise.results.text.summary import Summary

__all__ = ["Trials"]

_MOST_STEPS = 20_000_000  # trials, planned ones included: a band takes 40 bytes for each

_FORMAT = "poise trials 1"


@dataclass(frozen=True)
class _Header:
    """What a file holds of trials, beside their changes."""

    design: Design
    n_fits: Count
    failures: tuple[str, ...]
    warnings: tuple[str, ...] = ()  # not in files of 0.1.0
    format: str = _FORMAT


@dataclass(frozen=True, eq=False)
class Trials(PresentedTrials):
    """Independent copies of Δ, one per trial, in plan order.

    A trial of R removals at T points has R·T changes, which depend on each other; what is
    independent is their :meth:`shares` beyond an ε, one per trial. Such trials are judged
    by the averaged test.

    Attributes
    ----------
    changes : ndarray of float64
        The change of each trial; ``inf`` where a failed trial counts as one. Of shape
        (m, R, T) if R or T is larger than 1; there nan stands for a failure.
    design : Design
        What was measured, on how many rows, with which randomness.
    n_fits : int
        Fits that were computed for these changes.
    failures : tuple of str
        Messages of the failed trials, where the policy keeps them.
    warnings : tuple of str
        What was noticed that may make the error level of a verdict wrong.
    provenance : Provenance or None
        Digests of rows and code, and versions; None where they are not known, as for trials
        that were read from a file.

    See Also
    --------
    measure, Profile, StabilityResult

    Examples
    --------
    >>> trials = Trials.from_changes([0.1, 0.3, 0.2] * 20, n=10)
    >>> trials.n_trials
    60
    >>> trials.test(epsilon=0.25, delta=0.5, alpha=0.05).verdict.value
    'stable'
    >>> trials.epsilon_hat(delta=0.5, alpha=0.05)
    0.2
    """

    file_format: ClassVar[str] = _FORMAT

    changes: NDArray[np.float64]
    design: Design
    n_fits: int = 0
    failures: tuple[str, ...] = field(default=())
    warnings: tuple[str, ...] = field(default=())
    provenance: Provenance | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        changes = as_changes(self.changes, self.design.shape)
        changes.setflags(write=False)
        object.__setattr__(self, "changes", changes)
        if self.failures and len(self.failures) > self._limits.most_failures:
            raise ArgumentError(
                f"failures must be among the {self._limits.failures_are} "
                f"({self._limits.most_failures}), got {len(self.failures)} messages"
            )

    @cached_property
    def _limits(self) -> SingleChanges | SeveralChanges:
        if self.changes.ndim == 1:
            return SingleChanges(self.changes, self.n_trials, self.n_failures)
        return SeveralChanges(self.changes, self.n_trials)

    @classmethod
    def measured(
        cls, changes: NDArray[np.float64], design: Design, failures: tuple[str, ...] = ()
    ) -> Trials:
        """Keep the changes that a run of this design measured, and how many fits it took."""
        values = np.asarray(changes, dtype=np.float64)
        return cls(values, design, len(values) * design.fits_per_trial, failures)

    @classmethod
    def from_changes(
        cls,
        changes: ArrayLike,
        *,
        n: int,
        algorithm: str = "unknown",
        random_state: RandomStateLike = None,
        failures: Sequence[str] = (),
    ) -> Trials:
        """Judge changes that were measured elsewhere.

        They must be independent and identically distributed: disjoint rows,
        fresh test points. Nothing can check that afterwards. ``random_state``
        decides the coin ζ, which only randomised decisions use. ``failures`` are
        the messages of trials that failed: so many of the infinite changes are failures. An array
        of shape (m, R, T) holds R removals at T points of each trial.
        """
        n = arguments.training_size(n)
        shape = np.shape(changes)[1:] if np.ndim(changes) == 3 else ()
        values = as_changes(changes, shape)
        randomness = Randomness.from_state(random_state)
        seed, zeta = randomness.root, randomness.zeta
        m = len(values)
        several = dict(zip(("removals", "points"), shape, strict=False))
        rows = m * n, m * several.get("points", 1)
        design = Design(algorithm, n, *rows, seed=seed, zeta=zeta, from_rows=False, **several)
        return cls(values, design, failures=tuple(failures))

    @property
    def n_trials(self) -> int:
        """Number of trials planned; there are fewer changes if the run stopped early."""
        return self.design.n_trials

    @property
    def n_unseen(self) -> int:
        """Number of trials planned and not run."""
        return self.n_trials - self.n_observed

    @property
    def kappa(self) -> Fraction:
        """κ of the data; its integer part is the number of trials."""
        return self.design.kappa

    @property
    def n_failures(self) -> int:
        """Number of trials that failed; each of them counts as an infinite change."""
        return len(self.failures)

    def exceedances(self, epsilon: float) -> float:
        """Count the trials that moved by more than ``epsilon``, failed trials included.

        A trial of several changes counts with its share of them: see :meth:`shares`.
        """
        return self._limits.exceedances(epsilon)

    def shares(self, epsilon: float, *, failures_exceed: bool = True) -> NDArray[np.float64]:
        """Return each trial's share of changes that are strictly larger than ``epsilon``.

        The shares are i.i.d. in [0, 1] with mean δ*_ε: what the averaged test bets on.

        Parameters
        ----------
        epsilon : float
            Allowed change, >= 0.
        failures_exceed : bool
            Whether a failure counts as a larger change, as the verdict "stable" needs, or as no
            change, as the verdict "unstable" needs. A single change that is infinite counts as
            failed if any trial failed.

        Examples
        --------
        >>> trials = Trials.from_changes([[[0.1, 0.5]], [[0.6, float("nan")]]], n=10)
        >>> trials.shares(0.2), trials.shares(0.2, failures_exceed=False)
        (array([0.5, 1. ]), array([0.5, 0.5]))
        """
        from poise.theory.exceedance_shares import shares

        return shares(self.changes_or_nan, epsilon, failures_exceed=failures_exceed)

    @property
    def changes_or_nan(self) -> NDArray[np.float64]:
        """The changes, with nan for those that failed.

        A single change that is infinite counts as failed if any trial failed.
        """
        return self._limits.or_nan

    def test(
        self,
        epsilon: float,
        delta: float,
        alpha: float = 0.05,
        randomized: bool = False,
        test: str = "auto",
    ) -> StabilityResult:
        """Test (ε, δ)-stability at level α: :func:`poise.stability_test` without the fits.

        P(declared stable) ≤ α whenever the triple is not (ε, δ)-stable
        (Theorem 1; Theorem A of the averaged test). Valid for one (ε, δ) and one test
        fixed before looking at the changes.

        Parameters
        ----------
        epsilon : float
            Allowed change, >= 0, in the units of the predictions.
        delta : float
            Allowed probability of a larger change, in [0, 1).
        alpha : float
            Error level, in (0, 1).
        randomized : bool
            Toss the coin ζ in a tie, as the paper's test does.
        test : {"auto", "binomial", "averaged"}
            "auto" is the averaged test where trials have several changes, and the paper's
            Binomial test otherwise.
        """
        from poise.results.averaged_result import averaged_result

        arguments.choice("test", test, ("auto", "binomial", "averaged"))
        self._require_reachable(epsilon)
        if test == "averaged" or (test == "auto" and self.changes.ndim > 1):
            return averaged_result(self, epsilon, delta, alpha, randomized)
        if self.changes.ndim > 1:
            raise ArgumentError(
                "test='binomial' needs one change a trial (removals=1, points=1), and these trials "
                f"have {self.design.removals} times {self.design.points}; test='averaged' uses all"
            )
        return StabilityResult.from_trials(self, epsilon, delta, alpha, randomized)

    def _require_reachable(self, epsilon: float) -> None:
        """Refuse an ε that no change of labels can exceed; other limits depend on the responses."""
        from poise.algorithms.largest_change import require_reachable

        # Nobody has noted the number of responses, which add up.
        require_reachable(epsilon, self.design.distance, outputs=math.inf)

    def delta_hat(self, epsilon: float, alpha: float = 0.05, randomized: bool = False) -> float:
        """Upper limit for δ*_ε: P(δ̂ ≥ δ*_ε) ≥ 1 − α for one ε fixed beforehand (Prop. 1).

        Trials that were not run count as exceedances, so the limit stays valid but becomes wide.
        For trials of several changes it is the limit of the averaged test. It is sharper than the
        limit beside a verdict, and does not depend on one.
        """
        return self._limits.delta_hat(epsilon, alpha, self._zeta(randomized))

    def epsilon_hat(self, delta: float, alpha: float = 0.05, randomized: bool = False) -> float:
        """Upper limit for ε*_δ: P(ε̂ ≥ ε*_δ) ≥ 1 − α for one δ fixed beforehand (Prop. 1)."""
        return self._limits.epsilon_hat(delta, alpha, self._zeta(randomized))

    def delta_lower(self, epsilon: float, alpha: float = 0.05) -> float:
        """Lower limit for δ*_ε: P(δ*_ε ≥ it) ≥ 1 − α for one ε fixed beforehand.

        Trials that failed or were not run count as small changes.
        """
        return self._limits.delta_lower(epsilon, alpha)

    def delta_interval(self, epsilon: float, alpha: float = 0.05) -> tuple[float, float]:
        """Limits for δ*_ε that hold together: P(low ≤ δ*_ε ≤ high) ≥ 1 − α for one ε."""
        return self._limits.delta_interval(epsilon, alpha)

    def epsilon_lower(self, delta: float, alpha: float = 0.05) -> float:
        """Lower limit for ε*_δ: P(ε*_δ ≥ it) ≥ 1 − α for one δ fixed beforehand."""
        return self._limits.epsilon_lower(delta, alpha)

    def profile(
        self,
        alpha: float = 0.05,
        band: str = "equal-local-levels",
        *,
        delta_max: float | None = None,
    ) -> Profile:
        """Return the upper band for ε ↦ δ*_ε, valid for every ε at once.

        Parameters
        ----------
        alpha : float
            Error level of the whole band, in (0, 1).
        band : {"equal-local-levels", "ks", "dkw", "pointwise"}
            The first three are simultaneous; "pointwise" is not. Trials of several changes
            have one band, "averaged", whatever is asked: limits at a few δ, for all ε at once.
        delta_max : float in (0, 1], optional
            Ask only for limits up to this δ, fixed before looking: they are sharper, and where
            they would be larger nothing is said (the limit is 1).

        Examples
        --------
        >>> trials = Trials.from_changes(np.linspace(0.0, 1.0, 50), n=5)
        >>> [round(trials.profile(delta_max=top).at(1.0), 4) for top in (None, 0.1)]
        [0.1081, 0.0582]
        """
        from poise.theory.bands import BANDS

        arguments.choice("band", band, BANDS)
        if self.n_trials > _MOST_STEPS:
            raise ArgumentError(
                f"the profile of {self.n_trials:,} trials does not fit into memory; ask for single "
                "limits with delta_hat and epsilon_hat"
            )
        steps = self._limits.profile_steps(alpha, band, delta_max)
        return Profile(*steps[:4], alpha, self.design, self.warnings, steps.n_failures)

    @property
    def all_changes(self) -> NDArray[np.float64]:
        """All changes in one list, for pictures and quantiles; a failed one is infinite."""
        return self._limits.in_one_list

    @property
    def n_failed_changes(self) -> int:
        """How many of all changes are failures."""
        return self._limits.n_failed_changes

    def _zeta(self, randomized: bool) -> float:
        return self.design.zeta if randomized else 1.0

    def _header(self) -> dict[str, Any]:
        return {
            "design": self.design.to_dict(),
            "n_fits": self.n_fits,
            "failures": list(self.failures),
            "warnings": list(self.warnings),
        }

    @classmethod
    def from_json(cls, text: str) -> Trials:
        """Read a measurement written by :meth:`to_json`."""
        content = fields_of(text, ("changes", "design", "n_fits", "failures"), "trials")
        return cls._from_header(content["changes"], content)

    @classmethod
    def _from_header(cls, changes: ArrayLike, header: dict[str, Any]) -> Self:
        noted = {name: value for name, value in header.items() if name != "changes"}
        written = read_object(_Header, noted, "trials")
        kept = written.design, written.n_fits, written.failures, written.warnings
        try:
            trials = cls(read_changes(changes), *kept)
        except (ArgumentError, TypeError, ValueError) as error:
            raise RecordError(f"these are not trials written by poise: {error}") from None
        if trials.n_observed > trials.n_trials:
            raise RecordError(
                f"these are not trials written by poise: {trials.n_observed:,} changes for "
                f"{counted(trials.n_trials, 'trial')}"
            )
        return trials

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with one row per change; trials may have several."""
        return self._limits.to_frame()

    def facts(self) -> dict[str, str]:
        """Return what was measured and how large the changes were, worded."""
        from poise.results.text.describe_trials import facts_of_trials

        return facts_of_trials(self)

    def describe(self) -> Summary:
        """Return headline and paragraphs: what was measured, and how it can be judged."""
        from poise.results.text.describe_trials import describe_trials

        return describe_trials(self)

    def __repr__(self) -> str:
        design = self.design
        return (
            f"Trials({design.title}, n={design.n}, {self.n_observed:,} of {self.n_trials:,} "
            f"trials, largest change {number(float(self.all_changes.max(initial=0.0)))})"
        )

    def plot(
        self,
        epsilon: float | None = None,
        alpha: float = 0.05,
        *,
        delta: float | None = None,
        ax: Axes | None = None,
        title: str | None = None,
        figsize: tuple[float, float] | None = None,
    ) -> Any:
        """Draw the changes and their profile; return the figure, or ``ax``.

        ``epsilon`` is marked with its own limit, ``delta`` with the verdict.
        """
        from poise.results.plots import plot_trials

        return plot_trials(self, epsilon, alpha, delta=delta, ax=ax, title=title, figsize=figsize)

    def _picture(self) -> Callable[[], Any]:
        return self.plot
