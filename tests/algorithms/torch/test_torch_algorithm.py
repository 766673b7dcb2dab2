"""Modules of PyTorch as algorithms: the same numbers however divided, and as if trained alone."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import torch
from torch import nn
from torch.func import functional_call, grad

import poise
from poise.algorithms.algorithm import Stack
from poise.algorithms.distance import DISTANCES
from poise.algorithms.library_versions import versions_that_compute
from poise.algorithms.torch.initial_weights import drawn_weights
from poise.algorithms.torch.random_numbers import RandomNumbers, uniform
from poise.data.sample import Sample
from poise.errors import AlgorithmError, ArgumentError, DataError, PoiseWarning
from poise.procedures.split_of_rows import Split, TrialSizes
from poise.protocol.randomness import Randomness, Shared
from poise.running.tasks import ComparisonWork
from poise.shortcuts.fast_path import batched
from shared.data import linear_rows

X, y = linear_rows(400, [1.0, -2.0, 0.5], 20)
three = np.digitize(X[:, 0], [-0.5, 0.5])


def perceptron(outputs=1):
    return nn.Sequential(nn.Linear(3, 6), nn.Tanh(), nn.Dropout(0.25), nn.Linear(6, outputs))


def scorer():
    return perceptron(3)


SETTINGS = {"loss": "mse", "lr": 0.05, "steps": 12, "device": "cpu"}
whole = poise.torch_algorithm(perceptron, **SETTINGS)
minibatches = poise.torch_algorithm(perceptron, **SETTINGS, batch_size=4)


def stack_of(trials, n=10, labels=y):
    rows = np.arange(trials * n).reshape(trials, n)
    terms = Randomness(3).block("xi", 0, trials)[:, 0]
    return Stack(X[rows], labels[rows], X[-trials:], terms, terms)


def both_by_hand(seed):
    """Train as everybody does in PyTorch; from the same weights, without poise."""
    found = []
    for n in (10, 9):
        torch.manual_seed(seed >> 1)
        module = nn.Sequential(nn.Linear(3, 6), nn.Tanh(), nn.Linear(6, 1))
        optimizer = torch.optim.Adam(module.parameters(), lr=0.05)
        rows, responses = (torch.tensor(part[:n], dtype=torch.float32) for part in (X, y))
        for _ in range(12):
            optimizer.zero_grad()
            ((module(rows)[:, 0] - responses) ** 2).mean().backward()
            optimizer.step()
        point = torch.tensor(X[-1:], dtype=torch.float32)
        found.append(module(point).item())
    return found


def test_copies_are_trained_as_a_module_by_itself() -> None:
    """By PyTorch's own optimiser, from the weights that its seed gives."""
    algorithm = poise.torch_algorithm(
        lambda: nn.Sequential(nn.Linear(3, 6), nn.Tanh(), nn.Linear(6, 1)), **SETTINGS
    )
    stack = stack_of(3)
    stack = stack._replace(x=np.repeat(X[-1:], 3, axis=0))
    full, reduced = algorithm.fit_all(stack)
    expected = both_by_hand(int(stack.xi[0]))
    np.testing.assert_allclose([full[0], reduced[0]], expected, rtol=0, atol=3e-6)
    assert abs(expected[0] - expected[1]) > 1e-3, "far above the tolerance"
    alone = algorithm.fit(X[:10], y[:10], int(stack.xi[0]))(X[-1:])
    np.testing.assert_allclose(alone, expected[:1], rtol=0, atol=3e-6)


@pytest.mark.parametrize("algorithm", [whole, minibatches], ids=["all rows", "minibatches"])
def test_dropout_and_minibatches_are_the_same_together_and_alone(algorithm) -> None:
    stack = stack_of(3)
    full, reduced = algorithm.fit_all(stack)
    for k, term in enumerate(stack.xi.tolist()):
        for n, found in ((10, full), (9, reduced)):
            alone = algorithm.fit(stack.X[k, :n], stack.y[k, :n], term)(stack.x[k : k + 1])
            np.testing.assert_allclose(found[k], alone[0], rtol=0, atol=3e-6)
    assert np.ptp(full) > 0.1


