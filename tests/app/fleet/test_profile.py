"""The profile of many hosts."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from doctord.app.capacity.profile import Asked
from doctord.app.fleet.hosts import Chosen, hosts_of
from doctord.app.fleet.profile import FleetProfile, profile_fleet
from doctord.dataset.dataset import Dataset
from doctord.lake.imports import keep
from doctord.report.fleet import profile as words
from heard import Heard
from here import Here

AT = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
SIZE = 2**40


def used(host: str, now: float, before: float, days: int = 40, at: datetime = AT) -> Dataset:
    """A file system that was so full for weeks, as a share of it, and is another for the last ten days."""
    moments = [timedelta(hours=6 * step) for step in range(days * 4)]
    shares = [now if back < timedelta(days=10) else before for back in moments]
    rows = [
        {"ts": at - back, "interval_s": None, "host": host, "mount": "/data", "size_bytes": SIZE,
         "used_bytes": int(SIZE * share), "available_bytes": int(SIZE * (1 - share))}
        for back, share in zip(moments, shares, strict=True)
    ]  # fmt: skip
    return Dataset.from_rows(filesystem=rows)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> FleetProfile:
    folder = tmp_path_factory.mktemp("fleet")
    for name, now, before in (("a", 0.95, 0.60), ("b", 0.50, 0.40), ("c", 0.30, 0.30)):
        keep(folder / name, used(name, now, before).tables)
    (folder / "mute" / "sealed" / "cpu").mkdir(parents=True)
    hosts = hosts_of(str(folder), Chosen(), None, Heard())
    asked = Asked(at=None, figures=None, thresholds=None, busy_hour=False)
    return profile_fleet(str(folder), hosts, asked, Here(), Heard())


def test_who_is_beyond_a_limit(found: FleetProfile) -> None:
    assert {(host.name, one.labels.entity, one.threshold) for host, one in found.violated} == {
        ("a", "/data", "file system nearly full")
    }
    assert found.healthy is False
    assert [host.name for host, _ in found.failed] == ["mute"]


def test_each_figure_over_all_hosts(found: FleetProfile) -> None:
    full = next(one for one in found.figures if one.title == "file system full")
    assert found.figures[0].violated == ("a",)
    assert (full.hosts, full.lowest[0], full.highest[0]) == (3, "c", "a")
    assert (full.values[0], full.values[30], full.values[90]) == (pytest.approx(50.0), pytest.approx(40.0), None)


def test_a_host_without_figures_is_no_clean_bill(found: FleetProfile) -> None:
    without_a = FleetProfile(found.place, tuple(one for one in found.hosts if one[0].name != "a"), found.failed)
    assert without_a.healthy is None
    assert FleetProfile(found.place, without_a.hosts, ()).healthy is True


def test_a_host_that_records_no_more_is_told_of(tmp_path: Path) -> None:
    for name, at in (("new", AT), ("old", AT - timedelta(days=12))):
        keep(tmp_path / name, used(name, 0.5, 0.5, at=at).tables)
    hosts = hosts_of(str(tmp_path), Chosen(), None, Heard())
    asked = Asked(at=None, figures=None, thresholds=None, busy_hour=False)
    told = words.render(profile_fleet(str(tmp_path), hosts, asked, Here(), Heard()))
    assert "old  its last row is of 2026-11-08 12:00 UTC" in told.split("OF AN EARLIER DAY")[1]


def test_what_is_told_of_it(found: FleetProfile) -> None:
    told = words.render(found)
    assert told.startswith("1 of 4 hosts is beyond a limit today")
    assert "a  file system full (/data): 95 %, limit 90 %, 60 % 30 days ago" in told
    assert "mute  " in told.split("NOTHING TO SHOW")[1]
    assert max(map(len, told.splitlines())) <= 80
    document = words.document(found)
    assert document["figures"][0]["median_days_ago"]["0"] == pytest.approx(50.0)
    assert [one["host"] for one in document["hosts"]] == ["a", "b", "c"]
