"""Tables from files: text, npz, npy, Parquet, Feather.

::

    array_archive     arrays of an npz file; their sizes are checked before they are read
    columns           the named columns of a file, some of which become features
    csv_text          CSV, TSV and other text files: each line is checked before the values are read
    decode_text       the text of a file or of standard input: decompressed, its encoding guessed
    file_parts        parts of files that workers of a cluster read
    large_files       Parquet and Feather files whose features stay on disk; tables in several files
    npy               NumPy's npy files: one array, whose columns are named 1, 2, 3 and so on
    npz               NumPy's npz files: features in the array ``X``, responses in ``y`` or another
    parquet           Parquet and Feather files, read by pandas or polars
    read_table        read tables from files: labelled rows, unlabelled rows, single columns
    row_source        where the rows come from: files, columns, and the format of text files
    table_file        a file of rows, read once and checked before the first fit
    text_columns      columns of a text file, parsed by pandas or polars when they are needed
    text_format       the format of a text file: separator, decimal mark, encoding, header
    unpacked_feather  how many bytes a compressed Feather file unpacks to
    unpacked_parquet  how many bytes a Parquet file unpacks to
    unpacked_size     limit what a packed file unpacks to
    unread_rows       rows in files that are not read yet: a path given as X
"""
