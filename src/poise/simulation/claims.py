"""Claims of the paper and beyond it, each with what should come out and what did."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from inspect import isfunction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from poise import checks
from poise.errors import in_one_line
from poise.numbers import at_least, number
from poise.progress import Progress
from poise.simulation.traps import verdicts
from poise.simulation.worlds import Share, World

SURE = 1 - 1e-8  # of every interval: a table of true claims shows a failure once in a million runs
PARTS = ("2", "2.3", "3", "4.1", "4.2", "4.3", "5.1", "B", "E", "beyond")
_LEAST = 60  # replications, however small the share


@dataclass(frozen=True)
class Effort:
    """How much is simulated: a share of the usual replications."""

    share: float = 1.0

    def count(self, usual: int, least: int = _LEAST) -> int:
        """Return how many replications to run where so many are usual."""
        return max(least, round(self.share * usual))

    def stable(
        self, test: Any, world: World, rows: tuple[int, int], usual: int, seed: int, **more: Any
    ) -> Share:
        """Simulate how often a procedure calls a world stable, from so many rows."""
        count = self.count(usual)
        return Share(sum(verdicts(test, world, rows, count, seed, **more)), count, SURE)

    def moves(
        self, world: World, epsilon: float, usual: int, seed: int, coupling: Any = "shared"
    ) -> Share:
        """Simulate P(change > epsilon), by fits."""
        return world.estimate_delta_star(epsilon, self.count(usual, 600), seed, coupling, SURE)


@dataclass(frozen=True)
class Found:
    """What came out of one claim.

    Attributes
    ----------
    expected, measured : str
        What should come out, and what did, with an interval where it was simulated.
    passed : bool
        Whether they agree.
    part, text : str
        Where it is claimed, and what.
    """

    expected: str
    measured: str
    passed: bool
    part: str = ""
    text: str = ""

    def __str__(self) -> str:
        said = "as stated" if self.passed else "FAILED"
        found = f"{said}: expected {self.expected}, got {self.measured}"
        return f"{self.part}: {self.text}\n    {found}"


Row = Callable[[Effort], Found]


def rows() -> list[Row]:
    """Return the claims in their order: functions whose docstring is "part: claim."."""
    chapters = [import_module(f"poise.simulation.{name}") for name in ("paper", "beyond")]
    made = [each for chapter in chapters for each in vars(chapter).values() if isfunction(each)]
    return [each for each in made if _said(each)[0] in PARTS]


# What a row finds


def equal(expected: ArrayLike, got: ArrayLike) -> Found:
    """Compare numbers, to a relative 1e-9."""
    texts = (", ".join(f"{each:.6g}" for each in np.ravel(part)) for part in (expected, got))
    known, found = texts
    return Found(known, found, bool(np.allclose(expected, got, rtol=1e-9, atol=1e-12)))


def every(cases: Iterable[object]) -> Found:
    """Require that something holds in every case, of which there is one at least."""
    held = [bool(case) for case in cases]
    return Found(f"all of {len(held):,}", f"{sum(held):,}", bool(held) and all(held))


def near(expected: float, seen: Share | ArrayLike) -> Found:
    """Require that a simulated probability is this one."""
    share = _share(seen)
    return Found(number(expected), str(share), not share.excludes(expected))


def beyond(bound: float, seen: Share | ArrayLike) -> Found:
    """Require that a simulated probability exceeds a bound: its whole interval does."""
    share = _share(seen)
    return Found(f"> {at_least(bound)}", str(share), share.interval[0] > bound)


def _share(seen: Share | ArrayLike) -> Share:
    return seen if isinstance(seen, Share) else Share(int(np.sum(seen)), np.size(seen), SURE)


def both(*found: Found) -> Found:
    """Require several things in one row."""
    expected, measured = ("; ".join(getattr(f, n) for f in found) for n in ("expected", "measured"))
    return Found(expected, measured, all(each.passed for each in found))


@dataclass(frozen=True)
class Reproduction:
    """The claims, in the order of the paper; ``print`` shows them.

    Attributes
    ----------
    claims : tuple of Found
        Two lines each.
    """

    claims: tuple[Found, ...]

    @property
    def passed(self) -> bool:
        """Whether everything came out as it should."""
        return not self.failures

    @property
    def failures(self) -> tuple[Found, ...]:
        """The claims that did not."""
        return tuple(each for each in self.claims if not each.passed)

    def to_dict(self) -> dict[str, Any]:
        """Return the table as plain values."""
        return {"passed": self.passed, "claims": [asdict(each) for each in self.claims]}

    def __str__(self) -> str:
        held, total = len(self.claims) - len(self.failures), len(self.claims)
        return "\n".join([*map(str, self.claims), f"{held} of {total} claims came out as stated."])


def reproduce(
    *,
    only: Iterable[str] = PARTS,
    share: float = 1.0,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> Reproduction:
    """Reproduce the paper: enumerate, or simulate by real fits, each of its claims.

    Simulated claims are judged by exact intervals with confidence 1 - 1e-8 and fixed seeds, so
    that a table of true claims shows a failure with probability below 1e-6.

    Parameters
    ----------
    only : iterable of {"2", "2.3", "3", "4.1", "4.2", "4.3", "5.1", "B", "E", "beyond"}
        Sections and appendices of the paper, and what goes beyond it; by default all.
    share : float
        Of the usual replications, positive. A small one is fast and finds fewer false claims; it
        never refutes a true one.
    n_jobs : int, optional
        Claims at the same time, as in joblib.
    progress : bool, optional
        False shows no bar.

    Returns
    -------
    Reproduction

    Examples
    --------
    >>> found = reproduce(only=["4.2"])
    >>> len(found.claims), found.passed
    (3, True)
    >>> print(found.claims[1])
    4.2: At delta = alpha = .1, delta* = .02: .6430 < .6511 (kappa = 22), .6816 < 1 (30)
        as stated: expected 0.643, 0.6511, 0.6816, 1, got 0.643, 0.6511, 0.6816, 1
    """
    from joblib import Parallel, delayed

    effort = Effort(checks.positive("share", share))
    wanted = [checks.choice("only", part, PARTS) for part in only]
    tasks = [row for row in rows() if _said(row)[0] in wanted]
    workers, claims = Parallel(n_jobs, return_as="generator"), []
    with Progress(len(tasks), progress, "claims") as shown:
        for each in workers(delayed(_computed)(row, effort) for row in tasks):
            claims.append(each)
            shown.advance_to(len(claims))
    return Reproduction(tuple(claims))


def _said(row: Row) -> tuple[str, str]:
    """Return the part and the text of a claim."""
    part, _, text = (row.__doc__ or "").removesuffix(".").partition(": ")
    return part, text


def _computed(row: Row, effort: Effort) -> Found:
    """Compute one row; one that cannot be computed has failed, and the others are shown."""
    part, text = _said(row)
    try:
        found = row(effort)
    except Exception as error:  # a broken library may raise anything
        found = Found("a result", in_one_line(error), False)
    return replace(found, part=part, text=text)
