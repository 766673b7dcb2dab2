"""Train one module, or both modules of thousands of trials, and predict."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.func import vmap

from poise.algorithms.algorithm import Stack
from poise.algorithms.torch.module_copies import ModuleCopies, State, dropout_seeds, seeded
from poise.algorithms.torch.random_numbers import RandomNumbers
from poise.algorithms.torch.single_output import replace_single_outputs
from poise.algorithms.torch.step_schedule import drawn
from poise.algorithms.torch.training import Training

__all__ = ["TorchFits", "Train", "Values"]

Train: TypeAlias = Callable[[State, tuple[Tensor, Tensor], RandomNumbers], State]
"""``train(state, (X, y), generator) -> state``: the user's own training of one copy."""

Values: TypeAlias = NDArray[Any]


class _PerThread(threading.local):
    """Modules into which numbers are put for a moment: every thread has its own."""

    def __init__(self) -> None:
        self.known: dict[str, Any] = {}


@dataclass(frozen=True)
class TorchFits:
    """What an algorithm in PyTorch computes on its device.

    Parameters
    ----------
    copies : ModuleCopies
        How modules are made and called.
    training : Training or callable
        A loss and an optimiser, or the user's own function.
    device : torch.device
        Where everything is computed.
    response : {"numbers", "predict_proba", "predict"}
        What becomes of a module's outputs.
    compile : bool
        Whether ``torch.compile`` compiles the gradients.
    """

    copies: ModuleCopies
    training: Training | Train
    device: torch.device
    response: str
    compile: bool
    _local: _PerThread = field(default_factory=_PerThread, compare=False)

    def fit_one(self, X: Values, y: Values, xi: int) -> Callable[[Values], Values]:
        """Train one module by itself, and return the function from points to predictions."""
        terms = np.array([xi], dtype=np.uint64)
        rows = self.tensor(X), self.tensor(y)
        with seeded() as seed, _same_every_time():
            seed(xi)
            module = self.copies.made().to(self.device)
            state = self._trained_alone(module, rows, terms)
        module.eval()

        def values(points: Values) -> Values:
            with torch.no_grad(), _same_every_time():
                outputs = self.copies.outputs(module, state, self.tensor(points))
                return self._found(outputs)

        return values

    def _trained_alone(
        self, module: nn.Module, rows: tuple[Tensor, Tensor], xi: NDArray[np.uint64]
    ) -> State | None:
        if isinstance(self.training, Training):
            how, layers = self.training, len(dropout_seeds(module))
            schedule = drawn(xi, len(rows[0]), how.steps, how.batch_size, layers)
            how.alone(module, *rows, schedule.on(self.device))
            return None
        numbers = [*module.named_parameters(), *module.named_buffers()]
        state = {name: tensor.detach().clone() for name, tensor in numbers}
        return self.training(state, rows, RandomNumbers(_keys(xi, self.device)[0]))

    def fit_all(self, stack: Stack) -> tuple[Values, Values]:
        """Train both modules of every trial, and predict at its points."""
        X, y, x = (self.tensor(part) for part in stack[:3])
        points = x if x.ndim == 3 else x[:, None, :]
        with _same_every_time():
            start = self.start(stack.xi)
            full = self._values(self.trained(start, (X, y), stack.xi), points)
            if not np.array_equal(stack.xi, stack.xi_reduced):
                start = self.start(stack.xi_reduced)
            fewer = X[:, :-1].contiguous(), y[:, :-1].contiguous()
            reduced = self._values(self.trained(start, fewer, stack.xi_reduced), points)
        found = self._found(full), self._found(reduced)
        return found if x.ndim == 3 else (found[0][:, 0], found[1][:, 0])

    def start(self, xi: NDArray[np.uint64]) -> tuple[State, State]:
        """Return trainable parameters, and all other numbers, of one copy per random term."""
        trained, others = (
            {name: tensor.to(self.device) for name, tensor in part.items()}
            for part in self.copies.stacked(xi)
        )
        return trained, others

    def trained(
        self,
        start: tuple[State, State],
        rows: tuple[Tensor, Tensor],
        xi: NDArray[np.uint64],
    ) -> State:
        """Return all numbers of the copies after the last step."""
        if isinstance(self.training, Training):
            how, seeds = self.training, dropout_seeds(self._module("train"))
            schedule = drawn(xi, rows[0].shape[1], how.steps, how.batch_size, len(seeds))
            gradients = self._gradients(how, rows[0].shape)
            return how.together(gradients, start, rows, schedule.on(self.device), seeds)
        return vmap(self._by_the_user, randomness="error")(
            {**start[0], **start[1]}, *rows, _keys(xi, self.device)
        )

    def _by_the_user(self, state: State, X: Tensor, y: Tensor, key: Tensor) -> State:
        train: Any = self.training
        trained: State = train(state, (X, y), RandomNumbers(key))
        return trained

    def _gradients(self, how: Training, shape: tuple[int, ...]) -> Any:
        """Return the gradients of all copies; compiled once for every shape."""
        if not self.compile:
            return how.gradients(self._module("train"))
        known, name = self._local.known, f"gradients for {tuple(shape)}"
        if name not in known:
            module = copy.deepcopy(self._module("train"))
            known[name] = torch.compile(how.gradients(module), dynamic=False)
        return known[name]

    def _module(self, mode: str) -> nn.Module:
        known = self._local.known
        if mode not in known:
            module = replace_single_outputs(self.copies.prototype())
            known[mode] = module.train(mode == "train").to(self.device)
        found: nn.Module = known[mode]
        return found

    def _values(self, state: State, points: Tensor) -> Tensor:
        module = self._module("eval")
        with torch.no_grad():
            outputs: Tensor = vmap(lambda s, x: self.copies.outputs(module, s, x))(state, points)
        return outputs

    def _found(self, outputs: Tensor) -> Values:
        """Turn outputs at points, the last axis but one of scores, into values."""
        if self.response == "predict_proba":
            outputs = outputs.softmax(-1)
        elif self.response == "predict":
            outputs = outputs.argmax(-1)
        found: Values = outputs.detach().cpu().numpy()
        return found.astype(np.float64) if found.dtype.kind == "f" else found

    def tensor(self, values: NDArray[Any]) -> Tensor:
        """Return numbers or codes of classes on the device."""
        kind = torch.int64 if values.dtype.kind in "iu" else self.copies.dtype
        return torch.as_tensor(values).to(self.device, kind)


def _keys(xi: NDArray[np.uint64], device: torch.device) -> Tensor:
    return torch.from_numpy(xi.view(np.int64).copy()).to(device)


def _same_every_time() -> AbstractContextManager[Any]:
    """Context in which a GPU's convolutions add up in one order."""
    flags: AbstractContextManager[Any] = torch.backends.cudnn.flags(
        enabled=torch.backends.cudnn.enabled,
        benchmark=False,
        deterministic=True,
        allow_tf32=torch.backends.cudnn.allow_tf32,
    )
    return flags
