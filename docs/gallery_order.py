"""The order of the examples in the gallery: those to read first come first."""

from __future__ import annotations

from pathlib import Path

FIRST = (
    "first_verdict",
    "choosing_the_question",
    "profile_of_changes",
    "planner",
    "classification",
    "pipeline_with_text_and_holes",
    "groups",
    "night_on_a_cluster",
    "certified_intervals",
    "stabilised_tree",
    "boosting",
    "pytorch_network",
    "jax_network",
    "r_program",
    "own_test",
    "traps",
    "theorems_as_pictures",
)


class ReadingOrder:
    """A key by which sphinx-gallery sorts the files of a folder; new files come last."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __call__(self, filename: str) -> tuple[int, str]:
        """Return the place of a file in the list."""
        stem = Path(filename).stem
        return (FIRST.index(stem) if stem in FIRST else len(FIRST), stem)
