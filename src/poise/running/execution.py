"""How fits are run: on which workers, for how long, and what a failed fit means."""

from __future__ import annotations

import numbers
from dataclasses import dataclass, replace
from typing import Any

from poise import arguments
from poise.algorithms.algorithm import Algorithm
from poise.data.partitioned.partitioned_sample import PartitionedSample
from poise.data.sample import Sample
from poise.errors import ArgumentError
from poise.running.workers.engine import Engine, choose_engine

__all__ = ["Execution"]

_POLICIES = ("raise", "unstable")


@dataclass(frozen=True, kw_only=True)
class Execution:
    """The settings of a run that do not change its trials.

    Parameters
    ----------
    n_jobs, backend, address
        Where the fits run, as in :func:`poise.stability_test`.
    timeout : float or None
        Seconds that one fit may take.
    on_error : {"raise", "unstable"}
        Stop at the first failed trial, or count it against "stable" (and never for
        "unstable").
    on_timeout : {"raise", "unstable"}
        The same for a fit that took too long. It is asked for by itself, because
        how long a fit takes depends on the machine.
    fast : bool
        Whether many trials may be computed at once where that is exact.
    progress : bool or None
        False shows no progress.
    check : bool
        Whether a test computes its first trial once more at the end.

    Examples
    --------
    >>> Execution(on_error="ignore")
    Traceback (most recent call last):
    poise.errors.ArgumentError: on_error must be one of 'raise', 'unstable', got 'ignore'
    """

    n_jobs: int | None = None
    backend: str | None = None
    address: str | None = None
    timeout: float | None = None
    on_error: str = "raise"
    on_timeout: str = "raise"
    fast: bool = True
    progress: bool | None = None
    check: bool = True

    def __post_init__(self) -> None:
        arguments.flag("check", self.check)
        arguments.flag("fast", self.fast)
        if self.progress is not None:
            arguments.flag("progress", self.progress)
        arguments.choice("on_error", self.on_error, _POLICIES)
        arguments.choice("on_timeout", self.on_timeout, _POLICIES)
        _check_timeout(self.timeout)

    def where_rows_are(self, sample: Sample) -> Execution:
        """Return the same execution on the cluster whose workers read the rows, if one does."""
        if not isinstance(sample, PartitionedSample):
            return self
        if self.backend not in (None, sample.engine):
            raise ArgumentError(
                f"backend must be {sample.engine!r} for rows on the workers of "
                f"{sample.engine.title()}, got {self.backend!r}; leave it out, or give "
                f"{sample.labeled.partitions.remedy} if this machine can hold all rows"
            )
        return replace(self, backend=sample.engine)

    def engine_for(self, algorithm: Algorithm) -> tuple[Algorithm, Engine]:
        """Choose the engine; the algorithm keeps the time limit itself, or else the workers do."""
        timeout = self.timeout
        limited = None if timeout is None else algorithm.with_timeout(timeout)
        if limited is not None:
            algorithm, timeout = limited, None
        where = (self.n_jobs, self.backend)
        return algorithm, choose_engine(*where, address=self.address, timeout=timeout)


def _check_timeout(timeout: Any) -> None:
    number = isinstance(timeout, numbers.Real) and not isinstance(timeout, bool)
    if timeout is not None and not (number and timeout > 0):
        raise ArgumentError(f"timeout must be a number of seconds > 0 or None, got {timeout!r}")
