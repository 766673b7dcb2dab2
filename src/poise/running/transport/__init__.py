"""How data and code reach the workers.

::

    memmap           data that processes of one machine share as memory-mapped files
    pickle_by_value  user modules are pickled with their code, for workers of other machines
    row_order        rows of a large array are written in the order in which the trials read them
    shared_files     large arrays in files that all workers of a cluster can open are not sent
"""
