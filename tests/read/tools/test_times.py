"""Moments in the layouts of many locales."""

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctord.read.clock import Clock
from doctord.read.moments import ZONE_ASSUMED
from doctord.read.source import ReadOptions, SourceFile, opened
from doctord.read.tools.times import TIME_OF_DAY, moment_in, time_in, zone_of

MOMENTS = st.datetimes(datetime(1990, 1, 1), datetime(2068, 12, 31)).map(lambda m: m.replace(microsecond=0))  # noqa: DTZ001


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> SourceFile:
    file: Path = tmp_path_factory.mktemp("times") / "file"
    file.write_text("x")
    with opened(file) as opened_source:
        return opened_source


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("11/20/26 22:58:18", "2026-11-20T22:58:18"),
        ("11/30/2021 03:16:15 PM", "2021-11-30T15:16:15"),
        ("11/30/2021 12:16:15 AM", "2021-11-30T00:16:15"),
        ("30.11.2021 15:16:15", "2021-11-30T15:16:15"),
        ("2021-11-30T15:16:15+0200", "2021-11-30T13:16:15"),
        ("2021-11-30 15:16:15", "2021-11-30T15:16:15"),
        ("Thu Jan  5 10:00:00 PST 2012", "2012-01-05T18:00:00"),
        ("Thu Jan  5 10:00:00 2012", "2012-01-05T10:00:00"),
        ("Tue 17 Jan 2012 10:00:00 AM CET", None),
        ("Thursday, January 5, 2012 10:00:00 AM CET", "2012-01-05T09:00:00"),
        ("1325786400", "2012-01-05T18:00:00"),
    ],
)
def test_a_line_that_is_a_moment(text: str, moment: str | None, source: SourceFile) -> None:
    found = moment_in(text, source)
    assert found == (None if moment is None else datetime.fromisoformat(moment).replace(tzinfo=UTC))


@pytest.mark.parametrize(
    "text", ["", "sda 1.0 2.0", "11/20/26 25:58:18", "99/99/9999 10:00:00", "Foo Bar 5 10:00:00 2012"]
)
def test_a_line_that_is_none(text: str, source: SourceFile) -> None:
    assert moment_in(text, source) is None


@given(moment=MOMENTS, layout=st.sampled_from(["%Y-%m-%d %H:%M:%S", "%m/%d/%y %I:%M:%S %p", "%a %b %d %H:%M:%S %Y"]))
def test_what_strftime_prints_is_read_back(source: SourceFile, moment: datetime, layout: str) -> None:
    assert moment_in(moment.strftime(layout), source) == moment.replace(tzinfo=UTC)


@given(st.text(max_size=40))
def test_anything_may_stand_there(source: SourceFile, text: str) -> None:
    moment_in(text, source)


def test_the_zone_is_the_texts_else_the_users_else_utc_which_is_said(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("x")
    with opened(file, ReadOptions(zone=ZoneInfo("Europe/Paris"))) as told:
        assert moment_in("2021-07-01 12:00:00", told) == datetime(2021, 7, 1, 10, tzinfo=UTC)
        assert moment_in("2021-07-01 12:00:00", told, "PDT") == datetime(2021, 7, 1, 19, tzinfo=UTC)
        assert told.notes == []
    with opened(file) as untold:
        moment_in("2021-07-01 12:00:00", untold)
        assert untold.notes == [ZONE_ASSUMED]


@given(
    hours=st.integers(0, 14),
    minutes=st.sampled_from([0, 30, 45]),
    sign=st.sampled_from("+-"),
    colon=st.sampled_from(["", ":"]),
)
def test_offsets(hours: int, minutes: int, sign: str, colon: str) -> None:
    away = timedelta(hours=hours, minutes=minutes)
    assert zone_of(f"{sign}{hours:02}{colon}{minutes:02}") == timezone(away if sign == "+" else -away)


def test_abbreviations_with_several_meanings_tell_nothing() -> None:
    assert zone_of("IST") is None
    assert zone_of(None) is None


def test_no_time_of_day_has_no_moment(source: SourceFile) -> None:
    found = TIME_OF_DAY.match("24:00:00")
    assert found is not None
    assert time_in(Clock(source), found, source) is None
