"""
A pipeline with text and holes
==============================

poise hands each fit rows of the kind it was given, so a pipeline sees its columns by name: text,
missing values and all. Everything inside the pipeline is refitted without the removed row.
"""

import numpy as np
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_diabetes
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import poise

frame = load_diabetes(as_frame=True, scaled=False).frame
frame["sex"] = frame["sex"].map({1: "one", 2: "other"})
frame.loc[np.random.default_rng(0).random(len(frame)) < 0.1, "bp"] = np.nan
print(frame[["age", "sex", "bmi", "bp", "target"]].head(3))

# %%
# An imputer fills the holes with the median *of the training set*, which may itself depend on the
# row that is removed.

columns = make_column_transformer(
    (OneHotEncoder(handle_unknown="ignore"), ["sex"]),
    (SimpleImputer(strategy="median"), ["age", "bmi", "bp"]),
)
pipeline = make_pipeline(columns, Ridge())
result = poise.stability_test(
    pipeline, frame, "target", n=20, epsilon="50% of sd", delta=0.3, name="Ridge with an imputer"
)
print(result)

# %%

figure = result.plot(figsize=(6.5, 4.6))
