"""What is found while a certificate is checked, point by point."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

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

    Examples
    --------
    >>> findings = Findings({"numpy": "1.26"}, {"numpy": "2.4"})
    >>> findings.differs("the p-value is 0.1, and 0.2 follows")
    >>> findings.unrepeated
    ['the p-value is 0.1, and 0.2 follows (made with numpy 1.26 (here 2.4))']
    """

    there: Mapping[str, str] = field(default_factory=dict)
    here: Mapping[str, str] = field(default_factory=dict)
    checked: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    unrepeated: list[str] = field(default_factory=list)
    open_points: list[str] = field(default_factory=list)

    @property
    def other_versions(self) -> list[str]:
        """What has another version here."""
        return different_versions(self.there, self.here, "here")

    def differs(self, text: str) -> None:
        """Note a difference: it is wrong, unless other versions may be the reason."""
        other = self.other_versions
        if other:
            self.unrepeated.append(f"{text} (made with {', '.join(other)})")
        else:
            self.wrong.append(text)

    def verification(self, verdict: str, **repeated: int | None) -> Verification:
        """Return what was found."""
        lists = (self.checked, self.wrong, self.unrepeated, self.open_points)
        return Verification(verdict, *map(tuple, lists), **repeated)  # type: ignore[arg-type]
