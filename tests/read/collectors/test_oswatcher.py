"""OSWatcher: the outputs between stamps, placed by these."""

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctord.read.collectors.oswatcher_stamps import stamped
from doctord.read.formats import read_file
from latency_files import read_text
from reading import SAMPLES, figure, frame, picked, read_sample
from sources import text_source

CET = timezone(timedelta(hours=1))
TEN = datetime(2012, 3, 1, 10, tzinfo=CET)


@pytest.mark.parametrize(
    "stamp",
    [
        "zzz ***Thu Mar 1 10:00:00 CET 2012",
        "zzz ***Thu Mar  1 10:00:00 CET 2012",
        "zzz ***Thu Mar 1 10:00:00 CET 2012 Sample interval: 30 secs",
        "zzz ***Thu 01 Mar 2012 10:00:00 AM CET",
        "zzz ***2012-03-01T10:00:00+0100",
        "zzz ***2012-03-01 10:00:00 +01:00",
        "zzz <03/01/2012 10:00:00 CET> Count:0",
    ],
)
def test_stamps(stamp: str) -> None:
    source = text_source("")
    assert stamped(stamp, source) == TEN
    assert source.notes == []


def test_a_stamp_without_a_zone_that_is_known_is_utc_and_that_is_said() -> None:
    source = text_source("")
    assert stamped("zzz ***Thu Mar 1 10:00:00 XYZ 2012", source) == datetime(2012, 3, 1, 10, tzinfo=UTC)
    assert len(source.notes) == 1


@pytest.mark.parametrize("stamp", ["zzz ***", "zzz ***soon", "zzz ***Thu Mar 41 10:00:00 CET 2012", "zzz <>", "zzz"])
def test_stamps_that_tell_no_moment(stamp: str) -> None:
    assert stamped(stamp, text_source("")) is None


@given(st.datetimes(min_value=datetime(1995, 1, 1), max_value=datetime(2090, 1, 1)))  # noqa: DTZ001 - zoned below
def test_stamps_of_all_times(moment: datetime) -> None:
    expected = moment.replace(microsecond=0, tzinfo=UTC)
    for layout in ("%a %b %e %H:%M:%S UTC %Y", "%a %d %b %Y %I:%M:%S %p UTC", "%Y-%m-%dT%H:%M:%SZ"):
        assert stamped(f"zzz ***{expected.strftime(layout)}", text_source("")) == expected


def test_netstat_counts_become_rates() -> None:
    reading = read_sample("oswatcher.netstat.dat")
    assert (reading.format, reading.skipped_lines, reading.notes) == ("OSWatcher", 0, [])
    tcp = ("interval_s", "segments_out_per_s", "retransmits_per_s", "listen_overflows_per_s", "listen_drops_per_s")
    later = TEN + timedelta(seconds=30)
    assert picked(reading, "network", *tcp, interface=None, ts=later) == [(30.0, 1000.0, 2.0, 2.0, 3.0)]
    assert picked(reading, "network", "established", interface=None) == [(40,), (43,), (1,)]
    assert picked(reading, "network", "errors_per_s", interface="eth0") == [(0.2,)]
    assert figure(reading, "netstat.packets_in", entity="eth0") == [1000.0]
    assert figure(reading, "netstat.TcpExt.TCPTimeouts") == [1.0]


def test_counters_that_begin_again_are_an_event_and_no_rate() -> None:
    reading = read_sample("oswatcher.netstat.dat")
    assert picked(reading, "event", "kind", "ts") == [("restart", TEN + timedelta(minutes=1))]
    assert frame(reading, "network")["errors_per_s"].drop_nulls().min() == 0


def test_tools_under_stamps_are_placed_by_them() -> None:
    begin = datetime(2026, 11, 21, 9, 31, 48, tzinfo=CET)
    iostat = read_sample("oswatcher.iostat.dat")
    stamps = sorted(set(frame(iostat, "disk")["ts"]))
    assert stamps[:2] == [begin + timedelta(seconds=1), begin + timedelta(seconds=2)]
    assert set(frame(iostat, "disk")["interval_s"]) == {1.0}
    assert set(frame(iostat, "disk")["host"]) == {"db7"}
    vmstat = read_sample("oswatcher.vmstat.dat")
    assert len(frame(vmstat, "cpu")) == 4


def test_times_of_day_under_a_stamp_are_of_its_zone() -> None:
    top = frame(read_sample("oswatcher.top.dat"), "cpu")
    assert top["ts"].to_list() == [datetime(2026, 11, 21, 9, 31, second, tzinfo=CET) for second in (50, 51)]
    assert top["usr_pct"].to_list() == [50.0, 51.5]


def test_memory_processes_and_caches() -> None:
    memory = read_sample("oswatcher.meminfo.dat")
    assert picked(memory, "memory", "total_bytes", "huge_page_bytes")[0] == (24684084 * 1024, 2048 * 1024)
    assert frame(memory, "memory")["interval_s"].null_count() == 2
    assert figure(read_sample("oswatcher.ps.dat"), "ps.waiting", entity="blkdev") == [1.0, 1.0]
    assert len(figure(read_sample("oswatcher.slabinfo.dat"), "slabinfo.active_bytes", entity="bio-312")) == 2


def test_arguments_are_not_read() -> None:
    for name in ("oswatcher.ps.dat", "oswatcher.top.dat"):
        reading = read_sample(name)
        assert not any("tiger" in str(frame(reading, batch.table).rows()) for batch in reading.batches)


def test_what_is_not_read_is_said(tmp_path: Path) -> None:
    text = (SAMPLES / "oswatcher.vmstat.dat").read_text()
    reading = read_text(tmp_path, text + "zzz ***Sat Nov 21 09:32:48 CET 2026\ntraceroute to db8 (10.0.0.8)\n")
    assert "not read: texts that begin like 'traceroute'" in reading.notes
    assert reading.skipped_lines == 0


def test_the_host_is_in_the_name_of_the_file(tmp_path: Path) -> None:
    text = (SAMPLES / "oswatcher.vmstat.dat").read_text()
    file = tmp_path / "ora-db1.site_vmstat_12.03.01.1000.dat"
    file.write_text(text[text.index("zzz") :])
    assert set(frame(read_file(file), "cpu")["host"]) == {"ora-db1.site"}
