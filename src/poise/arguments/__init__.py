"""Checks of arguments and of files, and the words and numbers of messages.

::

    checks           checks of arguments: the error names the argument, its value and the remedy
    field_rules      what the fields of a file may hold beyond their type: ranges, and digests
    json_text        JSON that others may have written: whatever is wrong with it is a ValueError
    notebook_card    a card that a notebook shows: verdict, sentence, picture, and more on request
    printed_numbers  numbers as text: few digits; limits are rounded to the safe side
    typed_fields     objects read from a file, checked against the types of their fields
    verdict_colours  the colours of verdicts in notebooks, pictures, reports and pages
    words            the words of messages about arguments: counts, lists, names probably meant
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
    scalar,
    training_size,
)
from poise.arguments.words import (
    counted,
    did_you_mean,
    listed,
    near_name,
    reads_as_number,
    shortened,
    without_addresses,
)

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
