"""Which subject a map is drawn of, and which are listed."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from doctord.app.asked import ALL, Interval
from doctord.app.maps.recorded import Wanted, by_waits, recorded
from doctord.dataset.dataset import Dataset
from doctord.moments import TimeOfDay
from doctord.read.source import ReadOptions
from heard import Heard

NOW = datetime(2026, 11, 22, tzinfo=UTC)


def seen() -> Dataset:
    """A disk, a loop device, one in memory, and a wait of two servers."""
    about: dict[str, Any] = {"ts": NOW, "interval_s": 10.0, "host": "a"}
    disks = [
        about | {"device": device, "reads_per_s": 5.0, "read_ms": 2.0, "writes_per_s": 0.0}
        for device in ("vda", "loop3", "zram0")
    ]
    waits = [
        about | {"db": f"postgresql:{port}", "event": "WALSync", "waits_per_s": rate, "average_active_sessions": 0.1}
        for port, rate in ((5432, 3.0), (5433, 9.0))
    ]
    return Dataset.from_rows(disk=disks, wait=waits)


def test_loop_devices_and_those_in_memory_are_not_listed_and_can_be_named() -> None:
    assert {one.name for one in by_waits(seen())} == {"vda read", "vda write", "WALSync"}
    assert Wanted("loop3 read").map_of(seen()).subject == "loop3 read"


def test_who_names_nothing_is_not_asked_for_a_server() -> None:
    drawn = Wanted().map_of(seen())
    assert (drawn.subject, drawn.db) == ("WALSync", "postgresql:5433")


def test_who_names_a_disk_is_not_asked_for_a_server() -> None:
    assert Wanted("vda read").map_of(seen()).db is None


def test_a_folder_of_files_is_mapped_as_its_files_are(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("time,latency\n1,250\n2,300\n")
    alone, together = (
        recorded([place], ALL, ReadOptions(unit_us=1.0)).frame("latency") for place in (tmp_path / "a.csv", tmp_path)
    )
    assert alone.height == 2
    assert together.equals(alone)


def test_a_time_of_day_is_of_the_last_day_that_any_place_tells_of(tmp_path: Path) -> None:
    """Of a file and a lake drawn together the later one decides."""
    for name, day in (("a.csv", "2024-05-29"), ("b.csv", "2024-05-30")):
        (tmp_path / name).write_text(f"time,latency\n{day}T10:00:00Z,250\n{day}T11:00:00Z,300\n")
    heard = Heard()
    places = [tmp_path / "b.csv", tmp_path / "a.csv"]
    rows = recorded(places, Interval(TimeOfDay("10:30")), ReadOptions(unit_us=1.0), heard).frame("latency")
    assert [f"{ts:%F %H}" for ts in rows["ts"]] == ["2024-05-30 11"]
    assert "10:30: 2024-05-30 10:30:00 UTC is taken" in heard.notes[-1]
