"""What is kept on disk: journals of trials, records that grow, and transcripts of runs.

::

    journal/         journals: each trial is written to disk at once, so that a run can be continued
    ledger/          ledgers: which questions were put to a data set, and which verdicts hold
    line_checksums   a checksum for each line of JSON: written, compared, and refused if damaged
    monitor_record/  records of evidence that may grow: trials, and identities of the rows used
    same_run         whether a file may be continued by a later run: same question, code, versions
    signature        signatures of certificates with Ed25519 keys
    transcript/      transcripts: all questions and answers of a run, to recompute its verdict
"""
