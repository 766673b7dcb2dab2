"""Rows in partitions that lie elsewhere: only workers read them.

::

    column_roles        which columns of a frame are features, responses, groups and weights
    group_sizes         groups of rows that lie elsewhere: their labels and sizes
    partition_types     the types of columns, the same for every partition
    partitioned_sample  the data of a question whose rows lie elsewhere
    partitions          the interface of rows in partitions that workers read
    row_fingerprint     a fingerprint of rows that does not depend on how they are partitioned
    smallest_hashes     the rows with the smallest hashes, among which copies are found
    table_summary       what is known of rows that lie elsewhere: one small part per partition
    witness_rows        the few rows of a frame that decide every check before the first fit
"""
