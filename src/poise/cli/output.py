"""What a command writes: looked at before the first fit, and never over an input."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import click

from poise.errors import ArgumentError


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
    force: bool = False
    folder: bool = False  # whether ``save`` is one, of several answers

    @classmethod
    def of(cls, ctx: click.Context, folder: bool = False) -> Output:
        """Return what the options of a command say."""
        said = {f.name: ctx.params[f.name] for f in fields(cls) if f.name in ctx.params}
        return cls(**said, folder=folder)

    def check(self, inputs: Iterable[Path | None]) -> None:
        """Refuse a file that cannot be written, or must not be."""
        taken = list(inputs)
        if self.folder and self.save is not None:
            _require_empty(Path(self.save))
        for argument in ("report", "summary") if self.folder else ("save", "report"):
            if (path := getattr(self, argument)) is not None:
                force = self.force or argument == "summary"  # which is added to
                require_writable(Path(path), taken, argument=argument, force=force)
                taken.append(Path(path))

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
        written = ", ".join(filter(None, (self.save, self.report, self.summary)))
        if written and not self.quiet:
            click.echo(f"Written: {written}", err=True)


def require_writable(
    path: Path, inputs: Iterable[Path | None], *, argument: str, force: bool = False
) -> None:
    """Refuse a file that cannot be written, is read by this command, or is somebody else's."""
    require_place(path, argument)
    problem, remedy = "", ""
    for other in inputs:
        if other is not None and same_file(path, other):
            problem = f"would replace {other}, which this command reads or writes"
    if not problem and path.exists() and not force and not written_by_poise(path):
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


def same_file(path: Path, other: Path) -> bool:
    """Tell whether two names, links among them, are one file."""
    if path.exists() and other.exists():
        return path.samefile(other)
    return path.resolve() == other.resolve()


def written_by_poise(path: Path) -> bool:
    """Tell whether a file begins as those that poise saves."""
    with path.open("rb") as file:
        return b'"poise' in file.read(200)
