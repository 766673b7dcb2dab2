"""What a command writes: files, never over an input, and the answer on the terminal."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import tempfile
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import click

from poise.cli.errors import Exit, Warned, in_options
from poise.errors import ArgumentError, printable
from poise.numbers import at_most

Named = Mapping[str, Any]
_NONE: Named = MappingProxyType({})
_OURS = re.compile(rb'^{\s*"format": ?"poise |<meta name="generator" content="poise ')  # begin so
_COLOURS = {"STABLE": "green", "UNSTABLE": "red", "INCONCLUSIVE": "yellow"}


class Output:
    """Where an answer goes, and in which form; what cannot, or must not, be written is refused."""

    def __init__(self, ctx: click.Context, folder: bool = False) -> None:
        given = ctx.params.get
        self.as_json, self.quiet = given("as_json"), given("quiet")
        self.latex, self.details = given("latex"), given("details")
        self.save, self.report, self.summary = given("save"), given("report"), given("summary")
        self.journal, self.force = given("journal"), given("force")
        self.folder = folder  # whether ``save`` is one, of several answers
        others = {k: v for k, v in ctx.params.items() if k not in ("save", "report", "summary")}
        made = [Path(path) for path in (self.journal, given("record")) if path]
        self.check([*files_named(others), *made])

    def check(self, taken: list[Path]) -> None:
        """Refuse what cannot be written, and what is read or written otherwise."""
        for argument in ("save", "report", "summary"):
            if (path := getattr(self, argument)) is not None:
                force = self.force or argument == "summary"  # which is added to
                folder = self.folder and argument == "save"
                require_writable(Path(path), taken, argument, force=force, folder=folder)
                taken = [*taken, Path(path)]

    def write(self, answer: Any) -> None:
        """Save an answer, or several, and write the page about them."""
        answers = getattr(answer, "answers", answer)
        if self.save is not None and isinstance(answers, Mapping):
            from poise.results.together import save_each

            save_each(answers, self.save)
        elif self.save is not None:
            answer.save(self.save)
        if self.report is not None:
            from poise.results.report import report

            report(answers, self.report)
        written = ", ".join(filter(None, (self.save, self.report, self.summary, self.journal)))
        if written and not self.quiet:
            click.echo(f"Written: {written}", err=True)

    def tell(self, answer: Any, beside: Named = _NONE, lines: Named = _NONE) -> Exit:
        """Save and print an answer, or several by their names; return the exit status of one.

        In place of an answer there may be a text, which says why there is none. What stands
        ``beside`` an answer is printed as JSON only; ``lines`` take the place of a table. What
        cannot be saved is printed all the same.
        """
        several = isinstance(answer, Mapping)
        answers = dict(getattr(answer, "answers", answer)) if several else {"": answer}
        found = {name: each for name, each in answers.items() if not isinstance(each, str)}
        judged = all(hasattr(each, "verdict") for each in found.values())
        if (self.details or (self.latex and not hasattr(answer, "to_latex"))) and not judged:
            problem = "--latex and --details need a verdict: give --epsilon and --delta."
            raise click.UsageError(problem)
        try:
            if found:
                self.write(found if several else answer)
        finally:
            doubts = list(dict.fromkeys(text for each in found.values() for text in each.warnings))
            Warned.here().doubts.extend(doubts)  # a file tells its own only here
            if self.as_json or self.details or not (self.quiet or self.latex or lines):
                Warned.here().told.update(doubts)
            if self.as_json:
                contents = {name: as_dict(each) for name, each in answers.items()}
                print_json(contents if several else {**contents[""], **beside})
            else:
                paragraphs(self._in_words(answer, answers, found, lines))
        return Exit.STABLE if several or not judged else Exit[answer.verdict.upper()]

    def _in_words(self, answer: Any, answers: Named, found: Named, lines: Named) -> str:
        """Return what one answer says, or several, in the form that was asked for."""
        from poise.results.sentences import ASKED_AFTER
        from poise.results.tables import table

        measured = any(not hasattr(each, "verdict") for each in found.values())
        if self.quiet:
            words = (f"{_in_a_word(each)}\t{name}" for name, each in answers.items())
            return "\n".join(map(str.rstrip, words))
        if self.details or (isinstance(answer, dict) and measured):
            words = (f"{name}: {self._in_full(each)}" for name, each in answers.items())
            return "\n\n".join(words).removeprefix(": ")
        if self.latex:
            return str(answer.to_latex() if hasattr(answer, "to_latex") else table(found).latex())
        if lines:
            return "\n".join(f"{name}: {line}" for name, line in lines.items())
        if not isinstance(answer, dict):
            return str(answer)
        after = any(each.asked == "after" for each in found.values())
        return "\n".join([str(table(found)), *[ASKED_AFTER] * after])

    def _in_full(self, answer: Any) -> str:
        """Return the lines of an answer, and its details where they were asked for."""
        if not self.details or isinstance(answer, str):
            return str(answer)
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
    click.echo(json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False))


def paragraphs(text: str) -> None:
    """Print lines of text; a terminal wraps them between words, a pipe gets them as they are."""
    for line in map(in_options, printable(text).splitlines()):
        if sys.stdout.isatty():
            width = shutil.get_terminal_size().columns
            line = textwrap.fill(line, width, break_long_words=False, break_on_hyphens=False)
        word = line.partition(":")[0]
        if word in _COLOURS and "NO_COLOR" not in os.environ:
            line = click.style(word, fg=_COLOURS[word], bold=True) + line[len(word) :]
        click.echo(line)
