"""A question as a ledger keeps it: what is asked, of which rows, and how it is put."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from poise.arguments import without_addresses
from poise.arguments.printed_numbers import exactly
from poise.protocol.random_order import PERMUTATION
from poise.results.design import Design
from poise.results.text.describe_design import allowed_change
from poise.storage.ledger.entries import AskedQuestion
from poise.storage.ledger.row_set import RowSet

__all__ = ["described"]

# Lists, because older ledgers hold these names and no others: a new one would make every
# question of theirs another question.
_SAME_QUESTION = ("n", "coupling", "distance", "remove", "replace", "unit", "labeled_test")
_SAME_RUN = ("seed", "shuffle", "removals", "points")
_UNKNOWN = {"code": "", "distance_code": "", "response": "predict"}


def described(
    rows: RowSet,
    design: Design,
    asked: tuple[float, float],
    how: Mapping[str, Any],
    more: Mapping[str, Any] | None = None,
) -> AskedQuestion:
    """Describe the question of a test.

    Parameters
    ----------
    rows : RowSet
        The rows that it is put to.
    design : Design
        What is measured.
    asked : pair of float
        ε and δ.
    how : mapping
        How it is decided: which test, and whether with a coin.
    more : mapping, optional
        Digests of the user's own code, and which response is compared, if that is known.

    Examples
    --------
    >>> rows, how = RowSet("rows", 442, 0, {}), {"test": "binomial", "randomized": False}
    >>> asked = described(rows, Design("Ridge()", 20, 442), (5.0, 0.1), how)
    >>> asked.title
    'Ridge(): (5, 0.1)-stability at n = 20'
    >>> asked.same_as(described(rows, Design("Ridge()", 20, 442, seed=7), (5.0, 0.1), how))
    True
    """
    epsilon, delta = asked
    # A share of the spread is the same question on other rows, though it is another number.
    change = {"epsilon": epsilon}
    if design.spread is not None:
        change = {"epsilon_share": round(epsilon / design.spread, 9)}
    about = {"algorithm": without_addresses(design.algorithm), **change, "delta": delta}
    about |= {name: getattr(design, name) for name in _SAME_QUESTION} | _UNKNOWN | dict(more or {})
    run = {name: getattr(design, name) for name in _SAME_RUN}
    if design.order != PERMUTATION:  # older questions do not say it
        run["order"] = design.order
    title = f"({allowed_change(epsilon, design)}, {exactly(delta)})-stability at n = {design.n:,}"
    put = {"arrangement": rows.arrangement, **run, **how}
    question = AskedQuestion.of(rows.digest, f"{design.title}: {title}", about, put)
    # With the coin, a p-value may be as small as one likes.
    best = 0.0 if how["randomized"] else (1.0 - delta) ** design.n_trials
    return replace(question, seed=design.seed, best_pvalue=best)