def test_bits_do_not_depend_on_which_trials_are_computed_together() -> None:
    algorithm = poise.torch_algorithm(perceptron, **SETTINGS, batch_size=4, memory=20_000)
    sample, n = Sample(X, y), 11
    split = Split(TrialSizes(n, len(X) // (n + 1), len(X), 0), Randomness(5), Shared())
    plain = ComparisonWork(algorithm, sample, split, True, DISTANCES["euclidean"])
    work = batched(plain, algorithm.batch(), (0.0,))
    count = len(work.tasks)
    assert 2 <= work.grain < count // 2, "several blocks"
    assert count % work.grain, "the last of which has to be filled up"
    blocks = np.concatenate(list(work(0, count)))
    threes = np.concatenate([work.changes(k, min(k + 3, count))[0] for k in range(1, count, 3)])
    assert blocks[1:].tolist() == threes.tolist()


def test_one_seed_and_any_number_of_jobs() -> None:
    question = {"X": X, "y": y, "n": 14, "random_state": 3}
    before = torch.get_rng_state()
    first = poise.measure(minibatches, **question)
    assert first.design.path == "PyTorch, all trials at once (cpu)"
    assert (
        first.changes.tolist() == poise.measure(minibatches, **question, n_jobs=2).changes.tolist()
    )
    assert torch.equal(before, torch.get_rng_state()), "the user's generator is left alone"
    other = poise.measure(minibatches, **{**question, "random_state": 4})
    assert first.changes.tolist() != other.changes.tolist()


def test_coupling_decides_whether_both_fits_share_a_start() -> None:
    def start():
        return nn.Linear(3, 1, bias=False)

    still = poise.torch_algorithm(start, loss="mse", lr=1e-9, steps=1, device="cpu")
    question = {"X": X, "y": y, "n": 12, "random_state": 1}
    assert poise.measure(still, **question).changes.max() < 1e-6
    assert np.median(poise.measure(still, **question, coupling="independent").changes) > 0.1


def test_classes_are_those_of_the_data() -> None:
    names = np.array(["low", "middle", "high"])[three]
    settings = {**SETTINGS, "loss": "cross_entropy"}
    vectors = poise.torch_algorithm(scorer, **settings).fit(X[:30], names[:30], xi=5)(X[30:40])
    np.testing.assert_allclose(vectors.sum(axis=1), 1, rtol=1e-6)
    chosen = poise.torch_algorithm(scorer, **settings, response="predict")
    labels = np.array(["high", "low", "middle"])[vectors.argmax(axis=1)]
    assert chosen.fit(X[:30], names[:30], xi=5)(X[30:40]).tolist() == labels.tolist()
    changes = poise.measure(chosen, X, names, n=20, random_state=0).changes
    assert set(changes.tolist()) <= {0.0, 1.0}
    own = poise.torch_algorithm(
        scorer, loss=lambda o, t: nn.functional.cross_entropy(o, t), steps=3, classes=3
    )
    trials = poise.measure(own, X, three, n=20, random_state=0, distance="total_variation")
    assert 0 < trials.changes.max() < 1
    with pytest.raises(DataError, match=r"classes \[0, 1, 2\] only, got 3 in row 2"):
        own.fit(X[:3], np.array([0, 1, 3]), 0)


LINEAR = nn.Linear(3, 1)


def descend(state, batch, generator):
    """The lower level: three steps by hand on rows in random order, from other weights."""
    rows = generator.permutation(len(batch[0]))

    def loss(now, X, y):
        return ((functional_call(LINEAR, now, (X,))[:, 0] - y) ** 2).mean()

    state = {name: generator.normal(*value.shape) for name, value in state.items()}
    for step in range(3):
        some = rows[3 * step : 3 * step + 3]
        slope = grad(loss)(state, batch[0][some], batch[1][some])
        state = {name: value - 0.05 * slope[name] for name, value in state.items()}
    return state


def test_a_training_of_your_own() -> None:
    algorithm = poise.torch_algorithm(lambda: nn.Linear(3, 1), train=descend, device="cpu")
    stack = stack_of(4)
    full, reduced = algorithm.fit_all(stack)
    for k, term in enumerate(stack.xi.tolist()):
        alone = algorithm.fit(stack.X[k, :9], stack.y[k, :9], term)(stack.x[k : k + 1])
        np.testing.assert_allclose(reduced[k], alone[0], rtol=0, atol=3e-6)
    assert len(set(full.tolist())) == 4
    assert "trained by descend" in algorithm.name


def test_images_and_several_points() -> None:
    def convolution():
        return nn.Sequential(nn.Conv2d(1, 2, 2), nn.Dropout2d(0.5), nn.Flatten(), nn.Linear(8, 1))

    rows = np.random.default_rng(0).normal(size=(120, 9))
    algorithm = poise.torch_algorithm(convolution, **SETTINGS, input_shape=(1, 3, 3))
    question = {"X": rows, "y": rows[:, 0], "n": 12, "points": 2, "random_state": 0}
    assert poise.measure(algorithm, **question).changes.shape == (8, 1, 2)
    with pytest.raises(AlgorithmError, match=r"cannot read rows of 9 numbers.*input_shape"):
        poise.measure(poise.torch_algorithm(convolution, **SETTINGS), rows, rows[:, 0], n=12)


class Branches(nn.Linear):
    def forward(self, rows):
        return super().forward(rows) if rows.sum() + self.weight.sum() > 1e9 else rows[:, :1]


class Draws(nn.Linear):
    def forward(self, rows):
        return super().forward(nn.functional.dropout(rows, 0.5, self.training))


@pytest.mark.parametrize(
    ("module", "reason"),
    [
        (lambda: nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2), nn.Linear(2, 1)),
         "changes its buffer '1.running_mean'.*GroupNorm"),
        (lambda: nn.Sequential(Branches(3, 1), nn.Linear(1, 1)), "cannot map it.*branches"),
        (lambda: Draws(3, 1), "cannot map it.*torch.nn.Dropout"),
    ],
    ids=["running statistics", "a branch", "random numbers"],
)  # fmt: skip
def test_what_cannot_be_trained_together_is_trained_fit_by_fit(module, reason) -> None:
    algorithm = poise.torch_algorithm(module, **{**SETTINGS, "steps": 2})
    question = {"X": X[:80], "y": y[:80], "n": 15, "random_state": 0}
    with pytest.warns(PoiseWarning, match=f"is trained fit by fit: .*{reason}"):
        trials = poise.measure(algorithm, **question)
    assert trials.design.path == "fit by fit"
    with pytest.warns(PoiseWarning):
        assert trials.changes.tolist() == poise.measure(algorithm, **question).changes.tolist()


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"loss": "rmse"}, ArgumentError, "loss must be one of 'mse', 'l1'"),
        ({"optimizer": "lbfgs"}, ArgumentError, "optimizer must be one of 'adam', 'adamw', 'sgd'"),
        ({"lr": 0.0}, ArgumentError, "lr must be a finite number above 0, got 0"),
        ({"steps": 0}, ArgumentError, "steps must be a whole number >= 1, got 0"),
        ({"steps": None}, ArgumentError, "give loss and steps, or your own training"),
        ({"batch_size": 0}, ArgumentError, "batch_size must be a whole number >= 1"),
        ({"memory": 0}, ArgumentError, "memory must be a whole number >= 1, got 0"),
        ({"train": descend}, ArgumentError, "give either train or loss"),
        ({"device": "abacus"}, ArgumentError, "device must be 'auto', 'cpu' or 'cuda'"),
        ({"make_module": nn.Linear(3, 1)}, AlgorithmError, "a function that returns a new module"),
        ({"loss": "cross_entropy", "response": "log"}, ArgumentError, "response must be one of"),
    ],
)
def test_arguments_are_named_with_value_and_remedy(arguments, error, message) -> None:
    with pytest.raises(error, match=message):
        poise.torch_algorithm(**{"make_module": perceptron, **SETTINGS, **arguments})


