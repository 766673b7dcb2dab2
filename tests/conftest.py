"""One machine is like another: no colours, no interrupt that was switched off, no deadlines."""

from __future__ import annotations

import os
import re
import signal

from hypothesis import settings

from helpers import needs

signal.signal(signal.SIGINT, signal.default_int_handler)  # `nohup make test &` ignores it
for name in ("FORCE_COLOR", "NO_COLOR", "CLICOLOR_FORCE"):
    os.environ.pop(name, None)

settings.register_profile("poise", deadline=None, derandomize=True, print_blob=False)
settings.load_profile("poise")


NEEDED = {"jax_algorithm.py": "optax", "networks.py": "optax", "torch_algorithm.py": "torch"}


def pytest_collection_modifyitems(items):
    """Skip examples that need an optional package."""
    for item in items:
        if item.path.name in NEEDED:
            item.add_marker(needs(NEEDED[item.path.name]))


def pytest_make_parametrize_id(config, val, argname):
    """Name cases without addresses, which differ between processes."""
    return re.sub(r" at 0x[0-9a-f]+", "", repr(val))[:60]
