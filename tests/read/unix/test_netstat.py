"""netstat -s by itself, nstat, and what they read of /proc."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from doctord.read.formats import read_file
from doctord.read.unix.netstat import NAME, SINCE_BOOT
from reading import SAMPLES, figure, picked, read_sample

COLUMNS = ("segments_out_per_s", "retransmits_per_s", "listen_overflows_per_s", "listen_drops_per_s", "established")


def test_two_outputs_with_their_moments_are_rates() -> None:
    reading = read_sample("netstat.linux.txt")
    assert (reading.format, reading.skipped_lines, reading.notes) == (NAME, 0, [])
    second = datetime(2025, 3, 4, 10, 15, 30, tzinfo=UTC)
    assert picked(reading, "network", "interval_s", *COLUMNS, ts=second) == [(10.0, 100.0, 4.0, 2.0, 2.0, 42)]
    assert figure(reading, "netstat.TcpExt.TCPTimeouts") == [2.0]


def test_one_output_tells_counters_and_no_rate() -> None:
    reading = read_sample("netstat.nstat.txt")
    assert (reading.format, reading.skipped_lines) == (NAME, 0)
    assert SINCE_BOOT in reading.notes
    assert figure(reading, "netstat.Tcp.RetransSegs", kind="gauge", unit="count") == [100.0]
    assert figure(reading, "netstat.TcpExt.ListenOverflows") == [7.0]
    assert picked(reading, "network", *COLUMNS) == []


def test_two_readings_of_proc_without_a_moment() -> None:
    reading = read_sample("netstat.proc.txt", every_s=10)
    assert reading.skipped_lines == 0
    assert picked(reading, "network", *COLUMNS)[1] == (10.0, pytest.approx(0.1), pytest.approx(0.3), 0.3, 13)


def test_solaris() -> None:
    reading = read_sample("netstat.solaris.txt")
    assert (reading.format, reading.skipped_lines) == (NAME, 0)
    assert picked(reading, "network", "established") == [(412,)]
    assert figure(reading, "netstat.tcpRetransSegs") == [1204.0]


def test_what_is_no_counter_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text((SAMPLES / "netstat.nstat.txt").read_text() + "no such file\n")
    reading = read_file(tmp_path / "file")
    assert [(one.line, one.reason) for one in reading.skipped] == [(10, "neither a counter nor a heading of netstat")]
