"""Is my learning algorithm stable? Black-box tests with a guaranteed error level.

Start with :func:`poise.measure` (how large are the changes?) and :func:`poise.stability_test` (are
they small enough?). Algorithms are scikit-learn estimators or functions ``fit(X, y, seed)`` that
return a prediction function.
"""

from importlib import import_module

__version__ = "0.2.0"

_NAMES = {
    "questions.ask": "stability_test measure assert_stable",
    "questions.several": "compare stability_curve",
    "questions.deployed": "deployed_test measure_deployed",
    "questions.check": "check",
    "questions.changed": "changed",
    "questions.monitor": "Monitor",
    "questions.advise": "advise",
    "results.planning": "plan",
    "questions.load": "load",
    "questions.verify": "verify",
    "results.report": "report",
    "results.tables": "table",
    "data.read": "read_table",
    "data.split": "trial_rows",
    "questions.intervals": "JackknifeRegressor",
    "questions.stabilize": "stabilize",
    "algorithms.bags": "coupled_bags",
    "algorithms.program": "Program",
    "algorithms.losses": "loss_change",
    "algorithms.jax_algorithm": "jax_algorithm",
    "algorithms.torch_algorithm": "torch_algorithm",
    "results.trials": "Trials",
    "results.result": "Result",
    "results.together": "Comparison Curve",
}
_HOME = {name: module for module, names in _NAMES.items() for name in names.split()}
_MODULES = {name: name for name in ("decisions", "errors", "research", "theory")}
_MODULES["networks"] = "algorithms.networks"

__all__ = ["__version__", *_HOME, *_MODULES]


def __getattr__(name: str) -> object:
    if name in _MODULES:
        return import_module(f"poise.{_MODULES[name]}")
    if name not in _HOME:
        raise AttributeError(f"module 'poise' has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(f"poise.{_HOME[name]}"), name)
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
