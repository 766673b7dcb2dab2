"""Who computes: this process, processes, threads, Dask or Ray.

::

    backend        which workers a run uses: processes or threads of joblib, Dask or Ray
    chunk_job      one chunk of trials, computed in a worker, and its report
    chunks         ranges of tasks for one worker each, cut so that they take about the same time
    cluster        workers of a Dask or Ray cluster, through the client of Dask or Ray
    dask_cluster   workers of a Dask cluster: a connected one, one at an address, or a new one here
    engine         engines compute the tasks of a batch and yield the answers in plan order
    inner_threads  one thread inside each fit: BLAS and OpenMP are limited to one
    main_guard     refuses scripts without ``if __name__ == "__main__":``, where workers need it
    module_search  workers do not look for modules in the current folder when they start
    parallel       many trials at the same time, in processes, threads or a cluster
    processes      worker processes or threads of this machine, through joblib
    ray_cluster    workers of a Ray cluster: a connected one, one at an address, or a new one here
    serial         one trial after the other, in this process (``n_jobs=1``)
    start_workers  start workers of the chosen kind, and give them the work of one run
    workers        the interface of workers: they compute spans of tasks, and one of them may die
"""
