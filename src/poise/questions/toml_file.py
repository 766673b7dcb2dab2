"""A TOML file of data, algorithms and questions, checked before a run.

Reading opens only the TOML file; data and algorithms are loaded when it is run.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

from poise.arguments import did_you_mean, listed
from poise.data.files.row_source import RowSource, columns_for_fit
from poise.data.files.text_format import TextFormat
from poise.data.ordinary_files import read_ordinary
from poise.errors import ArgumentError
from poise.storage.ledger import Ledger

__all__ = ["AlgorithmEntry", "Config", "QuestionEntry", "read_config"]

_SECTIONS = ("data", "algorithms", "defaults", "questions", "deployed", "ledger")
_LEDGER = ("file", "rule", "alpha")
_TEXT = ("sep", "decimal", "encoding", "header")
_DATA = ("file", "target", "drop", "unlabeled", "groups", "weights", "fit_params", *_TEXT)
_ALGORITHM = ("use", "params", "program", "mode", "timeout", "env")
_ABOUT = ("name", "data", "algorithms")
_REQUIRED = {"questions": ("n", "epsilon", "delta"), "deployed": ("epsilon", "delta")}
_FRESH = ("fresh", "hold_out")  # where a question about one training set finds its trials
# Settings with another name on the command line, and settings that the file cannot hold.
_NAMES = {"random_state": "seed", "n_jobs": "jobs"}
_MOST_BYTES = 1 << 24  # of a file that people write by hand
_NOT_HERE = ("progress", "name")


@dataclass(frozen=True)
class AlgorithmEntry:
    """What to fit: ``use`` names a Python object, ``program`` a command."""

    folder: Path
    use: str | None
    params: dict[str, Any]
    program: Any
    options: dict[str, Any]


@dataclass(frozen=True)
class QuestionEntry:
    """The arguments of one test: one algorithm, one table, one question.

    A question about the model of all rows has fresh rows: a file of them, or a share that is
    held out.
    """

    name: str
    data: str
    algorithm: str
    settings: dict[str, Any]
    fresh: Path | str | None = None
    hold_out: float | None = None

    @property
    def deployed(self) -> bool:
        """Whether it is about one training set, all rows, and not about a training size."""
        return self.fresh is not None or self.hold_out is not None


@dataclass(frozen=True)
class Config:
    """The content of a file; every name in it is known to exist."""

    path: Path
    data: dict[str, RowSource]
    algorithms: dict[str, AlgorithmEntry]
    questions: tuple[QuestionEntry, ...]
    ledger: Ledger | None = None


def read_config(path: str | Path) -> Config:
    """Read a file of questions; refuse unknown keys and names, and suggest the closest.

    Parameters
    ----------
    path : path
        A TOML file with the sections ``[data]`` (or ``[data.NAME]`` for several
        tables), ``[algorithms.NAME]``, ``[[questions]]`` about a training size,
        ``[[deployed]]`` about the model of all rows and, optionally, ``[defaults]`` for all
        questions and ``[ledger]``. Paths are relative to the folder of the file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name, "stability.toml")
    >>> _ = path.write_text('''
    ... data = {file = "rows.csv", target = "price"}
    ... algorithms.ridge.use = "sklearn.linear_model:Ridge"
    ... questions = [{n = 10, epsilon = 0.5, delta = 0.1}]
    ... ''')
    >>> config = read_config(path)
    >>> config.questions[0].algorithm, config.data["data"].file == path.with_name("rows.csv")
    ('ridge', True)
    >>> _ = path.write_text('algorithm.ridge.use = "sklearn.linear_model:Ridge"')
    >>> read_config(path)
    Traceback (most recent call last):
    poise.errors.ArgumentError: ...: unknown key 'algorithm'; did you mean 'algorithms'? ...
    >>> folder.cleanup()
    """
    path = Path(path)
    content = _parsed(path)
    reader = _Reader(path.resolve().parent, str(path))
    reader.known(content, _SECTIONS, "")
    data = reader.data(content.get("data"))
    algorithms = reader.algorithms(content.get("algorithms"))
    questions = reader.questions(content, data, algorithms)
    return Config(path, data, algorithms, questions, reader.ledger(content.get("ledger")))


def _parsed(path: Path) -> dict[str, Any]:
    content = read_ordinary(path, _MOST_BYTES, ArgumentError)
    try:
        return tomllib.loads(content.decode("utf-8"))
    except RecursionError:
        raise ArgumentError(f"{path} is not a TOML file: it is nested too deeply") from None
    except ValueError as error:  # no TOML, no UTF-8, or a number of thousands of digits
        raise ArgumentError(f"{path} is not a TOML file: {error}") from None


@cache
def setting_names() -> dict[str, str]:
    """Return the keys a question may have, and the settings they stand for."""
    from poise.procedures.checked_question import StabilityQuestion
    from poise.questions.setup import Setup
    from poise.running.execution import Execution

    return _keys_of(StabilityQuestion, Setup, Execution)


@cache
def deployed_names() -> dict[str, str]:
    """Return the keys that a question about one training set may have, and their settings."""
    from poise.questions.conditional.conditional_question import ConditionalQuestion
    from poise.questions.conditional.conditional_setup import ConditionalSetup
    from poise.running.execution import Execution

    return _keys_of(ConditionalQuestion, ConditionalSetup, Execution)


def _keys_of(*kinds: Any) -> dict[str, str]:
    """Return the keys for the fields of some dataclasses, and the names of the fields."""
    names = [field.name for kind in kinds for field in fields(kind)]
    return {_NAMES.get(name, name): name for name in names if name not in _NOT_HERE}


def _keys(section: str) -> dict[str, str]:
    return setting_names() if section == "questions" else deployed_names()


class _Reader:
    """Turns parsed TOML into entries; every error names the file and the place in it."""

    def __init__(self, folder: Path, label: str) -> None:
        self.folder, self.label = folder, label

    def complain(self, message: str) -> ArgumentError:
        return ArgumentError(f"{self.label}: {message}")

    def known(self, table: object, keys: Iterable[str], place: str) -> None:
        """Refuse a table with an unknown key."""
        where = f" in {place}" if place else ""
        if not isinstance(table, dict):
            raise self.complain(f"{place} must be a table of keys and values, got {table!r}")
        options = list(keys)
        for key in table:
            if key not in options:
                hint = did_you_mean(key, options) or "."
                raise self.complain(
                    f"unknown key {key!r}{where}{hint} Possible keys: {listed(options, limit=40)}"
                )

    def text(self, value: object, place: str) -> str:
        if not isinstance(value, str) or not value:
            raise self.complain(f"{place} must be text, got {value!r}")
        return value

    def place(self, text: str) -> Path | str:
        """Return a path from the folder of the file; an address stays as it is."""
        return text if "://" in text else self.folder / text

    def texts(self, value: object, place: str) -> tuple[str, ...]:
        if not isinstance(value, list):
            raise self.complain(f"{place} must be a list of texts, got {value!r}")
        return tuple(self.text(item, place) for item in value)

    def data(self, section: Any) -> dict[str, RowSource]:
        if not section:
            raise self.complain('it needs a section [data] with file = "…" and target = "…"')
        several = isinstance(section, dict) and all(isinstance(v, dict) for v in section.values())
        tables = section if several else {"data": section}
        return {name: self._data_entry(name, table, several) for name, table in tables.items()}

    def _data_entry(self, name: str, table: Any, several: bool) -> RowSource:
        place = f"[data.{name}]" if several else "[data]"
        self.known(table, _DATA, place)
        if "file" not in table:
            raise self.complain(f'{place} needs file = "…"')
        given = {
            key: self.text(table[key], f"{place} {key}")
            for key in ("file", "target", "unlabeled", "groups", "weights")
            if key in table
        }
        return RowSource(
            self.place(given["file"]),
            given.get("target"),
            self.texts(table.get("drop", []), f"{place} drop"),
            self.place(given["unlabeled"]) if "unlabeled" in given else None,
            given.get("groups"),
            self._text_format(table, place),
            self._fit_params(given.get("weights"), table.get("fit_params", {}), place),
        )

    def _fit_params(self, weights: str | None, others: object, place: str) -> dict[str, str]:
        """Return the columns that are passed to fit, by the name of the argument."""
        if not isinstance(others, dict):
            raise self.complain(
                f'{place} fit_params must be a table such as {{sample_weight = "w"}}, got '
                f"{others!r}"
            )
        named = {key: self.text(column, f"{place} {key}") for key, column in others.items()}
        try:
            return columns_for_fit(weights, named)
        except ArgumentError as error:
            raise self.complain(f"{place} {error}") from None

    def _text_format(self, table: dict[str, Any], place: str) -> TextFormat:
        """Return the format of text files."""
        try:
            return TextFormat(**{key: table[key] for key in _TEXT if key in table})
        except ArgumentError as error:
            raise self.complain(f"{place} {error}") from None

    def ledger(self, section: Any) -> Ledger | None:
        """Return the ledger of all questions."""
        if section is None:
            return None
        self.known(section, _LEDGER, "[ledger]")
        file = self.folder / self.text(section.get("file"), "[ledger] file")
        try:
            return Ledger(file, rule=section.get("rule"), alpha=section.get("alpha"))
        except ArgumentError as error:
            raise self.complain(f"[ledger] {error}") from None

    def algorithms(self, section: object) -> dict[str, AlgorithmEntry]:
        if not section or not isinstance(section, dict):
            raise self.complain('it needs a section [algorithms.NAME] with use = "module:name"')
        return {name: self._algorithm(name, table) for name, table in section.items()}

    def _algorithm(self, name: str, table: Any) -> AlgorithmEntry:
        place = f"[algorithms.{name}]"
        self.known(table, _ALGORITHM, place)
        if ("use" in table) == ("program" in table):
            raise self.complain(f'{place} needs either use = "module:name" or program = "command"')
        if "program" not in table:
            self.known(table, ("use", "params"), place)
            self.text(table["use"], f"{place} use")
        elif "params" in table:
            raise self.complain(
                f"{place} params are for use; a program takes its own in the command"
            )
        options = {key: table[key] for key in ("mode", "timeout", "env") if key in table}
        params = table.get("params", {})
        if not isinstance(params, dict):
            raise self.complain(
                f"{place} params must be a table of names and values, got {params!r}"
            )
        return AlgorithmEntry(self.folder, table.get("use"), params, table.get("program"), options)

    def questions(
        self, content: dict[str, Any], data: Mapping[str, Any], algorithms: Mapping[str, Any]
    ) -> tuple[QuestionEntry, ...]:
        defaults = content.get("defaults", {})
        sections = [section for section in _REQUIRED if content.get(section)]
        if not sections:
            raise self.complain("it needs at least one [[questions]] with n, epsilon and delta")
        possible = {key: "" for section in sections for key in _keys(section)}
        self.known(defaults, possible, "[defaults]")
        found: list[QuestionEntry] = []
        for section in sections:
            usable = {key: value for key, value in defaults.items() if key in _keys(section)}
            for place, table in self._entries(content[section], section):
                found += self._question(usable | table, place, section, (data, algorithms))
        return tuple(found)

    def _entries(self, tables: object, section: str) -> list[tuple[str, dict[str, Any]]]:
        """Return each table of a section with its place, after a check of its keys."""
        if not isinstance(tables, list):
            raise self.complain(f"[[{section}]] must be written with two brackets")
        places = [f"[[{section}]] {number}" for number in range(1, len(tables) + 1)]
        also = (*_ABOUT, *(_FRESH if section == "deployed" else ()))
        for place, table in zip(places, tables, strict=True):
            self.known(table, (*also, *_keys(section)), place)
        return list(zip(places, tables, strict=True))

    def _question(
        self,
        table: dict[str, Any],
        place: str,
        section: str,
        named: tuple[Mapping[str, Any], Mapping[str, Any]],
    ) -> list[QuestionEntry]:
        """Return one entry for each algorithm of the question."""
        data, algorithms = named
        missing = [key for key in _REQUIRED[section] if key not in table]
        if missing:
            raise self.complain(f"{place} needs {', '.join(missing)}")
        if len(data) > 1 and "data" not in table:
            raise self.complain(f"{place} needs data, one of: {listed(data)}")
        source = self._one_of(table.get("data", next(iter(data))), data, f"{place} data")
        names = self.texts(table.get("algorithms", list(algorithms)), f"{place} algorithms")
        chosen = [self._one_of(name, algorithms, f"{place} algorithms") for name in names]
        settings = {to: table[key] for key, to in _keys(section).items() if key in table}
        title = self.text(table.get("name", _usual_name(place)), f"{place} name")
        fresh = self._fresh(table, place, data[source]) if section == "deployed" else {}
        return [QuestionEntry(title, source, name, settings, **fresh) for name in chosen]

    def _fresh(self, table: dict[str, Any], place: str, source: RowSource) -> dict[str, Any]:
        """Return where the fresh rows are: in a file, or among the rows."""
        if ("fresh" in table) == ("hold_out" in table):
            raise self.complain(f'{place} needs either fresh = "FILE" or hold_out = SHARE')
        if source.groups or source.fit_params or source.unlabeled:
            raise self.complain(
                f"{place} cannot use data with groups, weights, fit_params or unlabeled"
            )
        if "fresh" in table:
            return {"fresh": self.place(self.text(table["fresh"], f"{place} fresh"))}
        share = table["hold_out"]
        if not isinstance(share, float) or not 0 < share < 1:
            raise self.complain(f"{place} hold_out must be a number in (0, 1), got {share!r}")
        return {"hold_out": share}

    def _one_of(self, name: object, names: Mapping[str, Any], place: str) -> str:
        if name not in names:
            hint = did_you_mean(str(name), names) or "."
            raise self.complain(f"{place}: no {name!r}{hint} There are: {listed(names)}")
        return str(name)


def _usual_name(place: str) -> str:
    """Name a question that has no name.

    Examples
    --------
    >>> _usual_name("[[questions]] 2"), _usual_name("[[deployed]] 1")
    ('question 2', 'deployed 1')
    """
    section, number = place.split()
    return f"{section.strip('[]').removesuffix('s')} {number}"
