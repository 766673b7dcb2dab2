"""What is found while a certificate is checked, point by point."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from poise.results.verification import Verification
from poise.storage.same_run import different_versions

__all__ = ["Findings"]


@dataclass
class Findings:
    """Points that hold, that are wrong, that differ with other versions, and that stay open.

    Parameters
    ----------
    there, here : mapping of str
        Versions in the certificate, and those that check it.
    all_here : bool
        Whether ``here`` has everything that computes the changes, so that what is not in it is
        missing.

    Examples
    --------
    >>> findings = Findings({"numpy": "1.26"}, {"numpy": "2.4"})
    >>> findings.differs("trial 7 is 0.1 in the certificate and 0.2 here")
    >>> findings.differs("n is 20 in the certificate and 30 in what was given", only_poise=True)
    >>> findings.unrepeated, findings.other_versions
    (['trial 7 is 0.1 in the certificate and 0.2 here'], ['numpy 1.26 (here 2.4)'])
    >>> findings.wrong
    ['n is 20 in the certificate and 30 in what was given']
    """

    there: Mapping[str, str] = field(default_factory=dict)
    here: Mapping[str, str] = field(default_factory=dict)
    all_here: bool = False
    checked: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    unrepeated: list[str] = field(default_factory=list)
    open_points: list[str] = field(default_factory=list)

    @property
    def other_versions(self) -> list[str]:
        """What has another version here, or is not used here."""
        gone = [each for each in self.there if self.all_here and each not in self.here]
        return [
            *different_versions(self.there, self.here, "here"),
            *(f"{each} {self.there[each]} (not used here)" for each in gone),
        ]

    def differs(self, text: str, *, only_poise: bool = False) -> None:
        """Note a difference: it is wrong, unless other versions may be the reason.

        What poise alone computes, and not in its last digits only, no other library explains.
        """
        poise_differs = self.here.get("poise") != self.there.get("poise")
        may_be = poise_differs if only_poise else bool(self.other_versions)
        (self.unrepeated if may_be else self.wrong).append(text)

    def verification(self, verdict: str, **repeated: int | None) -> Verification:
        """Return what was found."""
        lists = (self.checked, self.wrong, self.unrepeated, self.open_points)
        others = tuple(self.other_versions) if self.unrepeated else ()
        made = Verification(verdict, *map(tuple, lists), **repeated)  # type: ignore[arg-type]
        return replace(made, other_versions=others)
