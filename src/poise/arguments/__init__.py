"""Checks of arguments and of files; words, numbers and cards of results; names imported late.

::

    checks           checks of arguments: the error names the argument, its value and the remedy
    decimal_noise    sums, differences and products of decimals as written by hand: 0.1 + 0.2 is 0.3
    field_rules      what the fields of a file may hold beyond their type: ranges, and digests
    json_text        JSON that others may have written: whatever is wrong with it is a ValueError
    lazy_names       names of a package that are imported when they are first used (PEP 562)
    misspelt_names   the suggestion "did you mean": the known name closest to a misspelt one
    notebook_card    a card that a notebook shows: verdict, sentence, picture, and more on request
    printed_numbers  numbers as text: few digits; limits are rounded to the safe side
    typed_fields     objects read from a file, checked against the types of their fields
    verdict_colours  the colours of verdicts in notebooks, pictures, reports and pages
    words            counts, lists and long names in the words of a message
"""

from __future__ import annotations

from poise.arguments.checks import (
    alpha,
    choice,
    count,
    delta,
    epsilon,
    flag,
    headline_name,
    one_of,
    positive,
    probability,
    reads_as_number,
    scalar,
    training_size,
)
from poise.arguments.misspelt_names import did_you_mean, near_name
from poise.arguments.words import counted, listed, shortened, without_addresses

__all__ = [
    "alpha",
    "choice",
    "count",
    "counted",
    "delta",
    "did_you_mean",
    "epsilon",
    "flag",
    "headline_name",
    "listed",
    "near_name",
    "one_of",
    "positive",
    "probability",
    "reads_as_number",
    "scalar",
    "shortened",
    "training_size",
    "without_addresses",
]
