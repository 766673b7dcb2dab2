"""One self-contained HTML page with verdicts, tables and plots."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poise.arguments.verdict_colours import VERDICT_COLOURS
from poise.errors import PoiseError
from poise.results.plots.canvas import MARK

if TYPE_CHECKING:
    from poise.results import StabilityResult, Trials
    from poise.results.conditional_result import ConditionalResult
    from poise.results.conditional_trials import ConditionalTrials
    from poise.results.text.summary import Summary

__all__ = ["Section", "render_report", "write_report"]


@dataclass(frozen=True)
class Section:
    """One algorithm's part of a report.

    Attributes
    ----------
    result : StabilityResult or ConditionalResult
        The verdict.
    trials : Trials or ConditionalTrials, optional
        The changes it rests on; they are drawn if matplotlib is installed.
    note : str
        A sentence on why it is here.
    """

    result: StabilityResult | ConditionalResult
    trials: Trials | ConditionalTrials | None = None
    note: str = ""

    @property
    def summary(self) -> Summary:
        """Headline, warnings and paragraphs."""
        return self.result.describe()

    @property
    def numbers(self) -> dict[str, str]:
        """The figures a reader looks up."""
        return self.result.facts()

    @property
    def provenance(self) -> dict[str, str]:
        """Statement, seed, digests and versions; empty where they are not known."""
        from poise.results.stability_result import StabilityResult
        from poise.results.text.describe_provenance import facts_of_provenance

        if not isinstance(self.result, StabilityResult):
            return {}
        return facts_of_provenance(self.result)

    @property
    def style(self) -> str:
        """The verdict as the name of a class of the style sheet."""
        return self.result.verdict.value.replace(" ", "-")

    @property
    def picture(self) -> str:
        """The changes and their profile as a data URI; empty where nothing can be drawn."""
        if self.trials is None:
            return ""
        from poise.results.plots.measurement_picture import plot_measurement

        try:
            figure = plot_measurement(self.trials, self.result)
        except PoiseError:  # matplotlib is optional; the words and numbers are the report
            return ""
        return "data:image/png;base64," + base64.b64encode(figure.png()).decode("ascii")


def render_report(
    sections: Sequence[Section], title: str = "Stability report", introduction: str = ""
) -> str:
    """Return the page as text.

    Parameters
    ----------
    sections : sequence of Section
        One per verdict, in the order in which they are read.
    title, introduction : str
        What the page is about; plain text.

    Examples
    --------
    >>> from poise import Trials
    >>> trials = Trials.from_changes([0.1] * 30, n=5, algorithm="<mine>")
    >>> page = render_report([Section(trials.test(epsilon=0.2, delta=0.1))])
    >>> "&lt;mine&gt; is declared" in page
    True
    """
    from poise import __version__

    template: Any = _environment().get_template("page.html")
    page: str = template.render(
        sections=sections,
        title=title,
        introduction=introduction,
        version=__version__,
        mark=MARK,
        colours=VERDICT_COLOURS,
    )
    return page


def _environment() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("poise.results.report.html_report", "templates")
    return Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def write_report(
    path: Path,
    sections: Sequence[Section],
    title: str = "Stability report",
    introduction: str = "",
) -> None:
    """Write the page of :func:`render_report` to a file."""
    path.write_text(render_report(sections, title, introduction), encoding="utf-8")
