"""From tasks to answers: the oracle, the workers, what goes wrong, and how data travel.

::

    answers       answers as they are written down, in plan order
    execution     how fits are run: where, for how long, what a failed one means
    faults/       what goes wrong while fits run: dead workers, late fits, signals, parents that e
    oracle        the only caller of user code
    progress      how far a run is, for whoever is looking: a bar, a line a minute, or nothing
    repeat_check  the cheap part of a preflight, which every test does: its first trial once more,
    tasks         what travels to workers: user code, data, and the tasks to do with them
    transport/    how data and code reach the workers
    workers/      who computes: this process, processes, threads, Dask or Ray
"""
