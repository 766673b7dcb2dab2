"""
Write your own test
===================

A test of your own is a generator: it yields trials, is sent their changes, and concludes. Here are
two. The second makes use of rows without responses, which no built-in test trains on.
"""

from dataclasses import dataclass
from itertools import product

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from poise import research, theory
from poise.research import Batch, Made, Query, Trial

X, y = load_breast_cancer(return_X_y=True)
order = np.random.default_rng(0).permutation(len(y))
rows = {"X": X[order[:120]], "y": y[order[:120]].astype(float), "X_unlabeled": X[order[120:]]}
score = make_pipeline(StandardScaler(), Ridge(30))  # near 1: benign
question = {"n": 10, "epsilon": 0.3, "delta": 0.2}

# %%
# The paper's test
# ----------------
#
# ``Asks`` holds the question, ``split`` makes as many trials as the rows hold, and ``judge``
# compares the number of larger changes with the Binomial law. 120 diagnoses hold 12 trials of 10
# rows; 14 are the least that show δ = 0.2.


class Binomial(research.Asks):
    def ask(self, sample, randomness):
        answers = yield Batch(self.split(sample, randomness))
        changes = answers.changes[:, 0, 0]
        return self.judge(changes, certified=True, reason="The trials share no row.")


claim = research.run(Binomial(**question), score, **rows, random_state=0)
print(claim.n_trials, "trials,", claim.statistic, "larger changes:", claim.verdict)

# %%
# Missing responses
# -----------------
#
# 449 further tumours have no diagnosis. Let ``missing`` of the 10 rows of each trial be such: the
# test tries both diagnoses for each of them, and counts the largest change. The true diagnoses are
# among those tried, so the count can only be too large: "stable" keeps its level, and "unstable"
# must not be said (Theorem G). In return the 120 diagnoses hold more trials.


@dataclass(frozen=True, kw_only=True)
class SomeMissing(research.Asks):
    missing: int

    def ask(self, sample, randomness):
        known, labeled = self.n - self.missing, sample.n_labeled
        m = theory.trials_missing(self.n, labeled, sample.n_unlabeled, self.missing)
        order = randomness.order("rows", labeled)
        spare = np.append(order[m * known :], labeled + np.arange(sample.n_unlabeled))
        more, points = spare[: m * self.missing].reshape(m, -1), spare[m * self.missing :]
        xi = randomness.block("xi", 0, m)[:, 0].tolist()
        trials = []
        for k in range(m):
            features, responses, _ = sample.training(order[k * known : (k + 1) * known])
            features = np.vstack([features, sample.points(more[k])])  # the last one leaves
            point, full, reduced = points[k : k + 1], [], []
            for guess in product((0.0, 1.0), repeat=self.missing):
                labels = np.append(responses, guess)
                full.append(Query(Made(features, labels), point, xi[k]))
                reduced.append(Query(Made(features[:-1], labels[:-1]), point, xi[k]))
            trials.append(Trial(tuple(full), tuple(reduced)))
        answers = yield Batch(trials)
        worst = answers.changes[:, :, 0].max(axis=1)
        return self.judge(worst, certified=True, reason="All labels were tried.", upper=True)


claim = research.run(SomeMissing(**question, missing=2), score, **rows, random_state=0)
print(claim.n_trials, "trials,", claim.statistic, "larger changes:", claim.verdict)

# %%
# Each missing response buys trials, and makes the largest change larger. So their number has to be
# chosen before the first look: the best of these five limits is no limit.

claims = [
    research.run(SomeMissing(**question, missing=j), score, **rows, random_state=0)
    for j in range(5)
]
limits = [theory.delta_hat(each.statistic, each.n_trials, alpha=0.05) for each in claims]
counted = [each.statistic / each.n_trials for each in claims]
_, panel = plt.subplots(figsize=(6.5, 2.8), layout="constrained")
panel.plot(limits, "o-", color="#2a7f62", label="95% limit")
panel.plot(counted, "s--", color="#b23a2e", label="share counted")
panel.axhline(question["delta"], color="black", linestyle=":")
panel.set(xlabel="missing responses in each trial", ylabel="larger changes", xticks=range(5))
panel.legend()
