"""Is my learning algorithm stable? Black-box tests with a guaranteed error level.

Start with :func:`poise.measure` (how large are the changes?) and :func:`poise.stability_test` (are
they small enough?). Algorithms are scikit-learn estimators or functions ``fit(X, y, seed)`` that
return a prediction function.
"""

from importlib import import_module

__version__ = "0.2.0"

_HOME = {
    "stability_test": "poise.questions.ask",
    "measure": "poise.questions.ask",
    "assert_stable": "poise.questions.ask",
    "compare": "poise.questions.several",
    "stability_curve": "poise.questions.several",
    "deployed_test": "poise.questions.deployed",
    "measure_deployed": "poise.questions.deployed",
    "check": "poise.questions.check",
    "changed": "poise.questions.changed",
    "Monitor": "poise.questions.monitor",
    "plan": "poise.questions.plan",
    "advise": "poise.questions.plan",
    "load": "poise.questions.load",
    "verify": "poise.questions.verify",
    "report": "poise.results.report",
    "table": "poise.results.tables",
    "read_table": "poise.data.read",
    "trial_rows": "poise.data.split",
    "JackknifeRegressor": "poise.questions.intervals",
    "stabilize": "poise.questions.stabilize",
    "coupled_bags": "poise.algorithms.bags",
    "Program": "poise.algorithms.program",
    "loss_change": "poise.algorithms.losses",
    "jax_algorithm": "poise.algorithms.jax_algorithm",
    "torch_algorithm": "poise.algorithms.torch_algorithm",
    "Trials": "poise.results.trials",
    "Result": "poise.results.result",
    "Comparison": "poise.results.together",
    "Curve": "poise.results.together",
}
_ROOMS = ("decisions", "errors", "research", "theory")

__all__ = ["__version__", *_HOME, *_ROOMS, "networks"]


def __getattr__(name: str) -> object:
    if name in _ROOMS:
        return import_module(f"poise.{name}")
    if name == "networks":
        return import_module("poise.algorithms.networks")
    if name not in _HOME:
        raise AttributeError(f"module 'poise' has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(_HOME[name]), name)
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
