"""Tables that stay in their files: the rows of a trial are read when it needs them."""

from __future__ import annotations

from poise.stored.numbers import stored_array, write_array
from poise.stored.table import StoredTable

__all__ = ["StoredTable", "stored_array", "write_array"]
