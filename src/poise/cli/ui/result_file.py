"""One file of results, opened: what was measured, asked and found."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poise.arguments import counted
from poise.arguments.printed_numbers import at_most
from poise.cli.partial_verdict import verdict_so_far
from poise.cli.ui.data_files import is_table
from poise.cli.ui.file_kind import FileKind
from poise.results.conditional_result import ConditionalResult
from poise.results.conditional_trials import ConditionalTrials
from poise.results.monitor_status import MonitorStatus
from poise.results.procedure_result import ProcedureResult
from poise.results.stability_result import StabilityResult
from poise.results.text.table import TextTable
from poise.results.trials import Trials

if TYPE_CHECKING:
    from poise.storage.journal.read_journal import JournalContent

__all__ = ["ResultFile", "open_result_file"]

_WITHOUT_CHANGES = (
    "This file holds the verdict without the changes, so no other question can be asked of it."
)
_KEEPS_FITS = (
    "This journal keeps the fits of a run, so that the run can go on; the command that made it "
    "prints the answer."
)
_GROWS = (
    "This record grows with fresh rows. Its question was fixed in it, and its verdict may be "
    "looked at as often as one likes."
)
_KEEPS_QUESTIONS = "A ledger keeps every question that was put to the same rows."
_PROMISED = {"investing": "marginal false discovery rate"}

Found = StabilityResult | ProcedureResult | ConditionalResult | MonitorStatus


@dataclass(frozen=True)
class ResultFile:
    """The content of a file, in the same form for every kind of file.

    Attributes
    ----------
    kind : FileKind
        What the file is.
    title : str
        The algorithm.
    n : int or None
        Training size.
    data : str
        Which rows: the file they came from, or how many there were.
    question : dict
        ε, δ and α that were fixed before the first trial; empty if none were.
    trials : Trials or ConditionalTrials, optional
        The changes, if the file has them: then other questions can be asked of it.
    result : StabilityResult, ProcedureResult, ConditionalResult or MonitorStatus, optional
        The verdict that the file holds.
    said : str
        The verdict as text, where there is no object for it.
    command : dict
        How the command line was called, and where.
    versions : dict
        The environment of the run.
    failures : tuple of str
        What failed.
    facts : dict
        What else the file holds, worded.
    lines : tuple of int
        Lines that were written and that a full run has, where they are not trials.
    table : TextTable, optional
        What the file lists.
    explained : str
        Why no other question can be asked of a file without changes.
    """

    kind: FileKind
    title: str
    n: int | None
    data: str = ""
    question: dict[str, Any] = field(default_factory=dict)
    trials: Trials | ConditionalTrials | None = None
    result: Found | None = None
    said: str = ""
    command: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    failures: tuple[str, ...] = ()
    facts: dict[str, str] = field(default_factory=dict)
    lines: tuple[int, int] | None = None
    table: TextTable | None = None
    explained: str = _WITHOUT_CHANGES

    @property
    def done(self) -> int:
        """Trials that were run."""
        if self.lines is not None:
            return self.lines[0]
        counted = self._counted
        return 0 if counted is None else int(getattr(counted, "n_observed", counted.n_trials))

    @property
    def planned(self) -> int:
        """Trials that were planned."""
        if self.lines is not None:
            return self.lines[1]
        return 0 if self._counted is None else self._counted.n_trials

    @property
    def _counted(self) -> Trials | ConditionalTrials | Found | None:
        """What has trials to count: the measurement or, without one, the result."""
        return self.trials if self.trials is not None else self.result

    @property
    def verdict(self) -> str:
        """The verdict on the question that was fixed; "" without one."""
        if self.said:
            return self.said
        if self.result is not None:
            return self.result.verdict.value
        if not self.question or not isinstance(self.trials, Trials):
            return ""
        return verdict_so_far(self.trials, self.question)

    @property
    def command_line(self) -> str:
        """The command that made this file; "" if it was made from Python."""
        words = self.command.get("arguments")
        return "" if not words else shlex.join(["poise", *map(str, words)])


def open_result_file(path: Path, kind: FileKind) -> ResultFile:
    """Read a file of this kind; a :class:`poise.errors.PoiseError` says why it cannot be read."""
    return _READERS[kind](path)


def _journal(path: Path) -> ResultFile:
    from poise.storage.journal import read_journal

    content = read_journal(path)
    header = content.header
    failures = tuple(f"trial {each.trial}: {each.message}" for each in content.failures)
    if content.trials is None:
        return _other_lines(content)
    return ResultFile(
        FileKind.JOURNAL,
        header.design.title,
        header.design.n,
        _data_of(header.command, header.design.n_labeled),
        question=dict(header.question),
        trials=content.trials,
        command=header.command,
        versions=header.versions,
        failures=failures,
    )


def _other_lines(content: JournalContent) -> ResultFile:
    """Return a journal whose lines are not the trials of a stability test."""
    header = content.header
    done = f"{content.n_lines:,} of {counted(header.planned, header.lines['unit'])}"
    title = f"{header.design.title}: {done}."
    return ResultFile(
        FileKind.JOURNAL,
        header.design.title,
        header.design.n,
        _data_of(header.command, header.design.n_labeled),
        command=header.command,
        versions=header.versions,
        failures=tuple(failure.message for failure in content.failures),
        facts={"statement": title, "measured": header.design.distance, "done": done},
        lines=(content.n_lines, header.planned),
        explained=_KEEPS_FITS,
    )


def _data_of(command: dict[str, Any], rows: int) -> str:
    """Name the file of the rows, from the command; else say how many there are."""
    words = [str(word) for word in command.get("arguments", ())]
    named = next((word for word in words if is_table(word)), "")
    return os.path.normpath(named) if named else f"{rows:,} rows"


def _trials(path: Path) -> ResultFile:
    if path.suffix == ".json":
        trials = Trials.from_json(path.read_text(encoding="utf-8"))
    else:
        trials = Trials.load(path)
    design = trials.design
    data = f"{design.n_labeled:,} rows" if design.from_rows else ""
    known = {"trials": trials, "failures": trials.failures}
    return ResultFile(FileKind.TRIALS, design.title, design.n, data, **known)  # type: ignore[arg-type]


def _training_set(path: Path) -> ResultFile:
    trials = ConditionalTrials.load(path)
    design = trials.design
    data = f"{design.n_fresh:,} fresh rows"
    known = {"trials": trials, "failures": trials.failures}
    return ResultFile(FileKind.TRAINING_SET, design.title, design.n, data, **known)  # type: ignore[arg-type]


def _result(path: Path) -> ResultFile:
    text = path.read_text(encoding="utf-8")
    if '"procedure"' in text:
        found = ProcedureResult.from_json(text)
        title = found.procedure
        return ResultFile(FileKind.RESULT, title, found.n, question=_asked(found), result=found)
    if '"notion"' in text:
        given = ConditionalResult.from_json(text)
        fresh = f"{given.design.n_fresh:,} fresh rows"
        known = {"question": _asked(given), "result": given}
        return ResultFile(FileKind.RESULT, given.design.title, given.n, fresh, **known)  # type: ignore[arg-type]
    result = StabilityResult.from_json(text)
    design = result.design
    rows = f"{design.n_labeled:,} rows"
    asked = _asked(result)
    return ResultFile(FileKind.RESULT, design.title, design.n, rows, question=asked, result=result)


def _asked(result: Found) -> dict[str, Any]:
    return {"epsilon": result.epsilon, "delta": result.delta, "alpha": result.alpha}


def _transcript(path: Path) -> ResultFile:
    from poise.storage.transcript import Transcript

    run = Transcript.load(path)
    facts = {
        "procedure": run.procedure_name,
        "algorithm": run.algorithm,
        "distance": run.distance,
        "batches": f"{len(run.stages):,}",
        "rows": f"{run.sample.n_labeled:,} labelled, {run.sample.n_unlabeled:,} unlabelled",
        "seed": str(run.seed),
        "if a fit fails": run.on_error,
    }
    facts |= {f"warning {i}": text for i, text in enumerate(run.warnings, 1)}
    rows = f"{run.sample.n_labeled:,} rows"
    n = getattr(run.procedure, "n", None)
    return ResultFile(FileKind.TRANSCRIPT, run.algorithm, n, rows, said=run.verdict, facts=facts)


def _certificate(path: Path) -> ResultFile:
    from poise.results.certificate import Certificate

    stated = Certificate.from_json(path.read_text(encoding="utf-8"))
    facts = {"statement": stated.statement()}
    facts |= {f"follows ({c.notion})": c.statement() for c in stated.implications()}
    asked = {"epsilon": stated.epsilon, "delta": stated.delta, "alpha": stated.alpha}
    return ResultFile(
        FileKind.CERTIFICATE, "certificate", stated.n, question=asked, said="stable", facts=facts
    )


def _certificate_file(path: Path) -> ResultFile:
    """Read a certificate; its verdict is computed from its changes, and not believed."""
    from poise.errors import RecordError
    from poise.results.certificate_file import CertificateFile
    from poise.results.certified_result import certified_result, differences
    from poise.results.text.describe_provenance import facts_of_provenance

    file = CertificateFile.load(path)
    result = certified_result(file)
    if file.digest != file.computed_digest or differences(file, result):
        raise RecordError("it is not what it claims; poise verify says why")
    assert result.trials is not None  # a certificate holds its changes
    origin, facts = result.trials.provenance, facts_of_provenance(result)
    known = {name: text for name, text in facts.items() if name not in ("statement", "versions")}
    return ResultFile(
        FileKind.CERTIFICATE_FILE,
        result.design.title,
        result.n,
        f"{result.design.n_labeled:,} rows",
        question=_asked(result),
        trials=result.trials,
        said=result.verdict.value,
        versions=known if origin is None else {**origin.versions, **known},
        facts=facts,
    )


def _monitor(path: Path) -> ResultFile:
    """Read a growing record; only what it holds is judged, and nothing is fitted."""
    from poise.questions.monitor.record_status import status_of
    from poise.storage.monitor_record import read_record

    status = status_of(read_record(path))
    return ResultFile(
        FileKind.MONITOR,
        status.design.title,
        status.design.n,
        f"{status.n_rows:,} rows",
        question=_asked(status),
        result=status,
        failures=status.failures,
        explained=_GROWS,
    )


def _ledger(path: Path) -> ResultFile:
    from poise.storage.ledger.ledger import Ledger

    ledger = Ledger(path)
    header, asked = ledger.content.header, len(ledger.content.questions)
    facts = {
        "statement": ledger.headline(),
        _PROMISED.get(header.rule, "error level of all together"): at_most(header.alpha),
        "rule": header.rule,
        "questions": f"{asked:,}",
    }
    return ResultFile(
        FileKind.LEDGER,
        f"Ledger {path.name}",
        None,
        counted(asked, "question"),
        facts=facts,
        table=ledger.table(),
        explained=f"{_KEEPS_QUESTIONS} {ledger.meaning()}",
    )


_READERS: dict[FileKind, Callable[[Path], ResultFile]] = {
    FileKind.JOURNAL: _journal,
    FileKind.TRIALS: _trials,
    FileKind.TRAINING_SET: _training_set,
    FileKind.RESULT: _result,
    FileKind.TRANSCRIPT: _transcript,
    FileKind.CERTIFICATE: _certificate,
    FileKind.CERTIFICATE_FILE: _certificate_file,
    FileKind.MONITOR: _monitor,
    FileKind.LEDGER: _ledger,
}
