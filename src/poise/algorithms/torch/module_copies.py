"""Copies of a user's module, each initialised from its own ξ."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.func import functional_call, stack_module_state, vmap

from poise.algorithms.global_state import one_at_a_time
from poise.algorithms.torch.initial_weights import drawn_weights
from poise.algorithms.torch.seeded_dropout import SEED, replace_dropout
from poise.errors import AlgorithmError, in_one_line

__all__ = ["ModuleCopies", "State", "dropout_seeds", "seeded"]

State: TypeAlias = dict[str, Tensor]
"""Parameters and buffers by name, as in ``state_dict``."""


@contextmanager
def seeded() -> Iterator[Callable[[int], None]]:
    """Context with a function that seeds PyTorch's generator; restored at its end.

    Examples
    --------
    >>> with seeded() as seed:
    ...     seed(7)
    ...     first = torch.rand(3)
    ...     seed(7)
    ...     bool((torch.rand(3) == first).all())
    True
    """
    with one_at_a_time(thread_safe=False):  # the generator belongs to all threads
        before = torch.get_rng_state()
        try:
            yield _seed
        finally:
            torch.set_rng_state(before)


def _seed(xi: int) -> None:
    torch.default_generator.manual_seed(xi >> 1)  # as for every other algorithm


@dataclass(frozen=True)
class ModuleCopies:
    """Makes modules that differ by their random initialisation alone.

    Parameters
    ----------
    make_module : callable
        The user's function; it draws from PyTorch's generator.
    dtype : torch.dtype
        float32 or float64.
    input_shape : tuple of int, optional
        The shape into which a row is brought before the module sees it.
    """

    make_module: Callable[[], nn.Module]
    dtype: torch.dtype
    input_shape: tuple[int, ...] | None

    def made(self) -> nn.Module:
        """Return a new module, initialised from PyTorch's generator as it is now."""
        module = self.make_module()
        if not isinstance(module, nn.Module):
            raise AlgorithmError(f"make_module must return a torch.nn.Module, got {module!r}")
        elsewhere = {str(p.device) for p in module.parameters()} - {"cpu"}
        if elsewhere:
            raise AlgorithmError(
                f"make_module must return a module on the CPU, got one on {elsewhere.pop()}; "
                "poise moves it to the device"
            )
        return replace_dropout(module.to(self.dtype)).train()

    def prototype(self) -> nn.Module:
        """Return one of them, whose numbers nobody uses."""
        with seeded() as seed:
            seed(0)
            return self.made()

    def stacked(self, xi: NDArray[np.uint64]) -> tuple[State, State]:
        """Return trainable parameters, and all other numbers, of one copy per random term."""
        terms: list[int] = xi.tolist()
        drawn = drawn_weights(self.seeded_copy, [t >> 1 for t in terms]) if len(terms) > 8 else None
        one = self.prototype()
        if drawn is None:
            parameters, buffers = self._made_and_stacked(terms)
        else:
            parameters = {name: p.to(self.dtype) for name, p in drawn.items()}
            buffers = {k: b.expand(len(terms), *b.shape).clone() for k, b in one.named_buffers()}
        fixed = {k for k, p in one.named_parameters() if not p.requires_grad}
        trained = {k: p.detach() for k, p in parameters.items() if k not in fixed}
        others = {k: p.detach() for k, p in parameters.items() if k in fixed}
        return trained, {**others, **buffers}

    def _made_and_stacked(self, terms: list[int]) -> tuple[State, State]:
        with seeded() as seed:
            modules = []
            for term in terms:
                seed(term)
                modules.append(self.made())
        try:
            return stack_module_state(modules)
        except RuntimeError as error:
            raise AlgorithmError(
                f"make_module must return modules of one shape: {in_one_line(error)}"
            ) from error

    def seeded_copy(self, seed: int) -> nn.Module:
        """Return the user's module after ``torch.manual_seed(seed)``."""
        with seeded() as pin:
            pin(seed << 1)
            return self.make_module()

    def outputs(self, module: nn.Module, state: State | None, rows: Tensor) -> Tensor:
        """Send rows through the module, with these numbers in place of its own."""
        shaped = rows if self.input_shape is None else rows.reshape(-1, *self.input_shape)
        found = module(shaped) if state is None else functional_call(module, state, (shaped,))
        if not isinstance(found, Tensor):
            raise TypeError(f"the module must return a tensor, got {type(found).__name__}")
        if found.ndim == 0 or len(found) != len(rows):
            raise TypeError(
                f"the module must return one output per row, got shape {tuple(found.shape)} "
                f"for {len(rows)} rows"
            )
        return found[:, 0] if found.ndim == 2 and found.shape[1] == 1 else found

    def objection_to_vmap(self, rows: Tensor) -> str | None:
        """Say why copies cannot be trained together; None if they can.

        Some modules change their buffers while they train, and ``torch.vmap`` refuses
        others: those that branch on numbers, or that draw random numbers.
        """
        module = self.prototype()
        before = copy.deepcopy(dict(module.named_buffers()))
        with seeded(), torch.no_grad():
            self.outputs(module, None, rows)
        changed = [k for k, b in module.named_buffers() if not torch.equal(b, before[k])]
        if changed:
            return (
                f"it changes its buffer {changed[0]!r} while it trains; GroupNorm or LayerNorm "
                "in place of BatchNorm would allow to train all copies at once"
            )
        state = {**dict(module.named_parameters()), **dict(module.named_buffers())}
        two = {k: torch.stack([p.detach(), p.detach()]) for k, p in state.items()}
        try:
            vmap(lambda s: self.outputs(module, s, rows), randomness="error")(two)
        except Exception as error:
            return (
                f"torch.vmap cannot map it ({in_one_line(error)}); without branches on numbers "
                "and with torch.nn.Dropout in place of functions that draw random numbers, "
                "all copies could be trained at once"
            )
        return None


def dropout_seeds(module: nn.Module) -> list[str]:
    """Return the names of the buffers that hold the seeds of dropout."""
    return [name for name, _ in module.named_buffers() if name.rpartition(".")[2] == SEED]
