"""``poise.verify``: check a certificate, and say what was checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from poise.algorithms.distance import Distance
from poise.algorithms.library_versions import versions_that_compute
from poise.errors import ArgumentError
from poise.protocol.randomness import Coupling
from poise.questions.certificates.check_claims import check_claims, digest_holds
from poise.questions.certificates.findings import Findings
from poise.questions.certificates.repeat_trials import ChosenTrials, repeat_trials
from poise.questions.certificates.same_question import (
    check_same_question,
    settings_to_repeat,
    with_own_distance,
    with_rows_set_aside,
)
from poise.questions.measurement import Measurement
from poise.questions.provenance_of_run import versions_of
from poise.questions.settings import DATA
from poise.results.certificate_file import CertificateFile
from poise.results.certified_result import certified_result
from poise.results.stability_result import StabilityResult
from poise.results.verification import Verification
from poise.storage.signature import find_signature

__all__ = ["Verifier", "verify"]

Given = Callable[[dict[str, Any]], Measurement]
"""Makes the measurement from the settings of a certificate: rows and algorithm are given."""


def verify(
    certificate: str | Path | CertificateFile,
    algorithm: Any = None,
    X: Any = None,
    y: Any = None,
    *,
    X_unlabeled: Any = None,
    groups: Any = None,
    fit_params: Mapping[str, Any] | None = None,
    coupling: str | Coupling | None = None,
    distance: str | Distance | None = None,
    trials: int | str = 20,
    random_state: int | None = None,
    key: str | Path | None = None,
    n_jobs: int | None = None,
    timeout: float | None = None,
    progress: bool | None = None,
) -> Verification:
    """Check a certificate without trusting whoever made it.

    The verdict, its limits and its words are computed again from the changes in the file. With
    the algorithm and the rows, trials are chosen at random and computed again, and compared bit
    for bit: if a share f of the trials had been altered before, the chance that none of the k
    chosen ones is among them is at most (1 − f)^k.

    "verified" does not mean that the rows are independent draws, that the question was fixed
    before anybody looked, or that it was the only question. It is about the points in
    ``checked``; ``open_points`` says what was not checked.

    Parameters
    ----------
    certificate : str, Path or CertificateFile
        The file.
    algorithm : estimator, function or Algorithm, optional
        The algorithm that was tested.
    X, y, X_unlabeled, groups, fit_params : optional
        The rows that it was tested on, in the same order and container.
    coupling, distance : optional
        Only where the test used an object of the user's own.
    trials : int >= 1 or "all"
        How many trials are computed again.
    random_state : int, optional
        The seed of the choice of trials, to repeat a verification. By default it is fresh: nobody
        can know it when the certificate is made.
    key : str or Path, optional
        The file of the public key by which the certificate must be signed.
    n_jobs, timeout, progress
        As in :func:`stability_test`.

    Returns
    -------
    Verification

    See Also
    --------
    CertificateFile, Verification

    Examples
    --------
    >>> import numpy as np, poise
    >>> from sklearn.linear_model import Ridge
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(1500, 3))
    >>> y = X @ [1.0, 2.0, 3.0] + rng.normal(size=1500)
    >>> result = poise.stability_test(
    ...     Ridge(), X, y, n=40, epsilon=0.5, delta=0.1, random_state=0)
    >>> found = poise.verify(result.certificate(), Ridge(), X, y, trials=20)
    >>> found.outcome, found.n_repeated
    ('verified', 20)
    """
    given = locals()
    file = certificate
    if not isinstance(file, CertificateFile):
        file = CertificateFile.load(file)
    rows = {name: given[name] for name in DATA if given.get(name) is not None}
    if (algorithm is None) != (X is None) or (X is None) != (y is None):
        raise ArgumentError("give algorithm, X and y together, or none of them")
    own = {name: given[name] for name in ("coupling", "distance") if given[name] is not None}
    how = {"n_jobs": n_jobs, "timeout": timeout, "progress": progress}

    def measurement(settings: dict[str, Any]) -> Measurement:
        complete = with_own_distance({**settings, **own})
        return Measurement.of({"algorithm": algorithm, **rows, **complete, **how})

    made = None if algorithm is None else measurement
    return Verifier(file, made, trials, random_state, key).verification()


@dataclass(frozen=True)
class Verifier:
    """Checks one certificate, point by point, and stops where going on shows nothing.

    Parameters
    ----------
    certificate : CertificateFile
        What is checked.
    given : callable or None
        Makes the measurement from settings; None if rows and algorithm are not given.
    trials, random_state
        How many trials are computed again, and the seed of their choice.
    key : str, Path or None
        The file of the public key.
    """

    certificate: CertificateFile
    given: Given | None = None
    trials: int | str = 20
    random_state: int | None = None
    key: str | Path | None = None

    def verification(self) -> Verification:
        """Check everything that can be checked with what is given."""
        file = self.certificate
        there = {"poise": str(file.content.get("poise_version"))}
        findings = Findings(there, versions_that_compute())
        if not digest_holds(file, findings):
            return findings.verification(file.verdict)
        signature = find_signature(file, self.key)
        getattr(findings, signature.place).append(signature.words)
        result = certified_result(file)
        assert result.trials is not None  # a certificate holds its changes
        if result.trials.provenance is not None:
            findings.there = result.trials.provenance.versions
        check_claims(file, result, findings)
        if self.given is None:
            findings.open_points.append(
                "that the changes are those of the algorithm on the rows: give both"
            )
        repeated = {} if self.given is None else self._repeated(self.given, result, findings)
        return findings.verification(file.verdict, **repeated)

    def _repeated(
        self, given: Given, result: StabilityResult, findings: Findings
    ) -> dict[str, int | None]:
        """Compute trials again, unless something is wrong already."""
        trials = result.trials
        if findings.wrong or trials is None:
            return {}
        measurement = with_rows_set_aside(given(settings_to_repeat(trials)), trials.design)
        findings.here, findings.all_here = versions_of(measurement.oracle), True
        if not check_same_question(measurement, trials, findings):
            return {}
        chosen = ChosenTrials.of(trials.n_observed, self.trials, self.random_state)
        equal = repeat_trials(measurement, trials, result.epsilon, chosen, findings)
        return {"n_repeated": equal, "n_observed": trials.n_observed, "seed": chosen.seed}
