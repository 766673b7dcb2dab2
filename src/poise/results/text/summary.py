"""A summary: one headline and a few paragraphs, for terminals, notebooks and reports alike."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Summary"]


@dataclass(frozen=True)
class Summary:
    """What a result says, once for all places that show it.

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

    @property
    def rest(self) -> tuple[str, ...]:
        """Everything below the headline, warnings first."""
        return (*(f"Warning: {text}" for text in self.warnings), *self.paragraphs)

    def __str__(self) -> str:
        return "\n".join([self.headline, *self.rest])
