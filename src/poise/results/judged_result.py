"""What every result with a verdict has: enough to print it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from poise.results.design import Design
    from poise.results.text.summary import Summary
    from poise.results.verdict import Outcome

__all__ = ["JudgedResult"]


class JudgedResult(Protocol):
    """A verdict on one question, with its words and numbers.

    Examples
    --------
    >>> from poise import Trials
    >>> result: JudgedResult = Trials.from_changes([0.1] * 30, n=5).test(0.2, 0.1)
    >>> result.describe().headline
    'STABLE: unknown is declared (0.2, 0.1)-stable at n = 5 (error level 0.05).'
    """

    @property
    def verdict(self) -> Outcome:
        """The verdict."""
        ...

    @property
    def stable(self) -> bool:
        """Whether it is "stable"."""
        ...

    @property
    def design(self) -> Design:
        """What was measured."""
        ...

    @property
    def epsilon(self) -> float:
        """Allowed change."""
        ...

    @property
    def delta(self) -> float:
        """Allowed probability of a larger change."""
        ...

    @property
    def alpha(self) -> float:
        """Error level."""
        ...

    @property
    def warnings(self) -> tuple[str, ...]:
        """What may make the error level wrong."""
        ...

    def describe(self) -> Summary:
        """Return headline and paragraphs."""
        ...

    def facts(self) -> dict[str, str]:
        """Return the numbers behind the verdict, worded."""
        ...

    def to_dict(self) -> dict[str, Any]:
        """Return every number as a plain value."""
        ...
