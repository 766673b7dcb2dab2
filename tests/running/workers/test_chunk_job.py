"""What a worker does with one chunk, without a worker: the job is called here."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np

from poise.protocol.messages import Failure, Reply
from poise.running.workers.chunk_job import STOP, Job, in_blocks


@dataclass
class Recorded:
    """Work that notes what it began, and does something before one of its answers."""

    act_at: int = -1
    act: object = None
    begun: list[int] = field(default_factory=list)

    def with_data(self, sample, tasks):
        return self

    def __call__(self, start, stop):
        for k in range(start, stop):
            self.begun.append(k)
            if k == self.act_at:
                self.act()
            yield float(k)


def test_a_chunk_reports_its_changes_as_one_block(tmp_path) -> None:
    seconds, [block], _ = Job(Recorded(), tmp_path)(3, 7, (None, None))
    assert block.tolist() == [3.0, 4.0, 5.0, 6.0]
    assert seconds > 0


def test_a_chunk_that_nobody_wants_is_not_begun(tmp_path) -> None:
    (tmp_path / STOP).touch()
    work = Recorded()
    assert Job(work, tmp_path)(0, 10, (None, None))[1] == []
    assert work.begun == []


def test_a_chunk_ends_soon_after_it_is_not_wanted_any_more(tmp_path) -> None:
    def told_to_stop():
        (tmp_path / STOP).touch()
        time.sleep(0.02)  # longer than it goes without looking

    work = Recorded(4, told_to_stop)
    Job(work, tmp_path)(0, 1000, (None, None))
    assert work.begun == [0, 1, 2, 3, 4]


def test_blocks_keep_what_is_no_change_in_its_place() -> None:
    failure, reply = Failure(1, "no"), Reply(np.array([1.0]))
    block, *others = in_blocks([0.5, np.float64(0.25), failure, reply])
    assert (block.tolist(), block.dtype) == ([0.5, 0.25], np.float64)
    assert others == [failure, reply]
    assert in_blocks([]) == []
