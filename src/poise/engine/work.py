"""The only code that calls user code: one task in, one answer out."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

import numpy as np

from poise.algorithms.algorithm import Algorithm, Predict
from poise.algorithms.distances import Distance
from poise.algorithms.predictions import Undefined, as_array
from poise.data.sample import Sample
from poise.engine.messages import Answer, Failure, Floats, Ids, Made, Query, Rows, Trial, queries_of
from poise.engine.surroundings import Settings, States, Surroundings, generators
from poise.errors import TrialError, in_one_line


@dataclass
class Work:
    """Tasks about one algorithm and one sample; it travels to workers as it is."""

    algorithm: Algorithm
    sample: Sample
    distance: Distance
    tasks: Sequence[Query] | Sequence[Trial] = ()
    keep_causes: bool = True  # of failures: an exception keeps the rows of its fit in memory
    settings: Settings = field(default_factory=Settings.here)

    def answers(
        self, span: range, begins: Callable[[int], None] | None = None, limit: float | None = None
    ) -> Generator[Answer]:
        """Yield the answers to some tasks, in order; ``begins`` is told which one comes next."""
        limited = None if limit is None else self.algorithm.with_limit(limit)
        if limited is not None:
            yield from replace(self, algorithm=limited).answers(span, begins)
            return
        checks = not isinstance(self.algorithm.unchecked(), nullcontext)  # that can be skipped
        with Surroundings(self.settings, limit) as around, ExitStack() as unchecked:
            looks = span and getattr(self.tasks[span.start], "look", None)
            if self.algorithm.at_once and not looks:  # nobody knows which one a worker dies of
                for stack in self._stacks(span, self.algorithm.at_once):
                    yield from self._together(stack, around)
                return
            relaxed = False
            for k in span:
                if begins is not None:
                    begins(k)
                answer = self.answer(self.tasks[k], around)
                if relaxed and answer.failure:  # a check that was skipped may name the reason
                    unchecked.close()
                    again = self.answer(self.tasks[k], around)
                    answer, relaxed = again if again.failure else answer, False
                yield answer
                if checks and not relaxed and not answer.failure:
                    unchecked.enter_context(self.algorithm.unchecked())
                    relaxed = True

    def answer(self, task: Query | Trial, around: Surroundings) -> Answer:
        """Return predictions of a query, or the changes of a trial."""
        if isinstance(task, Query):
            return self.ask(task, around)
        full: list[Answer] = []
        reduced: list[Answer] = []
        for j, query in enumerate(task.reduced):
            if j < len(task.full):
                full.append(self.ask(task.full[j], around))
            failed = full[-1].failure  # then nothing is left to compare with
            reduced.append(Answer(failure=failed) if failed else self.ask(query, around))
        return self.compared(task, full, reduced)

    def ask(self, query: Query, around: Surroundings) -> Answer:
        """Fit and predict; whatever user code raises ends this one call only."""
        try:
            again = True
            while again:
                X, y, more = self._training(query.train)  # copies: a fit may change them
                around.before_fit(query.xi)
                predict = self.algorithm.fit(X, y, query.xi, **more)
                again = around.too_late()
            states = generators() if query.also else []
            if query.look is None:
                values = self._predictions(predict, query.points)
            else:
                values = np.asarray(query.look(predict, self._points(query.points)))
            also = tuple(self._further(predict, points, states, around) for points in query.also)
            return Answer(values, also=also, said=around.after_fit())
        except BaseException as error:  # also of a fit that wants to end the program
            return Answer(failure=self._failure(error), said=around.after_fit())

    def _stacks(self, span: range, size: int) -> Iterator[dict[int, Query | Trial]]:
        """Divide tasks into stacks: each has a place of its own, whoever is beside it."""
        stack: dict[int, Query | Trial] = {}
        for k in span:
            given = queries_of(self.tasks[k])[0].place
            place = (k if given is None else given) % size
            if place in stack:
                yield stack
                stack = {}
            stack[place] = self.tasks[k]
        if stack:
            yield stack

    def _together(self, stack: dict[int, Query | Trial], around: Surroundings) -> Iterator[Answer]:
        """Answer the tasks of a stack: the first query of all of them, then the second, ..."""
        columns = zip(*map(queries_of, stack.values()), strict=True)
        found = [self._fitted(dict(zip(stack, c, strict=True)), around) for c in columns]
        for task, *fits in zip(stack.values(), *found, strict=True):
            if isinstance(task, Query):
                yield fits[0]
            else:
                yield self.compared(task, fits[: len(task.full)], fits[len(task.full) :])

    def _fitted(self, queries: dict[int, Query], around: Surroundings) -> list[Answer]:
        """Fit one data set at each place; where that fails, each by itself at its place."""
        try:
            values = self._many(queries, around)
        except BaseException as error:
            failure, said = self._failure(error), around.after_fit()
            if len(queries) == 1:
                return [Answer(failure=failure, said=said)]
            return [self._fitted({place: query}, around)[0] for place, query in queries.items()]
        said = around.after_fit()  # told once: how many fits it was is not known
        return [Answer(each, said=() if k else said) for k, each in enumerate(values)]

    def _many(self, queries: dict[int, Query], around: Surroundings) -> list[Any]:
        """Fill a stack, and return the predictions at the places that are asked for."""
        size = self.algorithm.at_once or 1
        data = {
            place: (*self._training(query.train)[:2], self._points(query.points), query.xi)
            for place, query in queries.items()
        }
        spare = next(iter(data.values()))
        *parts, xi = zip(*(data.get(place, spare) for place in range(size)), strict=True)
        around.before_fit(spare[-1])
        X, y, points = map(np.stack, parts)
        values = as_array(self.algorithm.many(X, y, points, np.array(xi, np.uint64)))
        if values.shape[:2] != points.shape[:2]:
            raise Undefined(
                f"many returned an array of shape {values.shape}; it must return one prediction "
                f"for each of {points.shape[1]} points of {size} data sets"
            )
        return [values[place].copy() for place in queries]

    def compared(self, trial: Trial, full: list[Answer], reduced: list[Answer]) -> Answer:
        """Return the changes of a trial from the predictions of its fits."""
        points = 1 if self.distance.panel else len(trial.reduced[0].points)
        table, failure = np.full((len(reduced), points), np.nan), None
        for j, after in enumerate(reduced):
            before = full[min(j, len(full) - 1)]
            failed = before.failure or after.failure
            if not failed:
                found, failed = self.compare(before.values, after.values, trial.reduced[j].points)
                table[j] = found
            failure = failure or failed
        losses = [self.error(a.values, trial.full[0].points) for a in full if not a.failure]
        error = sum(losses) / len(losses) if losses else np.nan
        said = chain.from_iterable(each.said for each in (*full, *reduced))
        return Answer(table, failure, error, said=tuple(said))

    def compare(
        self, full: Any, reduced: Any, points: Rows
    ) -> tuple[Floats | float, Failure | None]:
        """Return the change at each point, and why there is none where there is none."""
        try:
            y = (self.sample.responses(points),) if self.distance.needs_response else ()
            changes = self.distance(full, reduced, *y)
        except BaseException as error:  # a distance of the user's own, too
            return np.nan, self._failure(error)
        missing = np.flatnonzero(np.isnan(changes))
        if not len(missing):
            return changes, None
        named = not (self.distance.panel or isinstance(points, Made))
        where = f" at row {self.sample.label_of(points[missing[0]])}" if named else ""
        text = f"the predictions{where} are missing or infinite, so they have no distance"
        return changes, Failure(text, "undefined")

    def _training(self, rows: Rows) -> tuple[Any, Any, dict[str, Any]]:
        if isinstance(rows, Made):
            return rows.X.copy(), None if rows.y is None else rows.y.copy(), {}
        return self.sample.training(rows)

    def _points(self, rows: Rows) -> Any:
        return rows.X.copy() if isinstance(rows, Made) else self.sample.points(rows)

    def _predictions(self, predict: Predict, points: Rows) -> Any:
        values = as_array(predict(self._points(points)))
        if len(values) != len(points):
            raise Undefined(
                f"predict returned an array of shape {values.shape} for {len(points)} rows; it "
                "must return one prediction per row"
            )
        return values.copy()  # a predictor may fill the same array again for the next fit

    def _further(
        self, predict: Predict, points: Ids, states: States, around: Surroundings
    ) -> Answer:
        """Predict as if this were the first call of predict after the fit."""
        for put_back in states:
            put_back()
        around.start_clock()
        try:
            with self.algorithm.unchecked():
                return Answer(self._predictions(predict, points))
        except BaseException as error:
            return Answer(failure=self._failure(error))

    def error(self, values: Any, points: Rows) -> float:
        """Return the mean loss of predictions at the points that have a response."""
        if isinstance(points, Made):
            return np.nan
        if self.sample.X_unlabeled is not None:
            known = points < len(self.sample.y)
            if not known.any():
                return np.nan
            values, points = values[known], points[known]
        try:
            return float(self.algorithm.error(values, self.sample.responses(points)))
        except KeyboardInterrupt:
            raise
        except BaseException:  # predictions of another kind than the responses, or of user code
            return np.nan

    def _failure(self, error: BaseException) -> Failure:
        """Return what user code has raised as a failure; an interrupt is none."""
        if isinstance(error, KeyboardInterrupt):
            raise error
        cause = error if self.keep_causes else None
        if isinstance(error, TrialError):  # an external program says itself how it failed
            return Failure(str(error), error.kind, cause)  # type: ignore[arg-type]
        kind: Any = "undefined" if isinstance(error, Undefined) else "error"
        return Failure(in_one_line(error), kind, cause)
