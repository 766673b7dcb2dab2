"""Global state: random generators, and scikit-learn's configuration.

``coupling="shared"`` promises that both fits get the same random numbers. An algorithm
that draws from a global generator would break that promise. So the generators of
Python, NumPy and PyTorch are set from ξ before each fit, and restored afterwards.
Workers would have another configuration of scikit-learn than the calling thread, so it
is sent with the work.
"""

from __future__ import annotations

import functools
import os
import random
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass
from types import TracebackType
from typing import Any, TypeVar

import numpy as np

from poise.algorithms.fit_warnings import fit_begins

__all__ = ["Configuration", "GlobalGenerators", "current_configuration", "one_at_a_time"]

_TURN = threading.RLock()

Result = TypeVar("Result")


def one_at_a_time(thread_safe: bool) -> AbstractContextManager[Any]:
    """Context that threads enter one at a time, unless the algorithm is thread-safe.

    The global generators belong to the whole process: two threads that both set
    and use them would see each other's randomness.

    Examples
    --------
    >>> with one_at_a_time(thread_safe=False):
    ...     pass
    """
    return nullcontext() if thread_safe else _TURN


@dataclass(frozen=True)
class Configuration:
    """The configuration of scikit-learn of a thread, for fits in other threads and processes.

    Attributes
    ----------
    settings : dict
        Its settings; empty if scikit-learn is not imported.
    as_imported : bool
        Whether every process that imports scikit-learn has the same ones from the beginning.

    Examples
    --------
    >>> import sklearn
    >>> with Configuration({"enable_metadata_routing": True}).in_force():
    ...     sklearn.get_config()["enable_metadata_routing"]
    True
    """

    settings: dict[str, Any]
    as_imported: bool = False

    def in_force(self) -> AbstractContextManager[Any]:
        """Context with this configuration; it imports scikit-learn only if that matters."""
        if not self.settings:
            return nullcontext()
        if self.as_imported and "sklearn" not in sys.modules and not _set_by_environment():
            return nullcontext()  # importing it takes a worker longer than many a run
        import sklearn

        context: AbstractContextManager[Any] = sklearn.config_context(**self.settings)
        return context


def current_configuration() -> Configuration:
    """Return scikit-learn's configuration in this thread."""
    sklearn = sys.modules.get("sklearn")
    if sklearn is None:
        return Configuration({})
    settings = dict(sklearn.get_config())
    return Configuration(settings, not _set_by_environment() and settings == _first_settings())


def _set_by_environment() -> bool:
    """Tell whether variables such as SKLEARN_ASSUME_FINITE may have been read at the import."""
    return any(name.startswith("SKLEARN_") for name in os.environ)


@functools.cache
def _first_settings() -> dict[str, Any]:
    """Return the settings that scikit-learn begins with, which a new thread has."""
    import sklearn

    with ThreadPoolExecutor(1) as new_thread:
        return dict(new_thread.submit(sklearn.get_config).result())


class GlobalGenerators:
    """Context in which the global generators are set from ξ; restored at its end.

    So is what NumPy does about overflow and the like, which a fit may change.

    Examples
    --------
    >>> with GlobalGenerators() as generators:
    ...     generators.pin(7)
    ...     first = random.random()
    ...     generators.seeded(7, random.random) == first
    True
    """

    def __enter__(self) -> GlobalGenerators:
        with _TURN:  # not during another thread's fit
            self._errors = np.geterr()
            self._python = random.getstate()
            self._numpy: Any = np.random.get_state()  # noqa: NPY002 - the global one is the point
            self._torch = _torch()
            self._torch_states = None if self._torch is None else _states(self._torch)
        self._latecomers = ExitStack()
        return self

    def pin(self, xi: int) -> None:
        """Set every loaded global generator from ``xi``."""
        random.seed(xi)
        np.random.seed(xi & 0xFFFFFFFF)  # noqa: NPY002
        torch = _torch()
        if torch is not None:
            seed = torch.default_generator if _without_accelerator(torch) else torch
            seed.manual_seed(xi >> 1)

    def seeded(self, xi: int, fit: Callable[[], Result]) -> Result:
        """Return what ``fit`` returns when every global generator is set from ``xi``.

        A fit that imports PyTorch ran without a seed for it and without a limit on its
        threads: its result is dropped, and the fit is called again.
        """
        fit_begins()
        loaded = _torch() is not None
        self.pin(xi)
        result = fit()
        if loaded or _torch() is None:
            return result
        self._limit_threads()
        self.pin(xi)
        return fit()

    def _limit_threads(self) -> None:
        from threadpoolctl import threadpool_limits

        self._latecomers.enter_context(threadpool_limits(1))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._latecomers.close()
        np.seterr(**self._errors)
        with _TURN:
            random.setstate(self._python)
            np.random.set_state(self._numpy)  # noqa: NPY002
            if self._torch is not None and self._torch_states is not None:
                _restore(self._torch, *self._torch_states)


def _torch() -> Any:
    """Return PyTorch if it is imported already; it is never imported here."""
    torch = sys.modules.get("torch")
    return torch if hasattr(torch, "manual_seed") else None  # not if it is half imported


@functools.cache
def _without_accelerator(torch: Any) -> bool:
    """Whether the CPU's generator is the only one.

    ``torch.manual_seed`` would also register a call, with its stack trace, for every
    accelerator that may appear later: that takes a millisecond before each fit.
    """
    accelerator = getattr(torch, "accelerator", None)  # since version 2.6
    return accelerator is not None and not accelerator.is_available()


def _states(torch: Any) -> tuple[Any, Any]:
    """Return the states of its generators: of the CPU, and of GPUs that are in use."""
    gpus = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else None
    return torch.get_rng_state(), gpus


def _restore(torch: Any, cpu: object, gpus: object) -> None:
    torch.set_rng_state(cpu)
    if gpus is not None:
        torch.cuda.set_rng_state_all(gpus)
