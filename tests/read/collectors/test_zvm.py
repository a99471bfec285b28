"""Screens and reports of z/VM's Performance Toolkit."""

from datetime import UTC, date, datetime
from pathlib import Path

from latency_files import read_text
from reading import SAMPLES, figure, frame, picked, read_sample

TEN_THIRTY = datetime(2012, 5, 1, 10, 30, tzinfo=UTC)


def test_paging_of_guests() -> None:
    reading = read_sample("zvm.upage.txt", zone="UTC")
    assert (reading.format, reading.skipped_lines, reading.notes) == ("z/VM Performance Toolkit", 0, [])
    guest = ("ts", "interval_s", "host", "page_reads_per_s", "resident_bytes", "paged_out_bytes")
    assert picked(reading, "guest", *guest, guest="ORA01") == [
        (TEN_THIRTY, 1800.0, "ZVMPROD", 25.4, (2000 + 510000) * 4096, (20000 + 250000) * 4096)
    ]
    assert set(frame(reading, "guest")["guest"]) == {"ORA01", "ORA02", "TCPIP"}
    assert figure(reading, "UPAGE.X>DS", entity="ORA01") == [6.5]
    assert figure(reading, "UPAGE.Size", entity="ORA01") == [16 * 2.0**30]
    assert figure(reading, "UPAGE.Reads", entity=None) == [9.2]


def test_states_of_guests() -> None:
    reading = read_sample("zvm.ustat.txt", zone="UTC", day=date(2012, 5, 1))
    assert (reading.skipped_lines, reading.notes) == (0, [])
    assert picked(reading, "guest", "ts", "interval_s", "page_wait_pct", guest="ORA01") == [(TEN_THIRTY, 60.0, 31.0)]
    assert figure(reading, "USTAT.%PGA", entity="ORA01") == [15.0]
    assert figure(reading, "USTAT.%CFW", entity="ORA01") == [4.0]
    assert figure(reading, "USTAT.%PGW", entity=None) == [9.0]


def test_processors_and_the_log_by_time() -> None:
    reading = read_sample("zvm.cpu_and_log.txt", zone="UTC")
    assert reading.skipped_lines == 0
    assert picked(reading, "cpu", "usr_pct", "sys_pct", "idle_pct", cpu=10) == [(51.0, 10.0, 39.0)]
    assert figure(reading, "CPU.%LOGLD", entity="P0A") == [62.0]
    assert picked(reading, "statistic", "ts", "value", "interval_s", name="SYSSUMLG.Pct Busy") == [
        (datetime(2012, 5, 1, 23, 50, tzinfo=UTC), 80.0, None),
        (datetime(2012, 5, 2, 0, 0, tzinfo=UTC), 70.0, 600.0),
        (datetime(2012, 5, 2, 0, 10, tzinfo=UTC), 66.0, 600.0),
    ]
    assert figure(reading, "SYSSUMLG.Read+ Write") == [120.0, 80.0, 71.5]


def test_what_was_not_measured_is_absent(tmp_path: Path) -> None:
    text = (SAMPLES / "zvm.upage.txt").read_text().replace("25.4  22.3", "----  ....")
    reading = read_text(tmp_path, text)
    assert picked(reading, "guest", "page_reads_per_s", guest="ORA01") == [(None,)]
    assert figure(reading, "UPAGE.Write", entity="ORA01") == []


def test_other_screens_are_named(tmp_path: Path) -> None:
    text = (SAMPLES / "zvm.upage.txt").read_text() + "1FCX112  Run 2012/05/02 09:00:28   USER\n"
    assert "FCX112 is not read" in read_text(tmp_path, text).notes


def test_figures_without_their_time_are_skipped(tmp_path: Path) -> None:
    lines = (SAMPLES / "zvm.upage.txt").read_text().splitlines()
    text = (SAMPLES / "zvm.cpu_and_log.txt").read_text() + "\n".join(
        line for line in lines if not line.startswith("To ")
    )
    assert {skipped.reason for skipped in read_text(tmp_path, text).skipped} == {"figures without their time"}
