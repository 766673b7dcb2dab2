"""R and its packages: where one is missing, tests that need it are skipped, and say so.

CI installs them all (.ci/apt-packages): there, nothing is skipped.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from functools import cache

import pytest

_IS_INSTALLED = "cat(nzchar(system.file(package = commandArgs(TRUE))))"


def needs_r(*packages: str) -> pytest.MarkDecorator:
    """Mark a test that runs R with these packages."""
    # CI skips nothing, so that nobody need ask: that takes a second in every process of a run.
    asked = () if os.environ.get("CI") else ("R", *packages)
    missing = [name for name in asked if not _installed(name)]
    reason = f"not installed: {', '.join(missing)} (Debian: see .ci/apt-packages)"
    return pytest.mark.skipif(bool(missing), reason=reason)


@cache
def _installed(name: str) -> bool:
    """Whether R is there, or one of its packages."""
    rscript = shutil.which("Rscript")
    if rscript is None or name == "R":
        return rscript is not None
    command = [rscript, "--vanilla", "-e", _IS_INSTALLED, name]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout == "TRUE"
