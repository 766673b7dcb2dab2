"""Messages between a procedure and the oracle, random numbers, and budgets.

::

    budget             budgets: how much a procedure may ask, and how much it has asked
    keys_at_ranks      the keys at given ranks among many, in memory that does not grow
    known_predictions  predictions that are known already, which fits are compared with
    messages           questions of a black-box test and their answers (Definition 2)
    procedure          the interface of procedures: a generator that yields batches
    random_order       the random order of rows: that of 64-bit keys, one for each row
    randomness         random numbers: each depends on (root seed, role, trial) alone
    work               the interface of work: tasks that any worker can compute
"""
