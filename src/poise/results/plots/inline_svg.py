"""A picture as SVG inside a page: its lines have the colour of the text around it.

Ink and ground follow a light and a dark page; the other colours are exchanged for some of a
middle brightness, which both show.
"""

from __future__ import annotations

import io
import re
from hashlib import sha256
from typing import TYPE_CHECKING
from xml.etree import ElementTree

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["inline_svg"]

_HEX = re.compile(r"#[0-9a-fA-F]{6}\b")
_REFERENCE = re.compile(r"#([\w.-]+)")
_DECIMALS = re.compile(r"(\.\d\d)\d+")
_INK = {"#000000", "#111827"}
_BRIGHTER = {  # on white as on black, a contrast of 3 at least
    "#1f4e79": "#3d7dbb",
    "#7fa6c9": "#5a90bf",
    "#e5e7eb": "#80808055",
    "#ffffff": "none",
}
_STYLE = "max-width:100%;height:auto;fill:currentColor;stroke-linejoin:round;stroke-linecap:butt"


def inline_svg(figure: Figure, label: str) -> str:
    """Return a figure as an ``<svg>`` element for HTML, with a label for screen readers.

    Names in it are outlines, not text; identifiers are its own, so that several pictures can
    stand in one page; there is no style sheet, which would change the page around it.

    Examples
    --------
    >>> from poise.results.plots.canvas import new_figure
    >>> inline_svg(new_figure(2, 1), "nothing <yet>")[:51]
    '<svg viewBox="0 0 144 72" role="img" aria-label="no'
    """
    text = _written(figure)
    root = ElementTree.fromstring(text)
    _drop_what_is_not_drawn(root)
    _rename(root, "p" + sha256(text.encode()).hexdigest()[:8])
    inks = _inks()
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        for name, value in element.attrib.items():
            if name in ("d", "x", "y"):
                element.attrib[name] = _DECIMALS.sub(r"\1", value)
            elif name == "style":
                element.attrib[name] = _HEX.sub(lambda c: _shown(c[0], inks), value)
    kept = {"viewBox": root.attrib["viewBox"], "role": "img", "aria-label": label}
    root.attrib.clear()
    width = float(kept["viewBox"].split()[2])
    root.attrib.update(kept | {"style": f"width:{width * 4 / 3:.0f}px;{_STYLE}"})
    return ElementTree.tostring(root, encoding="unicode")


def _written(figure: Figure) -> str:
    import matplotlib

    buffer = io.StringIO()
    nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    with matplotlib.rc_context({"svg.fonttype": "path", "svg.hashsalt": "poise"}):
        figure.savefig(buffer, format="svg", transparent=True, metadata=nothing)
    return buffer.getvalue()


def _drop_what_is_not_drawn(root: ElementTree.Element) -> None:
    """Drop descriptions and style sheets: in a page they would be text, or hold for all of it."""
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag.endswith(("}style", "}metadata")):
                parent.remove(child)


def _rename(root: ElementTree.Element, prefix: str) -> None:
    """Give identifiers short names of their own, and drop those that nothing refers to."""
    known: dict[str, str] = {}

    def renamed(reference: re.Match[str]) -> str:
        return "#" + known.setdefault(reference[1], f"{prefix}-{len(known)}")

    for element in root.iter():
        for name in [each for each in element.attrib if each.endswith(("href", "clip-path"))]:
            value = _REFERENCE.sub(renamed, element.attrib.pop(name))
            element.attrib[name.rpartition("}")[2]] = value
    for element in root.iter():
        name = element.attrib.pop("id", "")
        if name in known:
            element.attrib["id"] = known[name]


def _inks() -> set[str]:
    """Return the colours of words and axes, also those of the user's own style."""
    from matplotlib import rcParams
    from matplotlib.colors import to_hex

    words = rcParams["text.color"], rcParams["axes.labelcolor"], rcParams["axes.edgecolor"]
    ticks = rcParams["xtick.color"], rcParams["ytick.color"]
    return _INK | {to_hex(colour) for colour in (*words, *ticks)}


def _shown(colour: str, inks: set[str]) -> str:
    return "currentColor" if colour.lower() in inks else _BRIGHTER.get(colour.lower(), colour)
