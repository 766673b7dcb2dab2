"""The lines of a ledger: its header, questions as they were put, and their answers."""

from __future__ import annotations

import hashlib
import json
import secrets
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, Literal, TypeAlias, TypeVar

from poise import arguments
from poise.arguments.typed_fields import read_object
from poise.data.keyed_row_hashes import RowKey
from poise.errors import ArgumentError

__all__ = ["RULES", "AskedQuestion", "LedgerAnswer", "LedgerHeader", "Rule", "Stake"]

Rule: TypeAlias = Literal["holm", "spending", "investing"]
RULES = ("holm", "spending", "investing")
_Entry = TypeVar("_Entry")
_LAST_YEAR = 9000  # a question is dated later than all others


@dataclass(frozen=True)
class LedgerHeader:
    """The first line of a ledger: what is decided before the first question.

    Parameters
    ----------
    key : str
        With which rows are hashed, in hexadecimal digits. Two ledgers with the same key are
        copies of one.
    alpha : float
        Error level of all verdicts together, in (0, 1).
    rule : {"holm", "spending", "investing"}
        Which verdicts hold together.

    Examples
    --------
    >>> header = LedgerHeader.new(alpha=0.05)
    >>> LedgerHeader.from_entry(header.to_entry()) == header, header.rule
    (True, 'holm')
    """

    key: str
    alpha: float = 0.05
    rule: Rule = "holm"

    def __post_init__(self) -> None:
        arguments.alpha(arguments.scalar("alpha", self.alpha))
        arguments.choice("rule", self.rule, RULES)
        RowKey.of(bytes.fromhex(self.key))

    @classmethod
    def new(cls, alpha: float, rule: Rule = "holm") -> LedgerHeader:
        """Begin a ledger with a key of its own."""
        return cls(secrets.token_hex(16), float(alpha), rule)

    @property
    def row_key(self) -> RowKey:
        """The key with which rows are hashed."""
        return RowKey(bytes.fromhex(self.key))

    def to_entry(self) -> dict[str, Any]:
        """Return what its line holds, without the format."""
        return asdict(self)

    @classmethod
    def from_entry(cls, entry: dict[str, Any]) -> LedgerHeader:
        """Read its line."""
        content = {name: value for name, value in entry.items() if name != "format"}
        return read_object(cls, content, "the header of a ledger")


@dataclass(frozen=True)
class Stake:
    """What alpha-investing gave a question before its first fit.

    Parameters
    ----------
    level, level_unstable : float
        Levels for "stable" and for "unstable", in [0, 1).
    seed : int
        The root seed, which no other question may have.

    Examples
    --------
    >>> Stake(0.0232, 0.0232, 7).level
    0.0232
    """

    level: float
    level_unstable: float
    seed: int

    def __post_init__(self) -> None:
        for name in ("level", "level_unstable"):
            arguments.delta(getattr(self, name), name)


@dataclass(frozen=True)
class AskedQuestion:
    """A question that was put to some rows.

    Parameters
    ----------
    id : str
        The same for the same question put to the same rows in the same way: a repetition of the
        whole run gives the same answer, and is no new question.
    rows : str
        Digest of the rows.
    time : str
        When it was put, in UTC; the order of questions is that of their times.
    title : str
        The question in a few words.
    about : dict
        What is asked, whatever the rows: algorithm, n, ε, δ and the like. Questions that agree in
        it are the same question.
    stake : Stake, optional
        Its levels, if the rule of the ledger is "investing".
    seed : int
        The root seed of its run. It is part of the line only as part of the stake.
    best_pvalue : float
        The smallest p-value for "not stable" that its trials can give. It is not part of the line.

    Examples
    --------
    >>> asked = AskedQuestion.of("rows", "Ridge() at n = 20", {"n": 20}, {"seed": 1})
    >>> again = AskedQuestion.of("rows", "Ridge() at n = 20", {"n": 20}, {"seed": 2})
    >>> asked.id == again.id, asked.same_as(again)
    (False, True)
    """

    id: str
    rows: str
    time: str
    title: str
    about: dict[str, Any]
    stake: Stake | None = None
    seed: int = field(default=0, compare=False)
    best_pvalue: float = field(default=0.0, compare=False)

    def __post_init__(self) -> None:
        if self.time and datetime.fromisoformat(self.time).year > _LAST_YEAR:
            raise ArgumentError(f"time is {self.time}")

    @classmethod
    def of(cls, rows: str, title: str, about: dict[str, Any], how: dict[str, Any]) -> AskedQuestion:
        """Describe a question; ``how`` it is put is part of its identity, but not of what it is."""
        words = json.dumps([rows, about, how], sort_keys=True, default=str)
        known = hashlib.blake2b(words.encode(), digest_size=8).hexdigest()
        return cls(known, rows, "", title, json.loads(json.dumps(about, default=str)))

    @property
    def levels(self) -> tuple[float, float]:
        """The levels that alpha-investing gave it; 0 if it gave none."""
        return (self.stake.level, self.stake.level_unstable) if self.stake else (0.0, 0.0)

    def same_as(self, other: AskedQuestion) -> bool:
        """Whether both ask the same, of whichever rows."""
        return self.about == other.about

    def to_entry(self) -> dict[str, Any]:
        """Return its line."""
        entry = asdict(self)
        known = {name: entry[name] for name in ("rows", "time", "title", "about")}
        stake = {} if self.stake is None else {"stake": entry["stake"]}
        return {"question": self.id, **known, **stake}

    @classmethod
    def from_entry(cls, entry: dict[str, Any]) -> AskedQuestion:
        """Read its line."""
        return _read(cls, entry, "question", "a question")


@dataclass(frozen=True)
class LedgerAnswer:
    """The answer to a question.

    Parameters
    ----------
    id : str
        Of the question.
    verdict : str
        What the call said, by itself and at its own level.
    pvalue, pvalue_unstable : float
        For "not stable" and for "stable"; in [0, 1].

    Examples
    --------
    >>> LedgerAnswer("a1", "stable", 0.01, 1.0).to_entry()
    {'answer': 'a1', 'verdict': 'stable', 'pvalue': 0.01, 'pvalue_unstable': 1.0}
    """

    id: str
    verdict: str
    pvalue: float
    pvalue_unstable: float

    def __post_init__(self) -> None:
        for name in ("pvalue", "pvalue_unstable"):
            arguments.probability(name, getattr(self, name))

    def with_another(self, other: LedgerAnswer) -> LedgerAnswer:
        """Join two answers to one question: the larger p-values count, in any order."""
        verdicts = sorted({*self.verdict.split(" / "), *other.verdict.split(" / ")})
        return LedgerAnswer(
            self.id,
            " / ".join(verdicts),
            max(self.pvalue, other.pvalue),
            max(self.pvalue_unstable, other.pvalue_unstable),
        )

    def to_entry(self) -> dict[str, Any]:
        """Return its line."""
        entry = asdict(self)
        return {"answer": entry.pop("id"), **entry}

    @classmethod
    def from_entry(cls, entry: dict[str, Any]) -> LedgerAnswer:
        """Read its line."""
        return _read(cls, entry, "answer", "an answer")


def _read(kind: type[_Entry], entry: dict[str, Any], key: str, what: str) -> _Entry:
    content = {"id" if name == key else name: value for name, value in entry.items()}
    return read_object(kind, content, what)
