"""A summary: one headline and a few paragraphs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from poise.results.ledger_note import LedgerNote

from poise.errors import printable

__all__ = ["Summary", "distinct_warnings", "in_words"]


@dataclass(frozen=True)
class Summary:
    """The words of a result, the same in every place that shows them.

    Attributes
    ----------
    headline : str
        The verdict in one sentence.
    paragraphs : tuple of str
        What was done, what was found, what it does not mean, what to do next.
    warnings : tuple of str
        What may make the error level wrong; shown wherever the verdict is.

    Examples
    --------
    >>> print(Summary("STABLE: …", ("30 trials.",), ("12 rows occur twice.",)))
    STABLE: …
    Warning: 12 rows occur twice.
    30 trials.
    """

    headline: str
    paragraphs: tuple[str, ...]
    warnings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        # Names and messages in it may come from a file, or from a fit that failed.
        object.__setattr__(self, "headline", printable(self.headline))
        object.__setattr__(self, "paragraphs", tuple(map(printable, self.paragraphs)))

    @property
    def rest(self) -> tuple[str, ...]:
        """Everything below the headline, warnings first."""
        return (*in_words(self.warnings), *self.paragraphs)

    def __str__(self) -> str:
        return "\n".join([self.headline, *self.rest])


def in_words(warnings: Iterable[str]) -> tuple[str, ...]:
    """Return one paragraph per warning.

    Examples
    --------
    >>> in_words(["12 rows occur twice"])
    ('Warning: 12 rows occur twice',)
    """
    return tuple(f"Warning: {printable(text)}" for text in warnings)


class _Warned(Protocol):
    @property
    def warnings(self) -> tuple[str, ...]: ...


def distinct_warnings(
    measurements: Iterable[_Warned], note: LedgerNote | None = None
) -> tuple[str, ...]:
    """Return the warnings of several measurements and of a ledger, each once."""
    said = [text for each in measurements for text in each.warnings]
    doubt = "" if note is None else note.doubt()
    return tuple(dict.fromkeys([*said, *([doubt] if doubt else [])]))
