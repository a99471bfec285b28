"""Times of two zones are recognised by figures that both have, or by both ends."""

from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import pytest

from doctord.analyse.clocks import ahead_s
from doctord.dataset.dataset import Dataset

START = datetime(2026, 11, 20, 22, 58, 18, tzinfo=UTC)


def host(ahead_s: float = 0.0, *, seconds: int = 60, step: int = 1, seed: int = 1, start: datetime = START) -> Dataset:
    """Idle time and free memory that vary, every so many seconds."""
    chance = Random(seed)  # noqa: S311
    rows = list[dict[str, Any]]()
    for at in range(step, seconds + step, step):
        moment = start + timedelta(seconds=at + ahead_s)
        rows.append({"ts": moment, "interval_s": float(step), "host": "vm", "idle_pct": chance.uniform(0, 100)})
    return Dataset.from_rows(cpu=rows)


def processes(ahead_s: float = 0.0, *, seconds: float = 60.0, start: datetime = START) -> Dataset:
    """What has no figure in common with it."""
    ends = (start + timedelta(seconds=at + ahead_s) for at in (1.0, seconds))
    return Dataset.from_rows(process=[{"ts": at, "interval_s": 1.0, "host": "vm", "pid": 1} for at in ends])


@pytest.mark.parametrize("ahead", [7200, -10_800, 19_800, 20_700, 14 * 3600, -12 * 3600])
@pytest.mark.parametrize("local", [host, processes])
def test_whole_quarter_hours_are_recognised(local: Any, ahead: int) -> None:
    assert ahead_s(host(), local(ahead)) == ahead


@pytest.mark.parametrize(
    "local",
    [
        host(),  # the same zone
        host(0.4),
        host(7200, seed=2),  # another time of the same host, or another host
        host(7500),  # no quarter of an hour
        host(16 * 3600),  # no zone
        host(7200, seconds=30),  # too little to tell
        processes(),
        processes(7210),
        processes(7200, seconds=50),  # another end
        Dataset(),
    ],
)
def test_what_is_of_no_other_zone_is_left_alone(local: Dataset) -> None:
    assert ahead_s(host(), local) is None


def test_what_cron_begins_is_alike_every_hour() -> None:
    full_hour = START.replace(minute=0, second=0)
    assert ahead_s(host(start=full_hour), processes(3600, start=full_hour)) is None
    assert ahead_s(host(start=full_hour), host(3600, start=full_hour)) == 3600


def test_a_day_in_ten_minutes() -> None:
    assert ahead_s(host(seconds=86_400, step=600), host(3600, seconds=86_400, step=600)) == 3600


def test_a_short_run_within_a_long_one() -> None:
    day = host(seconds=43_200)
    part = day.between(START + timedelta(hours=5), START + timedelta(hours=5, minutes=20))
    frame = part.frame("cpu")
    later = part.replaced({"cpu": frame.with_columns(frame["ts"] + timedelta(hours=2)).to_arrow()})
    assert ahead_s(day, later) == 7200
