"""Generators nobody mentions: set from ξ before a fit, and left as they were found."""

from __future__ import annotations

import os
import random
import textwrap
import threading

import numpy as np
import pytest
import sklearn
import torch

import poise
from poise.algorithms.global_state import (
    GlobalGenerators,
    current_configuration,
    one_at_a_time,
)
from shared.data import linear_rows
from shared.processes import printed, python

X, Y = linear_rows(220, [0.0, 0.0, 0.0])
ASKED = {"n": 10, "random_state": 0}


def draws() -> list[float]:
    return [random.random(), np.random.random(), float(torch.rand(()))]  # noqa: NPY002


def seed_everything(seed: int) -> None:
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002
    torch.manual_seed(seed)


def descend(parameters: list[torch.nn.Parameter], loss: torch.Tensor) -> None:
    """Take one step; PyTorch's own optimisers import its compiler, in every worker."""
    with torch.no_grad():
        for weight, slope in zip(parameters, torch.autograd.grad(loss, parameters), strict=True):
            weight -= 0.1 * slope


def network(X, y, seed):
    """Draws its weights, its batches and what it drops from PyTorch's own generator."""
    rows, target = torch.tensor(X), torch.tensor(y)
    model = torch.nn.Sequential(
        torch.nn.Linear(rows.shape[1], 4),
        torch.nn.Dropout(0.2),
        torch.nn.Tanh(),
        torch.nn.Linear(4, 1),
    ).double()
    for _ in range(3):
        batch = torch.randperm(len(rows))[:5]
        loss = torch.nn.functional.mse_loss(model(rows[batch]).squeeze(1), target[batch])
        descend(list(model.parameters()), loss)
    model.eval()

    def predict(points):
        with torch.no_grad():
            return model(torch.tensor(points)).squeeze(1).numpy()

    return predict


@pytest.mark.parametrize("xi", [0, 7, 2**63, 2**64 - 1])
def test_the_same_term_sets_every_generator_the_same(xi) -> None:
    with GlobalGenerators() as generators:
        generators.pin(xi)
        first = draws()
        assert draws() != first
        assert generators.seeded(xi, draws) == first
        generators.pin(xi ^ 2**20)
        others = draws()
    assert all(other != one for other, one in zip(others, first, strict=True))


def test_generators_are_left_as_they_were_found() -> None:
    seed_everything(3)
    expected = draws()
    seed_everything(3)
    with GlobalGenerators() as generators:
        generators.pin(99)
        draws()
    assert draws() == expected


def test_a_thread_that_comes_or_goes_does_not_disturb_a_fit_in_another() -> None:
    def come_and_go():
        with GlobalGenerators():
            pass

    other = threading.Thread(target=come_and_go)
    with GlobalGenerators() as generators, one_at_a_time(thread_safe=False):
        generators.pin(5)
        expected = draws() + draws()
        generators.pin(5)
        first = draws()
        other.start()
        other.join(0.2)
        assert other.is_alive(), "it waits for its turn"
        assert first + draws() == expected
    other.join()


def test_generators_of_gpus_in_use_are_left_as_they_were_found(monkeypatch) -> None:
    restored = []
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_rng_state_all", lambda: ["state of GPU 0"])
    monkeypatch.setattr(torch.cuda, "set_rng_state_all", restored.append)
    with GlobalGenerators() as generators:
        generators.pin(99)
        assert not restored
    assert restored == [["state of GPU 0"]]


def test_without_an_accelerator_only_the_cpu_is_seeded(monkeypatch) -> None:
    torch.manual_seed(49)
    expected = torch.rand(3)
    monkeypatch.delattr(torch.cuda, "manual_seed_all")  # takes a millisecond and a note each time
    with GlobalGenerators() as generators:
        generators.pin(99)
        assert torch.equal(torch.rand(3), expected)


def test_a_network_that_ignores_its_seed_is_a_function_of_its_rows_and_xi() -> None:
    by_itself = [network(X[:10], Y[:10], 0)(X[:1])[0] for _ in range(2)]
    assert by_itself[0] != by_itself[1]
    first, second = (poise.measure(network, X, Y, **ASKED) for _ in range(2))
    assert first.changes.all()
    assert first.changes.tolist() == second.changes.tolist()
    report = poise.check_algorithm(network, X, Y, **ASKED)
    assert report["deterministic given its seed"].severity == "ok"


