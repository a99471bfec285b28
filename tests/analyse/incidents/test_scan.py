import numpy as np
import pytest

from doctord.analyse.incidents.figures import Figures, figures_of
from doctord.analyse.incidents.scan import bad_intervals
from doctord.dataset.dataset import Dataset
from incident_recordings import BEGIN, END, dataset, moment


def figures(**given: object) -> Figures:
    found = figures_of(dataset(**given))
    assert found
    return found


def overlap(found: tuple[int, int], wanted: tuple[int, int] = (BEGIN, END)) -> float:
    both = max(0, min(found[1], wanted[1]) - max(found[0], wanted[0]))
    return both / (found[1] - found[0] + wanted[1] - wanted[0] - both)


@pytest.mark.parametrize("event", ["tuple", "disk"])
def test_an_incident_is_found_without_being_told(event: str) -> None:
    (found,) = bad_intervals(figures(event=event))
    assert overlap((found.begin, found.end)) >= 0.9
    assert found.times == pytest.approx(9, abs=1.5)
    assert abs((found.since - moment(BEGIN)).total_seconds()) <= 4


def test_an_outage_is_the_worst() -> None:
    (found,) = bad_intervals(figures(ill_commits=0.0))
    assert overlap((found.begin, found.end)) >= 0.9
    assert found.times is None


def test_one_that_lasts_to_the_end_is_found() -> None:
    (found,) = bad_intervals(figures(begin=150, end=200))
    assert overlap((found.begin, found.end), (150, 200)) >= 0.9


@pytest.mark.parametrize("seed", range(12))
def test_nothing_stands_out_where_it_is_as_good_throughout(seed: int) -> None:
    assert bad_intervals(figures(event=None, seed=seed)) == []


def test_twice_the_load_is_no_incident() -> None:
    begin, end = 80, 120
    quiet = dataset(event=None, seconds=begin)
    busy = dataset(event=None, commits=200.0, seconds=200, seed=2).between(moment(begin), moment(end))
    after = dataset(event=None, seconds=200, seed=3).between(moment(end), moment(200))
    found = figures_of(Dataset.joined([quiet, busy, after]))
    assert found
    assert bad_intervals(found) == []


def test_two_incidents_are_two() -> None:
    first = dataset(begin=40, end=60).between(moment(0), moment(100))
    second = dataset(event="disk", begin=150, end=180).between(moment(100), moment(200))
    found = figures_of(Dataset.joined([first, second]))
    assert found
    both = sorted((one.begin, one.end) for one in bad_intervals(found))
    assert len(both) == 2
    assert overlap(both[0], (40, 60)) >= 0.8
    assert overlap(both[1], (150, 180)) >= 0.8


def test_less_than_a_minute_has_none() -> None:
    assert bad_intervals(figures(seconds=50, begin=20, end=30)) == []


def test_figures_that_are_constant_or_unknown_do_no_harm() -> None:
    told = figures()
    still = np.column_stack([told.values, np.full(told.steps, 7.0), np.full(told.steps, np.nan)])
    names = (*told.names, "constant", "unknown")
    wider = Figures(
        names,
        told.since_s,
        told.step_s,
        still,
        np.append(told.is_cost, [True, True]),
        told.suffers,
        told.spent_s,
        told.done,
    )
    assert [(one.begin, one.end) for one in bad_intervals(wider)] == [
        (one.begin, one.end) for one in bad_intervals(told)
    ]
