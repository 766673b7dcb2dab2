"""Whether the verdict, the numbers and the words of a certificate follow from its changes."""

from __future__ import annotations

from collections.abc import Iterator

from poise.arguments import counted
from poise.questions.certificates.findings import Findings
from poise.results.certificate_file import CertificateFile
from poise.results.certified_result import differences
from poise.results.stability_result import StabilityResult

__all__ = ["check_claims", "digest_holds"]

_MOST_SHOWN = 5


def digest_holds(certificate: CertificateFile, findings: Findings) -> bool:
    """Tell whether the digest in the file is that of its content."""
    if certificate.digest == certificate.computed_digest:
        findings.checked.append(f"the digest {certificate.digest} is that of the content")
        return True
    findings.wrong.append(
        f"the digest in the file is {certificate.digest}, and that of its content is "
        f"{certificate.computed_digest}: the file was altered after it was made"
    )
    return False


def _other_poise(certificate: CertificateFile, result: StabilityResult) -> Iterator[str]:
    """See that the version of poise is the same in both places."""
    origin = None if result.trials is None else result.trials.provenance
    written = certificate.content.get("poise_version")
    if origin is not None and origin.versions.get("poise") != written:
        yield f"poise_version is {written}, and {origin.versions.get('poise')} in the provenance"


def check_claims(certificate: CertificateFile, result: StabilityResult, findings: Findings) -> None:
    """Compare what the file claims with the result of judging its changes anew."""
    if certificate.verdict != result.verdict.value:
        findings.wrong.append(
            f"the verdict is {certificate.verdict!r}, and {result.verdict.value!r} follows from "
            "the changes"
        )
    different = differences(certificate, result)
    others = list(_other_poise(certificate, result))
    findings.wrong.extend(others)  # one file is made by one version
    for each in different[:_MOST_SHOWN]:
        findings.differs(str(each), only_poise=not each.only_digits)
    if len(different) > _MOST_SHOWN:
        rest = different[_MOST_SHOWN:]
        digits = all(each.only_digits for each in rest)
        findings.differs(f"{len(rest)} more numbers or words differ", only_poise=not digits)
    if not different and not others:
        numbers = len(certificate.content["numbers"])
        findings.checked.append(
            f"the verdict {result.verdict.value!r}, {numbers} numbers and the words follow from "
            f"{counted(result.n_observed, 'trial')} by {certificate.content['theorem']['name']}"
        )
