"""The rows that a command reads: of one file, and of others beside it."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from poise import checks
from poise.checks import did_you_mean
from poise.cli.errors import Running, say
from poise.errors import AlgorithmError, ArgumentError, DataError
from poise.numbers import without_noise

if TYPE_CHECKING:
    from poise.data.read import Table

READ = ("drop", "drop_missing", "sep", "decimal", "encoding", "sheet")  # how a file is read
OF_ROWS = ("groups", "sample_weight", "ids")  # settings that name columns


class Source:
    """The rows of a question: of a file, and of others that are ``given`` beside it."""

    def __init__(self, file: str, given: Mapping[str, Any], on_dask: bool = False) -> None:
        self.file, self.given, self.target = file, given, given.get("target")
        self.others = {name: given[name] for name in ("X_unlabeled", "X_fresh") if given.get(name)}
        self.reading = {name: given[name] for name in READ if given.get(name)}
        self.drop_missing = self.reading.pop("drop_missing", False)  # here, where they are counted
        self.reading |= {"backend": "dask"} if on_dask else {}
        self.columns = {name: given[name] for name in OF_ROWS if given.get(name) is not None}
        self.tables: dict[str, Table] = {}
        Running.now().source = self  # which explains errors

    def read(self) -> dict[str, Any]:
        """Return the rows as the library takes them; a missing column is told at once."""
        from poise.data.read import read_table

        if [self.file, *self.others.values()].count("-") > 1:
            raise ArgumentError("standard input holds one table; give the other one as a file")
        table = read_table(self.file, self.target, **self.reading)
        table = self.tables["X"] = replace(table, frame=self._complete(table.frame, self.file))
        names = [str(name) for name in table.frame.columns]
        for name, column in self.columns.items():
            self.require_column(name, column)
        rows = {"X": table.frame, "y": table.target, **self.columns}
        rows |= {name: self._beside(name, table, names) for name in self.others}
        if self.given.get("hold_out") is not None:
            rows = self.held_out(rows, self.given["hold_out"], self.given.get("random_state"))
        if self.given.get("without") is not None:
            rows["without"] = self.named(self.given["without"])
        return rows

    def require_column(self, argument: str, column: Any) -> None:
        """Refuse what names no column of the file; its rows may lie on a cluster."""
        names = [str(name) for name in self.tables["X"].frame.columns]
        if column not in names:
            problem = (
                f"is not a column of {self.file}: {column!r}{did_you_mean(str(column), names)}"
            )
            raise ArgumentError(problem, argument=argument)

    def _beside(self, argument: str, first: Table, names: list[str]) -> Any:
        """Read another file: the same features in the same order, and groups."""
        from poise.data.read import read_table

        file = self.others[argument]
        reading = {name: value for name, value in self.reading.items() if name != "drop"}
        frame = (table := read_table(file, **reading)).frame
        spare = [first.target, self.columns.get("sample_weight"), self.columns.get("ids")]
        for name in names:
            if name not in frame.columns and name not in spare:
                raise DataError(f"{file} has no column {name!r}, as {self.file} has")
        known = [name for name in names if name in frame.columns]
        target = first.target
        if target in known and (argument == "X_unlabeled" or frame[target].isna().all()):
            known.remove(target)
        self.tables[argument] = replace(table, frame=self._complete(frame[known], file))
        return self.tables[argument].frame

    def _complete(self, frame: Any, file: str) -> Any:
        """Leave out rows that lack a value, if that was asked for, and say how many."""
        if not self.drop_missing:
            return frame
        kept = frame.dropna()
        if not len(kept):
            raise DataError(f"{file} has no rows without a missing value")
        if len(kept) < len(frame) and not Running.now().quiet:
            gone = f"{len(frame) - len(kept):,} of {len(frame):,} rows of {file}"
            say(f"{gone} are left out: a value is missing")
        return kept

    def held_out(self, rows: Mapping[str, Any], share: float, seed: object) -> dict[str, Any]:
        """Leave out a share of the rows, or groups, at random: they are the fresh ones."""
        import numpy as np

        from poise.data.randomness import Randomness

        checks.number("hold_out", share, "a number in (0, 1)")
        frame, groups = rows["X"], self.columns.get("groups")
        units = range(len(frame)) if groups is None else frame[groups].factorize()[0]
        count = max(units) + 1
        order = Randomness.from_state(seed or 0).order("rows held out", count)
        gone = np.isin(units, order[: math.floor(without_noise(share * count))])
        parts = {"X": frame[~gone], "X_fresh": frame[gone]}
        whole, self.others = self.tables["X"], self.others | {"X_fresh": self.file}
        divided = {name: replace(whole, frame=part) for name, part in parts.items()}
        self.tables = self.tables | divided
        return {**rows, **parts}

    def line_of(self, row: int, table: str = "X") -> int | None:
        """Return the line of the file in which a row begins; None where it has no lines."""
        return self.tables[table].line_of(row) if table in self.tables else None

    def named(self, text: str) -> Any:
        """Read which rows leave: "lines 12, 15-20" of the file, or a condition."""
        import numpy as np

        some = r"\d+(?:\s*-\s*\d+)?"
        found = re.fullmatch(rf"(?:lines?)?\s*({some}(?:\s*,\s*{some})*)", text.strip())
        lines = [self.line_of(row) for row in range(len(self.tables["X"].frame))]
        if not found or None in lines:
            return text
        ends = re.findall(r"(\d+)(?:\s*-\s*(\d+))?", found[1])
        asked = {n for first, last in ends for n in range(int(first), int(last or first) + 1)}
        for number in sorted(asked):
            if number not in lines:
                problem = f"names line {number}, in which no row of {self.file} begins"
                raise ArgumentError(problem, argument="without", got=text)
        mask = np.isin(np.array(lines), sorted(asked))
        return {f"line{'s' * (len(asked) > 1)} {found[1]} of {self.file}": mask}

    def in_lines(self, text: str, about: str = "") -> str:
        """Name lines of files in a text that speaks of rows of X, or of another table."""
        speaks = [n for n in self.others if n == about or f"of {n}" in text]
        table = speaks[0] if speaks else "X"

        def line(found: re.Match[str]) -> str:
            number = self.line_of(int(found[1]), table)
            return found[0] if number is None else f"line {number}"

        text = re.sub(r"row (\d+) \(counting from 0\)", line, text)
        text = re.sub("or leave it out(?! with)", "or leave it out with --drop", text)
        return re.sub(rf"\bof {table}\b", f"of {self.others.get(table, self.file)}", text)

    def explain(self, error: BaseException) -> None:
        """Name lines of files and columns in an error that speaks of rows and of X and y."""
        if not isinstance(error, ArgumentError | DataError | AlgorithmError):
            return
        about = error.argument.replace("y_fresh", "X_fresh")
        error.problem = self.in_lines(error.problem, about)
        file = self.others.get(about, self.file)
        if isinstance(error.remedy, str):
            error.remedy = error.remedy.replace("as X_unlabeled", "with --unlabeled")
            error.remedy = error.remedy.replace("remove those rows", "--drop-missing removes them")
        if error.argument in ("y", "y_fresh") and self.target:
            error.problem = f"column {self.target!r} of {file} {error.problem}"
            error.argument = ""
        elif error.argument in ("X", "path"):
            error.problem, error.argument = f"{self.file} {error.problem}", ""
