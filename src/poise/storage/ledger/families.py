"""Sets of rows that overlap, directly or through others: one data set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from poise.storage.ledger.row_set import RowSet

__all__ = ["families_of"]


def families_of(sets: Mapping[str, RowSet]) -> dict[str, str]:
    """Return, for each set of rows, the name of its family: the first digest in it.

    Examples
    --------
    >>> from poise.data.keyed_row_hashes import RowKey
    >>> from poise.data.sample import Sample
    >>> X = np.random.default_rng(0).normal(size=(90, 2))
    >>> pieces = [slice(0, 30), slice(20, 50), slice(60, 90)]
    >>> key = RowKey(b"0123456789abcdef")
    >>> rows = [RowSet.of(key, Sample(X[piece], X[piece, 0])) for piece in pieces]
    >>> family = families_of({each.digest: each for each in rows})
    >>> [family[each.digest] == family[rows[0].digest] for each in rows]
    [True, True, False]
    """
    parent = {digest: digest for digest in sets}

    def family(digest: str) -> str:
        while parent[digest] != digest:
            digest = parent[digest]
        return digest

    for one, other in _candidates(sets):
        first, second = sorted([family(one), family(other)])
        if first != second and sets[one].shared_with(sets[other]):
            parent[second] = first
    return {digest: family(digest) for digest in sets}


def _candidates(sets: Mapping[str, RowSet]) -> Iterator[tuple[str, str]]:
    """Yield the pairs of sets that have a hash in common: sorting finds them all at once.

    If three sets have a hash in common, two pairs of them are enough to connect them.
    """
    names = sorted(sets)
    for part in ("whole", "features", "responses"):
        having = [k for k, name in enumerate(names) if part in sets[name].parts]
        if len(having) < 2:
            continue
        hashes = [sets[names[k]].parts[part].hashes for k in having]
        owners = np.repeat(having, [len(each) for each in hashes])
        joined = np.concatenate(hashes)
        order = np.lexsort((owners, joined))
        equal = np.flatnonzero(joined[order][1:] == joined[order][:-1])
        pairs = {(int(a), int(b)) for a, b in zip(owners[order][equal], owners[order][equal + 1],
                                                  strict=True)}  # fmt: skip
        yield from ((names[a], names[b]) for a, b in sorted(pairs))
