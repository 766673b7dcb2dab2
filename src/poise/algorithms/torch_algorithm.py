"""A PyTorch module and its training as an algorithm, thousands of copies at once."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from poise import checks
from poise.algorithms.algorithm import name_of, require_arguments
from poise.algorithms.batched import missing, named_call
from poise.errors import AlgorithmError

if TYPE_CHECKING:
    from poise.algorithms.torch_training import TorchAlgorithm


def torch_algorithm(
    make_module: Callable[[], Any],
    *,
    loss: str | Callable[..., Any],
    steps: int,
    optimizer: str | Callable[..., Any] = "adam",
    lr: float = 1e-3,
    batch_size: int | None = None,
    classes: bool | None = None,
    response: str = "predict_proba",
    device: str = "auto",
    float64: bool = False,
    compile: bool = False,
    at_once: int | None = None,
) -> TorchAlgorithm:
    """Turn a PyTorch module and its training into an algorithm, many copies trained at once.

    ``torch.vmap`` calls one module with the numbers of all copies, and an optimiser of PyTorch
    changes them. The copy of a data set is trained as it would be alone: initial weights, order
    of minibatches and dropout come from the fit's random term.

    Parameters
    ----------
    make_module : callable
        ``make_module()`` returns a new module, which takes rows (n, d) and returns (n,), (n, 1) or
        (n, outputs). Its initial weights are drawn by PyTorch. ``torch.nn.Unflatten`` as first
        layer makes images of rows.
    loss : {"mse", "l1", "huber", "cross_entropy"} or callable
        Or ``loss(outputs, responses)``, which returns one number.
    steps : int
        Steps of the optimiser.
    optimizer : {"adam", "adamw", "sgd"} or callable
        Or ``optimizer(parameters)``, which returns an optimiser that treats every number by itself.
    lr : float
        Step size of an optimiser that is named.
    batch_size : int, optional
        Rows of one step, in a new random order for each pass over the rows; by default all rows.
    classes : bool, optional
        Whether responses are classes, those of all rows; the module returns one score for each.
        By default True for "cross_entropy".
    response, float64, at_once
        As in :func:`poise.jax_algorithm`.
    device : str
        "auto" for a GPU if there is one, or what ``torch.device`` takes.
    compile : bool
        Let ``torch.compile`` speed up the steps; compiling takes some seconds for n rows and
        again for n − 1, in each process.

    Raises
    ------
    AlgorithmError
        Before the first fit, if copies cannot be trained together: modules with BatchNorm, with
        branches on numbers or with random numbers other than dropout, and optimisers such as
        LBFGS. Train these one at a time in a function ``fit(X, y, seed)``.

    Examples
    --------
    >>> import poise, torch
    >>> from sklearn.datasets import load_diabetes
    >>> def network():
    ...     return torch.nn.Sequential(
    ...         torch.nn.Linear(10, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1)
    ...     )
    >>> algorithm = poise.torch_algorithm(network, loss="mse", steps=50, lr=0.01)
    >>> X, y = load_diabetes(return_X_y=True)
    >>> poise.measure(algorithm, X, y, n=20).n_trials
    21
    """
    if find_spec("torch") is None:
        raise missing("PyTorch", "torch")
    import torch

    from poise.algorithms.torch_training import LOSSES, OPTIMIZERS, TorchAlgorithm

    if isinstance(make_module, torch.nn.Module):
        problem = "make_module must be a function that returns a new module, got a module"
        remedy = "write lambda: torch.nn.Sequential(...): each fit starts with its own weights"
        raise AlgorithmError(problem, remedy=remedy)
    require_arguments(make_module, ())
    how = optimizer if callable(optimizer) else checks.choice("optimizer", optimizer, OPTIMIZERS)
    options: dict[str, Any] = {
        "loss": loss if callable(loss) else checks.choice("loss", loss, LOSSES),
        "steps": checks.count("steps", steps, 1),
        "optimizer": how,
        "lr": checks.positive("lr", lr),
        "batch_size": None if batch_size is None else checks.count("batch_size", batch_size, 1),
        "float64": checks.flag("float64", float64),
        "compile": checks.flag("compile", compile),
    }
    if classes is None:
        classes = loss == "cross_entropy"
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    called = named_call(name_of(make_module), options, torch_algorithm.__kwdefaults__ or {})
    algorithm = TorchAlgorithm(called, classes, response, at_once)
    vars(algorithm).update(options, make_module=make_module, place=torch.device(device))
    algorithm.kind = torch.float64 if float64 else torch.float32
    algorithm.user_code = (make_module, loss, optimizer, torch.nn.Linear)
    return algorithm
