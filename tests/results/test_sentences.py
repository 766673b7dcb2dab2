"""Every number that is printed is true, and no line contradicts the verdict."""

from __future__ import annotations

import itertools
import math
import re
from dataclasses import replace

import numpy as np
import pytest

from helpers import trials_of
from poise.results.design import YES_OR_NO, Design
from poise.results.question import Question
from poise.results.result import Result
from poise.results.sentences import ASKED_AFTER
from poise.results.trials import Failed, Trials

NUMBER = r"([\d.,e+-]*\d)"
PATTERNS = {
    "share": rf"probability is at (?:most|least) {NUMBER}",
    "size": rf"of changes (?:exceed|are) {NUMBER}",
    "p": rf'{NUMBER} for "(?:un)?stable"',
}
VERDICTS = ["stable", "unstable", "inconclusive"]


def made(verdict, m=60, *, removals=1, points=1, failures=0, seen=None, **settings) -> Result:
    """A result with this verdict, or another one where failures and stops do not allow it."""
    rng = np.random.default_rng(m + removals)
    changes = rng.uniform(0, 0.9, size=(m, removals, points))
    share = {"stable": 0.0, "unstable": 0.6, "inconclusive": 0.09}[verdict]
    changes[rng.uniform(size=m) < share] += 1.5
    changes[:failures, 0, 0] = np.nan
    sized = settings.get("distance") not in YES_OR_NO and settings.get("compares") != "decisions"
    changes = changes if sized else np.where(changes > 1, 1.0, changes * 0)
    rows = {"n_labeled": 20 * m, "max_trials": m, "algorithm": "Lasso()"}
    question = Question(1.0 if sized else None, 0.1)
    told = tuple(Failed(k, "error", "it broke") for k in range(failures))
    rows |= {"n_unlabeled": points * m, **settings}
    trials = trials_of(changes[:seen], **rows)
    trials = replace(trials, failures=told, asked=question, zeta=0.31)
    return trials.judge(question)


GROUPED = {"n_groups": 1200, "n_groups_unlabeled": 200}
SETTINGS = [
    {},
    GROUPED | {"remove": 3, "randomized": True},
    {"order_free": True, "set_aside": 30, "sd": 20.0, "epsilon_as_typed": "5% of sd"},
    {"position": "uniform", "shuffle": False, "replace": True},
    {"distance": "label", "n_classes": 2},
    {"compares": "losses", "distance": "change of squared loss", "from_rows": False},
]
SHAPES = [({}, 6), ({"m": 38, "points": 3}, 6), ({"m": 41, "removals": 2, "points": 2}, 2)]
TABLE = [
    made(verdict, failures=failures, seen=seen, **shape, **settings)
    for verdict, failures, seen, (shape, count) in itertools.product(
        VERDICTS, [0, 2], [None, 37], SHAPES
    )
    for settings in SETTINGS[:count]
]
TABLE += [
    made(verdict, compares="decisions", distance="ranking", failures=failures)
    for verdict, failures in itertools.product(VERDICTS, [0, 2])
]


def close(printed: float, exact: float) -> bool:
    return math.isclose(printed, exact, rel_tol=2e-3, abs_tol=1e-12)


def check_numbers(result: Result, text: str) -> None:
    """Compare what is printed with the properties, without the functions that print."""
    found = {
        name: [float(each.replace(",", "")) for each in re.findall(pattern, text)]
        for name, pattern in PATTERNS.items()
    }
    upper = result.verdict != "unstable"
    for what, asked in (("share", result.delta), ("size", result.epsilon)):
        name = f"{'delta' if what == 'share' else 'epsilon'}_{'upper' if upper else 'lower'}"
        exact = getattr(result, name)
        for printed in found[what]:
            assert close(printed, exact)
            assert (exact <= printed) if upper else (asked <= printed <= exact)
            assert (printed <= asked) == (result.verdict == "stable")
    both = [result.pvalue, result.pvalue_unstable]
    shown = {"stable": both[:1], "unstable": both[1:]}.get(result.verdict, both)
    assert len(found["p"]) == len(shown)
    for printed, exact in zip(found["p"], shown, strict=True):
        assert close(printed, exact)
        assert printed >= exact
        assert (printed <= result.alpha) == (exact <= result.alpha)


