"""
Groups: patients with several visits
====================================

Visits of one patient resemble each other, so visits are not independent rows. Patients are.
With ``groups=`` the patient becomes the unit: one trial removes a whole patient, and no patient
is in two trials.
"""

# %%
# 500 patients with one to four visits each, drawn here. A patient has a level of their own,
# which all of their visits share.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.neighbors import KNeighborsRegressor

import poise

rng = np.random.default_rng(0)
visits = rng.integers(1, 5, size=500)
patient = np.repeat(np.arange(500), visits)
X = rng.normal(size=(len(patient), 2)) * 0.2 + rng.normal(size=(500, 2))[patient]
level = rng.normal(size=500)
y = X[:, 0] + level[patient] + 0.1 * rng.normal(size=len(patient))
print(len(y), "visits of", 500, "patients")

# %%
# The question: an algorithm is trained on the visits of 15 patients. If one *patient* had not
# taken part, would the prediction for a new patient move by more than 0.8?
model = KNeighborsRegressor(5)
by_patient = poise.measure(model, X, y, n=15, groups=patient, random_state=0)
print(by_patient.test(epsilon=0.8, delta=0.2))

# %%
# Treating visits as rows asks something else, and the guarantee does not hold: visits of one
# patient are spread over several trials and over both sides of a removal. As many visits as 15
# patients have, on average, and one of them removed:
by_visit = poise.measure(model, X, y, n=round(15 * visits.mean()), random_state=0)
figure, axes = plt.subplots(figsize=(7, 3.6), layout="constrained")
for trials, name in ((by_patient, "a patient is removed"), (by_visit, "a visit is removed")):
    changes = np.sort(trials.changes)
    larger = 1 - np.arange(1, len(changes) + 1) / len(changes)
    axes.step(
        np.append(0, changes), np.append(np.mean(changes > 0), larger), where="post", label=name
    )
axes.axvline(0.8, color="#6b7280", linestyle=":", label="ε = 0.8")
axes.set(xlabel="change of the prediction", ylabel="share of trials with a larger change")
axes.legend(frameon=False)
plt.show()
