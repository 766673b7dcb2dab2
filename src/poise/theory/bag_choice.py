"""The size and number of bags that make an algorithm (ε, δ)-stable.

Larger bags lose less accuracy, but leave less of δ for the randomness of finitely many
bags, so that more bags are needed: the number grows without limit as the bag nears the
largest that Theorems K and L (:mod:`poise.theory.subbagging`) allow.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from poise import arguments
from poise.arguments import counted
from poise.errors import ArgumentError
from poise.theory.bag_deviation import checked_bag, reach
from poise.theory.decimals import ceiling
from poise.theory.number_of_bags import bags_needed, bags_needed_hoeffding, finite_bag_delta
from poise.theory.subbagging import EXACT_UP_TO, largest, largest_bag, probability_width

__all__ = ["BagChoice", "bag_trade_off", "bags_as_they_are", "choose_bags"]

# The part of δ that pays for the bag size; the rest pays for the finite number of bags.
_PART = 0.5
_PARTS = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.97)
# The largest bag on the list may need this many times the bags of the default.
_PATIENCE = 100


@dataclass(frozen=True)
class BagChoice:
    """A bag size and a number of bags that are (ε, δ)-stable for every distribution.

    Attributes
    ----------
    n : int
        Training rows.
    bag_size : int
        Rows in a bag, drawn without replacement.
    n_bags : int
        Number of bags.
    epsilon, delta : float
        A removal changes a prediction by more than ε with probability at most δ.
    width : float
        Width of the range of the base fits; 2√(1 - 1/L) for L class probabilities.
    theorem : {"K", "L"}
        Whether the number of bags rests on Theorem K, or on L with Hoeffding's inequality.
    coupled : bool
        Whether the guarantee needs one seed for both fits.

    Examples
    --------
    >>> choice = choose_bags(100, epsilon=0.1, delta=0.1)
    >>> choice.bag_size, choice.n_bags, choice.theorem
    (16, 1927, 'K')
    """

    n: int
    bag_size: int
    n_bags: int
    epsilon: float
    delta: float
    width: float
    theorem: str
    coupled: bool = False

    @property
    def rows_fitted(self) -> int:
        """Rows over all bags: what a fit costs."""
        return self.n_bags * self.bag_size

    @property
    def sentence(self) -> str:
        """What is guaranteed, and what it rests on."""
        seeds = ", if both fits share their seed" if self.coupled else ""
        return (
            f"The average of {counted(self.n_bags, 'fit')} to random bags of {self.bag_size:,} of "
            f"{counted(self.n, 'row')} is ({self.epsilon:g}, {self.delta:g})-stable for every "
            f"distribution: without one of the rows, a prediction changes by more than "
            f"{self.epsilon:g} with probability at most {self.delta:g}{seeds} (Theorem "
            f"{self.theorem}; base fits in a range of width {self.width:g})."
        )


@dataclass(frozen=True)
class _Request:
    """The question about bags: n, ε, δ and the range of base fits, checked."""

    n: int
    epsilon: float
    delta: float
    width: float
    numbers: bool  # Theorem L is about numbers, and two classes are one number
    coupled: bool

    def fewest(self, b: int) -> tuple[int, str]:
        """Count the bags that are enough for this bag size, and name the theorem; 0 if none."""
        asked = (self.n, b, self.epsilon, self.delta, self.width)
        found = [(int(bags_needed(*asked, coupled=self.coupled)), "K")]
        if self.numbers and self.n <= EXACT_UP_TO:
            found.append((bags_needed_hoeffding(*asked), "L"))
        return min((pair for pair in found if pair[0]), default=(0, "K"))

    def part(self, part: float) -> int:
        """Find the largest bag that takes up no more than this part of δ; at least 1."""
        return max(1, int(largest_bag(self.n, self.epsilon, part * self.delta, self.width)))

    def largest_within(self, n_bags: float) -> int:
        """Find the largest bag for which this many bags are enough; 0 if there is none."""
        return largest(self.n - 1, lambda b: 0 < self.fewest(b)[0] <= n_bags)

    def choice(self, b: int, n_bags: int | None = None) -> BagChoice:
        """Describe bags of ``b`` rows, as few as will do unless more are asked for."""
        fewest, theorem = self.fewest(b)
        # Theorem L alone does not need the shared seed.
        coupled = self.coupled and theorem == "K"
        return BagChoice(
            self.n, b, n_bags or fewest, self.epsilon, self.delta, self.width, theorem, coupled
        )


def choose_bags(
    n: int,
    *,
    epsilon: float,
    delta: float,
    width: float = 1.0,
    n_classes: float | None = None,
    bag_size: int | None = None,
    n_bags: int | None = None,
    coupled: bool = False,
) -> BagChoice:
    """Choose bags that make any base algorithm (ε, δ)-stable for every distribution.

    Theorem K counts the bags, or Theorem L with Hoeffding's inequality where that needs
    fewer. If the bag size is given, the answer has the fewest bags that are enough. If the
    number of bags is given, it has the largest bag. If neither is given, it has the largest
    bag that takes up half of δ by Theorem K, so that the other half pays for the finite
    number of bags. :func:`bag_trade_off` lists the alternatives.

    The choice says nothing about accuracy: small bags may fit badly.

    Parameters
    ----------
    n : int, at least 2
        Training rows.
    epsilon : float, positive
        Largest change that is tolerated; for classes, Euclidean distance of the probabilities.
    delta : float in (0, 1)
        Probability of a larger change.
    width : float, positive, default 1
        Width of the range of the base fits, in the units of ``epsilon``.
    n_classes : int or inf, optional
        Number of classes, if the base fits are class probabilities; ``width`` is then ignored.
    bag_size, n_bags : int, optional
        Fixed by the caller.
    coupled : bool, default False
        Whether bags without the removed row are kept for the n - 1 rows: fewer bags, and a
        guarantee for fits that share their seed.

    Returns
    -------
    BagChoice

    Raises
    ------
    ArgumentError
        If the request is impossible; the message says what would be possible.

    Examples
    --------
    >>> choose_bags(1000, epsilon=0.05, delta=0.1).n_bags
    7997
    >>> choose_bags(1000, epsilon=0.05, delta=0.1, n_bags=4440).bag_size
    90
    >>> choose_bags(20, epsilon=0.01, delta=0.05)
    Traceback (most recent call last):
    poise.errors.ArgumentError: no bags make an algorithm (0.01, 0.05)-stable ...
    """
    request = _request(n, epsilon, delta, width, n_classes, coupled)
    most = None if n_bags is None else int(arguments.count("n_bags", n_bags, minimum=1))
    if bag_size is None:
        return _largest_choice(request, most)
    size = int(
        checked_bag(np.asarray(request.n), arguments.scalar("bag_size", bag_size), "bag_size")
    )
    _require_enough(request, size, most)
    return request.choice(size, most)


def bags_as_they_are(
    n: int,
    *,
    epsilon: float,
    delta: float,
    bag_size: int,
    n_bags: int,
    width: float = 1.0,
    n_classes: float | None = None,
    coupled: bool = False,
) -> BagChoice:
    """State what given bags guarantee: the δ that is asked for, or the one they reach.

    Parameters
    ----------
    n, epsilon, delta, width, n_classes, coupled
        As in :func:`choose_bags`.
    bag_size, n_bags : int
        The bags.

    Returns
    -------
    BagChoice
        With ``delta`` as asked for if the bags are enough for it, and otherwise that of
        Theorem K; 1 if nothing is guaranteed.

    Examples
    --------
    >>> bags_as_they_are(100, epsilon=0.1, delta=0.1, bag_size=16, n_bags=1000).delta
    0.148100...
    """
    request = _request(n, epsilon, delta, width, n_classes, coupled)
    size = int(
        checked_bag(np.asarray(request.n), arguments.scalar("bag_size", bag_size), "bag_size")
    )
    bags = int(arguments.count("n_bags", arguments.scalar("n_bags", n_bags), minimum=1))
    if 0 < request.fewest(size)[0] <= bags:
        return request.choice(size, bags)
    reached = finite_bag_delta(
        request.n, size, bags, request.epsilon, request.width, request.coupled
    )
    return BagChoice(
        request.n, size, bags, request.epsilon, reached, request.width, "K", request.coupled
    )


def bag_trade_off(
    n: int,
    *,
    epsilon: float,
    delta: float,
    width: float = 1.0,
    n_classes: float | None = None,
    coupled: bool = False,
) -> tuple[BagChoice, ...]:
    """List pairs of bag size and number of bags that are (ε, δ)-stable, cheapest first.

    The first entry needs the fewest bags of all; the last has the largest bag for which a
    hundred times the default number of bags is enough.

    Parameters
    ----------
    n, epsilon, delta, width, n_classes, coupled
        As in :func:`choose_bags`.

    Returns
    -------
    tuple of BagChoice

    Examples
    --------
    >>> for choice in bag_trade_off(100, epsilon=0.1, delta=0.1)[:4]:
    ...     print(choice.bag_size, choice.n_bags)
    1 911
    3 1085
    9 1333
    16 1927
    """
    request = _request(n, epsilon, delta, width, n_classes, coupled)
    _require_enough(request, 1, None)
    sizes = {request.part(part) for part in _PARTS}
    sizes.add(request.largest_within(_PATIENCE * request.fewest(request.part(_PART))[0]))
    # Of two bag sizes that need equally many bags, the larger loses less accuracy.
    best = {choice.n_bags: choice for choice in map(request.choice, sorted(sizes))}
    return tuple(best[n_bags] for n_bags in sorted(best) if n_bags)


def _request(
    n: int, epsilon: float, delta: float, width: float, n_classes: float | None, coupled: bool
) -> _Request:
    """Check the arguments."""
    rows = arguments.training_size(n)
    tolerated = float(arguments.positive("epsilon", arguments.scalar("epsilon", epsilon)))
    allowed = float(arguments.alpha(arguments.scalar("delta", delta), "delta"))
    breadth = float(arguments.positive("width", arguments.scalar("width", width)))
    if n_classes is not None:
        breadth = probability_width(n_classes)
    numbers = n_classes is None or n_classes == 2
    return _Request(rows, tolerated, allowed, breadth, numbers, arguments.flag("coupled", coupled))


def _largest_choice(request: _Request, n_bags: int | None) -> BagChoice:
    """Take the largest bag for the number of bags, or the one that takes up half of δ."""
    _require_enough(request, 1, n_bags)
    size = request.part(_PART) if n_bags is None else request.largest_within(n_bags)
    return request.choice(size, n_bags)


def _require_enough(request: _Request, b: int, n_bags: int | None) -> None:
    """Raise, with what would be possible, if bags of ``b`` rows cannot do what is asked."""
    fewest = request.fewest(b)[0]
    asked = f"({request.epsilon:g}, {request.delta:g})-stable on {counted(request.n, 'row')}"
    if not fewest:
        raise ArgumentError(
            f"no bags{f' of {b:,} rows' if b > 1 else ''} make an algorithm {asked}; possible are "
            + _possible(request, b)
        )
    if n_bags is not None and n_bags < fewest:
        raise ArgumentError(
            f"n_bags must be at least {fewest:,} to make an algorithm {asked} with bags of "
            f"{counted(b, 'row')}, got {n_bags:,}"
        )


def _possible(request: _Request, b: int) -> str:
    """Name an ε, a δ, a training size or a bag size for which bags exist."""
    n, share = request.n, b / (4 * (request.n - 1) * (request.n - b))
    epsilon = request.width * math.sqrt(share / request.delta)
    if request.numbers and n <= EXACT_UP_TO:
        epsilon = min(epsilon, request.width * reach(n, b, max(1, int(ceiling(request.delta * n)))))
    found = [f"epsilon above {_rounded_up(epsilon)}"]
    delta = share * (request.width / request.epsilon) ** 2
    if delta < 1:
        found.append(f"delta above {_rounded_up(delta)}")
    smaller = request.largest_within(math.inf)
    if smaller:
        found.append(f"bags of at most {counted(smaller, 'row')}")
    else:
        # 4(n - 1)²δε² > W² for bags of one row.
        rows = request.width / (2 * request.epsilon * math.sqrt(request.delta))
        found.append(f"n of at least {math.floor(rows) + 2:,}")
    return ", or ".join(found)


def _rounded_up(value: float) -> str:
    """Write a number with three digits, rounded away from zero."""
    unit = 10.0 ** (math.floor(math.log10(value)) - 2)
    return f"{math.ceil(value / unit * (1 - 1e-12)) * unit:.3g}"
