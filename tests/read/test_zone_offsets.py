from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctord.read.zone_offsets import FIRST_S, LAST_S, offsets

ZONES = (
    ZoneInfo("Europe/Paris"),
    ZoneInfo("America/Caracas"),  # half an hour, in 2007 and back in 2016
    ZoneInfo("Africa/Casablanca"),  # sets its clocks back for a month
    ZoneInfo("Australia/Lord_Howe"),
    ZoneInfo("Pacific/Apia"),  # left out a day in 2011
)


@given(st.sampled_from(ZONES), st.integers(FIRST_S, LAST_S - 7 * 86_400))
def test_the_last_offset_before_a_moment_is_that_of_the_moment(zone: tzinfo, moment_s: int) -> None:
    held = [offset_s for since_s, offset_s in offsets(zone) if since_s <= moment_s]
    assert timedelta(seconds=held[-1]) == datetime.fromtimestamp(moment_s, zone).utcoffset()


@pytest.mark.parametrize("zone", ZONES)
def test_offsets_change_where_the_zone_does(zone: tzinfo) -> None:
    known = offsets(zone)
    assert len(known) > 2
    for since_s, offset_s in known[1:]:
        around = [datetime.fromtimestamp(since_s + second, zone).utcoffset() for second in (-1, 0)]
        assert around[0] != around[1] == timedelta(seconds=offset_s)


def test_zones_that_never_change() -> None:
    assert offsets(timezone(timedelta(hours=-3, minutes=-30))) == ((0, -12_600),)
    assert offsets(UTC) == ((0, 0),)