def test_modules_are_checked_before_the_first_fit() -> None:
    def measure(make, **changed):
        poise.measure(poise.torch_algorithm(make, **{**SETTINGS, **changed}), X, y, n=20)

    with pytest.raises(AlgorithmError, match=r"must return a torch.nn.Module, got 3"):
        measure(lambda: 3)
    with pytest.raises(AlgorithmError, match="cannot read rows of 3 numbers"):
        measure(lambda: nn.Linear(4, 1))
    two = poise.torch_algorithm(lambda: nn.Linear(3, 2), **{**SETTINGS, "loss": "cross_entropy"})
    with pytest.raises(AlgorithmError, match=r"must return 3 scores per row.*got shape \(2,\)"):
        poise.measure(two, X, three, n=20)
    newton = poise.torch_algorithm(
        perceptron, loss="mse", steps=2, optimizer=lambda p: torch.optim.LBFGS(p)
    )
    with pytest.raises(AlgorithmError, match="LBFGS looks at several numbers at once"):
        newton.fit_all(stack_of(2))


def test_another_process_makes_the_same_algorithm_once() -> None:
    algorithm = poise.torch_algorithm(scorer, **{**SETTINGS, "loss": "cross_entropy"}, classes=3)
    text = pickle.dumps(algorithm)
    first, second = pickle.loads(text), pickle.loads(text)
    assert first is second
    assert (first.name, first.code, first.memory) == (algorithm.name, algorithm.code, None)
    assert algorithm.name == "scorer in PyTorch, cross_entropy, 12 steps of adam(lr=0.05)"
    stack = stack_of(2, labels=three)
    np.testing.assert_array_equal(first.fit_all(stack), algorithm.fit_all(stack))
    assert "torch" in versions_that_compute(algorithm)


