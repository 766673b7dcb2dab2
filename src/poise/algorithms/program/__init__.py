"""External programs in any language, tested as algorithms.

::

    command          the command line of a program, checked before anything runs
    one_shot         the one-shot contract: a process per prediction, CSV files in, a CSV file out
    predictions      what a program answered, checked number by number
    process          one program in a process group of its own: killed as a whole, the end of its
    program          :class:`Program`: a command line as an algorithm
    rows_as_text     rows in any container, read column by column into what CSV and JSON can hold
    scratch_folders  temporary folders that do not outlive their owners, even those that are kille
    server_pool      serving programs between two requests, and their end
    serving          the serving contract: started once per worker, one JSON line in, one JSON lin
    task_files       one task for a program, written as two CSV files or as one JSON line
"""

from __future__ import annotations

from poise.algorithms.program.program import Program

__all__ = ["Program"]
