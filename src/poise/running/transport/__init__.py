"""How data and code reach the workers.

::

    memmap           data that processes on one machine share: written once, mapped into the memor
    pickle_by_value  modules that other machines do not have: they travel with the code that is in
    row_order        A large array, sent to workers in the order in which the trials read its rows
    shared_files     large arrays in files that the workers of a cluster see too: opened there, no
"""
