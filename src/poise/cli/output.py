"""What a command writes: files, never over an input, and the answer on the terminal."""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import click

from poise.cli.errors import Exit, Running, in_options, status_of, worst
from poise.errors import ArgumentError, printable
from poise.numbers import at_most

Named = Mapping[str, Any]
_NONE: Named = MappingProxyType({})
_OURS = re.compile(rb'^{\s*"format": ?"poise |<meta name="generator" content="poise ')  # begin so
_WRITTEN = ("save", "report", "summary")
_FORMS = ("as_json", "quiet", "details", "latex")  # of which the first that is asked for counts
_COLOURS = {"STABLE": "green", "UNSTABLE": "red", "INCONCLUSIVE": "yellow"}


class Output:
    """Where an answer goes, and in which form; what cannot, or must not, be written is refused."""

    def __init__(self, ctx: click.Context, folder: bool = False) -> None:
        self.given = given = ctx.params
        self.form = next((form for form in _FORMS if given.get(form)), "text")
        self.journal: str | None = given.get("journal")
        self.folder = folder  # whether ``save`` is one, of several answers
        others = {k: v for k, v in given.items() if k not in _WRITTEN}
        made = [Path(path) for path in (self.journal, given.get("record")) if path]
        self.check([*files_named(others), *made])

    def check(self, taken: list[Path]) -> None:
        """Refuse what cannot be written, and what is read or written otherwise."""
        for argument in _WRITTEN:
            if (path := self.given.get(argument)) is not None:
                force = self.given.get("force") or argument == "summary"  # which is added to
                folder = self.folder and argument == "save"
                require_writable(Path(path), taken, argument, force=force, folder=folder)
                taken = [*taken, Path(path)]

    def write(self, answer: Any) -> None:
        """Save an answer, or several, and write the page about them."""
        save, report_to = self.given.get("save"), self.given.get("report")
        if save is not None:
            answer.save(save)
        if report_to is not None:
            from poise.results.report import report

            report(getattr(answer, "answers", answer), report_to)
        written = filter(None, (save, report_to, self.given.get("summary"), self.journal))
        if (names := ", ".join(written)) and not self.given.get("quiet"):
            click.echo(f"Written: {names}", err=True)

    def tell(self, answer: Any, beside: Named = _NONE, after: str = "") -> Exit:
        """Save and print an answer, or several by their names; return the worst exit status.

        What stands ``beside`` an answer is printed as JSON only, and what comes ``after`` it in
        words only. What cannot be saved is printed all the same.
        """
        several = isinstance(answer, Mapping)
        found = dict(getattr(answer, "answers", {"": answer}))
        answers = dict(answer) if isinstance(answer, SideBySide) else found
        judged = all(hasattr(each, "details") for each in found.values())
        has_latex = hasattr(answer, "to_latex") and (judged or not isinstance(answer, SideBySide))
        if not {"latex": has_latex, "details": judged}.get(self.form, True):
            problem = "--latex and --details need a verdict: give --epsilon and --delta."
            raise click.UsageError(problem)
        try:
            if found:
                self.write(answer)
        finally:
            doubts = list(dict.fromkeys(text for each in found.values() for text in each.warnings))
            Running.now().doubts.extend(doubts)  # a file tells its own only here
            if self.form == "as_json":
                Running.now().told.update(doubts)
                contents = {name: as_dict(each) for name, each in answers.items()}
                print_json(contents if several else {**contents[""], **beside})
            else:
                text = self._in_words(answer, answers)
                Running.now().told.update(each for each in doubts if each in text)
                paragraphs(f"{text}\n{after}" if self.form in ("text", "details") else text)
        return worst(map(status_of, answers.values()))

    def _in_words(self, answer: Any, answers: Named) -> str:
        """Return what one answer says, or several, in the form that was asked for."""
        if self.form == "quiet":
            words = (f"{_in_a_word(each)}\t{name}" for name, each in answers.items())
            return "\n".join(map(str.rstrip, words))
        if self.form == "details":
            words = (f"{name}: {_in_full(each)}" for name, each in answers.items())
            return "\n\n".join(words).removeprefix(": ")
        return str(answer.to_latex() if self.form == "latex" else answer)