def test_the_digest_covers_the_classes_of_the_module() -> None:
    plain = poise.torch_algorithm(lambda: nn.Linear(3, 1), **SETTINGS)
    branching = poise.torch_algorithm(lambda: Branches(3, 1), **SETTINGS)
    assert plain.code != branching.code
    same = [poise.torch_algorithm(perceptron, **SETTINGS).code for _ in range(2)]
    assert same[0] == same[1] != ""


def test_random_numbers_of_one_copy() -> None:
    # The first outputs of SplitMix64 with seed 1234567, as published with the generator.
    published = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    found = uniform(torch.tensor(1234567), (3,)).tolist()
    assert found == [(value >> 11) / 2**53 for value in published]
    numbers = RandomNumbers(torch.tensor(-5))
    draw = numbers.normal(20_000, dtype=torch.float64)
    # Mean and variance of 20,000 normal numbers: five standard errors, 6e-7 each.
    assert abs(draw.mean()) < 5 / 20_000**0.5
    assert abs(draw.var() - 1) < 5 * (2 / 20_000) ** 0.5
    assert sorted(numbers.permutation(50).tolist()) == list(range(50))
    assert numbers.uniform(3).tolist() != numbers.uniform(3).tolist()


def test_many_initial_weights_are_those_of_the_modules_themselves() -> None:
    """Drawn in one go where layers are PyTorch's own; made one by one where they are not."""

    def conv():
        layers = nn.Conv1d(1, 2, 2), nn.GroupNorm(1, 2), nn.Flatten(), nn.Linear(4, 1, bias=False)
        return nn.Sequential(*layers)

    def own():
        module = nn.Linear(3, 2)
        nn.init.normal_(module.weight)
        module.register_buffer("noise", torch.rand(2))
        return module

    def noisy():
        module = nn.Linear(3, 2)
        module.register_buffer("noise", torch.rand(2))
        return module

    terms = Randomness(1).block("xi", 0, 12)[:, 0]
    for make, is_drawn in ((perceptron, True), (conv, True), (own, False), (noisy, False)):
        copies = poise.torch_algorithm(make, **SETTINGS).settings.copies()
        assert (drawn_weights(copies.seeded_copy, [1, 2]) is not None) == is_drawn
        trained, others = copies.stacked(terms)
        for k, term in enumerate(terms.tolist()):
            torch.manual_seed(term >> 1)
            module = make()
            for name, value in [*module.named_parameters(), *module.named_buffers()]:
                assert torch.equal({**trained, **others}[name][k], value)


def test_all_removals_are_computed_together() -> None:
    algorithm = poise.torch_algorithm(perceptron, **{**SETTINGS, "steps": 3}, memory=20_000)
    question = {"n": 6, "removals": "all", "points": 2, "random_state": 0}
    fast = poise.measure(algorithm, X[:60], y[:60], **question)
    slow = poise.measure(algorithm, X[:60], y[:60], **question, fast=False)
    assert fast.changes.shape == (7, 6, 2)
    assert fast.design.path == "PyTorch, all trials at once (cpu)"
    np.testing.assert_allclose(fast.changes, slow.changes, rtol=0, atol=3e-6)
    assert np.median(fast.changes) > 1e-4
