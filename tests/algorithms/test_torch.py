"""Modules of PyTorch: trained in copies as each would be alone, in a plain loop."""

from __future__ import annotations

import numpy as np
import pytest

import poise
from helpers import needs
from poise.data.sample import Sample
from poise.errors import AlgorithmError, ArgumentError

pytestmark = needs("torch")

rng = np.random.default_rng(3)
X = rng.normal(size=(240, 3))
y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=240)
three = np.digitize(X[:, 0], [-0.5, 0.5])
XI = 0xFEDCBA9876543210
GIVEN = {"loss": "mse", "steps": 12, "lr": 0.05, "device": "cpu", "at_once": 4}


def perceptron(outputs=1, *more):
    from torch import nn

    return nn.Sequential(nn.Linear(3, 6), nn.Tanh(), *more, nn.Linear(6, outputs))


def scorer():
    return perceptron(3)


def by_hand(n, float64=False, optimizer=None, make=perceptron):
    """Train as everybody does in PyTorch, without poise."""
    import torch
    from torch.nn.functional import cross_entropy, mse_loss

    torch.manual_seed(XI >> 1)
    module = make().double() if float64 else make()
    optimizer = (optimizer or (lambda p: torch.optim.Adam(p, lr=0.05)))(list(module.parameters()))
    kind = torch.float64 if float64 else torch.float32
    rows, points = torch.tensor(X[:n], dtype=kind), torch.tensor(X[200:210], dtype=kind)
    for _ in range(12):
        optimizer.zero_grad()
        if make is scorer:
            cross_entropy(module(rows), torch.tensor(three[:n])).backward()
        else:
            mse_loss(module(rows)[:, 0], torch.tensor(y[:n], dtype=kind)).backward()
        optimizer.step()
    with torch.no_grad():
        found = module(points)
    return (found.softmax(1) if make is scorer else found[:, 0]).numpy()


def momentum(parameters):
    import torch

    return torch.optim.SGD(parameters, lr=0.1, momentum=0.9, weight_decay=0.01)


@pytest.mark.parametrize(
    ("float64", "optimizer", "make"),
    [(False, None, perceptron), (True, momentum, perceptron), (True, None, scorer)],
)
def test_a_copy_is_trained_as_a_module_by_itself(float64, optimizer, make):
    import torch

    responses, loss = (three, "cross_entropy") if make is scorer else (y, "mse")
    given = GIVEN | {"loss": loss, "optimizer": optimizer or "adam", "float64": float64}
    algorithm = poise.torch_algorithm(make, **given).prepared(Sample.of(X, responses))
    # Beside a copy with other rows and another start.
    both = np.stack([2 * X[30:60], X[:30]]), np.stack([responses[30:60], responses[:30]])
    points, terms = np.stack([X[200:210]] * 2), np.array([5, XI], np.uint64)
    state = torch.get_rng_state()
    found = algorithm.many(*both, points, terms)[1]
    assert torch.equal(state, torch.get_rng_state())
    expected = by_hand(30, float64, optimizer, make)
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13 if float64 else 3e-6)
    assert np.abs(expected - by_hand(29, float64, optimizer, make)).max() > 1e-3


def test_random_numbers_are_those_of_splitmix64_and_dropout_drops_its_share():
    import torch

    from poise.algorithms.torch_training import Dropout, bits

    published = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]
    assert bits(torch.tensor(0), 3).tolist() == [number >> 11 for number in published]
    grid = bits(torch.tensor([0, 1]), 2, 2)
    assert grid[0].flatten().tolist()[:3] == [number >> 11 for number in published]
    assert (grid[0] != grid[1]).all()
    for p, channels, shape in ((0.25, False, (500, 40)), (0.5, True, (500, 40, 3, 3))):
        layer, ones = Dropout(p, channels), torch.ones(shape)
        first, second = layer(ones), layer(ones)
        share = (first == 0).float().mean().item()
        units = first.numel() / (9 if channels else 1)
        assert abs(share - p) < 6 * np.sqrt(p * (1 - p) / units)
        assert set(first.unique().tolist()) == {0.0, torch.tensor(1 / (1 - p)).item()}
        assert not torch.equal(first, second)  # a layer that is called twice in a step
        if channels:
            assert (first == first[:, :, :1, :1]).all()
        assert torch.equal(layer.eval()(ones), ones)
    assert Dropout(1.0, False)(torch.ones(9)).sum() == 0


