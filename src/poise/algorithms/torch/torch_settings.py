"""The arguments of ``poise.torch_algorithm``, checked, and what is made of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from poise import arguments
from poise.algorithms.code_digest import class_digest, code_digest
from poise.algorithms.torch.torch_library import chosen_device, import_torch
from poise.errors import AlgorithmError, ArgumentError

if TYPE_CHECKING:
    from poise.algorithms.torch.module_copies import ModuleCopies
    from poise.algorithms.torch.torch_fits import TorchFits

__all__ = ["TorchSettings"]


@dataclass(frozen=True)
class TorchSettings:
    """The arguments of :func:`poise.torch_algorithm` that concern the training."""

    make_module: Callable[[], Any]
    loss: Any
    optimizer: Any
    lr: float
    steps: int | None
    batch_size: int | None
    train: Callable[[Any, Any, Any], Any] | None
    input_shape: Sequence[int] | None
    device: str
    float64: bool
    compile: bool | None

    def check(self) -> None:
        """Refuse wrong arguments, with a remedy."""
        if not callable(self.make_module) or isinstance(self.make_module, import_torch().nn.Module):
            raise AlgorithmError(
                f"make_module must be a function without arguments, got {self.make_module!r}; "
                "pass a function that returns a new module, because each fit starts with its own"
            )
        chosen_device(self.device)
        arguments.flag("float64", self.float64)
        if self.compile is not None:
            arguments.flag("compile", self.compile)
        if self.input_shape is not None:
            arguments.count("input_shape", list(self.input_shape), minimum=1)
        if self.train is None:
            self._check_steps()
        elif not callable(self.train):
            raise AlgorithmError(f"train must be a function of three arguments, got {self.train!r}")
        elif (self.loss, self.steps, self.batch_size) != (None, None, None):
            raise ArgumentError("give either train or loss, steps and batch_size, not both")

    def _check_steps(self) -> None:
        from poise.algorithms.torch.training import LOSSES, OPTIMIZERS

        if self.loss is None or self.steps is None:
            raise ArgumentError("give loss and steps, or your own training as train")
        arguments.count("steps", self.steps, minimum=1)
        if self.batch_size is not None:
            arguments.count("batch_size", self.batch_size, minimum=1)
        arguments.positive("lr", self.lr)
        for name, value, known in (
            ("loss", self.loss, LOSSES),
            ("optimizer", self.optimizer, OPTIMIZERS),
        ):
            if not callable(value):
                arguments.choice(name, value, tuple(known))

    @property
    def classifies(self) -> bool:
        """Whether the loss is one for classes."""
        if isinstance(self.loss, str):
            return self.loss == "cross_entropy"
        nn = import_torch().nn
        return (
            isinstance(self.loss, nn.CrossEntropyLoss) or self.loss is nn.functional.cross_entropy
        )

    @property
    def description(self) -> str:
        """One line that tells the module and its training."""
        module = _called(self.make_module)
        if self.train is not None:
            return f"{module} in PyTorch, trained by {_called(self.train)}"
        rate = f"(lr={self.lr:g})" if isinstance(self.optimizer, str) else ""
        rows = "" if self.batch_size is None else f" of {self.batch_size} rows"
        precision = ", float64" if self.float64 else ""
        return (
            f"{module} in PyTorch, {_called(self.loss)}, {self.steps} steps{rows} of "
            f"{_called(self.optimizer)}{rate}{precision}"
        )

    @property
    def code(self) -> str:
        """A digest of the user's code: functions, and the classes of the module."""
        given = (self.make_module, self.loss, self.optimizer, self.train)
        functions = [code_digest(each) for each in given if callable(each)]
        try:
            classes = class_digest(*self.copies().prototype().modules())
        except Exception:  # of the user's code; every fit reports it
            classes = ""
        return "-".join(part for part in [*functions, classes] if part)

    def copies(self) -> ModuleCopies:
        """Return what makes copies of the module."""
        from poise.algorithms.torch.module_copies import ModuleCopies

        torch = import_torch()
        shape = None if self.input_shape is None else tuple(int(k) for k in self.input_shape)
        dtype = torch.float64 if self.float64 else torch.float32
        return ModuleCopies(self.make_module, dtype, shape)

    def fits(self, response: str) -> TorchFits:
        """Return what computes predictions."""
        from poise.algorithms.torch.torch_fits import TorchFits
        from poise.algorithms.torch.training import LOSSES, Training, optimizer_of

        copies, device = self.copies(), chosen_device(self.device)
        compile_it = device.type == "cuda" if self.compile is None else self.compile
        if self.train is not None:
            return TorchFits(copies, self.train, device, response, False)
        loss = LOSSES[self.loss] if isinstance(self.loss, str) else self.loss
        optimizer = self.optimizer
        if isinstance(optimizer, str):
            optimizer = optimizer_of(optimizer, float(self.lr), device)
        steps = int(self.steps or 1)
        training = Training(copies, loss, optimizer, steps, self.batch_size)
        return TorchFits(copies, training, device, response, compile_it)


def _called(value: Any) -> str:
    if isinstance(value, str):
        return value
    return str(getattr(value, "__name__", type(value).__name__))
