"""Alpha-investing in a ledger: levels before the first fit, fresh rows, and copies that merge."""

from __future__ import annotations

import json
import shutil
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest

from poise.data.sample import Sample
from poise.errors import RecordError
from poise.storage.ledger import AskedQuestion, Ledger, LedgerAnswer, RowSet
from poise.storage.ledger.entries import LedgerHeader, Stake
from poise.storage.ledger.ledger_content import LedgerContent
from poise.storage.ledger.new_questions import lines_of_new_questions
from poise.theory import alpha_investing
from shared.ledgers import asked_questions

ALPHA = 0.05
BEGIN = ALPHA * (1 - ALPHA)
RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(400, 2)), RNG.normal(size=400)


def begin(path) -> Ledger:
    ledger = Ledger(path, rule="investing", alpha=ALPHA)
    ledger.begin()
    return ledger


@pytest.fixture
def ledger(tmp_path) -> Ledger:
    return begin(tmp_path / "a.ledger")


def put(ledger: Ledger, place: int, size: int = 10, **more) -> AskedQuestion:
    """Put a question to ten rows of its own."""
    rows = slice(10 * place, 10 * place + size)
    found = RowSet.of(ledger.key(), Sample(X[rows], Y[rows]))
    asked = AskedQuestion.of(found.digest, f"model {place}", {"place": place}, {"seed": place})
    asked = replace(asked, **{"seed": place, **more})
    ledger.ask(found, [asked])
    return asked


def answer(ledger: Ledger, asked: AskedQuestion, pvalue: float, unstable: float = 1.0) -> None:
    ledger.answer([LedgerAnswer(asked.id, "stable", pvalue, unstable)])


def _in_order(ledger: Ledger) -> list[dict]:
    return sorted(asked_questions(ledger), key=lambda each: each["time"])


def _levels(ledger: Ledger) -> list[float]:
    return [each["level"] for each in _in_order(ledger)]


def _holds(ledger: Ledger) -> list[bool | None]:
    return [each["holds"] for each in _in_order(ledger)]


def _wealth(ledger: Ledger) -> float:
    return ledger.to_dict()["wealth"]["stable"]


PVALUES = [0.01, 0.9, 0.9, 0.004, 0.04, 0.9, 0.001, 0.02]


def test_each_question_has_its_level_before_it_is_answered(ledger) -> None:
    levels = alpha_investing(PVALUES, ALPHA)
    for place, pvalue in enumerate(PVALUES):
        asked = put(ledger, place)
        assert _levels(ledger)[place] == pytest.approx(levels[place])
        written = json.loads(ledger.path.read_bytes().splitlines()[-1])["stake"]
        assert written == {"level": levels[place], "level_unstable": pytest.approx(
            alpha_investing([1.0] * place)[-1]), "seed": place}  # fmt: skip
        answer(ledger, asked, pvalue)
    assert _levels(ledger) == pytest.approx(levels[:-1])
    assert ledger.to_dict()["next_level"]["stable"] == pytest.approx(levels[-1])
    assert _holds(ledger) == [
        bool(p <= level) if p <= ALPHA else None for p, level in zip(PVALUES, levels, strict=False)
    ]


def test_both_sides_have_a_wealth_of_their_own(ledger) -> None:
    ledger.answer([LedgerAnswer(put(ledger, 0).id, "unstable", 1.0, 0.001)])
    wealth = ledger.to_dict()["wealth"]
    assert wealth == pytest.approx({"stable": BEGIN / 2, "unstable": BEGIN + ALPHA})
    assert _in_order(ledger)[0]["level"] == pytest.approx(0.023199, abs=1e-6)
    assert _holds(ledger) == [True]


@pytest.mark.parametrize("pvalue", [None, 0.9, 0.03, 0.0233])
def test_a_stake_is_lost_without_a_verdict_that_holds(ledger, pvalue) -> None:
    """A run that was killed, an inconclusive one, and one that passes only by itself."""
    asked = put(ledger, 0)
    if pvalue is not None:
        answer(ledger, asked, pvalue)
    assert _wealth(ledger) == pytest.approx(BEGIN / 2)
    assert _holds(ledger) == [False if pvalue in (0.03, 0.0233) else None]


