"""Boosting, statsmodels and river: fits are functions of (rows, ξ), on one thread, in silence."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import poise
from helpers import needs
from poise.algorithms.algorithm import seed_from
from poise.algorithms.estimator import Estimator
from poise.data.sample import Sample
from poise.errors import AlgorithmError

MODULES = ["lightgbm", "xgboost", "catboost", "statsmodels", "river"]
pytestmark = [needs(name) for name in MODULES]
XI = 0xF00D_FACE_CAFE_BEEF
GOLDEN = 0x9E3779B97F4A7C15
rng = np.random.default_rng(3)
X = rng.normal(size=(400, 4))
y = X[:, 0] + X[:, 1] ** 2 + 0.3 * rng.normal(size=400)

MAKE = """
def lightgbm():
    from lightgbm import LGBMRegressor
    return LGBMRegressor(n_estimators=4, min_child_samples=3, subsample=0.5, subsample_freq=1)

def xgboost():
    from xgboost import XGBRegressor
    return XGBRegressor(n_estimators=4, subsample=0.5, colsample_bytree=0.5, verbosity=2)

def catboost():
    from catboost import CatBoostRegressor
    return CatBoostRegressor(iterations=4, allow_writing_files=False)

def statsmodels():
    import statsmodels.api as sm
    def robust(X, y, seed):
        print("robust")
        fitted = sm.RLM(y, sm.add_constant(X, has_constant="add")).fit()
        return lambda rows: fitted.predict(sm.add_constant(rows, has_constant="add"))
    return robust

def river():
    from river import compat, linear_model, preprocessing
    return compat.convert_river_to_sklearn(
        preprocessing.StandardScaler() | linear_model.LinearRegression()
    )
"""
BOOSTERS, MADE = MODULES[:3], {}
exec(MAKE, MADE)


@pytest.mark.parametrize("library", MODULES)
@pytest.mark.filterwarnings("ignore:The first trial gives other predictions when its rows")
def test_a_fit_is_a_function_of_rows_and_seed_and_prints_nothing(library, capfd):
    algorithm = MADE[library]()
    asked = {"n": 40, "max_trials": 4, "points_per_trial": 2, "progress": False}
    first = poise.measure(algorithm, X, y, **asked)  # it is compared with a fresh process
    again = poise.measure(algorithm, X, y, **asked, check=False, n_jobs=2)
    np.testing.assert_array_equal(first.changes, again.changes)
    assert (first.changes > 0).any()
    assert all("order" in text for text in first.warnings)  # river learns row by row
    other = poise.measure(algorithm, X, y, **asked, check=False, coupling="independent")
    assert (other.changes != again.changes).any() == (library in BOOSTERS)
    assert capfd.readouterr() == ("", "")


def test_a_fit_is_that_by_hand():
    from catboost import CatBoostClassifier
    from lightgbm import LGBMClassifier
    from xgboost import XGBClassifier

    classes = np.digitize(y, [0.3, 1.4])
    few = {"n_estimators": 3, "random_state": seed_from(XI)}
    cat = CatBoostClassifier(**few, verbose=0, allow_writing_files=False)
    for made in (LGBMClassifier(**few, verbose=-1), XGBClassifier(**few), cat):
        for response in ("predict", "predict_proba"):
            algorithm = Estimator(made, response).prepared(Sample.of(X, classes))
            got = algorithm.fit(X[:300], classes[:300], XI)(X[300:])
            expected = getattr(made.fit(X[:300], classes[:300]), response)(X[300:])
            np.testing.assert_array_equal(got, expected)


def test_boosters_answer_two_columns_for_one_class():
    from lightgbm import LGBMClassifier
    from xgboost import XGBClassifier

    light, extreme = LGBMClassifier(n_estimators=2, verbose=-1), XGBClassifier(n_estimators=2)
    for made, names in ((light, "ab"), (light, "abc"), (extreme, [0, 1, 2])):
        all_of_y = np.resize(np.array([*names], object), 400)
        all_of_y = all_of_y if made is light else all_of_y.astype(int)
        algorithm = Estimator(made, "predict_proba").prepared(Sample.of(X, all_of_y))
        for seen in names[: 2 if made is light else 1]:
            got = algorithm.fit(X[:60], np.full_like(all_of_y[:60], seen), 0)(X[:4])
            expected = [[float(name == seen) for name in names]] * 4
            np.testing.assert_allclose(got, expected, atol=1e-5)


def test_catboost_lists_only_parameters_that_were_set_and_takes_one_name_for_each():
    from catboost import CatBoostRegressor

    for given in ({}, {"random_state": 3}, {"random_seed": 3, "thread_count": 2}):
        seed = "random_state" if "random_state" in given else "random_seed"
        made = CatBoostRegressor(iterations=2, **given)
        expected = made.get_params() | {seed: seed_from(XI), "thread_count": 1}
        assert Estimator(made)._copy(XI).get_params() == expected
        pipeline = Estimator(make_pipeline(StandardScaler(), made))._copy(XI)
        assert pipeline[-1].get_params() == expected
    coloured = CatBoostRegressor(cat_features=["colour"])
    with pytest.raises(AlgorithmError, match=r"cat_features as a tuple.*make it in a function"):
        Estimator(coloured).prepared(Sample.of(X, y))


def test_names_have_the_parameters_that_were_set_and_fits_one_thread():
    assert "None" not in Estimator(MADE["xgboost"]()).name
    assert [Estimator(MADE[name]())._copy(0).n_jobs for name in BOOSTERS[:2]] == [1, 1]
    assert "subsample=0.5" in Estimator(MADE["xgboost"]()).name
    assert Estimator(MADE["lightgbm"]()).name.startswith("LGBMRegressor(min_child_samples=3")
