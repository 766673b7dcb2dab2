"""What a command writes: files, never over an input, and the answer on the terminal."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from types import MappingProxyType
from typing import Any

import click

from poise.cli.errors import Exit, Warned, in_options
from poise.errors import ArgumentError, printable
from poise.numbers import at_most

_STYLES = {"STABLE": "bold green", "UNSTABLE": "bold red", "INCONCLUSIVE": "bold yellow"}


@dataclass(frozen=True)
class Output:
    """Where an answer goes, and in which form."""

    as_json: bool = False
    quiet: bool = False
    latex: bool = False
    details: bool = False
    save: str | None = None
    report: str | None = None
    summary: str | None = None
    journal: str | None = None
    force: bool = False
    folder: bool = False  # whether ``save`` is one, of several answers

    @classmethod
    def of(cls, ctx: click.Context, folder: bool = False) -> Output:
        """Return what the options say; refuse a file that cannot be written, or must not be."""
        said = {f.name: ctx.params[f.name] for f in fields(cls) if f.name in ctx.params}
        output = cls(**said, folder=folder)
        others = {k: v for k, v in ctx.params.items() if k not in ("save", "report", "summary")}
        made = [Path(others[key]) for key in ("journal", "record") if others.get(key)]
        output.check([*files_named(others), *made])
        return output

    def check(self, taken: list[Path]) -> None:
        """Refuse what cannot be written, and what is read or written otherwise."""
        if self.folder and self.save is not None:
            _require_empty(Path(self.save))
        for argument in ("report", "summary") if self.folder else ("save", "report"):
            if (path := getattr(self, argument)) is not None:
                force = self.force or argument == "summary"  # which is added to
                require_writable(Path(path), taken, argument=argument, force=force)
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

    def tell(self, answer: Any, beside: Mapping[str, object] = MappingProxyType({})) -> Exit:
        """Save and print an answer; return its exit status.

        What stands ``beside`` it is printed as JSON only. What cannot be saved is printed all the
        same.
        """
        several = isinstance(answer, Mapping)
        answers = getattr(answer, "answers", answer).values() if several else [answer]
        judged = all(hasattr(each, "verdict") for each in answers)
        if (self.details or (self.latex and not hasattr(answer, "to_latex"))) and not judged:
            problem = "--latex and --details need a verdict: give --epsilon and --delta."
            raise click.UsageError(problem)
        try:
            self.write(answer)
        finally:
            doubts = list(dict.fromkeys(text for each in answers for text in each.warnings))
            Warned.here().doubts.extend(doubts)  # a file tells its own only here
            if self.as_json or not (self.quiet or self.latex):
                Warned.here().told.update(doubts)
            if several:
                self._print_several(answer, judged)
            else:
                self._print(answer, beside)
        return Exit[answer.verdict.upper()] if judged and not several else Exit.STABLE

    def _print(self, answer: Any, beside: Mapping[str, object]) -> None:
        if self.as_json:
            print_json({**as_dict(answer), **beside})
        elif self.latex:
            click.echo(answer.to_latex())
        else:
            paragraphs(_in_a_word(answer) if self.quiet else self.in_words(answer))

    def _print_several(self, found: Any, judged: bool) -> None:
        """Print answers that share a level, or stand side by side: they have no joint verdict."""
        from poise.results.sentences import ASKED_AFTER
        from poise.results.tables import table
        from poise.results.together import Together

        together = isinstance(found, Together)
        answers = found.answers if together else found
        if self.as_json:
            print_json({name: as_dict(each) for name, each in answers.items()})
        elif self.quiet:
            paragraphs("\n".join(f"{_in_a_word(each)}\t{name}" for name, each in answers.items()))
        elif self.latex:
            click.echo((found.table() if together else table(found)).latex())
        elif self.details or not (together or judged):
            each_in_words = (f"{name}: {self.in_words(each)}" for name, each in answers.items())
            paragraphs("\n\n".join(each_in_words))
        elif together:
            paragraphs(str(found))
        else:
            after = any(each.asked == "after" for each in answers.values())
            paragraphs("\n".join([str(table(found)), *[ASKED_AFTER] * after]))

    def in_words(self, answer: Any) -> str:
        """Return the lines of an answer, and its details where they were asked for."""
        if not self.details:
            return str(answer)
        details = answer.details().splitlines()[len(answer.warnings) :]  # these are told once
        return "\n".join([str(answer), "", *details])


def files_named(given: Mapping[str, Any], folder: Path = Path()) -> Iterator[Path]:
    """Yield the files that options or keys name: rows, code, and what programs read."""
    for value in given.values():
        texts = [value] if isinstance(value, str) else value if isinstance(value, tuple) else ()
        for word in (w for text in map(str, texts) for w in (text, *re.split(r"[\s:(]", text))):
            if os.path.isfile(file := folder / word):
                yield file


def require_writable(
    path: Path, inputs: Iterable[Path], *, argument: str, force: bool = False
) -> None:
    """Refuse a file that cannot be written, is read by this command, or is somebody else's."""
    require_place(path, argument)
    problem, remedy = "", ""
    for other in inputs:
        if _same_file(path, other):
            problem = f"would replace {other}, which this command reads or writes"
    if not problem and path.exists() and not force and not _written_by_poise(path):
        problem, remedy = "exists and was not written by poise", "give another name, or --force"
    if problem:
        raise ArgumentError(problem, argument=argument, got=str(path), remedy=remedy)


