"""The three things a test can say, with the words for each."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Outcome"]

_MEANING = {
    "stable": "declared stable",
    "unstable": "declared unstable",
    "inconclusive": "the data do not settle it",
}
_NOT_MEANT = {
    "stable": (
        "It does not mean that no prediction can move by more than epsilon, nor that the "
        "predictions are accurate, nor that it holds at another training size or on other data."
    ),
    "unstable": (
        "It does not mean that the predictions are inaccurate, nor that the algorithm is "
        "unstable at a larger training size, a larger epsilon or a larger delta."
    ),
    "inconclusive": (
        "It does not mean that the algorithm is unstable: the number of trials these data hold "
        "could not decide between the two."
    ),
}


class Outcome(StrEnum):
    """A verdict; compares equal to its own name.

    Examples
    --------
    >>> Outcome.STABLE == "stable"
    True
    >>> Outcome("inconclusive").meaning
    'the data do not settle it'
    """

    STABLE = "stable"
    UNSTABLE = "unstable"
    INCONCLUSIVE = "inconclusive"

    @property
    def meaning(self) -> str:
        """What the verdict says, in a few words."""
        return _MEANING[self.value]

    @property
    def not_meant(self) -> str:
        """What the verdict must not be taken to say."""
        return _NOT_MEANT[self.value]
