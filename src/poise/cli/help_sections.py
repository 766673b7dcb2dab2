"""The help of commands with many options: sections, with what everybody needs first."""

from __future__ import annotations

import click

__all__ = ["SectionedCommand"]

_OTHER = "Options of this command"  # those that no other section names
_WIDTH = 24  # characters of an option and its value; what is longer has a line of its own

# The order of sections, and of options in a section, in every help text.
SECTIONS = {
    "The question": "--target --algorithm --param --fresh --n --epsilon --delta --alpha",
    _OTHER: "",
    "The rows": (
        "--drop --unlabeled --groups --weights --fit-param --sep --decimal --encoding --header"
    ),
    "The algorithm": "--program --serving --name --response --distance --coupling",
    "The trials and the test": (
        "--test --randomized --removals --points --remove --replace --shuffle --stop-early"
    ),
    "The run": (
        "--seed --jobs --backend --address --timeout --on-timeout --on-error --fast --journal "
        "--ledger"
    ),
    "The output": "--save --plot --report --certificate --force --json --quiet --help",
}
_PLACES = {
    option: (section, place)
    for section, options in SECTIONS.items()
    for place, option in enumerate(options.split())
}


class SectionedCommand(click.Command):
    """A command whose help lists its options under headings.

    Examples
    --------
    >>> from poise.cli.test import command
    >>> text = command.get_help(click.Context(command, info_name="test"))
    >>> text.index("The question:") < text.index("--algorithm") < text.index("The rows:")
    True
    """

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a section for each kind of option that the command has."""
        options = [each for each in self.get_params(ctx) if isinstance(each, click.Option)]
        for name in SECTIONS:
            chosen = sorted((each for each in options if _place(each)[0] == name), key=_place)
            records = (option.get_help_record(ctx) for option in chosen)
            # As wide in every section, so that all descriptions begin in one column.
            lines = [(record[0].ljust(_WIDTH), record[1]) for record in records if record]
            if lines:
                with formatter.section(name):
                    formatter.write_dl(lines, col_max=_WIDTH)


def _place(parameter: click.Parameter) -> tuple[str, int]:
    known = (_PLACES[option] for option in parameter.opts if option in _PLACES)
    return next(known, (_OTHER, 0))
