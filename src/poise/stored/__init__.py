"""Tables that stay on disk: the rows of a trial are read when it needs them.

Columnar files are made for reading columns. A row of fifty columns lies in fifty
places, and shuffled trials ask for rows. So a file is copied once, a piece at a
time, into a temporary folder, with the numbers of each row side by side.

=====================  ======================================================
:mod:`.sources`        Parquet and Feather files, a piece at a time
:mod:`.types`          what is in a column, as far as only the whole column tells
:mod:`.arrays`         arrays in files, removed with their last user
:mod:`.others`         columns that are no plain numbers
:mod:`.copying`        from a file to its copy
:mod:`.table`          the copy as a table
=====================  ======================================================
"""

from __future__ import annotations

from poise.stored.arrays import write_array
from poise.stored.table import StoredTable, stored_array

__all__ = ["StoredTable", "stored_array", "write_array"]
