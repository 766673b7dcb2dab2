"""Answers in the form a stopping rule gets, and who watches the conversation."""

from __future__ import annotations

import numpy as np
import pytest

from poise.errors import RecordError, TrialError
from poise.protocol.messages import Answers, Batch, Failure, Query
from poise.protocol.procedure import converse

BATCH = Batch([Query(np.arange(3), np.array([4]), xi=1)])


def test_answers_are_fed_one_trial_at_a_time() -> None:
    changes = np.array([0.1, 0.2, 0.3])
    answers = Answers(changes, failures=(Failure(1, "singular"),))
    np.testing.assert_array_equal(answers.fed, [0.1, np.nan, 0.3])
    assert changes[1] == 0.2  # the record keeps what it had
    blocks = Answers(np.arange(6.0).reshape(3, 2, 1))
    assert [block.tolist() for block in blocks.fed] == [[[0], [1]], [[2], [3]], [[4], [5]]]
    assert Answers(predictions=([1.0], [2.0])).fed == [[1.0], [2.0]]
    assert Answers().fed == []


class Replies:
    """Answers each batch with the next thing it has, or raises it."""

    def __init__(self, *things) -> None:
        self.things = list(things)

    def answer(self, batch):
        thing = self.things.pop(0)
        if isinstance(thing, Exception):
            raise thing
        return thing


def asks_until_something_fails():
    heard = []
    while True:
        try:
            heard.append((yield BATCH))
        except (TrialError, RecordError) as error:
            return heard, error


def test_whoever_watches_sees_answers_and_failed_trials_but_no_broken_journal() -> None:
    good, failed = Answers(), TrialError("no", trial=0, partial=[])
    broken = RecordError("full", partial=[])
    for last, watched in [(failed, [good, failed]), (broken, [good])]:
        seen = []
        heard, error = converse(
            asks_until_something_fails(),
            Replies(good, last),
            watch=lambda batch, answers, seen=seen: seen.append(answers),
        )
        assert (heard, error) == ([good], last)
        assert seen == watched
        assert converse(asks_until_something_fails(), Replies(last)) == ([], last)


def test_a_file_of_another_run_is_no_answer() -> None:
    with pytest.raises(RecordError, match="another run"):
        converse(asks_until_something_fails(), Replies(RecordError("of another run")))
