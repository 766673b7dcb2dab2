"""Browsers that only write down what they were asked to open."""

from __future__ import annotations

import webbrowser


class Browser(webbrowser.BaseBrowser):
    """A browser with windows of its own."""

    def __init__(self, opened: list[str]) -> None:
        super().__init__("test")
        self.opened = opened

    def open(self, url: str, new: int = 0, autoraise: bool = True) -> bool:
        self.opened.append(url)
        return True
