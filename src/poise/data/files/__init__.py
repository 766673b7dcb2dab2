"""Tables from files: text, npz, npy, Parquet, Feather.

::

    columns       A table as the readers see it: named columns, some of which become features
    csv_text      CSV, TSV and other text: checked line by line first, because the fast readers fo
    decode_text   The text of a file or of standard input: decompressed, then decoded
    large_files   Parquet and Feather files whose features stay on disk, however many they are
    npy           NumPy's npy: one array, whose columns are called 1, 2, 3 and so on
    npz           NumPy's npz: features in the array ``X``, responses in ``y`` or another named ar
    parquet       Parquet and Feather, through whichever library is installed
    read_table    Tables from files: labelled rows, rows without responses, single columns
    row_source    Where the rows of a question come from: files, columns, and how they are written
    table_file    A file of rows, opened once: what is wrong with it is said before anything is fi
    text_columns  Columns of a text file: named at once, parsed by pandas or polars when they are
    text_format   How a text file is written: what separates values, decimal mark, encoding, heade
"""
