"""What is measured about one training set: the settings that determine the trials."""

from __future__ import annotations

from dataclasses import dataclass

from poise import arguments
from poise.algorithms.distance import Distance, needs_response
from poise.algorithms.losses import as_change
from poise.errors import ArgumentError
from poise.protocol.randomness import RandomStateLike
from poise.results.conditional_design import NOTIONS

__all__ = ["ConditionalSetup"]


@dataclass(frozen=True, kw_only=True)
class ConditionalSetup:
    """The settings of a data-conditional measurement that its changes depend on.

    Parameters
    ----------
    notion : {"deployed", "add-one", "jackknife"}
        What a trial compares.
    points : int
        For "add-one": number of fresh points of each trial, at least 1.
    distance : str or callable
        How far apart two predictions are, or a loss.
    shuffle : bool
        Whether fresh rows are used in random order.
    random_state : None, int, Generator or RandomState
        The source of all random numbers of the run.
    response : str
        Which method of a fitted estimator is called.
    name : str, optional
        The name of the algorithm in headlines.

    Examples
    --------
    >>> ConditionalSetup(points=3)
    Traceback (most recent call last):
    poise.errors.ArgumentError: points must be 1 for notion='deployed', where every fresh row ...
    >>> ConditionalSetup(distance="loss:squared").needs_responses
    True
    """

    notion: str = "deployed"
    points: int = 1
    distance: str | Distance = "auto"
    shuffle: bool = True
    random_state: RandomStateLike = None
    response: str = "predict"
    name: str | None = None

    def __post_init__(self) -> None:
        arguments.choice("notion", self.notion, NOTIONS)
        arguments.count("points", self.points, 1)
        arguments.flag("shuffle", self.shuffle)
        arguments.headline_name(self.name)
        if self.points != 1 and self.notion != "add-one":
            raise ArgumentError(
                f"points must be 1 for notion={self.notion!r}, where every fresh row is a trial, "
                f"got {self.points}"
            )

    @property
    def compares_losses(self) -> bool:
        """Whether losses are compared instead of predictions."""
        return needs_response(as_change(self.distance))

    @property
    def needs_responses(self) -> bool:
        """Whether fresh rows must have a response: they are added to the others, or for a loss."""
        return self.notion != "deployed" or self.compares_losses
