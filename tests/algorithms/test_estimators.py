"""Estimators and functions as algorithms: every fit is that of a loop by hand, bit for bit."""

from __future__ import annotations

import functools
import inspect
import math
import re
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.cluster import Birch, KMeans
from sklearn.compose import TransformedTargetRegressor
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    IsolationForest,
    RandomForestRegressor,
    StackingRegressor,
    VotingClassifier,
)
from sklearn.linear_model import ElasticNet, Lasso, LinearRegression, LogisticRegression, Ridge
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import GridSearchCV, KFold, RandomizedSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeRegressor
from sklearn.utils import all_estimators, get_tags
from threadpoolctl import threadpool_limits

from poise.algorithms.algorithm import RESPONSES, as_algorithm, seed_from
from poise.algorithms.distances import as_distance
from poise.algorithms.estimator import Estimator
from poise.algorithms.predictions import Undefined
from poise.data.sample import Sample
from poise.errors import AlgorithmError, ArgumentError

pytestmark = pytest.mark.filterwarnings("ignore")  # some are deprecated or do not converge


@pytest.fixture(autouse=True)
def one_thread():
    with threadpool_limits(1):
        yield


N, XI = 40, 0xF00D_FACE_CAFE_BEEF
GOLDEN = 0x9E3779B97F4A7C15
rng = np.random.default_rng(3)
X = rng.normal(size=(60, 4))
y = X[:, 0] + X[:, 1] ** 2 + 0.3 * rng.normal(size=60)
classes = np.array(["a", "b", "c"])[np.digitize(y, [0.3, 1.4])]


def by_hand(estimator, X, y, response="predict"):
    """Clone, set every seed, fit, ask: full and without the last row."""
    names = sorted(p for p in estimator.get_params() if p.split("__")[-1] == "random_state")
    seeds = {p: ((XI + i * GOLDEN) % 2**64) >> 33 for i, p in enumerate(names)}
    for stop in (N, N - 1):
        np.random.seed(1)  # noqa: NPY002 - as the engine does
        fitted = clone(estimator).set_params(**seeds).fit(X[:stop], y[:stop])
        yield getattr(fitted, response)(X[N:])


def by_poise(estimator, X, y, response="predict"):
    algorithm = as_algorithm(estimator, response).prepared(Sample.of(X, y))
    for stop in (N, N - 1):
        np.random.seed(1)  # noqa: NPY002 - as the engine does
        with algorithm.unchecked():
            yield algorithm.fit(X[:stop], y[:stop], XI)(X[N:])


def bits(answers) -> list[bytes]:
    return [np.asarray(answer).tobytes() for answer in answers]


# Every regressor and classifier of scikit-learn

# What makes a fit quick, and possible with forty rows.
SETTINGS = {"max_iter": 4, "n_estimators": 3, "cv": 2, "Cs": 2, "thresholds": 10}
SETTINGS |= {"max_subpopulation": 50, "nu": 0.2, "radius": 10.0}


def every_estimator():
    for kind in ("regressor", "classifier"):
        inner = LinearRegression() if kind == "regressor" else LogisticRegression()
        given = SETTINGS | {"estimator": inner, "estimators": [("inner", inner)]}
        for _, make in all_estimators(type_filter=kind):
            wanted = inspect.signature(make).parameters
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                yield make(**{name: given[name] for name in wanted if name in given})


def data_for(estimator):
    """Return rows and responses of the kind that this estimator asks for."""
    tags, name = get_tags(estimator), type(estimator).__name__
    several = not tags.target_tags.single_output or name in ("CCA", "PLSCanonical")
    rows = X[:, :1] if tags.input_tags.one_d_array else X
    if tags.input_tags.positive_only:
        rows = np.abs(X) if name != "CategoricalNB" else (X > 0).astype(int)
    found = np.column_stack([y, X[:, 2]]) if several else y
    if tags.target_tags.positive_only:
        found = np.exp(found)
    if tags.estimator_type == "classifier":
        cuts = [0.5] if several or not tags.classifier_tags.multi_class else [0.0, 1.0]
        found = np.digitize(found, cuts)
    return rows, found


