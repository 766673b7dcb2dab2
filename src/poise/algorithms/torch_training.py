"""Copies of a PyTorch module, trained at the same time: one for each data set of a stack.

The copies are one module, called by ``torch.vmap`` with stacked numbers. PyTorch's own optimisers
take stacked numbers as they are, because they treat every number by itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.func import functional_call, grad, vmap
from torch.nn.functional import cross_entropy, huber_loss, l1_loss, mse_loss
from torch.optim import SGD, Adam, AdamW, Optimizer

from poise.algorithms.algorithm import blaming_user_code
from poise.algorithms.batched import Batched, Stack
from poise.errors import AlgorithmError

if TYPE_CHECKING:
    from poise.data.sample import Sample

State = dict[str, Tensor]  # parameters and buffers by name
LOSSES: dict[str, Any] = {
    "mse": mse_loss,
    "l1": l1_loss,
    "huber": huber_loss,
    "cross_entropy": cross_entropy,
}
OPTIMIZERS: dict[str, Any] = {"adam": Adam, "adamw": AdamW, "sgd": SGD}
_ALONE = "train it in a function fit(X, y, seed), one module at a time"


class TorchAlgorithm(Batched):
    """Trains copies of a module; its attributes are the arguments of ``torch_algorithm``."""

    library = "PyTorch"
    has_own_code = False  # two modules of one seed are compared before the first fit
    make_module: Callable[[], nn.Module]
    loss: Any
    steps: int
    optimizer: Any
    lr: float
    batch_size: int | None
    place: torch.device
    kind: torch.dtype
    compile: bool

    def where(self) -> str:
        """Name the GPU."""
        if self.place.type == "cuda":
            return str(torch.cuda.get_device_name(self.place))
        return "" if self.place.type == "cpu" else str(self.place)

    def prepared(self, sample: Sample) -> Self:
        """See on three rows whether copies can be trained together."""
        ready = super().prepared(sample)
        X, y, _ = sample.training(np.arange(3) % sample.n_labeled)
        ready._check(ready.numbers("X", X), ready.targets(y))
        return ready

    def outputs(self, X: Stack, y: Stack, points: Stack, xi: NDArray[np.uint64]) -> Stack:
        """Train one copy for each data set and call it with its points."""
        start, keys = self._start(xi.tobytes()), self._keys(xi)
        # Convolutions shall add up in one order, and in full precision.
        with torch.backends.cudnn.flags(enabled=True, deterministic=True, allow_tf32=False):
            self.module.train()
            state = self._trained(start, self._tensor(X), self._tensor(y), keys, self.steps)
            self.module.eval()
            with torch.no_grad():
                found = vmap(self._call)(state, self._tensor(points))
        if self.n_classes is not None:
            found = found.argmax(-1) if self.response == "predict" else found.softmax(-1)
        return np.asarray(found.cpu().numpy())

    def _check(self, X: Any, y: Any) -> None:
        """Refuse, on three rows, what cannot be trained in copies."""
        rows, module = self._tensor(X), self.module.train()
        before = {name: b.clone() for name, b in module.named_buffers()}
        with blaming_user_code(f"the module fails on {len(rows)} rows"):
            found = module(rows)
        wanted = (len(rows),) if self.n_classes is None else (len(rows), self.n_classes)
        shape = tuple(found.shape) if isinstance(found, Tensor) else type(found).__name__
        if shape[: len(wanted)] != wanted:
            per_row = "one output" if self.n_classes is None else f"{self.n_classes} scores"
            rule = f"the module must return {per_row} per row"
            raise AlgorithmError(f"{rule}; for {len(rows)} rows it returns {shape}")
        for name, b in module.named_buffers():
            if not (torch.equal(b, before[name]) or name in self._masks):
                problem = f"the module changes its buffer {name!r} while it trains"
                remedy = f"take GroupNorm or LayerNorm in place of BatchNorm, or {_ALONE}"
                raise AlgorithmError(problem, remedy=remedy)
        first, again = self._made([0, 0])
        if not all(torch.equal(first[name], again[name]) for name in first):
            remedy = "draw them by torch.rand, torch.nn.init and the like"
            raise AlgorithmError("make_module draws random numbers outside PyTorch", remedy=remedy)
        one, other = self._first_of_two(rows, self._tensor(y))
        if not all(torch.equal(one[name], other[name]) for name in one):
            problem = "the optimiser does not treat every number by itself, so it would mix copies"
            remedy = f"take Adam, AdamW, RMSprop or SGD, or {_ALONE}"
            raise AlgorithmError(problem, remedy=remedy)

    def _first_of_two(self, X: Tensor, y: Tensor) -> list[State]:
        """Return what two steps make of a copy beside two different ones."""
        remedy = (
            "do without branches on numbers, let torch.nn.Dropout draw the random numbers, and "
            f"take an optimiser such as Adam or SGD; or {_ALONE}"
        )
        xi, found = np.array([0, 1], np.uint64), []
        for scale in (1, 1000):
            both, twice = torch.stack([X, scale * X + 1]), torch.stack([y, y])
            start = self._start(xi.tobytes())
            with blaming_user_code("copies of the module cannot be trained together", remedy):
                state = self._trained(start, both, twice, self._keys(xi), 2, alone=True)
            found.append({name: values[0] for name, values in state.items()})
        return found

    @cached_property
    def module(self) -> nn.Module:
        """The module that is called with the numbers of all copies in turn."""
        with torch.random.fork_rng(devices=[]):
            module = self.make_module()
        if not isinstance(module, nn.Module):
            raise AlgorithmError(f"make_module must return a torch.nn.Module, got {module!r}")
        for layer in module.modules() if self.compile else ():
            if type(layer) is nn.Linear and layer.out_features == 1:
                layer.__class__ = Column
        return _with_seeded_dropout(module).to(self.place, self.kind)

    @cached_property
    def _masks(self) -> list[str]:
        """The buffers that hold the seeds of dropout."""
        return [k for k, _ in self.module.named_buffers() if k.rpartition(".")[2] == Dropout.SEED]

    @cached_property
    def _slopes(self) -> Callable[..., State]:
        """The gradients of all copies, as a function of stacked numbers."""
        measure = self.loss if callable(self.loss) else LOSSES[self.loss]

        def loss(trained: State, others: State, X: Tensor, y: Tensor) -> Tensor:
            value: Tensor = measure(self._call({**trained, **others}, X), _flat(y))
            return value

        slopes: Callable[..., State] = vmap(grad(loss), randomness="error")
        return slopes

    @cached_property
    def _compiled(self) -> Callable[..., State]:
        compiled: Callable[..., State] = torch.compile(self._slopes, dynamic=False)
        return compiled

    def _call(self, state: State, rows: Tensor) -> Tensor:
        return _flat(functional_call(self.module, state, (rows,)))

    def _made(self, seeds: Iterable[int]) -> list[State]:
        """Return the numbers of new modules, which PyTorch draws after these seeds."""
        made = []
        with torch.random.fork_rng(devices=[]):
            for seed in seeds:
                torch.default_generator.manual_seed(seed)
                module = _with_seeded_dropout(self.make_module())
                named = (*module.named_parameters(), *module.named_buffers())
                made.append({name: each.detach() for name, each in named})
        return made

    def _start(self, terms: bytes) -> State:
        """Return the first numbers of one copy per random term, stacked."""
        known, state = vars(self).get("_last", (b"", {}))
        if terms != known:  # where fits share ξ, the reduced ones start as the full ones
            made = self._made(xi >> 1 for xi in np.frombuffer(terms, np.uint64).tolist())
            state = {name: torch.stack([each[name] for each in made]) for name in made[0]}
            state = {name: self._tensor(values) for name, values in state.items()}
            self._last = terms, state
        return {name: values.clone() for name, values in state.items()}

    def _trained(
        self, state: State, X: Tensor, y: Tensor, keys: Tensor, steps: int, alone: bool = False
    ) -> State:
        """Change stacked numbers in place; ``alone`` does without compiling."""
        slopes = self._compiled if self.compile and not alone else self._slopes
        names = [name for name, p in self.module.named_parameters() if p.requires_grad]
        trained = {name: state.pop(name) for name in names}
        optimizer, on_gpu = self._optimizer(list(trained.values())), X.is_cuda
        done = torch.zeros((), dtype=torch.int64, device=X.device)

        def step() -> None:
            for place, name in enumerate(self._masks):
                state[name] = _mixed_with(keys, 2, done * len(self._masks) + place)
            for name, slope in slopes(trained, state, *self._some(X, y, keys, done)).items():
                trained[name].grad = slope
            optimizer.step()
            done.add_(1)

        _repeat(step, steps, record=on_gpu and self.optimizer in OPTIMIZERS and not alone)
        return {**trained, **state}

    def _optimizer(self, numbers: list[Tensor]) -> Optimizer:
        if callable(self.optimizer):
            found: Optimizer = self.optimizer(numbers)
            return found
        kind = OPTIMIZERS[self.optimizer]
        counts = {"capturable": True} if numbers[0].is_cuda and self.optimizer != "sgd" else {}
        made: Optimizer = kind(numbers, lr=self.lr, fused=True, **counts)
        return made

    def _some(self, X: Tensor, y: Tensor, keys: Tensor, step: Tensor) -> tuple[Tensor, Tensor]:
        """Return the rows of a step: a new random order for each pass over the rows.

        The key of a row is the same for n and for n − 1 rows.
        """
        rows, size = X.shape[1], self.batch_size
        if size is None or size >= rows:
            return X, y
        per_pass = rows // size
        order = bits(_mixed_with(keys, 1, step // per_pass), rows).argsort(dim=1, stable=True)
        places = step % per_pass * size + torch.arange(size, device=X.device)
        each = torch.arange(len(X), device=X.device)[:, None]
        return X[each, order[:, places]], y[each, order[:, places]]

    def _tensor(self, values: Any) -> Tensor:
        found = torch.as_tensor(values)
        whole = not found.is_floating_point()
        return found.to(self.place, torch.int64 if whole else self.kind)

    def _keys(self, xi: NDArray[np.uint64]) -> Tensor:
        return torch.from_numpy(xi.view(np.int64).copy()).to(self.place)

    def __getstate__(self) -> dict[str, Any]:
        made = ("module", "_masks", "_slopes", "_compiled", "_last")
        return {name: value for name, value in vars(self).items() if name not in made}


def _flat(values: Tensor) -> Tensor:
    """Return one number per row where there is one column."""
    return values[:, 0] if values.shape[1:] == (1,) else values


def _repeat(step: Callable[[], None], steps: int, record: bool) -> None:
    """Take a step several times; on a GPU it is recorded once and played back.

    Else launching its parts takes most of the time: minibatches of 20 rows train a third as fast.
    """
    if not record or steps < 3:
        for _ in range(steps):
            step()
        return
    aside = torch.cuda.Stream()
    aside.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(aside):  # the first step also prepares libraries and the optimiser
        step()
    torch.cuda.current_stream().wait_stream(aside)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):  # recorded, not taken
        step()
    for _ in range(steps - 1):
        graph.replay()


# Random numbers of ξ. PyTorch's generators draw for a whole stack, so that the numbers of one copy
# would depend on its company. Here the i-th number is a function of a seed and i (SplitMix64).
def _signed(constant: int) -> int:
    return constant % (1 << 64) - (1 << 64) * (constant >> 63 & 1)


_STEP = 0x9E3779B97F4A7C15
# Seed and place are added before they are multiplied: of products of places alone torch.compile
# makes numbers beyond 64 bits.
_UNDO, _STEP = _signed(pow(_STEP, -1, 1 << 64)), _signed(_STEP)
_FIRST, _SECOND = _signed(0xBF58476D1CE4E5B9), _signed(0x94D049BB133111EB)


def bits(seed: Tensor, *shape: int) -> Tensor:
    """Return 53 random bits, as integers, for each seed and each place of ``shape``."""
    places = torch.arange(1, math.prod(shape) + 1, device=seed.device).reshape(shape)
    seeds = seed.reshape(*seed.shape, *[1] * len(shape)) * _UNDO
    return _shifted(_mixed((seeds + places) * _STEP), 11)


def _mixed_with(keys: Tensor, stream: int, number: Tensor) -> Tensor:
    return _mixed(_mixed(keys + stream) + number)


def _mixed(values: Tensor) -> Tensor:
    values = (values ^ _shifted(values, 30)) * _FIRST
    values = (values ^ _shifted(values, 27)) * _SECOND
    return values ^ _shifted(values, 31)


def _shifted(values: Tensor, places: int) -> Tensor:
    return (values >> places) & ((1 << (64 - places)) - 1)  # PyTorch's integers have a sign


class Dropout(nn.Module):
    """Dropout whose mask is a function of a seed, which is set before each step."""

    SEED = "seed_of_the_mask"

    def __init__(self, p: float, channels: bool) -> None:
        super().__init__()
        self.p, self.channels = p, channels
        self.register_buffer(self.SEED, torch.zeros((), dtype=torch.int64))

    def forward(self, values: Tensor) -> Tensor:
        """Drop single numbers, or whole channels."""
        if not self.training or self.p == 0:
            return values
        seed = getattr(self, self.SEED)
        setattr(self, self.SEED, _mixed(seed + 1))  # the module may be called again in this step
        ones = (1,) * (values.ndim - 2)
        kept = bits(seed, *((*values.shape[:2], *ones) if self.channels else values.shape))
        return torch.where(kept >= int(self.p * 2**53), values / max(1 - self.p, 1e-9), 0)


class Column(nn.Linear):
    """A layer of one output as a sum, which torch.compile joins with the layers around it.

    As a product of matrices it takes a third of the time of a small network on a GPU.
    """

    def forward(self, values: Tensor) -> Tensor:
        """Weigh the inputs and add them up."""
        found = (values * self.weight).sum(-1, keepdim=True)
        return found if self.bias is None else found + self.bias


def _with_seeded_dropout(module: nn.Module) -> nn.Module:
    channels = (nn.Dropout1d, nn.Dropout2d, nn.Dropout3d)
    for parent in list(module.modules()):
        for name, child in list(parent.named_children()):
            if type(child) in (nn.Dropout, *channels):
                setattr(parent, name, Dropout(child.p, type(child) in channels))
    return module
