"""Notes of workers, read by whoever finds one of them dead."""

from __future__ import annotations

from poise.running.faults import in_flight


def test_what_was_begun_is_found_once(tmp_path) -> None:
    in_flight.begin(tmp_path, 1234)
    assert in_flight.take(tmp_path).running == {1234}
    assert in_flight.take(tmp_path).running == set()


def test_a_page_without_a_word_on_it_is_no_note(tmp_path) -> None:
    """Its worker was killed between the making of the file and the first fit."""
    (tmp_path / "running-1").touch()
    in_flight.begin(tmp_path, 1234)
    assert in_flight.take(tmp_path).running == {1234}
