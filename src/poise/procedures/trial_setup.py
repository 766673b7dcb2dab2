"""What one trial is: how many rows it trains on, and how its two fits differ."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

from poise import arguments
from poise.errors import ArgumentError
from poise.protocol.randomness import Coupling, as_coupling

__all__ = ["TrialSetup"]


@dataclass(frozen=True)
class TrialSetup:
    """The settings of a trial that do not depend on the algorithm or on the data.

    Parameters
    ----------
    n : int
        Training size, at least 2: rows, or groups if the sample has any.
    coupling : str or Coupling
        How the two fits of a trial share randomness.
    shuffle : bool
        Whether rows are put in random order before they are split.
    remove : int
        How many of the n rows (or groups) the second fit goes without: at least 1,
        and fewer than n unless they are replaced.
    replace : bool
        Whether fresh ones take the place of those removed.

    Examples
    --------
    >>> TrialSetup(10, remove=10)
    Traceback (most recent call last):
    poise.errors.ArgumentError: remove must be less than n = 10 (or at most n with ...), got 10
    """

    n: int
    _: KW_ONLY
    coupling: str | Coupling = "shared"
    shuffle: bool = True
    remove: int = 1
    replace: bool = False

    def __post_init__(self) -> None:
        n = arguments.training_size(self.n)
        as_coupling(self.coupling)
        arguments.flag("shuffle", self.shuffle)
        arguments.flag("replace", self.replace)
        remove = int(arguments.count("remove", self.remove, minimum=1))
        if remove > (n if self.replace else n - 1):
            raise ArgumentError(
                f"remove must be less than n = {n} (or at most n with replace=True), got {remove}"
            )
