"""A folder of Parquet files that exceeds memory: ``python on_dask.py FOLDER TARGET N``."""

import sys

import dask.dataframe as dd
from distributed import Client
from sklearn.linear_model import Ridge

import poise

if __name__ == "__main__":  # workers import this file, too
    folder, target, n = sys.argv[1:]
    with Client(threads_per_worker=1):  # all processors of this machine
        print(poise.measure(Ridge(), dd.read_parquet(folder), target, n=int(n)))