def test_the_users_own_generator_goes_on_as_if_nothing_had_happened() -> None:
    torch.manual_seed(3)
    expected = torch.rand(5)
    torch.manual_seed(3)
    poise.measure(network, X, Y, **ASKED)
    poise.check_algorithm(network, X, Y, **ASKED)
    assert torch.equal(torch.rand(5), expected)


def test_workers_compute_the_same_networks() -> None:
    here = poise.measure(network, X, Y, **ASKED)
    for backend in ("loky", "threading"):
        there = poise.measure(network, X, Y, **ASKED, n_jobs=2, backend=backend)
        assert there.changes.tolist() == here.changes.tolist()


def test_both_fits_share_weights_exactly_if_they_share_the_term() -> None:
    def initial_weight(X, y, seed):
        weight = float(torch.rand(()))
        return lambda rows: [weight] * len(rows)

    assert not poise.measure(initial_weight, X, Y, **ASKED).changes.any()
    other = poise.measure(initial_weight, X, Y, **ASKED, coupling="independent")
    assert other.changes.all()


def count_threads(X, y, seed):
    """Predicts the number of threads in one fit, and one less in the other."""
    threads = torch.get_num_threads() if len(X) == 10 else 0
    return lambda rows: [float(threads)] * len(rows)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_fit_has_one_thread(n_jobs) -> None:
    before = torch.get_num_threads()
    trials = poise.measure(count_threads, X, Y, **ASKED, n_jobs=n_jobs)
    assert set(trials.changes) == {1.0}
    assert torch.get_num_threads() == before


IMPORTED_LATE = """
    import sys
    import numpy as np, poise

    def late(X, y, seed):
        import torch

        weight = float(torch.rand(())) + 10 * (torch.get_num_threads() - 1)
        return lambda rows: weight * np.asarray(rows)[:, 0] * len(X)

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 1)), rng.normal(size=60)
    assert "torch" not in sys.modules
    task = sys.argv[1]
    if task == "check":
        report = poise.check_algorithm(late, X, y, n=5, random_state=0)
        print(report["deterministic given its seed"].severity)
    else:
        trials = poise.measure(late, X, y, n=5, random_state=0, n_jobs=int(task))
        print(trials.changes.tolist())
"""


@pytest.mark.parametrize("task", ["1", "2", "check"])
def test_a_fit_that_imports_pytorch_finds_its_generator_set_and_its_threads_limited(task) -> None:
    def late(X, y, seed):
        weight = float(torch.rand(()))
        return lambda rows: weight * np.asarray(rows)[:, 0] * len(X)

    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 1)), rng.normal(size=60)
    expected = poise.measure(late, *rows, n=5, random_state=0).changes.tolist()
    said = "ok" if task == "check" else str(expected)
    assert python("-c", textwrap.dedent(IMPORTED_LATE), task).stdout == f"{said}\n"


def test_poise_does_not_import_pytorch() -> None:
    printed("import sys, poise; poise.stability_test; sys.exit('torch' in sys.modules)")


def test_the_configuration_of_scikit_learn_is_sent_with_its_origin(monkeypatch) -> None:
    monkeypatch.delenv("SKLEARN_ASSUME_FINITE", raising=False)
    plain = current_configuration()
    assert plain.as_imported
    with sklearn.config_context(assume_finite=True):
        assert not current_configuration().as_imported
        with plain.in_force():  # it is imported here, and a fit may have changed it
            assert not sklearn.get_config()["assume_finite"]
    monkeypatch.setenv("SKLEARN_ASSUME_FINITE", "1")  # of this machine; workers may have another
    assert not current_configuration().as_imported


WITHOUT_SKLEARN = """
import os
import sys
from poise.algorithms.global_state import Configuration

class Refuse:
    def find_spec(self, name, *rest):
        if name == "sklearn":
            raise ImportError("somebody imports it")

def imports(as_imported):
    try:
        with Configuration({"assume_finite": False}, as_imported).in_force():
            return False
    except ImportError as error:
        return str(error)

sys.meta_path.insert(0, Refuse())
print(imports(as_imported=True), imports(as_imported=False))
os.environ["SKLEARN_ASSUME_FINITE"] = "1"
print(imports(as_imported=True))
"""


def test_workers_import_scikit_learn_only_if_its_configuration_is_another() -> None:
    plain = {name: value for name, value in os.environ.items() if "SKLEARN" not in name}
    said = printed(WITHOUT_SKLEARN, env=plain).splitlines()
    assert said == ["False somebody imports it", "somebody imports it"]
