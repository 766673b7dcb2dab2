"""Every setting a user may give, declared once: its type, bounds, default and meaning.

Keywords of the functions, options of the command line, keys of TOML files and the documentation
are read from here. A face that needs a new setting adds one line.
"""

from __future__ import annotations

import inspect
import re
import textwrap
import types
from collections.abc import Callable, Collection, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache, partial
from typing import (
    Annotated,
    Any,
    Literal,
    TypedDict,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from poise import checks
from poise.errors import ArgumentError

# numpydoc's sections in their order: other parameters stand before these
_AFTER_RETURNS = re.compile(r"^    (Raises|See Also|Notes|Examples)$", re.MULTILINE)
F = TypeVar("F", bound=Callable[..., Any])

COMMAND: ContextVar[str] = ContextVar("command", default="")  # what was typed: files tell it
ON_DASK = ("stability_test", "measure", "assert_stable")  # functions that take its frames
# What a measurement is not asked.
OF_A_VERDICT = ("epsilon", "alpha", "gamma", "test", "stop_early", "randomized")
_ROWS = """\
    algorithm : estimator, function or Algorithm
        As in :func:`stability_test`.
    X : array, sparse matrix, data frame or list
        Labelled rows.
    y : array or str
        Responses, or the name of their column in X.
"""
_LEFT_OUT: dict[str, Collection[str]] = {}  # settings that a public function does not have
REQUIRED: Any = type("Required", (), {"__repr__": lambda self: "required"})()


@dataclass(frozen=True)
class says:  # noqa: N801 - reads as a word of the declaration below
    """What is said about a setting beside its type."""

    help: str
    default: Any = None
    range: str = ""  # of numbers: "> 0" or "in [0, 1)"
    option: str = ""  # of the command line; "" is its name with dashes, "-" is none
    first: bool = False  # listed on the first screen of a command's help


often = partial(says, first=True)


class Asked(TypedDict, total=False):
    """What a question asks; flat keywords of the functions."""

    n: Annotated[
        int | float,
        often("Training size, at least 2, or a share in (0, 1) of the rows.", REQUIRED, "> 0"),
    ]
    epsilon: Annotated[
        float | str | None,
        often(
            "Allowed change, >= 0, in units of the prediction, or '5% of sd' (of the response). "
            "Not given where a change is yes or no, or a share."
        ),
    ]
    delta: Annotated[float, often("Allowed probability of a larger change.", REQUIRED, "in [0, 1)")]
    alpha: Annotated[
        float, often("Error level: how often the verdict may be wrong.", 0.05, "in (0, 1)")
    ]
    test: Annotated[
        Literal["auto", "binomial", "averaged"],
        says("The paper's Binomial test, the averaged test, or what suits the trials.", "auto"),
    ]
    stop_early: Annotated[
        bool, says("Stop as soon as the verdict is certain; limits are wider then.", False)
    ]
    random_state: Annotated[
        object,
        often("Seed of rows and fits: the same seed gives the same changes.", 0, option="--seed"),
    ]


class Settings(TypedDict, total=False):
    """Rarer settings of every question."""

    # rows
    fit_params: Annotated[
        Mapping[str, object] | None,
        says(
            "More arguments of fit, by name; those as long as the labelled rows are split with "
            "them.",
            option="-",
        ),
    ]
    sample_weight: Annotated[
        object,
        says("One weight for each labelled row, or the name of a column.", option="--weight"),
    ]
    groups_unlabeled: Annotated[object, says("Groups of the rows without a response.", option="-")]
    ids: Annotated[
        object, says("Names of the labelled rows, or the name of a column.", option="--ids")
    ]
    # what a trial is
    coupling: Annotated[
        Literal["shared", "independent"] | object,
        says("Random terms of the two fits: the same, independent, or your own.", "shared"),
    ]
    position: Annotated[
        Literal["last", "uniform"],
        says("Remove the last row of the training set, or one drawn at random, in place.", "last"),
    ]
    remove: Annotated[int, says("Rows (or groups) removed at once.", 1, ">= 1")]
    replace: Annotated[bool, says("Replace the removed rows by new ones.", False)]
    removals_per_trial: Annotated[
        int | Literal["all"] | None,
        says("Removals tried in each trial; by default those that cost no fit.", None, ">= 1"),
    ]
    points_per_trial: Annotated[
        int | None,
        says("Test points of each trial; by default up to 20, as spare rows allow.", None, ">= 1"),
    ]
    max_trials: Annotated[int | None, often("Run at most this many trials.", 10_000, ">= 1")]
    shuffle: Annotated[bool, says("Put the rows in a random order first.", True)]
    name: Annotated[str | None, says("What to call the algorithm.")]
    randomized: Annotated[
        bool, says("Toss the paper's coin in a tie: the test then has size exactly alpha.", False)
    ]
    # how it is run
    backend: Annotated[
        Literal["dask", "ray"] | None,
        says("Cluster to fit on; connect to it first. By default this machine."),
    ]
    fit_timeout: Annotated[float | None, says("Seconds that one fit may take.", None, "> 0")]
    on_error: Annotated[
        Literal["raise", "record"],
        says("What a failed fit does: end the run, or count against 'stable'.", "raise"),
    ]
    journal: Annotated[
        str | object | None,
        often(
            "File that keeps every answer, so that the same call goes on from there; a folder for "
            "several algorithms or sizes."
        ),
    ]
    progress: Annotated[
        bool | None, says("Show progress; by default after one second.", option="-")
    ]
    fast: Annotated[
        bool, says("Use exact shortcuts where they exist.", True, option="--fast/--no-fast")
    ]
    check: Annotated[
        bool,
        says("Look at trial 1 for what would break the level.", True, option="--look/--no-look"),
    ]


class MoreSettings(Settings, total=False):
    """What ``stability_test`` has as flat keywords and the other functions take as settings."""

    X_unlabeled: Annotated[
        object, often("Rows without a response: more test points.", option="--unlabeled")
    ]
    groups: Annotated[
        object, often("Group of each row, or the name of a column: whole groups are removed.")
    ]
    response: Annotated[
        Literal["predict", "predict_proba", "decision_function"],
        often("Method of the fitted estimator that is compared.", "predict"),
    ]
    distance: Annotated[
        str | Callable[..., object] | object,
        says(
            "How two predictions are compared: auto, absolute, euclidean, total_variation, label, "
            "or a function.",
            "auto",
        ),
    ]
    n_jobs: Annotated[
        int | None, often("Number of fits at the same time; -1 for one per core.", option="--jobs")
    ]


class Every(Asked, MoreSettings, total=False):
    """All of them."""


class OneTrainingSet(TypedDict, total=False):
    """What a question about one training set asks besides."""

    notion: Annotated[
        Literal["deployed", "add-one", "jackknife"],
        often(
            "A row leaves the training set; a new one is added; or a new one is added to the rows "
            "of leave-one-out models, which predict the row that they lack.",
            "deployed",
        ),
    ]
    without: Annotated[
        object,
        often(
            "Rows that leave together: a value of a column, as in 'customer_id == 1234', a mask, "
            "names of rows, or {name: any of these}."
        ),
    ]
    update: Annotated[int | None, often("Retrain with this many new rows.", None, ">= 1")]
    gamma: Annotated[
        float | None,
        often(
            "Tolerated share of rows that matter; delta is then the allowed probability of a "
            "larger share, at a new row.",
            None,
            "in [0, 1)",
        ),
    ]
    groups_fresh: Annotated[object, says("Group of each fresh row.", option="-")]
    chosen_from: Annotated[
        int | None,
        says(
            "How many sets of rows 'without' was chosen from by looking at these fresh rows; "
            "alpha is divided by it.",
            None,
            ">= 1",
        ),
    ]


class Everything(Every, OneTrainingSet, total=False):
    """All settings of all questions."""


@dataclass(frozen=True)
class Setting:
    """One setting, as read from its declaration."""

    name: str
    kinds: tuple[type, ...]  # int, float, bool, str; object: anything
    words: tuple[str, ...]
    optional: bool
    said: says

    @property
    def default(self) -> Any:
        """The value where it is left out; None where it is required."""
        return None if self.said.default is REQUIRED else self.said.default

    @property
    def rule(self) -> str:
        """What is allowed, in words."""
        number = f"a {'' if float in self.kinds else 'whole '}number {self.said.range}".strip()
        words = {int: number, float: number, bool: "True or False", str: "text"}
        parts = dict.fromkeys(said for kind, said in words.items() if kind in self.kinds)
        more = [checks.one_of(self.words)] if self.words else []
        more += ["object"] if object in self.kinds else []
        return " or ".join([*parts, *more, *(["None"] if self.optional else [])])

    def check(self, value: Any) -> Any:
        """Return the value, whole numbers as int; raise what is wrong with it.

        A required one that is left out is told by the question, which knows what would fit.
        """
        left_out = value is None and (self.optional or self.said.default is REQUIRED)
        if left_out or object in self.kinds:
            return value
        if isinstance(value, str) and (value in self.words or str in self.kinds):
            return value
        if bool in self.kinds and type(value).__name__ in ("bool", "bool_"):
            return bool(value)
        fraction = isinstance(value, float) and not value.is_integer()
        if int in self.kinds and not (fraction and float in self.kinds):
            return checks.count(self.name, value, checks.bounds(self.rule)[0], self.rule)
        if float in self.kinds:
            return checks.number(self.name, value, self.rule)
        raise ArgumentError(f"must be {self.rule}", argument=self.name, got=value)


@cache
def settings_of(declared: type) -> dict[str, Setting]:
    """Read the settings that one of the classes above declares, in order."""
    hints = get_type_hints(declared, include_extras=True)
    return {name: _setting(name, *get_args(hint)) for name, hint in hints.items()}


def checked(function: str, given: Mapping[str, Any], declared: type) -> dict[str, Any]:
    """Return every declared setting with its checked value or default; refuse all others."""
    known = settings_of(declared)
    for name in given:
        if name in _LEFT_OUT.get(function, ()):
            later = function.startswith("measure") and name in OF_A_VERDICT
            remedy = "give it to Trials.test" if later else ""
            raise ArgumentError(f"is not an argument of {function}", argument=name, remedy=remedy)
        if name not in known:
            hint = checks.did_you_mean(name, known)
            raise TypeError(f"{function}() got an unexpected keyword argument {name!r}{hint}")
    return {name: each.check(given.get(name, each.default)) for name, each in known.items()}


def documented(*declared: type, leave: Collection[str] = ()) -> Callable[[F], F]:
    """Give a public function its full signature and its list of parameters from the settings.

    ``{settings}`` in its docstring is replaced by the flat keywords it has and by what ``declared``
    adds, without those to ``leave`` out; rare ones stand under "Other Parameters". ``{rows}`` is
    replaced by what most questions are about.
    """

    def decorate(function: F) -> F:
        _LEFT_OUT[function.__name__] = leave
        signature, every = inspect.signature(function), settings_of(Everything)
        flat = [each for each in signature.parameters.values() if each.kind is not each.VAR_KEYWORD]
        named = {each.name for each in flat}
        added = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=each.said.default)
            for kind in declared
            for name, each in settings_of(kind).items()
            if name not in named and name not in leave
        ]
        shown = {True: "", False: ""}  # often, rarely
        for each in [*flat, *added]:
            if each.name in every:
                often = each.name in named or every[each.name].said.first
                shown[often] += _entry(every[each.name], each.default)
        text = (function.__doc__ or "").replace("    {rows}\n", _ROWS)
        before, _, after = text.partition("    {settings}\n")
        if shown[False]:
            rare = f"    Other Parameters\n    ----------------\n{shown[False]}\n"
            after = _AFTER_RETURNS.sub(lambda found: rare + found[0], after, count=1)
        function.__doc__ = before + shown[True] + after
        function.__signature__ = signature.replace(parameters=[*flat, *added])  # type: ignore[attr-defined]
        return function

    return decorate


def _entry(setting: Setting, default: Any) -> str:
    required = setting.said.default is REQUIRED and default in (None, REQUIRED)
    shown = f", default {default!r}" * (default is not inspect.Parameter.empty and not required)
    help = textwrap.indent(textwrap.fill(setting.said.help, 82), " " * 8)
    return f"    {setting.name} : {setting.rule}{shown}\n{help}\n"


def _setting(name: str, hint: Any, said: says) -> Setting:
    parts = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
    words = tuple(word for part in parts if get_origin(part) is Literal for word in get_args(part))
    plain = {part for part in parts if get_origin(part) is not Literal and part is not type(None)}
    kinds = tuple(part if part in (int, float, bool, str) else object for part in plain)
    return Setting(name, kinds, words, type(None) in parts, said)
