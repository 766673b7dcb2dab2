"""From tasks to answers: the oracle, the workers, what goes wrong, and how data travel.

::

    answers        the record of answers, in plan order
    execution      how fits are run: on which workers, for how long, and what a failed fit means
    faults/        what goes wrong while fits run: dead workers, late fits, signals
    known_work     fits that are compared with predictions that are known already
    oracle         the oracle computes batches of trials; only it calls the user's algorithm
    progress       the progress of a run: a bar, a line per minute, or nothing
    removals_work  trials of several removals at several points: a table of changes each
    repeat_check   compute the first trial again at the end, and warn if its change differs
    shuffle/       rows that lie elsewhere are brought together by trials, piece by piece
    tasks          what is sent to workers: user code, data, and tasks
    transport/     how data and code reach the workers
    workers/       who computes: this process, processes, threads, Dask or Ray
"""
