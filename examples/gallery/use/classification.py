"""
Classification with probabilities
=================================

A classifier can be asked about its labels or about its probabilities. Probabilities say more:
they move long before a label changes.
"""

# %%
# The data are two measurements of 569 tumours. With ``response="predict_proba"`` a prediction
# is the vector of class probabilities, and a change is the total variation distance: the
# largest change in the probability of any set of classes.
import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import poise

X, y = load_breast_cancer(return_X_y=True)
X = X[:, :2]  # mean radius and mean texture
classifiers = {
    "logistic regression": make_pipeline(StandardScaler(), LogisticRegression(C=0.1)),
    "naive Bayes": GaussianNB(),
    "decision tree": DecisionTreeClassifier(),
}

# %%
# May the probabilities move by more than 0.1 if one of 16 tumours is missing, in more than a
# fifth of all cases? Three verdicts on the same trials, with one error level for all of them
# (Holm):
compared = poise.compare(
    classifiers, X, y, n=16, epsilon=0.1, delta=0.2, response="predict_proba", random_state=0
)
print(compared)

# %%
# Each point is a trial: how far the probabilities moved when one tumour was removed. A
# full-grown tree gives probabilities 0 and 1 only: it keeps its answer or reverses it. The
# other two move a little nearly every time.
figure, axes = plt.subplots(figsize=(8, 3.4), layout="constrained")
compared.plot(ax=axes)
plt.show()

# %%
# If the labels are all that matters, leave ``response`` out. A change is then 0 or 1, and ε
# must be 0: "at most a share δ of all labels changes". This only counts; a verdict would be
# another question to the same rows.
trials = poise.measure(classifiers["decision tree"], X, y, n=16, random_state=0)
print(f"{trials.changes.sum():.0f} of {trials.n_trials} labels changed")
