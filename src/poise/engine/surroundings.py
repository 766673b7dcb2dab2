"""The surroundings of fits: whatever is global is set for each fit, and left as it was found.

``coupling="shared"`` promises both fits of a trial the same random numbers, also to an algorithm
that draws from a global generator: those of Python, NumPy and PyTorch are set from ξ before each
fit. BLAS and OpenMP get one thread: two workers with two threads each can be a hundred times slower
than one, and sums of several threads differ in their last bits. What fits warn of or print is
counted, and told once.
"""

from __future__ import annotations

import ctypes
import io
import os
import random
import re
import signal
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, ExitStack, suppress
from functools import cache, lru_cache, partial
from operator import attrgetter
from typing import Any, NamedTuple, NoReturn, Self

import numpy as np

from poise.checks import counted
from poise.engine.messages import Said
from poise.errors import in_one_line

_NUMBER = re.compile(r"[-+]?\d[\d.,]*(?:e[-+]?\d+)?", re.IGNORECASE)
_MOST_LINES = 100  # that are kept of one fit
_MOST_BYTES = 1 << 16
_MOST_KEPT = 1000  # of a run
_TURN = threading.RLock()  # what is global belongs to one run of fits at a time
_ALWAYS = ("always", None, Warning, None, 0)

States = list[Callable[[], object]]


class Settings(NamedTuple):
    """Settings of the calling thread that hold for its fits, wherever they run."""

    numpy: dict[str, Any]  # what it does about overflow and the like
    sklearn: dict[str, Any]  # its configuration, if it is loaded

    @classmethod
    def here(cls) -> Settings:
        """Read those of this thread."""
        sklearn = sys.modules.get("sklearn")
        return cls(dict(np.geterr()), {} if sklearn is None else sklearn.get_config())


class Surroundings:
    """Context of a run of fits; ``before_fit`` and ``after_fit`` go around each of them.

    The kernel ends this process when a fit takes longer than ``limit`` seconds: Python could not
    interrupt compiled code. So only worker processes have a limit.
    """

    depth = 0  # runs of fits that are under way here, one inside a fit of the other

    def __init__(self, settings: Settings, limit: float | None = None) -> None:
        self._settings, self._limit = settings, limit
        self._loaded: set[str] = set()

    def __enter__(self) -> Self:
        with ExitStack() as undo:
            self._undo = undo
            undo.enter_context(_TURN)
            undo.callback(setattr, Surroundings, "depth", Surroundings.depth)
            Surroundings.depth += 1
            # A program that ends with status 0 would look like a verdict.
            undo.callback(setattr, os, "_exit", os._exit)
            os._exit = partial(_fail_instead, os._exit, os.getpid())
            undo.callback(np.seterr, **np.geterr())
            for put_back in generators():
                undo.callback(put_back)
            with suppress(OSError):  # somebody has removed the folder, or a fit does
                undo.enter_context(suppress(OSError))
                undo.callback(os.chdir, os.getcwd())
            self._warned = undo.enter_context(warnings.catch_warnings(record=True))
            self._show = warnings.showwarning
            self._printed = undo.enter_context(_Printed())
            self._meet_libraries()
            self._undo = undo.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self._undo.close()

    def before_fit(self, xi: int) -> None:
        """Undo what an earlier fit may have changed, set every generator, start the clock."""
        np.seterr(**self._settings.numpy)
        warnings.showwarning = self._show
        if warnings.filters[:1] != [_ALWAYS]:
            warnings.simplefilter("always")
        _seed(xi)
        self.start_clock()

    def start_clock(self) -> None:
        """Give what follows its time."""
        if self._limit is not None:
            end_after(self._limit)

    def too_late(self) -> bool:
        """Tell whether the fit has imported what should have been prepared before it."""
        return len(sys.modules) != self._modules and self._meet_libraries()

    def after_fit(self) -> tuple[Said, ...]:
        """Stop the clock; return what the fit said, each once whatever numbers it holds."""
        if self._limit is not None:
            end_after(0)
        lines = self._printed.lines()
        if not (self._warned or lines):
            return ()
        said = [_said(warning) for warning in self._warned] + [Said("", line) for line in lines]
        self._warned.clear()
        return tuple({_without_numbers(each): each for each in reversed(said)}.values())[::-1]

    def _meet_libraries(self) -> bool:
        """Prepare what is loaded; return whether any of it was not prepared yet."""
        self._modules = len(sys.modules)
        controller = _thread_pools(self._modules)
        had_more = any(library.num_threads > 1 for library in controller.lib_controllers)
        self._undo.enter_context(controller.limit(limits=1))
        new = {name for name in ("torch", "sklearn") if _loaded(name)} - self._loaded
        self._loaded |= new
        if "sklearn" in new:
            context = sys.modules["sklearn"].config_context(**self._settings.sklearn)
            self._undo.enter_context(context)
        return had_more or bool(new)


class Heard:
    """What the fits of a run have said, and in how many of them."""

    def __init__(self) -> None:
        self.fits = 0
        self._counts: dict[Said, tuple[Said, int]] = {}

    def add(self, fits: int, said: Iterable[Said]) -> None:
        """Count what so many fits have said."""
        self.fits += fits
        for each in said:
            key = _without_numbers(each)
            first, count = self._counts.get(key, (each, 0))
            if count or len(self._counts) < _MOST_KEPT:
                self._counts[key] = first, count + 1

    def warn(self) -> None:
        """Issue each warning once, with the number of fits; the caller's filters apply."""
        for said, text in self._told():
            if said.category:
                warning, module = _warning(said.category, text), _module(said.file)
                warnings.warn_explicit(warning, type(warning), said.file, said.line, module)

    def printed(self) -> list[str]:
        """Return the lines that fits printed, each once."""
        return [text for said, text in self._told() if not said.category]

    def _told(self) -> list[tuple[Said, str]]:
        of = f" of {counted(self.fits, 'fit')})" if self.fits > 1 else ""
        return [
            (said, said.text + (f" (in {count:,}{of}" if of else ""))
            for said, count in self._counts.values()
        ]


