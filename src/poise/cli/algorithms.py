"""Algorithms, distances and couplings by their names."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import sys
from collections.abc import Mapping
from contextlib import AbstractContextManager, suppress
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from poise.checks import did_you_mean
from poise.errors import AlgorithmError, ArgumentError

_OF_MODELS = ("joblib", "pkl", "pickle", "dill", "sav", "skops", "onnx", "pt", "h5")  # files


def algorithms_of(given: Mapping[str, Any]) -> list[Any]:
    """Load what ``algorithm`` and ``program`` name, one or several."""
    places, programs = (
        [named] if isinstance(named, str) else named or ()
        for named in (given.get("algorithm"), given.get("program"))
    )
    found = [load_algorithm(place) for place in places]
    for program in programs:
        from poise.algorithms.program import Program

        with _blamed(f"the program {program!r} cannot be used"):
            found.append(Program(program))
    return found


def algorithm_of(given: Mapping[str, Any]) -> Any:
    """Load the one algorithm, or program, that is named."""
    found = algorithms_of(given)
    if len(found) != 1:
        raise ArgumentError("name one algorithm or one program")
    return found[0]


def loaded(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings with a distance and a coupling of the user's own, ``file.py:name``."""
    own = ("distance", "coupling")
    return {
        n: load_object(v, n) if n in own and isinstance(v, str) and ":" in v else v
        for n, v in asked.items()
    }


def load_algorithm(place: str) -> Any:
    """Find an algorithm by its place and set the parameters that follow in brackets.

    A class, or a function that makes an algorithm, is called with them; a copy of an estimator gets
    them, and a function ``fit(X, y, seed)`` as keywords.

    >>> load_algorithm("Ridge(alpha=2.0, solver='lsqr')")
    Ridge(alpha=2.0, solver='lsqr')
    """
    place, parameters = split(place)
    return with_parameters(load_object(place, "algorithm"), parameters)


def load_object(place: str, argument: str) -> Any:
    """Return the object that ``module:name``, ``file.py:name`` or a class of scikit-learn names."""
    source, _, name = place.rpartition(":")
    homes = {} if source else _homes()
    source = source or homes.get(name, "")
    if not source or not name:
        before, _, last = place.rpartition(".")
        hint = f"; did you mean {before}:{last}?" if before else did_you_mean(name, homes)
        if last == "py":
            hint = f"; name what is in it: {place}:NAME"
        elif last.lower() in _OF_MODELS:
            hint = "; a fitted model cannot be fitted again, name what makes it"
        problem = f"must be a class of scikit-learn, module:name or file.py:name, got {place!r}"
        raise ArgumentError(problem + hint, argument=argument)
    found: Any = _from_file(Path(source)) if source.endswith(".py") else _module(source)
    for part in name.split("."):
        if not hasattr(found, part):
            public = [known for known in dir(found) if not known.startswith("_")]
            raise AlgorithmError(f"{source} has no {part!r}{did_you_mean(part, public)}")
        found = getattr(found, part)
    return found


def _homes() -> dict[str, str]:
    """Find the modules of scikit-learn's classes by reading files: to import all takes long."""
    spec = find_spec("sklearn")
    homes: dict[str, str] = {}
    for folder in (spec and spec.submodule_search_locations) or ():
        for file in [*Path(folder).glob("[a-z]*.py"), *Path(folder).glob("[a-z]*/__init__.py")]:
            module = file.parent.name if file.name == "__init__.py" else file.stem
            for found in re.findall(r'^(?:class |    ")([A-Z]\w+)', file.read_text("utf-8"), re.M):
                homes.setdefault(found, f"sklearn.{module}")
    return homes


def split(place: str) -> tuple[str, dict[str, Any]]:
    """Split ``module:Name(alpha=2.0)`` into its place and its parameters, which are literals."""
    before, bracket, rest = place.partition("(")
    if not bracket:
        return place, {}
    with suppress(SyntaxError, ValueError, AttributeError):
        call: Any = ast.parse(f"f({rest}", mode="eval").body
        parameters = {str(each.arg): ast.literal_eval(each.value) for each in call.keywords}
        if not call.args and len(parameters) == len(call.keywords):
            return before, parameters
    raise ArgumentError(
        f"must look like {before}(alpha=1.0, name='text'), got {place!r}",
        argument="algorithm",
        remedy="what is more than that, such as a pipeline, is named in a file: file.py:name",
    )


def _blamed(what: str) -> AbstractContextManager[None]:
    from poise.algorithms.algorithm import blaming_user_code

    return blaming_user_code(what)


def _module(name: str) -> ModuleType:
    """Import an installed module; the folder of the data is not searched for one."""
    with _blamed(f"cannot import {name!r}"):
        return importlib.import_module(name)


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


def with_parameters(found: Any, parameters: Mapping[str, Any]) -> Any:
    """Call a class or a function that makes algorithms; copy an estimator; fill in keywords."""
    from poise.algorithms.algorithm import Function, name_of

    made = isinstance(found, type) or _makes_algorithms(found)
    if not made and not parameters:
        return found
    if not made and hasattr(found, "fit"):
        from sklearn.base import clone

        with _blamed(f"{type(found).__name__} does not take these parameters"):
            return clone(found).set_params(**parameters)
    if not callable(found):
        raise AlgorithmError("must be an estimator or a function", argument="algorithm", got=found)
    with _blamed(f"{name_of(found)} cannot be created"):
        if made:
            return found(**parameters)
        inspect.signature(found).bind_partial(**parameters)  # names the unknown one
    given = ", ".join(f"{name}={value!r}" for name, value in parameters.items())
    return Function(partial(found, **parameters), f"{name_of(found)}({given})")


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
