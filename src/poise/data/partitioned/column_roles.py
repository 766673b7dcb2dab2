"""Which columns of a frame are features, responses, groups and weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from poise.arguments import did_you_mean
from poise.data.fit_params import FitParams, require_names
from poise.data.sample import Sample
from poise.data.tables import as_table
from poise.errors import ArgumentError, DataError

__all__ = ["ColumnRoles", "named_columns"]


@dataclass(frozen=True)
class ColumnRoles:
    """The columns of a frame by what they are for.

    Attributes
    ----------
    target : str
        The column of responses.
    features : tuple of str
        All columns that have no other role, in the order of the frame.
    groups : str or None
        The column of groups.
    per_row : dict
        Arguments of ``fit`` with one value per row, and their columns.
    constant : dict
        The other arguments of ``fit``.

    Examples
    --------
    >>> roles = ColumnRoles.of(["age", "dose", "who", "w"], "dose", "who", {"sample_weight": "w"})
    >>> roles.features, roles.per_row
    (('age',), {'sample_weight': 'w'})
    >>> ColumnRoles.of(["age", "dose"], "dosis")
    Traceback (most recent call last):
    poise.errors.ArgumentError: target must be a column of X, got 'dosis'; did you mean 'dose'?
    """

    target: Any
    features: tuple[Any, ...]
    groups: Any = None
    per_row: Mapping[str, Any] = field(default_factory=dict)
    constant: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        names: Sequence[Any],
        target: Any,
        groups: Any = None,
        fit_params: Mapping[str, Any] | None = None,
    ) -> ColumnRoles:
        """Look up the columns; text among ``fit_params`` that names a column means that column."""
        _refuse_twice(names)
        _require(names, "target", target)
        if groups is not None:
            _require(names, "groups", groups)
        given = {} if fit_params is None else require_names(fit_params)
        per_row = {name: value for name, value in given.items() if _names(value, names)}
        constant = {name: value for name, value in given.items() if name not in per_row}
        used = [target, groups, *per_row.values()]
        features = tuple(name for name in names if name not in used)
        if groups == target or not features:
            raise DataError(
                "X has no columns for features: target, groups and fit_params use "
                f"{', '.join(map(repr, names))}"
            )
        return cls(target, features, groups, per_row, constant)

    @property
    def used(self) -> list[Any]:
        """The columns that the fits need, each once."""
        return list(dict.fromkeys([*self.features, self.target, *self.per_row.values()]))

    def require_features(self, names: Sequence[Any]) -> None:
        """Refuse unlabelled rows that miss a feature."""
        if not set(self.features) <= set(names):
            raise DataError(
                f"X_unlabeled must have the columns of X ({self.features}), got {tuple(names)}"
            )

    def sample(self, labeled: Any, unlabeled: Any = None) -> Sample:
        """Make a sample of data frames of pandas that are here."""
        points = None if unlabeled is None else unlabeled[list(self.features)]
        made = Sample(labeled[list(self.features)], labeled[self.target], points)
        if self.per_row or self.constant:
            made.fit_params = FitParams({}, len(labeled))
            made.fit_params.constant = dict(self.constant)
            made.fit_params.per_row = {
                name: as_table(labeled[column], f"fit_params[{name!r}]")
                for name, column in self.per_row.items()
            }
        return made


def named_columns(
    X: Any, target: Any, X_unlabeled: Any, groups: Any, fit_params: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Take responses, groups and weights out of a data frame that is here, by column name.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"age": [30, 41], "dose": [1.5, 2.5]})
    >>> found = named_columns(frame, "dose", None, None, None)
    >>> list(found["X"]), found["y"].tolist()
    (['age'], [1.5, 2.5])
    """
    import narwhals as nw

    frame: Any = nw.from_native(X, eager_only=True, pass_through=True)
    if not hasattr(frame, "columns") or frame is X:
        raise ArgumentError(
            f"target={target!r} names a column of a data frame, and X is a {type(X).__name__}; "
            "give the responses as y"
        )
    by_name = isinstance(groups, str)
    roles = ColumnRoles.of(list(frame.columns), target, groups if by_name else None, fit_params)
    points = X_unlabeled
    if points is not None:
        points = _features_of(points, roles)
    params = {**roles.constant, **{k: frame[v].to_native() for k, v in roles.per_row.items()}}
    return {
        "X": frame.select(*roles.features).to_native(),
        "y": frame[target].to_native(),
        "X_unlabeled": points,
        "groups": frame[groups].to_native() if by_name else groups,
        "fit_params": None if fit_params is None else params,
    }


def _features_of(X_unlabeled: Any, roles: ColumnRoles) -> Any:
    """Return the columns of unlabelled rows that are features; refuse rows that miss one."""
    import narwhals as nw

    frame: Any = nw.from_native(X_unlabeled, eager_only=True, pass_through=True)
    roles.require_features(getattr(frame, "columns", ()))
    return frame.select(*roles.features).to_native()


def _refuse_twice(names: Sequence[Any]) -> None:
    twice = [name for name in dict.fromkeys(names) if list(names).count(name) > 1]
    if twice:
        raise DataError(f"X has more than one column named {twice[0]!r}; rename them")


def _require(names: Sequence[Any], argument: str, given: Any) -> None:
    if not _names(given, names):
        is_text = isinstance(given, str)
        hint = did_you_mean(given, map(str, names)) if is_text else ""
        shown = repr(given) if is_text else f"a {type(given).__name__}"
        raise ArgumentError(f"{argument} must be a column of X, got {shown}{hint}")


def _names(value: Any, names: Sequence[Any]) -> bool:
    return isinstance(value, str) and value in names
