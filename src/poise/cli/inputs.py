"""What a command reads: an algorithm by its name, and the rows of files."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any

from poise.checks import did_you_mean
from poise.errors import AlgorithmError, ArgumentError, DataError

_FITTED = (".joblib", ".pkl", ".pickle", ".dill", ".sav", ".skops", ".onnx", ".pt", ".h5")


# algorithms


def load_algorithm(place: str, further: Mapping[str, Any] = MappingProxyType({})) -> Any:
    """Find an algorithm and set its parameters.

    Parameters
    ----------
    place : str
        A class of scikit-learn by its name, ``module:name`` or ``file.py:name``: a class or a
        function that makes an algorithm (called with the parameters), an estimator (a copy gets
        the parameters) or a function ``fit(X, y, seed)`` (it gets them as keywords). Parameters
        may follow in brackets.
    further : mapping, optional
        More parameters by name.

    Examples
    --------
    >>> load_algorithm("Ridge(alpha=2.0)", {"solver": "lsqr"})
    Ridge(alpha=2.0, solver='lsqr')
    """
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
    """Return the file of ``file.py:name``."""
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
            f"is no class of scikit-learn: {name!r}{hint} module:name or file.py:name",
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
    """The rows of a question: their file, its target, and what else is read from it.

    Parameters
    ----------
    file : str
        The file of the labelled rows.
    given : mapping
        ``target``, ``unlabeled`` (a file), how to read both, and settings that name columns.
    """

    def __init__(self, file: str, given: Mapping[str, Any]) -> None:
        self.file, self.target, self.unlabeled = file, given.get("target"), given.get("unlabeled")
        self.reading = {name: given[name] for name in READ if given.get(name)}
        self.columns = {name: given[name] for name in OF_ROWS if given.get(name) is not None}
        self.lines: dict[str, Callable[[int], int | None]] = {}

    @property
    def files(self) -> list[Path]:
        """The files that are read: no command may replace them."""
        return [Path(file) for file in (self.file, self.unlabeled) if file]

    def read(self) -> dict[str, Any]:
        """Return the rows as the library takes them; a missing column is told at once."""
        from poise.data.read import read_table

        if self.file == self.unlabeled == "-":
            raise ArgumentError("standard input holds one table; give the other one as a file")
        table = read_table(self.file, self.target, **self.reading)
        names = [str(name) for name in table.frame.columns]
        for name, column in self.columns.items():
            if column not in names:
                hint = did_you_mean(str(column), names)
                raise ArgumentError(f"is no column of {self.file}: {column!r}{hint}", argument=name)
        self.lines["X"] = table.line_of
        rows = {"X": table.frame, "y": table.target, **self.columns}
        if self.unlabeled:
            taken = [table.target, *self.columns.values()]
            rows |= self._unlabeled([name for name in names if name not in taken])
        return rows

    def _unlabeled(self, features: list[str]) -> dict[str, Any]:
        """Read the rows without a response: their features in the same order, and their groups."""
        from poise.data.read import read_table

        reading = {name: value for name, value in self.reading.items() if name != "drop"}
        table = read_table(str(self.unlabeled), **reading)
        self.lines["X_unlabeled"] = table.line_of
        grouped = [self.columns["groups"]] if "groups" in self.columns else []
        for name in (*features, *grouped):
            if name not in table.frame.columns:
                raise DataError(f"{self.unlabeled} has no column {name!r}, as {self.file} has")
        rows = {"X_unlabeled": table.frame[features]}
        return rows | ({"groups_unlabeled": table.frame[grouped[0]]} if grouped else {})

    def explain(self, error: BaseException) -> None:
        """Name lines of files and columns in an error that speaks of rows and of X and y."""
        if not isinstance(error, ArgumentError | DataError | AlgorithmError):
            return
        other = error.argument == "X_unlabeled" or "of X_unlabeled" in error.problem
        table, file = ("X_unlabeled", self.unlabeled) if other else ("X", self.file)
        line_of = self.lines.get(table)

        def line(found: re.Match[str]) -> str:
            number = line_of(int(found[1])) if line_of else None
            return found[0] if number is None else f"line {number}"

        text = re.sub(r"row (\d+) \(counting from 0\)", line, error.problem)
        text = text.replace("or leave it out", "or leave it out with --drop")
        error.problem = re.sub(rf"\bof {table}\b", f"of {file}", text)
        if isinstance(error.remedy, str):
            error.remedy = error.remedy.replace("as X_unlabeled", "with --unlabeled")
            error.remedy = error.remedy.replace("remove those rows", "--drop-missing removes them")
        if error.argument == "y" and self.target:
            error.problem = f"column {self.target!r} of {self.file} {error.problem}"
            error.argument = ""
        elif error.argument in ("X", "path"):
            error.problem, error.argument = f"{self.file} {error.problem}", ""
