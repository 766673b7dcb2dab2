"""What is sent to a cluster, and how much of it at once: no cluster needed."""

from __future__ import annotations

from contextlib import closing

import pytest

from poise.algorithms.fit_warnings import FitWarnings
from poise.data.sample import Sample
from poise.errors import ClusterError
from poise.running.workers.chunk_job import Job
from poise.running.workers.cluster import ClusterWorkers


class Counted:
    """Stands for a cluster of four workers, and counts the chunks it holds at once."""

    deaths = (ArithmeticError,)
    size = 4

    def __init__(self) -> None:
        self.most = 0

    def put(self, content):
        return content

    def start(self, job, span, data):
        return span

    def finished(self, futures):
        self.most = max(self.most, len(futures))
        return {min(futures)}

    def result(self, future):
        return 0.0, list(range(*future)), FitWarnings()

    def cancel(self, futures):
        pass


def crew_of(workers: int, cluster: Counted, folder) -> ClusterWorkers:
    data = Sample([[0.5], [1.5]], [1.0, 2.0]), ["a plan"]
    return ClusterWorkers(cluster, workers, Job(None, folder), data)


@pytest.mark.parametrize(("workers", "at_once"), [(1, 1), (3, 3), (4, 8)])
def test_workers_that_are_left_to_others_are_given_nothing(workers, at_once, tmp_path) -> None:
    cluster = Counted()
    with closing(crew_of(workers, cluster, tmp_path).submit((k, k + 1) for k in range(20))) as all_:
        assert [answers for _, answers in all_] == [[k] for k in range(20)]
    assert cluster.most == at_once


class Dying(Counted):
    """Its workers die so many times while something is sent to them."""

    def __init__(self, times: int, of: type[Exception]) -> None:
        super().__init__()
        self.times, self.of = times, of

    def put(self, content):
        self.times -= 1
        if self.times >= 0:
            raise self.of("in <TCP (closed)>: Stream is closed")
        return content


@pytest.mark.parametrize("of", [OSError, ArithmeticError])
def test_workers_that_die_while_they_are_sent_to(of, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    workers = crew_of(4, Dying(3, of), tmp_path)
    assert list(workers.submit([(0, 2)])) == [(0.0, [0, 1])]


def test_workers_that_do_nothing_but_die(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    with pytest.raises(ClusterError, match=r"could not be sent to the workers .* is closed"):
        crew_of(4, Dying(100, OSError), tmp_path)
