"""External programs in any language, tested as algorithms.

::

    command          the command line of a program, checked before anything runs
    one_shot         one-shot programs: one process per prediction, with CSV files
    predictions      predictions of a program, read and checked number by number
    process          one program in a process group of its own, which is killed as a whole
    program          :class:`Program`: a command line as an algorithm
    rows_as_text     rows of any container as values that CSV and JSON can hold
    scratch_folders  temporary folders of programs, which are removed also after a kill
    server_pool      idle serving programs, kept for the next request and ended later
    serving          serving programs: started once per worker, one JSON line per request
    task_files       one task for a program, written as two CSV files or as one JSON line
"""

from __future__ import annotations

from poise.algorithms.program.program import Program

__all__ = ["Program"]
