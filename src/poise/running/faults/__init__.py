"""What goes wrong while fits run: dead workers, late fits, signals.

::

    in_flight     files in which each worker notes the fit that it is computing
    parent_watch  workers end, and remove temporary files, when their parent process has ended
    sigint        worker processes ignore Ctrl-C from their start; the main process ends them
    time_limit    the time limit for one fit (``timeout``): a worker ends when a fit takes longer
    worker_death  when a worker dies: find the trial that killed it
"""
