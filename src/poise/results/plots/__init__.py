"""Pictures of results, drawn with matplotlib and without its global state.

Some functions compute what is drawn, from results alone; others draw it. No window is opened, and
no figure is kept after the caller drops it.

::

    bags                 bag sizes and numbers of bags that give one guarantee, and the choice
    canvas               figures, colours, titles and files: what every picture shares
    certified            the changes in a certificate, with the question that it answers
    changes              the changes of a measurement, and beside them their profile
    compared             several algorithms side by side: how far predictions moved, trial by trial
    confidence_sequence  the limits of a growing record over its trials, and δ
    curve                limits and estimates against the training size; assumed limits are dashed
    evidence             the evidence of several records, one bar each, and of all of them together
    extrapolated         limits at training sizes that were not measured, dashed because assumed
    influence            the most influential training rows, as bars
    inline_svg           a picture as SVG inside a page, in the colour of the text around it
    intervals            prediction intervals as bars, and the responses that they should contain
    measurement_picture  the picture of a measurement and, if there is one, its verdict
    plotted_question     the question of a plot: ε, its limit and, if known, δ and the verdict
    power                the power of a planned test against the true probability of a larger change
    profile              the profile ε ↦ δ̂: a step function with the observed share below it
    question_menu        the smallest δ that can be certified, against the training size
    rates                measured shares with their intervals, each beside its limit
    shares               the shares of larger changes, one per fresh row
    shown_figure         a figure that a notebook shows, also without pyplot
    trajectory           the course of the averaged test: two bets, and the line that decides
    verdict              the plot of one verdict: the number of larger changes, and what decides
"""

from __future__ import annotations

from poise.results.plots.bags import plot_trade_off
from poise.results.plots.canvas import save_figure
from poise.results.plots.changes import plot_judged, plot_trials, stack_trials
from poise.results.plots.intervals import plot_intervals
from poise.results.plots.profile import plot_profile
from poise.results.plots.verdict import plot_result

__all__ = [
    "plot_intervals",
    "plot_judged",
    "plot_profile",
    "plot_result",
    "plot_trade_off",
    "plot_trials",
    "save_figure",
    "stack_trials",
]
