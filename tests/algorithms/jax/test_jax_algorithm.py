"""JAX functions as algorithms: the same numbers however divided, the same rules as any other."""

from __future__ import annotations

import pickle

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import poise
from poise.algorithms.distance import DISTANCES
from poise.data.sample import Sample
from poise.errors import AlgorithmError, ArgumentError, TrialError
from poise.procedures.split_of_rows import Split, TrialSizes
from poise.protocol.randomness import Randomness, Shared
from poise.running.tasks import ComparisonWork
from poise.shortcuts.fast_path import batched
from shared.data import linear_rows

X, y = linear_rows(1200, [1.0, -2.0, 0.5], 20)


def ridge(X, y, x, key):
    return x @ jnp.linalg.solve(X.T @ X + jnp.eye(X.shape[1]), X.T @ y)


def noisy_mean(X, y, x, key):
    return jnp.mean(y) + jax.random.normal(key)


def network(X, y, x, key):
    """Twenty steps of descent on a random tanh network: many sums, in which rounding adds up."""

    def loss(weights):
        return jnp.mean((jnp.tanh(X @ weights).sum(axis=1) - y) ** 2)

    start = jax.random.normal(key, (X.shape[1], 16))
    end = jax.lax.fori_loop(0, 20, lambda _, w: w - 0.05 * jax.grad(loss)(w), start)
    return jnp.tanh(x @ end).sum()


def fails_sometimes(X, y, x, key):
    """Not a number where the first response is large, in both fits of a trial."""
    return jnp.where(y[0] > 2.5, jnp.nan, jnp.mean(y))


def batched_work(algorithm, n):
    sample = Sample(X, y)
    m = len(X) // (n + 1)
    split = Split(TrialSizes(n, m, len(X), 0), Randomness(5), Shared())
    work = ComparisonWork(algorithm, sample, split, True, DISTANCES["euclidean"])
    return batched(work, algorithm.batch(), (0.0,))


def test_equals_the_same_formula_in_numpy() -> None:
    trials = poise.measure(poise.jax_algorithm(ridge, float64=True), X, y, n=20, shuffle=False)

    def by_hand(rows, point):
        return point @ np.linalg.solve(X[rows].T @ X[rows] + np.eye(3), X[rows].T @ y[rows])

    m = trials.n_trials
    assert m == 57
    for k in range(m):
        point = X[m * 20 + k]
        full, reduced = slice(20 * k, 20 * k + 20), slice(20 * k, 20 * k + 19)
        change = abs(by_hand(full, point) - by_hand(reduced, point))
        assert trials.changes[k] == pytest.approx(change, rel=0, abs=1e-13)


@pytest.mark.parametrize(("float64", "tolerance"), [(True, 1e-11), (False, 1e-3)])
def test_all_at_once_equals_fit_by_fit_up_to_rounding(float64, tolerance) -> None:
    algorithm = poise.jax_algorithm(network, float64=float64)
    fast = poise.measure(algorithm, X, y, n=25, random_state=0)
    slow = poise.measure(algorithm, X, y, n=25, random_state=0, fast=False)
    assert fast.changes.max() > 0.1, "far above the tolerance"
    np.testing.assert_allclose(fast.changes, slow.changes, rtol=0, atol=tolerance)


def test_precision_is_as_asked_and_otherwise_as_configured() -> None:
    seen = []

    def spy(X, y, x, key):
        seen.append((X.dtype.name, y.dtype.name, x.dtype.name))
        return y.mean()

    for float64 in (None, True, False):
        poise.jax_algorithm(spy, float64=float64).fit(X[:4], [1, 2, 3, 4], 0)(X[:1])
    assert seen == [("float32",) * 3, ("float64",) * 3, ("float32",) * 3]


def test_bits_do_not_depend_on_which_trials_are_computed_together() -> None:
    work = batched_work(poise.jax_algorithm(network, memory=50_000), n=11)
    count = len(work.tasks)
    assert 2 <= work.grain < count // 2, "several blocks"
    assert count % work.grain, "the last of which has to be filled up"
    blocks = np.concatenate(list(work(0, count)))
    alone = np.concatenate([work.changes(k, k + 1)[0] for k in range(count)])
    threes = np.concatenate([work.changes(k, min(k + 3, count))[0] for k in range(0, count, 3)])
    assert blocks.tolist() == alone.tolist() == threes.tolist()


def test_same_seed_same_bits_whatever_n_jobs() -> None:
    algorithm = poise.jax_algorithm(network, memory=100_000)
    arguments = {"X": X, "y": y, "n": 14, "random_state": 3}
    first, again = (poise.measure(algorithm, **arguments) for _ in range(2))
    threads = poise.measure(algorithm, **arguments, n_jobs=2)
    assert first.changes.tolist() == again.changes.tolist()
    assert first.changes.tolist() == threads.changes.tolist()
    other = poise.measure(algorithm, X, y, n=14, random_state=4)
    assert first.changes.tolist() != other.changes.tolist()


