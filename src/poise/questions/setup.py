"""What is measured: the settings that determine the trials."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, fields
from typing import Any

from poise import arguments
from poise.algorithms.distance import Distance
from poise.procedures.trial_setup import TrialSetup
from poise.protocol.randomness import RandomStateLike

__all__ = ["Setup"]


@dataclass(frozen=True)
class Setup(TrialSetup):
    """The settings of a measurement that its changes depend on.

    Parameters
    ----------
    n, coupling, shuffle, remove, replace, removals, points
        What one trial is: :class:`~poise.procedures.trial_setup.TrialSetup`.
    distance : str or callable
        How far apart two predictions are.
    response : str
        Which method of a fitted estimator is called.
    random_state : None, int, Generator or RandomState
        The source of all random numbers of the run.
    name : str, optional
        The name of the algorithm in headlines.

    Examples
    --------
    >>> parts = Setup(20, remove=2).of_a_trial
    >>> parts["n"], parts["remove"], parts["removals"]
    (20, 2, 1)
    """

    _: KW_ONLY
    distance: str | Distance = "auto"
    response: str = "predict"
    random_state: RandomStateLike = None
    name: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        arguments.headline_name(self.name)

    @property
    def of_a_trial(self) -> dict[str, Any]:
        """The settings that a procedure needs."""
        return {field.name: getattr(self, field.name) for field in fields(TrialSetup)}