def test_every_estimator_of_scikit_learn():
    names = set()
    for estimator in every_estimator():
        rows, found = data_for(estimator)
        for response in RESPONSES:
            try:
                expected = list(by_hand(estimator, rows, found, response))
            except AttributeError:
                continue
            got = list(by_poise(estimator, rows, found, response))
            if response == "predict_proba" and np.ndim(found) == 2:
                expected = map(outputs_side_by_side, expected)
            assert bits(got) == bits(expected), f"{estimator}.{response}"
            names.add(type(estimator).__name__)
    assert len(names) >= 95
    assert {"Ridge", "StackingRegressor", "ClassifierChain", "SVC", "MultiTaskLasso"} <= names


def outputs_side_by_side(answer):
    if isinstance(answer, list):
        return np.hstack(answer)
    return np.stack([1 - answer, answer], axis=2).reshape(len(answer), -1)


trees = [("tree", DecisionTreeRegressor(max_features=2)), ("ridge", Ridge())]
votes = [("tree", DecisionTreeClassifier(max_features=2)), ("naive", GaussianNB())]
NUMBERS = [
    make_pipeline(FeatureUnion([("pca", PCA(2)), ("all", "passthrough")]), Ridge()),
    GridSearchCV(DecisionTreeRegressor(), {"max_depth": [1, 3]}, cv=KFold(3, shuffle=True)),
    RandomizedSearchCV(Ridge(), {"alpha": np.logspace(-3, 3, 50)}, n_iter=3, cv=3),
    GridSearchCV(StackingRegressor(trees, cv=2), {"ridge__alpha": [0.1, 10.0]}, cv=2),
    BaggingRegressor(DecisionTreeRegressor(max_features=2), n_estimators=3),
]
CLASSES = [
    make_pipeline(StandardScaler(), LogisticRegression()),
    VotingClassifier(votes, voting="soft"),
    BaggingClassifier(LogisticRegression(), n_estimators=3, max_samples=0.7),
]


def test_composites():
    for estimator in NUMBERS:
        assert bits(by_poise(estimator, X, y)) == bits(by_hand(estimator, X, y)), estimator
    for estimator in CLASSES:
        for response in ("predict", "predict_proba"):
            got = bits(by_poise(estimator, X, classes, response))
            assert got == bits(by_hand(estimator, X, classes, response)), (estimator, response)


# Copies, seeds and threads


def test_the_users_object_is_never_changed():
    forest = RandomForestRegressor(2, n_jobs=2, random_state=np.random.RandomState(5))
    before = forest.random_state.get_state()[1].tolist()
    one, two, other = (Estimator(forest).fit(X, y, xi)(X).tolist() for xi in (XI, XI, 7 << 33))
    assert one == two != other
    assert forest.random_state.get_state()[1].tolist() == before
    assert forest.n_jobs == 2
    assert not hasattr(forest, "estimators_")


def test_a_fit_uses_one_thread_and_scikit_learns_none_is_left_alone():
    nested = make_pipeline(StandardScaler(), BaggingRegressor(RandomForestRegressor(n_jobs=4)))
    assert Estimator(nested)._copy(0)[-1].estimator.n_jobs == 1
    assert Estimator(LogisticRegression())._copy(0).n_jobs is None  # it warns of any number


class Seeded(RegressorMixin, BaseEstimator):
    """Spells its seed and its threads in other ways, and returns nothing from fit."""

    def __init__(self, random_seed=None, seed=0, nthread=8, part=None):
        self.random_seed, self.seed, self.nthread, self.part = random_seed, seed, nthread, part

    def fit(self, X, y):
        self.level_ = np.array([self.random_seed, self.seed, self.nthread])

    def predict(self, X):
        return np.tile(self.level_, (len(X), 1))


def test_other_spellings_and_nested_seeds():
    first, second, threads = Estimator(Seeded()).fit(X, y, XI)(X[:1])[0]
    assert (first, second) == (seed_from(XI), seed_from((XI + GOLDEN) % 2**64))
    assert threads == 1
    nested = Estimator(BaggingRegressor(Seeded(part=DecisionTreeRegressor())))._copy(XI)
    part, inner = nested.estimator.part, nested.estimator
    seeds = [part.random_state, inner.random_seed, inner.seed, nested.random_state]
    assert seeds == [seed_from((XI + i * GOLDEN) % 2**64) for i in range(4)]


