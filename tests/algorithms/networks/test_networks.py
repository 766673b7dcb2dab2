"""Ready-made networks against scikit-learn's, and what users may ask of them."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import poise
from poise.algorithms.algorithm import Stack
from poise.algorithms.networks import gpu_kernel
from poise.algorithms.networks.adam import minibatches
from poise.algorithms.networks.perceptron import glorot
from poise.cli.load_algorithm import ignores_names, load_algorithm
from poise.data.sample import Sample
from poise.errors import AlgorithmError, ArgumentError, DataError
from poise.networks import logistic_regression, mlp_classifier, mlp_regressor

rng = np.random.default_rng(7)
X = rng.normal(size=(700, 4))
y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=700)
three = np.digitize(X[:, 0] + 0.5 * rng.normal(size=700), [-0.5, 0.5])


def scikit_learn_from_its_own_weights(estimator, targets, steps):
    """Let scikit-learn take one step, then ``steps`` more from there with a fresh Adam.

    Returns the weights after that first step, where our network is to start, and
    what scikit-learn predicts after the others.
    """
    estimator.set_params(max_iter=1, warm_start=True, tol=0.0, n_iter_no_change=10**6)
    with pytest.warns(ConvergenceWarning):
        estimator.fit(X[:60], targets[:60])
    start = [(w.copy(), b.copy()) for w, b in zip(*_layers(estimator), strict=True)]
    with pytest.warns(ConvergenceWarning):
        estimator.set_params(max_iter=steps).fit(X[:60], targets[:60])
    return start, estimator


def _layers(estimator):
    return estimator.coefs_, estimator.intercepts_


def trained(network, start, rows, targets):
    """Train in one program: operation by operation, each would be compiled by itself."""
    return jax.jit(lambda *given: network.trained(*given, None))(start, rows, targets)


@pytest.mark.parametrize(
    ("hidden", "activation"), [((16,), "relu"), ((8, 5), "tanh"), ((9,), "logistic")], ids=str
)
def test_training_is_that_of_scikit_learn(hidden, activation) -> None:
    arguments = {"activation": activation, "alpha": 0.3, "learning_rate_init": 0.01}
    sklearn = MLPRegressor(
        hidden_layer_sizes=hidden, batch_size=60, shuffle=False, random_state=0, **arguments
    )
    start, sklearn = scikit_learn_from_its_own_weights(sklearn, y, steps=80)
    network = mlp_regressor(
        hidden, steps=80, learning_rate=0.01, penalty=0.3, activation=activation
    ).compiled.fit_predict
    with jax.enable_x64(True):
        end = trained(network, start, X[:60], y[:60])
        ours = network.outputs(end, jnp.asarray(X[60:90]))[:, 0]
    np.testing.assert_allclose(ours, sklearn.predict(X[60:90]), rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("n", "d", "units", "activation"),
    [(37, 3, 5, "relu"), (16, 15, 16, "tanh"), (50, 20, 9, "logistic"), (33, 24, 40, "relu")],
)
def test_a_kernel_trains_as_the_compiler_does(n, d, units, activation) -> None:
    # What a GPU runs, interpreted; several networks at once, as trials are. A strong
    # penalty and padding in every direction, so that none of it goes unnoticed.
    network = mlp_regressor(
        units, steps=40, learning_rate=0.02, penalty=9.0, activation=activation
    ).compiled.fit_predict
    how = gpu_kernel.Training(40, 0.02, 9.0, activation, "float32")
    rows = jnp.asarray(rng.normal(size=(3, n, d)), jnp.float32)
    responses = jnp.asarray(rng.normal(size=(3, n)) + 2.0, jnp.float32)
    keys = jax.random.split(jax.random.key(0), 3)

    def both(key, X, y):
        start = glorot(key, (d, units, 1), X.dtype)
        return gpu_kernel.train(how, start, X, y, interpret=True), network.trained(
            start, X, y, None
        )

    in_one_kernel, compiled = jax.jit(jax.vmap(both))(keys, rows, responses)
    for ours, theirs in zip(*map(jax.tree.leaves, (in_one_kernel, compiled)), strict=True):
        assert ours.shape == theirs.shape
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=3e-5)


def test_networks_too_large_for_a_kernel_are_left_to_the_compiler() -> None:
    assert gpu_kernel.is_small(32, 128, "float32")
    assert not gpu_kernel.is_small(33, 128, "float32")
    assert not gpu_kernel.is_small(20, 64, "bfloat16")


def test_training_a_classifier_is_that_of_scikit_learn() -> None:
    sklearn = MLPClassifier(
        hidden_layer_sizes=(9,), batch_size=60, shuffle=False, random_state=0, alpha=0.1
    )
    start, sklearn = scikit_learn_from_its_own_weights(sklearn, three, steps=80)
    network = mlp_classifier((9,), classes=3, steps=80, penalty=0.1).compiled.fit_predict
    with jax.enable_x64(True):
        end = trained(network, start, X[:60], three[:60])
        ours = jax.nn.softmax(network.outputs(end, jnp.asarray(X[60:90])))
    np.testing.assert_allclose(ours, sklearn.predict_proba(X[60:90]), rtol=0, atol=1e-9)


@pytest.mark.parametrize(("solver", "penalty"), [("newton", 0.01), ("lbfgs", 1.0)])
def test_logistic_regression_is_that_of_scikit_learn(solver, penalty) -> None:
    for labels in (three, (three > 0).astype(int)):
        sklearn = make_pipeline(
            StandardScaler(), LogisticRegression(C=1 / penalty, tol=1e-12, max_iter=10_000)
        ).fit(X[:80], labels[:80])
        algorithm = logistic_regression(penalty=penalty, solver=solver)
        ours = algorithm.fit(X[:80], labels[:80], 0)(X[80:120])
        np.testing.assert_allclose(ours, sklearn.predict_proba(X[80:120]), rtol=0, atol=2e-6)


def test_logistic_regression_converges_where_newton_alone_would_not() -> None:
    """Nearly separable, hardly penalised: a full Newton step from zero overshoots."""
    rows = np.linspace(-1, 1, 12)[:, None] ** 3 * 100
    labels = (rows[:, 0] > 0).astype(int)
    labels[5] = 1
    algorithm = logistic_regression(penalty=1e-6, standardize=False)
    sklearn = LogisticRegression(C=1e6, solver="newton-cholesky", tol=1e-10, max_iter=1000)
    expected = sklearn.fit(rows, labels).predict_proba(rows)
    np.testing.assert_allclose(algorithm.fit(rows, labels, 0)(rows), expected, rtol=0, atol=1e-6)


def test_minibatches_pass_over_all_rows_before_any_comes_again() -> None:
    batches = np.asarray(minibatches(jax.random.key(3), rows=10, size=3, steps=8))
    assert batches.shape == (8, 3)
    passes = batches[:6].reshape(2, 9).tolist()
    assert [len(set(rows)) for rows in passes] == [9, 9]
    assert passes[0] != passes[1], "in a new order each time"
    assert set(batches.ravel().tolist()) <= set(range(10))


def test_a_minibatch_of_all_rows_is_the_full_batch_and_a_small_one_is_not() -> None:
    sizes = [{}, {"batch_size": 40}, {"batch_size": 7}]
    networks = [mlp_regressor(8, steps=30, learning_rate=0.01, **size) for size in sizes]
    everything, all_rows, one = (each.fit(X[:40], y[:40], 5)(X[40:45]) for each in networks)
    assert all_rows.tolist() == everything.tolist()
    same, other = (networks[2].fit(X[:40], y[:40], xi)(X[40:45]) for xi in (5, 2))
    assert np.abs(one - everything).min() > 1e-4
    assert one.tolist() == same.tolist() != other.tolist(), "minibatches depend on ξ"


def test_standardized_networks_do_not_see_units() -> None:
    network = mlp_regressor(8, steps=60, learning_rate=0.01, float64=True)
    metres = network.fit(X[:40], y[:40], xi=5)(X[40:45])
    feet = network.fit(1000 + 3.28 * X[:40], 7 - 50 * y[:40], xi=5)(1000 + 3.28 * X[40:45])
    assert np.ptp(metres) > 0.5
    mirrored = network.fit(X[:40], -y[:40], xi=5)(X[40:45])
    np.testing.assert_allclose(feet, 7 + 50 * mirrored, rtol=0, atol=1e-6)


def test_constant_columns_and_responses_are_harmless() -> None:
    """The mean of thirty times 0.1 is not quite 0.1: what is left must not be scaled up."""
    network = mlp_regressor(4, steps=20)

    def predictions(constant):
        rows = np.column_stack([X[:, 0], np.full(len(X), constant)])
        return network.fit(rows[:30], np.full(30, 0.7 + constant), xi=1)(rows[30:40])

    np.testing.assert_allclose(predictions(0.1), predictions(0.0) + 0.1, rtol=0, atol=1e-4)


def test_a_network_learns() -> None:
    network = mlp_regressor((32,), steps=400, learning_rate=0.01)
    predictions = network.fit(X[:500], y[:500], xi=3)(X[500:])
    assert np.mean((predictions - y[500:]) ** 2) < 0.5 * np.var(y)
    classifier = mlp_classifier((16,), classes=3, steps=200, learning_rate=0.01, response="predict")
    assert np.mean(classifier.fit(X[:500], three[:500], xi=3)(X[500:]) == three[500:]) > 0.6


@pytest.mark.parametrize("labels", [three, np.array(["low", "middle", "high"])[three]], ids=type)
def test_probabilities_or_labels(labels) -> None:
    names = sorted(set(labels.tolist()))
    arguments = {"hidden": 8, "classes": names, "steps": 20, "learning_rate": 0.05}
    vectors = mlp_classifier(**arguments).fit(X[:50], labels[:50], xi=0)(X[50:60])
    np.testing.assert_allclose(vectors.sum(axis=1), 1, rtol=1e-6)
    chosen = mlp_classifier(**arguments, response="predict").fit(X[:50], labels[:50], xi=0)(
        X[50:60]
    )
    assert chosen.tolist() == [names[k] for k in vectors.argmax(axis=1)]


def test_changes_of_classifiers() -> None:
    arguments = {"hidden": 8, "steps": 20, "learning_rate": 0.05, "float64": True}
    question = {"X": X, "y": three, "n": 15, "random_state": 0}
    network = mlp_classifier(**arguments)
    fast = poise.measure(network, **question)
    slow = poise.measure(network, **question, fast=False)
    np.testing.assert_allclose(fast.changes, slow.changes, rtol=0, atol=1e-9)
    assert 0 < fast.changes.max() <= 1
    labels = poise.measure(mlp_classifier(**arguments, response="predict"), **question)
    assert set(labels.changes.tolist()) == {0.0, 1.0}
    assert labels.changes.mean() < (fast.changes > 0).mean()


def test_classes_are_those_of_the_data_unless_given() -> None:
    network = logistic_regression()
    sample = Sample(X, np.array(["low", "middle", "high"])[three])
    prepared = network.prepared(sample)
    assert prepared.labels.classes.tolist() == ["high", "low", "middle"]
    assert network.prepared(sample) is prepared, "compiled once"
    few = slice(0, 6)
    vectors = prepared.fit(X[few], np.full(6, "low"), 0)(X[:2])
    assert vectors.shape == (2, 3), "also where rows miss a class"
    with pytest.raises(ArgumentError, match="two or more different labels"):
        network.prepared(Sample(X, np.zeros(700, dtype=int)))


def test_a_label_that_was_not_announced_is_refused_before_the_first_fit() -> None:
    stranger = np.where(np.arange(700) == 33, 2, three > 0)
    network = mlp_classifier(4, classes=2, steps=5)
    message = r"classes \[0, 1\] only, got 2 in row 33; name all classes"
    with pytest.raises(DataError, match=message):
        poise.measure(network, X, stranger, n=15)
    with pytest.raises(DataError, match=message):
        network.fit(X, stranger, 0)
    stack = Stack(*(np.zeros((3, 2, 1)), np.array([[0, 1], [2, 0], [1, 1]]), np.zeros((3, 1))),
                  *np.zeros((2, 3), dtype=np.uint64))  # fmt: skip
    assert network.batch().pairs(stack).trusted.tolist() == [True, False, True]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: mlp_regressor(hidden=(8, 0)), "hidden must be a whole number >= 1, got 0"),
        (lambda: mlp_regressor(steps=0), "steps must be a whole number >= 1, got 0"),
        (lambda: mlp_regressor(learning_rate=0), "learning_rate must be a finite number > 0"),
        (lambda: mlp_regressor(batch_size=0), "batch_size must be a whole number >= 1, got 0"),
        (lambda: mlp_regressor(penalty=-1), "penalty must be a finite number >= 0, got -1"),
        (lambda: mlp_regressor(activation="swish"), "activation must be one of 'relu'"),
        (lambda: mlp_regressor(precision="half"), "precision must be one of 'float32'"),
        (lambda: mlp_classifier(classes=1), "classes must be a whole number >= 2, got 1"),
        (lambda: mlp_classifier(classes=["a", "a"]), "two or more different labels"),
        (lambda: mlp_classifier(classes="ab"), "classes must be a number or a sequence"),
        (lambda: mlp_classifier(response="class"), "response must be one of 'predict_proba'"),
        (lambda: logistic_regression(penalty=0), "penalty must be a finite number > 0, got 0"),
        (lambda: logistic_regression(solver="sgd"), "solver must be one of 'newton', 'lbfgs'"),
    ],
)
def test_arguments_are_named_with_value_and_remedy(make, message) -> None:
    with pytest.raises(ArgumentError, match=message):
        make()


def test_the_name_says_what_was_chosen() -> None:
    assert mlp_regressor().name == "mlp_regressor(hidden=(64,))"
    name = mlp_regressor(32, steps=10, batch_size=5, standardize=False).name
    assert name == "mlp_regressor(hidden=(32,), steps=10, batch_size=5, standardize=False)"
    name = mlp_classifier((4, 4), classes=["b", "a", "c"], response="predict").name
    assert name == "mlp_classifier(hidden=(4, 4), response='predict', classes=['b', 'a', 'c'])"
    assert logistic_regression(solver="lbfgs").name == "logistic_regression(solver='lbfgs')"


def test_the_command_line_makes_networks_and_feeds_them_numbers() -> None:
    network = load_algorithm("poise.networks:mlp_regressor", {"hidden": (4,), "steps": 7})
    assert network.name == "mlp_regressor(hidden=(4,), steps=7)"
    assert ignores_names(network)
    with pytest.raises(AlgorithmError, match=r"no parameter 'hiden'; did you mean 'hidden'\?"):
        load_algorithm("poise.networks:mlp_regressor", {"hiden": (4,)})
    with pytest.raises(ArgumentError, match="steps must be a whole number >= 1"):
        load_algorithm("poise.networks:mlp_regressor", {"steps": 0})
