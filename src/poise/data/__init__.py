"""The rows: how they are held, read from files, grouped, checked and identified.

::

    column_remarks  columns that deserve a look before a test: identifiers, times, groups, missing
    duplicates      equal rows: copies of one observation are not independent of each other
    file_lock       A lock on an open file that ends with the process that holds it, however that
    files/          tables from files: CSV, npz, Parquet, Feather
    fit_params      arguments of ``fit`` that belong to the rows, such as sample weights
    groups          rows that belong together: the rows of one patient, one user, one day
    known_values    how many values a response or a point can take, where somebody could know and
    on_disk/        tables that stay on disk: the rows of a trial are read when it needs them
    own_copies      copies that share nothing with the user's rows, however deep they are nested
    response_scale  the scale of a response: what ε may be measured by, and which classes are rare
    responses       what a response may be: a number, a class, or several of them; never missing o
    row_hashes      one word per row: equal rows get equal words, others hardly ever do
    sample          the data of one question: labelled rows, unlabelled rows, and how to take some
    synthetic_rows  rows by their numbers in the sample, or rows that a procedure made up
    tables          rows of any container people keep data in, selected without coercing it
    temp_folders    temporary folders, removed at the end of a run; also of one that was killed
"""
