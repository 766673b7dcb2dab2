"""Warnings of fits: the caller's filters hold wherever fits run; each is shown once, counted."""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from joblib.externals.loky import get_reusable_executor

import poise
from poise.algorithms.fit_warnings import WarningFilter, current_filters
from poise.errors import TrialError

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(220, 2)), RNG.normal(size=220)
EVERYWHERE = [{}, {"n_jobs": 2}, {"n_jobs": 2, "backend": "threading"}]


def complaining(A: Any, b: Any, seed: int) -> Any:
    """Warns in every fit, twice and with other numbers, and in every second one of another."""
    for k in range(2):
        warnings.warn(f"no convergence after {len(b)} steps: {b.mean() * k}", stacklevel=1)
    if len(b) == 10:
        warnings.warn("ten rows", FutureWarning, stacklevel=1)
    return lambda rows: np.zeros(len(rows))


def heard(**settings: Any) -> list[tuple[str, str]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        poise.measure(complaining, X, Y, n=10, random_state=0, **settings)
    return [(warning.category.__name__, str(warning.message)) for warning in caught]


@pytest.mark.parametrize("settings", EVERYWHERE)
def test_a_warning_is_shown_once_with_the_number_of_fits(settings: dict[str, Any]) -> None:
    [(_, first), (category, second)] = heard(**settings)
    assert first.startswith("no convergence after")
    assert first.endswith("(in 40 of 40 fits)")
    assert (category, second) == ("FutureWarning", "ten rows (in 20 of 40 fits)")


@pytest.mark.parametrize("settings", EVERYWHERE)
def test_filters_of_the_caller_hold(settings: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        warnings.filterwarnings("error", "no convergence")
        with pytest.raises(TrialError, match="trial 0 failed: UserWarning: no convergence"):
            poise.measure(complaining, X, Y, n=10, random_state=0, **settings)
        warnings.filterwarnings("ignore", "no CONV")
        poise.measure(complaining, X, Y, n=10, random_state=0, **settings)


def test_filters_that_name_a_module_hold() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.filterwarnings("default", module=__name__, category=FutureWarning)
        poise.measure(complaining, X, Y, n=10, random_state=0)
    assert [str(warning.message) for warning in caught] == ["ten rows (in 20 of 40 fits)"]


def test_the_fit_that_is_repeated_at_the_end_is_not_counted() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        poise.stability_test(
            complaining, X[:11], Y[:11], n=10, epsilon=1.0, delta=0.96, random_state=0
        )
    said = [str(warning.message)[-16:] for warning in caught]
    assert said == ["(in 2 of 2 fits)", "(in 1 of 2 fits)"]


@pytest.mark.parametrize("settings", EVERYWHERE)
def test_fits_leave_everything_as_they_found_it(settings: dict[str, Any]) -> None:
    def careless(A: Any, b: Any, seed: int) -> Any:
        known = [np.geterr()["divide"], warnings.filters[0][0]]
        np.seterr(all="ignore")
        if "threading" not in settings.values():  # which share the filters while they run
            warnings.simplefilter("error")
            warnings.showwarning = lambda *rest: None
        return lambda rows: [float(known == ["raise", "ignore"])] * len(rows)

    def agree(full: Any, reduced: Any) -> float:
        return float(full + reduced)

    with np.errstate(divide="raise"), warnings.catch_warnings():
        warnings.simplefilter("ignore", ImportWarning)
        before = warnings.filters[:], warnings.showwarning, np.geterr()
        trials = poise.measure(careless, X, Y, n=10, distance=agree, **settings)
        assert (warnings.filters, warnings.showwarning, np.geterr()) == before
    assert set(trials.changes) == {2.0}


def test_a_check_says_it_once() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        poise.check_algorithm(complaining, X, Y, n=10, random_state=0)
    said = [str(warning.message) for warning in caught]
    assert sum("no convergence" in line for line in said) == 1


class Odd(UserWarning):
    """A category that cannot be made from a text."""

    def __init__(self, number: int, place: str) -> None:
        super().__init__(f"{number} at {place}")


def test_a_category_of_its_own_kind() -> None:
    def odd(A: Any, b: Any, seed: int) -> Any:
        warnings.warn(Odd(3, "home"), stacklevel=1)
        return lambda rows: np.zeros(len(rows))

    with pytest.warns(UserWarning, match=r"^Odd: 3 at home \(in 40 of 40 fits\)$"):
        poise.measure(odd, X, Y, n=10, random_state=0)


def test_a_filter_may_name_several_categories() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", (FutureWarning, UserWarning))  # as scikit-learn does
        first, second = current_filters()[:2]
    assert {first.category[1], second.category[1]} == {"FutureWarning", "UserWarning"}
    assert (first.action, second.action) == ("ignore", "ignore")


@pytest.fixture
def rare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """A module with a category of its own, which this process has imported."""
    code = "class Outer:\n    class Rare(UserWarning):\n        pass\n"
    (tmp_path / "rare_warnings.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("rare_warnings")
    del sys.modules["rare_warnings"]


def test_a_filter_imports_nothing_in_workers_and_holds_once_its_category_is_there(rare) -> None:
    get_reusable_executor().shutdown()  # new workers find the module as this process does

    def knows(A: Any, b: Any, seed: int) -> Any:
        known = "rare_warnings" in sys.modules
        warnings.warn("no category of the module", FutureWarning, stacklevel=1)
        return lambda rows: [float(known)] * len(rows)

    def imports(A: Any, b: Any, seed: int) -> Any:
        outer = importlib.import_module("rare_warnings").Outer
        warnings.warn("seldom", type("Rarer", (outer.Rare,), {}), stacklevel=1)
        return lambda rows: [0.0] * len(rows)

    def either(full: Any, reduced: Any) -> float:
        return float(full + reduced)

    settings: Any = {"n": 10, "random_state": 0, "n_jobs": 2, "backend": "loky"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", rare.Outer.Rare)
        assert not poise.measure(knows, X, Y, distance=either, **settings).changes.any()
        with pytest.raises(TrialError, match="trial 0 failed: Rarer: seldom"):
            poise.measure(imports, X, Y, **settings)


def test_filters_are_handed_on_from_where_their_category_is_unknown() -> None:
    elsewhere = WarningFilter("ignore", "", ("nowhere.to_be_found", "Outer.Rare"), "", 0)
    with warnings.catch_warnings():
        warnings.resetwarnings()
        elsewhere.install()
        WarningFilter("ignore", "", ("builtins", "NoSuchWarning"), "", 0).install()
        assert current_filters()[:-1] == (elsewhere,)
