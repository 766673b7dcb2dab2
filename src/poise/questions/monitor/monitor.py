"""``poise.Monitor``: an open-ended test whose evidence is kept on disk."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from poise import arguments
from poise.algorithms.distance import Distance
from poise.arguments import counted
from poise.arguments.notebook_card import Card, ShownAsCard
from poise.data.keyed_row_hashes import RowKey
from poise.errors import ArgumentError, DataError, RecordError
from poise.protocol.randomness import Coupling, RandomStateLike
from poise.questions.monitor.leftovers import Leftovers
from poise.questions.monitor.new_rows import NewRows, Positions
from poise.questions.monitor.record_actions import abandon_call, begin_epoch
from poise.questions.monitor.record_settings import RecordSettings
from poise.questions.monitor.record_status import status_of
from poise.questions.monitor.row_batch import begin_batch, begun_batch, finish_batch
from poise.storage.monitor_record import (
    RecordContent,
    RecordFile,
    RecordHeader,
    read_record,
)

if TYPE_CHECKING:
    from poise.questions.measurement import Measurement
    from poise.results.monitor_status import MonitorStatus
    from poise.results.verdict import Outcome
    from poise.theory.anytime_limits import LimitsOverTime

__all__ = ["Monitor"]

_BYTES_OF_KEY = 32


class Monitor(ShownAsCard):
    """Test stability with rows that come in over time, and look as often as you like.

    Each call of :meth:`add` forms trials from fresh rows and adds their evidence to a record on
    disk. For every algorithm and every distribution, P(wrong verdict at any moment) ≤ α: the
    evidence is an e-process (Ville's inequality), so it may be looked at after every trial, and
    rows may be added because of what was seen. There is no coin: one that is compared at every
    look does not keep the level.

    The statement is about rows from *one* distribution. It does not watch for drift; if the rows
    have changed, :meth:`restart`. "inconclusive" is not "unstable".

    The record holds no rows, only keyed hashes of those used, which it refuses to use again.
    Rows that are too few for a trial are not marked as used. They are kept in memory for the next
    call of this object; with ``keep_leftovers=True`` also in a file beside the record. Otherwise
    give them again in a later process.

    Parameters
    ----------
    record : str or Path
        The file; begun if it is not there. A record of another question is refused.
    algorithm : estimator, function or Algorithm
        The black box, as in :func:`poise.stability_test`.
    n, epsilon, delta, alpha
        The question and the error level; fixed for the whole record.
    removals, points : int
        How many rows of a trial are removed, each by itself (or "all"), and at how many points
        it compares predictions; the trial's evidence is the share of changes beyond ε.
    coupling, distance, response, on_error, on_timeout, n_jobs, backend, address, timeout, fast
        As in :func:`poise.stability_test`. A failed fit that is counted (``"unstable"``) counts
        against "stable" and never for "unstable".
    random_state : None, int, Generator or RandomState
        The root of the order of rows and of all seeds; None goes on with that of the record.
    check, progress, name
        As in :func:`poise.stability_test`.
    key : bytes or str, optional
        A secret of at least 16 bytes with which rows are hashed. Give the same key to several
        sites, so that :func:`poise.combine` can see that they share no row. By default the record
        has a random key of its own, which it holds.
    keep_leftovers : bool
        Whether rows that wait for a trial are written to a file beside the record.

    See Also
    --------
    combine, stability_test, Ledger

    Examples
    --------
    >>> import numpy as np, poise, tempfile
    >>> from sklearn.linear_model import Ridge
    >>> rng = np.random.default_rng(0)
    >>> place = tempfile.mkdtemp() + "/ridge.record"
    >>> monitor = poise.Monitor(
    ...     place, Ridge(), n=20, epsilon=0.5, delta=0.2, points=5, random_state=0)
    >>> for day in range(3):
    ...     X = rng.normal(size=(400, 3))
    ...     status = monitor.add(X, X @ [1.0, 2.0, 3.0] + rng.normal(size=400))
    ...     print(status.verdict.value, status.n_trials, round(status.e_value, 1))
    inconclusive 16 10.2
    stable 32 124.2
    stable 48 2369.2
    """

    def __init__(
        self,
        record: str | Path,
        algorithm: Any,
        *,
        n: int,
        epsilon: float,
        delta: float,
        alpha: float = 0.05,
        removals: int | str = 1,
        points: int = 1,
        coupling: str | Coupling = "shared",
        distance: str | Distance = "auto",
        response: str = "predict",
        on_error: str = "raise",
        on_timeout: str = "raise",
        random_state: RandomStateLike = None,
        n_jobs: int | None = None,
        backend: str | None = None,
        address: str | None = None,
        timeout: float | None = None,
        fast: bool = True,
        check: bool = True,
        progress: bool | None = None,
        name: str | None = None,
        key: bytes | str | None = None,
        keep_leftovers: bool = False,
    ) -> None:
        given = locals()
        if not isinstance(record, (str, Path)):
            raise ArgumentError(f"record must be the path of a file, got {record!r}")
        self.path = Path(record)
        self.command: dict[str, Any] = {}
        self._key = None if key is None else RowKey.of(key)
        self._seed_given = random_state is not None
        self._settings = RecordSettings.of(given)
        self._header = self._settings.header()
        self._leftovers = Leftovers(self.path, arguments.flag("keep_leftovers", keep_leftovers))
        self._content = RecordContent(self._header)
        if self._is_begun:
            self._adopt(read_record(self.path))

    @property
    def _is_begun(self) -> bool:
        return self.path.exists() and self.path.stat().st_size > 0

    def _adopt(self, content: RecordContent) -> None:
        """Take over what the record holds; refuse one of another question."""
        content.header.check_same(self._header, str(self.path), seed_given=self._seed_given)
        content.header.row_key(self._key, str(self.path))
        self._content = content

    @contextmanager
    def _opened(self) -> Iterator[RecordFile]:
        """Open the record for writing; begin it if it is new."""
        with RecordFile(self.path) as file:
            if file.is_new:
                file.begin(self._new_header())
            self._adopt(file.content)
            yield file

    def _new_header(self) -> RecordHeader:
        """Return the header with a key: the user's, of which only the name is kept, or its own."""
        header = replace(self._header, command=self.command)
        if self._key is not None:
            return replace(header, key_name=self._key.name)
        own = RowKey(secrets.token_bytes(_BYTES_OF_KEY))
        return replace(header, key=own.secret.hex(), key_name=own.name)

    def add(
        self,
        X: Any,
        y: Any,
        X_unlabeled: Any = None,
        *,
        ids: Any = None,
        ids_unlabeled: Any = None,
        skip_used: bool = False,
    ) -> MonitorStatus:
        """Form trials from fresh rows, run them, and add their evidence to the record.

        Rows are written down as used before the first fit. If the call is interrupted, the same
        call finishes it, with exactly the same result.

        Parameters
        ----------
        X, y : array, data frame, sparse matrix or list
            Labelled rows that the record has not used: independent draws from one distribution.
        X_unlabeled : same kind as X, optional
            More rows, without a response; they serve as test points.
        ids, ids_unlabeled : array, column or list, optional
            A name for each row, such as a patient's number; rows are known again by it. By default
            they are known by their content, and two rows with equal content count as one.
        skip_used : bool
            Leave out rows that the record has used instead of refusing them all: for a file that
            grows. Give ``ids`` if different rows may be equal, or else the rows that are left are
            not a fair sample.

        Returns
        -------
        MonitorStatus
        """
        arguments.flag("skip_used", skip_used)
        with self._opened() as file:
            key = file.content.header.row_key(self._key, str(self.path))
            given = NewRows.of(key, X, y, X_unlabeled, ids, ids_unlabeled)
            given = self._finished(given, file)
            rows = self._with_leftovers(
                self._unused(given, file.content, skip_used), file, skip_used
            )
            measurement, left = begin_batch(self._settings, rows, file)
            if measurement is not None:
                self._run(measurement, file)
            self._leftovers.store(left)
        return self.status

    def _run(self, measurement: Measurement, file: RecordFile) -> None:
        try:
            finish_batch(self._settings, measurement, file)
        except BaseException as error:
            error.add_note(
                f"the rows of this call are written down as used in {self.path}; the same call, "
                "with all of its rows, finishes it"
            )
            raise

    def _finished(self, given: NewRows, file: RecordFile) -> NewRows:
        """Finish a call that was interrupted; return the rows given that it does not use."""
        batch = file.content.unfinished
        if batch is None:
            return given
        leftovers = self._leftovers.load()
        rows = given if leftovers is None else given.after(leftovers)
        labeled, unlabeled, missing = rows.find(batch)
        if missing:
            left = batch.trials - len(batch.answers)
            raise RecordError(
                f"an earlier call was interrupted: {left} of its {counted(batch.trials, 'trial')} "
                f"{'is' if left == 1 else 'are'} missing in {self.path}, and {missing} of its "
                f"{len(batch.features)} rows are not among those given. Give its rows again to "
                "finish it, or abandon() it: the missing trials then count as failed"
            )
        self._run(begun_batch(self._settings, rows.take(labeled, unlabeled), file), file)
        own = set(batch.rows), set(batch.unlabeled)
        return given.without(_among(given.rows, own[0]), _among(given.unlabeled, own[1]))

    def _unused(self, given: NewRows, content: RecordContent, skip_used: bool) -> NewRows:
        """Refuse rows that the record has used, or leave them out."""
        labeled, unlabeled = given.used(content)
        count = len(labeled) + len(unlabeled)
        if count and not skip_used:
            first = f"row {labeled[0]}" if labeled.size else f"unlabelled row {unlabeled[0]}"
            raise DataError(
                f"{count} of the {len(given.rows) + len(given.unlabeled)} rows given are already "
                f"in {self.path}: {first} (counting from 0) is the first. A row may be used once; "
                "leave them out, or say skip_used=True for a file that grows. If they are other "
                "observations that happen to be equal, tell them apart by ids="
            )
        return given.without(labeled, unlabeled)

    def _with_leftovers(self, given: NewRows, file: RecordFile, skip_used: bool) -> NewRows:
        """Put the rows that waited in front; those that are given again count once."""
        leftovers = self._leftovers.unused(file.content)
        if leftovers is None:
            return given
        again = leftovers.equal_to(given)
        if (again[0].size or again[1].size) and not skip_used:
            raise DataError(
                f"{again[0].size + again[1].size} of the rows given waited for a trial already: "
                "rows too few for one are kept for the next call. Give each row once, or say "
                "skip_used=True"
            )
        return given.after(leftovers.without(*again))

    def restart(self) -> MonitorStatus:
        """Begin a new epoch: from now on older evidence does not count.

        For rows that have drifted. Rows of earlier epochs stay used, and rows that wait for a
        trial are dropped. Each epoch has an error level of its own: with K of them, the
        probability that some verdict is wrong is at most Kα.
        """
        begin_epoch(self.path)
        self._leftovers.forget()
        return self.status

    def abandon(self) -> MonitorStatus:
        """Give up the missing trials of an interrupted call: they count as failed.

        A trial must not be dropped, because what interrupted it may depend on its rows. A failed
        trial counts against "stable" and not for "unstable".
        """
        abandon_call(self.path)
        return self.status

    @property
    def status(self) -> MonitorStatus:
        """Where the record stands now, with what other processes have added."""
        if self._is_begun and self.path.stat().st_size != self._content.size:
            self._adopt(read_record(self.path))
        return status_of(self._content, len(self._leftovers))

    @property
    def verdict(self) -> Outcome:
        """The verdict of the first evidence to reach 1/α; it is not taken back."""
        return self.status.verdict

    @property
    def e_value(self) -> float:
        """Evidence for "stable" now, valid at any moment; it decides at 1/α."""
        return self.status.e_value

    @property
    def confidence_sequence(self) -> LimitsOverTime:
        """Limits for the probability of a change beyond ε that hold at all times together."""
        return self.status.confidence_sequence

    def summary(self) -> str:
        """Say where the record stands, what that means, and what it does not mean."""
        return self.status.summary()

    def to_json(self) -> str:
        """Return verdict, evidence, limits and shares as JSON."""
        return self.status.to_json()

    def plot(
        self,
        ax: Any = None,
        *,
        title: str | None = None,
        figsize: tuple[float, float] | None = None,
    ) -> Any:
        """Draw the confidence sequence over the trials, and δ; return the figure, or ``ax``."""
        return self.status.plot(ax, title=title, figsize=figsize)

    def _card(self) -> Card:
        return self.status._card()

    def __repr__(self) -> str:
        return f"Monitor({str(self.path)!r}): {self.status.describe().headline}"


def _among(identities: tuple[str, ...], known: set[str]) -> Positions:
    return np.flatnonzero([each in known for each in identities])
