"""From ``sklearn.linear_model:Ridge`` or ``model.py:name`` to an algorithm."""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any

from poise.algorithms.user_code import blamed_on_user_code
from poise.arguments import did_you_mean, listed
from poise.cli.input_files import note_input
from poise.cli.stderr import one_line
from poise.errors import AlgorithmError
from poise.running.transport.pickle_by_value import send_by_value

__all__ = [
    "ignores_names",
    "load_algorithm",
    "load_distance",
    "load_object",
    "parse_parameters",
    "place_and_parameters",
]


_MODELS = (".joblib", ".pkl", ".pickle", ".dill", ".sav", ".skops", ".onnx", ".pt", ".h5")


def load_algorithm(place: str, further: Mapping[str, Any] = MappingProxyType({})) -> Any:
    """Find an algorithm and set its parameters.

    Parameters
    ----------
    place : str
        ``module:name`` or ``path/to/file.py:name``. The name may be that of a class or
        a function that makes an algorithm (it is called with the parameters), of an
        estimator (a copy gets the parameters) or of a function ``fit(X, y, seed)``
        (it gets them as further keywords). Parameters may follow in brackets:
        ``module:name(alpha=2.0)``.
    further : mapping, optional
        More parameters by name.

    Examples
    --------
    >>> load_algorithm("sklearn.linear_model:Ridge(alpha=2.0)", {"solver": "lsqr"})
    Ridge(alpha=2.0, solver='lsqr')
    """
    place, parameters = _all_parameters(place, further)
    found = load_object(place)
    if isinstance(found, type):
        return _instance(found, parameters)
    if hasattr(found, "fit"):
        return _with_parameters(found, parameters)
    if _makes_algorithms(found):
        return _instance(found, parameters)
    return _with_keywords(found, parameters) if parameters else found


