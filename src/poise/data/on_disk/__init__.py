"""Tables that stay on disk: the rows of a trial are read when it needs them.

Columnar files are made for reading columns: a row of fifty columns lies in fifty places.
But shuffled trials read rows. So a file is copied once, a piece at a time, into a
temporary folder, with the numbers of each row side by side.

::

    array_files    arrays in temporary files, which are removed when nothing uses them any more
    arrow_columns  columns that are not numbers, in an Arrow file that is mapped into memory
    column_types   the types of columns, which depend on missing values and categories
    file_pieces    Parquet and Feather files, read piece by piece
    file_set       Parquet or Feather files that hold one table together
    hive_keys      columns in the names of folders, such as year=2024
    row_copy       copy a Parquet or Feather file: numbers row by row, the rest in columns
    rows_file      one file with rows: on a disk of this machine, or at an address
    set_pieces     the files of one table, read one after another, piece by piece
    stored_table   a table in a Parquet or Feather file; rows are read as data frames
"""

from __future__ import annotations

from poise.data.on_disk.array_files import write_array
from poise.data.on_disk.stored_table import StoredTable, stored_array

__all__ = ["StoredTable", "stored_array", "write_array"]
