"""Tasks are sent to workers in chunks: every task once, in order, cheap ones together."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from poise.running.workers.chunks import Chunks


@given(
    start=st.integers(0, 50),
    length=st.integers(0, 500),
    workers=st.integers(1, 9),
    grain=st.integers(1, 40),
    seconds=st.lists(st.floats(1e-9, 10.0), max_size=60),
)
def test_chunks_cover_every_task_once_and_in_order(start, length, workers, grain, seconds) -> None:
    chunks = Chunks(start, start + length, workers, grain)
    position, measured = start, iter(seconds)
    for first, last in chunks:
        assert first == position < last <= start + length
        assert (last - first) % grain == 0 or last == start + length
        position = last
        if (duration := next(measured, None)) is not None:
            chunks.learn(last - first, duration)
    assert position == start + length


def test_chunks_group_cheap_fits_and_leave_long_ones_alone() -> None:
    chunks = Chunks(0, 1_000_000, workers=2)
    ranges = iter(chunks)
    assert next(ranges) == (0, 1)
    chunks.learn(tasks=1, seconds=0.0001)
    first, last = next(ranges)
    assert last - first == 500, "fifty milliseconds of them: dispatch costs well below 2%"
    chunks.learn(tasks=500, seconds=0.05)
    first, last = next(ranges)
    assert last - first == 500
    for _ in range(30):
        chunks.learn(tasks=500, seconds=0.05)
    first, last = next(ranges)
    assert last - first == 775, "a twentieth of the time spent so far, 1.55 seconds"
    for _ in range(100):
        chunks.learn(tasks=500, seconds=0.05)
    first, last = next(ranges)
    assert last - first == 1000, "but never more than a tenth of a second"
    chunks.learn(tasks=1, seconds=600.0)
    first, last = next(ranges)
    assert last - first == 1
    chunks.close()
    assert next(ranges, None) is None
