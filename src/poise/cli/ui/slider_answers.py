"""Answer the sliders of a run: the verdict, its limits, and whether its error level holds."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from poise import arguments
from poise.arguments.printed_numbers import at_most, confidence, exactly
from poise.cli.ui.browser_figures import Figure, changes_figure, profile_figure
from poise.cli.ui.result_file import ResultFile
from poise.errors import ArgumentError
from poise.results.conditional_result import ConditionalResult
from poise.results.conditional_trials import ConditionalTrials
from poise.results.plots.changes import axis_span
from poise.results.profile import Profile
from poise.results.stability_result import StabilityResult
from poise.results.text.next_step import next_step
from poise.results.text.summary import Summary
from poise.results.trials import Trials

__all__ = ["Answer", "Bands", "SliderQuestion", "without_verdict"]

SYMBOLS = {"epsilon": "ε", "delta": "δ", "alpha": "α"}
_USUAL = {"delta": 0.1, "alpha": 0.05}
_PROFILES_KEPT = 64


@dataclass(frozen=True)
class SliderQuestion:
    """ε, δ and α of the page, and those that were fixed before the first trial.

    Attributes
    ----------
    epsilon, delta, alpha : float
        What is asked now.
    fixed : mapping
        What was fixed beforehand; empty if the file does not say.
    """

    epsilon: float
    delta: float
    alpha: float
    fixed: Mapping[str, Any]

    @classmethod
    def of(cls, opened: ResultFile, given: Mapping[str, str]) -> SliderQuestion:
        """Read what is asked; what is not given is what was fixed, or something usual.

        Examples
        --------
        >>> from poise.cli.ui.file_kind import FileKind
        >>> trials = Trials.from_changes([0.1, 0.2, 0.3], n=5)
        >>> opened = ResultFile(FileKind.TRIALS, "mine", 5, trials=trials)
        >>> SliderQuestion.of(opened, {"delta": "0.2"})
        SliderQuestion(epsilon=0.28, delta=0.2, alpha=0.05, fixed={})
        """
        known = {"epsilon": _usual_epsilon(opened), **_USUAL, **opened.question}
        asked = {name: _number(name, given.get(name, known[name])) for name in SYMBOLS}
        arguments.epsilon(asked["epsilon"])
        arguments.delta(asked["delta"])
        arguments.alpha(asked["alpha"])
        fixed = {name: value for name, value in opened.question.items() if name in SYMBOLS}
        return cls(**asked, fixed=fixed)

    @property
    def values(self) -> dict[str, float]:
        """What is asked, by name."""
        return {"epsilon": self.epsilon, "delta": self.delta, "alpha": self.alpha}

    @property
    def moved(self) -> list[str]:
        """The names of what differs from what was fixed."""
        return [name for name in self.fixed if self.values[name] != self.fixed[name]]


def _number(name: str, text: Any) -> float:
    try:
        return float(text)
    except (TypeError, ValueError):
        raise ArgumentError(f"{name} must be a number, got {text!r}") from None


def _usual_epsilon(opened: ResultFile) -> float:
    """Return a change that a tenth of the trials exceed, to begin with: it decides nothing."""
    if opened.trials is None:
        return 0.0
    changes = _plain(opened.trials).all_changes
    finite = changes[np.isfinite(changes)]
    return float(f"{np.quantile(finite, 0.9):.3g}") if len(finite) else 0.0


def _plain(trials: Trials | ConditionalTrials) -> Trials:
    return trials if isinstance(trials, Trials) else trials.as_trials


def without_verdict(headline: str) -> str:
    """Return a headline without the word before it, which the page shows above.

    Examples
    --------
    >>> without_verdict("INCONCLUSIVE: whether mean is stable is not settled.")
    'Whether mean is stable is not settled.'
    >>> without_verdict("Nothing was judged.")
    'Nothing was judged.'
    """
    word, colon, said = headline.partition(": ")
    if not (colon and word.isupper()):
        return headline
    return said[:1].upper() + said[1:] if said.startswith("whether ") else said


@dataclass(frozen=True)
class Answer:
    """Everything that the page says about one question.

    Attributes
    ----------
    opened : ResultFile
        The file, which holds changes.
    question : SliderQuestion
        What is asked of them.
    """

    opened: ResultFile
    question: SliderQuestion

    @cached_property
    def result(self) -> StabilityResult | ConditionalResult:
        """The verdict."""
        trials = self.opened.trials
        assert trials is not None
        asked = self.question.epsilon, self.question.delta, self.question.alpha
        if isinstance(trials, ConditionalTrials):
            return trials.test(*asked)
        return trials.test(*asked, bool(self.opened.question.get("randomized", False)))

    @cached_property
    def summary(self) -> Summary:
        """Headline, warnings and paragraphs."""
        return self.result.describe()

    @property
    def sentence(self) -> str:
        """The verdict in one sentence, without the word that stands above it."""
        return without_verdict(self.summary.headline)

    @property
    def paragraphs(self) -> list[str]:
        """What was done, found and not shown; what is next stands elsewhere."""
        return [text for text in self.summary.paragraphs if not text.startswith("Next: ")]

    @property
    def settle(self) -> str:
        """What would settle it, or what to do now."""
        if isinstance(self.result, ConditionalResult):
            return self.summary.paragraphs[-1]
        said = next_step(self.result).removeprefix("Next: ")
        return said[:1].upper() + said[1:]

    @property
    def looking(self) -> str:
        """What looking first does to the guarantee, in one line."""
        moved = self.question.moved
        level = at_most(self.question.alpha)
        if not self.question.fixed:
            return (
                "No question was fixed in this file. A verdict keeps its error level only for a "
                "question that was chosen before anyone looked at these changes."
            )
        if not moved:
            return (
                "ε, δ and α are those that were fixed before the first trial: this verdict is "
                f"wrong with probability at most {level}."
            )
        if moved == ["delta"] and self.result.test == "binomial":
            return (
                "Only δ was moved. The limits for the fixed ε hold whatever δ they are compared "
                f"with, so the error level {level} is kept."
            )
        symbols = " and ".join(SYMBOLS[name] for name in moved)
        holds = "What still holds is the band, for every ε at once." if "epsilon" in moved else ""
        return (
            f"{symbols} moved after looking at the changes: the error level of this verdict does "
            f"not hold any more. {holds}"
        ).strip()

    @property
    def span(self) -> float:
        """Where the axis of changes ends; it stays while ε moves inside it."""
        assert self.opened.trials is not None
        begun = self.opened.question.get("epsilon") or None
        return max(axis_span(_plain(self.opened.trials), begun), 1.1 * self.question.epsilon)

    def changes_figure(self) -> Figure:
        """Draw the changes."""
        assert self.opened.trials is not None
        return changes_figure(_plain(self.opened.trials), self.question.epsilon, self.span)

    def profile_figure(self, profile: Profile) -> Figure:
        """Draw the band, and the limit for this ε alone."""
        asked, limit = self.question.values, float(self.result.printed_delta_hat)
        return profile_figure(profile, asked, limit, self.result.verdict.value, self.span)

    def band_sentence(self, profile: Profile) -> str:
        """Say what the band gives at this ε."""
        limit = profile.at(self.question.epsilon)
        delta = self.question.delta
        against = "not more than" if limit <= delta else "more than"
        return (
            f"The band, which holds for every ε at once with confidence "
            f"{confidence(profile.alpha)}: a change larger than {exactly(self.question.epsilon)} "
            f"has probability at most {at_most(limit)}, {against} δ = {exactly(delta)}."
        )


class Bands:
    """Simultaneous bands, each computed once: they take longer than a verdict."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[Trials, float], Profile] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, trials: Trials, alpha: float) -> Profile:
        """Return the band of a measurement at this level."""
        with self._lock:
            if (trials, alpha) not in self._known:
                self._known[trials, alpha] = trials.profile(alpha)
            while len(self._known) > _PROFILES_KEPT:
                self._known.popitem(last=False)
            return self._known[trials, alpha]