def test_a_verdict_at_exactly_its_level_holds_and_pays(ledger) -> None:
    answer(ledger, put(ledger, 0), float(alpha_investing([])[0]))
    assert _wealth(ledger) == pytest.approx(BEGIN + ALPHA)
    assert _holds(ledger) == [True]


def test_questions_that_are_not_answered_yet_count_as_lost(ledger) -> None:
    """Three at once: they get a half, a third and a quarter of what is left each time."""
    several = [put(ledger, place) for place in range(3)]
    given = _levels(ledger)
    assert given == pytest.approx(alpha_investing([1.0, 1.0])[:3])
    for each in reversed(several):
        answer(ledger, each, 0.001)
    assert _levels(ledger) == given  # what was given stays
    assert _holds(ledger) == [True, True, True]
    assert _wealth(ledger) == pytest.approx(BEGIN + 3 * ALPHA)


def test_another_answer_to_the_same_question_can_take_a_payment_back(ledger) -> None:
    """Of two answers the larger p-value counts; what was given later is judged again."""
    first = put(ledger, 0)
    answer(ledger, first, 0.001)
    second = put(ledger, 1)
    answer(ledger, second, 0.04)
    assert _holds(ledger) == [True, True]
    answer(ledger, first, 0.9)
    assert _levels(ledger)[1] == pytest.approx(BEGIN / 2 / (1 + BEGIN / 2))
    assert _holds(ledger) == [None, False]
    assert _wealth(ledger) == 0.0


# What is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize("answered", [0.9, 0.001, None])
@pytest.mark.parametrize(
    ("start", "size", "which"), [(0, 10, "these"), (0, 200, "10 of these 200")]
)
def test_rows_of_another_question_are_refused(ledger, answered, start, size, which) -> None:
    asked = put(ledger, 0)
    if answered is not None:
        answer(ledger, asked, answered)
    before = ledger.path.read_bytes()
    with pytest.raises(RecordError, match=f'"model 0" was put to {which} rows') as refused:
        put(ledger, start, size, id="another", seed=99)
    for remedy in ("Ask it of fresh rows", 'the rule "holm" or "spending"'):
        assert remedy in str(refused.value)
    assert ledger.path.read_bytes() == before
    put(ledger, 20, seed=99)  # and fresh rows are not
    put(ledger, 0)  # nor is the same question


def test_one_row_in_common_is_too_many(ledger) -> None:
    put(ledger, 0)
    rows = slice(9, 300)
    found = RowSet.of(ledger.key(), Sample(X[rows], Y[rows]))
    with pytest.raises(RecordError, match="1 of these 291 rows"):
        ledger.ask(found, [AskedQuestion.of(found.digest, "b", {}, {})])


def test_rows_that_were_set_aside_are_used_too(ledger) -> None:
    whole = RowSet.of(ledger.key(), Sample(X[:20], Y[:20]), Sample(X[20:30], Y[20:30]))
    assert whole.labeled == 30
    assert whole.shared_with(RowSet.of(ledger.key(), Sample(X[25:90], Y[25:90]))) == 5


def test_a_seed_is_used_once(ledger) -> None:
    put(ledger, 0, seed=7)
    with pytest.raises(RecordError, match=r"same random numbers.*Give another random_state"):
        put(ledger, 1, seed=7)
    put(ledger, 1, seed=8)


def test_two_questions_of_the_same_rows_are_refused_together(ledger) -> None:
    rows = RowSet.of(ledger.key(), Sample(X, Y))
    several = [AskedQuestion.of(rows.digest, name, {"name": name}, {}) for name in "ab"]
    with pytest.raises(RecordError, match="puts 2 questions to the same rows"):
        ledger.ask(rows, several)
    assert ledger.to_dict()["data_sets"] == []


