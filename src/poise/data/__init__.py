"""The rows: how they are held, read from files, grouped, checked and identified.

::

    column_remarks    columns that may be identifiers, times or groups, or have missing values
    damaged_file      turn any error in reading a damaged file into one that names the file
    deep_copies       deep copies of the user's rows, so that a fit cannot alter them
    duplicates        equal rows: copies of one observation are not independent of each other
    file_lock         a lock on a file, which ends when its process ends, also if that is killed
    files/            tables from files: text, npz, npy, Parquet, Feather
    fit_params        arguments of ``fit`` that belong to the rows, such as sample weights
    groups            groups: rows that belong together, such as those of one patient or one day
    keyed_row_hashes  keyed hashes that identify rows in a file, without revealing them
    known_values      how many values a response or a point can take, if they are few
    on_disk/          tables that stay on disk: the rows of a trial are read when it needs them
    ordinary_files    only ordinary files are read: no pipe, which waits, and no endless device
    partitioned/      rows in partitions that lie elsewhere: only workers read them
    response_scale    the spread of a response, for a choice of ε, and its rare classes
    responses         checks of responses: numbers or classes, never missing or infinite
    row_hashes        a hash of each row: equal rows have equal hashes, others almost never
    sample            the data of one question: labelled rows and unlabelled rows
    synthetic_rows    rows that a procedure generated, instead of taking them from the sample
    tables            tables of rows: arrays, data frames, sparse matrices, lists; never converted
    temp_folders      temporary folders, which are removed at the end of a run, also of a killed run
    used_rows         digests of the rows that a test has used, so that no row is used twice
"""
