"""What is kept on disk: journals of trials, and transcripts of runs.

::

    journal/     journals: each trial of a run is written to disk at once, so that a run can be cont
    transcript/  transcripts: all questions and answers of a run, so that its verdict can be recompu
"""
