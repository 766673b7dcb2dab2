"""The size and number of bags that make an algorithm (ε, δ)-stable.

Larger bags lose less accuracy, but leave less of δ for the randomness of finitely many
bags, so that more bags are needed: the number grows without limit as the bag nears the
largest that Theorem L (:mod:`poise.theory.subbagging`; K beyond 1,000 rows and for three classes
or more) allows. So size and number are chosen together: as the default, the largest bag for which
four times the fewest bags are enough. Up to there the bag grows faster than the price; beyond,
a tenth more rows in a bag can cost twice the fits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from poise import arguments
from poise.arguments import counted
from poise.arguments.decimal_noise import without_noise
from poise.arguments.printed_numbers import at_least, at_most, exactly
from poise.errors import ArgumentError
from poise.theory.bag_deviation import checked_bag
from poise.theory.bags_by_chernoff import RandomBags
from poise.theory.decimals import ceiling
from poise.theory.number_of_bags import bags_needed, finite_bag_delta
from poise.theory.subbagging import (
    EXACT_UP_TO,
    largest,
    largest_admissible_bag,
    largest_bag,
    probability_width,
)

__all__ = ["BagChoice", "bag_trade_off", "bags_as_they_are", "choose_bags"]

# How many times the fewest bags the default may need, and the alternatives to it.
_USUAL_MULTIPLE = 4
_MULTIPLES = (1, 1.5, 2, _USUAL_MULTIPLE, 10, 30)


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
        What the number of bags rests on.
    largest_bag : int
        Rows in the largest bag that is stable if all bags are fitted.
    coupled : bool
        Whether the guarantee needs one seed for both fits.

    Examples
    --------
    >>> choice = choose_bags(100, epsilon=0.1, delta=0.1)
    >>> choice.bag_size, choice.n_bags, choice.theorem, choice.largest_bag
    (23, 2460, 'L', 39)
    """

    n: int
    bag_size: int
    n_bags: int
    epsilon: float
    delta: float
    width: float
    theorem: str
    largest_bag: int
    coupled: bool = False

    @property
    def sentence(self) -> str:
        """What is guaranteed, and what it rests on."""
        seeds = ", if both fits share their seed" if self.coupled else ""
        return (
            f"The average of {counted(self.n_bags, 'fit')} to random bags of {self.bag_size:,} of "
            f"{counted(self.n, 'row')} is ({exactly(self.epsilon)}, {at_most(self.delta)})-stable "
            "for every distribution: without one of the rows, a prediction changes by more than "
            f"{exactly(self.epsilon)} with probability at most {at_most(self.delta)}{seeds} "
            f"(Theorem {self.theorem}; base fits in a range of width {at_least(self.width)})."
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

    @property
    def largest_bag(self) -> int:
        """Rows in the largest bag that is stable if all bags are fitted."""
        largest_of = largest_admissible_bag if self.numbers else largest_bag
        return int(largest_of(self.n, self.epsilon, self.delta, self.width))

    def fewest(self, b: int) -> tuple[int, str]:
        """Count the bags that are enough for this bag size, and name the theorem; 0 if none."""
        return _fewest(self, b)

    def reached(self, b: int, n_bags: int) -> tuple[float, str]:
        """Compute the smallest δ that these bags guarantee, and name the theorem."""
        asked = (self.n, b, n_bags, self.epsilon, self.width, self.coupled)
        found = [(float(finite_bag_delta(*asked)), "K")]
        if self.numbers:
            found.append((self.random_bags(b).reached(n_bags), self.sharp_theorem))
        return min(found)

    def random_bags(self, b: int) -> RandomBags:
        """Describe random bags of ``b`` rows."""
        share = b / self.n if self.coupled else 1.0
        return RandomBags(self.n, b, self.epsilon / self.width, self.delta, share)

    @property
    def sharp_theorem(self) -> str:
        """The theorem behind the sharper count of bags."""
        return "L" if self.n <= EXACT_UP_TO else "K"

    def largest_within(self, n_bags: float) -> int:
        """Find the largest bag for which this many bags are enough; 0 if there is none."""
        return largest(self.n - 1, lambda b: 0 < self.fewest(b)[0] <= n_bags)

    def largest_for(self, multiple: float) -> int:
        """Find the largest bag for this multiple of the fewest bags, whatever the seeds."""
        free = replace(self, coupled=False)
        return free.largest_within(multiple * free.fewest(1)[0])

    def choice(self, b: int, n_bags: int | None = None) -> BagChoice:
        """Describe bags of ``b`` rows, as few as will do unless more are asked for."""
        fewest, theorem = self.fewest(b)
        return self.described(b, n_bags or fewest, self.delta, theorem)

    def described(self, b: int, n_bags: int, delta: float, theorem: str) -> BagChoice:
        """Describe these bags, which guarantee ``delta`` by this theorem."""
        asked = (self.epsilon, delta, self.width, theorem, self.largest_bag, self.coupled)
        return BagChoice(self.n, b, n_bags, *asked)


@lru_cache(maxsize=1024)
def _fewest(request: _Request, b: int) -> tuple[int, str]:
    asked = (request.n, b, request.epsilon, request.delta, request.width)
    found = [(int(bags_needed(*asked, coupled=request.coupled)), "K")]
    if request.numbers:
        found.append((request.random_bags(b).needed(), request.sharp_theorem))
    return min((pair for pair in found if pair[0]), default=(0, "K"))


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

    Theorem L with Chernoff's inequality counts the bags (:func:`bags_needed_chernoff`), or Theorem
    K where that needs fewer. If the bag size is given, the answer has the fewest bags that
    are enough. If the number of bags is given, it has the largest bag. If neither is given, it
    has the largest bag for which four times the fewest bags are enough: accuracy grows
    with the bag, and beyond this a few rows more cost many times the fits.
    :func:`bag_trade_off` lists the alternatives.

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
    >>> choose_bags(200, epsilon=0.1, delta=0.1).n_bags
    2438
    >>> choose_bags(200, epsilon=0.1, delta=0.1, n_bags=1000).bag_size
    31
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
        With ``delta`` as asked for if the bags are enough for it, and otherwise the smallest
        that is proved for them; 1 if nothing is guaranteed.

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
    return request.described(size, bags, *request.reached(size, bags))


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

    The entries have the largest bags for 1, 1.5, 2, 4 (the default of :func:`choose_bags`), 10 and
    30 times the fewest bags. Coupled bags have the same sizes, and fewer bags.

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
    1 647
    8 945
    13 1256
    23 2460
    """
    request = _request(n, epsilon, delta, width, n_classes, coupled)
    _require_enough(request, 1, None)
    sizes = {request.largest_for(multiple) for multiple in _MULTIPLES}
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
    """Take the largest bag for the number of bags, or for four times the fewest."""
    _require_enough(request, 1, n_bags)
    size = (
        request.largest_for(_USUAL_MULTIPLE) if n_bags is None else request.largest_within(n_bags)
    )
    return request.choice(size, n_bags)


def _require_enough(request: _Request, b: int, n_bags: int | None) -> None:
    """Raise, with what would be possible, if bags of ``b`` rows cannot do what is asked."""
    fewest = request.fewest(b)[0]
    pair = f"({exactly(request.epsilon)}, {exactly(request.delta)})"
    asked = f"{pair}-stable on {counted(request.n, 'row')}"
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
    if request.numbers:
        last = max(1, int(ceiling(request.delta * n)))
        epsilon = min(epsilon, request.width * request.random_bags(b).reach(last))
    found = [f"epsilon above {at_most(without_noise(epsilon))}"]
    delta = share * (request.width / request.epsilon) ** 2
    if delta < 1:
        found.append(f"delta above {at_most(without_noise(delta))}")
    smaller = request.largest_within(math.inf)
    if smaller:
        found.append(f"bags of at most {counted(smaller, 'row')}")
    else:
        # 4(n - 1)²δε² > W² for bags of one row.
        rows = request.width / (2 * request.epsilon * math.sqrt(request.delta))
        found.append(f"n of at least {math.floor(rows) + 2:,}")
    return ", or ".join(found)
