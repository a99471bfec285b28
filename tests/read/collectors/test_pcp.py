"""PCP archives: one that PCP's own import library writes, read back through pmdumplog."""

import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from doctord.errors import UserError
from doctord.read.collectors import pcp
from doctord.read.formats import read_file
from latency_files import read_text
from reading import figure, frame, picked
from sources import text_source

PYTHON = "/usr/bin/python3"  # where Debian's python3-pcp is
BEGIN = 1732180000
WRITE = """
import sys
import cpmapi as c
from pcp import pmi
log = pmi.pmiLogImport(sys.argv[1])
log.pmiSetHostname("db1"); log.pmiSetTimezone("UTC")
none, counter, now = c.PM_INDOM_NULL, c.PM_SEM_COUNTER, c.PM_SEM_INSTANT
ms, count = log.pmiUnits(0, 1, 0, 0, c.PM_TIME_MSEC, 0), log.pmiUnits(0, 0, 1, 0, 0, 0)
kib = log.pmiUnits(1, 0, 0, c.PM_SPACE_KBYTE, 0, 0)
disks = log.pmiInDom(60, 1)
states = {"user": 2000, "nice": 0, "sys": 1000, "idle": 16000, "intr": 0, "wait.total": 1000, "steal": 0}
for item, name in enumerate(states):
    log.pmiAddMetric("kernel.all.cpu." + name, log.pmiID(60, 0, 20 + item), c.PM_TYPE_U64, none, counter, ms)
for item, (name, dom, kind, unit) in enumerate([
    ("kernel.all.pswitch", none, counter, count), ("mem.util.free", none, now, kib),
    ("my.errors", none, counter, count),
    ("disk.dev.read", disks, counter, count), ("disk.dev.read_bytes", disks, counter, kib),
]):
    log.pmiAddMetric(name, log.pmiID(60, 1, item), c.PM_TYPE_U64, dom, kind, unit)
for number, name in enumerate(("vda", "dm 0")):
    log.pmiAddInstance(disks, name, number)
for step in range(3):
    for name, each in states.items():
        log.pmiPutValue("kernel.all.cpu." + name, "", str(each * step + 5))
    for name, value in (("kernel.all.pswitch", 5000 * step), ("mem.util.free", 8000), ("my.errors", 30 * step)):
        log.pmiPutValue(name, "", str(value))
    for number, name in enumerate(("vda", "dm 0"), 1):
        log.pmiPutValue("disk.dev.read", name, str(100 * step * number))
        log.pmiPutValue("disk.dev.read_bytes", name, str(800 * step * number))
    log.pmiWrite(int(sys.argv[2]) + 10 * step, 250000)
log.pmiEnd()
"""


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    if shutil.which("pmdumplog") is None:
        pytest.skip("pcp is not installed")
    if subprocess.run([PYTHON, "-c", "from pcp import pmi"], check=False, capture_output=True).returncode:
        pytest.skip("python3-pcp is not installed")
    subprocess.run([PYTHON, "-c", WRITE, tmp_path / "day", str(BEGIN)], check=True, capture_output=True, timeout=180)
    return tmp_path / "day.0"


def test_an_archive(archive: Path) -> None:
    reading = read_file(archive)
    assert (reading.format, reading.skipped_lines, reading.notes) == ("PCP archives", 0, [])
    at = datetime.fromtimestamp(BEGIN + 10.25, UTC)
    cpu = ("host", "interval_s", "usr_pct", "sys_pct", "wait_io_pct", "idle_pct", "csw_per_s")
    assert picked(reading, "cpu", *cpu, ts=at) == [("db1", 10.0, 10.0, 5.0, 5.0, 80.0, 500.0)]
    assert picked(reading, "disk", "reads_per_s", "read_bytes_per_s", device="dm 0", ts=at) == [(20.0, 160 * 1024.0)]
    assert picked(reading, "memory", "free_bytes") == [(8000 * 1024,)] * 3
    assert figure(reading, "my.errors", component="pcp", kind="rate") == [3.0, 3.0]
    assert len(frame(reading, "cpu")) == 2


def test_the_other_files_say_with_what_they_are_read(archive: Path) -> None:
    for ending in ("meta", "index"):
        with pytest.raises(UserError, match="read with its first volume"):
            read_file(archive.with_suffix(f".{ending}"))


def test_a_volume_alone_is_refused(archive: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="pmdumplog cannot read it"):
        read_text(tmp_path, archive.read_bytes())


def test_without_pcp_it_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match="pmdumplog is not on this machine") as refused:
        read_text(tmp_path, b"\0\0\0\x84\x50\x05\x26\x02" + bytes(2000))
    assert refused.value.hint == pcp.HINT


def test_a_mark_is_a_gap_and_no_rate() -> None:
    lines = [
        "Thu Nov 21 09:06:40.000000 2024 (0.000000) 1732180000 1 metrics", "    1.0.1 (a.b): value 5",
        "Thu Nov 21 09:06:50.000000 2024 (10.0) 1732180010 0 metrics", "  <mark>",
        "Thu Nov 21 09:07:00.000000 2024 (20.0) 1732180020 1 metrics", "    1.0.1 (a.b): value 50",
        "Thu Nov 21 09:07:10.000000 2024 (30.0) 1732180030 1 metrics", "    1.0.1 (a.b): value 60",
    ]  # fmt: skip
    batches = list(pcp.Records(text_source(""), {"a.b"}).batches(iter(lines)))
    assert {batch.table: len(batch) for batch in batches} == {"event": 1, "statistic": 1}
