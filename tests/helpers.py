"""What several test files use."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def needs(package: str) -> pytest.MarkDecorator:
    """Skip a test where an optional package or program is missing; on CI that is a failure."""
    missing = find_spec(package) is None and shutil.which(package) is None
    return pytest.mark.skipif(missing and not os.environ.get("CI"), reason=f"needs {package}")


def python(
    code: str, *arguments: str, env: dict[str, str] | None = None, timeout: float = 60
) -> subprocess.CompletedProcess[str]:
    """Run code in a Python process of its own."""
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        timeout=timeout,
        env={**os.environ, **(env or {})},
        check=False,
    )
