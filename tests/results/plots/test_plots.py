"""Pictures: what is drawn equals what was measured, and drawing leaves no trace."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import poise
from poise import CompareResult, Design, StabilityCurve, Trials
from poise.arguments.printed_numbers import at_least, at_most
from poise.errors import ArgumentError
from poise.results.plots import (
    plot_judged,
    plot_profile,
    plot_result,
    plot_trials,
    save_figure,
    stack_trials,
)
from poise.results.plots.canvas import COLOURS
from poise.results.plots.changes import Histogram
from poise.results.plots.profile import Steps
from poise.results.plots.verdict import Decision

CHANGES = [0.0, 0.5, 1.0, 1.0, 1.5, 2.0, 3.0, 40.0, np.inf]


def trials_of(changes: list[float], n: int = 5) -> Trials:
    return Trials.from_changes(changes, n=n, algorithm="an algorithm")


FAILED_ONCE = Trials.from_changes(CHANGES, n=5, algorithm="an algorithm", failures=["singular"])


# --- what is drawn, computed -------------------------------------------------------------


@settings(deadline=None)
@given(
    st.lists(st.one_of(st.just(0.0), st.floats(0, 100), st.just(np.inf)), min_size=1, max_size=60),
    st.data(),
)
def test_bars_split_exactly_at_epsilon(changes: list[float], data: st.DataObject) -> None:
    finite = [change for change in changes if np.isfinite(change)]
    # Changes equal to ε are the hard case: they are allowed, so they must fall left of it.
    epsilon = data.draw(st.one_of(st.sampled_from([0.0, *finite]), st.floats(0, 50)))
    trials = trials_of(changes)
    histogram = Histogram.of(trials, epsilon)
    assert histogram.n_larger == trials.exceedances(epsilon)
    drawn = int(histogram.counts.sum())
    assert drawn + histogram.n_beyond + histogram.n_failed == len(changes)
    assert epsilon in histogram.edges
    assert (np.diff(histogram.edges) > 0).all()


def test_far_tail_is_counted_and_not_drawn() -> None:
    histogram = Histogram.of(FAILED_ONCE)
    assert (histogram.n_beyond, histogram.n_failed) == (1, 1)
    infinite = Histogram.of(trials_of(CHANGES))  # by a prediction that is infinite
    assert (infinite.n_beyond, infinite.n_failed) == (2, 0)
    assert histogram.edges[-1] < 40
    assert histogram.counts.sum() == 7


def test_steps_are_those_of_the_profile() -> None:
    trials = trials_of(CHANGES)
    steps = Steps.of(trials.profile(), span=100.0)
    assert steps.epsilon.tolist() == [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 40.0, 100.0]
    expected = [sum(change > epsilon for change in CHANGES) / 9 for epsilon in steps.epsilon]
    np.testing.assert_allclose(steps.observed, expected)
    assert (steps.limit >= steps.observed).all()


@pytest.mark.parametrize(("m", "delta"), [(40, 0.2), (7, 0.05), (300, 0.5), (21, 0.0)])
def test_decisions_are_those_of_the_test(m: int, delta: float) -> None:
    decision = Decision.of(trials_of([0.0] * m).test(epsilon=0.5, delta=delta))
    law = stats.binom(m, delta)
    np.testing.assert_allclose(decision.probability, law.pmf(decision.counts), rtol=1e-10)
    assert decision.probability.sum() > 0.9999
    for count, verdict in zip(decision.counts, decision.verdicts, strict=True):
        changes = [1.0] * count + [0.0] * (m - count)
        assert trials_of(changes).test(epsilon=0.5, delta=delta).verdict == verdict


def test_only_what_can_be_seen_is_drawn() -> None:
    """400 trials at δ = .1: 40 ± (5·6 + 3), and on to what was observed if that lies beyond."""
    assert _drawn(40) == list(range(7, 74))
    assert _drawn(0) == list(range(74))
    assert _drawn(90) == list(range(7, 92))
    assert _drawn(400) == list(range(7, 401))


def _drawn(moved: int) -> list[int]:
    changes = [1.0] * moved + [0.0] * (400 - moved)
    return Decision.of(trials_of(changes).test(epsilon=0.5, delta=0.1)).counts.tolist()


def test_a_run_that_stopped_early_shows_what_it_could_have_become() -> None:
    design = Design("an algorithm", n=5, n_labeled=240)
    result = Trials(np.array([0.0, 1.0, 1.0]), design).test(epsilon=0.5, delta=0.1)
    decision = Decision.of(result)
    assert (decision.seen, decision.most) == (2, 39)
    assert "2 in 3 trials (at most 39 in all)" in _legend(plot_result(result))


def test_many_trials_are_one_outline() -> None:
    figure = plot_result(trials_of([0.0, 1.0] * 5000).test(epsilon=0.5, delta=0.5))
    assert len(figure.axes[0].patches) < 10


# --- the drawing -------------------------------------------------------------------------


def _legend(figure) -> str:
    return "\n".join(text.get_text() for text in figure.axes[0].get_legend().get_texts())


def test_bars_of_larger_changes_have_their_own_colour() -> None:
    from matplotlib.colors import to_hex

    left, right = plot_trials(FAILED_ONCE, epsilon=1.0).axes
    heights = {COLOURS["small"]: 0.0, COLOURS["large"]: 0.0}
    for bar in left.patches:
        heights[to_hex(bar.get_facecolor())] += bar.get_height()
    assert heights == {COLOURS["small"]: 4.0, COLOURS["large"]: 3.0}
    assert left.get_title() == "4 larger than ε = 1"  # a failed trial shows no change
    assert "1 beyond →\n1 failed" in [text.get_text() for text in left.texts]
    assert "units" in left.get_xlabel()
    assert right.get_xlabel() == "allowed change ε"


def test_the_profile_is_marked_where_it_is_asked() -> None:
    trials = trials_of([0.1] * 30)
    right = plot_trials(trials, epsilon=0.2, alpha=0.1).axes[1]
    limit = trials.delta_hat(0.2, 0.1)  # as in a verdict, not as in the band
    names = [text.get_text() for text in right.get_legend().get_texts()]
    assert names == [
        "limit at confidence 0.9, every ε at once",
        "observed",
        f"limit at confidence 0.9, ε = 0.2 alone: ≤ {at_most(limit)}",
    ]
    assert not right.texts  # a number beside the band would be read as the band's


def test_the_axis_is_cut_only_before_a_tail_that_is_far_away() -> None:
    near, far = [0.1] * 30 + [0.7], [0.1] * 30 + [0.9]
    assert Histogram.of(trials_of(near)).n_beyond == 0
    assert Histogram.of(trials_of(far)).n_beyond == 1


def test_a_limit_beyond_the_axis_is_written_beside_its_arrow() -> None:
    """An arrow alone could be a limit a little beyond the edge, or no limit at all."""
    wild = trials_of([0.1] * 55 + [9.0] * 5)
    for delta, limit in [(0.1, "9"), (0.01, "infinity")]:
        result = CompareResult.judge({"a": wild}, epsilon=1.0, delta=delta)
        assert [text.get_text() for text in result.plot().axes[0].texts] == [f"ε̂: {limit}"]


def test_a_profile_is_drawn_where_the_user_wants_it() -> None:
    from matplotlib.figure import Figure

    axes = Figure().add_subplot()
    profile = trials_of([0.1, 0.2]).profile(band="pointwise")
    assert plot_profile(profile, axes) is axes
    assert profile.plot(axes) is axes
    assert "one ε fixed beforehand" in axes.get_legend().get_texts()[0].get_text()
    assert plot_profile(profile) is not axes.figure


def curve_of(*sizes: int, n_trials: int = 50) -> StabilityCurve:
    trials = [trials_of((np.arange(1, n_trials + 1) / n).tolist(), n) for n in sizes]
    return StabilityCurve(tuple(trials), epsilon=1.0, delta=0.2)


def averaged_of(share: float, m: int = 60) -> Trials:
    """Trials of two removals and four points, so many of whose changes are infinite."""
    large = np.random.default_rng(3).random((m, 2, 4)) < share
    return Trials.from_changes(np.where(large, np.inf, 0.1), n=20, algorithm="an algorithm")


def every_plot(trials: Trials) -> dict[str, Callable[..., Any]]:
    result = trials.test(epsilon=0.5, delta=0.2)
    named = {trials.design.algorithm: trials}
    return {
        "trials": lambda **place: trials.plot(0.5, delta=0.2, **place),
        "profile": trials.profile().plot,
        "result": result.plot,
        "compared": CompareResult.judge(named, epsilon=0.5, delta=0.2).plot,
        "curve": StabilityCurve((trials,), epsilon=None, delta=0.2).plot,
        "averaged": averaged_of(0.1).test(epsilon=0.5, delta=0.2).plot,
        "power": poise.plan(n=30, delta=0.2, delta_star=0.1).plot,
    }


PLOTS = list(every_plot(trials_of([0.1])))


@pytest.mark.parametrize("name", PLOTS)
def test_every_picture_takes_axes_a_title_and_a_size(name: str) -> None:
    from matplotlib.figure import Figure

    plot = every_plot(trials_of([0.1, 0.9] * 9))[name]
    assert tuple(plot(figsize=(4, 3)).get_size_inches()) == (4, 3)
    assert plot(title="costs $5 and $6").get_suptitle() == "costs $5 and $6"
    axes = Figure().subplots(1, 2)
    given = axes if name == "trials" else axes[0]
    assert plot(ax=given, title="mine") is given
    assert axes[0].get_title(loc="left") == "mine"
    with pytest.raises(ArgumentError, match="figsize is for a figure of its own"):
        plot(ax=given, figsize=(4, 3))
    with pytest.raises(ArgumentError, match=r"ax must hold (1 panel|2 panels), got 3"):
        plot(ax=Figure().subplots(1, 3))


def test_a_title_on_given_axes_stands_above_the_legend() -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    axes = Figure(figsize=(8, 6)).subplots()
    every_plot(trials_of([0.1, 0.9] * 9))["result"](ax=axes, title="mine")
    FigureCanvasAgg(axes.figure).draw()
    legend = axes.get_legend().get_window_extent()
    [title] = [text for text in axes.findobj(type(axes.title)) if text.get_text() == "mine"]
    assert title.get_window_extent().y0 > legend.y0
    assert title.get_window_extent().y0 > axes.bbox.y1


@pytest.mark.parametrize("name", PLOTS)
def test_a_dollar_in_a_name_is_a_dollar(name: str, tmp_path: Path) -> None:
    from matplotlib.text import Text

    trials = Trials.from_changes([0.1, 0.9] * 9, n=5, algorithm="fit($x_$, y^$\\bad{$)")
    figure = every_plot(trials)[name](title=None)
    save_figure(figure, tmp_path / "dollars.png")  # mathematics would fail here
    texts = [t for t in figure.findobj(Text) if "fit(" in t.get_text()]
    assert all(not text.get_parse_math() for text in texts)
    assert texts or name in ("profile", "averaged", "power")


def test_the_picture_says_what_the_verdict_says() -> None:
    trials = trials_of([0.1] * 60)
    result = trials.test(epsilon=0.2, delta=0.05)
    for figure in (plot_judged(trials, result), trials.plot(0.2, delta=0.05)):
        words = [t.get_text() for t in figure.axes[1].get_legend().get_texts()]
        assert words[2].endswith(f"alone: ≤ {at_most(result.delta_hat)}")
        assert "allowed: δ = 0.05" in words
        assert "an algorithm at n = 5: stable, 60 trials" in figure.get_suptitle()
    wild = trials_of([0.9] * 60).test(epsilon=0.2, delta=0.05)
    assert wild.verdict == "unstable"
    right = plot_judged(trials_of([0.9] * 60), wild).axes[1]
    words = [t.get_text() for t in right.get_legend().get_texts()]
    assert words[2].endswith(f"alone: ≥ {at_least(wild.delta_lower)}")
    with pytest.raises(ArgumentError, match="delta is drawn beside epsilon; give both"):
        trials.plot(delta=0.1)


def test_training_sizes_have_numbers_on_their_logarithmic_axis() -> None:
    left, right = curve_of(30, 45, 1200).plot().axes
    for axes in (left, right):
        assert axes.get_xscale() == "log"
        assert [text.get_text() for text in axes.get_xticklabels()] == ["30", "45", "1,200"]
        assert "logarithmic" in axes.get_xlabel()
    many = curve_of(*range(10, 30)).plot().axes[0]
    assert [text.get_text() for text in many.get_xticklabels()] == [
        str(n) for n in range(10, 30, 3)
    ]


def test_an_infinite_limit_is_drawn_at_the_edge() -> None:
    left, _ = curve_of(10, 20, n_trials=5).plot().axes
    (edge,) = [line for line in left.lines if line.get_marker() == "^"]
    assert edge.get_xydata().tolist() == [[10.0, 1.0], [20.0, 1.0]]  # top of the axes
    assert edge.get_transform() == left.get_xaxis_transform()
    assert "no limit: infinite" in [text.get_text() for text in left.get_legend().get_texts()]
    compared = CompareResult.judge({"a": trials_of([0.1] * 3)}, epsilon=0.5, delta=0.2)
    axes = compared.plot().axes[0]
    (arrow,) = [line for line in axes.lines if line.get_marker() == ">"]
    assert arrow.get_xydata().tolist() == [[1.0, 0.0]]  # the right edge


def test_stacked_measurements_share_their_axis() -> None:
    figure = stack_trials([trials_of([0.1, 0.2]), trials_of([5.0, 9.0])])
    assert len({axes.get_xlim() for axes in figure.axes}) == 1
    with pytest.raises(ArgumentError, match="at least one Trials"):
        stack_trials([])
    with pytest.raises(ArgumentError, match="epsilon must be"):
        plot_trials(trials_of([0.1]), epsilon=-1.0)


@pytest.mark.parametrize(
    ("changes", "epsilon"),
    [([], None), ([], 0.5), ([0.0, 0.0], 0.0), ([0.0], None), ([np.inf, np.inf], 1.0)],
)
def test_nothing_to_draw_is_drawn_too(
    changes: list[float], epsilon: float | None, tmp_path: Path
) -> None:
    trials = trials_of(changes)
    save_figure(plot_trials(trials, epsilon), tmp_path / "trials.png")
    save_figure(plot_result(trials.test(epsilon or 0.0, 0.1)), tmp_path / "result.png")


@pytest.mark.parametrize("name", PLOTS)
def test_no_label_is_cut_off_at_the_edge_of_the_figure(name: str) -> None:
    figure = every_plot(trials_of([0.1, 0.9] * 9))[name]()
    figure.canvas.draw()
    for axes in figure.axes:
        named = axes.get_legend()
        assert named is None or named.get_window_extent().x1 <= figure.bbox.x1
        assert axes.get_window_extent().width > 0.3 * figure.bbox.width


JUDGED = {
    "stable": trials_of([0.1] * 97 + [np.inf]),
    "unstable": trials_of([0.1] * 50 + [np.inf] * 50),
    "inconclusive": trials_of([0.1] * 40 + [np.inf] * 3),
    "stable, averaged": averaged_of(0.0),
    "unstable, averaged": averaged_of(0.8),
    "inconclusive, averaged": averaged_of(0.08),
}


@pytest.mark.parametrize("name", JUDGED)
def test_every_figure_of_the_verdict_stands_in_both_of_its_pictures(name: str) -> None:
    result = JUDGED[name].test(epsilon=0.4, delta=0.1)
    assert result.verdict == name.split(",")[0]
    low, high = result.delta_interval
    between = f"between {at_least(low)} and {at_most(high)}"
    assert between in result.summary()
    used = f"≤ {result.facts()['delta at most']}"
    if result.verdict == "unstable":
        used = f"≥ {at_least(result.printed_delta_lower)}"
    right = plot_judged(JUDGED[name], result).axes[1]
    words = [text.get_text() for text in right.get_legend().get_texts()]
    assert words[2:] == [
        f"limit at confidence 0.95, ε = 0.4 alone: {used}",
        f"two-sided: {between}",
        "allowed: δ = 0.1",
    ]
    (bar,) = [c for c in right.collections if c.get_label() == words[3]]
    assert bar.get_segments()[0].tolist() == [[0.4, low], [0.4, high]]
    assert f"δ* {used} (allowed: δ = 0.1), for ε = 0.4 alone" in _legend(result.plot())
    assert f": {result.verdict}" in result.plot().get_suptitle()


def test_the_changes_of_an_averaged_test_are_not_called_trials() -> None:
    trials = averaged_of(0.8)
    left, right = trials.plot(0.4).axes
    assert left.get_ylabel() == "number of changes"
    assert left.get_title() == f"{int(np.isinf(trials.changes).sum())} larger than ε = 0.4"
    observed = right.lines[1].get_xydata()
    assert observed[-1][1] == pytest.approx(np.isinf(trials.changes).mean())  # at ε = 0.4
    assert "logarithmic" in trials.test(0.4, 0.1).plot().axes[0].get_ylabel()


def test_an_averaged_profile_counts_at_every_change() -> None:
    changes = np.random.default_rng(5).exponential(size=(20, 1, 3))
    changes[0] = np.nan  # failed: larger than every ε
    trials = Trials.from_changes(changes, n=20)
    profile = trials.profile()
    assert set(changes[np.isfinite(changes)]) <= set(profile.epsilon)
    expected = [trials.exceedances(float(epsilon)) for epsilon in profile.epsilon]
    assert profile.exceedances == pytest.approx(expected)
