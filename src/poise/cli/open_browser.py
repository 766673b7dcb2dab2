"""Open an address in the browser, where somebody can see it."""

from __future__ import annotations

import os
import sys
import webbrowser
from collections.abc import Mapping

__all__ = ["has_screen", "open_browser"]

_REMOTE = ("SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY")
_NOT_SET = ("", "0", "false")
_HAVE_A_SCREEN = ("darwin", "win32", "cygwin")  # elsewhere a variable tells


def has_screen(environ: Mapping[str, str], platform: str, terminal: bool) -> bool:
    """Tell whether somebody sits before a screen that can show a page.

    Not if the output goes to a file or a program, in continuous integration, over SSH, or on a
    machine without a display server.

    Parameters
    ----------
    environ : mapping of str to str
        The environment of the process.
    platform : str
        As in ``sys.platform``.
    terminal : bool
        Whether stdout is a terminal.

    Examples
    --------
    >>> has_screen({"DISPLAY": ":0"}, "linux", True), has_screen({}, "linux", True)
    (True, False)
    """
    if not terminal or environ.get("CI", "").lower() not in _NOT_SET:
        return False
    if any(environ.get(name) for name in _REMOTE):
        return False
    displays = environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY")
    return platform.startswith(_HAVE_A_SCREEN) or bool(displays)


def open_browser(address: str) -> bool:
    """Open an address where there is a screen; return whether a browser was started.

    A browser that runs inside of the terminal (lynx, w3m) is not started, unless the user
    named it: it would take over the terminal in which the result stands.
    """
    if not has_screen(os.environ, sys.platform, sys.stdout.isatty()):
        return False
    try:
        browser = webbrowser.get()
    except webbrowser.Error:  # there is none
        return False
    in_terminal = type(browser) is webbrowser.GenericBrowser and not os.environ.get("BROWSER")
    return not in_terminal and browser.open(address)