def test_a_seed_is_left_alone_only_where_nothing_is_drawn_from_it():
    for make, name, none, some in (
        (Lasso, "selection", ["cyclic"], ["random"]),
        (ElasticNet, "selection", ["cyclic"], ["random"]),
        (LogisticRegression, "solver", ["lbfgs", "newton-cg", "newton-cholesky"], ["sag", "saga"]),
        (LogisticRegression, "solver", [], ["liblinear"]),
    ):
        for value in (*none, *some):
            given = {name: value, "random_state": 5}
            seed = Estimator(make(**given))._copy(XI).random_state
            assert seed == (5 if value in none else seed_from(XI)), given
        for value in none:
            responses = two if make is LogisticRegression else y
            fits = [make(**{name: value}, random_state=s).fit(X, responses) for s in (0, 1)]
            assert np.array_equal(*(fit.coef_ for fit in fits))


def test_a_tree_has_one_generator_a_run_and_meets_it_seeded_anew():
    trees = DecisionTreeRegressor(max_features=1), ExtraTreeRegressor(max_features=1)
    for tree in (*trees, DecisionTreeRegressor(splitter="random", random_state=5)):
        algorithm, sample = Estimator(tree), Sample.of(X, y)
        one, other = (algorithm.prepared(sample) for _ in range(2))
        assert one._copy(XI).random_state is one._copy(7).random_state
        assert one._copy(XI).random_state is not other._copy(XI).random_state  # in another thread
        for _ in range(2):
            assert bits(by_poise(tree, X, y)) == bits(by_hand(tree, X, y))
            assert bits([one.fit(X, y, XI)(X)]) == bits([other.fit(X, y, XI)(X)])
        kept, set_by_user = one.keeping_seeds()._copy(XI).random_state, tree.random_state
        assert kept == 5 if set_by_user else kept is one._generator


class Bare:
    """No tags, no parameters."""

    def fit(self, X, y):
        self.level = max(set(y), key=list(y).count)

    def predict(self, X):
        return [self.level] * len(X)


def test_estimators_that_know_no_tags_are_taken_at_their_word():
    numbers = Estimator(Bare()).prepared(Sample.of(X, y))
    assert numbers.natural_distance == "euclidean"
    assert numbers.fit(X, np.full(60, 2.0), 0)(X[:2]) == [2.0, 2.0]
    assert Estimator(Bare()).prepared(Sample.of(X, classes)).natural_distance == "labels only"


def test_checks_are_skipped_only_where_nothing_can_be_missed():
    import sklearn

    def relaxed(estimator, **rows):
        with Estimator(estimator).prepared(Sample.of(X, y, **rows)).unchecked():
            return sklearn.get_config()["assume_finite"]

    assert relaxed(Ridge())
    assert not relaxed(Ridge(), sample_weight=np.ones(60))
    assert not relaxed(make_pipeline(StandardScaler(), Ridge()))
    assert not relaxed(Seeded())


# What is known of an algorithm


def test_names_for_people_and_for_records():
    named = Estimator(LogisticRegression(C=2.0), "predict_proba").name
    assert named == "LogisticRegression(C=2.0).predict_proba"
    pipelines = [make_pipeline(*[PCA(2)] * 30, PCA(k), *[PCA(2)] * 30, Ridge()) for k in (2, 3)]
    values = [np.where(np.arange(5001) == 2500, a, 0.0) for a in (1, 2)]
    grids = [RandomizedSearchCV(Ridge(), {"alpha": each}) for each in values]
    for one, other in (map(Estimator, pipelines), map(Estimator, grids)):
        assert one.name == other.name
        assert one.identity != other.identity
    addressed = Estimator(TransformedTargetRegressor(Ridge(), func=by_hand))
    assert "0x" not in addressed.name + addressed.identity
    assert Estimator(Bare()).name == Estimator(Bare()).identity == "Bare()"
    described = Estimator(Seeded(part=Ridge(alpha=0.5), seed=1)).identity
    assert described.startswith("Seeded(nthread=8, part__alpha=0.5, part__copy_X=True, ")
    assert ", part=Ridge, " in described


