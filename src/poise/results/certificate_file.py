"""A certificate that somebody else can check: one JSON file.

What a verdict "stable" states by itself is in :mod:`poise.results.certificate`.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poise.arguments.notebook_card import Card, ShownAsCard
from poise.data.ordinary_files import read_ordinary
from poise.errors import ArgumentError, RecordError
from poise.results.canonical_json import canonical_json, read_strict_json, sha256_of
from poise.results.json_encoding import to_json
from poise.results.packed_changes import PackedChanges
from poise.results.text.describe_certificate import NOT_IN_A_FILE, statement_of, theorem_of

if TYPE_CHECKING:
    from poise.results.stability_result import StabilityResult

__all__ = ["FORMAT", "CertificateFile", "certified_content"]

FORMAT = "poise certificate 1"
SCHEMA = Path(__file__).with_name("certificate.schema.json")

_QUESTION = ("n", "epsilon", "delta", "alpha", "randomized", "test")
# In other parts of the file, or as long as the changes and computed from them.
_ELSEWHERE = (*_QUESTION, "design", "warnings", "ledger", "trajectory", "trajectory_unstable")
_MOST_BYTES = 1 << 30
NOT_CHECKED = "This is what the file claims; poise.verify checks it."


@dataclass(frozen=True, eq=False)
class CertificateFile(ShownAsCard):
    """A verdict with everything that it rests on, so that nobody has to trust who made it.

    The verdict, its limits and its words follow from the changes in it, and :func:`poise.verify`
    computes them again. With the rows and the algorithm it also computes trials again and
    compares them bit for bit.

    It does not show that rows are independent draws, that the question was fixed before anybody
    looked, or that no other question was asked of the same rows.

    Parameters
    ----------
    content : dict
        What the file holds, as JSON has it. The parts are described in
        ``poise/results/certificate.schema.json``.

    See Also
    --------
    verify, StabilityResult

    Examples
    --------
    >>> from poise import Trials
    >>> result = Trials.from_changes([0.1] * 30, n=5).test(epsilon=0.2, delta=0.1)
    >>> certificate = result.certificate()
    >>> certificate.verdict, certificate.signature
    ('stable', None)
    >>> CertificateFile.from_json(certificate.to_json()).digest == certificate.digest
    True
    """

    content: dict[str, Any]

    @classmethod
    def of(cls, result: StabilityResult) -> CertificateFile:
        """Return the certificate of a result; see :meth:`poise.StabilityResult.certificate`."""
        content = certified_content(result)
        return cls({**content, "digest": sha256_of(content)})

    @property
    def verdict(self) -> str:
        """The verdict that is claimed."""
        return str(self._part("statement").get("verdict"))

    @property
    def digest(self) -> str:
        """The digest that the file says it has."""
        return str(self.content.get("digest"))

    @property
    def signature(self) -> dict[str, str] | None:
        """The signature, if the file has one: kind, public key and value."""
        return self.content.get("signature")

    @cached_property
    def computed_digest(self) -> str:
        """The digest of what the file holds, without its digest and its signature."""
        return sha256_of(self.without("digest", "signature"))

    def without(self, *names: str) -> dict[str, Any]:
        """Return what the file holds without these parts."""
        return {name: part for name, part in self.content.items() if name not in names}

    def statement(self) -> str:
        """Say what is claimed, in two sentences."""
        said = self._part("statement")
        return f"{said.get('headline')}\n{said.get('declared')}"

    def _part(self, name: str) -> dict[str, Any]:
        part = self.content.get(name)
        return part if isinstance(part, dict) else {}

    def to_json(self) -> str:
        """Return the certificate in its only form: canonical JSON (RFC 8785)."""
        return canonical_json(self.content).decode()

    def save(self, path: str | Path) -> None:
        """Write the certificate to a file; an older one stays whole until the new one is."""
        path = Path(path)
        beside = path.with_name(f"{path.name}.new")
        beside.write_text(self.to_json() + "\n", encoding="utf-8")
        beside.replace(path)

    @classmethod
    def from_json(cls, text: str | bytes, name: str = "this") -> CertificateFile:
        """Read a certificate; what it claims is not checked here.

        Examples
        --------
        >>> CertificateFile.from_json("[]")
        Traceback (most recent call last):
        poise.errors.RecordError: this is not a certificate written by poise
        """
        content = read_strict_json(text, name)
        form = content.get("format") if isinstance(content, dict) else None
        if not isinstance(form, str) or not form.startswith("poise certificate "):
            raise RecordError(f"{name} is not a certificate written by poise")
        if form != FORMAT:
            raise RecordError(
                f"{name} has format {form!r}, and this version of poise reads {FORMAT!r}"
            )
        return cls(content)

    @classmethod
    def load(cls, path: str | Path) -> CertificateFile:
        """Read what :meth:`save` wrote."""
        return cls.from_json(read_ordinary(path, _MOST_BYTES), str(path))

    @staticmethod
    def schema() -> dict[str, Any]:
        """Return the JSON Schema of the file, draft 2020-12.

        Examples
        --------
        >>> CertificateFile.schema()["title"]
        'poise certificate 1'
        """
        schema: dict[str, Any] = json.loads(SCHEMA.read_text(encoding="utf-8"))
        return schema

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CertificateFile):
            return NotImplemented
        return self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash(self.to_json())

    def _card(self) -> Card:
        from poise.results.plots.certified import plot_certificate

        claimed, said = self.statement().split("\n", 1), self._part("statement")
        facts = {"digest": self.digest, "signed": "no" if self.signature is None else "yes"}
        return Card(
            claimed[0],
            f"claims {self.verdict}",
            [*claimed[1:], str(said.get("not_meant")), NOT_CHECKED, NOT_IN_A_FILE],
            [str(text) for text in self.content.get("warnings") or ()],
            facts,
            draw=lambda: plot_certificate(self),
        )

    def __str__(self) -> str:
        return self.statement()


def certified_content(result: StabilityResult) -> dict[str, Any]:
    """Return everything that a certificate holds, but for digest and signature."""
    trials = result.trials
    if trials is None:
        raise ArgumentError(
            "this result has no changes, so nobody could check a certificate of it: it was read "
            "from JSON. Make the certificate where the test is run"
        )
    numbers = {name: v for name, v in result.to_dict().items() if name not in _ELSEWHERE}
    origin = None if trials.provenance is None else asdict(trials.provenance)
    content = {
        "format": FORMAT,
        "statement": statement_of(result),
        "theorem": theorem_of(result),
        "not_shown": NOT_IN_A_FILE,
        "question": {name: getattr(result, name) for name in _QUESTION},
        "numbers": numbers,
        # Not every language has whole numbers of 64 bits.
        "design": {**result.design.to_dict(), "seed": str(result.design.seed)},
        "provenance": origin,
        "changes": asdict(PackedChanges.of(trials.changes)),
        "failures": list(trials.failures),
        "warnings": list(result.warnings),
        "ledger": None if result.ledger is None else result.ledger.to_dict(),
    }
    plain: dict[str, Any] = json.loads(to_json(content, indent=None))
    return plain
