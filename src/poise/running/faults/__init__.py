"""What goes wrong while fits run: dead workers, late fits, signals, parents that end.

::

    in_flight           notes that workers leave about what they are doing, for whoever finds one
    parent_watch        workers that end when the process they work for has ended, and clean up af
    sigint              worker processes that never hear Ctrl-C, from their first moment on
    time_limit          an algorithm that is watched in its worker: what it is doing, and for how
    time_limit_support  which workers can be held to a time limit: processes that do one thing at
    worker_death        who killed the worker? The trials that were running are tried again, in th
"""
