"""The state of an unfinished run: trials done, and whether the verdict is open."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from poise.cli.stderr import say
from poise.errors import RecordError

if TYPE_CHECKING:
    from poise.results import StabilityResult, Trials

__all__ = ["saying_where_it_stands", "verdict_or_open", "verdict_so_far"]


def verdict_so_far(trials: Trials, question: dict[str, Any]) -> str:
    """Return the verdict if no later trial can change it, else "open".

    Examples
    --------
    >>> import numpy as np
    >>> from poise.results import Design, Trials
    >>> trials = Trials(np.full(30, 5.0), Design("mean", n=9, n_labeled=1000))
    >>> verdict_so_far(trials, {"epsilon": 1.0, "delta": 0.1, "alpha": 0.05})
    'unstable'
    """
    return verdict_or_open(trials.test(**question))


def verdict_or_open(result: StabilityResult) -> str:
    """Return the verdict of trials that were judged, or "open" if later trials can change it."""
    from poise.results.verdict import OPEN

    return result.verdict.value if result.settled else OPEN


@contextmanager
def saying_where_it_stands(question: dict[str, Any] | None = None) -> Iterator[None]:
    """If the journal cannot be written, print what is known before the error ends the run."""
    from poise.results import Trials

    try:
        yield
    except RecordError as error:
        if isinstance(error.partial, Trials):
            say(_standing(error.partial, question))
        raise


def _standing(trials: Trials, question: dict[str, Any] | None) -> str:
    done = f"{trials.n_observed:,} of {trials.n_trials:,} trials"
    if not question:
        return done
    from poise.results.text.verdict_cells import SeenChanges

    result = trials.test(**question)
    return f"{done}, {SeenChanges.of(result).in_words}, verdict {verdict_or_open(result)}"
