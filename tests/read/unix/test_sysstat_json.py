"""iostat and mpstat as JSON."""

import json
from pathlib import Path

import polars as pl
import pytest

from doctord.chart.chart import Chart
from latency_files import CORPUS, read_text, sample
from read.unix.texts import SAMPLES, chart_of, chart_of_sample, values


def test_iostat_agrees_with_its_json() -> None:
    file = sample(CORPUS / "testbed/iostat.json")
    reports = json.loads(file.read_text())["sysstat"]["hosts"][0]["statistics"][1:]
    found = chart_of(file)
    vda = [disk for report in reports for disk in report["disk"] if disk["disk_device"] == "vda"]
    disk = found.frame("disk").filter(device="vda")
    assert disk.height == len(vda) > 50
    assert disk["write_bytes_per_s"].sum() == pytest.approx(sum(row["wkB/s"] for row in vda) * 1024)
    assert disk["queue"].sum() == pytest.approx(sum(row["aqu-sz"] for row in vda))
    cpu = found.frame("cpu")
    assert cpu["idle_pct"].sum() == pytest.approx(sum(report["avg-cpu"]["idle"] for report in reports))


def test_times_and_intervals() -> None:
    cpu = chart_of_sample("sysstat_json.iostat.json").frame("cpu")
    assert cpu["interval_s"].to_list() == [1.0, 1.0]
    assert cpu["host"].unique().to_list() == ["db1"]


def test_mpstat_of_each_cpu() -> None:
    told = json.loads((SAMPLES / "sysstat_json.mpstat.json").read_text())["sysstat"]["hosts"][0]["statistics"]
    found = chart_of_sample("sysstat_json.mpstat.json")
    host = found.frame("cpu").filter(pl.col("cpu").is_null())
    assert host["sys_pct"].to_list() == [report["cpu-load"][0]["sys"] for report in told]
    assert host["interrupts_per_s"].to_list() == [report["sum-interrupts"][0]["intr"] for report in told]
    timers = [i["value"] for i in told[0]["soft-interrupts"][0]["intr"] if i["name"] == "TIMER" and i["value"]]
    assert values(found, "mpstat.softirq", "0 TIMER")[: len(timers)] == timers


def test_what_was_cut_is_read_up_to_there(tmp_path: Path) -> None:
    text = (SAMPLES / "sysstat_json.mpstat.json").read_text()
    reading = read_text(tmp_path, text[: text.rindex('"timestamp"') + 40], zone="UTC")
    assert [skipped.reason for skipped in reading.skipped] == ["a report that is cut"]
    assert Chart.from_batches(reading.batches).frame("cpu")["ts"].n_unique() == 1