def test_minibatches_pass_over_all_rows_in_an_order_that_loses_one_row():
    import torch

    training = poise.torch_algorithm(perceptron, **GIVEN, batch_size=3)
    keys = torch.tensor([5, -6])

    def order(rows, steps):
        numbers = torch.arange(rows).expand(2, rows)
        found = [training._some(numbers, numbers, keys, torch.tensor(t))[0] for t in steps]
        return torch.cat(found, dim=1).tolist()

    for first, second in zip(order(9, range(3)), order(9, range(3, 6)), strict=True):
        assert sorted(first) == sorted(second) == list(range(9))
        assert first != second
    whole, fewer = order(9, range(3)), order(8, range(2))
    for k in range(2):
        assert [row for row in whole[k] if row < 8][:6] == fewer[k]
    assert whole[0] != whole[1]


def test_classes_are_those_of_the_data():
    names = np.array(["low", "middle", "high"])[three]
    given, sample = GIVEN | {"loss": "cross_entropy"}, Sample.of(X, names)
    scores = poise.torch_algorithm(scorer, **given).prepared(sample)
    vectors = scores.fit(X[:30], names[:30], XI)(X[200:])
    chosen = poise.torch_algorithm(scorer, **given, response="predict").prepared(sample)
    labels = np.array(["high", "low", "middle"])[vectors.argmax(axis=1)]
    assert chosen.fit(X[:30], names[:30], XI)(X[200:]).tolist() == labels.tolist()
    assert poise.measure(chosen, X, names, n=19).design.distance == "label"


def test_frozen_parameters_stay_and_several_outputs_are_learnt():
    import torch

    def frozen():
        module = perceptron(2)
        module[0].requires_grad_(False)
        return module

    both = np.column_stack([X[:, 0], -3 * X[:, 1]])
    algorithm = poise.torch_algorithm(frozen, **GIVEN | {"steps": 150})
    predictions = algorithm.fit(X[:50], both[:50], XI)(X[150:])
    assert np.abs(predictions - both[150:]).mean(axis=0).max() < 0.6
    start = algorithm._start(np.array([XI], np.uint64).tobytes())["0.weight"]
    torch.manual_seed(XI >> 1)
    assert torch.equal(start[0], frozen()[0].weight)


def test_what_cannot_be_trained_in_copies_is_refused_before_the_first_fit():
    import torch
    from torch import nn

    class Branches(nn.Linear):
        def forward(self, rows):
            return super().forward(rows) if rows.sum() > 0 else rows[:, :1]

    class Draws(nn.Linear):
        def forward(self, rows):
            return super().forward(nn.functional.dropout(rows, 0.5))

    class Mixing(torch.optim.SGD):
        def step(self):
            for group in self.param_groups:
                for values in group["params"]:
                    values.sub_(0.1 * values.grad / values.grad.norm())

    def drawn_elsewhere():
        module = perceptron()
        nn.init.constant_(module[0].bias, np.random.rand())  # noqa: NPY002
        return module

    for make, more, words in (
        (lambda: perceptron(1, nn.BatchNorm1d(6)), {}, "changes its buffer.*GroupNorm or Layer"),
        (lambda: Branches(3, 1), {}, "cannot be trained together.*branches"),
        (lambda: Draws(3, 1), {}, "cannot be trained together.*Dropout"),
        (perceptron, {"optimizer": torch.optim.LBFGS}, "cannot be trained together.*Adam"),
        (perceptron, {"optimizer": Mixing}, "every number by itself"),
        (drawn_elsewhere, {}, "outside PyTorch"),
        (lambda: nn.Linear(4, 1), {}, "the module fails on 3 rows"),
        (lambda: nn.Flatten(0), {}, "one output per row"),
        (scorer, {"classes": True}, "2 scores per row"),
        (lambda: None, {}, "must return a torch.nn.Module"),
    ):
        labels = (three > 0).astype(int) if more.get("classes") else y
        with pytest.raises(AlgorithmError, match=words):
            poise.measure(poise.torch_algorithm(make, **GIVEN | more), X, labels, n=19)
    for refused, words in (
        ({"make_module": perceptron()}, "must be a function that returns a new module"),
        ({"loss": "hinge"}, "loss must be 'mse'"),
        ({"optimizer": "lion"}, "optimizer must be 'adam'"),
        ({"steps": 0}, "steps must be a whole number >= 1"),
    ):
        with pytest.raises((AlgorithmError, ArgumentError), match=words):
            poise.torch_algorithm(**{"make_module": perceptron} | GIVEN | refused)
    algorithm = poise.torch_algorithm(perceptron, loss="mse", steps=50, batch_size=8, device="cpu")
    assert algorithm.name == "perceptron(loss='mse', steps=50, batch_size=8)"


def test_a_layer_of_one_output_is_the_same_as_a_sum():
    """What is compiled computes such layers in another way."""
    import torch

    from poise.algorithms.torch_training import Column

    for bias in (True, False):
        layer, values = torch.nn.Linear(3, 1, bias=bias), torch.from_numpy(X).float()
        usual = layer(values)
        layer.__class__ = Column
        torch.testing.assert_close(layer(values), usual)