class SideBySide(dict[str, Any]):
    """Answers by their names, each for itself; a text says why there is none."""

    @property
    def answers(self) -> dict[str, Any]:
        """All but the texts."""
        return {name: each for name, each in self.items() if not isinstance(each, str)}

    def save(self, folder: str) -> None:
        """Write one file for each into a folder."""
        from poise.results.together import save_each

        save_each(self.answers, folder)

    def to_latex(self) -> str:
        """Return a table of those that are verdicts."""
        from poise.results.tables import table

        return table(self.answers).latex()

    def __str__(self) -> str:
        from poise.results.sentences import ASKED_AFTER
        from poise.results.tables import table

        if not all(hasattr(each, "verdict") for each in self.values()):
            return "\n\n".join(f"{name}: {each}" for name, each in self.items())
        after = any(each.asked == "after" for each in self.values())
        return "\n".join([str(table(self)), *[ASKED_AFTER] * after])


def _in_full(answer: Any) -> str:
    """Return the lines of an answer, and its details."""
    if isinstance(answer, str):
        return answer
    details = answer.details().splitlines()[len(answer.warnings) :]  # these are told once
    return "\n".join([str(answer), "", *details])


def files_named(given: Named) -> Iterator[Path]:
    """Yield the files that options or keys name: rows, code, and what programs read."""
    for value in given.values():
        texts = value if isinstance(value, tuple) else [value]
        for word in (w for text in map(str, texts) for w in (text, *re.split(r"[\s:(]", text))):
            if os.path.isfile(word):
                yield Path(word).resolve()


def require_writable(
    path: Path, taken: Iterable[Path], argument: str, *, force: bool = False, folder: bool = False
) -> None:
    """Refuse a file, or a folder, that cannot be made, is used otherwise, or is somebody else's."""
    empty = folder and path.is_dir() and not any(path.iterdir())
    place, problem, remedy = (path if empty else path.parent), "", ""
    if path.exists() and not empty and (folder or not path.is_file()):
        problem = f"must be {'a new or empty folder' if folder else 'a regular file'}"
    elif not place.is_dir():
        problem = f"cannot be written: there is no folder {place}"
    elif path.resolve() in (other.resolve() for other in taken):
        problem = "must not be a file that this command reads or writes otherwise"
    elif path.is_file() and not force and not _written_by_poise(path):
        problem, remedy = "exists and was not written by poise", "give another name, or --force"
    else:
        try:
            tempfile.TemporaryFile(dir=place).close()
        except OSError as error:
            problem = f"cannot be written: {os.strerror(error.errno or 0)}"
    if problem:
        raise ArgumentError(problem, argument=argument, got=str(path), remedy=remedy)


def _written_by_poise(path: Path) -> bool:
    with path.open("rb") as file:
        return _OURS.search(file.read(200)) is not None


def _in_a_word(answer: Any) -> str:
    """Return a verdict, or the one limit of what was measured: of the change, or of its chance."""
    if isinstance(answer, str):
        return "failed"
    if hasattr(answer, "verdict"):
        return str(answer.verdict)
    change = answer.epsilon_upper(answer.delta)
    return at_most(answer.delta_upper() if change is None else change)


def as_dict(answer: Any) -> dict[str, Any]:
    """Return what a file would hold, without the changes."""
    from poise.results.file import to_dict

    return {"error": answer} if isinstance(answer, str) else to_dict(answer)


def print_answer(content: object, text: str, word: str = "") -> None:
    """Print an answer in the form that the options of the command ask for."""
    form = click.get_current_context().params
    if form["as_json"]:
        print_json(content)
    else:
        paragraphs(word if form.get("quiet") else text)


def print_json(content: object) -> None:
    """Print one JSON object."""
    said = json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False)
    click.echo(said, Running.now().answers)


def paragraphs(text: str) -> None:
    """Print lines; a terminal wraps all but tables and commands to copy, which hold two blanks."""
    answers = Running.now().answers
    for line in map(in_options, printable(text).splitlines()):
        if answers.isatty() and "  " not in line:
            width = shutil.get_terminal_size().columns
            line = textwrap.fill(line, width, break_long_words=False, break_on_hyphens=False)
        word = line.partition(":")[0]
        if word in _COLOURS and "NO_COLOR" not in os.environ:
            line = click.style(word, fg=_COLOURS[word], bold=True) + line[len(word) :]
        click.echo(line, answers)
