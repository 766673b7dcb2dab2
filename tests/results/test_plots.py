"""Pictures: what is drawn is what was measured, and drawing leaves no trace."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from xml.dom import minidom

import matplotlib.style
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.text import Text

import poise
from helpers import python, trials_of
from poise.errors import ArgumentError
from poise.results.plots.frame import COLOURS
from poise.results.plots.pictures import Mark, histogram
from poise.results.question import Question

CHANGES = [0.0, 0.5, 1.0, 1.0, 1.5, 2.0, 3.0, 40.0, np.inf, np.nan]
PLAN = poise.plan(n=30, delta=0.2)


def made(changes, name="an algorithm", n=5):
    return poise.Trials.from_changes(changes, n=n, algorithm=name)


RNG = np.random.default_rng(3)
LABELS = trials_of(1.0 * (RNG.random((60, 1, 5)) < 0.05), distance="label")
DECISIONS = trials_of(RNG.beta(1, 20, (60, 1, 1)), compares="decisions", points=5)


def words(axes):
    return [text.get_text() for text in axes.texts]


# what is drawn, computed

SIZES = st.one_of(
    st.just(0.0), st.floats(0, 100), st.floats(0, 1e300), st.just(np.inf), st.just(np.nan)
)


@given(st.lists(SIZES, max_size=60), st.data())
def test_bars_split_exactly_at_epsilon(changes, data):
    finite = [change for change in changes if np.isfinite(change)]
    # changes equal to ε are the hard case: they are allowed, so they must fall left of it
    epsilon = data.draw(st.one_of(st.sampled_from([0.0, *finite]), st.floats(0, 50)))
    edges, counts, lost = histogram(np.array(changes), epsilon)
    larger = counts[edges[:-1] >= epsilon].sum() + lost["beyond →"] + lost["infinite"]
    assert larger == sum(change > epsilon for change in changes)
    assert counts.sum() + sum(lost.values()) == len(changes)
    assert epsilon in edges
    assert (np.diff(edges) > 0).all()


def test_far_tails_are_counted_and_not_drawn():
    edges, counts, lost = histogram(np.array(CHANGES))
    assert (*lost.values(), counts.sum()) == (1, 1, 1, 7)
    assert 3 < edges[-1] < 40
    for largest, far in ((0.4, 0), (0.5, 1)):  # 5 times most of the others is far away
        assert histogram(np.array([0.1] * 30 + [largest]))[2]["beyond →"] == far
    assert histogram(np.array([0.1] * 30 + [0.9]), epsilon=0.2)[2]["beyond →"] == 0


def test_steps_are_those_of_band_and_changes():
    trials = made(CHANGES)
    corners = trials.profile().corners(end=100.0)
    assert corners[0].tolist() == [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 40.0, 100.0]
    for epsilon, limit, seen in zip(*corners, strict=True):
        assert limit == trials.profile().at(epsilon)
        assert seen == trials.observed(epsilon)  # a failure is no larger change
    # few limits, many changes: the observed share falls between them; thinned, no limit falls
    profile = made(RNG.random((200, 1, 50))).profile()
    assert len(profile.epsilon) > 10_000 > len(set(profile.delta)) * 100
    steps, limits, seen = profile.corners(end=2.0)
    assert 900 < len(steps) <= 1002
    assert all(limit >= profile.at(step) for step, limit in zip(steps, limits, strict=True))
    np.testing.assert_allclose(seen, 1 - np.minimum(steps, 1), atol=0.02)


def test_a_verdict_is_marked_with_its_own_limits():
    for changes, verdict in (([0.1] * 60, "stable"), ([0.1, 2.0] * 30, "unstable")):
        result = made(changes).test(epsilon=1, delta=0.1)
        mark, low, high = Mark.of(result), result.delta_lower, result.delta_upper
        assert result.verdict == verdict
        assert (mark.low, mark.high) == ((None, high) if result.stable else (low, None))
        assert mark.scope == "limit (95%)"
    result = made([0.1, 0.1, 2.0]).test(epsilon=1, delta=0.1)
    mark = Mark.of(result)
    assert (mark.low, mark.high) == result.delta_interval
    # with a coin, or by the averaged test, "stable" may stand beside a limit above δ
    result = replace(made([0.1] * 15 + [2.0] * 5), zeta=0.2).test(1, 0.5, 0.01, randomized=True)
    assert result.stable
    assert result.delta_upper > 0.5
    assert (Mark.of(result).high, Mark.of(result).scope) == (None, "seen")


# the drawing


def test_a_result_is_drawn_as_it_was_measured():
    result = made([*CHANGES, *[0.2] * 50]).test(epsilon=1.0, delta=0.3)
    above, below = result.plot().axes
    heights = {COLOURS["small"]: 0.0, COLOURS["large"]: 0.0}
    for bar in above.patches:
        heights[to_hex(bar.get_facecolor())] += bar.get_height()
    assert heights == {COLOURS["small"]: 54.0, COLOURS["large"]: 3.0}
    assert words(above) == ["1 beyond →\n1 infinite\n1 failed", "5 of 60 larger than ε = 1"]
    lines = {line.get_label(): line.get_xydata() for line in below.lines}
    profile = result.trials.profile()
    for epsilon, limit in lines["every ε: limit (95%)"]:
        assert limit == profile.at(epsilon)
    [bars] = below.containers
    [segment] = bars.lines[2][0].get_segments()
    assert segment.tolist() == [[1.0, result.delta_observed], [1.0, result.delta_upper]]
    assert words(below)[-1] == "δ = 0.3"
    assert above.get_xlim() == below.get_xlim()


def test_measured_changes_are_marked_with_the_limit_at_their_delta():
    trials = made([*[0.1] * 59, 9.0])
    below = trials.plot().axes[1]
    [mark] = [line for line in below.lines if line.get_marker() == "D"]
    assert mark.get_xydata().tolist() == [[trials.epsilon_upper(0.1), 0.1]]
    assert mark.get_label() == "at most 10% are larger (95%)"
    few = made([0.1] * 5).plot().axes[1]  # their limit is infinite
    assert not [line for line in few.lines if line.get_marker() == "D"]


@pytest.mark.parametrize(("trials", "what"), [(LABELS, "labels"), (DECISIONS, "decisions")])
def test_shares_have_no_epsilon(trials, what):
    result = trials.test(delta=0.2)
    for answer, limit in ((result, result.delta_upper), (trials, trials.delta_upper())):
        [axes] = answer.plot().axes
        assert axes.get_xlabel() == f"changed {what}, limit (95%)"
        [segment] = axes.containers[0].lines[2][0].get_segments()
        np.testing.assert_allclose(segment, [[trials.observed(), 0], [limit, 0]])
    assert trials.test(delta=0.97).plot().axes[0].get_xlim() == (0, 1)


def test_two_models_are_drawn_and_named_without_a_training_size():
    trials = trials_of(np.full((40, 1, 1), 0.1), n=0, notion="changed", algorithm="old → new")
    result = trials.test(0.2, delta=0.1)
    for answer, said in ((result, "stable · 40 trials"), (trials, "40 trials")):
        assert words(answer.plot()) == ["old → new\n ", said]
        assert " n=" not in repr(answer)
    assert poise.table(result).rows[0][:3] == ["old → new", "", "40"]
    assert result.to_frame().n.isna().all()


def test_degenerate_changes_are_drawn():
    for changes in ([], [0.0, 0.0], [np.inf, np.nan], [1e308, 5e-324]):
        trials = made(changes)
        results = [trials.test(epsilon, delta=0.5) for epsilon in (0.0, 1e300)]
        for each in (trials, *results, trials.profile()):
            assert each.plot().png(30)


def test_algorithms_and_sizes_are_drawn_with_their_limits_and_delta():
    compared = every_answer("Pipeline(steps=[('a', StandardScaler()), ('b', Lasso(alpha=2.0))])")
    [axes] = compared["comparison"][1].plot().axes
    assert axes.get_yticklabels()[0].get_text() == "Pipeline(StandardScaler(),\nLasso(alpha=2.0))"
    drawn = [bars.lines[2][0].get_segments()[0][:, 0].tolist() for bars in axes.containers]
    marks = [Mark.of(result) for result in compared["comparison"][1].values()]
    assert drawn == [[mark.low, mark.seen] for mark in marks]  # both are unstable
    trials = {str(n): made([0.1] * 40, n=n) for n in (5, 10)}
    calm = Question(0.5, 0.2)
    for answer, along in (
        (poise.Comparison(trials, calm), Axes.get_xlim),
        (curve := poise.Curve(trials, calm), Axes.get_ylim),
    ):
        [axes] = answer.plot().axes
        assert along(axes)[1] > 0.2  # δ is seen beyond all limits
        assert words(axes)[-1] == "δ = 0.2"
    points = axes.collections[0].get_offsets().tolist()
    assert points == [list(each) for each in curve.delta_upper.items()]
    few = {str(n): made([0.1] * n, n=n) for n in (5, 40)}
    assert words(poise.Curve(few, Question(None, 0.2)).plot().axes[0]) == ["∞"]


def test_power_lies_below_the_ceiling():
    lines = {line.get_label(): line.get_xydata() for line in PLAN.plot().axes[0].lines}
    power, ceiling = lines["Binomial test"], lines["ceiling for every test"]
    assert (ceiling[0, 1], ceiling[-1, 0] < 0.2 < power[-1, 0]) == (PLAN.ceiling, True)
    assert (power[: len(ceiling), 1] <= ceiling[:, 1] + 1e-12).all()
    assert power[60, 1] == PLAN.power_at(power[60, 0])


def every_answer(name="an algorithm"):
    trials = made([0.1, 0.9] * 9, name)
    sizes = {str(n): made([0.1, 0.9] * 9, name, n) for n in (5, 10)}
    return {
        "profile": (1, trials.profile()),
        "trials": (2, trials),
        "result": (2, trials.test(epsilon=0.5, delta=0.2)),
        "labels": (1, LABELS.test(delta=0.2)),
        "power": (1, PLAN),
        "comparison": (1, poise.Comparison({name: trials, "b": trials}, Question(0.5, 0.2))),
        "curve": (1, poise.Curve(sizes, Question(0.5, 0.2))),
    }


@pytest.mark.parametrize("name", every_answer())
def test_every_picture_takes_axes_a_title_and_a_size(name):
    panels, answer = every_answer()[name]
    plot = answer.plot
    assert plot().get_figwidth() == 3.3
    figure = plot(figsize=(4, 3), title=False)
    assert (tuple(figure.get_size_inches()), figure.get_suptitle()) == ((4, 3), "")
    axes = Figure().subplots(1, 2)
    given_axes = axes if panels == 2 else axes[0]
    assert plot(ax=given_axes) is given_axes
    assert axes[0].get_title(loc="left") == ""
    assert axes[0].get_facecolor() == matplotlib.colors.to_rgba(
        matplotlib.rcParams["axes.facecolor"]
    )
    with pytest.raises(ArgumentError, match="figsize is for a figure of its own"):
        plot(ax=given_axes, figsize=(4, 3))
    with pytest.raises(ArgumentError, match=rf"ax must hold {panels} panels?, got 3"):
        plot(ax=Figure().subplots(1, 3))


BAD = "fit($x_$, y^$\\bad{$) <b>&\n\x1b[31m\u202e STABLE: forged"


def test_names_are_text_and_nothing_else():
    for panels, answer in [*every_answer(BAD).values(), *every_answer(BAD + "W" * 99).values()]:
        axes = np.ravel(Figure().subplots(panels))
        answer.plot(ax=axes)
        for figure in (answer.plot(), axes[0].figure):
            drawn = io.BytesIO()
            figure.savefig(drawn, format="svg")  # mathematics would fail here
            minidom.parseString(drawn.getvalue())
            for text in figure.findobj(Text):
                assert not re.search("\x1b|\u202e", text.get_text())
                assert not (text.get_parse_math() and "$" in text.get_text())
            assert figure._suptitle is None or figure._suptitle.get_window_extent().x1 <= 330


def test_drawing_leaves_no_trace_and_is_shown_once():
    """IPython shows figures of pyplot at the end of a cell, and what a cell returns by itself."""
    code = """
