"""A card that a notebook shows: verdict, sentence, picture, and more on request.

Colours follow the notebook, light or dark: text and lines take the colour of the text around
them, grounds are transparent, and every other colour is of a middle brightness. So nothing has
to be known about the theme. Styles stand on the elements themselves, so that no card changes
the look of another, and nothing is loaded from elsewhere.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any, NamedTuple, Protocol

from poise.arguments.printed_numbers import at_most, confidence, number
from poise.arguments.verdict_colours import VERDICT_COLOURS
from poise.errors import PoiseError, printable

__all__ = ["COLOURS", "BarPart", "Card", "ShownAsCard", "parts_at_limit"]

# Each has a contrast of 3 at least with white and with the black of dark themes, and of 4.5 with
# the white words on it.
COLOURS = {
    "good": VERDICT_COLOURS["stable"],
    "bad": VERDICT_COLOURS["unstable"],
    "open": VERDICT_COLOURS["inconclusive"],
    "plain": "#64707f",
}
_TONES = {
    "stable": "good",
    "verified": "good",
    "holds": "good",
    "ok": "good",
    "unstable": "bad",
    "invalid": "bad",
    "failed": "bad",
    "does not hold": "bad",
    "not as claimed": "bad",
    "not what it claims": "bad",
    "could not be repeated": "open",
    "inconclusive": "open",
    "not certified stable": "open",
}
_FRAME = (
    "border:1px solid #80808066;border-left:.4em solid {colour};border-radius:.4em;"
    "padding:.7em 1em;margin:.3em 0;max-width:64em;color:inherit;background:transparent;"
    "line-height:1.45;overflow-wrap:anywhere;box-sizing:border-box"
)
_BADGE = (
    "display:inline-block;background:{colour};color:#fff;border-radius:.3em;padding:.05em .5em;"
    "margin-right:.4em;font-weight:600"
)
_IGNORED_BY_MATHJAX = "mathjax_ignore tex2jax_ignore"  # a name with dollar signs is no formula


class _Html(Protocol):
    def html(self) -> str: ...


class BarPart(NamedTuple):
    """A piece of a bar: its length, and the number beside its name."""

    size: float
    text: str


@dataclass(frozen=True)
class Card:
    """What a notebook shows of one result.

    Attributes
    ----------
    headline : str
        The sentence.
    verdict : str
        One or two words before it; they decide the colour.
    paragraphs, warnings : sequence of str
        More in words, which opens on a click; what may make the error level wrong, always shown.
    facts : mapping of str to str
        Names and values, which open on a click.
    tables : sequence of TextTable
        Tables that are always shown.
    draw : callable, optional
        Returns a figure of poise; left out where matplotlib is not installed.
    parts : mapping of str to number or BarPart
        Drawn as one bar with a piece for each, where there is no other picture.

    Examples
    --------
    >>> card = Card("<mine> is declared stable.", "stable", parts={"did not move": 29, "moved": 1})
    >>> "&lt;mine&gt; is declared stable." in card.html(), "<svg" in card.html()
    (True, True)
    """

    headline: str
    verdict: str = ""
    paragraphs: Sequence[str] = ()
    warnings: Sequence[str] = ()
    facts: Mapping[str, str] = field(default_factory=dict)
    tables: Sequence[_Html] = ()
    draw: Callable[[], Any] | None = None
    parts: Mapping[str, float | BarPart] = field(default_factory=dict)

    @property
    def colour(self) -> str:
        """The colour of the verdict."""
        return COLOURS[_TONES.get(self.verdict, "plain")]

    def html(self) -> str:
        """Return the card as an HTML fragment; every text in it is escaped."""
        frame = _FRAME.format(colour=self.colour)
        return "".join(
            [
                f'<div class="poise-card {_IGNORED_BY_MATHJAX}" style="{frame}">',
                self._sentence(),
                *(_paragraph(f"Warning: {text}") for text in self.warnings),
                self._picture(),
                *(_scrolling(table.html()) for table in self.tables),
                _folded("In words", (_paragraph(text) for text in self.paragraphs)),
                _folded("Numbers", self._numbers()),
                "</div>",
            ]
        )

    def _sentence(self) -> str:
        badge = _BADGE.format(colour=self.colour)
        shown = f'<span style="{badge}">{_text(self.verdict)}</span>' if self.verdict else ""
        return f'<p style="margin:.2em 0 .5em">{shown}<strong>{_text(self.headline)}</strong></p>'

    def _picture(self) -> str:
        if self.draw is None:
            return _bar(self.parts, self.headline) if self.parts else ""
        try:
            picture: str = self.draw().in_page(printable(self.headline))
        except PoiseError:  # matplotlib is optional; the words and numbers are the result
            return ""
        return _scrolling(picture)

    def _numbers(self) -> Iterable[str]:
        if self.facts:
            rows = "".join(_row(*fact) for fact in self.facts.items())
            yield _scrolling(f"<table><tbody>{rows}</tbody></table>")


class ShownAsCard:
    """Something that a notebook shows as a card; abstract.

    Examples
    --------
    >>> from poise import plan
    >>> isinstance(plan(n=100, n_labeled=3000, delta=0.1), ShownAsCard)
    True
    """

    @abstractmethod
    def _card(self) -> Card:
        """Return what a notebook shows."""

    def _repr_html_(self) -> str:
        return self._card().html()


def _text(text: str) -> str:
    return escape(printable(text).replace("\n", " "))  # a name must not begin a line


def _paragraph(text: str) -> str:
    return f'<p style="margin:.3em 0">{_text(text)}</p>'


def _row(name: str, value: str) -> str:
    left = "text-align:left"
    return f"<tr><th style='{left}'>{_text(name)}</th><td style='{left}'>{_text(value)}</td></tr>"


def _scrolling(html: str) -> str:
    return f'<div style="overflow-x:auto">{html}</div>'


def _folded(title: str, parts: Iterable[str]) -> str:
    """Return what opens on a click; nothing where there is nothing to open."""
    inside = "".join(parts)
    opener = f'<summary style="cursor:pointer">{title}</summary>'
    return f'<details style="margin:.3em 0">{opener}{inside}</details>' if inside else ""


def parts_at_limit(otherwise: str, event: str, limit: float) -> dict[str, BarPart]:
    """Return the parts of a bar for an event whose probability is at most ``limit``.

    Examples
    --------
    >>> [f"{name}: {part.text}" for name, part in parts_at_limit("kept", "lost", 0.23541).items()]
    ['kept, at least: 0.7645', 'lost, at most: 0.2355']
    """
    return {
        f"{otherwise}, at least": BarPart(1 - limit, confidence(limit)),
        f"{event}, at most": BarPart(limit, at_most(limit)),
    }


def _bar(given: Mapping[str, float | BarPart], label: str) -> str:
    """Return a bar with one piece per part, and the names of the parts below it."""
    parts = {
        name: part if isinstance(part, BarPart) else BarPart(part, number(part))
        for name, part in given.items()
    }
    total = sum(part.size for part in parts.values()) or 1.0
    tones = [*COLOURS.values()]
    start, pieces, names = 0.0, [], []
    for place, (name, (size, text)) in enumerate(parts.items()):
        colour, width = tones[place % len(tones)], 100 * size / total
        span = f'x="{start:.4g}" width="{width:.4g}"'
        pieces.append(f'<rect {span} y="0" height="3" fill="{colour}"></rect>')
        square = f'<span style="color:{colour}">&#9632;</span>'
        names.append(f"<span>{square} {_text(name)}: {_text(text)}</span>")
        start += width
    svg = (
        f'<svg role="img" aria-label="{_text(label)}" viewBox="0 0 100 3" '
        f'preserveAspectRatio="none" style="width:100%;max-width:40em;height:.9em;display:block">'
        f"{''.join(pieces)}</svg>"
    )
    listed = " &#160; ".join(names)
    return f'<div style="margin:.5em 0">{svg}<div style="font-size:90%">{listed}</div></div>'
