"""The guarantee of a stabilised estimator, in numbers and in a sentence."""

from __future__ import annotations

from dataclasses import dataclass

from poise.arguments import counted
from poise.arguments.notebook_card import Card, ShownAsCard, parts_at_limit
from poise.arguments.printed_numbers import at_most, exactly
from poise.theory.bag_choice import BagChoice

__all__ = ["StabilityGuarantee"]


@dataclass(frozen=True)
class StabilityGuarantee(ShownAsCard):
    """A statement about every distribution: see :func:`poise.stabilize`.

    Attributes
    ----------
    n : int
        Training rows that it is about.
    epsilon : float
        Largest change that is tolerated: in the units of the response, as a share of the
        training range, or as Euclidean distance of class probabilities, according to ``units``.
    delta : float
        Probability of a larger change when one row is removed; 1 means that nothing is promised.
    units : {"response", "training range", "probabilities"}
        What ``epsilon`` is measured in.
    bag_size, n_bags : int
        Rows in a bag, and number of bags.
    theorem : {"K", "L"}
        The theorem that counts the bags: see :func:`poise.theory.choose_bags`.
    shared_seed : bool
        Whether it needs one ``random_state`` for both fits.
    fixed_classes : bool
        Whether the labels were fixed beforehand, so that it carries over to sets of labels.

    Examples
    --------
    >>> import poise
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> stable = poise.stabilize(
    ...     DecisionTreeRegressor(), n=200, epsilon=10, delta=0.1, bounds=(0, 100)
    ... )
    >>> stable.guarantee.bag_size, stable.guarantee.n_bags, stable.guarantee.certificate
    (74, 2438, True)
    """

    n: int
    epsilon: float
    delta: float
    units: str
    bag_size: int
    n_bags: int
    theorem: str
    shared_seed: bool
    fixed_classes: bool = False

    @classmethod
    def about(
        cls, bags: BagChoice, units: str, delta: float, fixed_classes: bool = False
    ) -> StabilityGuarantee:
        """Compute the guarantee of these bags."""
        return cls(
            bags.n,
            bags.epsilon,
            delta,
            units,
            bags.bag_size,
            bags.n_bags,
            bags.theorem,
            bags.coupled,
            fixed_classes,
        )

    @property
    def certificate(self) -> bool:
        """Whether this is an (ε, δ)-certificate: not if it is relative to the training range."""
        return self.units != "training range" and self.delta < 1

    @property
    def sentence(self) -> str:
        """The promise in words, with what it does not say."""
        bags = f"{counted(self.n_bags, 'bag')} of {counted(self.bag_size, 'row')}"
        if self.delta >= 1:
            return (
                f"Nothing is promised: {bags} are too large or too few for changes of "
                f"{exactly(self.epsilon)} with {counted(self.n, 'row')}."
            )
        seed = " and both fits have the same random_state" if self.shared_seed else ""
        return (
            f"Whatever the distribution: if one of {counted(self.n, 'training row')} is "
            f"removed{seed}, {self._change()} with probability at most {at_most(self.delta)} "
            f"({bags}, Theorem {self.theorem}). {self._limits()}"
        )

    def _card(self) -> Card:
        first, stop, rest = self.sentence.partition("). ")
        parts = parts_at_limit("moves no more", "may move more", min(1.0, self.delta))
        return Card(first + stop.strip(), "guarantee", [rest] if rest else [], parts=parts)

    def _change(self) -> str:
        """Say which event is rare."""
        if self.units == "response":
            return f"the prediction at a new point changes by more than {exactly(self.epsilon)}"
        if self.units == "training range":
            return (
                f"the prediction at a new point changes by more than {exactly(self.epsilon)} times "
                "the range of the training responses"
            )
        return (
            f"the class probabilities at a new point change by {exactly(self.epsilon)} or more "
            "(Euclidean distance)"
        )

    def _limits(self) -> str:
        """Say what does not follow and, for labels, what does."""
        if self.units == "training range":
            return (
                "The range depends on the data, so this is no (ε, δ)-certificate and no ground "
                "for intervals; state bounds to get one."
            )
        if self.fixed_classes:
            return (
                "Otherwise the sets of labels before and after the removal share at least k "
                "labels (Theorem M). It says nothing about accuracy."
            )
        if self.units == "probabilities":
            return (
                "It says nothing about accuracy. State all classes to get sets of labels that "
                "survive removals (Theorem M)."
            )
        return "It says nothing about accuracy."
