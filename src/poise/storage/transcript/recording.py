"""The transcript of one run: recorded during the run, saved, and loaded."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from pathlib import Path

from poise.arguments.notebook_card import Card, ShownAsCard
from poise.data.sample import Sample
from poise.errors import TrialError
from poise.protocol.budget import Counts
from poise.protocol.messages import Answers, Batch
from poise.protocol.procedure import Procedure
from poise.protocol.random_order import PERMUTATION
from poise.storage.transcript.stage import Stage

__all__ = ["Recorder", "Transcript", "verdict_in_words"]


def verdict_in_words(result: object) -> str:
    """Return one word for what a procedure concluded, whatever kind of object it returned.

    Examples
    --------
    >>> from poise import Trials
    >>> verdict_in_words(Trials.from_changes([0.0] * 30, n=5).test(epsilon=0.1, delta=0.1))
    'stable'
    >>> verdict_in_words(True), verdict_in_words({"stable": True})
    ('True', 'dict')
    """
    verdict = getattr(result, "verdict", result)
    return str(verdict) if isinstance(verdict, (str, bool, int, float)) else type(verdict).__name__


@dataclass(frozen=True)
class Transcript(ShownAsCard):
    """One run, complete: the verdict is a function of this alone (Definition 2).

    Every ξ is in the question it belongs to; every ζ follows from ``seed``.

    Attributes
    ----------
    procedure : Procedure or None
        What asked; None where a file names a procedure that poise cannot rebuild.
    procedure_name : str
        Its class.
    sample : Sample
        The data.
    seed : int
        Root of all randomness of the run.
    stages : tuple of Stage
        Every batch with its answers.
    algorithm, distance : str
        Names, for the reader.
    models, on_error, on_timeout : str
        Rules of the run.
    verdict : str
        What the procedure concluded.
    counts : Counts
        What was asked in all.
    warnings : tuple of str
        What was noticed during the run that may make its error level wrong.
    order : str
        How the random order of rows was drawn: by "keys", or by a "permutation" in older files.

    Examples
    --------
    >>> import poise
    >>> from sklearn.dummy import DummyRegressor
    >>> test = poise.procedures.BinomialTest(n=5, epsilon=0.5, delta=0.2)
    >>> run = poise.run(test, DummyRegressor(), [[0.0]] * 90, [1.0] * 90, random_state=0)
    >>> poise.replay(run.transcript) == run.result
    True
    """

    procedure: Procedure | None
    procedure_name: str
    sample: Sample
    seed: int
    stages: tuple[Stage, ...]
    algorithm: str
    distance: str
    models: str
    on_error: str
    on_timeout: str
    verdict: str
    counts: Counts
    warnings: tuple[str, ...] = ()
    order: str = PERMUTATION  # what a file means that does not say it

    def save(self, path: str | Path) -> None:
        """Write everything to one file (NumPy's npz format; nothing in it is code)."""
        from poise.storage.transcript.archive import save

        save({each.name: getattr(self, each.name) for each in fields(self)}, Path(path))

    @classmethod
    def load(cls, path: str | Path) -> Transcript:
        """Read what :meth:`save` wrote."""
        from poise.storage.transcript.archive import load

        return cls(**load(Path(path)))

    def _card(self) -> Card:
        calls = f"{self.counts.calls:,} calls of the algorithm"
        said = f"{self.procedure_name} on {self.algorithm}: {self.verdict} ({calls})."
        facts = {
            "seed": str(self.seed),
            "distance": self.distance,
            "models": self.models,
            "rows trained on": f"{self.counts.training_rows:,}",
            "points evaluated": f"{self.counts.evaluation_rows:,}",
        }
        answered = sum(len(stage.tasks) for stage in self.stages)
        asked = sum(stage.asked for stage in self.stages)
        parts = {"answered": answered, "not needed": asked - answered}
        return Card(said, "transcript", (), self.warnings, facts, parts=parts)


@dataclass
class Recorder:
    """Keeps every batch of a run with its answers."""

    stages: list[Stage] = field(default_factory=list)

    def __call__(self, batch: Batch, outcome: Answers | TrialError) -> None:
        """Keep one stage."""
        self.stages.append(Stage.of(batch, outcome))