def test_of_several_sets_all_are_asked_or_none(ledger) -> None:
    sets = [RowSet.of(ledger.key(), Sample(X[a:b], Y[a:b])) for a, b in ((0, 50), (40, 90))]
    asked = [
        (f"question {k}", each, [replace(AskedQuestion.of(each.digest, str(k), {}, {}), seed=k)])
        for k, each in enumerate(sets)
    ]
    with pytest.raises(RecordError, match=r"^question 1: .*10 of these 50 rows"):
        ledger.ask_several(asked)
    assert ledger.to_dict()["data_sets"] == []
    ledger.ask_several(asked[:1])
    assert len(_in_order(ledger)) == 1


def test_a_question_without_a_chance_costs_nothing(ledger) -> None:
    for place in range(4):
        put(ledger, place)
    before = ledger.path.read_bytes()
    with pytest.raises(RecordError, match=r"could not hold.*after 4 questions.*0\.00158.*0\.002"):
        put(ledger, 4, best_pvalue=0.002)
    assert ledger.path.read_bytes() == before
    put(ledger, 4, best_pvalue=0.0015)


# The promise --------------------------------------------------------------------------------


KEY = LedgerHeader.new(ALPHA, "investing")
SETS = [RowSet.of(KEY.row_key, Sample(X[s : s + 10], Y[s : s + 10])) for s in range(0, 300, 10)]


class InMemory:
    """A ledger without a file."""

    def __init__(self) -> None:
        self.content = LedgerContent(KEY)

    def ask(self, rows: RowSet, seed: int, pvalue: float) -> None:
        asked = replace(AskedQuestion.of(rows.digest, "", {}, {"seed": seed}), seed=seed)
        lines = lines_of_new_questions(self.content, rows, [asked], "a.ledger")
        answered = LedgerAnswer(asked.id, "stable", pvalue, 1.0).to_entry()
        self.content = self.content.with_lines([*lines, answered])

    @property
    def holds(self) -> list[bool]:
        return [bool(each.holds) for each in self.content.standings([])]


def test_it_decides_as_the_theory_also_if_questions_are_chosen_by_earlier_answers() -> None:
    """Somebody goes on with unstable algorithms as soon as six stable ones have passed.

    tests/theory/test_alpha_investing.py simulates the rate of these decisions.
    """
    rng = np.random.default_rng(3)
    for _ in range(8):
        ledger, pvalues = InMemory(), []
        for place, rows in enumerate(SETS):
            pvalues.append(rng.uniform(high=0.5) if sum(ledger.holds) >= 6 else 1e-6)
            ledger.ask(rows, place, pvalues[-1])
        levels = alpha_investing(pvalues, ALPHA)[:-1]
        assert ledger.holds == (np.array(pvalues) <= levels).tolist()
        assert [each.level for each in ledger.content.standings([])] == pytest.approx(levels)


def test_copies_of_one_algorithm_on_the_same_rows_cannot_break_the_rate() -> None:
    """P-values at equal steps, the same for all attempts: without the refusal the rate is 0.2."""
    runs, false = 200, 0
    for run in range(runs):
        ledger = InMemory()
        for attempt in range(10):
            with suppress(RecordError):
                ledger.ask(SETS[0], attempt, (run + 0.5) / runs)
        false += sum(ledger.holds)
    rate = (false / runs) / (false / runs + 1 - ALPHA)
    assert 0.02 < rate <= ALPHA


# Copies that merge --------------------------------------------------------------------------


@pytest.fixture
def copies(tmp_path, ledger) -> list[Ledger]:
    others = []
    for name in ("one", "two", "three"):
        shutil.copy(ledger.path, tmp_path / name)
        others.append(Ledger(tmp_path / name))
    return others