def test_every_summary_is_short_and_true():
    kinds = set()
    for result in TABLE:
        text = result.summary()
        lines, design = text.splitlines(), result.design
        kinds.add((result.verdict, result.test, result.stopped_early, result.n_failures > 0))
        assert lines[0].startswith(
            f"{result.verdict.upper()}: Lasso() trained on 10 {design.unit}s."
        )
        assert len(lines) <= 6
        assert len(text.split()) <= 130, text
        check_numbers(result, text)
        seen = next(line for line in lines if line.startswith("Seen: "))
        failed = f"; {result.n_failures} of {result.n_observed} trials failed."
        assert seen.endswith(failed) == (result.n_failures > 0)
        assert (", or fails," in lines[0]) == (
            result.stable and result.n_failures > 0 and design.compares != "decisions"
        )
        early = f"in the first {result.n_observed} of {result.n_trials} trials, stopped early, "
        assert (early in seen) == result.stopped_early
        assert ("coin 0.31" in seen) == design.randomized
        assert ("seed 0" in seen) == design.from_rows
        assert (f"({result.reason or '?'})" in lines[0]) == (result.verdict == "inconclusive")
        assert "bet" not in text.split()
        if result.test == "binomial" and design.sized:
            larger = int((result.trials.changes[:, 0, 0] > 1).sum())
            assert f"{larger} of {result.n_observed} changes" in seen
            assert ("% of all " in seen) == (design.removals * design.points > 1)
        elif result.test == "averaged" and design.compares != "decisions":
            assert f"% of {result.trials.changes.size}" in seen
        assert lines[-2 if lines[-1] == ASKED_AFTER else -1].startswith("Next: ")
    assert len(kinds) >= 14, kinds


def test_details_measured_trials_and_warnings_of_every_kind():
    for result in TABLE[::13]:
        warned = replace(result.trials, warnings=("rows are copies",))
        for text in (str(warned), warned.judge(result.question).summary()):
            assert text.startswith("Warning: rows are copies\n")
        facts = result.details().splitlines()
        assert warned.judge(result.question).details().startswith("Warning: rows are copies\n")
        assert facts[0].startswith(("epsilon: ", "delta: "))
        design = result.design
        anew, kept = "seed inside the algorithm is set anew", "seeds that were set are kept"
        assert (anew in result.details()) == (design.notion == "new" and design.from_rows)
        assert (kept in result.details()) == (design.notion not in ("new", "changed"))
        assert ("compare probabilities" in result.details()) == (design.distance == "label")
        assert any(line.startswith("failures: trial 0") for line in facts) == bool(
            result.n_failures
        )
        for name, text in (line.split(": ", 1) for line in facts):
            if name.endswith(("_upper", "_lower", "pvalue")):
                printed, exact = float(text.replace(",", "")), getattr(result, name)
                assert close(printed, exact)
                assert printed <= exact if name.endswith("lower") else printed >= exact
        said = str(result.trials)
        assert len(said.splitlines()) <= 5
        if result.design.sized and (limit := result.trials.epsilon_upper(0.1)) < math.inf:
            printed = float(re.search(rf"10% of changes exceed {NUMBER}", said)[1])
            assert limit <= printed <= limit * 1.002
            assert f"for every ε ≥ {printed}" in said
        elif result.design.distance == "label":
            printed = float(re.search(rf"changes with probability at most {NUMBER}\.", said)[1])
            assert 0 <= printed - result.trials.delta_upper() < 2e-3


RIDGE = Design(algorithm="Ridge()", n=10, n_labeled=442, order_free=True)
LAST = np.r_[np.linspace(0, 11.31, 37), 12, 13, 14].reshape(-1, 1, 1)
ROOMY = replace(RIDGE, n_labeled=660)


