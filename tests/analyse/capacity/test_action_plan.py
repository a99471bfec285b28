"""The order of what is to be done, and by when."""

from datetime import timedelta

from doctord.analyse.capacity.action_plan import ORDER, Entry
from doctord.analyse.capacity.series import DAY_S
from histories import history
from report.capacity_examples import READS, REDO, SPACE, agenda_of, days, host, tablespaces

FOUND = agenda_of(host())
BY_NAME = {(entry.item.series.figure.name, entry.item.series.labels.entity): entry for entry in FOUND.entries}


def of(figure: str, entity: str) -> Entry:
    return BY_NAME[figure, entity]


def test_what_is_violated_comes_first_then_by_date() -> None:
    verdicts = [ORDER.index(entry.verdict) for entry in FOUND.entries]
    dates = [entry.item.when.date for entry in FOUND.entries if entry.verdict == "date"]
    assert verdicts == sorted(verdicts)
    assert len(dates) == 3
    assert dates == sorted(date for date in dates if date)


def test_what_stops_work_comes_before_what_slows_it() -> None:
    stops = [entry.severity.stops for entry in FOUND.entries if entry.verdict == "violated"]
    assert stops == [True, False]


def test_within_a_week_damage_outweighs_a_day() -> None:
    at = range(240)
    slow = days([6 + 4 * step / 241.5 for step in at], "wait_ms", host()[9].labels)
    full = days([60e9 - 58e9 * step / 244.5 for step in at], "space_left_bytes", host()[1].labels)
    first, second = agenda_of([slow, full], [READS, SPACE]).entries
    assert first.item.when.date is not None
    assert second.item.when.date is not None
    assert (first.item.series, second.item.series) == (full, slow)
    assert first.item.when.date > second.item.when.date


def test_a_plan_begins_its_lead_time_before_the_date() -> None:
    users = of("space_left_bytes", "users")
    date = users.item.when.date
    assert date is not None
    assert users.begin_by == date - timedelta(days=7)
    assert users.careful == (users.item.when.earliest or date) - timedelta(days=7)
    assert not users.is_late


def test_a_plan_that_takes_longer_than_is_left_is_late() -> None:
    late = [entry for entry in agenda_of(tablespaces(20)).entries if entry.verdict == "date" and entry.is_late]
    assert all(entry.begin_by is not None and FOUND.now is not None and entry.begin_by <= FOUND.now for entry in late)
    assert late


def test_since_when_it_is_violated() -> None:
    full = of("filesystem_used_pct", "/u02")
    assert full.since is not None
    assert FOUND.now is not None
    assert 90 < (FOUND.now - full.since).days < 110


def test_what_is_violated_is_said_even_if_nothing_can_be_told_of_its_future() -> None:
    (entry,) = agenda_of([days([1.5e9, 1.4e9, 1.3e9], "space_left_bytes", host()[1].labels)], [SPACE]).entries
    assert (entry.item.forecast.model, entry.verdict) == ("", "violated")
    assert entry.since == entry.item.series.at(-1)


def test_what_is_not_measured_any_more_has_no_date() -> None:
    assert of("filesystem_used_pct", "/backup").verdict == "not measured any more"
    assert of("filesystem_used_pct", "/").verdict == "not within the horizon"


def test_thresholds_without_figures_and_figures_without_thresholds() -> None:
    assert REDO in FOUND.never
    assert {series.figure.name for series in FOUND.unlimited} == {"wait_s_per_s", "executions_per_s"}


def test_now_is_the_newest_hour_and_not_the_end_of_a_day_that_has_begun() -> None:
    hours = history([1.0] * 30, "wait_ms")
    found = agenda_of([hours, history([1.0, 1.0], "space_left_bytes", step_s=DAY_S)])
    assert found.now == hours.end


def test_nothing_measured() -> None:
    found = agenda_of([])
    assert (found.now, found.entries, len(found.never) > 3) == (None, (), True)
