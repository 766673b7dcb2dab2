"""A ``torch.nn.Module`` and its training as an algorithm."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from numpy.typing import NDArray

from poise import arguments
from poise.algorithms.algorithm import Algorithm, BatchAlgorithm, Stack
from poise.algorithms.batched_algorithm import AllAtOnce
from poise.algorithms.class_codes import Labels
from poise.algorithms.classes_from_data import ClassesFromData
from poise.algorithms.torch.torch_library import import_torch
from poise.algorithms.torch.torch_settings import TorchSettings
from poise.data.sample import Sample
from poise.errors import AlgorithmError, PoiseWarning, in_one_line

__all__ = ["TorchAlgorithm", "torch_algorithm"]


def torch_algorithm(
    make_module: Callable[[], Any],
    *,
    loss: Any = None,
    optimizer: Any = "adam",
    lr: float = 1e-3,
    steps: int | None = None,
    batch_size: int | None = None,
    train: Callable[[Any, Any, Any], Any] | None = None,
    classes: int | Sequence[Any] | None = None,
    response: str = "predict_proba",
    input_shape: Sequence[int] | None = None,
    device: str = "auto",
    float64: bool = False,
    compile: bool | None = None,
    memory: int | None = None,
    name: str | None = None,
) -> Algorithm:
    """Make an algorithm of a ``torch.nn.Module``; all trials are trained at once on CPU or GPU.

    Thousands of copies of the module are trained in one computation by ``torch.func``.
    Initialisation, minibatches and dropout come from ξ alone: the same ``random_state``
    gives the same changes, bit for bit, on the same machine, whatever ``n_jobs``, and both
    fits of a trial start from the same weights under ``coupling="shared"``. Training one
    module after the other (``fast=False``), another device or another ``memory`` rounds
    differently. What is tested is this module with this training, not networks in general.

    Parameters
    ----------
    make_module : callable
        ``make_module()`` returns a new module on the CPU; its initial weights come from
        PyTorch's generator, which poise seeds. The module takes rows of shape (rows, d) and
        returns one output per row, or one score per class.
    loss : str or callable
        "mse", "l1" or "huber" for regression, "cross_entropy" for classification; or
        ``loss(outputs, targets)``, which returns one number.
    optimizer : {"adam", "adamw", "sgd"} or callable
        Or ``optimizer(parameters)``, which returns one of PyTorch's optimisers that treat
        every number by itself.
    lr : float
        Step size of an optimiser given by name, > 0.
    steps : int
        Steps of the optimiser, >= 1.
    batch_size : int, optional
        Rows per step, >= 1, in a new random order each pass; None takes all rows.
    train : callable, optional
        Your own training instead of ``loss``, ``optimizer``, ``lr``, ``steps`` and
        ``batch_size``: ``train(state, batch, generator)`` with the parameters and buffers
        of one copy by name, ``batch = (X, y)``, and random numbers from ``generator``
        (``uniform``, ``normal``, ``permutation``). It returns the new state and must work
        under ``torch.vmap``.
    classes : int or sequence, optional
        The labels, or their number; by default those that occur in the data. Given with a
        loss of your own, it says that this is classification.
    response : {"predict_proba", "predict"}
        For classification: whether a prediction is one probability per class (a change is
        their total variation) or the most probable label.
    input_shape : sequence of int, optional
        The shape that a row is given, such as (1, 16, 16) for images.
    device : str
        "cpu", "cuda" or "auto", which is a GPU if PyTorch finds one.
    float64 : bool
        Double precision.
    compile : bool, optional
        Whether ``torch.compile`` compiles the gradients; by default on a GPU only.
    memory : int, optional
        Bytes of data and workspace to compute at once, >= 1; by default 16 MiB on a CPU and
        4 GiB elsewhere.
    name : str, optional
        How results refer to it.

    Returns
    -------
    Algorithm

    Examples
    --------
    >>> import numpy as np, poise, torch
    >>> def perceptron():
    ...     return torch.nn.Sequential(
    ...         torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    >>> algorithm = poise.torch_algorithm(perceptron, loss="mse", lr=0.01, steps=20)
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(1500, 3))
    >>> y = X @ [1.0, 2.0, 3.0] + rng.normal(size=1500)
    >>> result = poise.stability_test(algorithm, X, y,
    ...     n=40, epsilon=0.5, delta=0.1, random_state=0)
    >>> result.verdict.value
    'stable'
    """
    import_torch()
    settings = TorchSettings(
        make_module=make_module,
        loss=loss,
        optimizer=optimizer,
        lr=lr,
        steps=steps,
        batch_size=batch_size,
        train=train,
        input_shape=input_shape,
        device=device,
        float64=float64,
        compile=compile,
    )
    settings.check()
    name = name or settings.description
    if classes is None and not settings.classifies:
        return TorchAlgorithm(settings, name=name, memory=memory)
    complete = partial(_classifier, settings, name, memory)
    response = arguments.choice("response", response, ("predict_proba", "predict"))
    algorithm = ClassesFromData(complete, name, response)
    return algorithm if classes is None else algorithm.completed(classes)


def _classifier(
    settings: TorchSettings, name: str, memory: int | None, labels: Labels
) -> TorchAlgorithm:
    return TorchAlgorithm(settings, name=name, memory=memory, labels=labels)


class TorchAlgorithm(AllAtOnce):
    """Trains copies of a module; see :func:`torch_algorithm`.

    Parameters
    ----------
    settings : TorchSettings
        The module and its training.
    name, memory
        As in :func:`torch_algorithm`.
    labels : Labels, optional
        Classes that the loss is to see as 0, 1, 2, …
    fit_by_fit : bool
        Whether the module was found to be one that cannot be trained with others.
    """

    library = "PyTorch"
    cache_bytes = 16 << 20  # a step takes a millisecond of Python: blocks are larger than in JAX

    def __init__(
        self,
        settings: TorchSettings,
        *,
        name: str,
        memory: int | None = None,
        labels: Labels | None = None,
        fit_by_fit: bool = False,
    ) -> None:
        super().__init__(name, settings.code, memory, labels)
        self.settings, self.fit_by_fit = settings, fit_by_fit
        self.fits = settings.fits("numbers" if labels is None else labels.response)
        # A module that was given to the user's code cannot serve two threads at once.
        self.thread_safe = settings.train is None and not fit_by_fit

    def prepared(self, sample: Sample) -> Algorithm:
        """Refuse rows that the module cannot read; see whether copies can be trained together."""
        super().prepared(sample)
        rows = self.fits.tensor(self.numbers("X", sample.training(slice(0, 2))[0])).cpu()
        self._check_outputs(rows)
        objection = self.settings.copies().objection_to_vmap(rows)
        if objection is None or self.fit_by_fit:
            return self
        warnings.warn(f"{self.name} is trained fit by fit: {objection}", PoiseWarning, stacklevel=2)
        return TorchAlgorithm(**{**self.options()[1], "fit_by_fit": True})

    def _check_outputs(self, rows: Any) -> None:
        copies = self.settings.copies()
        try:
            outputs = copies.outputs(copies.prototype().eval(), None, rows)
        except Exception as error:
            raise AlgorithmError(
                f"the module cannot read rows of {rows.shape[1]} numbers ({in_one_line(error)}); "
                "input_shape gives rows another shape"
            ) from error
        if self.labels is not None and outputs.shape[1:] != (len(self.labels),):
            raise AlgorithmError(
                f"the module must return {len(self.labels)} scores per row, one per class, "
                f"got shape {tuple(outputs.shape[1:])}"
            )

    def batch(self) -> BatchAlgorithm | None:
        """Return the same algorithm for many trials at once, if copies can be trained together."""
        return None if self.fit_by_fit else super().batch()

    def fit_one(self, X: NDArray[Any], y: NDArray[Any], xi: int) -> Callable[[NDArray[Any]], Any]:
        """Train one module by itself, with PyTorch's own optimiser."""
        return self.fits.fit_one(X, y, xi)

    def fit_all(self, stack: Stack) -> tuple[Any, Any]:
        """Train both modules of every trial."""
        return self.fits.fit_all(stack)

    def platform(self) -> str:
        """Name the kind of device that PyTorch computes on."""
        return "gpu" if self.fits.device.type == "cuda" else "cpu"

    def estimated_workspace(self, n: int, d: int) -> int:
        """See what PyTorch keeps of a forward pass, and how many numbers order the rows."""
        from poise.algorithms.torch.saved_memory import bytes_per_copy

        size, steps = self.settings.batch_size, self.settings.steps or 1
        orders = 0 if size is None or size > n else 24 * n * -(-steps // (n // size))
        return orders + bytes_per_copy(self.settings.copies(), min(size or n, n), d)

    def options(self) -> tuple[Callable[..., AllAtOnce], dict[str, Any]]:
        """Return what makes the same algorithm in another process."""
        return TorchAlgorithm, {
            "settings": self.settings,
            "name": self.name,
            "memory": self.memory,
            "labels": self.labels,
            "fit_by_fit": self.fit_by_fit,
        }
