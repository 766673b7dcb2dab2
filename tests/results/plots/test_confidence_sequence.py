"""The picture of a growing record: its limits, δ, the calls, and where it was decided."""

from __future__ import annotations

import numpy as np

from poise.results.design import Design
from poise.results.monitor_status import MonitorStatus

DESIGN = Design("Ridge()", n=20, n_labeled=1260)


def _drawn(status: MonitorStatus) -> dict[str, tuple[list[float], list[float]]]:
    (axes,) = status.plot().axes
    lines = {str(line.get_label()): line for line in axes.lines}
    return {
        name: tuple(np.asarray(values).tolist() for values in line.get_data())
        for name, line in lines.items()
    }


def test_it_draws_the_limits_and_the_verdict() -> None:
    shares = (0.0, 0.1) * 40
    status = MonitorStatus(DESIGN, 0.5, 0.2, 0.05, shares, shares, looks=(30, 80))
    drawn, limits = _drawn(status), status.confidence_sequence
    assert drawn["upper limit"] == (limits.trials.tolist(), limits.upper.tolist())
    assert drawn["lower limit"] == (limits.trials.tolist(), limits.lower.tolist())
    assert drawn["δ = 0.2"][1] == [0.2, 0.2]
    assert drawn["calls"][0] == [30, 80]
    assert drawn[f"stable after {status.decided_at}"][0] == [status.decided_at] * 2


def test_an_empty_record_and_a_later_epoch() -> None:
    figure = MonitorStatus(DESIGN, 0.5, 0.2, 0.05, epoch=3).plot()
    assert "epoch 3" in figure.get_suptitle()
    assert not any("after" in str(line.get_label()) for line in figure.axes[0].lines)
