"""Who computes: this process, processes, threads, Dask or Ray.

::

    backend        which workers a run uses: those of joblib, or of a cluster that joblib knows by
    chunk_job      one chunk of trials, computed in a worker: user code that travels, and its repo
    chunks         ranges of tasks, made when a worker is free, each about as long as the others
    cluster        workers of a Dask or Ray cluster, through the client that each of them brings
    dask_cluster   Dask: the cluster that is there, one at an address, or one started here for the
    engine         engines do the work of a batch, anywhere, and hand back answers in plan order
    inner_threads  one inner thread per fit, whatever the libraries inside would like to start
    parallel       many trials at once: processes, threads, or a cluster
    processes      processes or threads of this machine, through joblib
    ray_cluster    Ray: the cluster that is there, one at an address, or one started here
    serial         one trial after the other, in this process
    start_workers  start workers of the kind that was chosen, and give them the work of one run
    workers        what workers are: they take spans of tasks, and one of them may die
"""