import sys, matplotlib, poise
before = matplotlib.rcParams.copy()
trials = poise.Trials.from_changes([0.1, 0.9] * 9, n=5)
assert trials.plot()._repr_png_()[:4] == b"\\x89PNG"
assert "matplotlib.pyplot" not in sys.modules
import matplotlib.pyplot as plt
mine, axes = plt.subplots(2)
again, given = trials.plot(), trials.plot(ax=axes)
assert plt.get_fignums() == [mine.number] and plt.gcf() is mine
assert not hasattr(given[0], "_repr_png_") and isinstance(again, matplotlib.figure.Figure)
after = matplotlib.rcParams.copy()
assert {name for name in after if after[name] != before[name]} <= {"backend"}  # by pyplot
print("done")
"""
    ended = python(code)
    assert ended.stdout == "done\n", ended.stderr


def test_settings_of_the_user_do_not_reach_our_figures():
    plot = made(CHANGES).test(epsilon=1.0, delta=0.3).plot
    usual = plot().png(50)
    with matplotlib.style.context(["dark_background", {"font.size": 30, "axes.grid": True}]):
        assert plot().png(50) == usual
    with matplotlib.rc_context({"text.usetex": True}):
        for axes in plot().axes:
            named = axes.get_legend().get_texts() if axes.get_legend() else []
            for text in (axes.xaxis.label, axes.yaxis.label, *axes.texts, *named):
                assert not text.get_usetex()
