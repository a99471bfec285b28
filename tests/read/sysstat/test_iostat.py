"""iostat of Linux: units, latencies without requests, the report since boot, times."""

from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import pytest

from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.read.formats import read_file
from doctord.report.wording import verdict
from latency_files import read_text
from read.texts import values
from reading import picked, read_sample
from shared import CORPUS, sample

OLD = """Linux 2.6.32 (db1) \t11/30/2021 \t_x86_64_\t(4 CPU)

11/30/2021 03:16:15 PM
avg-cpu:  %user   %nice %system %iowait  %steal   %idle
           1,00    2,00    3,00    4,00    5,00   85,00

Device:         rrqm/s   wrqm/s     r/s     w/s    rkB/s    wkB/s avgrq-sz avgqu-sz   await  svctm  %util
sda               0,00     0,02    0,13    0,11     5,27     1,10    52,53     0,00    0,88   0,52   0,01

11/30/2021 03:16:20 PM
avg-cpu:  %user   %nice %system %iowait  %steal   %idle
          10,00    2,00    3,00    4,00    5,00   76,00

Device:         rrqm/s   wrqm/s     r/s     w/s    rkB/s    wkB/s avgrq-sz avgqu-sz   await  svctm  %util
sda               0,00     7,00   10,00   30,00    80,00  4096,00    52,53     2,00   50,00   0,52  90,00
"""


def dataset(path: Path) -> Dataset:
    reading = read_file(path, zone="UTC")
    assert reading.skipped_lines == 0
    return Dataset.from_batches(reading.batches)


def test_a_comma_for_the_point_and_twelve_hours(tmp_path: Path) -> None:
    reading = read_text(tmp_path, OLD, zone="Europe/Paris")
    found = Dataset.from_batches(reading.batches)
    (cpu,) = found.frame("cpu").to_dicts()
    assert (cpu["ts"], cpu["interval_s"], cpu["host"]) == (datetime(2021, 11, 30, 14, 16, 20, tzinfo=UTC), 5.0, "db1")
    assert [cpu[f"{part}_pct"] for part in ("usr", "sys", "wait_io", "steal", "idle")] == [12.0, 3.0, 4.0, 5.0, 76.0]
    (disk,) = found.frame("disk").to_dicts()
    assert (disk["reads_per_s"], disk["write_bytes_per_s"]) == (10.0, 4096 * 1024.0)
    assert (disk["request_ms"], disk["queue"], disk["util_pct"], disk["read_ms"]) == (50.0, 2.0, 90.0, None)
    assert "the first report, which covers the time since boot, is left out" in reading.notes


def test_alone_the_report_since_boot_is_kept_without_an_interval(tmp_path: Path) -> None:
    reading = read_text(tmp_path, OLD[: OLD.index("11/30/2021 03:16:20")], zone="UTC")
    (disk,) = Dataset.from_batches(reading.batches).frame("disk").to_dicts()
    assert (disk["interval_s"], disk["reads_per_s"]) == (None, 0.13)


def test_reports_since_boot_made_again_and_again_are_no_verdict() -> None:
    reading = read_sample("iostat.again.txt")
    found = Dataset.from_batches(reading.batches)
    assert (found.frame("disk").height, found.frame("cpu").height, reading.skipped_lines) == (0, 0, 0)
    assert values(found, "since_boot.disk.util_pct", "vda") == [4.0, 4.01, 4.02]
    diagnosis = diagnose(found)
    assert (diagnosis.health, diagnosis.judged, diagnosis.findings) == ("not_judged", (), ())
    assert "iostat -x 10" in str(diagnosis.not_measured[0].grant)
    assert verdict(diagnosis) == "No verdict: means since boot are no figures of their times"


@pytest.mark.parametrize("name", sorted(p.name for p in (CORPUS / "linux_text").glob("*iostat*")))
def test_each_sample_is_read_whole(name: str) -> None:
    """As many device rows as lines under a heading of devices, but for the first report where others follow."""
    file = sample(CORPUS / "linux_text" / name)
    reports = file.read_text().split("avg-cpu:")[1:]
    devices = [[line.split()[0] for line in part.split("Device", 1)[1].splitlines()[1:] if line] for part in reports]
    expected = devices[1:] or devices
    assert dataset(file).frame("disk")["device"].to_list() == [device for report in expected for device in report]


def test_the_samples_agree_with_their_text() -> None:
    """Sums of a column under its heading, of the reports after the first."""
    file = sample(CORPUS / "testbed/iostat-xt.txt")
    found = dataset(file)
    lines = [line.split() for line in file.read_text().splitlines()]
    names = next(words for words in lines if words and words[0] == "Device")
    vda = [dict(zip(names, words, strict=True)) for words in lines if words and words[0] == "vda"][1:]
    disk = found.frame("disk").filter(device="vda")
    assert disk.height == len(vda) > 50
    assert disk["reads_per_s"].sum() == pytest.approx(sum(float(row["r/s"]) for row in vda))
    assert disk["write_bytes_per_s"].sum() == pytest.approx(sum(float(row["wkB/s"]) for row in vda) * 1024)
    assert disk["read_ms"].sum() == pytest.approx(sum(float(row["r_await"]) for row in vda))
    assert disk["interval_s"].unique().to_list() == [1.0]
    flushes = found.frame("statistic").filter(name="iostat.f/s", entity="vda")["value"].sum()
    assert flushes == pytest.approx(sum(float(row["f/s"]) for row in vda))
    cpus = [list(map(float, after[:2])) for before, after in pairwise(lines) if before[:1] == ["avg-cpu:"]][1:]
    assert found.frame("cpu")["usr_pct"].to_list() == pytest.approx(list(map(sum, cpus)))


def test_a_read_that_was_not_made_took_no_time() -> None:
    disk = dataset(sample(CORPUS / "testbed/iostat-dxmtz.txt")).frame("disk")
    assert disk.filter(writes_per_s=0.0)["write_ms"].null_count() == disk.filter(writes_per_s=0.0).height > 0


def test_a_line_that_is_none_is_named(tmp_path: Path) -> None:
    reading = read_text(tmp_path, OLD.replace("10,00   30,00", "10,00   ?"), zone="UTC")
    assert [(skipped.line, skipped.reason) for skipped in reading.skipped] == [
        (15, "neither a heading nor figures of this tool")
    ]


def test_times_of_day_as_old_versions_print_them() -> None:
    reading = read_sample("iostat.time.txt", zone="UTC")
    assert reading.skipped_lines == 0
    assert picked(reading, "disk", "ts", "interval_s", "reads_per_s") == [
        (datetime(2009, 5, 13, tzinfo=UTC), 10.0, 300.0)
    ], "the first report covers the time since boot; midnight is of the next day"
