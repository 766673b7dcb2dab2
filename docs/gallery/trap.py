"""
The trap at work
================

Why does a valid test need so many rows? Because an algorithm may behave well on everything that a
test has seen, and badly on what it has not. The paper's proof builds such an algorithm; poise runs
it. A bootstrap test, which has all the power one could wish for, walks into it.
"""

import matplotlib.pyplot as plt

from poise import research
from poise.research import worlds

honest = worlds.mean_response(20)  # the mean of 20 responses: very stable
question = {"epsilon": 0.5, "delta": 0.1, "alpha": 0.05}
n_rows = 200  # ten trials, and 29 are the least for delta = 0.1

# %%
# Two tests of the same question: the paper's, and one that resamples the rows as if they were the
# distribution.

tests = {
    "Binomial": research.BinomialTest(n=20, **question),
    "bootstrap": research.BootstrapTest(n=20, **question),
}
found = {
    name: research.audit(test, honest, n_labeled=n_rows, traps=("label",), replications=50)
    for name, test in tests.items()
}
for audit in found.values():
    print(audit, end="\n\n")

# %%
# On the honest algorithm the bootstrap has power far beyond what any valid test can have with 200
# rows. The price: it calls the trap stable as well, which is unstable by construction.

bars = {
    f"{name}, {world}": row.accepted.value
    for name, audit in found.items()
    for world, row in zip(("honest", "trap"), audit.rows, strict=True)
}
_, panel = plt.subplots(figsize=(6.5, 2.6), layout="constrained")
panel.barh(list(bars), list(bars.values()), color=["#2a7f62", "#b23a2e"])
panel.axvline(question["alpha"], color="black", linestyle=":")
panel.set_xlabel('share of 50 runs that say "stable"; the dotted line is α')
