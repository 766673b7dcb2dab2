"""Check the built site: links, pictures, sidebars, and that nothing comes from elsewhere.

    python docs/check_site.py docs/_build/html

prints what is wrong, one line each, and ends with status 1 if anything is. It uses no network.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

_LOADED = {"img": "src", "script": "src", "source": "src", "iframe": "src"}  # without a click
_SHEETS = {"stylesheet", "icon", "shortcut icon", "preload"}
_CSS_URL = re.compile(r"url\(\s*['\"]?((?:https?:)?//[^'\")]+)")


class Page(HTMLParser):
    """What one page links to, loads, and can be linked to at."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.places: set[str] = set()
        self.pictures = 0
        self.unnamed: list[str] = []
        self.text = text
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what the tag refers to."""
        given = {name: value or "" for name, value in attrs}
        self.places |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag == "link" and given.get("rel") in _SHEETS:
            self.loaded.append(given.get("href", ""))
        if _LOADED.get(tag) in given:
            self.loaded.append(given[_LOADED[tag]])
        if tag == "img":
            self.pictures += 1
            self.loaded += [part.split()[0] for part in given.get("srcset", "").split(",") if part]
            if "alt" not in given:
                self.unnamed.append(given.get("src", ""))

    @property
    def has_empty_sidebar(self) -> bool:
        """Whether the column for navigation is there, without a link in it."""
        side = self.text.partition('id="pst-primary-sidebar"')[2].partition('id="main-content"')[0]
        return 'class="bd-docs-nav' in side and "<a " not in side.partition("bd-docs-nav")[2]


@cache
def read(path: Path) -> Page:
    """Parse a page once."""
    return Page(path.read_text(encoding="utf-8"))


def problems(site: Path) -> Iterator[str]:
    """Find everything that is wrong with the pages and style sheets of a site."""
    for path in sorted(site.rglob("*.html")):
        if "_static" not in path.relative_to(site).parts:
            for problem in _of_page(site, path):
                yield f"{path.relative_to(site)}: {problem}"
    for path in sorted(site.rglob("*.css")):
        for url in _CSS_URL.findall(path.read_text(encoding="utf-8", errors="replace")):
            yield f"{path.relative_to(site)}: loads {url}"
    yield from _of_gallery(site)
    yield from _of_reference(site)


def _of_page(site: Path, path: Path) -> Iterator[str]:
    page = read(path)
    yield from (f"loads {url} from elsewhere" for url in page.loaded if _is_elsewhere(url))
    yield from (f"the picture {source} has no alt text" for source in page.unnamed)
    if page.has_empty_sidebar:
        yield "the sidebar is empty"
    for url in {*page.links, *page.loaded}:
        if not _is_elsewhere(url) and not url.startswith(("mailto:", "data:", "javascript:")):
            yield from _of_link(site, path, url)


def _is_elsewhere(url: str) -> bool:
    return bool(urlsplit(url).netloc)


def _of_link(site: Path, path: Path, url: str) -> Iterator[str]:
    parts = urlsplit(url)
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if target.is_dir():
        target /= "index.html"
    if not target.is_relative_to(site.resolve()) or not target.is_file():
        yield f"{url} does not exist"
    elif target.suffix == ".html" and unquote(parts.fragment) not in {"", *read(target).places}:
        yield f"{url}: there is no such place on that page"


def _of_gallery(site: Path) -> Iterator[str]:
    for path in sorted((site / "gallery").rglob("*.html")):
        page, name = read(path), path.relative_to(site)
        if path.stem in ("index", "sg_execution_times"):
            continue
        if "/images/" not in page.text and "_images/sphx_glr" not in page.text:
            yield f"{name}: has no picture"
        if not any(link.endswith(f"{path.stem}.ipynb") for link in page.links):
            yield f"{name}: has no notebook"


def _of_reference(site: Path) -> Iterator[str]:
    for path in sorted((site / "generated").glob("poise.*.html")):
        text, name = read(path).text, path.relative_to(site)
        if "<p>alias of " in text:
            continue
        if "&gt;&gt;&gt;" not in text and "poise.errors" not in path.stem:
            yield f"{name}: has no example"
        if "See also" not in text:
            yield f"{name}: has no “See also”"


def main(site: str) -> int:
    """Print what is wrong and return the exit status."""
    found = list(problems(Path(site).resolve()))
    print("\n".join(found) or "every link, picture and sidebar is there")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