def test_copies_that_spent_no_more_than_there_was_keep_their_verdicts(ledger, copies) -> None:
    for place, copy in enumerate(copies):
        answer(copy, put(copy, place), 0.02)  # each holds by itself, at 0.0232
        assert _holds(copy) == [True]
    ledger.merge(*copies[:2])
    assert _holds(ledger) == [True, True]
    assert _wealth(ledger) == pytest.approx(BEGIN + 2 * ALPHA)
    assert "merged" not in ledger.meaning()
    ledger.merge(copies[2])
    assert _holds(ledger) == [True, True, True]
    assert "because less was left: 1." in ledger.meaning()  # for "unstable", which nobody said


def test_copies_that_spent_more_than_there_was_are_judged_again(ledger, copies) -> None:
    for place, (copy, pvalue) in enumerate(zip(copies, (0.9, 0.9, 0.02), strict=True)):
        answer(copy, put(copy, place), pvalue)
    assert _holds(copies[2]) == [True]
    ledger.merge(*copies)
    assert _holds(ledger) == [None, None, False]
    assert _levels(ledger) == pytest.approx([0.023199, 0.023199, 0.0], abs=1e-6)
    assert "what each of them promised does not hold for both" in ledger.meaning()
    assert "because less was left: 1." in ledger.meaning()
    assert _wealth(ledger) == 0.0
    doubt = ledger.note([_in_order(ledger)[2]["id"]]).doubt()
    assert "its p-value is above the level 0 that alpha-investing gives it" in doubt


@pytest.mark.parametrize("shared", ["rows", "seed"])
def test_of_two_copies_that_used_the_same_rows_the_later_is_void(ledger, copies, shared) -> None:
    first, second = copies[:2]
    answer(first, put(first, 0), 0.9)
    if shared == "rows":
        answer(second, put(second, 0, size=40, seed=5), 0.001)
    else:
        answer(second, put(second, 1, seed=0), 0.001)
    assert _holds(second) == [True]
    ledger.merge(second, first)
    assert _holds(ledger) == [None, False]
    assert _wealth(ledger) == pytest.approx(0.0, abs=1e-12)  # both stakes are lost
    assert "had used the rows or the seed: 1." in ledger.meaning()
    note = ledger.note([_in_order(ledger)[1]["id"]])
    what = "rows" if shared == "rows" else "the random seed"
    assert f'shares {what} with the earlier question "model 0"' in note.doubt()
    assert not note.holds


def test_the_order_of_merges_does_not_matter(tmp_path, ledger, copies) -> None:
    for place, copy in enumerate(copies):
        answer(copy, put(copy, place), 0.9 - 0.44 * place)
    answer(copies[1], put(copies[1], 0), 0.01)  # the same question on two branches
    seen = []
    for order in ((0, 1, 2), (2, 1, 0), (1, 0, 2)):
        merged = Ledger(tmp_path / "merged")
        merged.path.unlink(missing_ok=True)
        merged.merge(*(copies[k] for k in order))
        seen.append(merged.to_dict())
    assert all(each == seen[0] for each in seen)
    assert [len(each) for each in seen[0]["data_sets"]] == [1, 1, 1]


# Lines that others may have written ----------------------------------------------------------


@pytest.mark.parametrize("stake", [{"level": 1.0}, {"level": -0.1}, {"seed": "x"}, {"more": 1}, 3])
def test_a_stake_that_no_ledger_gives_is_refused(stake) -> None:
    asked = AskedQuestion.of("rows", "a", {}, {})
    entry = replace(asked, stake=Stake(0.01, 0.01, 1)).to_entry()
    assert AskedQuestion.from_entry(entry).stake == Stake(0.01, 0.01, 1)
    changed = entry["stake"] | stake if isinstance(stake, dict) else stake
    with pytest.raises(RecordError):
        AskedQuestion.from_entry(entry | {"stake": changed})


def test_other_rules_write_no_stake(tmp_path) -> None:
    ledger = Ledger(tmp_path / "holm.ledger")
    put(ledger, 0)
    assert b"stake" not in ledger.path.read_bytes()
    assert "level" not in _in_order(ledger)[0]
    assert "wealth" not in ledger.to_dict()
