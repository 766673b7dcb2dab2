"""What a command reads: an algorithm by its name, and the rows of files."""

from __future__ import annotations

import ast
import importlib
import inspect
import math
import os
import re
import sys
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Any

from poise import checks
from poise.checks import did_you_mean
from poise.cli.errors import say
from poise.errors import AlgorithmError, ArgumentError, DataError
from poise.numbers import without_noise

if TYPE_CHECKING:
    from poise.data.read import Table

_FITTED = (".joblib", ".pkl", ".pickle", ".dill", ".sav", ".skops", ".onnx", ".pt", ".h5")


# algorithms


class CommandLine(str):
    """The command of a program in any language, where an algorithm is named."""

    folder = Path()  # in which it runs


def load_algorithm(place: str, further: Mapping[str, Any] = MappingProxyType({})) -> Any:
    """Find an algorithm and set its parameters.

    Parameters
    ----------
    place : str
        A class of scikit-learn by its name, ``module:name`` or ``file.py:name``: a class or a
        function that makes an algorithm (called with the parameters), an estimator (a copy gets
        the parameters) or a function ``fit(X, y, seed)`` (it gets them as keywords). Parameters
        may follow in brackets. A :class:`CommandLine` is a program.
    further : mapping, optional
        More parameters by name.

    Examples
    --------
    >>> load_algorithm("Ridge(alpha=2.0)", {"solver": "lsqr"})
    Ridge(alpha=2.0, solver='lsqr')
    """
    if isinstance(place, CommandLine):
        from poise.algorithms.program import Program

        with _blamed(f"the program {place!r} cannot be used"):
            return Program(str(place), folder=place.folder, **further)
    _refuse_fitted(place)
    place, parameters = _split(place)
    for name in sorted(parameters.keys() & further.keys()):
        raise ArgumentError(f"got parameter {name!r} twice, in brackets too", argument="algorithm")
    parameters |= further
    found = load_object(place, "algorithm")
    made = isinstance(found, type) or _makes_algorithms(found)
    return _with_parameters(found, parameters) if made or parameters else found


def load_named(name: str, value: Any) -> Any:
    """Load a distance or a coupling of the user's own, ``file.py:name``."""
    is_place = isinstance(value, str) and ":" in value
    return load_object(value, name) if is_place else value


def parse_parameters(pairs: Iterable[str]) -> dict[str, Any]:
    """Read ``name=value`` pairs; values are Python literals where they can be, else text.

    Examples
    --------
    >>> parse_parameters(["alpha=0.5", "solver=lsqr", "hidden=(8, 8)", "warm=None"])
    {'alpha': 0.5, 'solver': 'lsqr', 'hidden': (8, 8), 'warm': None}
    """
    parameters = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name.strip():
            raise ArgumentError("must look like alpha=1.0", argument="params", got=pair)
        try:
            parameters[name.strip()] = ast.literal_eval(value.strip())
        except (ValueError, SyntaxError):
            parameters[name.strip()] = value.strip()
    return parameters


def code_file(place: object) -> Path | None:
    """Return the file of ``file.py:name``, or the script of a program."""
    if isinstance(place, CommandLine):
        files = [os.path.join(place.folder, word) for word in place.split()]
        return next((Path(file) for file in reversed(files) if os.path.isfile(file)), None)
    source = str(place).partition("(")[0].rpartition(":")[0]
    return Path(source) if source.endswith(".py") else None


def load_object(place: str, argument: str) -> Any:
    """Return the object that ``module:name``, ``file.py:name`` or a class of scikit-learn names."""
    source, _, name = place.rpartition(":")
    if not source and re.fullmatch(r"\w+", name):
        source = _home(name)
    if not source or not name:
        before, _, last = place.rpartition(".")
        hint = f"; did you mean {before}:{last}?" if before else ""
        hint = f"; name what is in it: {place}:NAME" if last == "py" else hint
        raise ArgumentError(
            f"must be a class of scikit-learn, module:name or file.py:name, got {place!r}{hint}",
            argument=argument,
        )
    found: Any = _from_file(Path(source)) if source.endswith(".py") else _module(source)
    for part in name.split("."):
        if not hasattr(found, part):
            public = [known for known in dir(found) if not known.startswith("_")]
            raise AlgorithmError(f"{source} has no {part!r}{did_you_mean(part, public)}")
        found = getattr(found, part)
    return found


def _home(name: str) -> str:
    """Find the module of a class of scikit-learn by reading its files: to import all takes long."""
    spec = find_spec("sklearn")
    homes: dict[str, str] = {}
    for folder in (spec and spec.submodule_search_locations) or ():
        for file in [*Path(folder).glob("[a-z]*.py"), *Path(folder).glob("[a-z]*/__init__.py")]:
            module = file.parent.name if file.name == "__init__.py" else file.stem
            for found in re.findall(r'^(?:class |    ")([A-Z]\w+)', file.read_text("utf-8"), re.M):
                homes.setdefault(found, f"sklearn.{module}")
    if name not in homes:
        near = did_you_mean(name, homes)
        hint = f"{near} Others are" if near else "; name it as"
        raise ArgumentError(
            f"is not a class of scikit-learn: {name!r}{hint} module:name or file.py:name",
            argument="algorithm",
        )
    return homes[name]


