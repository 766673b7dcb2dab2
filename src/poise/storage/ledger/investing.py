"""Alpha-investing in a ledger: each question has rows, a seed and a level of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from poise.arguments import counted
from poise.arguments.printed_numbers import at_least, at_most
from poise.errors import RecordError
from poise.storage.ledger.entries import AskedQuestion, LedgerAnswer, Stake
from poise.storage.ledger.row_set import RowSet
from poise.theory.alpha_investing_levels import Invested, invested
from poise.theory.decision import declares
from poise.theory.rounding import CLEARLY_APART

__all__ = ["Accounts", "accounts_of", "refuse_used_rows", "with_stakes"]

_NO_STAKE = Stake(0.0, 0.0, 0)


@dataclass(frozen=True)
class Accounts:
    """The wealth for "stable" and that for "unstable", which have nothing to do with each other.

    Attributes
    ----------
    stable, unstable : Invested
        Levels, declarations and what is left.
    spoilt : tuple of str
        For each question, why its p-values are not valid given the earlier answers; "" if they are.
        Only copies that were merged have such questions.
    given : tuple of Stake
        The levels that the questions were given.
    """

    stable: Invested
    unstable: Invested
    spoilt: tuple[str, ...]
    given: tuple[Stake, ...]

    @property
    def lowered(self) -> int:
        """How many questions were given more than was left, because copies were merged."""
        levels = zip(self.given, self.stable.levels, self.unstable.levels, strict=True)
        more = 1 + CLEARLY_APART
        return sum(
            given.level > stable * more or given.level_unstable > unstable * more
            for given, stable, unstable in levels
        )

    def next_stake(self, seed: int) -> Stake:
        """Return what the next question may put at stake."""
        return Stake(self.stable.left.level, self.unstable.left.level, seed)


def accounts_of(
    alpha: float,
    asked: Sequence[tuple[AskedQuestion, LedgerAnswer | None]],
    families: Mapping[str, str],
) -> Accounts:
    """Follow the wealth through all questions, in the order of their times.

    A question without an answer has lost its stake until it is answered. So its level does not
    depend on what else is being asked at the same time, and a run that is killed has paid.

    Parameters
    ----------
    alpha : float
        The marginal false discovery rate that is promised, in (0, 1).
    asked : sequence of pairs
        The questions and their answers.
    families : mapping
        The data set of each set of rows: rows that overlap are one.

    Examples
    --------
    >>> asked = replace(AskedQuestion.of("rows", "Ridge()", {}, {}), stake=Stake(0.0232, 0.0232, 7))
    >>> lost = accounts_of(0.05, [(asked, None)], {"rows": "rows"})
    >>> round(lost.stable.left.wealth, 4)
    0.0237
    >>> answer = LedgerAnswer(asked.id, "stable", 0.001, 1.0)
    >>> round(accounts_of(0.05, [(asked, answer)], {"rows": "rows"}).stable.left.wealth, 4)
    0.0975
    """
    spoilt = _spoilt([question for question, _ in asked], families)
    stakes = [question.stake or _NO_STAKE for question, _ in asked]
    pairs = [
        (1.0, 1.0) if answer is None or bad else (answer.pvalue, answer.pvalue_unstable)
        for (_, answer), bad in zip(asked, spoilt, strict=True)
    ]
    return Accounts(
        invested(alpha, [each.level for each in stakes], [pair[0] for pair in pairs]),
        invested(alpha, [each.level_unstable for each in stakes], [pair[1] for pair in pairs]),
        spoilt,
        tuple(stakes),
    )


def _spoilt(asked: Sequence[AskedQuestion], families: Mapping[str, str]) -> tuple[str, ...]:
    """Find the questions that share rows or the seed with an earlier one."""
    used: dict[str, str] = {}
    said = []
    for each in asked:
        rows = f"rows {families[each.rows]}"
        seed = rows if each.stake is None else f"seed {each.stake.seed}"
        first = used.get(rows, used.get(seed, ""))
        what = "rows" if rows in used else "the random seed"
        said.append(f'it shares {what} with the earlier question "{first}"' if first else "")
        used |= {name: each.title for name in (rows, seed) if name not in used}
    return tuple(said)


def refuse_used_rows(
    questions: Sequence[AskedQuestion],
    rows: RowSet,
    known: Mapping[str, AskedQuestion],
    sets: Mapping[str, RowSet],
    name: str,
) -> None:
    """Refuse questions that share rows or the seed with another: given its answer, no level holds.

    Parameters
    ----------
    questions : sequence of AskedQuestion
        The new questions.
    rows : RowSet
        The rows that they are put to.
    known : mapping
        All questions of the ledger.
    sets : mapping
        Their rows, by digest.
    name : str
        The ledger, for the message.
    """
    if len(questions) > 1:
        raise RecordError(
            f"this call puts {len(questions)} questions to the same rows, and {name} was begun "
            f'with the rule "investing", {_CONDITION}. Ask one question of each set of fresh '
            f"rows, or {_OTHER_RULES}"
        )
    for question in questions:
        for earlier in known.values():
            _refuse_shared(question, earlier, rows.shared_with(sets[earlier.rows]), rows, name)


_CONDITION = "which needs rows that no other question of the ledger has used"
_OTHER_RULES = 'begin another ledger with the rule "holm" or "spending", which share rows'


def _refuse_shared(
    question: AskedQuestion, earlier: AskedQuestion, shared: int, rows: RowSet, name: str
) -> None:
    if shared:
        total = rows.labeled + rows.unlabeled
        which = "these rows" if shared >= total else f"{shared:,} of these {total:,} rows"
        raise RecordError(
            f'the question "{earlier.title}" was put to {which} on {earlier.time[:10]} ({name}), '
            f'and the rule of this ledger is "investing", {_CONDITION}: given the earlier answer, '
            "a p-value from the same rows is not valid, and the rate of false verdicts could be "
            "anything. Ask it of fresh rows (rows that are equal count as the same), or "
            f"{_OTHER_RULES}. The same call with the same rows and random_state is no new "
            "question, and is allowed"
        )
    if earlier.stake is not None and earlier.stake.seed == question.seed:
        raise RecordError(
            f"random_state gives the same random numbers as in the question "
            f'"{earlier.title}" ({name}), and the rule of this ledger is "investing", which needs '
            "p-values that are valid given the earlier answers: those of two questions with the "
            "same random numbers may fail together. Give another random_state"
        )


def with_stakes(
    questions: Sequence[AskedQuestion], accounts: Accounts, name: str
) -> list[AskedQuestion]:
    """Give the only question its levels; refuse it if "stable" could not hold whatever is seen."""
    given = [replace(each, stake=accounts.next_stake(each.seed)) for each in questions]
    for each in given:
        assert each.stake is not None
        if not declares(each.best_pvalue, each.stake.level):
            left = accounts.stable.left
            failed = counted(left.waiting, "question")
            raise RecordError(
                f'"stable" could not hold for "{each.title}", whatever is seen: after {failed} '
                f'without a "stable" that holds, {name} gives it the level '
                f"{at_least(each.stake.level)}, and the smallest p-value of its trials is "
                f"{at_most(each.best_pvalue)}. Nothing was put at stake. Ask it of more rows, at a "
                f"smaller n or for a larger delta: poise.plan (poise plan) with alpha = "
                f"{at_least(each.stake.level)} says what is enough"
            )
    return given
