"""Growth by steps."""

import numpy as np
import pytest

from doctord.analyse.capacity.forecast.step_growth import step_growth_of
from doctord.analyse.capacity.series import DAY_S, Numbers

AT = np.arange(240)
NOISE = np.random.default_rng(8).standard_normal(240)
EVERY_MONTH = 100 + 20.0 * (AT // 30)


def test_size_and_time_between_the_steps_are_found() -> None:
    step_growth = step_growth_of(EVERY_MONTH + NOISE)
    assert step_growth is not None
    assert step_growth.places == tuple(range(30, 240, 30))
    assert abs(step_growth.sizes.mean() - 20) < 1
    assert step_growth.note(200.0, DAY_S).startswith("it moves by steps: 7 of +9.96 % of its usual level")
    assert step_growth.note(200.0, DAY_S).endswith("30 days apart, give or take 0")


def test_the_next_steps_come_when_they_are_due() -> None:
    step_growth = step_growth_of(EVERY_MONTH)
    assert step_growth is not None
    assert np.flatnonzero(np.diff(step_growth.ahead(90)) > 10).tolist() == [29, 59]
    assert step_growth.ahead(90)[[0, 29, 30, 89]].round(6).tolist() == [20.0, 20.0, 40.0, 60.0]


def test_a_step_that_is_late_is_due_at_once() -> None:
    step_growth = step_growth_of(np.concatenate([EVERY_MONTH[:210], np.full(45, EVERY_MONTH[209])]))
    assert step_growth is not None
    assert step_growth.ahead(60)[[0, 29, 30]].round(6).tolist() == [20.0, 20.0, 40.0]


def test_steps_that_vary_may_come_sooner_and_be_larger_or_the_opposite() -> None:
    places, sizes = np.array([25, 57, 84, 118, 146, 180, 207]), np.array([18.0, 22, 21, 17, 20, 24, 19])
    step_growth = step_growth_of(100 + sizes @ (AT[None, :] >= places[:, None]) + 0.5 * NOISE)
    assert step_growth is not None
    late, usual, soon = (step_growth.ahead(60, deviations) for deviations in (-2.0, 0.0, 2.0))
    assert (late <= usual).all()
    assert (usual <= soon).all()
    assert soon[-1] - late[-1] > 20


def test_of_a_long_history_the_newest_part_is_looked_at() -> None:
    step_growth = step_growth_of(np.concatenate([np.full(5000, 100.0), np.repeat(100 + 20.0 * np.arange(8), 250)]))
    assert step_growth is not None
    assert step_growth.places == tuple(range(5250, 7000, 250))
    assert step_growth.ahead(251)[[0, 249, 250]].round(6).tolist() == [20.0, 20.0, 40.0]


@pytest.mark.parametrize(
    "values",
    [
        100 + 0.5 * AT + NOISE,
        100 + NOISE,
        100 + np.cumsum(NOISE),
        100 + 50.0 * (AT >= 120) + NOISE,
        100 + 20 * np.sin(AT / 20) + NOISE,
        100 + 60 * (1 - np.exp(-AT / 60)) + NOISE,
    ],
)
def test_lines_walks_single_shifts_and_curves_are_no_stairs(values: Numbers) -> None:
    assert step_growth_of(values) is None
