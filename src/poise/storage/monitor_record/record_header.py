"""The first line of a record: which question is asked, of which algorithm."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from poise.arguments.field_rules import (
    Digest,
    Epsilon,
    ErrorLevel,
    Positive,
    Seed,
    Share,
    TrainingSize,
)
from poise.arguments.typed_fields import read_object
from poise.data.keyed_row_hashes import RowKey
from poise.errors import ArgumentError, RecordError, warn_of_validity
from poise.results.json_encoding import plain
from poise.storage.journal.complete_lines import FileKind
from poise.storage.journal.header import current_versions
from poise.storage.same_run import about_versions, codes_differ, refuse_other_run

__all__ = ["RECORD", "RecordHeader", "RecordQuestion"]

RECORD = FileKind("record", "poise monitor", 1, anew=" with fresh rows")


@dataclass(frozen=True)
class RecordQuestion:
    """What the question of a record holds: everything that the hypothesis depends on.

    Attributes
    ----------
    algorithm, coupling, distance, response : str
        As in :class:`poise.Monitor`.
    n, removals, points : int
        Training size; removals and test points of a trial.
    epsilon, delta, alpha : float
        The question and its error level.
    labeled_test : bool
        Whether test rows must have a response.
    """

    algorithm: str
    n: TrainingSize
    epsilon: Epsilon
    delta: Share
    alpha: ErrorLevel
    removals: Positive
    points: Positive
    coupling: str
    distance: str
    response: str
    labeled_test: bool

    def __post_init__(self) -> None:
        if self.removals > self.n:
            raise ArgumentError(f"removals must be at most n = {self.n}, got {self.removals}")

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one trial's changes: () for a single one, else (R, T)."""
        return () if self.removals == self.points == 1 else (self.removals, self.points)


@dataclass(frozen=True)
class RecordHeader:
    """What a record is about; it is fixed before the first row is seen.

    Attributes
    ----------
    question : dict
        algorithm, n, epsilon, delta, alpha, removals, points, coupling, distance, response.
    seed : int
        Root of all random numbers of the record.
    name : str
        What headlines call the algorithm; "" for a short form of its description.
    key : str
        The record's own key for the identities of rows, in hexadecimal digits; "" if the user
        keeps the key.
    key_name : str
        A digest of the key: records with the same one can be compared row by row.
    code, distance_code : str
        Digests of the user's own algorithm and distance, or "".
    versions : dict
        Of poise, Python and the libraries that compute.
    command : dict
        Options of the command line, for later calls; empty for records begun in Python.
    """

    question: dict[str, Any]
    seed: Seed
    name: str = ""
    key: Digest = ""
    key_name: Digest = ""
    code: Digest = ""
    distance_code: Digest = ""
    versions: dict[str, str] = field(default_factory=dict)
    command: dict[str, Any] = field(default_factory=dict)

    @property
    def asked(self) -> RecordQuestion:
        """The question, its fields by name."""
        return RecordQuestion(**self.question)

    def to_entry(self) -> dict[str, Any]:
        """Return the first line."""
        entry: dict[str, Any] = plain({"format": RECORD.format, **asdict(self)})
        return entry

    @classmethod
    def from_entry(cls, entry: dict[str, Any], name: str) -> RecordHeader:
        """Read the first line; ``name`` is the file's, for messages."""
        content = {key: value for key, value in entry.items() if key != "format"}
        try:
            header = read_object(cls, content, "the header of a record")
            read_object(RecordQuestion, header.question, "the question of a record")
        except RecordError as error:
            raise RecordError(f"{name}: {error}") from None
        return header

    def check_same(self, now: RecordHeader, name: str, *, seed_given: bool) -> None:
        """Refuse to continue a record with another question, and show the difference.

        Edited code is refused too: evidence about two algorithms does not add up.
        """
        before, after = dict(self.question), dict(now.question)
        if seed_given:
            before["seed"], after["seed"] = self.seed, now.seed
        edited: dict[str, list[str]] = {"algorithm": [], "distance": []}
        if self.versions.get("python") == now.versions.get("python"):  # digests depend on it
            for what, old, new in (
                ("algorithm", self.code, now.code),
                ("distance", self.distance_code, now.distance_code),
            ):
                if codes_differ(old, new):
                    edited[what].append(f"the code of {self.question[what]} is not what it was")
        refuse_other_run(before, after, name, "record", edited)

    def warn_of_versions(self, name: str) -> None:
        """Warn if the libraries that compute have other versions than when it was begun."""
        for doubt in about_versions(self.versions, current_versions(), name):
            warn_of_validity(doubt)

    def row_key(self, given: RowKey | None, name: str) -> RowKey:
        """Return the key of this record: its own, or the one that was given if it is the same."""
        if given is None and self.key:
            return RowKey(bytes.fromhex(self.key))
        if given is None:
            raise RecordError(
                f"{name} was begun with a key of yours, which it does not hold; give key= again"
            )
        if given.name != self.key_name:
            raise RecordError(
                f"{name} was begun with another key: rows that it has used would not be recognised"
            )
        return given