def test_the_five_lines():
    question = Question(25.0, 0.2)
    trials = Trials(LAST, RIDGE, asked=question)
    stable = (
        "STABLE: Ridge() trained on 10 rows. Removing one of them changes the prediction for a new "
        "row by more than 25 with probability at most 0.2 (this verdict is wrong with probability "
        "at most 0.05).\n"
        'Seen: 0 of 40 changes were larger than 25 (p = 0.000133 for "stable"; seed 0).\n'
        "With 95% confidence, the probability is at most 0.07216. With 95% confidence, at most 20% "
        "of changes exceed 11.31.\n"
        "This is about new training sets of 10 rows, not about the model of all 442, and not about "
        "accuracy.\n"
        "Next: train on 10 rows such as these. To test another algorithm or size, use rows this "
        "test has not seen."
    )
    assert str(trials.judge(question)) == stable
    assert str(replace(trials, asked=None).judge(question)) == f"{stable}\n{ASKED_AFTER}"
    shuffled = replace(trials, design=replace(RIDGE, order_free=False)).judge(question)
    assert "Removing the last of them (rows were shuffled) changes" in str(shuffled)


LOSSES = {"compares": "losses"}
CHOSEN = {"notion": "without", "without": (3,)}
MOVED, RANKED = {"verdict": "unstable"}, {"compares": "decisions", "distance": "d"}
FEW = {"m": 9, "n_labeled": 95, "max_trials": None}


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"order_free": True}, "Removing one of them changes"),
        ({"position": "uniform"}, "Removing one of them, wherever it stands, changes"),
        ({"shuffle": False}, "Removing the last of them changes"),
        ({"remove": 3}, "Removing the last 3 of them (rows were shuffled) changes"),
        ({"remove": 3, "order_free": True}, "Removing 3 of them changes"),
        ({"replace": True, "order_free": True}, "Replacing one of them by a new one changes"),
        ({"replace": True, "remove": 2, "shuffle": False}, "Replacing the last 2 of them by new"),
        (GROUPED, "changes the prediction for a row of a new group by more than 1 with"),
        (GROUPED, "new training sets of 10 groups, not about the model of all 1,200, and"),
        ({"distance": "label"}, "changes the predicted label of a new row with probability at"),
        ({"distance": "label"}, "Seen: 0 of 60 labels changed ("),
        (LOSSES | {"distance": "change of zero_one loss"}, "changes whether the prediction for a"),
        (LOSSES | {"distance": "change of log loss"}, "the log loss at a new row by more than 1"),
        ({"compares": "decisions", "distance": "top"}, "changes on average at most a share of 0.1"),
        ({"from_rows": False}, "about new training sets of 10 rows, and not about accuracy."),
        (SETTINGS[2], "by more than 1 (5% of the sd of 30 rows) with"),
        (CHOSEN | {"chosen_from": 3}, "at most 0.15, whichever"),
        (CHOSEN | {"chosen_from": 398}, "at most 1, whichever"),
        ({"name": "mine\x1b[2J\nSTABLE: x"}, "STABLE: mine\\x1b[2J STABLE: x trained on 10 rows."),
        (MOVED, "by more than 1 with probability above 0.1 (this"),
        (MOVED, "confidence, the probability is at least 0."),
        (MOVED, "confidence, at least 10% of changes are "),
        (MOVED | RANKED, "changes on average more than a share of 0.1 of the decisions"),
        (MOVED | RANKED, "the mean share is at least 0."),
        (FEW, "Not decided: whether removing the last of them (rows were shuffled) changes"),
        (FEW, "(too few rows: 9 trials, 29 are the least)."),
        (FEW, "310 labelled rows hold enough trials of this size, or ask about n = 2 or less"),
        (FEW, 'for "stable", 1 for "unstable"; seed 0)'),
    ],
)
def test_one_wording_for_each_kind_of_trial(settings, words):
    assert words in str(made(**{"verdict": "stable"} | settings))


