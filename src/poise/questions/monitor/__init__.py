"""Evidence that may grow: a record to which rows are added as they come in.

::

    leftovers        rows too few for a trial: kept for the next call
    monitor          ``poise.Monitor``: an open-ended test whose evidence is kept on disk
    new_rows         rows given to a record, with their identities; those already used are refused
    record_actions   what can be done to a record without its algorithm: restart, abandon
    record_settings  the settings of a record: what is asked, and how the fits are run
    record_status    from a record to its verdict, evidence and limits
    row_batch        the trials of one call: which rows they use, and their run
"""
