"""Train one module by an optimiser of PyTorch, or thousands of copies at once.

Copies are trained with the same optimiser: it treats every number by itself, so it need not
know that its parameters are stacked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn
from torch.func import grad, vmap

from poise.algorithms.torch.module_copies import ModuleCopies, State, dropout_seeds
from poise.algorithms.torch.repeated_steps import repeat
from poise.algorithms.torch.step_schedule import Schedule
from poise.errors import AlgorithmError

__all__ = ["LOSSES", "OPTIMIZERS", "Loss", "OptimizerOf", "Training", "optimizer_of"]

Loss: TypeAlias = Callable[[Tensor, Tensor], Tensor]
"""``loss(outputs, targets)``: one number."""

OptimizerOf: TypeAlias = Callable[[Iterable[Tensor]], torch.optim.Optimizer]
"""``optimizer(parameters)``."""

LOSSES: dict[str, Loss] = {
    "mse": nn.functional.mse_loss,
    "l1": nn.functional.l1_loss,
    "huber": nn.functional.huber_loss,
    "cross_entropy": nn.functional.cross_entropy,
}
OPTIMIZERS: dict[str, Any] = {
    "adam": torch.optim.Adam,
    "adamw": torch.optim.AdamW,
    "sgd": torch.optim.SGD,
}
_LOOK_AT_ALL = ("LBFGS", "Adafactor", "Muon", "SparseAdam")  # not at every number by itself


def optimizer_of(name: str, lr: float, device: torch.device) -> OptimizerOf:
    """Return the optimiser of this name with this step size; fused on a GPU."""

    def made(parameters: Iterable[Tensor]) -> torch.optim.Optimizer:
        fused = {"fused": True} if device.type == "cuda" else {}
        optimizer: torch.optim.Optimizer = OPTIMIZERS[name](parameters, lr=lr, **fused)
        return optimizer

    return made


@dataclass(frozen=True)
class Training:
    """A loss, an optimiser and a number of steps.

    Parameters
    ----------
    copies : ModuleCopies
        How modules are made and called.
    loss, optimizer
        The user's, as functions.
    steps : int
        Steps of the optimiser.
    batch_size : int, optional
        Rows per step; None takes all.
    """

    copies: ModuleCopies
    loss: Loss
    optimizer: OptimizerOf
    steps: int
    batch_size: int | None

    def alone(self, module: nn.Module, X: Tensor, y: Tensor, schedule: Schedule) -> None:
        """Train one module in place, as everybody does."""
        optimizer = self.optimizer([p for p in module.parameters() if p.requires_grad])
        buffers = dict(module.named_buffers())
        seeds = [buffers[name] for name in dropout_seeds(module)]
        for step in range(self.steps):
            for buffer, seed in zip(seeds, schedule.seeds[step], strict=True):
                buffer.copy_(seed[0])
            rows = schedule.rows(step)
            some = (X, y) if rows is None else (X[rows[0]], y[rows[0]])
            optimizer.zero_grad()
            self.loss(self.copies.outputs(module, None, some[0]), some[1]).backward()  # type: ignore[no-untyped-call]
            optimizer.step()

    def gradients(self, module: nn.Module) -> Callable[[State, State, Tensor, Tensor], State]:
        """Return the gradients of the losses of all copies, as a function of stacked tensors."""

        def loss(trained: State, others: State, X: Tensor, y: Tensor) -> Tensor:
            value = self.loss(self.copies.outputs(module, {**trained, **others}, X), y)
            if value.ndim:
                raise TypeError(f"loss must return one number, got shape {tuple(value.shape)}")
            return value

        return vmap(grad(loss), randomness="error")

    def together(
        self,
        gradients: Callable[[State, State, Tensor, Tensor], State],
        state: tuple[State, State],
        rows: tuple[Tensor, Tensor],
        schedule: Schedule,
        seeds: Sequence[str],
    ) -> State:
        """Train stacked copies, and return all their numbers."""
        trained = {name: p.clone() for name, p in state[0].items()}
        others, (X, y) = dict(state[1]), rows
        optimizer = self.optimizer(list(trained.values()))
        _check_elementwise(optimizer)
        record = X.is_cuda and _can_be_recorded(optimizer)
        each = torch.arange(len(X), device=X.device)[:, None]

        def step(*now: Tensor) -> None:
            others.update(zip(seeds, now, strict=False))
            chosen = now[-1] if schedule.orders is not None else None
            some = (X, y) if chosen is None else (X[each, chosen], y[each, chosen])
            for name, slope in gradients(trained, others, *some).items():
                trained[name].grad = slope
            optimizer.step()

        def inputs(t: int) -> list[Tensor]:
            chosen = schedule.rows(t)
            return [*schedule.seeds[t], *([] if chosen is None else [chosen])]

        repeat(step, inputs, self.steps, record)
        return {**trained, **others}


def _can_be_recorded(optimizer: torch.optim.Optimizer) -> bool:
    """Prepare an optimiser for a CUDA graph: its counters must be on the GPU."""
    for group in optimizer.param_groups:
        if "capturable" in group:
            group["capturable"] = True
    return all(group.get("capturable", True) for group in optimizer.param_groups)


def _check_elementwise(optimizer: torch.optim.Optimizer) -> None:
    """Refuse optimisers that would mix copies."""
    kind = type(optimizer).__name__
    if kind in _LOOK_AT_ALL:
        raise AlgorithmError(
            f"optimizer={kind} looks at several numbers at once and would mix the copies of the "
            "module; use Adam, AdamW, SGD, RMSprop or another that treats every number by itself"
        )
