"""What is kept on disk: journals of trials, and transcripts of runs.

::

    journal/     journals: each trial is written to disk at once, so that a run can be continued
    transcript/  transcripts: all questions and answers of a run, to recompute its verdict
"""
