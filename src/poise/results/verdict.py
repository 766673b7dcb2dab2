"""The verdicts that a test can give, with the words for each."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["OPEN", "Outcome"]

OPEN = "open"
"""What is said where later trials decide the verdict."""

_MEANING = {
    "stable": "declared stable",
    "unstable": "declared unstable",
    "inconclusive": "the data do not settle it",
    "not certified stable": "the full run would not be declared stable",
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
    "not certified stable": (
        "It does not mean that the algorithm is unstable: the run was stopped once it was known "
        'that the full run would not say "stable"; it may say "unstable" or "inconclusive".'
    ),
}


class Outcome(StrEnum):
    """A verdict; compares equal to its own name.

    "not certified stable" occurs with ``stop_early="stable"``: the full run would not say
    "stable". Whether it would say "unstable" is not known.

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
    NOT_CERTIFIED = "not certified stable"

    @property
    def meaning(self) -> str:
        """What the verdict says, in a few words."""
        return _MEANING[self.value]

    @property
    def not_meant(self) -> str:
        """What the verdict does not say."""
        return _NOT_MEANT[self.value]
