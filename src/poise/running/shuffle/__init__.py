"""Rows that lie elsewhere are brought together by trials: a shuffle, piece by piece.

::

    assemble             the rows of a piece, in reading order, as a sample with its trials
    cut_order            cut the order of rows into pieces, for every partition to know its part
    cut_partition        cut a partition into the rows of each piece; other rows are not moved
    dask_partitions      the partitions of a Dask frame, and their shuffle by Dask
    fast_path_elsewhere  shortcuts for rows that lie elsewhere: compared with fits on a few trials
    file_partitions      files as partitions: workers of a cluster read row groups themselves
    gather               the rows of a few trials, brought to this process
    key_edges            find the piece to which a row belongs from the key of the row
    partitions_of        a Dask frame, a Ray dataset or parts of files as partitions
    piece_trials         the trials of a piece, with rows numbered as in the piece
    pieces               ranges of trials whose rows are moved together
    ray_partitions       the partitions of a Ray dataset, and their shuffle by Ray
    row_places           the place of each row in the order in which trials read rows
    shuffled_workers     workers of a cluster that get the rows of their trials by a shuffle
"""
