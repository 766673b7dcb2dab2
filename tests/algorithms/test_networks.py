"""Functions and networks in JAX, against NumPy, scikit-learn and themselves one by one."""

from __future__ import annotations

import pickle
from functools import partial

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier, MLPRegressor

import poise
from helpers import needs
from poise.algorithms.distances import as_distance
from poise.data.sample import Sample
from poise.errors import AlgorithmError, ArgumentError

pytestmark = needs("optax")

rng = np.random.default_rng(7)
X = rng.normal(size=(700, 4))
y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=700)
three = np.digitize(X[:, 0] + 0.5 * rng.normal(size=700), [-0.5, 0.5])


def ridge(X, y, x, key):
    import jax.numpy as jnp

    return x @ jnp.linalg.solve(X.T @ X + jnp.eye(X.shape[1]), X.T @ y)


def noise(X, y, x, key):
    import jax

    return jax.random.normal(key)


def scores(X, y, x, key, n_classes):
    import jax
    import jax.numpy as jnp

    counts = jax.nn.one_hot(y, n_classes).sum(axis=0)
    return jnp.log(counts)


def layers_of(sklearn):
    return list(zip(sklearn.coefs_, sklearn.intercepts_, strict=True))


def trained_from_the_weights_of(sklearn, network, targets):
    """Let scikit-learn take a step, then as many as our network from there, with a fresh Adam."""
    import jax

    sklearn.set_params(max_iter=1, warm_start=True, tol=0.0, n_iter_no_change=10**6)
    with pytest.warns(ConvergenceWarning):
        sklearn.fit(X[:60], targets[:60])
    start = [(w.copy(), b.copy()) for w, b in layers_of(sklearn)]
    with pytest.warns(ConvergenceWarning):
        sklearn.set_params(max_iter=network.steps).fit(X[:60], targets[:60])
    with jax.enable_x64(True):
        train = jax.jit(lambda *given: network.trained(*given, jax.random.key(0)))
        layers = train(start, X[:60], targets[:60])
        return np.asarray(network.outputs(layers, X[60:90]))


def test_equals_the_same_formula_in_numpy():
    algorithm = poise.jax_algorithm(ridge, float64=True)
    trials = poise.measure(algorithm, X, y, n=20, shuffle=False, points_per_trial=2)
    assert trials.n_trials == 31

    def by_hand(rows, points):
        return points @ np.linalg.solve(X[rows].T @ X[rows] + np.eye(4), X[rows].T @ y[rows])

    for k in range(31):
        points = X[[31 * 20 + k, 31 * 21 + k]]
        full, reduced = (by_hand(slice(20 * k, 20 * k + n), points) for n in (20, 19))
        expected = np.abs(full - reduced)
        np.testing.assert_allclose(trials.changes[k, 0], expected, rtol=0, atol=1e-13)


def test_the_key_is_made_of_both_halves_of_xi_and_precision_is_as_asked():
    import jax

    xi = (123 << 32) + 7
    key = jax.random.wrap_key_data(np.array([123, 7], np.uint32), impl="threefry2x32")
    found = poise.jax_algorithm(noise).fit(X[:5], y[:5], xi)(X[:2])
    assert found.tolist() == [float(jax.random.normal(key))] * 2
    half = as_distance("auto")(*(jax.numpy.array([v], "bfloat16") for v in (100.0, 0.0)))
    assert half.tolist() == [100.0]
    for float64, kind in ((True, np.float64), (False, np.float32)):
        algorithm = poise.jax_algorithm(ridge, float64=float64)
        assert algorithm.fit(X[:9], y[:9], 0)(X[:2]).dtype == kind


def dropping():
    from torch import nn

    return nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Dropout(0.25), nn.Linear(6, 1))


@pytest.mark.parametrize("library", ["JAX", pytest.param("PyTorch", marks=needs("torch"))])
def test_bits_do_not_depend_on_company(library):
    if library == "JAX":
        network = poise.networks.mlp(16, steps=20, batch_size=7, at_once=3)
    else:
        given = {"loss": "mse", "steps": 12, "lr": 0.05, "device": "cpu"}
        network = poise.torch_algorithm(dropping, **given, batch_size=5, at_once=3)
    network = network.prepared(Sample.of(X, y))
    rows, terms = np.stack([X[k : k + 30] for k in range(3)]), np.arange(3, dtype=np.uint64)
    responses, points = np.stack([y[k : k + 30] for k in range(3)]), rows[:, :2].copy()
    first = network.many(rows, responses, points, terms)[1]
    for other in (0, 2):
        rows[other], responses[other], terms[other] = 7 * rows[other] + 1, 0.5, 99
    travelled = pickle.loads(pickle.dumps(network))  # as to a worker
    np.testing.assert_array_equal(travelled.many(rows, responses, points, terms)[1], first)
    alone = network.fit(rows[1], responses[1], 1)(points[1])
    np.testing.assert_allclose(first, alone, rtol=0, atol=3e-6)
    assert np.abs(network.fit(rows[1], responses[1], 2)(points[1]) - alone).max() > 1e-3


KINDS = [((16,), "relu", False), ((8, 5), "tanh", False), ((9,), "logistic", False)]


