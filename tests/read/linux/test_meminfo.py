"""/proc/meminfo: the same figures as the live collector takes."""

from pathlib import Path

from doctord.read.formats import read_file
from latency_files import read_text
from reading import SAMPLES, figure, picked, read_sample


def test_columns() -> None:
    reading = read_sample("meminfo.linux.txt")
    assert (reading.format, reading.skipped_lines) == ("/proc/meminfo", 0)
    kib = {name: int(value.split()[0]) for name, value in _values().items()}
    assert picked(reading, "memory", "total_bytes", "page_tables_bytes", "page_cache_bytes", "interval_s") == [
        (
            kib["MemTotal"] * 1024,
            kib["PageTables"] * 1024,
            (kib["Cached"] + kib["Buffers"] - kib["Shmem"]) * 1024,
            None,
        )
    ]
    assert figure(reading, "meminfo.Dirty") == [kib["Dirty"] * 1024]


def _values() -> dict[str, str]:
    lines = (SAMPLES / "meminfo.linux.txt").read_text().splitlines()
    return dict(line.split(":", 1) for line in lines)


def test_huge_pages_are_counted_not_sized(tmp_path: Path) -> None:
    text = (SAMPLES / "meminfo.linux.txt").read_text().replace("HugePages_Total:       0", "HugePages_Total:    1500")
    reading = read_text(tmp_path, text)
    assert picked(reading, "memory", "huge_pages_total", "huge_page_bytes") == [(1500, 2 << 20)]


def test_a_foreign_line_is_skipped(tmp_path: Path) -> None:
    reading = read_text(tmp_path, (SAMPLES / "meminfo.linux.txt").read_text() + "and more\n")
    assert [str(skipped).rpartition(": ")[2] for skipped in reading.skipped] == ["not a line of /proc/meminfo"]


def test_this_machine() -> None:
    reading = read_file(Path("/proc/meminfo"))
    assert reading.skipped_lines == 0
    ((total, free),) = picked(reading, "memory", "total_bytes", "free_bytes")
    assert 0 < free < total
