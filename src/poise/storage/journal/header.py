"""The first line of a journal: what is measured, and by which versions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any

from poise.algorithms.library_versions import current_versions
from poise.arguments import without_addresses
from poise.arguments.field_rules import Among, Count, Epsilon, ErrorLevel, Share
from poise.arguments.typed_fields import read_object
from poise.errors import RecordError
from poise.protocol.messages import FIT_BY_FIT
from poise.protocol.randomness import Randomness, RandomStateLike
from poise.results.design import Design
from poise.results.json_encoding import plain
from poise.storage.journal.complete_lines import JOURNAL
from poise.storage.line_checksums import entry_of, only_matching
from poise.storage.same_run import about_versions, codes_differ, refuse_other_run

__all__ = ["Header", "OtherLines", "begun_randomness", "current_versions"]

_FIELD, _KEY = "decision_points", "near"  # the file keeps the name that its first version had


class OtherLines(Design):
    """The design of a journal whose lines are not trials of a stability test: of ``unit``s."""


def begun_randomness(random_state: RandomStateLike, begun: Design | None) -> Randomness:
    """Return the randomness of a run that may go on with an earlier one.

    The seed is that of the earlier run, unless one is given; the kind of order of the rows is
    that of the earlier run in any case, since rows in another order are other trials.

    Examples
    --------
    >>> begun_randomness(None, Design("mean", n=5, n_labeled=60, seed=3))
    Randomness(root=3, rows='permutation')
    >>> begun_randomness(4, None)
    Randomness(root=4, rows='keys')
    """
    if begun is None:
        return Randomness.from_state(random_state)
    given = begun.seed if random_state is None else random_state
    return Randomness.from_state(given).as_drawn(begun.order)


@dataclass(frozen=True)
class _Question:
    """What ``question`` may hold: the arguments of :meth:`poise.Trials.test`."""

    epsilon: Epsilon
    delta: Share
    alpha: ErrorLevel
    randomized: bool = False
    test: Annotated[str, Among(("auto", "binomial", "averaged"))] = "auto"


@dataclass(frozen=True)
class _Siblings:
    """What ``siblings`` may hold."""

    count: Count = 0
    unit: str = ""


@dataclass(frozen=True)
class Header:
    """Everything that determines the changes, and some further facts.

    A journal may be continued if ``design`` and ``data`` are the same. ε, δ and α
    do not alter the changes, so another question may be asked of the same trials. Only a
    shortcut uses ε (it leaves changes close to ε to the fits), so with a shortcut
    ``decision_points`` must be the same too.

    Attributes
    ----------
    design : Design
        Algorithm, training size, rows, randomness, and how changes are computed.
    data : str
        Fingerprint of the rows.
    decision_points : tuple of float
        The changes at which a decision turned when the journal was begun.
    question : dict
        ε, δ, α and ``randomized``, where a question was asked.
    command : dict
        How the command line was called, and where; empty for runs from Python.
    versions : dict
        Of poise, Python and the libraries that compute.
    code : str
        Digest of the function that is tested, or "" where there is none.
    distance_code : str
        Digest of a distance or loss of the user's own, or "" where there is none.
    siblings : dict
        How many measurements belong together (``count``), and what they are of
        (``unit``), where there are several; each has a journal of its own.
    warnings : tuple of str
        What was known at the beginning that may make the error level wrong.
    lines : dict
        How many lines a full run has (``planned``), and what each is about (``unit``), where
        lines are not the trials of a stability test.
    """

    design: Design
    data: str
    decision_points: tuple[float, ...] = (0.0,)
    question: dict[str, Any] = field(default_factory=dict)
    command: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    code: str = ""
    distance_code: str = ""
    siblings: dict[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    lines: dict[str, Any] = field(default_factory=dict)

    @property
    def planned(self) -> int:
        """Number of lines of a full run, beside this one."""
        return int(self.lines["planned"]) if self.lines else self.design.n_trials

    def to_line(self) -> bytes:
        """Write the header as one line, without its checksum."""
        content = _renamed(plain(asdict(self)), _FIELD, _KEY)
        return json.dumps({"format": JOURNAL.format, **content}).encode() + b"\n"

    @classmethod
    def from_line(cls, line: bytes, name: str) -> Header:
        """Read a header; ``name`` is the file's, for messages."""
        checked = JOURNAL.is_checked(line, torn=False, path=Path(name))
        if checked:
            [line] = only_matching([line], name, JOURNAL.remedy)
        try:
            content = entry_of(line, checked)
            del content["format"]
            content = _renamed(content, _KEY, _FIELD)
            header = read_object(cls, content, "the header of a journal")
            if header.question:
                read_object(_Question, header.question, "the question of a journal")
            read_object(_Siblings, header.siblings, "the header of a journal")
        except RecordError as error:
            raise RecordError(f"{name}: {error}") from None
        return header

    def check_same(self, now: Header, name: str) -> None:
        """Refuse to continue a different run, and show the difference."""
        edited = []
        if self._knows_code_of(now) and codes_differ(self.distance_code, now.distance_code):
            edited.append(f"the code of {self.design.distance} is not what it was")
        before, after = self._determinants(), now._determinants()
        refuse_other_run(before, after, name, "journal", {"distance": edited})

    def doubts(self, now: Header, name: str) -> list[str]:
        """Return what may make the error level wrong if this journal is continued now.

        The sentences do not say how far the journal is, so that each is noted once however
        often it is continued.
        """
        return [*about_versions(self.versions, now.versions, name), *self._about_code(now, name)]

    def _determinants(self) -> dict[str, Any]:
        """Return what the changes depend on, by the name that the user knows."""
        facts = {"data": self.data, **self.design.to_dict()}
        facts["algorithm"] = without_addresses(facts["algorithm"])
        if self.design.path != FIT_BY_FIT:
            facts["epsilon"] = [value for value in self.decision_points if value] or "none"
        # They follow from the seed or from the data, and a name decides nothing.
        for key in ("zeta", "name", "n_classes", "n_points", "from_rows"):
            del facts[key]
        return facts

    def _about_code(self, now: Header, name: str) -> Iterator[str]:
        """Say that the code of the algorithm was edited since the journal was begun.

        An edited distance is refused: changes by two distances cannot be counted together.
        """
        if self._knows_code_of(now) and codes_differ(self.code, now.code):
            yield (
                f"the code of {self.design.algorithm} has changed since {name} was begun; the "
                "first trials in it are those of the earlier code. If it computes anything else "
                "now, the error level does not hold: give another file name"
            )

    def _knows_code_of(self, now: Header) -> bool:
        """Tell whether both digests are from the same version of Python; they depend on it."""
        return self.versions.get("python") == now.versions.get("python")


def _renamed(content: dict[str, Any], name: str, other: str) -> dict[str, Any]:
    """Give one entry another name, in the same place."""
    return {other if key == name else key: value for key, value in content.items()}
