"""The names other people's scripts use; changing one of them needs a release note."""

from __future__ import annotations

import ast
import dataclasses
import inspect

import pytest

import poise
from shared.processes import printed

PINNED = {
    "stability_test": (
        "algorithm X y n epsilon delta alpha X_unlabeled coupling distance randomized shuffle "
        "stop_early on_error random_state n_jobs backend progress"
    ),
    "measure": (
        "algorithm X y n X_unlabeled coupling distance shuffle on_error random_state n_jobs "
        "backend progress"
    ),
    "plan": "n_labeled n delta alpha power n_unlabeled delta_star",
    "stabilize": "estimator n epsilon delta bounds classes",
    "JackknifeRegressor": "estimator method level certificate",
}

PINNED_THEORY = {
    "n_trials": "n n_labeled n_unlabeled",
    "kappa": "n n_labeled n_unlabeled",
    "critical_value": "n_trials delta alpha",
    "power": "n_trials delta delta_star alpha randomized",
    "power_bound": "n n_labeled n_unlabeled delta delta_star alpha features response models",
    "pvalue": "exceedances n_trials delta zeta",
    "delta_hat": "exceedances n_trials alpha zeta",
    "epsilon_hat": "changes delta alpha zeta",
}

PINNED_MEMBERS = {
    "Trials": "changes n_trials kappa test delta_hat epsilon_hat profile to_frame plot save load",
    "StabilityResult": (
        "verdict stable statistic n_trials kappa pvalue pvalue_unstable critical_count "
        "tie_probability acceptance_probability delta_hat epsilon_hat power_bound epsilon delta "
        "alpha coupling n_fits stopped_early summary plot to_dict to_json from_json to_html "
        "_repr_html_"
    ),
}


@pytest.mark.parametrize(("name", "arguments"), PINNED.items())
def test_functions(name, arguments) -> None:
    assert set(arguments.split()) <= set(inspect.signature(getattr(poise, name)).parameters)


@pytest.mark.parametrize(("name", "arguments"), PINNED_THEORY.items())
def test_theory(name, arguments) -> None:
    parameters = inspect.signature(getattr(poise.theory, name)).parameters
    assert list(parameters)[: len(arguments.split())] == arguments.split()


@pytest.mark.parametrize(("name", "members"), PINNED_MEMBERS.items())
def test_members(name, members) -> None:
    kind = getattr(poise, name)
    fields = {field.name for field in dataclasses.fields(kind)}
    assert not [m for m in members.split() if m not in fields and not hasattr(kind, m)]
    assert kind.__dataclass_params__.frozen


def test_everything_public_is_there_and_documented() -> None:
    for name in poise.__all__:
        value = getattr(poise, name)
        assert name.startswith("__") or inspect.getdoc(value), name
        if callable(value) and not name.startswith("__") and not issubclass_of_error(value):
            assert ">>>" in (inspect.getdoc(value) or ""), f"{name} has no example"


def issubclass_of_error(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, Exception)


def test_unknown_names_are_attribute_errors() -> None:
    with pytest.raises(AttributeError, match="no attribute 'stabilty_test'"):
        _ = poise.stabilty_test


HEAVY = ["sklearn", "scipy", "matplotlib", "pandas", "joblib", "rich", "jax", "torch", "narwhals"]


@pytest.mark.parametrize("code", ["import poise", "import poise, sys; poise.theory.n_trials"])
def test_import_loads_nothing_heavy(code) -> None:
    check = f"{code}; import sys; print([m for m in {HEAVY} if m in sys.modules])"
    assert printed(check).strip() == "[]"


@pytest.mark.parametrize("module", [poise, poise.theory], ids=["poise", "poise.theory"])
def test_type_checkers_know_every_name(module) -> None:
    """To a strict checker a name is public if it is imported "as" itself, or assigned."""
    [block] = [n for n in ast.parse(inspect.getsource(module)).body if isinstance(n, ast.If)]
    known = {a.asname for n in block.body if isinstance(n, ast.ImportFrom) for a in n.names}
    assigned = [n for n in block.body if isinstance(n, ast.Assign)]
    known |= {
        name.id for n in assigned for name in ast.walk(n.targets[0]) if isinstance(name, ast.Name)
    }
    assert set(module.__all__) - {"__version__"} == {name for name in known if name[0] != "_"}
