"""Trials, fits and ceilings, counted before the first fit."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from poise.errors import ArgumentError
from poise.results.design import Design
from poise.results.question import Question, Relative, allowed_change, law_for, read_epsilon

N, LABELED, EXTRA, DELTA, ALPHA = 20, 60, 30, 0.1, 0.05
KAPPA, FEATURES, LARGE = 3, (LABELED + EXTRA) / (N + 1), (LABELED + EXTRA) / N


def design(**settings) -> Design:
    return Design(**{"algorithm": "x", "n": N, "n_labeled": LABELED, **settings})


small = st.integers(1, 6)


@given(
    n=st.integers(2, 9),
    labeled=st.integers(0, 200),
    unlabeled=st.integers(0, 60),
    points=small,
    remove=small,
    replace=st.booleans(),
    losses=st.booleans(),
    grouped=st.booleans(),
    cap=st.none() | st.integers(1, 12),
)
def test_trials_are_as_many_as_share_no_unit(
    n, labeled, unlabeled, points, remove, replace, losses, grouped, cap
):
    assume(remove < n)
    units = {"n_labeled": labeled, "n_unlabeled": unlabeled}
    if grouped:  # rows do not count then
        units = {"n_labeled": 999, "n_groups": labeled, "n_groups_unlabeled": unlabeled}
    compares = "losses" if losses else "predictions"
    trial = {"remove": remove, "replace": replace, "points": points, "compares": compares}
    found = design(n=n, **units, **trial, max_trials=cap)
    own = n + remove * replace
    held, spare = 0, 0 if losses else unlabeled
    while (held + 1) * own <= labeled and (held + 1) * (own + points) <= labeled + spare:
        held += 1
    assert found.n_trials == (held if cap is None else min(held, cap))
    assert found.kappa == min(Fraction(labeled, own), Fraction(labeled + spare, own + points))
    assert (found.unit == "group") == grouped


@pytest.mark.parametrize(
    ("settings", "fits", "shape"),
    [
        ({}, 2, (1, 1)),
        ({"removals": 5, "points": 3}, 10, (5, 3)),
        ({"removals": 5, "points": 3, "one_full_fit": True}, 6, (5, 3)),
        ({"removals": 5, "position": "uniform"}, 6, (5, 1)),
        ({"removals": 5, "points": 3, "given_up": ("points",)}, 10, (5, 1)),
        ({"removals": 5, "points": 3, "given_up": ("removals",)}, 2, (1, 3)),
        ({"points": 50, "compares": "decisions"}, 2, (1, 1)),
    ],
)
def test_fits_and_shape_follow_what_is_left_and_trials_what_was_planned(settings, fits, shape):
    found = design(n_unlabeled=1000, **settings)
    assert (found.fits(7), found.shape) == (7 * fits, shape)
    assert found.n_trials == (3 if found.points < 1000 else 1)
    planned = {name: settings[name] for name in settings if name != "given_up"}
    asked = Question(1.0, 0.1)
    assert law_for(found, asked) is law_for(design(n_unlabeled=1000, **planned), asked)


@pytest.mark.parametrize(
    ("settings", "exponent"),
    [
        ({}, KAPPA),
        ({"coupling": "independent"}, KAPPA),
        ({"n_classes": 2}, FEATURES),
        ({"set_aside": 20}, (LABELED + 20) / N),  # others could use them too
        ({"max_trials": 1}, KAPPA),
        ({"remove": 3}, KAPPA),
        ({"n_groups": 60, "n_groups_unlabeled": 30}, KAPPA),
        ({"n_groups": 40, "n_groups_unlabeled": 30}, 2),
        ({"replace": True}, min(LABELED / (N + 1), (LABELED + EXTRA) / (N + 2))),
        ({"replace": True, "n_classes": 2}, (LABELED + EXTRA) / (N + 2)),
        ({"position": "uniform", "order_free": True}, KAPPA),
        ({"compares": "losses", "distance": "change of squared loss"}, KAPPA),
        ({"compares": "losses", "distance": "change of absolute loss"}, KAPPA),
        ({"distance": "label"}, LARGE),
        ({"distance": "label", "n_classes": 5}, LARGE),
        ({"distance": "total_variation", "n_classes": 3}, FEATURES),
        ({"distance": "total_variation"}, LARGE),
        ({"distance": "total_variation", "n_classes": 3, "coupling": "independent"}, LARGE),
        ({"distance": "total_variation", "n_classes": 4, "epsilon": 0.74}, FEATURES),
        ({"distance": "total_variation", "n_classes": 4, "epsilon": 0.75}, LARGE),
        ({"distance": "total_variation", "n_classes": 2, "epsilon": 0.5}, LARGE),
        # nothing is claimed where nothing is proved
        ({"distance": "my own"}, None),
        ({"distance": "absolute (own)"}, None),
        ({"distance": "euclidean of probabilities"}, None),
        ({"distance": "label", "epsilon": 1.0}, None),  # no two labels are further apart
        ({"distance": "total_variation", "epsilon": 1.0, "n_classes": 2}, None),
        ({"distance": "label", "remove": 2}, None),
        ({"distance": "total_variation", "n_groups": 60}, None),
        ({"distance": "label", "replace": True}, None),
        ({"replace": True, "remove": 2}, None),
        ({"replace": True, "n_groups": 60}, None),
        ({"position": "uniform"}, None),
        ({"compares": "decisions", "points": 5, "epsilon": None}, None),
        ({"compares": "losses", "distance": "change of zero_one loss"}, None),
        ({"compares": "losses", "distance": "change of squared loss", "remove": 2}, None),
        ({"compares": "losses", "distance": "change of squared loss", "replace": True}, None),
        ({"compares": "losses", "distance": "absolute"}, None),
        ({"from_rows": False}, None),
        ({"few_values": True}, None),
    ],
)
def test_the_exponent_that_is_proved(settings, exponent):
    settings = {"epsilon": 0.3, "n_unlabeled": EXTRA, **settings}
    epsilon = settings.pop("epsilon")
    expected = exponent and pytest.approx(ALPHA * (1 - DELTA) ** -exponent, rel=1e-12)
    assert design(**settings).ceiling(DELTA, ALPHA, epsilon) == expected


@pytest.mark.parametrize(
    ("settings", "question", "averages"),
    [
        ({}, {}, False),
        ({}, {"test": "averaged"}, True),
        ({"randomized": True}, {}, False),
        ({"points": 20}, {}, True),  # 41 trials are 1.4 · 29
        ({"points": 20}, {"test": "binomial"}, False),
        ({"points": 20, "max_trials": 40}, {}, False),
        ({"points": 20, "max_trials": 40}, {"delta": 0.2}, True),
        ({"points": 20, "max_trials": 40, "randomized": True}, {}, True),
        ({"removals": 2}, {"delta": 0.0}, False),
        ({"removals": 2, "randomized": True}, {"delta": 0.0}, False),
        ({"removals": 2, "given_up": ("removals",)}, {}, True),
        ({"compares": "decisions", "max_trials": 1}, {}, True),
    ],
)
def test_the_test_is_chosen_before_looking(settings, question, averages):
    found = design(n_labeled=41 * N, n_unlabeled=41 * 20, **settings)
    law = law_for(found, Question(None, **{"delta": DELTA, "alpha": ALPHA, **question}))
    assert law.__name__.endswith("averaged") == averages


def test_wrong_numbers_are_named():
    for settings, argument in [
        ({"n": 1}, "n"),
        ({"n_labeled": -1}, "n_labeled"),
        ({"remove": N}, "remove"),
        ({"remove": 3, "removals": 7}, "removals_per_trial"),
        ({"max_trials": 0}, "max_trials"),
        ({"sd": 0.0}, "sd"),
        ({"seed": 2**63}, "seed"),
    ]:
        with pytest.raises(ArgumentError, match=argument) as caught:
            design(**settings)
        assert caught.value.argument == argument
    for question in [(-1.0, 0.1), (1.0, 1.0), (1.0, 0.1, 0.0), (1.0, 0.1, 0.05, "t")]:
        with pytest.raises(ArgumentError):
            Question(*question)
    with pytest.raises(ArgumentError, match="binomial"):
        law_for(design(compares="decisions"), Question(None, 0.1, test="binomial"))
    assert len(design(name="long " * 100).title) == 80
    assert design(algorithm="a\x1b[2J\nb").title == "a\\x1b[2J b"


def test_an_allowed_change_is_a_number_a_share_or_left_out():
    read = [read_epsilon(each) for each in (None, 2, "0.5", " 5 % of sd ", "29% of sd")]
    assert read == [None, 2.0, 0.5, Relative(0.05), Relative(0.29)]
    for wrong in ("5% of spread", "x", "-1", "nan", "0% of sd", "inf", True, -1):
        with pytest.raises(ArgumentError, match="epsilon"):
            read_epsilon(wrong)
    for settings in ({"distance": "label"}, {"compares": "decisions", "distance": "ranking"}):
        assert allowed_change(None, design(**settings)) is None
        with pytest.raises(ArgumentError, match="left out"):
            allowed_change(0, design(**settings))
    with pytest.raises(ArgumentError, match="missing"):
        allowed_change(None, design())


@given(
    n=st.integers(2, 40),
    labeled=st.integers(2, 400),
    unlabeled=st.sampled_from([0, 0, 30]),
    least=st.integers(1, 60),
)
def test_hints_name_the_largest_n_and_the_fewest_rows_that_hold_enough_trials(
    n, labeled, unlabeled, least
):
    """Where the points of a trial are spare ones, more trials need only one each."""
    bare = Design(algorithm="a", n=n, n_labeled=max(labeled, n), n_unlabeled=unlabeled)
    design = replace(bare, points=min(20, bare.spare_points))
    assert design.n_trials == bare.n_trials

    def holds(size, rows):
        return replace(bare, n=size, n_labeled=rows).n_trials >= least

    reach = design.size_for(least)
    assert reach == max((k for k in range(2, 402) if holds(k, design.n_labeled)), default=0)
    needed = design.rows_for(least)
    assert holds(n, needed)
    assert not holds(n, needed - 1) or needed <= n


def test_points_of_a_decision_are_not_spared_for_more_trials():
    settings = {"n": 10, "points": 20, "compares": "decisions", "distance": "d"}
    found = design(**settings)
    assert found.spare_points == 20  # which others could go without
    assert design(**{**settings, "n_labeled": found.rows_for(29)}).n_trials == 29
