"""``poise advise``: what the rows of a file can answer, before anything is tested."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from typing import Any

import click

from poise.cli import options
from poise.cli.errors import SOURCE, Exit, Warned, stdout_is_for_the_answer
from poise.cli.inputs import READ, Source, load_algorithm, parse_parameters
from poise.cli.screen import paragraphs, print_json

EXAMPLE = """\
  poise advise data.csv --target y --algorithm Ridge
"""


@options.command(
    "advise",
    EXAMPLE,
    options.run,
    options.setting("delta", 0.1),
    options.setting("alpha"),
    options.setting("X_unlabeled"),
    options.setting("groups"),
    options.setting("response"),
    click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else."),
)
def command(ctx: click.Context, /, data: str, **values: Any) -> int:
    """List training sizes N, what the rows of DATA can answer at each, and commands to copy.

    With --algorithm, it is also fitted once. Nothing is tested.
    """
    asked = options.given(ctx)
    if values["target"] is None and not data.endswith(".npz"):
        raise click.UsageError("Missing --target, the column that is predicted.", ctx)
    unlabeled = asked.pop("X_unlabeled", None)
    source = ctx.meta[SOURCE] = Source(data, {**values, "unlabeled": unlabeled})
    with Warned(quiet=False).listening():
        with stdout_is_for_the_answer():
            asked |= source.read()
            if values["algorithm"] is not None:
                parameters = parse_parameters(values["params"])
                asked["algorithm"] = load_algorithm(values["algorithm"], parameters)
            found = _advised(**asked)
        if values["as_json"]:
            print_json(found.to_dict())
        else:
            paragraphs("\n".join(_in_options(line) for line in found.lines(_typed(data, values))))
    return Exit.STABLE


def _advised(X: Any, y: Any, **asked: Any) -> Any:
    from poise.questions.plan import advise

    return advise(X, y, **asked)


def _typed(data: str, values: Mapping[str, Any]) -> Callable[[str, Mapping[str, object]], str]:
    """Return how a call of the library is typed here."""

    def spell(function: str, asked: Mapping[str, object]) -> str:
        command = {"stability_test": "test"}.get(function, function)
        words = ["poise", command, data]
        typed = ("target", *READ, "groups", "response")
        chosen: dict[str, Any] = {name: values[name] for name in typed}
        chosen |= {"unlabeled": values["X_unlabeled"], "param": values["params"]}
        if values["program"]:
            chosen["program"] = values["program"]
        else:
            chosen["algorithm"] = values["algorithm"] or "ALGORITHM"
        for name, value in {**chosen, **asked}.items():
            option = f"--{name.replace('_', '-')}"
            for each in value if isinstance(value, tuple) else (value,):
                words += [option, str(each)] if each not in (None, False, True) else []
                words += [option] if each is True else []
        return shlex.join(words)

    return spell


def _in_options(remark: str) -> str:
    """Write the arguments that a remark names as options."""
    remark = re.sub(r"\bresponse='(\w+)'", r"--response \1", remark)
    return re.sub(r"\bgroups=", "--groups ", remark)
