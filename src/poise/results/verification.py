"""What was checked in a certificate, what was found, and what that shows."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from poise.arguments.notebook_card import Card, ShownAsCard
from poise.arguments.printed_numbers import at_most, exactly
from poise.results.json_encoding import plain, to_json
from poise.results.text.describe_certificate import NOT_IN_A_FILE

__all__ = ["NOT_REPEATED", "VERIFIED", "WRONG", "Verification"]

VERIFIED = "verified"
WRONG = "not what it claims"
NOT_REPEATED = "could not be repeated"

_SHARES = (0.05, 0.1, 0.2)


@dataclass(frozen=True)
class Verification(ShownAsCard):
    """The outcome of checking a certificate.

    "verified" means that everything that was checked is as the file says; ``open_points`` says
    what was not checked. "could not be repeated" means that numbers differ here, and that other
    versions may be the reason: nothing is verified then.

    Attributes
    ----------
    verdict : str
        What the certificate claims.
    checked : tuple of str
        What was checked and found as claimed.
    wrong : tuple of str
        What is not as claimed.
    unrepeated : tuple of str
        What differs, and may differ because of other versions.
    open_points : tuple of str
        What was not checked, and how to check it.
    n_repeated, n_observed : int
        Trials that were computed again and are equal, of how many.
    seed : int or None
        The seed of the choice of trials.
    other_versions : tuple of str
        If something is in ``unrepeated``, what has another version here.

    Examples
    --------
    >>> checked = Verification("stable", ("the digest",), n_repeated=20, n_observed=400, seed=7)
    >>> checked.outcome, round(checked.chance_to_miss(0.1), 3)
    ('verified', 0.122)
    """

    verdict: str
    checked: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    unrepeated: tuple[str, ...] = ()
    open_points: tuple[str, ...] = ()
    n_repeated: int = 0
    n_observed: int = 0
    seed: int | None = None
    other_versions: tuple[str, ...] = ()

    @property
    def outcome(self) -> str:
        """``"verified"``, ``"not what it claims"`` or ``"could not be repeated"``."""
        if self.wrong:
            return WRONG
        return NOT_REPEATED if self.unrepeated else VERIFIED

    @property
    def verified(self) -> bool:
        """Whether everything that was checked is as the file says."""
        return self.outcome == VERIFIED

    def chance_to_miss(self, share: float) -> float:
        """Bound the probability that no altered trial was among those computed again.

        If a share f of the trials had been altered before the choice was made, none of the k
        trials chosen without replacement is one of them with probability at most (1 − f)^k.

        Parameters
        ----------
        share : float
            f, in (0, 1].
        """
        everything = 0 < self.n_observed <= self.n_repeated
        return 0.0 if everything else float((1 - share) ** self.n_repeated)

    def summary(self) -> str:
        """Say what was checked, what was found, and what is open; or only what is wrong."""
        if self.wrong:
            return "\n".join(f"{WRONG}: {text}" for text in self.wrong)
        lines = [f"{self.outcome}: a certificate with the verdict {self.verdict!r}"]
        lines += [f"  differs: {text}" for text in self.unrepeated]
        lines += self._may_be_versions()
        lines += [f"  checked: {text}" for text in self.checked]
        lines += [f"  {text}" for text in self._shown()]
        lines += [f"  not checked: {text}" for text in self.open_points]
        return "\n".join([*lines, f"  {NOT_IN_A_FILE}"])

    def _may_be_versions(self) -> list[str]:
        """Say what may be the reason of a difference, and how to find out."""
        if not self.unrepeated:
            return []
        return [
            f"  made with other versions: {', '.join(self.other_versions)}",
            "  They may be the reason, so this shows neither that the certificate is right nor "
            "that it is wrong. Verify it again with these versions.",
        ]

    def _shown(self) -> list[str]:
        """Say what the repeated trials show."""
        if not self.n_repeated or not self.verified:
            return []
        if self.n_repeated >= self.n_observed:
            return ["Every trial was computed again: no change was altered."]
        chances = ", ".join(
            f"{at_most(self.chance_to_miss(f))} for f = {exactly(f)}" for f in _SHARES
        )
        return [
            f"If a share f of the trials had been altered, the chance to miss it was at most "
            f"(1 - f)^{self.n_repeated}: {chances}."
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        seed = None if self.seed is None else str(self.seed)
        content: dict[str, Any] = plain({"outcome": self.outcome, **asdict(self), "seed": seed})
        return content

    def to_json(self, indent: int | None = 2) -> str:
        """Write the outcome as JSON."""
        return to_json(self.to_dict(), indent)

    def _card(self) -> Card:
        first, *rest = (line.strip() for line in self.summary().splitlines())
        found = {
            "checked": len(self.checked),
            "wrong": len(self.wrong),
            "not checked": len(self.open_points) + len(self.unrepeated),
        }
        return Card(first, self.outcome, rest, parts=found)

    def __str__(self) -> str:
        return self.summary()
