"""``poise.Ledger``: the questions that were put to the rows of a data set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar, cast

from poise import arguments
from poise.arguments.notebook_card import Card, ShownAsCard
from poise.data.keyed_row_hashes import RowKey
from poise.data.sample import Sample
from poise.errors import ArgumentError, RecordError, warn_of_validity
from poise.results import CompareResult, StabilityCurve, StabilityResult, Trials
from poise.results.ledger_note import LedgerNote, LedgerVerdict, parts_that_hold
from poise.results.pvalues_any_level import pvalues_at_any_level
from poise.results.text.table import TextTable
from poise.storage.ledger.described_question import described
from poise.storage.ledger.entries import (
    RULES,
    AskedQuestion,
    LedgerAnswer,
    LedgerHeader,
    Rule,
)
from poise.storage.ledger.ledger_content import LedgerContent
from poise.storage.ledger.ledger_file import OpenLedger, opened, read_ledger
from poise.storage.ledger.ledger_table import (
    ledger_headline,
    ledger_json,
    ledger_meaning,
    ledger_table,
)
from poise.storage.ledger.merge_ledgers import merge_into
from poise.storage.ledger.new_questions import lines_of_new_questions
from poise.storage.ledger.row_set import RowSet

__all__ = ["AnyLedger", "Ledger", "Noted"]

Noted = TypeVar("Noted", StabilityResult, CompareResult, StabilityCurve)

_USUAL_ALPHA = 0.05


class Ledger(ShownAsCard):
    """A file that keeps every question put to a data set, and says which verdicts hold together.

    A verdict is wrong with probability at most α for *one* question. Of all questions put to the
    same rows, or to rows that overlap, the ledger says which verdicts hold *together*: with
    ``rule="holm"``, P(any "stable" that holds is wrong) ≤ α if the questions were chosen without
    looking at the answers (Holm 1979); with ``rule="spending"``, also if it is decided after each
    answer whether to go on (:func:`poise.theory.online_fallback`). The same is true of "unstable".
    A question that failed is refused on rows that include some of the old ones.

    With ``rule="investing"`` each question has fresh rows, and all questions of the file share a
    wealth, which grows by every verdict that holds (:func:`poise.theory.alpha_investing`). What is
    promised is weaker: E[V] / (E[R] + 1 − α) ≤ α for V wrong ones among R verdicts "stable" that
    hold, a marginal false discovery rate; it does not bound the chance that any is wrong. The same
    is true of "unstable". Rows that another question has used are refused.

    It does not see questions that are asked without it, and no rule covers an algorithm that was
    built by looking at these rows: for that, take fresh rows.

    The file only grows; each line has a checksum, several processes may write to it, and two
    copies can be merged. It holds no rows, only keyed hashes of them; the key is in the file, so
    somebody who has the file can find out whether a row that he knows is in it.

    Parameters
    ----------
    path : str or Path
        The file. It is begun by the first question.
    rule : {"holm", "spending", "investing"}, optional
        Decided when the ledger is begun; by default "holm".
    alpha : float, optional
        Error level of all verdicts together, or their marginal false discovery rate, in (0, 1);
        decided when the ledger is begun, by default that of the first question.

    See Also
    --------
    compare, stability_test, Monitor

    Examples
    --------
    >>> import numpy as np, pathlib, poise, tempfile
    >>> from sklearn.linear_model import Ridge
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(1500, 3))
    >>> y = X @ [1.0, 2.0, 3.0] + rng.normal(size=1500)
    >>> ledger = poise.Ledger(pathlib.Path(tempfile.mkdtemp()) / "stability.ledger")
    >>> asked = dict(n=40, epsilon=0.5, delta=0.1, random_state=0, ledger=ledger)
    >>> for penalty in (1.0, 2.0):
    ...     result = poise.stability_test(Ridge(penalty), X, y, **asked)
    >>> result.ledger.n_questions, result.ledger.holds
    (2, True)
    >>> print(ledger.table().text())
    question                                        verdict  p        together
    Ridge(): (0.5, 0.1)-stability at n = 40         stable   ...      holds
    Ridge(alpha=2.0): (0.5, 0.1)-stability at n...  stable   ...      holds
    """

    def __init__(
        self, path: str | Path, *, rule: str | None = None, alpha: float | None = None
    ) -> None:
        if not isinstance(path, (str, Path)):
            raise ArgumentError(f"ledger must be the path of a file, got {path!r}")
        if rule is not None:
            arguments.choice("rule", rule, RULES)
        if alpha is not None:
            alpha = float(arguments.alpha(arguments.scalar("alpha", alpha)))
        self.path, self.rule, self.alpha = Path(path), rule, alpha

    @classmethod
    def of(cls, ledger: AnyLedger) -> Ledger | None:
        """Accept a path where a ledger is wanted."""
        return ledger if ledger is None or isinstance(ledger, Ledger) else cls(ledger)

    def begin(self, alpha: float = _USUAL_ALPHA) -> None:
        """Write the first line if there is none; else check that nothing else was decided."""
        with opened(self.path) as file:
            self._begun(file, alpha)

    def _begun(self, file: OpenLedger, alpha: float) -> LedgerContent:
        if file.content is None:
            level = alpha if self.alpha is None else self.alpha
            return file.begin(LedgerHeader.new(level, cast(Rule, self.rule or "holm")))
        header = file.content.header
        for name in ("rule", "alpha"):
            wanted, found = getattr(self, name), getattr(header, name)
            if wanted is not None and wanted != found:
                raise RecordError(
                    f"{self.path} was begun with {name} = {found}, and that cannot be changed once "
                    f"questions may have been answered; got {name} = {wanted}"
                )
        return file.content

    def key(self, alpha: float = _USUAL_ALPHA) -> RowKey:
        """Return the key with which rows are hashed; begin the ledger if it is new."""
        self.begin(alpha)
        return self.content.header.row_key

    @property
    def content(self) -> LedgerContent:
        """What the file holds now."""
        return read_ledger(self.path)

    def ask(self, rows: RowSet, questions: Sequence[AskedQuestion]) -> None:
        """Write down that questions are put to these rows.

        A question that was put before in exactly the same way is not written again. One that failed
        on some of these rows is refused, and then none of them is written. With alpha-investing,
        each is given its level here.
        """
        self.ask_several([("", rows, questions)])

    def ask_several(self, asked: Sequence[tuple[str, RowSet, Sequence[AskedQuestion]]]) -> None:
        """Write down questions that are put to several sets of rows: all of them, or none.

        Each set has a label, with which a refusal begins.
        """
        with opened(self.path) as file:
            content, lines = self._begun(file, _USUAL_ALPHA), []
            for label, rows, questions in asked:
                try:
                    new = lines_of_new_questions(content, rows, questions, self.path.name)
                except RecordError as error:
                    raise RecordError(f"{label}: {error}" if label else str(error)) from None
                content = content.with_lines(new)
                lines += new
            if lines:
                file.append(lines)

    def answer(self, answers: Sequence[LedgerAnswer]) -> None:
        """Write down the answers; one that is there already is not written again."""
        with opened(self.path) as file:
            content = self._begun(file, _USUAL_ALPHA)
            new = [each for each in answers if content.answers.get(each.id) != each]
            if new:
                file.append(each.to_entry() for each in new)

    def note(self, ids: Sequence[str]) -> LedgerNote:
        """Say which verdicts hold together, about the data set of these questions."""
        content = self.content
        rows = {content.questions[each].rows for each in ids}
        verdicts = tuple(
            LedgerVerdict(s.question.title, *s.claimed, True, s.level, s.spoilt)
            if s.question.id in ids
            else LedgerVerdict(s.question.title, s.alone, s.holds, False, s.level, s.spoilt)
            for s in content.standings(rows)
        )
        header = content.header
        return LedgerNote(self.path.name, header.alpha, header.rule, verdicts)

    def noted(self, result: Noted, ids: Sequence[str]) -> Noted:
        """Return a result with what the ledger says now; warn if a verdict does not hold."""
        note = self.note(ids)
        doubt = note.doubt()
        if doubt:
            warn_of_validity(doubt, stacklevel=4)
        if doubt and isinstance(result, StabilityResult):
            result = replace(result, warnings=(*result.warnings, doubt))
        return replace(result, ledger=note)

    def record(
        self, result: StabilityResult, trials: Trials, X: Any, y: Any, X_unlabeled: Any = None
    ) -> StabilityResult:
        """Write down a question that was asked without the ledger: by :meth:`Trials.test`.

        Measuring asks no question; judging trials does. Ask the ledger before you look at the
        verdict: a question that failed on some of these rows is refused. With ``rule="investing"``
        every such question is refused, because its level must be fixed before the first fit.

        Parameters
        ----------
        result : StabilityResult
            What :meth:`Trials.test` said.
        trials : Trials
            The trials that it judged.
        X, y, X_unlabeled
            The rows that were measured.

        Returns
        -------
        StabilityResult
            The same, with the note of the ledger.
        """
        rows = RowSet.of(self.key(result.alpha), Sample(X, y, X_unlabeled))
        if self.content.invests:
            raise RecordError(
                f'the rule of {self.path.name} is "investing", which fixes the level of a question '
                "before its first fit, and these trials are measured: ask with "
                "stability_test(..., ledger=...)"
            )
        asked = result.epsilon, result.delta
        how = {"test": result.test, "randomized": result.randomized}
        question = described(rows, result.design, asked, how)
        self.ask(rows, [question])
        decided = self.content.header.alpha, result.randomized, result.test
        pvalues = pvalues_at_any_level(trials, asked, *decided)
        self.answer([LedgerAnswer(question.id, result.verdict.value, *pvalues)])
        return self.noted(result, [question.id])

    def merge(self, *others: str | Path | Ledger) -> int:
        """Append the lines of copies of this ledger that are not in it; return how many.

        The result is the same in whichever order copies are merged. A ledger that was begun by
        itself has another key, and is refused.
        """
        paths = [other.path if isinstance(other, Ledger) else Path(other) for other in others]
        return merge_into(self.path, paths)

    def table(self) -> TextTable:
        """Return one line per question: verdict, p-value, and whether it holds together."""
        return ledger_table(self.content)

    def headline(self) -> str:
        """Say how many questions were put to how many data sets."""
        return ledger_headline(self.content, self.path.name)

    def meaning(self) -> str:
        """Say what is guaranteed about the verdicts that hold together, and what is not."""
        return ledger_meaning(self.content)

    def summary(self) -> str:
        """Return headline, table and what they mean."""
        return f"{self.headline()}\n\n{self.table().text()}\n\n{self.meaning()}"

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the hashes as plain values."""
        return ledger_json(self.content, self.path.name)

    def _card(self) -> Card:
        states = [each.holds for some in self.content.data_sets() for each in some]
        parts = parts_that_hold(states)
        return Card(self.headline(), "ledger", [self.meaning()], tables=[self.table()], parts=parts)

    def __repr__(self) -> str:
        return f"Ledger({str(self.path)!r})"

    def __str__(self) -> str:
        return self.summary()


AnyLedger = str | Path | Ledger | None
