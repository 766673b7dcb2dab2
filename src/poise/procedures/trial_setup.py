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
    removals : int or "all"
        R: how many of the n rows are removed in turn, each by itself; with ``remove`` how
        many blocks of so many rows (or groups), at most n // remove.
    points : int, "spare" or None
        T: at how many fresh points (one row each of so many groups) the predictions of a trial
        are compared; "spare" takes as many as leave the number of trials as it is. None leaves
        it to the test, and is 1 otherwise.

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
    removals: int | str = 1
    points: int | str | None = None

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
        self._check_averages(n)

    def _check_averages(self, n: int) -> None:
        """Refuse numbers of removals and points that make no sense."""
        if isinstance(self.removals, str) and self.removals != "all":
            raise ArgumentError(
                f"removals must be a whole number >= 1 or 'all', got {self.removals!r}"
            )
        most = n // int(self.remove)
        if self.removals != "all" and int(arguments.count("removals", self.removals, 1)) > most:
            limit = f"n = {n}" if self.remove == 1 else f"n // remove = {most}"
            raise ArgumentError(
                f"removals must be a whole number from 1 to {limit}, or 'all', got "
                f"{self.removals!r}"
            )
        if isinstance(self.points, str) and self.points != "spare":
            raise ArgumentError(
                f"points must be a whole number >= 1 or 'spare', got {self.points!r}"
            )
        if self.points is not None and self.points != "spare":
            arguments.count("points", self.points, 1)

    @property
    def averages(self) -> bool:
        """Whether a trial may have more than one change."""
        return self.removals != 1 or self.points not in (None, 1)
