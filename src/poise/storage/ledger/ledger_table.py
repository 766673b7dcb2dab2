"""A ledger for people and programs: one line per question, data set by data set."""

from __future__ import annotations

from typing import Any

from poise.arguments import counted, shortened
from poise.arguments.printed_numbers import at_least, at_most, level_in_words, number
from poise.results.ledger_note import rate_in_words
from poise.results.text.table import TextTable
from poise.storage.ledger.investing import Accounts
from poise.storage.ledger.ledger_content import LedgerContent
from poise.storage.ledger.verdicts_that_hold import Standing

__all__ = ["ledger_headline", "ledger_json", "ledger_meaning", "ledger_table"]

_COLUMNS = ("question", "verdict", "p", "together")
_TOGETHER = {True: "holds", False: "does not hold", None: ""}
_MEANING = {
    "holm": (
        'Of the verdicts that hold together, the chance that any "stable" is wrong is at most '
        '{alpha}, and so is the chance that any "unstable" is (Holm), for questions that were '
        "chosen without looking at the answers. Questions that are asked until one passes need "
        'the rule "spending", declared before the first.'
    ),
    "spending": (
        'Of the verdicts that hold together, the chance that any "stable" is wrong is at most '
        '{alpha}, and so is the chance that any "unstable" is (online fallback), also if it was '
        "decided after each answer whether to ask again."
    ),
}


def ledger_table(content: LedgerContent) -> TextTable:
    """Return one line per question, in the order in which they were put, by data set."""
    several = content.data_sets()
    columns = ["data set", *_COLUMNS] if len(several) > 1 else [*_COLUMNS]
    if content.invests:
        columns.insert(-1, "level")
    rows = [
        [*([str(number_of)] if len(several) > 1 else []), *_cells(each)]
        for number_of, standings in enumerate(several, 1)
        for each in standings
    ]
    return TextTable(columns, rows)


def _cells(each: Standing) -> list[str]:
    pvalue = ""
    if each.answer is not None:
        unstable = each.alone == "unstable"
        pvalue = number(each.answer.pvalue_unstable if unstable else each.answer.pvalue)
    level = [] if each.level is None else [at_least(each.level)]
    return [shortened(each.question.title), each.alone, pvalue, *level, _TOGETHER[each.holds]]


def ledger_headline(content: LedgerContent, name: str) -> str:
    """Say how many questions were put to how many data sets."""
    asked, sets = len(content.questions), len(content.data_sets())
    put = f"{name}: {counted(asked, 'question')} put to {counted(sets, 'data set')} (rows that "
    level = level_in_words(content.header.alpha)
    if content.invests:
        return f"{put}overlap are one), marginal false discovery rate {level} over all of them."
    return f"{put}overlap are one), error level {level} for each of them."


def ledger_meaning(content: LedgerContent) -> str:
    """Say what is guaranteed about the verdicts that hold together, and what is not."""
    if content.invests:
        return _meaning_of_investing(content)
    said = _MEANING[content.header.rule].format(alpha=at_most(content.header.alpha))
    return f"{said} Nothing covers an algorithm that was built by looking at these rows."


def _meaning_of_investing(content: LedgerContent) -> str:
    """Say what alpha-investing promises, what is left of the wealth, and what merging cost."""
    accounts = content.accounts()
    stable, unstable = accounts.stable.left, accounts.unstable.left
    said = [
        rate_in_words(content.header.alpha),
        "Questions may be chosen by looking at earlier answers, but no algorithm by looking at the "
        "rows that it is tested on.",
        f'The next question has the level {at_least(stable.level)} for "stable" and '
        f'{at_least(unstable.level)} for "unstable" (wealth {at_least(stable.wealth)} and '
        f"{at_least(unstable.wealth)}).",
        _merged(accounts),
    ]
    return " ".join(filter(None, said))


def _merged(accounts: Accounts) -> str:
    """Say what became of questions that were put on copies which did not know of each other."""
    shared = sum(map(bool, accounts.spoilt))
    if not shared and not accounts.lowered:
        return ""
    return (
        "Copies of this ledger were merged that had spent the same wealth or the same rows: what "
        "each of them promised does not hold for both. The questions are judged again in the order "
        f"of their times. At a lower level, because less was left: {accounts.lowered:,}. Void, "
        f"because an earlier one had used the rows or the seed: {shared:,}. The promise is about "
        "the verdicts that hold now, and if the clocks of all copies agreed."
    )


def ledger_json(content: LedgerContent, name: str) -> dict[str, Any]:
    """Return everything but the hashes as plain values."""
    return {
        "file": name,
        "alpha": content.header.alpha,
        "rule": content.header.rule,
        **_wealth(content),
        "data_sets": [[_as_dict(each, content) for each in some] for some in content.data_sets()],
    }


def _wealth(content: LedgerContent) -> dict[str, Any]:
    """Return what is left with alpha-investing; nothing with other rules."""
    if not content.invests:
        return {}
    accounts = content.accounts()
    sides = {"stable": accounts.stable.left, "unstable": accounts.unstable.left}
    return {
        "wealth": {name: side.wealth for name, side in sides.items()},
        "next_level": {name: side.level for name, side in sides.items()},
    }


def _as_dict(each: Standing, content: LedgerContent) -> dict[str, Any]:
    rows = content.rows[each.question.rows]
    answer = each.answer
    return {
        "question": each.question.title,
        "id": each.question.id,
        "time": each.question.time,
        "n_labeled": rows.labeled,
        "n_unlabeled": rows.unlabeled,
        "asked": each.question.about,
        "verdict": each.alone,
        "said": None if answer is None else answer.verdict,
        "pvalue": None if answer is None else answer.pvalue,
        "pvalue_unstable": None if answer is None else answer.pvalue_unstable,
        "holds": each.holds,
        **({} if each.level is None else {"level": each.level, "spoilt": each.spoilt}),
    }