def test_the_key_is_made_of_both_halves_of_xi() -> None:
    xi = Randomness(9).words("xi", 0)
    assert xi >> 32
    halves = np.array([xi >> 32, xi & 0xFFFFFFFF], dtype=np.uint32)
    draw = jax.random.normal(jax.random.wrap_key_data(halves, impl="threefry2x32"))
    predict = poise.jax_algorithm(noisy_mean).fit(X[:5], y[:5], xi)
    np.testing.assert_allclose(predict(X[:2]), np.mean(y[:5]) + float(draw), rtol=0, atol=1e-6)


def test_coupling_decides_whether_both_fits_share_a_key() -> None:
    algorithm = poise.jax_algorithm(noisy_mean, float64=True)
    mean_alone = poise.jax_algorithm(lambda X, y, x, key: jnp.mean(y), float64=True)
    arguments = {"X": X, "y": y, "n": 30, "random_state": 1}
    shared = poise.measure(algorithm, **arguments).changes
    expected = poise.measure(mean_alone, **arguments).changes
    np.testing.assert_allclose(shared, expected, rtol=0, atol=1e-12)
    independent = poise.measure(algorithm, **arguments, coupling="independent").changes
    # The difference of two standard normal draws exceeds 0.6 with probability .67; in
    # 38 trials fewer than 11 times with probability 3e-7. The means alone hardly differ.
    assert (independent > 0.6).sum() >= 11 > (expected > 0.5).sum()


def test_stopping_early_gives_the_verdict_of_the_full_run() -> None:
    algorithm = poise.jax_algorithm(network, memory=100_000)
    for epsilon in (0.01, 0.3, 1.0, 3.0):
        question = {"n": 14, "epsilon": epsilon, "delta": 0.2, "random_state": 0}
        early = poise.stability_test(algorithm, X, y, **question)
        whole = poise.stability_test(algorithm, X, y, **question, stop_early=False)
        assert early.verdict == whole.verdict
        assert early.n_fits <= whole.n_fits
    assert poise.stability_test(algorithm, X, y, **question).n_fits < whole.n_fits


def test_a_prediction_that_is_not_a_number_is_a_failed_trial() -> None:
    algorithm = poise.jax_algorithm(fails_sometimes)
    arguments = {"X": X, "y": y, "n": 12, "shuffle": False}
    m = len(X) // 13
    expected = (y[: 12 * m : 12] > 2.5).tolist()
    assert 0 < sum(expected) < m
    with pytest.raises(TrialError, match=f"trial {expected.index(True)} failed.*not a number"):
        poise.measure(algorithm, **arguments)
    trials = poise.measure(algorithm, **arguments, on_error="unstable")
    assert np.isinf(trials.changes).tolist() == expected
    slow = poise.measure(algorithm, **arguments, on_error="unstable", fast=False)
    np.testing.assert_allclose(trials.changes, slow.changes, rtol=0, atol=1e-6)


def test_vectors_are_compared_by_their_euclidean_distance() -> None:
    def both(X, y, x, key):
        return jnp.stack([jnp.mean(y), 2 * jnp.mean(y)])

    arguments = {"X": X, "y": y, "n": 30, "random_state": 1}
    vectors = poise.measure(poise.jax_algorithm(both, float64=True), **arguments)
    numbers = poise.measure(
        poise.jax_algorithm(lambda X, y, x, key: jnp.mean(y), float64=True), **arguments
    )
    np.testing.assert_allclose(vectors.changes, np.sqrt(5) * numbers.changes, rtol=1e-9)
    with pytest.raises(TrialError, match="must be single numbers"):
        poise.measure(poise.jax_algorithm(both), **arguments, distance="absolute")
    matrices = poise.jax_algorithm(lambda X, y, x, key: X[:2])
    with pytest.raises(TrialError, match=r"a number or a vector, got an array of shape \(2, 3\)"):
        poise.measure(matrices, **arguments)


def broken(X, y, x, key):
    raise ZeroDivisionError("while it is traced")


@pytest.mark.parametrize(
    "function",
    [broken, lambda X, y, x, key: None, lambda X, y, x, key: {"a": y[0]}, lambda X, y, x, key: y],
    ids=["raises", "nothing", "a dictionary", "too long"],
)
@pytest.mark.parametrize("fast", [True, False])
def test_what_a_function_does_wrong_is_a_failed_trial(function, fast) -> None:
    algorithm = poise.jax_algorithm(function)
    arguments = {"X": X, "y": y, "n": 300, "random_state": 1, "fast": fast}
    with pytest.raises(TrialError, match="trial 0 failed"):
        poise.measure(algorithm, **arguments)
    trials = poise.measure(algorithm, **arguments, on_error="unstable")
    assert np.isinf(trials.changes).all()


@pytest.mark.parametrize("kind", [jnp.int32, jnp.bool_])
def test_vectors_of_whole_numbers_and_truths(kind) -> None:
    algorithm = poise.jax_algorithm(lambda X, y, x, key: jnp.stack([y[-1], x[0]]).astype(kind))
    fast, slow = (
        poise.measure(algorithm, X, y, n=30, random_state=1, fast=fast) for fast in (True, False)
    )
    assert fast.changes.tolist() == slow.changes.tolist()