def test_natural_distances_and_kinds():
    labels, numbers = np.column_stack([classes, classes == "a"]), np.column_stack([y, y])
    for estimator, response, of, known in [
        (Ridge(), "predict", y, ("euclidean", False, None, 1)),
        (IsolationForest(), "predict", y, ("label", False, None, 1)),
        (IsolationForest(), "decision_function", classes, ("euclidean", False, None, 1)),
        (LogisticRegression(), "predict", classes, ("label", True, 3, 1)),
        (LogisticRegression(), "predict_proba", classes, ("total_variation", True, 3, 1)),
        (LogisticRegression(), "decision_function", classes, ("euclidean", True, 3, 1)),
        (DecisionTreeClassifier(), "predict", labels, ("label", True, 6, 2)),
        (Ridge(), "predict", numbers, ("euclidean", False, None, 2)),
    ]:
        ready = Estimator(estimator, response).prepared(Sample.of(X, of))
        found = ready.natural_distance, ready.is_classifier, ready.n_classes, ready.n_outputs
        assert found == known


def test_numbers_of_clusters_are_refused_whatever_is_around_them():
    search = GridSearchCV(KMeans(3), {"n_clusters": [2, 3]})
    pipeline = make_pipeline(StandardScaler(), KMeans(3))
    for estimator in (KMeans(3), Birch(), GaussianMixture(3), pipeline, search):
        natural = Estimator(estimator).natural_distance
        for distance in ("auto", "label", "top_k(2, of=9)"):
            with pytest.raises(AlgorithmError, match=r"cluster_centers_.*invariant under renaming"):
                as_distance(distance, natural)
        assert as_distance(lambda a, b: 0.0, natural)([1], [2]) == [0.0]
    assert Estimator(GaussianMixture(), "predict_proba").natural_distance == natural
    assert Estimator(make_pipeline(KMeans(3), Ridge())).natural_distance == "euclidean"


def test_only_known_estimators_ignore_the_order_of_rows():
    known = [Ridge(), LinearRegression(), GaussianNB()]
    unknown = [Ridge(solver="sag"), LinearRegression(positive=True), KNeighborsRegressor()]
    own = type("Own", (Ridge,), {"__module__": "mine"})()
    unknown += [RandomForestRegressor(), make_pipeline(Ridge()), own]
    assert all(Estimator(each).ignores_row_order for each in known)
    assert not any(Estimator(each).ignores_row_order for each in unknown)


def test_code_from_outside_scikit_learn_is_noticed_at_any_depth():
    own = FunctionTransformer(lambda rows: rows)
    pure = [Ridge(), make_pipeline(StandardScaler(), Ridge()), *NUMBERS]
    search = GridSearchCV(Ridge(), {"alpha": [1.0]}, scoring=lambda *about: 0.0)
    others = [Seeded(), Bare(), search, make_pipeline(own, Ridge())]
    others += [make_pipeline(StandardScaler(), FeatureUnion([("own", own)]), Ridge())]
    assert not any(Estimator(each).has_own_code for each in pure)
    assert all(Estimator(each).has_own_code for each in others)


# Probabilities and scores: columns mean the same in both fits of a trial

two, points = (X[:, 0] + 0.5 * rng.normal(size=60) > 0).astype(int), X[50:54]


def asked(estimator, response, all_of_y, stop=60, y=None):
    """Fit on the first rows, knowing the classes of all of them."""
    algorithm = Estimator(estimator, response).prepared(Sample.of(X, all_of_y))
    return algorithm.fit(X[:stop], (all_of_y if y is None else y)[:stop], 0)(points)


def test_a_class_that_a_fit_did_not_see_has_probability_zero():
    y = np.where(np.arange(60) == 59, "b rare", np.where(two == 1, "c", "a"))
    full, reduced = (asked(GaussianNB(), "predict_proba", y, s) for s in (60, 59))
    by_hand = GaussianNB().fit(X[:59], y[:59]).predict_proba(points)
    assert reduced.tolist() == [[p, 0.0, q] for p, q in by_hand]
    assert (full == GaussianNB().fit(X, y).predict_proba(points)).all()
    assert (as_distance("total_variation")(full, reduced) <= 1).all()


