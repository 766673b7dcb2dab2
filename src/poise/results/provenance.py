"""Where changes come from: digests of rows and code, versions, and how they were computed."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Provenance"]


@dataclass(frozen=True)
class Provenance:
    """What somebody else needs to compute the same changes again, beside the design.

    It shows whether rows and code are the same as before. It does not hold them.

    Attributes
    ----------
    rows : str
        BLAKE2b digest of 256 bits of the labelled and unlabelled rows, groups and fit parameters,
        in their order and container; "" if it was not computed, as for tables that stay on disk.
    code, distance_code : str
        Digests of an algorithm and of a distance that the user wrote; "" for those of libraries,
        which are known by their name and version.
    versions : dict of str
        Of everything that computed.
    response : str
        The method of a fitted estimator that was called.
    distance : str
        The distance as it was asked for: "auto" or a name; "" for one that the user wrote.
    decision_points : tuple of float
        Changes close to one of these were computed fit by fit, where a shortcut was used.

    Examples
    --------
    >>> import poise
    >>> X = [[float(i)] for i in range(60)]
    >>> mean = lambda X, y, seed: lambda rows: [sum(y) / len(y)] * len(rows)
    >>> trials = poise.measure(mean, X, [row[0] for row in X], n=9, random_state=0)
    >>> len(trials.provenance.rows), trials.provenance.response
    (64, 'predict')
    """

    rows: str
    code: str
    distance_code: str
    versions: dict[str, str]
    response: str = "predict"
    distance: str = "auto"
    decision_points: tuple[float, ...] = (0.0,)
