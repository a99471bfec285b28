"""Files of one server and one time are joined, and nothing else."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from doctord.app.sources.groups import Group, groups, told
from doctord.dataset.dataset import Dataset
from doctord.read.gather import FileRead
from doctord.read.moments import ZONE_ASSUMED
from doctord.read.source import Lacks

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)


def sar(name: str, at: datetime = NOON, host: str | None = "db1", *, hours: float = 1.0, lacks: Lacks = "") -> FileRead:
    """Figures of a host over some hours that end at a moment."""
    row = {"ts": at, "interval_s": hours * 3600, "host": host, "idle_pct": 50.0}
    return file(name, lacks, cpu=[row])


def awr(name: str, at: datetime, host: str | None = "db1", db: str = "oracle:PROD") -> FileRead:
    """A report over an hour."""
    waits = {"ts": at, "interval_s": 3600.0, "host": host, "db": db, "event": "CPU", "average_active_sessions": 1.0}
    return file(name, wait=[waits])


def file(name: str, lacks: Lacks = "", **tables: list[dict[str, Any]]) -> FileRead:
    return FileRead(name, "any", dict(Dataset.from_rows(**tables).tables), lacks=lacks)


def names(found: Sequence[Group]) -> list[list[str]]:
    return sorted(sorted(held.file.name for held in group.files) for group in found)


@pytest.mark.parametrize(
    ("files", "together"),
    [
        ([sar("a"), sar("b", NOON + HOUR)], True),  # one after the other
        ([sar("a"), sar("b", NOON - HOUR / 2, "db1.example.com")], True),  # with its domain
        ([sar("a", hours=24), sar("b", NOON + 25 * HOUR)], True),  # no further apart than one is long
        ([sar("a"), sar("b", NOON + 3 * DAY)], False),
        ([sar("a"), sar("b", host="db2")], False),
        ([sar("a"), sar("b", host=None)], True),  # who names no host
        ([sar("a"), sar("b", NOON - 400 * DAY, None)], False),
        ([awr("a", NOON), awr("b", NOON + 3 * DAY)], True),  # a row of reports of one database
        ([awr("a", NOON), awr("b", NOON + 3 * DAY, "db2")], False),  # of another database of that name
        ([awr("a", NOON), awr("b", NOON, "db2")], True),  # two nodes of a cluster
        ([awr("a", NOON, "db1", "postgresql:5432"), awr("b", NOON, "db2", "postgresql:5432")], False),  # a port is none
        ([awr("a", NOON, None), awr("b", NOON + 3 * DAY, None)], True),
        ([awr("a", NOON), awr("b", NOON + 3 * DAY, None)], True),
        ([sar("a", NOON - 2000 * DAY), sar("b", lacks="time", host=None)], True),  # an undated vmstat
        ([sar("a", NOON - 2000 * DAY), sar("b", lacks="time", host="db2")], False),
        ([sar("a", NOON - 2000 * DAY), sar("b", lacks="date", host=None)], True),  # the same hours of another day
        ([sar("a", NOON - 2000 * DAY - 6 * HOUR), sar("b", lacks="date", host=None)], False),
        ([sar("a"), sar("b", NOON.replace(hour=0), lacks="time of day")], True),
        ([sar("a"), sar("b", NOON.replace(hour=0) - DAY, lacks="time of day")], False),
        ([sar("a", lacks="time"), sar("b", datetime(1970, 1, 1, 2, tzinfo=UTC), lacks="time")], True),
        ([sar("a"), file("b", setting=[{"ts": NOON - 400 * DAY, "component": "kernel", "name": "x"}])], True),
    ],
)
def test_what_is_judged_together(files: list[FileRead], *, together: bool) -> None:
    expected = [["a", "b"]] if together else [["a"], ["b"]]
    assert names(groups(files)) == expected
    assert names(groups(files[::-1])) == expected


def test_who_tells_no_time_does_not_stretch_the_period() -> None:
    vmstat = sar("vmstat", NOON + 4000 * DAY, None, hours=3, lacks="time")
    (group,) = groups([sar("sar"), vmstat])
    assert (group.since, group.until) == (NOON - HOUR, NOON)
    assert {held.until for held in group.files} == {NOON}
    assert list(told([group])) == ["vmstat: taken to be of the same time as the others, and placed at its end"]


def test_of_several_servers_nobody_knows_whose_it_is() -> None:
    found = groups(
        [sar("a"), sar("b", host="db2"), sar("vmstat", NOON + DAY, None, lacks="time"), sar("near", host=None)]
    )
    assert names(found) == [["a"], ["b"], ["near"], ["vmstat"]]
    lines = list(told(found))
    assert lines[0] == "these are 4 servers or times, and each of them is judged for itself"
    assert lines[1] == "db1, 2026-11-20 11:00:00 to 2026-11-20 12:00:00 UTC: a"
    assert "no host named" in lines[4]


def test_settings_go_with_every_server_that_may_be_theirs() -> None:
    settings = {"ts": NOON, "component": "kernel", "name": "vm.swappiness", "value": "60"}
    nobodys, own = file("sysctl", setting=[settings]), file("own", setting=[settings | {"host": "db1"}])
    assert names(groups([sar("a"), sar("b", host="db2"), nobodys, own])) == [["a", "own", "sysctl"], ["b", "sysctl"]]
    assert names(groups([nobodys, own])) == [["own", "sysctl"]]
    assert names(groups([sar("b", host="db2"), own])) == [["b"], ["own"]]


def test_local_times_beside_utc_of_the_same_run_are_moved_with_all_of_their_host() -> None:
    """As sa's binary file beside iostat and pidstat: figures of one show the zone of both."""
    start, moved = NOON.replace(minute=7, second=33), 2 * HOUR

    def run(name: str, by: timedelta, *notes: str) -> FileRead:
        ends = (start + by, start + by + HOUR)
        rows = [{"ts": at, "interval_s": 1.0, "host": "db1", "pid": 7} for at in ends]
        return FileRead(name, "any", dict(Dataset.from_rows(process=rows).tables), notes=notes)

    utc, local = run("sa", timedelta(0)), run("pidstat", moved, ZONE_ASSUMED)
    short = sar("iostat", start + moved, hours=0.1)
    files = [utc, local, FileRead("iostat", "any", short.tables, notes=(ZONE_ASSUMED,))]
    (group,) = groups(files)
    assert (group.since, group.until) == (start - HOUR / 10, start + HOUR)
    (line,) = told([group])
    assert line.startswith("iostat, pidstat: no zone in it, and its times are 2 h ahead of those of sa, which are UTC")
    assert line.endswith("+02:00 is taken\nhint: --zone=+02:00, or its name, says so")


