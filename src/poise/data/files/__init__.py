"""Tables from files: CSV, npz, Parquet, Feather.

::

    columns      A table as the readers see it: named columns, some of which become features
    csv_text     CSV and TSV: checked line by line first, because the fast readers forgive too muc
    large_files  Parquet and Feather files whose features stay on disk, however many they are
    npz          numPy's npz: features in the array ``X``, responses in ``y`` or another named arr
    parquet      Parquet and Feather, through whichever library is installed
    read_table   tables from files: what is wrong with a file is said before anything is fitted
"""
