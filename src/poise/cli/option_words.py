"""Messages of the library, with options in place of Python's keywords."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache

import click

from poise.cli.command_list import COMMANDS, import_command

__all__ = ["in_options", "near_options", "options_by_argument"]

# Options that click calls otherwise than the library calls the argument.
ARGUMENTS = {
    "fit_param": "fit_params",
    "fresh": "X_fresh",
    "id": "ids",
    "key_file": "key",
    "unlabeled": "X_unlabeled",
}
# Many algorithms have a parameter alpha, and `--param alpha=1.0` is what users write.
OF_ALGORITHMS = {"alpha"}

_MODES = {"mode='serving'": "--serving", "mode='one-shot'": "no --serving"}
_CALLS = {
    "poise.check_algorithm": "poise check",
    "poise.conditional_test, or poise deployed on the command line": "poise deployed",
    "or abandon() it": "or give it up with --abandon",
    "poise.read_table": "poise",
    # A remedy that has no option is left out.
    ", and check=False silences this": "",
    " (poise.relative(..., rows=...))": "",
    "{'sample_weight': weights}": "sample_weight=COLUMN",
    "backend='dask' or 'ray'": "--backend dask or ray",
    "Name it as target": "Name it with --target",
    "or set header to false": "or give --no-header",
}
# What only Python can give; neither an option nor a key can be None.
_ONLY_PYTHON = {
    "must be None or ": "must be ",
    "must be None, a whole number >= 0, a numpy Generator or a RandomState": (
        "must be a whole number >= 0"
    ),
    " or None, got ": ", got ",
}
# Arguments inside a call belong to the algorithm: Ridge(random_state=0), Bagging(Ridge(), n_jobs=2)
# so do the parameters that it has, and columns belong to their file.
_OTHERS = re.compile(r"(\w\((?:[^()]|\([^()]*\))*\)|It has: .*)", re.DOTALL)
# The readers of files say "set decimal to ','" both for keywords and for options.
_SET = re.compile(r"set (decimal|encoding|sep) to ")
_TOML = {"True": "true", "False": "false"}
_IN_KEYS = {
    "must be True or False": "must be true or false",
    "must be True, False or ": "must be true, false or ",
}
_NEVER = "(?!)"  # matches nothing; the empty pattern would match everywhere
_VALUE = r"=(?:'([^']*)'|([^\s;,)]*))"


def in_options(message: str, command: str | None = None) -> str:
    """Replace the keywords of Python in a message by the options that mean the same.

    If ``command`` is given, only its own options are named. The settings of ``poise run`` are
    keys of its file. Except for two, they have the same names as in Python.

    Examples
    --------
    >>> in_options("say distance='label', or n_jobs=2; random_state must be a whole number")
    'say --distance label, or --jobs 2; --seed must be a whole number'
    >>> in_options("remove must be less than n (or at most n with replace=True)")
    'remove must be less than n (or at most n with --replace)'
    >>> in_options("say shuffle=False"), in_options("got replace=False")
    ('say --no-shuffle', 'got no --replace')
    >>> in_options("Ridge(random_state=0) must not set random_state=0")
    'Ridge(random_state=0) must not set --seed 0'
    >>> in_options("random_state must be a whole number; distance='label'", command="run")
    'seed must be a whole number; distance = "label"'
    """
    if command == "run":
        return _but_others(_in_keys, _replaced(message, _ONLY_PYTHON | _IN_KEYS))
    message = _replaced(message, _CALLS | _MODES | _ONLY_PYTHON)
    return _but_others(lambda part: _translated(part, command), message)


@cache
def options_by_argument(command: str | None = None) -> dict[str, click.Option]:
    """Return the option of a command, or of any, that stands for each argument of the library.

    Every option is here, so that a new one needs no line in this module.

    Examples
    --------
    >>> options_by_argument()["random_state"].opts, options_by_argument("verify")["key"].opts
    (['--seed'], ['--key'])
    >>> "data" in options_by_argument("verify"), "data" in options_by_argument("test")
    (True, False)
    """
    found: dict[str, click.Option] = {}
    for name in [command] if command in COMMANDS else COMMANDS:
        options = (each for each in import_command(name).params if isinstance(each, click.Option))
        for option in options:
            found.setdefault(ARGUMENTS.get(str(option.name), str(option.name)), option)
    return {name: option for name, option in found.items() if name not in OF_ALGORITHMS}


def _replaced(message: str, words: dict[str, str]) -> str:
    for python, instead in words.items():
        message = message.replace(python, instead)
    return message


def _but_others(translate: Callable[[str], str], message: str) -> str:
    parts = _OTHERS.split(message)
    return "".join(part if i % 2 else translate(part) for i, part in enumerate(parts))


def _given(names: Iterable[str]) -> re.Pattern[str]:
    """Return the pattern of ``name=value``, but not of what a user wrote: --param, a path."""
    return re.compile(rf"(?<![^\s(])(?<!--param )({_any(names)}){_VALUE}")


def _bare(names: Iterable[str]) -> re.Pattern[str]:
    """Return the pattern of a name by itself that belongs to Python.

    A word such as delta belongs to mathematics; a word with an underscore belongs to Python.
    """
    python = (name for name in names if "_" in name)
    return re.compile(rf"""(?<![\w.'"/-])({_any(python)})\b(?: =(?= ))?""")


def _any(names: Iterable[str]) -> str:
    return "|".join(sorted(names, key=len, reverse=True)) or _NEVER


@cache
def _patterns(command: str | None) -> tuple[re.Pattern[str], re.Pattern[str]]:
    known = options_by_argument(command)
    return _given(known), _bare(known)


def _translated(message: str, command: str | None) -> str:
    known = options_by_argument(command)
    given, bare = _patterns(command)
    message = _SET.sub(r"set --\1 to ", message)
    message = given.sub(lambda found: _option(known[found[1]], _value(found)), message)
    return bare.sub(lambda found: known[found[1]].opts[0], message)


def _value(given: re.Match[str]) -> str:
    return given[2] if given[2] is not None else given[3]


def _option(option: click.Option, value: str) -> str:
    name = option.opts[0]
    if value == "False" and option.secondary_opts:
        return option.secondary_opts[0]
    if value in ("None", "False"):
        return f"no {name}"
    return name if value in ("", "True") else f"{name} {value}"


@cache
def _keys() -> dict[str, str]:
    """Return the key of a TOML file that stands for each argument of the library."""
    from poise.questions.toml_file import deployed_names, setting_names

    settings = {name: key for key, name in (deployed_names() | setting_names()).items()}
    return settings | {name: name for name in ("groups", "mode", "target")}


@cache
def _key_patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    renamed = [name for name, key in _keys().items() if name != key]
    return _given(_keys()), _bare(renamed)


def _in_keys(message: str) -> str:
    """Replace the keywords of Python in a message by keys of a TOML file."""
    keys = _keys()
    given, bare = _key_patterns()
    message = given.sub(lambda found: _key(keys[found[1]], found), message)
    return bare.sub(lambda found: keys[found[1]], message)


def _key(name: str, given: re.Match[str]) -> str:
    if given[2] is not None:
        return f'{name} = "{given[2]}"'
    return f"no {name}" if given[3] == "None" else f"{name} = {_TOML.get(given[3], given[3])}"


def near_options(wrong: str, options: list[str]) -> list[str]:
    """Return the options whose name is similar to a wrong one; dashes do not count.

    Examples
    --------
    >>> near_options("--sede", ["--seed", "--n"]), near_options("--x", ["--n"])
    (['--seed'], [])
    """
    from poise.arguments import near_name

    near = near_name(wrong.lstrip("-"), [option.lstrip("-") for option in options])
    return [option for option in options if near is not None and option.lstrip("-") == near]
