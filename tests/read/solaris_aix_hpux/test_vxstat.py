"""Veritas' statistics: volumes by interval, paths, and files of ODM."""

from datetime import UTC, datetime
from pathlib import Path

from doctord.read.formats import read_file
from doctord.read.solaris_aix_hpux.vxstat import NAME
from reading import SAMPLES, picked, read_sample

COLUMNS = ("device", "reads_per_s", "writes_per_s", "read_bytes_per_s", "read_ms", "write_ms")


def test_volumes_over_an_interval_and_not_since_boot() -> None:
    reading = read_sample("vxstat.i.txt", zone="UTC")
    assert (reading.format, reading.skipped_lines) == (NAME, 0)
    assert picked(reading, "disk", "ts", "interval_s", *COLUMNS, device="datadg/ora_data") == [
        (datetime(2010, 9, 29, 15, 29, 44, tzinfo=UTC), 10.0, "datadg/ora_data", 100.0, 50.0, 819200.0, 25.0, 2.5)
    ]
    assert picked(reading, "disk", *COLUMNS, device="bootdg/rootvol") == [
        ("bootdg/rootvol", 0.0, 0.0, 0.0, None, None)
    ], "no time of reads where there were none"
    assert any("since boot, is left out" in note for note in reading.notes)


def test_paths_once_are_means_since_the_start() -> None:
    reading = read_sample("vxstat.dmp.txt")
    assert (reading.format, reading.skipped_lines) == (NAME, 0)
    assert picked(reading, "disk", *COLUMNS) == [
        ("c0t5000CCA016106188d0s2", None, None, None, 6.5, 0.8),
        ("c10t514F0C5000022101d0s2", None, None, None, None, None),
    ]
    assert any("its only report covers the time since boot" in note for note in reading.notes)


def test_files_of_odm() -> None:
    assert picked(read_sample("vxstat.odm.txt"), "disk", "device", "write_ms") == [("/u01/oradata/system01.dbf", 9.3)]


def test_a_line_of_something_else_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text((SAMPLES / "vxstat.i.txt").read_text() + "VxVM vxstat ERROR V-5-1-1 no volume\n")
    reading = read_file(tmp_path / "file", zone="UTC")
    assert [(one.line, one.reason) for one in reading.skipped] == [(19, "no line of volumes, disks, paths or files")]
