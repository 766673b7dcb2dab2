"""Algorithms by name: classes, estimators, functions, and their parameters."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from sklearn.linear_model import Ridge

from poise.algorithms.function import FunctionAlgorithm
from poise.cli.load_algorithm import load_algorithm, load_object, parse_parameters
from poise.errors import AlgorithmError


@pytest.fixture(autouse=True)
def in_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "path", list(sys.path))


@pytest.mark.parametrize(
    ("pair", "value"),
    [
        ("a=1", 1),
        ("a=1e-3", 0.001),
        ("a=None", None),
        ("a=True", True),
        ("a='1'", "1"),
        ("a=rbf", "rbf"),
        ("a=x=y", "x=y"),
        ("a=(8, 8)", (8, 8)),
        ("a=", ""),
        (" a = -2 ", -2),
    ],
)
def test_values_are_literals_where_they_can_be(pair: str, value: object) -> None:
    assert parse_parameters([pair]) == {"a": value}


def test_a_class_is_called_with_its_parameters() -> None:
    found = load_algorithm("sklearn.linear_model:Ridge", {"alpha": 3.0})
    assert isinstance(found, Ridge)
    assert found.alpha == 3.0


def test_an_estimator_is_copied_before_it_is_changed() -> None:
    original = load_object("poise_test_pipelines.py:pipeline")
    changed = load_algorithm("poise_test_pipelines.py:pipeline", {"ridge__alpha": 3.0})
    assert changed.named_steps["ridge"].alpha == 3.0
    assert original.named_steps["ridge"].alpha == 10.0
    assert load_algorithm("poise_test_pipelines.py:pipeline", {}) is original


def test_a_function_takes_parameters_as_keywords() -> None:
    found = load_algorithm("poise_test_models.py:mean", {"shift": 2.0})
    assert isinstance(found, FunctionAlgorithm)
    assert found.name == "mean(shift=2.0)"
    assert found.fit([[0], [1]], [1.0, 3.0], xi=0)([[5]]) == [4.0]


def test_a_module_of_the_current_folder_and_a_nested_name() -> None:
    assert load_object("poise_test_pipelines.py:encode.transformers")[0][0] == "onehotencoder"


def test_an_object_that_takes_no_parameters(folder: Path) -> None:
    (folder / "poise_test_bare.py").write_text(
        "class Bare:\n    def fit(self, X, y): ...\nbare = Bare()"
    )
    with pytest.raises(AlgorithmError, match="Bare takes no parameters from outside"):
        load_algorithm("poise_test_bare.py:bare", {"a": 1})


def test_a_class_that_cannot_be_created() -> None:
    with pytest.raises(AlgorithmError, match=r"Pipeline cannot be created: .* 'steps'"):
        load_algorithm("sklearn.pipeline:Pipeline", {})


def test_only_who_ignores_names_gets_an_array(folder: Path) -> None:
    import numpy as np
    import pandas as pd

    from poise.cli.fit_options import FitOptions

    def rows(algorithm: str = "sklearn.linear_model:Ridge", **changed: object) -> dict[str, object]:
        usual: dict[str, object] = {"data": "numbers.csv", "target": "price", "drop": ["id"]}
        given = {**dict.fromkeys(["unlabeled", "sep", "decimal", "encoding"]), "header": True}
        return (
            FitOptions({**given, **usual, **changed}).rows().given_to(load_algorithm(algorithm, {}))
        )

    assert isinstance(rows()["X"], np.ndarray)
    assert isinstance(rows()["y"], np.ndarray)
    assert isinstance(rows(unlabeled="more.csv")["X_unlabeled"], np.ndarray)
    assert isinstance(rows(algorithm="poise_test_models.py:mean")["X"], pd.DataFrame)
    text = rows(data="rows.csv", unlabeled="more.csv")
    assert isinstance(text["X"], pd.DataFrame)
    assert isinstance(text["X_unlabeled"], pd.DataFrame)


def test_parameters_may_stand_in_brackets() -> None:
    found = load_algorithm("sklearn.linear_model:Ridge(alpha=3.0)", {"solver": "lsqr"})
    assert (found.alpha, found.solver) == (3.0, "lsqr")
    assert load_algorithm("poise_test_models.py:mean(shift=2.0)").name == "mean(shift=2.0)"
    with pytest.raises(AlgorithmError, match="parameter 'alpha' is given twice"):
        load_algorithm("sklearn.linear_model:Ridge(alpha=3.0)", {"alpha": 2.0})
    with pytest.raises(AlgorithmError, match="parameters must look like"):
        load_algorithm("sklearn.linear_model:Ridge(3.0)")


@pytest.mark.parametrize(
    "place", ["model.joblib", "some/where/model.pkl", "model.PICKLE", "model.joblib:pipeline"]
)
def test_a_fitted_model_in_a_file_is_refused_with_the_reason(place) -> None:
    with pytest.raises(AlgorithmError, match=r"fitted model is not an algorithm.*runs.*Ridge\(alp"):
        load_algorithm(place)


def test_the_current_folder_is_not_searched_for_modules(folder: Path) -> None:
    (folder / "poise_test_beside.py").write_text("raise SystemExit('it was run')")
    with pytest.raises(AlgorithmError, match=r"name the file: poise_test_beside\.py:"):
        load_object("poise_test_beside:model")
    with pytest.raises(AlgorithmError, match=r"No module named 'poise_test_nowhere'$"):
        load_object("poise_test_nowhere:model")


def test_a_named_file_finds_its_neighbours_but_they_replace_nobody(folder: Path) -> None:
    (folder / "poise_test_neighbour.py").write_text("LEVEL = 3.0")
    (folder / "csv.py").write_text("raise SystemExit('it was run')")
    (folder / "poise_test_named.py").write_text(
        "import importlib, sys\n"
        "from poise_test_neighbour import LEVEL\n"
        "sys.modules.pop('csv', None)\n"
        "importlib.import_module('csv')\n"
    )
    try:
        assert load_object("poise_test_named.py:LEVEL") == 3.0
    finally:
        (folder / "csv.py").unlink()