def _all_parameters(place: str, further: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Join the parameters in brackets with the others; refuse one that is given twice."""
    place, parameters = place_and_parameters(place)
    twice = sorted(parameters.keys() & further.keys())
    if twice:
        raise AlgorithmError(f"parameter {twice[0]!r} is given twice: in brackets and by itself")
    return place, parameters | dict(further)


def load_distance(text: str) -> Any:
    """Return the name of a distance or of a change of loss, or the object ``module:name``.

    Examples
    --------
    >>> load_distance("absolute"), load_distance("loss:squared")
    ('absolute', 'loss:squared')
    """
    place, colon, _ = text.rpartition(":")
    return load_object(text) if colon and place != "loss" else text


def ignores_names(algorithm: Any) -> bool:
    """Tell whether an algorithm certainly does not use column names.

    That holds for functions in JAX, and for scikit-learn's own estimators unless a
    parameter is another estimator or a list, which may name columns.

    Examples
    --------
    >>> from sklearn.ensemble import BaggingRegressor, HistGradientBoostingRegressor
    >>> from sklearn.linear_model import Ridge
    >>> ignores_names(Ridge()), ignores_names(BaggingRegressor(Ridge()))
    (True, False)
    >>> ignores_names(HistGradientBoostingRegressor(categorical_features=["city"]))
    False
    """
    if getattr(algorithm, "numbers_only", False):
        return True
    if not type(algorithm).__module__.startswith("sklearn."):
        return False
    values = algorithm.get_params(deep=False).values()
    return all(isinstance(value, (bool, int, float, str, type(None))) for value in values)


def place_and_parameters(text: str) -> tuple[str, dict[str, Any]]:
    """Split ``module:Name(alpha=2.0)``; parameters are Python literals.

    Examples
    --------
    >>> place_and_parameters("sklearn.linear_model:Ridge(alpha=2.0, solver='lsqr')")
    ('sklearn.linear_model:Ridge', {'alpha': 2.0, 'solver': 'lsqr'})
    >>> place_and_parameters("model.py:fit")
    ('model.py:fit', {})
    """
    place, bracket, rest = text.partition("(")
    if not bracket:
        return text, {}
    try:
        call: Any = ast.parse(f"f({rest}", mode="eval").body
        parameters = {str(k.arg): ast.literal_eval(k.value) for k in call.keywords}
        in_order = len(call.args)
    except (SyntaxError, ValueError, AttributeError):
        in_order = 1
    if in_order:
        raise AlgorithmError(
            f"parameters must look like {place}(alpha=1.0, name='text'), got {text!r}"
        )
    return place, parameters


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
            raise AlgorithmError(f"a parameter must look like alpha=1.0, got {pair!r}")
        parameters[name.strip()] = _literal(value.strip())
    return parameters


def _literal(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def load_object(place: str) -> Any:
    """Return the object that ``module:name`` or ``path/to/file.py:name`` names."""
    _refuse_models(place)
    source, colon, name = place.rpartition(":")
    if not colon or not source or not name:
        before, _, last = place.rpartition(".")
        hint = f"; did you mean {before}:{last}?" if before and last != "py" else ""
        raise AlgorithmError(
            f"expected module:name or file.py:name, such as sklearn.linear_model:Ridge, "
            f"got {place!r}{hint}"
        )
    module = _file_module(Path(source)) if source.endswith(".py") else _module(source)
    return _member(module, name, source)


def _refuse_models(place: str) -> None:
    """Refuse a file with a fitted model, and say why it is not an algorithm."""
    file = next((part for part in (place, place.partition(":")[0]) if _is_model(part)), None)
    if file is not None:
        raise AlgorithmError(
            f"{file} holds a fitted model, and a fitted model is not an algorithm: a test fits "
            "again and again, on other rows. Besides, to load it means to unpickle it, which runs "
            "any code in the file. Give what makes the model: its class with its "
            "parameters, sklearn.linear_model:Ridge(alpha=2.0), or a function or estimator in a "
            "file, train.py:model"
        )


def _is_model(name: str) -> bool:
    return Path(name).suffix.lower() in _MODELS


def _module(name: str) -> ModuleType:
    """Import a module that is installed; the current folder is not searched.

    A file in this folder that has the name of a module by chance (csv.py, joblib.py) must
    not be run instead of the module.
    """
    try:
        with blamed_on_user_code(f"cannot import {name!r}"):
            return importlib.import_module(name)
    except AlgorithmError as error:
        file = Path(*name.split(".")).with_suffix(".py")
        if isinstance(error.__cause__, ModuleNotFoundError) and file.is_file():
            raise AlgorithmError(
                f"{error}. The current folder is not searched; name the file: {file}:…"
            ) from error
        raise


def _file_module(path: Path) -> ModuleType:
    """Import a file by its name, so that workers can do the same.

    Its folder is searched last: so other files in it are found, but none of them replaces
    an installed module.
    """
    path = path.resolve()
    if not path.is_file():
        raise AlgorithmError(f"no such file: {path}")
    note_input(path)
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))
    module = _module(path.stem)
    if Path(getattr(module, "__file__", None) or "").resolve() != path:
        raise AlgorithmError(
            f"{path.name} has the name of a module that is already there "
            f"({module.__name__}); rename the file"
        )
    send_by_value(module)  # a worker on another machine may not have the file
    return module


def _member(module: ModuleType, name: str, source: str) -> Any:
    found: Any = module
    for part in name.split("."):
        if not hasattr(found, part):
            public = [known for known in dir(found) if not known.startswith("_")]
            raise AlgorithmError(f"{source} has no {part!r}{did_you_mean(part, public)}")
        found = getattr(found, part)
    return found


def _makes_algorithms(found: Any) -> bool:
    """Tell a function such as ``mlp_regressor(hidden=(64,), *, ...)`` from ``fit(X, y, seed)``."""
    try:
        accepted = inspect.signature(found).parameters.values()
    except (TypeError, ValueError):
        return False
    positional = [p for p in accepted if p.kind is not p.KEYWORD_ONLY]
    return len(positional) < 3 and all(p.default is not p.empty for p in accepted)


def _instance(kind: Any, parameters: dict[str, Any]) -> Any:
    _check_names(kind.__name__, kind, parameters)
    with blamed_on_user_code(f"{kind.__name__} cannot be created"):
        return kind(**parameters)


def _check_names(label: str, function: Any, parameters: dict[str, Any]) -> None:
    """Refuse a parameter that does not exist, and suggest the closest name."""
    try:
        accepted = inspect.signature(function).parameters
    except ValueError:  # compiled code without a signature: the call itself will tell
        return
    if any(p.kind is p.VAR_KEYWORD for p in accepted.values()):
        return
    for name in parameters:
        if name not in accepted:
            raise AlgorithmError(
                f"{label} has no parameter {name!r}{did_you_mean(name, accepted) or '.'} "
                f"It has: {listed(accepted, limit=12)}"
            )


def _with_parameters(estimator: Any, parameters: dict[str, Any]) -> Any:
    if not parameters:
        return estimator
    if not hasattr(estimator, "set_params"):
        kind = type(estimator).__name__
        raise AlgorithmError(f"{kind} takes no parameters from outside: it has no set_params")
    from sklearn.base import clone

    try:
        with blamed_on_user_code(f"{type(estimator).__name__} cannot be copied"):
            return clone(estimator).set_params(**parameters)
    except AlgorithmError as error:
        if isinstance(error.__cause__, ValueError):
            raise AlgorithmError(one_line(str(error.__cause__))) from error
        raise


def _with_keywords(function: object, parameters: dict[str, Any]) -> Any:
    from poise.algorithms.function import FunctionAlgorithm

    if not callable(function):
        raise AlgorithmError(f"expected an estimator or a function, got {function!r}")
    label = getattr(function, "__name__", type(function).__name__)
    _check_names(label, function, parameters)
    given = ", ".join(f"{name}={value!r}" for name, value in parameters.items())
    return FunctionAlgorithm(functools.partial(function, **parameters), f"{label}({given})")
