"""Draw the pictures of the page *How stable are the algorithms people use?* from docs/atlas.csv."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

ATLAS = pd.read_csv("../atlas.csv")  # pages run this file in its own folder
FOLLOWED = {  # algorithm: colour
    "ridge": "#2a7f62",
    "5 neighbours": "#6aa84f",
    "network": "#7d5ba6",
    "tree": "#b23a2e",
    "forest": "#e08e45",
    "boosted trees": "#1f5d8c",
    "LightGBM": "#5aa9d6",
}


def at_20() -> None:
    """Draw one line for each algorithm, one column for each data set."""
    heat_map(20)


def at_5() -> None:
    """Draw the same for smaller changes."""
    heat_map(5)


def heat_map(percent: int) -> None:
    """Colour the observed shares; write the limits, in percent."""
    smallest = ATLAS[ATLAS["n"] == ATLAS.groupby("data")["n"].transform("min")]
    share, limit, failed = (
        smallest.pivot(index="name", columns="data", values=each)
        .reindex(index=ATLAS["name"].unique(), columns=ATLAS["data"].unique())
        .to_numpy()
        for each in (f"share{percent}", f"limit{percent}", "failed")
    )
    figure, panel = plt.subplots(figsize=(8, 7), layout="constrained")
    image = panel.imshow(share, cmap="YlOrRd", vmin=0, vmax=1, aspect="auto")
    for (row, column), value in np.ndenumerate(limit):
        if np.isfinite(value):
            text = f"{100 * value:.0f}" + "×" * bool(failed[row, column])
            dark = share[row, column] > 0.6
            panel.text(column, row, text, ha="center", va="center", fontsize=7,
                       color="white" if dark else "black")  # fmt: skip
    panel.set_xticks(range(share.shape[1]), ATLAS["data"].unique(), rotation=45, ha="right")
    panel.set_yticks(range(share.shape[0]), ATLAS["name"].unique())
    panel.tick_params(length=0, labelsize=8)
    panel.spines[:].set_visible(False)
    label = f"share of changes larger than {percent}% of the spread (number: 95% limit)"
    figure.colorbar(image, ax=panel, location="top", shrink=0.6, aspect=40, label=label)


def curves() -> None:
    """Follow some algorithms over the training size."""
    some = ["affairs", "bananas", "segments", "shuttle"]
    _, panels = plt.subplots(2, len(some), figsize=(8, 4.6), layout="constrained", sharey="row")
    for (row, column), panel in np.ndenumerate(panels):
        percent, data = (5, 20)[row], some[column]
        of_data = ATLAS[ATLAS["data"] == data]
        for name, colour in FOLLOWED.items():
            line = of_data[of_data["name"] == name]
            panel.plot(line["n"], line[f"share{percent}"], "o-", color=colour, ms=3, label=name)
            panel.plot(line["n"], line[f"limit{percent}"], ":", color=colour, lw=0.8)
        sizes = of_data["n"].unique()
        panel.set(xscale="log", ylim=(-0.02, (0.7, 0.35)[row]))
        panel.set_xticks(sizes, sizes)
        panel.set_xticks([], minor=True)
        panel.tick_params(labelsize=7)
        panel.set_title(data if row == 0 else "", fontsize=9)
        panel.set_xlabel("training rows" if row else "", fontsize=8)
    for panel, percent in zip(panels[:, 0], (5, 20), strict=True):
        panel.set_ylabel(f"larger than {percent}%", fontsize=8)
    names = panels[0, 0].get_legend_handles_labels()
    panels[0, 0].figure.legend(*names, loc="outside upper center", ncols=4, fontsize=7)
