"""pmap of Solaris, by page size, and of Linux."""

from pathlib import Path

from doctord.read.formats import read_file
from doctord.read.unix.pmap import NAME
from reading import SAMPLES, figure, frame, picked, read_sample

KIB = 1024.0


def test_solaris_tells_the_pages() -> None:
    reading = read_sample("pmap.solaris.txt")
    assert (reading.format, reading.skipped_lines) == (NAME, 0)
    assert picked(reading, "statistic", "entity", "value", name="pmap.resident") == [
        ("18420 oracleORCL 4M", (69632 + 1048576) * KIB),
        ("18420 oracleORCL 8K", (160 + 600 + 56) * KIB),
    ]
    assert figure(reading, "pmap.locked") == [1048576 * KIB]
    assert figure(reading, "pmap.mapped", entity="18420 oracleORCL") == [8192 * KIB], "no page of it is there yet"


def test_linux() -> None:
    reading = read_sample("pmap.linux.txt")
    assert reading.skipped_lines == 0
    assert figure(reading, "pmap.resident", entity="2210 postgres") == [(232 + 3120 + 20480) * KIB]
    assert figure(reading, "pmap.dirty") == [20480 * KIB]
    assert "config_file" not in frame(reading, "statistic").write_csv(), "no argument of a command is kept"


def test_what_is_no_mapping_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text((SAMPLES / "pmap.linux.txt").read_text() + "pmap: cannot examine 7\n")
    reading = read_file(tmp_path / "file")
    assert [(one.line, one.reason) for one in reading.skipped] == [(8, "no mapping of a process")]