class _Printed(AbstractContextManager["_Printed"]):
    """Takes what is printed meanwhile, also by compiled code; a debugger gets the terminal back."""

    def __enter__(self) -> Self:
        self._undo, self._file = ExitStack(), None
        with suppress(OSError, AttributeError, ValueError):  # there is no standard output
            sys.stdout.flush()
            _flush_compiled()()
            file = self._undo.enter_context(tempfile.TemporaryFile(buffering=0))
            terminal = os.dup(1)
            self._undo.callback(os.close, terminal)
            self._undo.callback(os.dup2, terminal, 1)
            self._undo.callback(_flush_compiled())
            os.dup2(file.fileno(), 1)
            for name in ("stdout", "breakpointhook"):
                self._undo.callback(setattr, sys, name, getattr(sys, name))
            raw: Any = open(1, "wb", 0, closefd=False)
            sys.stdout = io.TextIOWrapper(raw, "utf-8", "replace", write_through=True)
            sys.breakpointhook = self._debug
            self._file = file
        return self

    def lines(self) -> list[str]:
        """Return the lines that were printed since they were last asked for."""
        _flush_compiled()()
        file = self._file
        if file is None or not file.tell():
            return []
        file.seek(0)
        printed = file.read(_MOST_BYTES).decode(errors="replace")
        file.seek(0)
        file.truncate()
        return [line for line in printed.splitlines() if line.strip()][:_MOST_LINES]

    def _debug(self, *arguments: Any, **named: Any) -> Any:
        self.__exit__()
        return sys.breakpointhook(*arguments, **named)

    def __exit__(self, *error: object) -> None:
        self._file = None
        self._undo.close()


def _fail_instead(end: Callable[[int], NoReturn], process: int, status: int) -> NoReturn:
    if os.getpid() != process:  # a fork that a fit has made
        end(status)
    raise SystemExit(f"os._exit({status})")


@cache
def _flush_compiled() -> Callable[[], object]:
    """Return what writes out what the C library still holds of standard output."""
    for name in ("stdout", "__stdoutp"):  # glibc's, macOS's
        with suppress(OSError, TypeError, ValueError):
            library = ctypes.CDLL(None)
            return partial(library.fflush, ctypes.c_void_p.in_dll(library, name))
    return lambda: None


def end_after(seconds: float) -> None:
    """Let the kernel end this process then; 0 is never."""
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, seconds)


def generators() -> States:
    """Return what puts the global generators back: those of Python, NumPy and PyTorch."""
    back: States = [
        partial(random.setstate, random.getstate()),
        partial(np.random.set_state, np.random.get_state()),  # noqa: NPY002 - the global one
    ]
    if torch := _loaded("torch"):
        back.append(partial(torch.set_rng_state, torch.get_rng_state()))
        if torch.cuda.is_initialized():
            back.append(partial(torch.cuda.set_rng_state_all, torch.cuda.get_rng_state_all()))
    return back


def _seed(xi: int) -> None:
    random.seed(xi)
    np.random.seed(xi & 0xFFFFFFFF)  # noqa: NPY002
    if torch := _loaded("torch"):
        # torch.manual_seed takes a millisecond to note the call for accelerators that may appear.
        (torch if _has_accelerator(torch) else torch.default_generator).manual_seed(xi >> 1)


def _loaded(name: str) -> Any:
    """Return PyTorch, or scikit-learn, if it is imported already, and not halfway."""
    module = sys.modules.get(name)
    return module if hasattr(module, {"torch": "manual_seed"}.get(name, "config_context")) else None


@cache
def _has_accelerator(torch: Any) -> bool:
    accelerator = getattr(torch, "accelerator", None)  # since version 2.6
    return accelerator is None or bool(accelerator.is_available())


def one_thread() -> AbstractContextManager[object]:
    """Context in which BLAS and OpenMP have one thread."""
    limited: AbstractContextManager[object] = _thread_pools(len(sys.modules)).limit(limits=1)
    return limited


@lru_cache(maxsize=1)
def _thread_pools(modules: int) -> Any:
    """Find BLAS and OpenMP; once for so many loaded modules, because it takes 2 ms."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _said(warning: warnings.WarningMessage) -> Said:
    kind = warning.category
    text = in_one_line(warning.message).removeprefix(f"{kind.__name__}: ")  # type: ignore[arg-type]
    return Said(f"{kind.__module__}:{kind.__qualname__}", text, warning.filename, warning.lineno)


def _without_numbers(said: Said) -> Said:
    return said._replace(text=_NUMBER.sub("#", said.text))


def _warning(category: str, text: str) -> Warning:
    """Make a warning of a category that is loaded here; none is imported for it."""
    home, _, path = category.partition(":")
    try:
        made: Warning = attrgetter(path)(sys.modules[home])(text)
    except Exception:  # it is not loaded, or wants other arguments than a text
        return UserWarning(f"{path}: {text}")
    return made


def _module(file: str) -> str:
    """Name the module in a file: the caller's filters may know it by that."""
    for name, module in list(sys.modules.items()):
        if getattr(module, "__dict__", {}).get("__file__") == file:
            return name
    return file