@pytest.mark.parametrize(("hidden", "activation", "classes"), [*KINDS, ((9,), "tanh", True)])
def test_training_is_that_of_scikit_learn(hidden, activation, classes):
    given = {"activation": activation, "alpha": 0.3, "learning_rate_init": 0.01}
    given |= {"batch_size": 60, "shuffle": False, "random_state": 0}
    sklearn = (MLPClassifier if classes else MLPRegressor)(hidden_layer_sizes=hidden, **given)
    more = {"learning_rate": 0.01, "penalty": 0.3, "activation": activation}
    network = poise.networks.mlp(hidden, classes=classes, steps=80, **more).fit_predict
    found = trained_from_the_weights_of(sklearn, network, three if classes else y)
    found = softmax(found, axis=1) if classes else found[:, 0]
    expected = (sklearn.predict_proba if classes else sklearn.predict)(X[60:90])
    # Adam's small constant is added at another place there.
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)


def test_units_of_rows_and_responses_do_not_matter():
    rows = np.column_stack([X, np.full(700, 0.1)])  # whose mean of thirty is not 0.1
    network = poise.networks.mlp(8, steps=100, float64=True)
    both, units = np.column_stack([y, -3 * X[:, 1]]), [1e3, 1e-3, 7, 2, 5]
    changes = poise.measure(network, rows, both, n=30).changes
    other = poise.measure(network, rows * units + 4, 1e3 * both - 50, n=30).changes
    np.testing.assert_allclose(other, 1e3 * changes, rtol=1e-6)
    assert changes.max() < 5


def test_minibatches_pass_over_all_rows_before_any_comes_again():
    import jax

    from poise.algorithms.networks import minibatches

    batches = np.asarray(minibatches(jax.random.key(3), 7, 2, 7))
    assert batches.shape == (7, 2)
    for first in (0, 3):
        assert len(set(batches[first : first + 3].ravel())) == 6
    assert minibatches(jax.random.key(3), 7, 7, 7) is None


@pytest.mark.parametrize(
    ("n", "d", "units", "activation"),
    [(37, 3, 5, "relu"), (16, 15, 16, "tanh"), (50, 20, 9, "logistic"), (33, 24, 40, "relu")],
)
def test_a_kernel_trains_as_the_compiler_does(n, d, units, activation):
    import jax

    from poise.algorithms import gpu_kernel
    from poise.algorithms.networks import glorot

    # What a GPU runs, interpreted, several networks at once. A strong penalty, and padding in every
    # direction, so that none of it goes unnoticed.
    given = {"steps": 40, "learning_rate": 0.02, "penalty": 3.0, "activation": activation}
    network = poise.networks.mlp(units, **given).fit_predict
    rows = rng.normal(size=(3, n, d)).astype(np.float32)
    responses = rng.normal(size=(3, n)).astype(np.float32) + 2

    def both(key, X, y):
        start = glorot(key, (d, units, 1), X.dtype)
        ours = gpu_kernel.train(network, start, X, y, interpret=True)
        return ours, network.trained(start, X, y, key)

    found = jax.jit(jax.vmap(both))(jax.random.split(jax.random.key(0), 3), rows, responses)
    for ours, theirs in zip(*map(jax.tree.leaves, found), strict=True):
        assert ours.shape == theirs.shape
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=3e-5)


def test_a_kernel_can_be_written_for_a_gpu():
    import jax

    from poise.algorithms import gpu_kernel

    network, zeros = poise.networks.mlp(64).fit_predict, partial(np.zeros, dtype=np.float32)
    start = [(zeros((8, 20, 64)), zeros((8, 64))), (zeros((8, 64, 1)), zeros((8, 1)))]
    train = jax.jit(jax.vmap(partial(gpu_kernel.train, network)))
    traced = train.trace(start, zeros((8, 200, 20)), zeros((8, 200)))
    written = traced.lower(lowering_platforms=("cuda",))
    assert "triton" in written.as_text()


def test_classes_are_those_of_all_rows():
    labels = np.array(["no", "yes"])[(X[:, 0] > 1.2).astype(int)]
    algorithm = poise.jax_algorithm(scores, classes=True, response="predict")
    trials = poise.measure(algorithm, X, labels, n=10)
    assert (trials.design.distance, trials.design.n_classes) == ("label", 2)
    signs = np.where(X[:, 0] > 0, "+", "-")
    network = poise.networks.mlp(8, classes=True, response="predict", learning_rate=0.01)
    learnt = network.prepared(Sample.of(X, signs)).fit(X[:300], signs[:300], 0)(X[300:])
    assert (learnt == signs[300:]).mean() > 0.9
    soft = poise.jax_algorithm(scores, classes=True).prepared(Sample.of(X, labels))
    assert soft.fit(X[:4], labels[[0, 0, 0, 0]], 0)(X[:1]).tolist() == [[1.0, 0.0]]


def test_what_cannot_work_is_refused_before_the_first_fit():
    text = np.full((700, 1), "a")
    for refused, words in (
        (lambda: poise.jax_algorithm(lambda X, y: 0.0), "must accept"),
        (lambda: poise.measure(poise.networks.mlp(), text, y, n=9), "X must hold numbers for JAX"),
        (lambda: poise.measure(poise.networks.mlp(), X, three.astype(str), n=9), "classes=True"),
        (lambda: poise.networks.mlp(0), "hidden must be a whole number >= 1"),
        (lambda: poise.networks.mlp(activation="sine"), "activation must be 'relu'"),
    ):
        with pytest.raises((AlgorithmError, ArgumentError), match=words):
            refused()
    with pytest.raises(AlgorithmError, match="sample_weight"):
        poise.measure(poise.networks.mlp(), X, y, n=9, sample_weight=np.ones(700))
    assert poise.networks.mlp().name == "mlp(hidden=[64])"
    network = poise.networks.mlp((8, 5), steps=20, classes=True, float64=True)
    assert network.name == "mlp(hidden=[8, 5], classes=True, steps=20, float64=True)"
