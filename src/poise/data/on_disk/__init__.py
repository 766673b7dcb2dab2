"""Tables that stay on disk: the rows of a trial are read when it needs them.

Columnar files are made for reading columns. A row of fifty columns lies in fifty
places, and shuffled trials ask for rows. So a file is copied once, a piece at a
time, into a temporary folder, with the numbers of each row side by side.

::

    array_files    arrays in files: written a block at a time, mapped, and removed with their last
    arrow_columns  columns that are no plain numbers, in an Arrow file that is mapped into memory
    column_types   what only a whole column tells: whether values are missing, and which categorie
    file_pieces    Parquet and Feather files, read a piece at a time
    row_copy       from a Parquet or Feather file to its copy: numbers row by row, the rest in col
    stored_table   A Parquet or Feather file as a table: rows come out as the data frames they wou
"""

from __future__ import annotations

from poise.data.on_disk.array_files import write_array
from poise.data.on_disk.stored_table import StoredTable, stored_array

__all__ = ["StoredTable", "stored_array", "write_array"]
