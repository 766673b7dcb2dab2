"""
A night on a cluster
====================

A test of a slow algorithm may take a night. A journal keeps every trial as soon as it is known,
so a run that is cut short goes on where it stopped. The result is the same bit for bit,
whatever happened in between and however many workers there were.
"""

# %%
# A forest and 630 rows. Imagine that each fit takes minutes.
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from distributed import Client
from sklearn.ensemble import RandomForestRegressor

import poise

rng = np.random.default_rng(0)
X = rng.normal(size=(630, 4))
y = X[:, 0] + np.abs(X[:, 1]) + 0.5 * rng.normal(size=630)
forest = RandomForestRegressor(n_estimators=5)
journal = Path(tempfile.mkdtemp()) / "forest.jsonl"
question = dict(n=20, random_state=0, journal=journal)

# %%
# The first night, on this machine. Then the power fails: here we keep the first 60% of the
# journal, in the middle of a line.
first = poise.measure(forest, X, y, **question)
written = journal.read_bytes()
journal.write_bytes(written[: int(0.6 * len(written))])

# %%
# The second night, on a cluster. The same call goes on with the same journal; the torn line is
# measured again. This cluster lives inside the process; with ``address="tcp://scheduler:8786"``
# it would be yours.
left = journal.read_bytes().count(b"\n") - 1  # the first line is the header
with Client(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None):
    second = poise.measure(forest, X, y, backend="dask", **question)
print(f"{left} trials were in the journal, {second.n_trials - left} were measured")
print("the same changes, bit for bit:", np.array_equal(first.changes, second.changes))

# %%
# The journal remembers both nights, and the record can be judged without another fit.
figure, axes = plt.subplots(figsize=(8, 3.4), layout="constrained")
trial = np.arange(second.n_trials)
axes.plot(trial[:left], second.changes[:left], "o", color="#7fa6c9", label="first night")
axes.plot(trial[left:], second.changes[left:], "s", color="#1f4e79", label="second night, on Dask")
axes.axhline(1.0, color="#c8553d", linestyle="--", label="ε = 1")
axes.set(xlabel="trial", ylabel="change of the prediction")
axes.legend(frameon=False, ncols=3, loc="lower left", bbox_to_anchor=(0, 1))
plt.show()
print(second.test(epsilon=1.0, delta=0.2))

# %%
# On the command line the same is ``poise test … --journal forest.jsonl --backend dask``;
# ``poise status`` says how far it is, and ``poise resume`` goes on.
