"""Zones of logs by their abbreviations."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from doctord.dataset.rows import micros
from doctord.read.source import ReadOptions, SourceFile
from doctord.read.zones import placing


def placed(name: str, local: str, zone: str | None = None) -> tuple[str, list[str]]:
    source = SourceFile("log", "", None, ReadOptions(zone=ZoneInfo(zone) if zone else None))  # type: ignore[arg-type]
    local_us = micros(datetime.fromisoformat(local).replace(tzinfo=UTC))
    moment = datetime.fromtimestamp(placing(source)(name, local_us) / 1e6, UTC)
    return f"{moment:%Y-%m-%d %H:%M}", source.notes


@pytest.mark.parametrize(
    ("name", "utc"),
    [("UTC", "2026-07-01 12:00"), ("GMT", "2026-07-01 12:00"), ("+02", "2026-07-01 10:00"),
     ("-0330", "2026-07-01 15:30"), ("+05:30", "2026-07-01 06:30")],
)  # fmt: skip
def test_what_is_said_is_taken(name: str, utc: str) -> None:
    assert placed(name, "2026-07-01 12:00", "Europe/Paris") == (utc, [])


def test_an_abbreviation_needs_a_zone() -> None:
    moment, notes = placed("CST", "2026-01-01 12:00")
    assert moment == "2026-01-01 12:00"
    assert "CST" in notes[0]
    assert "--zone" in notes[0]
    assert placed("CST", "2026-01-01 12:00", "America/Chicago") == ("2026-01-01 18:00", [])
    assert placed("CST", "2026-01-01 12:00", "Asia/Shanghai") == ("2026-01-01 04:00", [])


def test_no_zone_at_all_is_said() -> None:
    assert placed("", "2026-01-01 12:00")[1]
    assert placed("", "2026-07-01 12:00", "Europe/Paris") == ("2026-07-01 10:00", [])


def test_the_abbreviation_tells_in_the_hour_that_comes_twice() -> None:
    assert placed("CEST", "2026-10-25 02:30", "Europe/Paris")[0] == "2026-10-25 00:30"
    assert placed("CET", "2026-10-25 02:30", "Europe/Paris")[0] == "2026-10-25 01:30"


def test_a_moment_beyond_the_calendar_stays_where_it_is() -> None:
    source = SourceFile("log", "", None, ReadOptions(zone=ZoneInfo("Europe/Paris")))  # type: ignore[arg-type]
    assert placing(source)("CET", -(1 << 60)) == -(1 << 60)
