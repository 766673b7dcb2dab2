"""
A pipeline with text and missing values
=======================================

Real tables have words, categories and holes. poise hands data frames to the pipeline as they
are, so everything inside it is part of what is tested: imputing, encoding, and the words that n
rows happen to contain.
"""

# %%
# A table of flats, invented here: size and year of building, a district, a few words, and the
# rent. The year is missing for a fifth of them.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeRegressor

import poise

rng = np.random.default_rng(0)
m = 510
words = np.array(["quiet", "bright", "balcony", "garden", "noisy", "lift"])
flats = pd.DataFrame(
    {
        "area": rng.gamma(8, 8, size=m).round(1),
        "built": np.where(rng.random(m) < 0.2, np.nan, rng.integers(1900, 2020, size=m)),
        "district": rng.choice(["harbour", "old town", "hill"], size=m),
        "words": [" ".join(rng.choice(words, size=2, replace=False)) for _ in range(m)],
    }
)
rent = 250 + 9 * flats["area"] + 120 * (flats["district"] == "hill") + rng.normal(0, 80, size=m)
rent += 60 * flats["words"].str.contains("garden")
print(flats.head(4))

# %%
# Two pipelines. Twenty flats may lack a district or a word that another twenty have;
# ``handle_unknown="ignore"`` takes care of that.
columns = make_column_transformer(
    (OneHotEncoder(handle_unknown="ignore"), ["district"]),
    (CountVectorizer(binary=True), "words"),
    (make_pipeline(SimpleImputer(), StandardScaler()), ["area", "built"]),
    sparse_threshold=0,
)
pipelines = {
    "ridge": make_pipeline(columns, Ridge()),
    "tree": make_pipeline(columns, DecisionTreeRegressor()),
}

# %%
# May the suggested rent move by more than 60 euros if one of 20 flats is missing, in more than
# one case in four? The two answers together are wrong with probability at most α = 0.05.
compared = poise.compare(pipelines, flats, rent, n=20, epsilon=60, delta=0.25, random_state=0)
print(compared)

# %%
figure, axes = plt.subplots(figsize=(8, 3), layout="constrained")
compared.plot(ax=axes)
plt.show()

# %%
# The verdict is about the whole pipeline. A change may come from the regression, from an
# imputed year, or from a word that only the removed flat had.
