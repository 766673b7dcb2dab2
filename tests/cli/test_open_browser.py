"""Where a browser is opened, and where it is not."""

from __future__ import annotations

import webbrowser

import pytest

from poise.cli import open_browser
from shared.browsers import Browser

SCREEN = {"DISPLAY": ":0"}


@pytest.mark.parametrize(
    ("environ", "platform", "terminal", "expected"),
    [
        (SCREEN, "linux", True, True),
        ({"WAYLAND_DISPLAY": "wayland-0"}, "linux", True, True),
        ({}, "linux", True, False),
        ({}, "freebsd14", True, False),
        ({}, "darwin", True, True),
        ({}, "win32", True, True),
        (SCREEN, "linux", False, False),
        (SCREEN | {"CI": "true"}, "linux", True, False),
        (SCREEN | {"CI": "1"}, "linux", True, False),
        (SCREEN | {"CI": "false"}, "linux", True, True),
        (SCREEN | {"SSH_CONNECTION": "10.0.0.1 22"}, "linux", True, False),
        ({"SSH_TTY": "/dev/pts/0"}, "darwin", True, False),
    ],
)
def test_where_there_is_a_screen(environ, platform, terminal, expected) -> None:
    assert open_browser.has_screen(environ, platform, terminal) == expected


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_browser, "has_screen", lambda *_: True)
    monkeypatch.delenv("BROWSER", raising=False)


def test_a_browser_with_windows_is_opened(screen, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "get", lambda: Browser(opened))
    assert open_browser.open_browser("http://127.0.0.1/")
    assert opened == ["http://127.0.0.1/"]


def test_none_is_opened_in_the_terminal_or_where_there_is_none(
    screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_terminal = webbrowser.GenericBrowser("false")
    monkeypatch.setattr(in_terminal, "open", lambda *_: pytest.fail("was opened"))
    monkeypatch.setattr(webbrowser, "get", lambda: in_terminal)
    assert not open_browser.open_browser("http://127.0.0.1/")

    def none() -> None:
        raise webbrowser.Error("could not locate runnable browser")

    monkeypatch.setattr(webbrowser, "get", none)
    assert not open_browser.open_browser("http://127.0.0.1/")


def test_without_a_screen_no_browser_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_browser, "has_screen", lambda *_: False)
    monkeypatch.setattr(webbrowser, "get", lambda: pytest.fail("was looked for"))
    assert not open_browser.open_browser("http://127.0.0.1/")
