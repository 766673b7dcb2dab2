"""Where a verdict comes from, as facts under names: seed, digests and versions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poise.results.certificate_file import CertificateFile
from poise.results.text.describe_certificate import statement_of

if TYPE_CHECKING:
    from poise.results.stability_result import StabilityResult

__all__ = ["facts_of_provenance"]


def facts_of_provenance(result: StabilityResult) -> dict[str, str]:
    """Return what a reader needs to find the certificate and to repeat the run.

    Empty for a result whose changes are not known.

    Examples
    --------
    >>> from poise import Trials
    >>> result = Trials.from_changes([0.1] * 30, n=5, random_state=3).test(epsilon=0.2, delta=0.1)
    >>> list(facts_of_provenance(result)), facts_of_provenance(result)["seed"]
    (['statement', 'seed', 'digest of the certificate'], '3')
    """
    trials = result.trials
    if trials is None:
        return {}
    facts = {"statement": statement_of(result)["declared"], "seed": str(result.design.seed)}
    origin = trials.provenance
    if origin is not None:
        named = {
            "digest of the rows": origin.rows,
            "digest of the code": origin.code,
            "digest of the distance": origin.distance_code,
            "versions": ", ".join(f"{name} {v}" for name, v in sorted(origin.versions.items())),
        }
        facts |= {name: text for name, text in named.items() if text}
    return facts | {"digest of the certificate": CertificateFile.of(result).digest}
