"""Settings shared by all tests."""

from __future__ import annotations

from hypothesis import settings

# The suite times nothing: a first import inside an example must not fail it.
settings.register_profile("poise", deadline=None, derandomize=True)
settings.load_profile("poise")