def require_place(path: Path, argument: str) -> None:
    """Refuse a path where no file can be made, by making one beside it."""
    import tempfile

    problem = ""
    if path.exists() and not path.is_file():
        problem = "must be a regular file"
    elif not path.parent.is_dir():
        problem = f"cannot be written: there is no folder {path.parent}"
    else:
        try:
            with tempfile.TemporaryFile(dir=path.parent):
                pass
        except OSError as error:
            problem = f"cannot be written: {os.strerror(error.errno or 0)}"
    if problem:
        raise ArgumentError(problem, argument=argument, got=str(path))


def _require_empty(folder: Path) -> None:
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ArgumentError("must be a new or empty folder", argument="save", got=str(folder))
    require_place(folder.absolute() / "1.json" if folder.exists() else folder, "save")


def _same_file(path: Path, other: Path) -> bool:
    """Tell whether two names, links among them, are one file."""
    if path.exists() and other.exists():
        return path.samefile(other)
    return path.resolve() == other.resolve()


def _written_by_poise(path: Path) -> bool:
    with path.open("rb") as file:
        return b'"poise' in file.read(200)


def _in_a_word(answer: Any) -> str:
    """Return a verdict, or the one limit of what was measured: of the change, or of its chance."""
    if hasattr(answer, "verdict"):
        return str(answer.verdict)
    change = answer.epsilon_upper(answer.delta)
    return at_most(answer.delta_upper() if change is None else change)


def as_dict(answer: Any) -> dict[str, Any]:
    """Return what a file would hold, without the changes."""
    from poise.results.file import to_dict

    return to_dict(answer)


def print_json(content: object) -> None:
    """Print one JSON object."""
    click.echo(json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False))


def paragraphs(text: str) -> None:
    """Print lines of text; a terminal wraps them between words, a pipe gets them as they are."""
    text = "\n".join(in_options(line) for line in printable(text).splitlines())
    if not sys.stdout.isatty():
        click.echo(text)
        return
    from rich.console import Console
    from rich.text import Text

    class Screen(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # rich would exit with 1, which means "unstable"

    screen = Screen(markup=False, highlight=False, emoji=False)
    for line in text.splitlines():
        shown = Text(line)
        word = line.partition(":")[0]
        shown.stylize(_STYLES.get(word, ""), 0, len(word))
        screen.print(shown)