class Smoothed(ClassifierMixin, BaseEstimator):
    """Gives a class that it does not name a share of what there is."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return np.tile([0.9, 0.1], (len(X), 1))


def test_columns_that_hold_something_but_have_no_class_are_undefined():
    with pytest.raises(Undefined, match=r"\['a'\] that this fit saw.*larger n.*response='predict'"):
        asked(Smoothed(), "predict_proba", np.resize(["a", "b"], 60), y=np.full(60, "a"))
    silent = type("Silent", (Smoothed,), {"fit": lambda self, X, y: self})()
    assert asked(silent, "predict_proba", two).tolist() == [[0.9, 0.1]] * 4  # of any classes


def test_each_of_several_outputs_is_aligned_by_its_own_classes():
    rare = np.where(np.arange(60) == 59, "rare", "common")
    both = np.column_stack([np.where(two == 1, "up", "down"), rare])
    tree = DecisionTreeClassifier(max_depth=2)
    full, reduced = (asked(tree, "predict_proba", both, s) for s in (60, 59))
    hand = tree.set_params(random_state=0).fit(X[:59], both[:59]).predict_proba(points)
    assert full.shape == reduced.shape == (4, 4)
    assert reduced.tolist() == np.column_stack([hand[0], np.ones(4), np.zeros(4)]).tolist()


def test_one_score_against_two_columns():
    """Two of three classes seen: the score is that of the second, the absent class has −∞."""
    y = np.resize([0, 1, 2], 60)
    seen = 2 * two
    got = asked(LogisticRegression(), "decision_function", y, y=seen)
    scores = LogisticRegression().fit(X, seen).decision_function(points)
    assert got.tolist() == [[0.0, -math.inf, s] for s in scores]
    everything = asked(LogisticRegression(), "decision_function", y)
    assert as_distance("auto")(got, everything).tolist() == [math.inf] * 4


def test_scores_of_fits_that_saw_every_class_are_left_alone():
    score = asked(LogisticRegression(), "decision_function", two)
    assert (score == LogisticRegression().fit(X, two).decision_function(points)).all()
    four = np.digitize(X[:, 0], [-0.7, 0.0, 0.7])
    pairwise = SVC(decision_function_shape="ovo")
    got = asked(pairwise, "decision_function", four)
    assert got.shape == (4, 6)
    assert (got == pairwise.fit(X, four).decision_function(points)).all()


# What can be given as an algorithm, and what is told to who gives something else


def test_functions_and_algorithms():
    def mean(X, y, seed, power=1):
        return lambda rows: [y.mean() ** power + seed] * len(rows)

    algorithm = as_algorithm(mean)
    assert algorithm.has_own_code
    assert algorithm.fit(X, y, 5 << 33)(X[:1]) == [y.mean() + 5]
    assert algorithm.fit(X, y, 0, power=2)(X[:1]) == [y.mean() ** 2]
    assert as_algorithm(algorithm) is algorithm
    assert as_algorithm(lambda X, y, seed: None).name == "a lambda"
    name = as_algorithm(functools.partial(mean, power=3)).name
    assert re.fullmatch(r"functools\.partial\(<function test_functions.*\.mean>, power=3\)", name)
    algorithm.prepared(Sample.of(X, y, fit_params={"power": 2}))
    for each in (algorithm, as_algorithm(Ridge())):
        with pytest.raises(AlgorithmError, match="weight"):
            each.prepared(Sample.of(X, y, fit_params={"weight": 2}))
    with pytest.raises(TypeError, match="must return a function from rows to predictions, got int"):
        as_algorithm(lambda X, y, seed: 3).fit(X, y, 0)


class Exits(Bare):
    def __repr__(self):
        raise SystemExit(0)


class BadTags(ClassifierMixin, BaseEstimator):
    fit, predict = Bare.fit, Bare.predict

    def __sklearn_tags__(self):
        raise SystemExit(0)


def test_what_is_no_algorithm_is_told_what_would_be():
    refused = [
        (Ridge, "predict", r"instance, not a class.*write Ridge\(\)"),
        ("ridge", "predict", "must be an estimator with fit and predict, or a function"),
        (SimpleNamespace(learn_one=0), "predict", "river.compat.convert_river_to_sklearn"),
        (StandardScaler(), "predict", r"must have a method predict\(X\).*pipeline"),
        (Ridge(), "predict_proba", "must have a method predict_proba.*response='predict'"),
        (lambda X, y: X, "predict", r"must accept \(X, y, seed\)"),
        (lambda X, y, seed: X, "predict_proba", "is for estimators"),
        (Exits(), "predict", "Exits cannot be described: SystemExit: 0"),
        (BadTags(), "predict", "BadTags cannot be described: SystemExit: 0"),
    ]
    for candidate, response, message in refused:
        with pytest.raises(AlgorithmError, match=message):
            as_algorithm(candidate, response)
    with pytest.raises(ArgumentError, match="response must be 'predict'"):
        as_algorithm(Ridge(), "transform")
