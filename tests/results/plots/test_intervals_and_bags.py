"""Pictures of prediction intervals, and of the choice of bags."""

from __future__ import annotations

import numpy as np
import pytest

import poise
from poise.errors import ArgumentError
from poise.results.plots import plot_intervals, plot_trade_off


def test_intervals_are_drawn_in_the_order_of_their_predictions() -> None:
    figure = plot_intervals([3.0, 1.0, 2.0], [[2, 4], [0.5, np.inf], [1, 3]], [3.5, 0.0, 2.0])
    (axes,) = figure.axes
    bars = [segment[:, 1].tolist() for segment in axes.collections[0].get_segments()]
    assert [bar[0] for bar in bars] == [0.5, 1.0, 2.0]
    assert bars[0][1] > 4.0  # an infinite end lies beyond everything else
    drawn = {line.get_label(): line.get_ydata().tolist() for line in axes.get_lines()}
    assert drawn["prediction"] == [1.0, 2.0, 3.0]
    assert drawn["response inside"] == [2.0, 3.5]
    assert drawn["response outside"] == [0.0]
    assert figure.get_suptitle() == "2 of 3 responses lie in their intervals"
    assert plot_intervals([1.0], [[0.0, 2.0]]).get_suptitle() == "1 interval"
    with pytest.raises(ArgumentError, match=r"ends must be of shape \(1, 2\)"):
        plot_intervals([1.0], [0.0, 2.0])


def test_the_trade_off_is_drawn_with_the_choice() -> None:
    choices = poise.theory.bag_trade_off(40, epsilon=0.4, delta=0.2)
    (axes,) = plot_trade_off(choices, (28, 59)).axes
    curve, limit, chosen = axes.get_lines()
    assert limit.get_xdata() == [choices[0].largest_bag] * 2
    assert curve.get_xdata().tolist() == [choice.bag_size for choice in choices]
    assert curve.get_ydata().tolist() == [choice.n_bags for choice in choices]
    assert (chosen.get_xdata().tolist(), chosen.get_ydata().tolist()) == ([28], [59])
    assert axes.get_yscale() == "log"