def test_a_host_with_and_without_its_domain_is_one() -> None:
    (group,) = groups([sar("a"), sar("b", NOON, "db1.example.com"), sar("c", NOON, "DB1")])
    hosts = {name for held in group.files for name in held.dataset.frame("cpu")["host"]}
    assert hosts == {"db1.example.com"}
    of_two = groups([sar("a", host="db1.eu"), sar("b", host="db1.us"), sar("c", host="db1")])
    assert names(of_two) == [["a"], ["b"], ["c"]]
    addresses = groups([sar("a", host="10.0.0.1"), sar("b", host="10.0.0.2")])
    assert names(addresses) == [["a"], ["b"]]


def test_files_between_two_join_them() -> None:
    """Hour by hour, in whatever order they are named."""
    assert len(groups([sar("a"), sar("c", NOON + 4 * HOUR), sar("b", NOON + 2 * HOUR)])) == 1
    assert len(groups([sar("a"), sar("c", NOON + 4 * HOUR)])) == 2


def test_hours_of_seven_hosts_are_seven_groups() -> None:
    many = [sar(str(number), NOON + number // 7 * HOUR, f"db{number % 7}") for number in range(700)]
    assert {len(group.files) for group in groups(many)} == {100}


def test_rows_of_several_hosts_in_one_file_are_groups_with_other_files_of_theirs() -> None:
    rows = [{"ts": NOON, "interval_s": 3600.0, "host": host, "idle_pct": 50.0} for host in ("db1", "db2.example.com")]
    found = groups([file("pdsh", cpu=rows), sar("sar", host="db2"), sar("vmstat", host=None)])
    assert names(found) == [["pdsh"], ["pdsh", "sar"], ["vmstat"]]
    assert [line.partition(", ")[0] for line in list(told(found))[1:]] == ["db1", "db2.example.com", "no host named"]


def test_a_port_that_two_hosts_have_tells_nobody_whose_it_is() -> None:
    """What names the server by its port alone goes with neither of two hosts, but with the one of its time."""
    port = "postgresql:5432"
    alone, other = awr("a", NOON, "db1", port), awr("b", NOON, "db2", port)
    assert names(groups([alone, other, awr("c", NOON, None, port)])) == [["a"], ["b"], ["c"]]
    later = awr("b", NOON + 3 * DAY, "db2", port)
    assert names(groups([alone, later, awr("c", NOON, None, port)])) == [["a", "c"], ["b"]]
