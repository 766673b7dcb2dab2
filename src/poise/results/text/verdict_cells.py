"""What tables and facts show of every verdict: headings, and what stands under them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from poise.arguments.printed_numbers import at_most, number

if TYPE_CHECKING:
    from poise.results.conditional_result import ConditionalResult
    from poise.results.stability_result import StabilityResult

__all__ = [
    "ADJUSTED",
    "DELTA_LIMIT",
    "EPSILON_LIMIT",
    "LARGER",
    "LIMITS",
    "SHARES",
    "SeenChanges",
    "adjusted_pvalue",
    "and_failed",
    "larger_column",
    "larger_fact",
    "larger_of",
    "limits",
    "pvalues",
]

LARGER = "larger changes"
SHARES = "mean share"  # of larger changes, where a trial answers with a share
ADJUSTED = "p, adjusted"
DELTA_LIMIT = "delta at most"
EPSILON_LIMIT = "epsilon at most"
LIMITS = (DELTA_LIMIT, EPSILON_LIMIT)


class SeenChanges(NamedTuple):
    """How many changes were larger than ε, and of how many trials.

    Attributes
    ----------
    moved : float
        Larger changes, failed trials left out; the sum of shares where trials answer with shares.
    observed, failed : int
        Trials that were run, and those of them that failed.
    shares : bool
        Whether a trial answers with a share, as in the averaged test.
    """

    moved: float
    observed: int
    failed: int
    shares: bool

    @classmethod
    def of(cls, result: StabilityResult | ConditionalResult) -> SeenChanges:
        """Read them off a result.

        Examples
        --------
        >>> from poise import Trials
        >>> trials = Trials.from_changes([0.1] * 29 + [float("inf")], n=5, failures=["no fit"])
        >>> SeenChanges.of(trials.test(epsilon=0.2, delta=0.1)).larger_changes
        '0 of 30, 1 failed'
        """
        averaged = result.test == "averaged"
        return cls(result.n_moved, result.n_observed, result.n_failures, averaged)

    def with_trial(self, moved: float, failed: bool) -> SeenChanges:
        """Return them after one more trial.

        Examples
        --------
        >>> SeenChanges(0.5, 1, 0, shares=True).with_trial(0.1, failed=True).in_words
        'mean share 0.3, 1 failed'
        """
        return SeenChanges(self.moved + moved, self.observed + 1, self.failed + failed, self.shares)

    @property
    def heading(self) -> str:
        """What the number is called."""
        return SHARES if self.shares else LARGER

    @property
    def cell(self) -> str:
        """The number: a mean share, or how many of the trials."""
        if self.shares:
            return number(self.moved / max(1, self.observed))
        return larger_of(self.moved, self.observed)

    @property
    def in_words(self) -> str:
        """The number in a line of text, where the number of trials was said before."""
        said = f"{SHARES} {self.cell}" if self.shares else f"{number(self.moved)} {LARGER}"
        return said + and_failed(self.failed)

    @property
    def larger_changes(self) -> str:
        """The number where nothing else is said: with its name, and how many trials failed."""
        return (f"{SHARES} " if self.shares else "") + self.cell + and_failed(self.failed)


def larger_column(several: Sequence[SeenChanges]) -> tuple[str, list[str]]:
    """Return the heading of a column, and what stands under it.

    A sum of shares is no number of trials, so shares stand under a heading of their own; in a
    column with both, each of them has its name.

    Examples
    --------
    >>> counted, shares = SeenChanges(0, 30, 1, shares=False), SeenChanges(2.5, 30, 0, shares=True)
    >>> larger_column([counted]), larger_column([shares])
    (('larger changes', ['0 of 30, 1 failed']), ('mean share', ['0.08333']))
    >>> larger_column([counted, shares])
    ('larger changes', ['0 of 30, 1 failed', 'mean share 0.08333'])
    """
    heading = SHARES if several and all(seen.shares for seen in several) else LARGER
    return heading, [seen.larger_changes.removeprefix(f"{heading} ") for seen in several]


def larger_fact(seen: SeenChanges) -> dict[str, str]:
    """Return the same under its name, where the numbers of trials are facts of their own.

    Examples
    --------
    >>> larger_fact(SeenChanges(2, 46, 0, shares=False))
    {'larger changes': '2'}
    """
    return {seen.heading: seen.cell if seen.shares else number(seen.moved)}


def larger_of(moved: float, trials: int, failed: int = 0) -> str:
    """Write how many trials moved and, separately, how many failed: a failure is no change.

    Examples
    --------
    >>> larger_of(2, 46), larger_of(0, 160, failed=57)
    ('2 of 46', '0 of 160, 57 failed')
    """
    return f"{number(moved)} of {trials:,}{and_failed(failed)}"


def and_failed(failed: int) -> str:
    """Write what stands after a number of changes: how many trials failed; nothing if none did.

    Examples
    --------
    >>> and_failed(57), and_failed(0)
    (', 57 failed', '')
    """
    return f", {failed:,} failed" if failed else ""


class _HasPvalues(Protocol):
    @property
    def pvalue(self) -> float: ...
    @property
    def pvalue_unstable(self) -> float: ...


def pvalues(result: _HasPvalues) -> dict[str, str]:
    """Return both p-values under their names.

    Examples
    --------
    >>> from poise import Trials
    >>> pvalues(Trials.from_changes([0.1] * 30, n=5).test(epsilon=0.2, delta=0.1))
    {'p-value, stable': '0.04239', 'p-value, unstable': '1'}
    """
    return {
        "p-value, stable": number(result.pvalue),
        "p-value, unstable": number(result.pvalue_unstable),
    }


class _HasAdjusted(Protocol):
    @property
    def verdict(self) -> str: ...
    @property
    def adjusted(self) -> float: ...
    @property
    def adjusted_unstable(self) -> float: ...


def adjusted_pvalue(judged: _HasAdjusted) -> str:
    """Write the p-value that the verdict of several tests together rests on."""
    return number(judged.adjusted_unstable if judged.verdict == "unstable" else judged.adjusted)


def limits(result: StabilityResult | ConditionalResult) -> tuple[str, str]:
    """Write the upper limits that go with the verdict, under the headings ``LIMITS``.

    Examples
    --------
    >>> from poise import Trials
    >>> limits(Trials.from_changes([0.1] * 30, n=5).test(epsilon=0.2, delta=0.1))
    ('0.09504', '0.1')
    """
    return at_most(result.printed_delta_hat), at_most(result.epsilon_hat)
