"""The result of a comparison: one verdict each, one error level for all."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from poise.arguments import did_you_mean, shortened
from poise.arguments.printed_numbers import at_most, confidence, exactly
from poise.errors import ArgumentError
from poise.results.averaged_result import AveragedResult
from poise.results.json_encoding import plain, to_json
from poise.results.judged_together import LIMITS_SHOW_LESS, JudgedTogether, judged_together
from poise.results.ledger_note import LedgerNote
from poise.results.presented_result import PresentedTable
from poise.results.text.describe_design import allowed_change
from poise.results.text.summary import distinct_warnings, in_words
from poise.results.text.table import TextTable
from poise.results.text.verdict_cells import (
    ADJUSTED,
    LIMITS,
    SeenChanges,
    adjusted_pvalue,
    larger_column,
)
from poise.results.trials import Trials
from poise.results.verdict import Outcome

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["CompareResult", "Compared"]

_MARK = "*"  # beside a limit that the verdict seems to contradict


@dataclass(frozen=True)
class Compared:
    """One algorithm's line in a comparison.

    Attributes
    ----------
    name : str
        What the algorithm is called here.
    verdict : Outcome
        ``"stable"``, ``"unstable"`` or ``"inconclusive"``, at the level of the whole family.
    statistic : float
        Changes larger than ε, failed trials included; the sum of shares where trials have several.
    n_moved, n_failures : float and int
        The same without failed trials, and the number of these.
    n_trials : int
        Trials.
    pvalue, pvalue_unstable : float
        For "not (ε, δ)-stable" and for "(ε, δ)-stable", as if it had been tested alone.
    adjusted, adjusted_unstable : float
        The same, adjusted by Holm's method; a verdict is given where it is at most α.
    delta_hat, epsilon_hat : float
        Upper limits that hold for every algorithm at once with probability 1 − α (Bonferroni).
    n_fits : int
        Fits that were computed.
    path : str
        How the changes were computed: fit by fit, or the name of a shortcut.
    test : str
        "binomial" or "averaged".
    e_value : float or None
        Evidence of the averaged test against "not stable"; None for the Binomial test.
    """

    name: str
    verdict: Outcome
    statistic: float
    n_trials: int
    pvalue: float
    pvalue_unstable: float
    adjusted: float
    adjusted_unstable: float
    delta_hat: float
    epsilon_hat: float
    n_fits: int
    path: str
    n_moved: float = 0
    n_failures: int = 0
    test: str = "binomial"
    e_value: float | None = None

    @property
    def stable(self) -> bool:
        """Whether it is declared stable."""
        return self.verdict == Outcome.STABLE

    def to_dict(self) -> dict[str, Any]:
        """Return every number as a plain value."""
        content: dict[str, Any] = plain(dataclasses.asdict(self) | {"verdict": self.verdict.value})
        return content


@dataclass(frozen=True)
class CompareResult(PresentedTable):
    """Which of several algorithms are stable, with one error level for all verdicts.

    P(any algorithm that is not (ε, δ)-stable is declared stable) ≤ α, and
    P(any that is (ε, δ)-stable is declared unstable) ≤ α: Holm's method on the
    p-values of Theorem 1 and on those of the mirror test, valid although the
    algorithms were run on the same rows. The averaged test's p-value is α / K divided by the
    largest value of its bet, which begins at α / K for K algorithms.

    That one algorithm is declared stable and another is not does not mean that
    the first is more stable than the second.

    Attributes
    ----------
    rows : tuple of Compared
        One line per algorithm, in the order in which they were given.
    trials : tuple of Trials
        Their changes; trial k is the same rows, test point and random term in each.
    n, epsilon, delta, alpha, randomized
        The question.
    why : str
        Why the test was chosen; "" where the caller chose it.
    ledger : LedgerNote or None
        Which verdicts on these rows hold together, if there is a ledger.

    Examples
    --------
    >>> calm = Trials.from_changes([0.1] * 60, n=5)
    >>> wild = Trials.from_changes([0.1, 0.9] * 30, n=5)
    >>> result = CompareResult.judge({"calm": calm, "wild": wild}, epsilon=0.5, delta=0.1)
    >>> [(row.name, row.verdict.value) for row in result.rows]
    [('calm', 'stable'), ('wild', 'unstable')]
    >>> result.stable
    ('calm',)
    """

    rows: tuple[Compared, ...]
    trials: tuple[Trials, ...] = field(repr=False)
    n: int
    epsilon: float
    delta: float
    alpha: float
    randomized: bool = False
    why: str = ""
    ledger: LedgerNote | None = None

    @classmethod
    def judge(
        cls,
        trials: Mapping[str, Trials],
        epsilon: float,
        delta: float,
        alpha: float = 0.05,
        randomized: bool = False,
        test: str = "auto",
        why: str = "",
    ) -> CompareResult:
        """Judge measurements that were made on the same trials, or on any others at one n.

        ``test`` is that of :meth:`poise.Trials.test`, and ``why`` says why it was chosen.
        """
        _check_comparable(trials)
        several = judged_together(trials.values(), epsilon, delta, alpha, randomized, test)
        first = several[0].result
        return cls(
            rows=tuple(_row(*each) for each in zip(trials, several, strict=True)),
            trials=tuple(trials.values()),
            n=first.n,
            epsilon=first.epsilon,
            delta=first.delta,
            alpha=alpha,
            randomized=randomized,
            why=why,
        )

    @property
    def test(self) -> str:
        """Which test: "binomial", "averaged", or "both" where trials differ."""
        tests = {row.test for row in self.rows}
        return tests.pop() if len(tests) == 1 else "both"

    @property
    def stable(self) -> tuple[str, ...]:
        """Names of the algorithms that are declared stable."""
        return tuple(row.name for row in self.rows if row.stable)

    _word = "compared"

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was noticed that may make the error level wrong, of any of them."""
        return distinct_warnings(self.trials, self.ledger)

    @property
    def all_stable(self) -> bool:
        """Whether every algorithm is declared stable."""
        return all(row.stable for row in self.rows)

    def __getitem__(self, name: str) -> Compared:
        names = [row.name for row in self.rows]
        if name not in names:
            raise KeyError(f"no algorithm {name!r}{did_you_mean(name, names)}")
        return self.rows[names.index(name)]

    def table(self) -> TextTable:
        """Return one line per algorithm, in words."""
        heading, larger = larger_column(
            [_seen(*each) for each in zip(self.rows, self.trials, strict=True)]
        )
        rows = [
            [
                shortened(row.name),
                row.verdict.value,
                cell,
                adjusted_pvalue(row),
                at_most(row.delta_hat) + (_MARK if self._looks_odd(row) else ""),
                at_most(row.epsilon_hat) + (_MARK if self._looks_odd(row) else ""),
            ]
            for row, cell in zip(self.rows, larger, strict=True)
        ]
        columns = ["algorithm", "verdict", heading, ADJUSTED, *LIMITS]
        return TextTable(columns, rows, "\n".join([self.headline(), *in_words(self.warnings)]))

    def headline(self) -> str:
        """Say in one sentence what was compared and what came out."""
        counts = Counter(row.verdict.value for row in self.rows)
        found = ", ".join(f"{counts[o.value]} {o.value}" for o in Outcome if counts[o.value])
        epsilon = allowed_change(self.epsilon, self.trials[0].design)
        asked = f"({epsilon}, {exactly(self.delta)})-stability at n = {self.n:,}"
        # The column of shares does not say how many trials there were; that of counts does.
        trials = f"{self.rows[0].n_trials:,} trials" if self.test == "averaged" else "trials"
        return f"{len(self.rows)} algorithms on the same {trials}, {asked}: {found}."

    def meaning(self) -> str:
        """Say what is guaranteed about all the verdicts together, and what is not."""
        return "\n".join(
            [
                *in_words(self.warnings),
                f'The chance that any "stable" is wrong is at most {at_most(self.alpha)}, and so '
                'is the chance that any "unstable" is (Holm). The columns "at most" '
                "hold for all algorithms at once, each column with confidence "
                f"{confidence(self.alpha)} (Bonferroni).",
                *self._mark_explained(),
                "That one is declared stable and another is not does not mean that the first is "
                "more stable than the second.",
                *self._test_explained(),
                *([] if self.ledger is None else [self.ledger.sentence()]),
            ]
        )

    def _test_explained(self) -> list[str]:
        """Say what a share is, and why this test was chosen."""
        from poise.results.text.describe_averaged import share_of_a_trial

        averaged = [
            t for row, t in zip(self.rows, self.trials, strict=True) if row.test != "binomial"
        ]
        said = [share_of_a_trial(averaged[0].design, self.epsilon)] if averaged else []
        return [*said, *([self.why] if self.why and averaged else [])]

    def _mark_explained(self) -> list[str]:
        if not any(self._looks_odd(row) for row in self.rows):
            return []
        return [f"{_MARK} {LIMITS_SHOW_LESS}"]

    def _looks_odd(self, row: Compared) -> bool:
        beyond = row.delta_hat > self.delta or row.epsilon_hat > self.epsilon
        return row.stable and beyond

    def to_dict(self) -> dict[str, Any]:
        """Return every number as a plain value, for JSON or an experiment tracker."""
        names = ["n", "epsilon", "delta", "alpha", "randomized", "test", "why"]
        question = {name: getattr(self, name) for name in names}
        rows = [row.to_dict() for row in self.rows]
        note = None if self.ledger is None else self.ledger.to_dict()
        return question | {"algorithms": rows, "warnings": list(self.warnings), "ledger": note}

    def to_json(self, indent: int | None = 2) -> str:
        """Write the numbers as JSON."""
        return to_json(self.to_dict(), indent)

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with one row per algorithm."""
        import pandas as pd

        return pd.DataFrame([row.to_dict() for row in self.rows])

    def plot(
        self,
        ax: Axes | None = None,
        *,
        title: str | None = None,
        figsize: tuple[float, float] | None = None,
    ) -> Any:
        """Draw the changes of every algorithm beside ε; return the figure, or ``ax``."""
        from poise.results.plots.compared import plot_compared

        return plot_compared(self, ax, title=title, figsize=figsize)


def _check_comparable(trials: Mapping[str, Trials]) -> None:
    if not trials:
        raise ArgumentError("algorithms must hold at least one algorithm, got none")
    sizes = sorted({t.design.n for t in trials.values()})
    if len(sizes) > 1:
        raise ArgumentError(f"all trials must have the same n, got n = {sizes}")


def _seen(row: Compared, trials: Trials) -> SeenChanges:
    averaged = row.test == "averaged"
    return SeenChanges(row.n_moved, trials.n_observed, row.n_failures, averaged)


def _row(name: str, judged: JudgedTogether) -> Compared:
    r = judged.result
    return Compared(
        name=name,
        verdict=judged.verdict,
        statistic=r.statistic,
        n_trials=r.n_trials,
        pvalue=r.pvalue,
        pvalue_unstable=r.pvalue_unstable,
        adjusted=judged.adjusted,
        adjusted_unstable=judged.adjusted_unstable,
        delta_hat=r.printed_delta_hat,
        epsilon_hat=r.epsilon_hat,
        n_fits=r.n_fits,
        path=r.design.path,
        n_moved=r.n_moved,
        n_failures=r.n_failures,
        test=r.test,
        e_value=r.e_value if isinstance(r, AveragedResult) else None,
    )
