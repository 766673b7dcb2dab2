"""Values computed elsewhere at 50 and 60 digits, under the public names of poise.theory."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from poise import theory

HERE = Path(__file__).parent
EXACT: dict[str, list[dict[str, Any]]] = json.loads((HERE / "exact.json").read_text())
BEYOND: list[dict[str, Any]] = json.loads((HERE / "beyond.json").read_text())["cases"]

SMALLEST = 2.3e-308  # doubles below hold no ten digits
ANSWERS = {"count", "tie_probability", "power", "pvalue", "delta_hat", "epsilon_hat"}
KNOWN = {  # what is known about rows and models, and which of three ceilings then holds
    "black_box": [{}, {"features": "unknown-support", "response": "unknown-support"}],
    "response_only": [
        {"features": "countable"},
        *({"models": read} for read in ("transparent", "constrained", "linear")),
        {"features": "countable", "models": "transparent"},
    ],
    "features_only": [{"response": "countable"}],
}


def close(got: Any, exact: Any, rel: float) -> bool:
    return bool(got == pytest.approx(float(exact), rel=rel, abs=SMALLEST))


@pytest.mark.parametrize("kind", ["critical_value", "power", "pvalue", "delta_hat", "epsilon_hat"])
def test_exact(kind):
    function = getattr(theory, kind)
    more = {"randomized": True} if kind == "power" else {}
    with np.errstate(all="raise"):
        for row in EXACT[kind]:
            given = {name: row[name] for name in row if name not in ANSWERS}
            got = function(**given, **more)
            if kind == "critical_value":
                assert got[0] == row["count"], row
                got, exact = got[1], row["tie_probability"]
            else:
                exact = row[kind]
            assert close(got, exact, 1e-10 if kind != "epsilon_hat" else 0), row


@pytest.mark.parametrize("kind", ["critical_value", "pvalue", "delta_hat"])
def test_arrays_give_what_scalars_give(kind):
    rows = EXACT[kind]
    names = [name for name in rows[0] if name not in ANSWERS]
    columns = {name: np.array([row[name] for row in rows]) for name in names}
    found = np.atleast_2d(getattr(theory, kind)(**columns))
    for i, row in enumerate(rows):
        alone = getattr(theory, kind)(**{name: row[name] for name in names})
        alone = alone if isinstance(alone, tuple) else (alone,)
        assert found[:, i].tolist() == list(alone)
        assert all(type(each) in (int, float) for each in alone)


def test_rows_and_ceilings():
    for row in EXACT["n_trials"]:
        rows = row["n"], row["n_labeled"], row["n_unlabeled"]
        assert theory.n_trials(*rows) == row["n_trials"]
        assert list(theory.kappa(*rows).as_integer_ratio()) == row["kappa"]
    for row in EXACT["power_bound"]:
        given = {name: value for name, value in row.items() if name not in KNOWN}
        for ceiling, knowledge in KNOWN.items():
            for each in knowledge:
                assert close(theory.power_bound(**given, **each), row[ceiling], 1e-10), row


def agrees(got: Any, exact: Any) -> bool:
    if isinstance(exact, dict):
        return all(agrees(getattr(got, name), value) for name, value in exact.items())
    if isinstance(exact, str) and exact not in ("stable", "unstable", "inconclusive"):
        return close(got, exact, 1e-9)
    if isinstance(exact, list) and exact and isinstance(exact[0], str):
        return agrees_as_a_path(np.asarray(got, dtype=float), np.array(exact, dtype=float))
    return list(got) == exact if isinstance(exact, list) else bool(got == exact)


def agrees_as_a_path(got: np.ndarray, exact: np.ndarray) -> bool:
    """A process at 0 has stopped, and what 50 digits left of 0 is less than 1e-50."""
    rest, exact = exact[got.size :], exact[: got.size]
    exact = np.where((np.abs(exact) < 1e-50) & (got == 0), 0.0, exact)
    stopped = (np.abs(rest) < 1e-50).all() or (rest == 1).all()
    return bool(stopped and np.allclose(got, exact, 1e-9, 0))


assert (sum(map(len, EXACT.values())), len(BEYOND)) == (733, 542)


@pytest.mark.parametrize("function", sorted({case["function"] for case in BEYOND}))
def test_beyond(function):
    cases = [case for case in BEYOND if case["function"] == function]
    call = getattr(theory, {"holm": "rejected_by_holm"}.get(function, function))
    with np.errstate(all="raise"):
        for case in cases:
            given = dict(case["given"])
            if "changes" in given:
                given["changes"] = [[float(each) for each in row] for row in given["changes"]]
            assert agrees(call(**given), case["value"]), case


def test_every_public_name_is_where_it_is_said_to_be():
    for name in dir(theory):
        function = getattr(theory, name)
        assert callable(function)
        assert function.__doc__
        assert importlib.import_module(function.__module__).__name__.startswith("poise.theory.")
    with pytest.raises(AttributeError, match="'vote'"):
        theory.vote  # noqa: B018
