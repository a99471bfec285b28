"""When it was bad: minutes of a recording in which sessions piled up or transactions stopped."""

from datetime import UTC, datetime, timedelta

import pytest

from doctord.analyse.bad_times import bad_times
from doctord.dataset.dataset import Dataset

START = datetime(2026, 11, 20, 22, 0, tzinfo=UTC)
DB = "postgresql:5432"


def minute(number: int) -> datetime:
    return START + timedelta(minutes=number)


def recorded(active: list[int], commits: list[float] | None = None, db: str = DB) -> Dataset:
    """Of each minute so many sessions at work, and so many commits a second."""
    sessions = [
        {"ts": minute(at + 1), "interval_s": 60.0, "host": "a", "db": db, "sid": sid, "kind": "client",
         "state": "active", "wait_class": "CPU", "event": "CPU"}
        for at, count in enumerate(active) for sid in range(count)
    ]  # fmt: skip
    cpu = [{"ts": minute(at + 1), "interval_s": 60.0, "host": "a", "idle_pct": 50.0} for at in range(len(active))]
    statistic = [
        {"ts": minute(at + 1), "interval_s": 60.0, "host": "a", "db": db, "component": "postgresql",
         "name": "pg_stat_database.xact_commit", "entity": "shop", "value": value}
        for at, value in enumerate(commits or [])
    ]  # fmt: skip
    return Dataset.from_rows(session=sessions, cpu=cpu, statistic=statistic)


def told(dataset: Dataset) -> list[tuple[float, float]]:
    """The bad times, in minutes from the start."""
    return [((one.since - START) / timedelta(minutes=1), (one.until - START) / timedelta(minutes=1))
            for one in bad_times(dataset)]  # fmt: skip


def test_minutes_in_which_sessions_piled_up() -> None:
    assert told(recorded([1] * 30 + [9] * 5 + [1] * 30)) == [(30, 35)]


def test_a_minute_of_relief_does_not_part_them() -> None:
    assert told(recorded([1] * 30 + [9, 9, 1, 9] + [1] * 30)) == [(30, 34)]


def test_minutes_in_which_nothing_was_committed_though_nobody_was_at_work() -> None:
    commits = [50.0] * 30 + [0.0] * 4 + [50.0] * 30
    assert told(recorded([1] * 30 + [0] * 4 + [1] * 30, commits)) == [(30, 34)]


def test_sessions_that_pile_up_while_nothing_is_committed_are_one_time() -> None:
    commits = [50.0] * 31 + [0.0] * 5 + [50.0] * 29
    assert told(recorded([1] * 30 + [9] * 5 + [1] * 30, commits)) == [(30, 36)]


@pytest.mark.parametrize(
    "active",
    [
        [1] * 65,
        [9] * 65,
        [1] * 30 + [2] * 5 + [1] * 30,  # one more
        [1] * 30 + [9] + [1] * 30,  # a minute
        [1] * 8 + [9] * 3 + [1] * 8,  # too short to know what is usual
        [1, 9] * 32,  # all the time
        [1] * 30 + [9] * 30,  # half of the time: the whole tells it
        [*range(1, 12), *range(12, 1, -1)] * 3,  # it comes and goes
    ],
)
def test_what_is_usual_or_short_is_no_bad_time(active: list[int]) -> None:
    assert told(recorded(active)) == []


def test_the_three_worst_are_told_in_their_order() -> None:
    quiet = [1] * 30
    assert told(recorded([*quiet, 9, 9, *quiet, 5, 5, *quiet, 9, 9, *quiet, 7, 7, *quiet])) == [
        (30, 32), (94, 96), (126, 128),
    ]  # fmt: skip


def test_a_small_servers_bad_time_is_not_hidden_by_a_large_one() -> None:
    small, large = recorded([1] * 30 + [6] * 5 + [1] * 30), recorded([40, 48] * 32 + [40], db="postgresql:5433")
    (bad,) = bad_times(Dataset.joined([small, large]))
    assert (bad.db, bad.since) == (DB, minute(30))


def test_sessions_that_were_looked_at_for_half_an_hour_are_no_bad_time_of_the_day() -> None:
    """The rest of the day is not without sessions: nobody looked."""
    host = recorded([0] * 600)
    looked = recorded([0] * 300 + [6, 7] * 15 + [0] * 270)
    assert told(Dataset.joined([host, looked])) == []


def test_where_a_collector_looked_minutes_without_a_session_count() -> None:
    looked = [
        {"ts": minute(at + 1), "interval_s": 60.0, "host": "a", "db": DB, "wait_class": "CPU", "event": "CPU",
         "average_active_sessions": 0.0}
        for at in range(60)
    ]  # fmt: skip
    both = Dataset.joined([recorded([0] * 30 + [6] * 5 + [0] * 25), Dataset.from_rows(wait=looked)])
    assert told(both) == [(30, 35)]


def test_without_samples_of_sessions_nothing_is_told() -> None:
    assert bad_times(Dataset()) == []