def _refuse_fitted(place: str) -> None:
    for part in (place, place.partition(":")[0]):
        if Path(part).suffix.lower() in _FITTED:
            raise AlgorithmError(
                f"{part} holds a fitted model, and a test fits again and again on other rows",
                remedy="give what makes the model: Ridge(alpha=2.0), or a function or estimator in "
                "a file, train.py:model",
            )


def _split(place: str) -> tuple[str, dict[str, Any]]:
    """Split ``module:Name(alpha=2.0)`` into its place and its parameters, which are literals."""
    before, bracket, rest = place.partition("(")
    if not bracket:
        return place, {}
    try:
        call: Any = ast.parse(f"f({rest}", mode="eval").body
        parameters = {str(each.arg): ast.literal_eval(each.value) for each in call.keywords}
        in_order = len(call.args)
    except (SyntaxError, ValueError, AttributeError):
        in_order = 1
    if in_order:
        raise ArgumentError(
            f"must look like {before}(alpha=1.0, name='text'), got {place!r}",
            argument="algorithm",
            remedy="what is more than that, such as a pipeline, is named in a file: file.py:name",
        )
    return before, parameters


def _blamed(what: str) -> AbstractContextManager[None]:
    from poise.algorithms.algorithm import blaming_user_code

    return blaming_user_code(what)


def _module(name: str) -> ModuleType:
    """Import an installed module; the folder of the data is not searched for one."""
    try:
        with _blamed(f"cannot import {name!r}"):
            return importlib.import_module(name)
    except AlgorithmError as error:
        file = Path(*name.split(".")).with_suffix(".py")
        if isinstance(error.__cause__, ModuleNotFoundError) and file.is_file():
            raise AlgorithmError(f"{error}", remedy=f"name the file: {file}:…") from error
        raise


def _from_file(path: Path) -> ModuleType:
    """Import a file; its neighbours are found, but none of them replaces an installed module."""
    path = path.resolve()
    if not path.is_file():
        raise AlgorithmError(f"no such file: {path}")
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))
    module = _module(path.stem)
    if Path(getattr(module, "__file__", None) or "").resolve() != path:
        raise AlgorithmError(
            f"{path.name} has the name of another module", remedy="rename the file"
        )
    import cloudpickle

    cloudpickle.register_pickle_by_value(module)  # workers need not find the file
    return module


def _makes_algorithms(found: Any) -> bool:
    """Tell a function that makes an algorithm from ``fit(X, y, seed)``."""
    if hasattr(found, "fit") or not callable(found):
        return False
    try:
        accepted = inspect.signature(found).parameters.values()
    except (TypeError, ValueError):
        return False
    positional = [each for each in accepted if each.kind is not each.KEYWORD_ONLY]
    return len(positional) < 3 and all(each.default is not each.empty for each in accepted)


def _with_parameters(found: Any, parameters: dict[str, Any]) -> Any:
    """Call a class, copy an estimator, or fill in keywords of a function."""
    from poise.algorithms.algorithm import Function, name_of

    if hasattr(found, "fit") and not isinstance(found, type):
        from sklearn.base import clone

        with _blamed(f"{type(found).__name__} does not take these parameters"):
            return clone(found).set_params(**parameters)
    if not callable(found):
        raise AlgorithmError("must be an estimator or a function", argument="algorithm", got=found)
    with _blamed(f"{name_of(found)} cannot be created"):
        inspect.signature(found).bind_partial(**parameters)  # names the unknown one
        if isinstance(found, type) or _makes_algorithms(found):
            return found(**parameters)
    given = ", ".join(f"{name}={value!r}" for name, value in parameters.items())
    return Function(partial(found, **parameters), f"{name_of(found)}({given})")


# rows

READ = ("drop", "drop_missing", "sep", "decimal", "encoding", "sheet")  # how a file is read
OF_ROWS = ("groups", "sample_weight", "ids")  # settings that name columns