def test_measured_changes():
    trials = Trials(LAST, replace(RIDGE, sd=50.0), errors=np.full(40, 40.0), delta=0.2)
    assert str(trials).splitlines() == [
        "Ridge() trained on 10 rows: how often removing one of them changes the prediction for a "
        "new row, and by how much.",
        "Seen: 40 changes in 40 trials, median 6.126, largest 14 (seed 0).",
        "With 95% confidence, at most 20% of changes exceed 11.31 (22.6% of the sd of the "
        "responses, 28.3% of the mean prediction error). With the same confidence it is (ε, 0.2)-"
        "stable for every ε ≥ 11.31; no further test on these rows is needed.",
        "All of these at once, with 95% confidence: at most 50% exceed 8.797, 30% exceed 11, "
        "20% exceed 13.",
        "The smallest δ that 40 trials can show is 0.07216.",
    ]
    aside = replace(trials, design=replace(trials.design, set_aside=30))
    assert "(22.6% of the sd of 30 responses, 28.3%" in str(aside)
    assert "nothing can be said about the largest 5% of changes" in str(replace(trials, delta=0.05))
    labels = replace(trials, design=replace(trials.design, distance="label"), changes=LAST > 13)
    assert "Seen: 1 of 40 labels changed (seed 0)." in str(labels)
    still = Trials(np.zeros((60, 1, 1)), replace(RIDGE, n_labeled=660))
    assert "confidence: at most 10% exceed 0." in str(still)  # which implies 50%, 30%, ...
    partial = Trials(LAST[:7], RIDGE)
    assert "Seen: in the first 7 of 40 trials, stopped early, 7 changes in 7 trials, median" in str(
        partial
    )


def test_predictions_that_never_move_are_doubted():
    doubt = "make sure that the algorithm learns from its rows: no prediction moved at all"
    for epsilon in (0.0, 1.0):
        assert doubt in str(Trials(np.zeros((60, 1, 1)), ROOMY).test(epsilon, 0.1))
    assert doubt not in str(Trials(np.eye(60)[:, :1, None], ROOMY).test(2.0, 0.1))
    labels = replace(ROOMY, distance="label")
    assert doubt not in str(Trials(np.zeros((60, 1, 1)), labels).test(delta=0.1))
    assert "0% of changes" not in str(Trials(LAST, RIDGE).test(10.0, 0.0))
    # and a share of the sd is said only of the change that was asked
    assert "sd" not in str(made("stable", **SETTINGS[2]).trials.test(2.0, 0.1))


def test_rounding_never_crosses_a_number_of_the_question():
    trials = Trials(np.full((40, 1, 1), 1234.5), replace(RIDGE, order_free=False))
    text = str(trials.test(1234.6, 0.1, 0.014781))  # p is 0.0147809
    assert '(p = 0.014781 for "stable"' in text
    text = str(trials.test(1234.6, 0.072158))  # the limit is 0.0721575
    assert "the probability is at most 0.072158." in text
    assert "of changes exceed 1234.6." in text
    assert "of changes exceed 1,235." in str(trials.test(1300, 0.1))


def test_no_limit_contradicts_the_verdict_beside_it():
    """With a coin, or where an averaged limit has its own process, verdict and limit differ."""
    changes = np.r_[np.full(15, 0.5), np.full(5, 2.0)]
    tossed = replace(Trials.from_changes(changes, n=10), zeta=0.2)
    tossed = tossed.test(1.0, 0.5, 0.01, randomized=True)
    assert tossed.stable
    assert tossed.delta_upper > 0.5
    assert "the probability is" not in str(tossed)
    assert "of changes exceed" not in str(tossed)
    nearly = Trials.from_changes(np.full((6, 1, 1), 0.5), n=10).test(1.0, 0.6, test="averaged")
    for result in (tossed, nearly):
        check_numbers(result, str(result))
