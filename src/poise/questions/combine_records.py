"""``poise.combine``: the evidence of several records of one question together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

from poise import arguments
from poise.arguments import listed
from poise.errors import ArgumentError, RecordError
from poise.questions.monitor.monitor import Monitor
from poise.questions.monitor.record_status import status_of
from poise.results.combined_evidence import CombinedEvidence
from poise.storage.monitor_record import RecordContent, read_record
from poise.storage.same_run import codes_differ

__all__ = ["combine"]

_MAY_DIFFER = ("alpha", "removals", "points")  # the hypothesis does not depend on them

Named = tuple[str, RecordContent]


def combine(
    records: Iterable[str | Path | Monitor],
    *,
    different: bool = False,
    disjoint: bool = False,
    alpha: float | None = None,
) -> CombinedEvidence:
    """Put the evidence of several records of one question together.

    On disjoint rows from one distribution, e-values multiply: P(the product ever reaches 1/α)
    ≤ α if the algorithm is not (ε, δ)-stable. On different distributions the smallest e-value
    decides whether the algorithm is stable on all of them. Only the present epoch of each
    record counts. A product of e-values of different distributions would only say "stable on at
    least one of them".

    Parameters
    ----------
    records : list of str, Path or Monitor
        At least two records with the same algorithm, n, ε, δ, coupling, distance and response;
        the numbers of removals and points may differ.
    different : bool
        Whether the rows come from different distributions.
    disjoint : bool
        Your declaration that no row is in two of the records. It is needed if they were hashed
        with different keys: then nothing can be compared. Records with the same ``key`` are
        compared in any case.
    alpha : float, optional
        Error level, in (0, 1), fixed before looking; by default that of the records.

    Returns
    -------
    CombinedEvidence

    See Also
    --------
    Monitor, CombinedEvidence

    Examples
    --------
    >>> import numpy as np, poise, tempfile
    >>> from sklearn.linear_model import Ridge
    >>> rng, folder = np.random.default_rng(0), tempfile.mkdtemp()
    >>> sites = []
    >>> for site in "ab":
    ...     X = rng.normal(size=(400, 3))
    ...     sites.append(poise.Monitor(f"{folder}/{site}.record", Ridge(), n=20, epsilon=0.5,
    ...         delta=0.2, points=5, random_state=0, key="a secret of both sites"))
    ...     status = sites[-1].add(X, X @ [1.0, 2.0, 3.0] + rng.normal(size=400))
    ...     print(status.verdict.value, round(status.e_value, 1))
    inconclusive 10.2
    inconclusive 10.2
    >>> poise.combine(sites).verdict.value
    'stable'
    """
    arguments.flag("different", different)
    arguments.flag("disjoint", disjoint)
    named = [_read(record) for record in records]
    if len(named) < 2:
        raise ArgumentError(f"records must be at least two records, got {len(named)}")
    for first, second in combinations(named, 2):
        _require_same_question(first, second)
    compared = [
        different or _require_disjoint(first, second, disjoint)
        for first, second in combinations(named, 2)
    ]
    return _combined(named, _level(named, alpha), different, all(compared) and not different)


def _read(record: str | Path | Monitor) -> Named:
    path = record.path if isinstance(record, Monitor) else record
    if not isinstance(path, (str, Path)):
        raise ArgumentError(f"records must be paths of records or Monitors, got {record!r}")
    return str(path), read_record(path)


def _asked(record: RecordContent) -> dict[str, Any]:
    """Return what the hypothesis depends on, by the names that the user knows."""
    distances = [batch.distance for batch in record.batches] or [record.header.question["distance"]]
    question = {**record.header.question, "distance": distances[0]}
    return {name: value for name, value in question.items() if name not in _MAY_DIFFER}


def _require_same_question(first: Named, second: Named) -> None:
    """Refuse records of different questions, and show the difference."""
    (name, record), (other_name, other) = first, second
    before, after = _asked(record), _asked(other)
    different = [
        f"{key}: {before[key]} and {after[key]}" for key in before if before[key] != after[key]
    ]
    headers = record.header, other.header
    if headers[0].versions.get("python") == headers[1].versions.get("python"):
        for what in ("code", "distance_code"):
            if codes_differ(*(getattr(header, what) for header in headers)):
                edited = "distance" if what == "distance_code" else "algorithm"
                different.append(f"{edited}: its code is not the same")
    if different:
        raise RecordError(
            f"{name} and {other_name} do not ask the same question ({'; '.join(different)}): their "
            "evidence does not add up"
        )


def _require_disjoint(first: Named, second: Named, declared: bool) -> bool:
    """Refuse records that share rows; return whether that could be checked."""
    (name, record), (other_name, other) = first, second
    if record.header.key_name != other.header.key_name:
        if not declared:
            raise RecordError(
                f"whether {name} and {other_name} share rows cannot be checked: rows are hashed "
                "with different keys. Begin records of several sites with the same key=, or "
                "declare disjoint=True if you know that no row is in both"
            )
        return False
    shared = _counted_features(record) & _counted_features(other)
    if shared:
        raise RecordError(
            f"{name} and {other_name} share {len(shared)} rows; only e-values of disjoint rows "
            "multiply. The average of e-values is valid with shared rows: "
            "poise.theory.average_e_values"
        )
    return True


def _counted_features(record: RecordContent) -> set[str]:
    return {each for batch in record.counted for each in batch.features}


def _level(named: list[Named], alpha: float | None) -> float:
    if alpha is not None:
        return float(arguments.alpha(arguments.scalar("alpha", alpha)))
    levels = sorted({record.header.question["alpha"] for _, record in named})
    if len(levels) > 1:
        raise ArgumentError(f"alpha must be given: the records have {listed(map(str, levels))}")
    return float(levels[0])


def _combined(
    named: list[Named], alpha: float, different: bool, compared: bool
) -> CombinedEvidence:
    states = [status_of(record) for _, record in named]
    design = replace(
        states[0].design,
        n_labeled=sum(state.design.n_labeled for state in states),
        n_unlabeled=sum(state.design.n_unlabeled for state in states),
    )
    return CombinedEvidence(
        records=tuple(name for name, _ in named),
        e_values=tuple(state.e_value for state in states),
        e_values_unstable=tuple(state.e_value_unstable for state in states),
        n_trials=tuple(state.n_trials for state in states),
        design=design,
        epsilon=states[0].epsilon,
        delta=states[0].delta,
        alpha=alpha,
        different=different,
        compared=compared,
        warnings=tuple(dict.fromkeys(text for state in states for text in state.warnings)),
    )
