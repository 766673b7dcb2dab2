"""Messages of the library, with options in place of Python's keywords."""

from __future__ import annotations

import re

__all__ = ["in_options", "near_options"]

# Arguments of the library and the options that mean the same. A test checks that each of
# these options exists.
OPTIONS = {
    "address": "--address",
    "backend": "--backend",
    "band": "--band",
    "coupling": "--coupling",
    "delta": "--delta",
    "delta_max": "--delta-max",
    "delta_star": "--delta-star",
    "different": "--different",
    "disjoint": "--disjoint",
    "distance": "--distance",
    "epsilon": "--epsilon",
    "fit_params": "--fit-param",
    "gamma": "--gamma",
    "groups": "--groups",
    "ids": "--id",
    "journal": "--journal",
    "keep_leftovers": "--keep-leftovers",
    "key": "--key-file",
    "ledger": "--ledger",
    "max_seconds": "--max-seconds",
    "n_jobs": "--jobs",
    "n_labeled": "--n-labeled",
    "n_unlabeled": "--n-unlabeled",
    "notion": "--notion",
    "on_error": "--on-error",
    "on_timeout": "--on-timeout",
    "random_state": "--seed",
    "remove": "--remove",
    "replace": "--replace",
    "response": "--response",
    "skip_used": "--skip-used",
    "stop_early": "--stop-early",
    "timeout": "--timeout",
    "X_fresh": "--fresh",
    "X_unlabeled": "--unlabeled",
}
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
    "must be None or ": "must be ",
    "backend='dask' or 'ray'": "--backend dask or ray",
    "Name it as target": "Name it with --target",
    "or set header to false": "or give --no-header",
}
_NAMES = "|".join(sorted(OPTIONS, key=len, reverse=True))
_CALL = re.compile(r"(\w\([^()]*\))")
# The readers of files say "set decimal to ','" both for keywords and for options.
_SET = re.compile(r"set (decimal|encoding|sep) to ")
_GIVEN = re.compile(rf"(?<![\w.]){_NAMES.join('()')}=(?:'([^']*)'|([^\s;,)]*))")
# A word such as delta belongs to mathematics; a word with an underscore belongs to Python.
_PYTHON = "|".join(name for name in OPTIONS if "_" in name)
_BARE = re.compile(rf"(?<![\w.-])({_PYTHON})\b(?: =(?= ))?")


def in_options(message: str, command: str | None = None) -> str:
    """Replace the keywords of Python in a message by the options that mean the same.

    The settings of ``poise run`` are keys of its file. Except for two, they have the same
    names as in Python.

    Examples
    --------
    >>> in_options("say distance='label', or n_jobs=2; random_state must be a whole number")
    'say --distance label, or --jobs 2; --seed must be a whole number'
    >>> in_options("remove must be less than n (or at most n with replace=True)")
    'remove must be less than n (or at most n with --replace)'
    >>> in_options("Ridge(random_state=0) must not set random_state=0")
    'Ridge(random_state=0) must not set --seed 0'
    >>> in_options("random_state must be a whole number; distance='label'", command="run")
    "seed must be a whole number; distance='label'"
    """
    if command == "run":
        return message.replace("random_state", "seed").replace("n_jobs", "jobs")
    for python, words in (_CALLS | _MODES).items():
        message = message.replace(python, words)
    # Arguments inside a call belong to the algorithm: Ridge(random_state=0).
    parts = _CALL.split(message)
    return "".join(part if i % 2 else _translated(part) for i, part in enumerate(parts))


def _translated(message: str) -> str:
    message = _SET.sub(r"set --\1 to ", message)
    return _BARE.sub(lambda name: OPTIONS[name[1]], _GIVEN.sub(_option, message))


def _option(given: re.Match[str]) -> str:
    name, value = OPTIONS[given[1]], given[2] or given[3]
    if value == "None":
        return f"no {name}"
    return name if value in ("", "True") else f"{name} {value}"


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