def test_distance_between_labels_is_asked_for_by_name() -> None:
    mean = poise.jax_algorithm(lambda X, y, x, key: jnp.round(jnp.mean(y)))
    trials = poise.measure(mean, X, y, n=8, random_state=0, distance="label")
    slow = poise.measure(mean, X, y, n=8, random_state=0, distance="label", fast=False)
    assert set(trials.changes.tolist()) == {0.0, 1.0}
    assert trials.changes.tolist() == slow.changes.tolist()


def test_results_say_that_all_trials_were_computed_at_once() -> None:
    algorithm = poise.jax_algorithm(ridge, name="my ridge")
    assert algorithm.name == "my ridge"
    assert poise.jax_algorithm(ridge).name == "ridge"
    assert poise.as_algorithm(algorithm) is algorithm
    assert algorithm.batch().name == "JAX, all trials at once (cpu)"


def test_unpickling_twice_compiles_once() -> None:
    algorithm = poise.jax_algorithm(ridge, name="r", memory=1000, float64=True)
    text = pickle.dumps(algorithm)
    first, second = pickle.loads(text), pickle.loads(text)
    assert first is second
    assert (first.name, first.memory, first.compiled.float64) == ("r", 1000, True)
    assert first.fit(X[:9], y[:9], 0)(X[:1]) == algorithm.fit(X[:9], y[:9], 0)(X[:1])


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda X, y, seed: 0.0, r"must accept \(X, y, x, key\)"),
        (3.0, r"must be a function \(X, y, x, key\), got 3.0"),
    ],
)
def test_what_cannot_be_called_is_refused(function, message) -> None:
    with pytest.raises(AlgorithmError, match=message):
        poise.jax_algorithm(function)


def test_arguments_are_checked_before_anything_is_compiled() -> None:
    with pytest.raises(ArgumentError, match="memory must be a whole number >= 1, got 0"):
        poise.jax_algorithm(ridge, memory=0)
    words = np.array(["a", "b"] * 600)
    with pytest.raises(ArgumentError, match="y must hold numbers only"):
        poise.measure(poise.jax_algorithm(ridge), X, words, n=10)


@pytest.mark.parametrize("function", [ridge, lambda X, y, x, key: jnp.stack([x @ x, y.mean()])])
def test_several_points_of_a_trial_are_predicted_from_one_training(function) -> None:
    algorithm = poise.jax_algorithm(function, float64=True)
    settings = {"n": 20, "points": 3, "random_state": 0, "X_unlabeled": X[:120] + 9.0}
    fast = poise.measure(algorithm, X, y, **settings)
    fits = poise.measure(algorithm, X, y, **settings, fast=False)
    assert fast.design.path.startswith("JAX, all trials at once")
    assert fast.changes.shape == (57, 1, 3)
    np.testing.assert_allclose(fast.changes, fits.changes, atol=1e-12)


def test_the_first_of_several_removals_is_that_of_a_trial_with_one() -> None:
    algorithm = poise.jax_algorithm(lambda X, y, x, key: jnp.mean(y), float64=True)
    settings = {"n": 20, "points": 2, "random_state": 0, "X_unlabeled": X[:120] + 9.0}
    one = poise.measure(algorithm, X, y, **settings)
    two = poise.measure(algorithm, X, y, **settings, removals=2)
    assert two.design.path.startswith("JAX, all trials at once")
    assert two.changes.shape == (len(one.changes), 2, 2)
    np.testing.assert_allclose(one.changes[:, 0], two.changes[:, 0], atol=1e-12)


def test_all_removals_are_computed_together() -> None:
    """Each with the removed row moved last, in blocks of one size however they are divided."""

    def first_row(X, y, x, key):
        return y[0] + jnp.mean(y) * x[0]  # the order of the rows matters

    algorithm = poise.jax_algorithm(first_row, float64=True, memory=4000)
    settings = {"n": 9, "removals": "all", "points": 2, "random_state": 0}
    fast = poise.measure(algorithm, X[:200], y[:200], **settings)
    fits = poise.measure(algorithm, X[:200], y[:200], **settings, fast=False)
    assert fast.design.path.startswith("JAX, all trials at once")
    assert fast.changes.shape == (18, 9, 2)
    np.testing.assert_allclose(fast.changes, fits.changes, atol=1e-12)
    again = poise.measure(algorithm, X[:200], y[:200], **settings, n_jobs=2)
    assert again.changes.tolist() == fast.changes.tolist()


def test_the_memory_of_a_trial_is_about_what_the_compiler_needs() -> None:
    ours = poise.jax_algorithm(ridge).compiled
    rows = np.zeros((1, 200, 20)), np.zeros((1, 200)), np.zeros((1, 20))
    compiled = ours.full.lower(*rows, np.zeros((1, 2), dtype=np.uint32)).compile()
    needed = compiled.memory_analysis().temp_size_in_bytes
    assert needed / 2 < ours.workspace_bytes(200, 20, np.float64) < 2 * needed
