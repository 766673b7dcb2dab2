"""What the fields of a file may hold beyond their type: ranges, and the form of digests.

A field is annotated with one of these types; :mod:`poise.arguments.typed_fields` checks it
when an object is read. To the type checker they are plain numbers and words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Any

__all__ = [
    "MOST_ROWS",
    "Among",
    "Between",
    "Count",
    "Digest",
    "Epsilon",
    "ErrorLevel",
    "Matching",
    "Positive",
    "Probability",
    "Seed",
    "Share",
    "Size",
    "TrainingSize",
    "WholeNumber",
]

MOST_ROWS = 10**15  # more than any machine holds; sums of a few such numbers fit into 64 bits
_LARGEST = 1.7976931348623157e308


@dataclass(frozen=True)
class Between:
    """A number in a range.

    Parameters
    ----------
    low, high : float
        The ends.
    open_low, open_high : bool
        Whether an end itself is refused.

    Examples
    --------
    >>> Between(0, 1).allows(1.0), Between(0, 1, open_high=True).allows(1.0)
    (True, False)
    """

    low: float
    high: float
    open_low: bool = False
    open_high: bool = False

    def allows(self, value: Any) -> bool:
        """Tell whether a number is in the range."""
        above = self.low < value if self.open_low else self.low <= value
        return bool(above and (value < self.high if self.open_high else value <= self.high))


@dataclass(frozen=True)
class Matching:
    """A word of a certain form.

    Parameters
    ----------
    pattern : str
        A regular expression for the whole word.

    Examples
    --------
    >>> Matching("[0-9a-f]*").allows("00ff"), Matching("[0-9a-f]*").allows("zz")
    (True, False)
    """

    pattern: str

    def allows(self, value: Any) -> bool:
        """Tell whether the word has this form."""
        return re.fullmatch(self.pattern, value) is not None


@dataclass(frozen=True)
class Among:
    """One of a few words.

    Parameters
    ----------
    words : tuple of str
        Those that are allowed.

    Examples
    --------
    >>> Among(("row", "group")).allows("row")
    True
    """

    words: tuple[str, ...]

    def allows(self, value: Any) -> bool:
        """Tell whether the word is one of them."""
        return value in self.words


Count = Annotated[int, Between(0, MOST_ROWS)]
Positive = Annotated[int, Between(1, MOST_ROWS)]
WholeNumber = Annotated[int, Between(0, 2**62)]  # a plan may need more rows than there are
TrainingSize = Annotated[int, Between(2, MOST_ROWS)]
Seed = Annotated[int, Between(0, 2**64)]
Probability = Annotated[float, Between(0.0, 1.0)]
ErrorLevel = Annotated[float, Between(0.0, 1.0, open_low=True, open_high=True)]
Share = Annotated[float, Between(0.0, 1.0, open_high=True)]  # δ, γ: 1 would say nothing
Epsilon = Annotated[float, Between(0.0, _LARGEST)]
Size = Annotated[float, Between(0.0, float("inf"))]  # a limit for ε may be infinite
Digest = Annotated[str, Matching("[0-9a-f]*")]  # "" where nothing is known
