"""What a black-box test asks and is told (Definition 2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from poise.results.trials import Failed

Ids = NDArray[np.int64]
Floats = NDArray[np.float64]
Rows = Any  # numbers of rows of the sample (Ids), or rows that were Made


@dataclass(frozen=True, slots=True)
class Made:
    """Rows that a procedure made itself, as arrays; points have no responses."""

    X: NDArray[Any]
    y: NDArray[Any] | None = None

    def __len__(self) -> int:
        return len(self.X)

    def __getitem__(self, rows: slice) -> Made:
        return Made(self.X[rows], None if self.y is None else self.y[rows])


@dataclass(frozen=True, slots=True)
class Query:
    """Train on these rows with ξ and predict at those points.

    ``also`` are further points for the same fitted model: one call of predict for each. ``look``
    reads the model instead (Definition 3): ``look(predict, X)`` returns an array, computed where
    the fit is. Where data sets are fitted in stacks, ``place`` is the place in them: by default
    the number of the task.
    """

    train: Rows
    points: Rows
    xi: int
    also: tuple[Ids, ...] = ()
    look: Callable[[Any, Any], Any] | None = None
    place: int | None = None


@dataclass(frozen=True, slots=True)
class Trial:
    """R pairs of fits that are compared at the same T points; one full fit may serve all."""

    full: tuple[Query, ...]
    reduced: tuple[Query, ...]

    @property
    def shape(self) -> tuple[int, int]:
        """Number of removals, and of points."""
        return len(self.reduced), len(self.reduced[0].points)

    @property
    def n_fits(self) -> int:
        """Number of fits."""
        return len(self.full) + len(self.reduced)


def queries_of(task: Query | Trial) -> tuple[Query, ...]:
    """Return the fits that a task takes."""
    return (task,) if isinstance(task, Query) else (*task.full, *task.reduced)


class Planned(Sequence[Any]):
    """Tasks by number, each made when it is looked up."""

    def __init__(self, make: Callable[[int], Any], numbers: Sequence[int]) -> None:
        self.make, self.numbers = make, numbers

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, k: Any) -> Any:
        if isinstance(k, slice):
            return Planned(self.make, self.numbers[k])
        return self.make(self.numbers[k])


class Said(NamedTuple):
    """A warning of a fit, or a line that it printed (then ``category`` is empty)."""

    category: str  # module and name, as "sklearn.exceptions:ConvergenceWarning"
    text: str
    file: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class Failure:
    """Why there is no answer, or not a whole one."""

    message: str
    kind: Literal["error", "undefined", "death", "timeout"] = "error"
    cause: BaseException | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Answer:
    """Predictions of a query, or the changes (R, T) of a trial: nan where one failed.

    ``values`` is None where nothing came back. ``error`` is the mean loss of the full fits,
    ``also`` what the query asked further, ``said`` what its fits said, each once for every fit.
    Several trials in one answer have changes (k, R, T) and as many errors.
    """

    values: Any = None
    failure: Failure | None = None
    error: float | Floats = np.nan
    also: tuple[Answer, ...] = ()
    said: tuple[Said, ...] = ()

    @property
    def size(self) -> int:
        """Number of trials, or of queries, that it answers."""
        return len(self.error) if isinstance(self.error, np.ndarray) else 1


@dataclass(frozen=True)
class Batch:
    """The trials, or the queries, that a procedure can name now.

    ``until`` is shown the changes of each trial (or the predictions of each query) in plan order,
    and says whether to stop. ``known`` are the answers to the first ones, where they were computed
    before. ``places`` names rows (k, n) and points (k, T) of consecutive trials at once. Where
    trials are made of queries, ``complete`` returns those that the latest one completes.
    """

    tasks: Sequence[Trial] | Sequence[Query]
    until: Callable[[Any], bool] | None = None
    known: Mapping[int, Answer] = field(default_factory=dict)
    places: Callable[[int, int], tuple[Ids, Ids]] | None = None
    complete: Callable[[], Answer | None] | None = None


@dataclass(frozen=True)
class Answers:
    """What came back, in plan order, up to where the batch was stopped."""

    changes: Floats  # (k, R, T); nan: failed
    errors: Floats  # (k,): mean loss of the full fits of each trial
    failures: tuple[Failed, ...] = ()  # the first ones
    n_failed: int = 0
    predictions: tuple[Any, ...] = ()  # of queries instead: an array each, None where it failed
