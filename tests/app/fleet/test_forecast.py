from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from doctord.app.capacity.rules import own_rules
from doctord.app.fleet.forecast import Asked, FleetForecast, forecast_fleet
from doctord.app.fleet.hosts import Chosen, hosts_of
from doctord.dataset.dataset import Dataset
from doctord.lake.imports import keep
from doctord.report.fleet import forecast as words
from heard import Heard
from here import Here

AT = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
SIZE = 2**40
DAY_S = 86_400.0


def filling(host: str, full: float, a_day: float, days: int = 30) -> Dataset:
    """A file system that was so full in the end, as a share of it, and took so much of it each day."""
    moments = [timedelta(hours=6 * step) for step in range(days * 4)]
    shares = [full - a_day * back.total_seconds() / DAY_S for back in moments]
    rows = [
        {"ts": AT - back, "interval_s": None, "host": host, "mount": "/data", "size_bytes": SIZE,
         "used_bytes": int(SIZE * share), "available_bytes": int(SIZE * (1 - share))}
        for back, share in zip(moments, shares, strict=True)
    ]  # fmt: skip
    return Dataset.from_rows(filesystem=rows)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One that is full, two that fill up, one that stands still, one of a day alone, one that cannot be read."""
    folder = tmp_path_factory.mktemp("fleet")
    for name, full, a_day, days in (
        ("full", 0.95, 0.0, 30),
        ("slow", 0.60, 0.005, 30),
        ("quick", 0.80, 0.01, 30),
        ("still", 0.50, 0.0, 30),
        ("young", 0.50, 0.0, 1),
    ):
        keep(folder / name, filling(name, full, a_day, days).tables)
    (folder / "mute" / "sealed" / "cpu").mkdir(parents=True)
    return folder


@pytest.fixture(scope="module")
def found(place: Path) -> FleetForecast:
    hosts = hosts_of(str(place), Chosen(), None, Heard())
    return forecast_fleet(str(place), hosts, Asked(own_rules(), 90 * DAY_S), Here(), Heard())


def test_the_nearest_comes_first(found: FleetForecast) -> None:
    assert [(host.name, one.verdict) for host, one in found.ahead] == [
        ("full", "violated"), ("quick", "date"), ("slow", "date"),
    ]  # fmt: skip
    quick = found.ahead[1][1]
    assert quick.date is not None
    assert abs(quick.date - (AT + timedelta(days=10))) < timedelta(days=2)
    assert (quick.labels.entity, quick.limit, round(quick.newest)) == ("/data", 90.0, 80)
    assert found.healthy is False


def test_of_whom_nothing_can_be_told_is_no_clean_bill(found: FleetForecast) -> None:
    assert (found.untold, found.short) == (["mute"], ["young"])
    assert found.failed == ()
    still = FleetForecast(found.place, found.horizon_s, tuple(one for one in found.hosts if one[0].name == "still"), ())
    assert still.healthy is True
    both = FleetForecast(
        found.place, found.horizon_s, tuple(one for one in found.hosts if one[0].name in {"still", "mute"}), ()
    )
    assert both.healthy is None


def test_what_is_told_of_it(found: FleetForecast) -> None:
    told = words.render(found)
    assert "1 host has too short a history to look so far" in " ".join(told.split())
    assert told.startswith("1 of 6 hosts violates a threshold now; 2 hosts will, the first about 2026-1")
    assert "full  file system full (/data): 95 % now, limit 90 %" in told
    assert "mute  nothing was measured" in told.split("CANNOT BE TOLD")[1]
    document = words.document(found)
    assert [len(one["ahead"]) for one in document["hosts"]] == [1, 0, 1, 1, 0, 0]
    assert document["hosts"][0]["ahead"][0]["labels"] == {"db": None, "entity": "/data"}
