"""Whether a file may be continued by a later run: the same question, code and versions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from poise.errors import RecordError

__all__ = ["about_versions", "codes_differ", "different_versions", "refuse_other_run"]


def refuse_other_run(
    before: Mapping[str, Any],
    now: Mapping[str, Any],
    name: str,
    noun: str,
    edited: Mapping[str, Iterable[str]] | None = None,
) -> None:
    """Refuse to continue the file of another run, and show every difference.

    Parameters
    ----------
    before, now : mapping
        What determines the trials, by the names that the user knows; the same keys.
    name, noun : str
        The file, and what it is.
    edited : mapping, optional
        Under a name, what else is different there: code that was edited, for example.

    Examples
    --------
    >>> refuse_other_run({"n": 20, "seed": 1}, {"n": 30, "seed": 1}, "a.jsonl", "journal")
    Traceback (most recent call last):
    poise.errors.RecordError: a.jsonl belongs to another run:
      n: 20 in the journal, 30 now;
    call with the arguments of that run to go on with it, or give another file name
    """
    different = [
        f"  {key}: {before[key]} in the {noun}, {now[key]} now;"
        for key in before
        if before[key] != now[key]
    ]
    for key, changes in (edited or {}).items():
        different += [f"  {key}: {change} in the {noun};" for change in changes]
    if different:
        raise RecordError(
            f"{name} belongs to another run:\n" + "\n".join(different) + "\n"
            "call with the arguments of that run to go on with it, or give another file name"
        )


def about_versions(before: Mapping[str, str], now: Mapping[str, str], name: str) -> Iterator[str]:
    """Say that the file was begun with other versions of the libraries that compute.

    Examples
    --------
    >>> print(*about_versions({"numpy": "1.26"}, {"numpy": "2.4"}, "a.jsonl"))
    a.jsonl was begun with numpy 1.26 (now 2.4); the trials computed since may differ ...
    """
    different = different_versions(before, now, "now")
    if different:
        yield (
            f"{name} was begun with {', '.join(different)}; the trials computed since may "
            "differ from what they would have been in their last digits, or more"
        )


def different_versions(before: Mapping[str, str], now: Mapping[str, str], when: str) -> list[str]:
    """List the libraries whose version is another one; ``when`` says what the second ones are.

    Examples
    --------
    >>> different_versions({"numpy": "1.26", "torch": "2.4"}, {"numpy": "2.4"}, "here")
    ['numpy 1.26 (here 2.4)']
    """
    return [
        f"{library} {old} ({when} {now[library]})"
        for library, old in before.items()
        if now.get(library, old) != old  # what is not loaded computes nothing
    ]


def codes_differ(before: str, after: str) -> bool:
    """Compare two digests; "" means that the code is not known, or an older file.

    Examples
    --------
    >>> codes_differ("a1", "b2"), codes_differ("", "b2")
    (True, False)
    """
    return before != after and "" not in (before, after)