class Source:
    """The rows of a question: their file, its target, and other files beside it.

    Parameters
    ----------
    file : str
        The file of the labelled rows.
    given : mapping
        ``target``, ``unlabeled`` and ``fresh`` (files), how to read them, and settings that name
        columns.
    on_dask : bool
        Whether rows of Parquet files stay there.
    """

    def __init__(self, file: str, given: Mapping[str, Any], on_dask: bool = False) -> None:
        self.file, self.target = file, given.get("target")
        names = {"X_unlabeled": "unlabeled", "X_fresh": "fresh"}
        self.others = {name: given[key] for name, key in names.items() if given.get(key)}
        self.reading = {name: given[name] for name in READ if given.get(name)}
        self.reading.pop("drop_missing", None)  # here, where they are counted
        self.reading |= {"backend": "dask"} if on_dask else {}
        self.drop_missing, self.quiet = given.get("drop_missing", False), given.get("quiet", False)
        self.columns = {name: given[name] for name in OF_ROWS if given.get(name) is not None}
        self.tables: dict[str, Table] = {}

    @property
    def files(self) -> list[Path]:
        """The files that are read: no command may replace them."""
        return [Path(file) for file in (self.file, *self.others.values())]

    def read(self) -> dict[str, Any]:
        """Return the rows as the library takes them; a missing column is told at once."""
        from poise.data.read import read_table

        if list(map(str, self.files)).count("-") > 1:
            raise ArgumentError("standard input holds one table; give the other one as a file")
        table = read_table(self.file, self.target, **self.reading)
        table = self.tables["X"] = replace(table, frame=self._complete(table.frame, self.file))
        names = [str(name) for name in table.frame.columns]
        for name, column in self.columns.items():
            if column not in names:
                hint = did_you_mean(str(column), names)
                raise ArgumentError(
                    f"is not a column of {self.file}: {column!r}{hint}", argument=name
                )
        rows = {"X": table.frame, "y": table.target, **self.columns}
        return rows | {name: self._beside(name, table, names) for name in self.others}

    def _beside(self, argument: str, first: Table, names: list[str]) -> Any:
        """Read another file: the same features in the same order, and groups."""
        from poise.data.read import read_table

        file = self.others[argument]
        reading = {name: value for name, value in self.reading.items() if name != "drop"}
        table = read_table(str(file), **reading)
        spare = [first.target, self.columns.get("sample_weight"), self.columns.get("ids")]
        for name in names:
            if name not in table.frame.columns and name not in spare:
                raise DataError(f"{file} has no column {name!r}, as {self.file} has")
        known = [name for name in names if name in table.frame.columns]
        target = first.target if argument == "X_fresh" else None  # the library drops the other
        if target in known and table.frame[target].isna().all():
            known.remove(target)
        needed = [name for name in known if argument == "X_fresh" or name != first.target]
        frame = self._complete(table.frame[known], str(file), needed)
        self.tables[argument] = replace(table, frame=frame)
        return frame

    def _complete(self, frame: Any, file: str, needed: list[str] | None = None) -> Any:
        """Leave out rows that lack a value, if that was asked for, and say how many."""
        kept = frame.dropna(subset=needed) if self.drop_missing else frame
        if self.drop_missing and not len(kept):
            raise DataError(f"{file} has no rows without a missing value")
        if self.drop_missing and not self.quiet and len(kept) < len(frame):
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
        order = Randomness.from_state(seed).order("rows held out", count)
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

        found = re.fullmatch(r"(?:lines?)?([\s\d,-]*\d)", text)
        lines = [self.line_of(row) for row in range(len(self.tables["X"].frame))]
        if not found or None in lines:
            return text
        ends = [part.partition("-") for part in found[1].split(",")]
        try:
            asked = {n for a, dash, b in ends for n in range(int(a), int(b if dash else a) + 1)}
        except ValueError:
            return text
        for number in sorted(asked):
            if number not in lines:
                problem = f"names line {number}, in which no row of {self.file} begins"
                raise ArgumentError(problem, argument="without", got=text)
        mask = np.isin(np.array(lines), sorted(asked))
        return {f"line{'s' * (len(asked) > 1)} {found[1].strip()} of {self.file}": mask}

    def explain(self, error: BaseException) -> None:
        """Name lines of files and columns in an error that speaks of rows and of X and y."""
        if not isinstance(error, ArgumentError | DataError | AlgorithmError):
            return
        about = error.argument.replace("y_fresh", "X_fresh")
        speaks = [n for n in self.others if n == about or f"of {n}" in error.problem]
        table = speaks[0] if speaks else "X"
        file = self.others.get(table, self.file)

        def line(found: re.Match[str]) -> str:
            number = self.line_of(int(found[1]), table)
            return found[0] if number is None else f"line {number}"

        text = re.sub(r"row (\d+) \(counting from 0\)", line, error.problem)
        text = text.replace("or leave it out", "or leave it out with --drop")
        error.problem = re.sub(rf"\bof {table}\b", f"of {file}", text)
        if isinstance(error.remedy, str):
            error.remedy = error.remedy.replace("as X_unlabeled", "with --unlabeled")
            error.remedy = error.remedy.replace("remove those rows", "--drop-missing removes them")
        if error.argument in ("y", "y_fresh") and self.target:
            error.problem = f"column {self.target!r} of {file} {error.problem}"
            error.argument = ""
        elif error.argument in ("X", "path"):
            error.problem, error.argument = f"{self.file} {error.problem}", ""
