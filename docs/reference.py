"""Write the pages about commands, settings and ``poise.theory`` from the code itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from copy import copy
from importlib import import_module
from pathlib import Path
from pkgutil import resolve_name

import click

from poise import theory
from poise.cli import COMMANDS, main
from poise.settings import REQUIRED, Everything, Setting, settings_of


def write(folder: Path) -> None:
    """Write the pages; one that has not changed is left alone: Sphinx need not read it again."""
    folder.mkdir(exist_ok=True)
    for page in folder.glob("poise.*.rst"):  # of names that are gone
        with suppress(AttributeError, ImportError):
            resolve_name(page.stem)
            continue
        page.unlink()
    pages = {"commands": commands(), "settings": settings(), "theory": theory_functions()}
    for name, lines in pages.items():
        text, file = "\n".join(lines) + "\n", folder / f"{name}.rst"
        if not file.exists() or file.read_text("utf-8") != text:
            file.write_text(text, "utf-8")


def headline(text: str, mark: str = "=") -> list[str]:
    """Return a headline."""
    return [text, mark * len(text), ""]


def commands() -> Iterator[str]:
    """Describe every command as its --help-all does."""
    yield from headline("Commands")
    yield from ["**What can be typed, and what does each option mean?**", ""]
    context = click.Context(main, info_name="poise")
    for name, command in every_command(context):
        inner = click.Context(command, info_name=name, parent=context)
        yield from headline(f"poise {name}", "-")
        for part in command.help.partition("\b")[0].split("\n\n"):  # without its examples
            yield from [" ".join(part.split()), ""]
        usage = " ".join(command.get_usage(inner).split()[1:])
        yield from [".. code-block:: text", "", f"   {usage}", ""]
        for option in map(copy, command.get_params(inner)):
            option.hidden = False  # as --help-all shows it
            record = option.get_help_record(inner)
            if record is not None and record[1]:  # an argument may need no words
                yield from [f"``{record[0]}``", f"   {escaped(record[1])}", ""]
    yield from headline("Exit status", "-")
    for line in main.epilog.splitlines()[2:]:
        status, meaning = line.split(maxsplit=1)
        yield from [f"``{status}``", f"   {escaped(meaning)}", ""]


def every_command(context: click.Context) -> Iterator[tuple[str, click.Command]]:
    """Name every command, and those of a group instead of the group."""
    for name in COMMANDS:
        command = main.get_command(context, name)
        inside = {f"{name} {key}": each for key, each in getattr(command, "commands", {}).items()}
        yield from (inside or {name: command}).items()


def settings() -> Iterator[str]:
    """List every setting by its three names."""
    yield from headline("Settings")
    yield from ["**How is a setting called in Python, on the command line and in a gate?**", ""]
    yield "In Python settings are keywords, in a gate keys with the keyword's name."
    yield from ["", ".. list-table::", "   :header-rows: 1", "   :widths: 20 20 15 45", ""]
    rows = [("keyword", "option", "default", "meaning")]
    rows += [row(each) for each in settings_of(Everything).values()]
    for cells in rows:
        yield from (f"   {'*' if i == 0 else ' '} - {cell}" for i, cell in enumerate(cells))


def row(setting: Setting) -> tuple[str, str, str, str]:
    """Return the cells of one setting."""
    said = setting.said
    option = said.option or f"--{setting.name.replace('_', '-')}"
    names = " / ".join(f"``{part}``" for part in option.split("/") if part != "-")
    default = "required" if said.default is REQUIRED else f"``{said.default!r}``"
    rule = f" ({escaped(setting.rule)})" if "object" not in setting.rule else ""
    return f"``{setting.name}``", names, default, f"{escaped(said.help)}{rule}"


def theory_functions() -> Iterator[str]:
    """List the functions of poise.theory, one section for each file."""
    yield from headline("poise.theory")
    yield from ["**What is the formula, and can I call it by itself?**", ""]
    yield "Functions of numbers and arrays; none of them fits a model."
    yield from ["", ".. currentmodule:: poise", ""]
    homes: dict[str, list[str]] = {}
    for name in theory.__all__:
        homes.setdefault(getattr(theory, name).__module__, []).append(name)
    for home, names in homes.items():
        subject = re.split(r"[:(;]|\.$", import_module(home).__doc__.splitlines()[0])[0]
        yield from headline(subject.strip(), "-")
        yield from [".. autosummary::", "   :toctree:", "   :nosignatures:", ""]
        yield from (f"   theory.{name}" for name in sorted(names, key=str.lower))
        yield ""


def escaped(text: str) -> str:
    """Write text so that reStructuredText shows it as it is."""
    return "".join(f"\\{each}" if each in "\\*`|_<>" else each for each in text)
