"""The result that follows from the changes in a certificate, and where the file differs from it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import isclose
from typing import Any

from poise.arguments.typed_fields import read_object
from poise.errors import ArgumentError, RecordError
from poise.protocol.random_order import PERMUTATION
from poise.protocol.randomness import Randomness
from poise.results.canonical_json import canonical_json
from poise.results.certificate_file import FORMAT, CertificateFile, certified_content
from poise.results.design import Design
from poise.results.json_encoding import fields_of
from poise.results.ledger_note import LedgerNote
from poise.results.packed_changes import PackedChanges
from poise.results.provenance import Provenance
from poise.results.stability_result import StabilityResult
from poise.results.trials import Trials
from poise.theory.rounding import OTHER_LIBRARIES

__all__ = ["CertifiedQuestion", "Difference", "certified_result", "differences"]

_WHAT = "a certificate"
_ADDED_LATER = ("digest", "signature")


@dataclass(frozen=True)
class CertifiedQuestion:
    """The question that a certificate answers."""

    n: int
    epsilon: float
    delta: float
    alpha: float
    randomized: bool
    test: str


@dataclass(frozen=True)
class _Content:
    """The parts of a certificate; what its verdict rests on has types."""

    question: CertifiedQuestion
    design: dict[str, Any]
    provenance: Provenance | None
    changes: PackedChanges
    failures: tuple[str, ...]
    warnings: tuple[str, ...]
    ledger: LedgerNote | None
    numbers: dict[str, Any]
    statement: dict[str, str]
    theorem: dict[str, str]
    not_shown: str
    format: str = FORMAT


def certified_result(certificate: CertificateFile) -> StabilityResult:
    """Judge the changes of a certificate anew, by the question in it.

    Examples
    --------
    >>> made = Trials.from_changes([0.1] * 30, n=5).test(epsilon=0.2, delta=0.1)
    >>> certified_result(made.certificate()) == made
    True
    """
    inner = certificate.without(*_ADDED_LATER)
    if not isinstance(inner.get("poise_version"), str):
        raise RecordError(f"this is not {_WHAT} written by poise: no poise_version in it")
    content = read_object(_Content, fields_of(json.dumps(inner), (), _WHAT), _WHAT)
    design = _design(content.design)
    asked = content.question
    if asked.n != design.n:
        raise RecordError(f"this is not {_WHAT} written by poise: n is {asked.n} and {design.n}")
    try:
        trials = Trials.measured(content.changes.unpacked(), design, content.failures)
        if trials.n_observed > trials.n_trials:
            raise ArgumentError(f"{trials.n_observed} changes for {trials.n_trials} trials")
        known = replace(trials, warnings=content.warnings, provenance=content.provenance)
        if not design.from_rows:
            known = replace(known, n_fits=0)  # they were measured elsewhere
        asked_for = asked.epsilon, asked.delta, asked.alpha, asked.randomized, asked.test
        return replace(known.test(*asked_for), ledger=content.ledger)
    except ArgumentError as error:
        raise RecordError(f"this is not {_WHAT} written by poise: {error}") from None


def _design(written: dict[str, Any]) -> Design:
    seed = written.get("seed")
    if not isinstance(seed, str) or not (seed.isascii() and seed.isdecimal()):
        raise RecordError(f"this is not {_WHAT} written by poise: its seed is {seed!r}")
    return Design.from_dict({**written, "seed": int(seed[:40])})


@dataclass(frozen=True)
class Difference:
    """Something that a file claims and that does not follow from its changes.

    Attributes
    ----------
    place : str
        Where it stands in the file.
    claim, fact : str
        What stands there, and what follows.

    Examples
    --------
    >>> Difference("numbers.pvalue", "0.01", "0.02").only_digits
    False
    >>> Difference("numbers.pvalue", "0.010000000000000001", "0.01").only_digits
    True
    """

    place: str
    claim: str
    fact: str

    @property
    def only_digits(self) -> bool:
        """Whether the words are the same and the numbers almost, as by another rounding."""
        words = [_NUMBER.split(text) for text in (self.claim, self.fact)]
        if words[0] != words[1]:
            return False
        most = _PRINTED if self.place.startswith("statement") else OTHER_LIBRARIES
        both = zip(_NUMBER.findall(self.claim), _NUMBER.findall(self.fact), strict=True)
        return all(isclose(float(one), float(other), rel_tol=most) for one, other in both)

    def __str__(self) -> str:
        return f"{self.place} is {self.claim}, and {self.fact} follows from the changes"


_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_PRINTED = 2e-3  # numbers in words have four digits


def differences(certificate: CertificateFile, result: StabilityResult) -> list[Difference]:
    """List what the file claims and what does not follow from its changes.

    Examples
    --------
    >>> made = Trials.from_changes([0.1] * 30, n=5).test(epsilon=0.2, delta=0.1)
    >>> forged = made.certificate()
    >>> forged.content["numbers"]["pvalue"] = 0.001
    >>> print(*differences(forged, certified_result(forged)))
    numbers.pvalue is 0.001, and 0.0423... follows from the changes
    """
    claimed, found = certificate.without(*_ADDED_LATER), certified_content(result)
    # The same numbers can be packed in several ways, by other versions in other words.
    for content in (claimed, found):
        content["changes"] = {k: v for k, v in content["changes"].items() if k != "data"}
        content.pop("poise_version", None)
        content["design"].setdefault("order", PERMUTATION)  # older files do not say it
    if found["provenance"] is not None:
        found["design"]["zeta"] = Randomness(result.design.seed).zeta
        found["provenance"]["decision_points"] = _decision_points(found)
    return [Difference(*each) for each in _unequal(claimed, found, "")]


def _decision_points(content: dict[str, Any]) -> list[float]:
    """Return the changes at which a decision turned: 0 alone, or ε too if it was known."""
    known = len(content["provenance"]["decision_points"]) > 1
    return [0.0, content["question"]["epsilon"]] if known else [0.0]


_ABSENT = object()


def _unequal(claimed: Any, found: Any, place: str) -> Iterator[tuple[str, str, str]]:
    """Yield the places at which two contents differ, and what stands there."""
    if isinstance(claimed, dict) and isinstance(found, dict):
        for key in sorted({*claimed, *found}):
            inner = f"{place}.{key}" if place else key
            yield from _unequal(claimed.get(key, _ABSENT), found.get(key, _ABSENT), inner)
    elif (claim := _shown(claimed)) != (fact := _shown(found)):
        yield place, claim, fact


def _shown(value: object) -> str:
    return "missing" if value is _ABSENT else canonical_json(value).decode()
