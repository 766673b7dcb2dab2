"""The changes in a certificate, with the question that it answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poise.results.certified_result import certified_result
from poise.results.plots.changes import plot_judged

if TYPE_CHECKING:
    from poise.results.certificate_file import CertificateFile

__all__ = ["plot_certificate"]


def plot_certificate(certificate: CertificateFile) -> Any:
    """Draw the changes that the file holds, judged anew; nothing is verified by that.

    Examples
    --------
    >>> from poise import Trials
    >>> made = Trials.from_changes([0.1] * 30, n=5).test(epsilon=0.2, delta=0.1)
    >>> len(plot_certificate(made.certificate()).axes)
    2
    """
    result = certified_result(certificate)
    assert result.trials is not None
    return plot_judged(result.trials, result)
