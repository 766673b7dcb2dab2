"""What a verdict "stable" states, and weaker statements that follow.

The file that somebody else can check is in :mod:`poise.results.certificate_file`; it holds this
statement, and everything that the verdict rests on.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from poise import arguments
from poise.arguments.decimal_noise import three_times
from poise.arguments.field_rules import Epsilon, ErrorLevel, Positive, Share, TrainingSize
from poise.arguments.notebook_card import Card, ShownAsCard, parts_at_limit
from poise.arguments.typed_fields import read_object
from poise.errors import ArgumentError
from poise.results.json_encoding import fields_of, plain, to_json
from poise.results.text.summary import in_words

if TYPE_CHECKING:
    from poise.results import StabilityResult
    from poise.results.design import Design

__all__ = ["NOTIONS", "Certificate", "as_written"]

NOTIONS = ("shared", "independent", "coupled")

_TERMS = {
    "shared": "fitted with the same random term",
    "independent": "fitted with independent random terms",
    "coupled": "fitted with random terms coupled in some way",
}

# Distances that satisfy the triangle inequality; a user's distance may not.
_OF_NUMBERS = ("auto", "absolute", "euclidean")
_METRICS = (
    *_OF_NUMBERS,
    *(f"{name} of {what}" for name in _OF_NUMBERS[1:] for what in ("labels", "probabilities")),
    "label",
    "total_variation",
)


@dataclass(frozen=True)
class Certificate(ShownAsCard):
    r"""The statement "(A, P, n) is (ε, δ)-stable", in one notion, at one error level.

    .. math:: P\{|\hat\mu_n(X) - \hat\mu_{n-1}(X)| > ε\} \le δ

    declared by a test that declares it of an unstable triple with probability at
    most α. Where several rows, or groups, were removed or replaced, or losses compared, the
    certificate is about that and says so. Its implications hold with the same α: they are facts
    about the triple and use no further data. The step from independent to shared randomness uses
    the triangle inequality, so it is refused for a distance that may not be a metric.

    It does not say that the triple *is* stable with probability 1 − α: a triple
    is stable or not, and the test errs with probability at most α.

    Parameters
    ----------
    notion : {"shared", "independent", "coupled"}
        How the random terms of the two fits are related.
    epsilon : float
        Allowed change, >= 0.
    delta : float
        Allowed probability of a larger change, in [0, 1).
    alpha : float
        Error level of the test that declared it, in (0, 1).
    n : int
        Training size, at least 2.
    remove : int
        How many of the n units are left out for the second model.
    replace : bool
        Whether fresh ones take their place.
    unit : {"row", "group"}
        What is counted, kept and removed as a whole.
    compares : {"predictions", "losses"}
        What differs by more than ε.
    distance : str
        How the difference is measured.
    warnings : tuple of str
        What was noticed that may make the error level wrong; what follows has them too.

    Examples
    --------
    >>> certificate = Certificate("independent", epsilon=0.1, delta=0.05, alpha=0.05, n=50)
    >>> weaker = certificate.implies("shared")
    >>> weaker.epsilon, weaker.delta
    (0.3, 0.15)
    >>> [c.notion for c in certificate.implications()]
    ['shared', 'coupled']
    >>> weaker.implies("independent")
    Traceback (most recent call last):
    poise.errors.ArgumentError: a certificate for shared randomness implies nothing ...
    """

    notion: str
    epsilon: Epsilon
    delta: Share
    alpha: ErrorLevel
    n: TrainingSize
    remove: Positive = 1
    replace: bool = False
    unit: str = "row"
    compares: str = "predictions"
    distance: str = "euclidean"
    warnings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        arguments.choice("notion", self.notion, NOTIONS)
        arguments.epsilon(self.epsilon)
        arguments.delta(self.delta)
        arguments.alpha(self.alpha)
        arguments.training_size(self.n)
        arguments.count("remove", self.remove, minimum=1)
        arguments.choice("unit", self.unit, ("row", "group"))
        arguments.choice("compares", self.compares, ("predictions", "losses"))

    @classmethod
    def from_result(cls, result: StabilityResult) -> Certificate:
        """Return what a result with verdict "stable" certifies: what was tested, and no more.

        A test run under any coupling of its own certifies the coupled notion:
        that there is some Q under which the triple is stable. Results of other
        procedures are refused: what they are worth is in their ``reason``.

        Examples
        --------
        >>> from poise import Trials
        >>> result = Trials.from_changes([0.1] * 60, n=5).test(0.2, 0.1)
        >>> Certificate.from_result(result).implies("coupled").delta
        0.1
        """
        if not hasattr(result, "test_name"):  # results of other procedures have none
            raise ArgumentError(
                f"result must be a StabilityResult, got {type(result).__name__}; what other "
                "results are worth is in their attributes certifies and reason"
            )
        if not result.stable:
            raise ArgumentError(
                f"result must have the verdict 'stable', got {result.verdict.value!r}; "
                "no other verdict certifies stability"
            )
        stated = cls.about(result.design, result.epsilon, result.delta, result.alpha)
        return replace(stated, warnings=result.warnings)

    @classmethod
    def about(cls, design: Design, epsilon: float, delta: float, alpha: float) -> Certificate:
        """Return the statement that a test of this design is about, whatever its verdict is."""
        return cls(
            design.coupling if design.coupling in NOTIONS else "coupled",
            epsilon,
            delta,
            alpha,
            design.n,
            remove=design.remove,
            replace=design.replace,
            unit=design.unit,
            compares="losses" if design.labeled_test else "predictions",
            distance=design.distance,
        )

    def implies(self, notion: str) -> Certificate:
        """Return the strongest certificate for ``notion`` that follows from this one.

        Independent (ε, δ) ⇒ shared (3ε, 3δ); any ⇒ coupled (ε, δ). Nothing else follows,
        and δ ≥ 1 would say nothing: both are refused.
        """
        arguments.choice("notion", notion, NOTIONS)
        if notion in (self.notion, "coupled"):
            return replace(self, notion=notion)
        if (self.notion, notion) != ("independent", "shared"):
            raise ArgumentError(
                f"a certificate for {self.notion} randomness implies nothing about {notion} "
                f"randomness; test again with coupling={notion!r}"
            )
        if self.compares == "predictions" and self.distance not in _METRICS:
            raise ArgumentError(
                f"the distance {self.distance} may not satisfy the triangle inequality, on which "
                "the step from independent to shared randomness rests; test again with "
                "coupling='shared'"
            )
        if 3 * self.delta >= 1:
            raise ArgumentError(
                f"delta must be below 1/3 to imply shared stability (3 delta < 1), got "
                f"{self.delta}; anything is stable with delta = 1"
            )
        three = three_times(self.epsilon), three_times(self.delta)
        return replace(self, notion=notion, epsilon=three[0], delta=three[1])

    def implications(self) -> tuple[Certificate, ...]:
        """Return every certificate in another notion that follows from this one."""
        implied = []
        for notion in NOTIONS:
            try:
                implied.append(self.implies(notion))
            except ArgumentError:
                continue
        return tuple(other for other in implied if other.notion != self.notion)

    def statement(self) -> str:
        """Say it in a sentence; each warning follows on a line of its own.

        Examples
        --------
        >>> print(Certificate("shared", 0.1, 0.2, 0.05, 30, remove=2, unit="group").statement())
        declared at error level 0.05: two models, one on 30 groups and one on 28 of them, fitted
        with the same random term, differ by more than 0.1 at a row of a fresh group with
        probability at most 0.2
        """
        stated = (
            f"declared at error level {as_written(self.alpha)}: {self.event} "
            f"with probability at most {as_written(self.delta)}"
        )
        return "\n".join([stated, *in_words(self.warnings)])

    @property
    def event(self) -> str:
        """What happens with probability δ at most: the two models, and how far they differ."""
        return (
            f"two models, one on {self.n:,} {self.unit}s and {self._second_model()}, "
            f"{_TERMS[self.notion]}, {self._difference()} by more than {as_written(self.epsilon)} "
            f"{self._where()}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return every part as a plain value."""
        content: dict[str, Any] = plain(asdict(self))
        return content

    def to_json(self, indent: int | None = 2) -> str:
        """Write the certificate as JSON; :meth:`from_json` reads it back exactly."""
        return to_json(self.to_dict(), indent)

    @classmethod
    def from_json(cls, text: str) -> Certificate:
        """Read a certificate written by :meth:`to_json`.

        Examples
        --------
        >>> doubts = ("14 rows are copies",)
        >>> certificate = Certificate("shared", 0.1, 0.2, 0.05, 30, warnings=doubts)
        >>> Certificate.from_json(certificate.to_json()) == certificate
        True
        """
        names = tuple(each.name for each in fields(cls))
        content = fields_of(text, names, "a certificate")
        return read_object(cls, content, "a certificate", derived=True)

    def _card(self) -> Card:
        stated, *others = (
            each.statement().splitlines()[0] for each in (self, *self.implications())
        )
        parts = parts_at_limit("within epsilon", "beyond", self.delta)
        said, follow = f"D{stated[1:]}.", [f"It follows: {other}." for other in others]
        return Card(said, "stable", follow, self.warnings, parts=parts)

    def __str__(self) -> str:
        return self.statement()

    def _second_model(self) -> str:
        if not self.replace:
            return f"one on {self.n - self.remove:,} of them"
        if self.remove == 1:
            return "one on the same with a fresh one in place of the last"
        return f"one on the same with {self.remove} fresh ones in place of the last {self.remove}"

    def _difference(self) -> str:
        if self.compares == "losses":
            return f"differ in their loss ({self.distance})"
        ordinary = self.distance in _OF_NUMBERS
        return "differ" if ordinary else f"differ in their predictions ({self.distance})"

    def _where(self) -> str:
        if self.unit == "group":
            return "at a row of a fresh group"
        return "at a fresh labelled row" if self.compares == "losses" else "at a fresh point"


def as_written(value: float) -> str:
    """Write a number of a statement with twelve digits, as every certificate has it.

    The words of a certificate belong to its file: ``poise verify`` compares them letter by letter
    with what follows from the changes, also in files that were written before.

    Examples
    --------
    >>> as_written(15000.0), as_written(10.107181110851391)
    ('15000', '10.1071811109')
    """
    return f"{value:.12g}"
