"""Where the rows come from: files, columns, and the format of text files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from poise.data.files.text_format import TextFormat
from poise.errors import ArgumentError

__all__ = ["RowSource", "columns_for_fit"]


@dataclass(frozen=True)
class RowSource:
    """The files and columns that hold the rows of a question.

    Attributes
    ----------
    file : Path or str
        Labelled rows: a file, a folder or a pattern; ``-`` for standard input. An address is
        text, since a path would lose one of its slashes.
    target : str or None
        Column with the responses.
    drop : tuple of str
        Columns to leave out.
    unlabeled : Path, str or None
        More rows, without responses.
    groups : str or None
        Column that says which rows belong together; it is no feature.
    form : TextFormat
        How text files are written.
    fit_params : mapping of str to str
        Columns that are arguments of ``fit``, such as weights, by the name of the
        argument; they are no features.
    """

    file: Path | str
    target: str | None = None
    drop: tuple[str, ...] = ()
    unlabeled: Path | str | None = None
    groups: str | None = None
    form: TextFormat = field(default_factory=TextFormat)
    fit_params: Mapping[str, str] = field(default_factory=dict)

    @property
    def left_out(self) -> list[str]:
        """Columns that are not features, each once."""
        also = [] if self.groups is None else [self.groups]
        return list(dict.fromkeys([*self.drop, *also, *self.fit_params.values()]))


def columns_for_fit(weights: str | None, others: Mapping[str, str]) -> dict[str, str]:
    """Return the columns that are passed to ``fit``, by the name of the argument.

    Examples
    --------
    >>> columns_for_fit("w", {"ridge__offset": "o"})
    {'sample_weight': 'w', 'ridge__offset': 'o'}
    """
    if weights is None:
        return dict(others)
    if "sample_weight" in others:
        raise ArgumentError(
            f"sample_weight is given twice: column {weights!r} as the weights, and column "
            f"{others['sample_weight']!r}"
        )
    return {"sample_weight": weights, **others}
