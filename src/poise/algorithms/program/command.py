"""The command line of a program, checked before anything runs."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from poise.errors import AlgorithmError, ArgumentError

__all__ = ["SAFE_PATH", "Command", "as_command"]

SAFE_PATH = "poise"  # PYTHONSAFEPATH, where it is poise and not the user who sets it

_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_REQUIRED = ("train", "test", "predictions")
_KNOWN = (*_REQUIRED, "seed")

# Workers already fill the cores: a second layer of threads makes every fit
# slower, by up to two orders of magnitude. A user who wants it sets the variable.
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True)
class Command:
    """Everything that is needed to start the program; not a running process.

    Two equal commands start interchangeable processes, so a command is used as a key.
    """

    words: tuple[str, ...]
    env: tuple[tuple[str, str], ...] = ()
    cwd: str | None = None

    def __str__(self) -> str:
        return shlex.join(self.words)

    def filled(self, values: Mapping[str, str]) -> list[str]:
        """Return the words with every placeholder replaced."""
        return [_PLACEHOLDER.sub(lambda found: values[found[1]], word) for word in self.words]

    def environment(self, folder: str | None = None) -> dict[str, str]:
        """Return the environment of the program; ``folder`` holds its temporary files.

        A killed program cannot remove its temporary files: they go into a folder that poise
        removes.
        """
        inherited = dict.fromkeys(_ONE_THREAD, "1") | dict(os.environ)
        if inherited.get("PYTHONSAFEPATH") == SAFE_PATH:  # meant for workers
            del inherited["PYTHONSAFEPATH"]
        temporary = {} if folder is None else {"TMPDIR": folder}
        return inherited | temporary | dict(self.env)


def as_command(
    command: str | Sequence[str],
    mode: str,
    env: Mapping[str, str] | None,
    cwd: str | os.PathLike[str] | None,
) -> Command:
    """Check every part of the command line and put it together.

    Examples
    --------
    >>> str(as_command("sort {train} {test} -o {predictions}", "one-shot", None, None))
    "sort '{train}' '{test}' -o '{predictions}'"
    >>> as_command("sort {train} {test}", "one-shot", None, None)
    Traceback (most recent call last):
    poise.errors.AlgorithmError: command must contain {predictions}, ...
    """
    words = _words(command)
    if mode == "one-shot":
        _check_placeholders(words)
    else:
        _check_no_placeholders(words)
    checked = Command(words, _variables(env), _folder(cwd))
    _check_found(checked)
    return checked


def _words(command: str | Sequence[str]) -> tuple[str, ...]:
    """Split a string as a shell would, without ever running one; keep a list as it is."""
    if isinstance(command, str):
        try:
            words = tuple(shlex.split(command))
        except ValueError as error:
            raise AlgorithmError(f"command cannot be split ({error}), got {command!r}") from None
    elif isinstance(command, (list, tuple)) and all(map(_is_word, command)):
        words = tuple(os.fspath(word) for word in command)
    else:
        words = ()
    if not words:
        raise AlgorithmError(
            f"command must be a string or a list of strings, the program first, got {command!r}"
        )
    return words


def _is_word(word: object) -> bool:
    return isinstance(word, (str, os.PathLike))


def _placeholders(words: tuple[str, ...]) -> list[str]:
    return [name for word in words for name in _PLACEHOLDER.findall(word)]


def _check_placeholders(words: tuple[str, ...]) -> None:
    found = _placeholders(words)
    for name in found:
        if name not in _KNOWN:
            known = ", ".join(f"{{{known}}}" for known in _KNOWN)
            raise AlgorithmError(
                f"command has the unknown placeholder {{{name}}}; known are {known}; "
                "code with braces of its own belongs in a file"
            )
    for name in _REQUIRED:
        if name not in found:
            raise AlgorithmError(
                f"command must contain {{{name}}}, the path of a file that poise passes to "
                f"the program (or use mode='serving'), got {shlex.join(words)!r}"
            )


def _check_no_placeholders(words: tuple[str, ...]) -> None:
    for name in _placeholders(words):
        if name in _KNOWN:
            raise AlgorithmError(
                f"command must not contain {{{name}}} with mode='serving': the data arrive on "
                "standard input; remove it or use mode='one-shot'"
            )


def _variables(env: Mapping[str, str] | None) -> tuple[tuple[str, str], ...]:
    for name, value in (env or {}).items():
        if not (isinstance(name, str) and isinstance(value, str)):
            raise ArgumentError(f"env must map strings to strings, got {name!r}: {value!r}")
    return tuple(sorted((env or {}).items()))


def _folder(cwd: str | os.PathLike[str] | None) -> str | None:
    if cwd is not None and not os.path.isdir(cwd):
        raise ArgumentError(f"cwd must be an existing folder, got {os.fspath(cwd)!r}")
    return None if cwd is None else os.path.abspath(cwd)


def _check_found(command: Command) -> None:
    program = command.words[0]
    if os.path.dirname(program):
        place = os.path.join(command.cwd or "", program)
        remedy = "check the path and that the file is executable"
    else:
        place, remedy = program, "install it, or give its full path"
    if shutil.which(place, path=command.environment().get("PATH")) is None:
        raise AlgorithmError(f"command names the program {program!r}, not found; {remedy}")
