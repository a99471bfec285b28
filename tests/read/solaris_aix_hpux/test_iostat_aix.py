"""iostat of AIX in its usual layout and with -D."""

from pathlib import Path

from doctord.dataset.dataset import Dataset
from latency_files import read_text
from read.texts import SAMPLES, dataset_of_sample, values

ONE_LINE = """
System configuration: lcpu=8 drives=1 paths=1 vdisks=0

Disks:                     xfers                                read                                write                                  queue                    time
-------------- -------------------------------- ------------------------------------ ------------------------------------ -------------------------------------- ---------
                 %tm    bps   tps  bread  bwrtn   rps    avg    min    max time fail   wps    avg    min    max time fail    avg    min    max   avg   avg  serv
                 act                                    serv   serv   serv outs              serv   serv   serv outs        time   time   time  wqsz  sqsz qfull
hdisk1          99.0   8.0M 500.0   8.0M    0.0 500.0   15.5    0.3  120.0    0    0   0.0    0.0    0.0    0.0    0    0  22.0    0.0   80.0  11.0   8.0 480.0  10:11:12
"""  # noqa: E501 - as it is printed


def test_queues_of_host_and_device() -> None:
    found = dataset_of_sample("iostat_aix.D.txt")
    disk = {row["device"]: row for row in found.frame("disk").to_dicts()}
    busy = disk["hdisk1"]
    assert (busy["reads_per_s"], busy["read_ms"], busy["writes_per_s"], busy["write_ms"]) == (500.0, 15.5, 0.0, None)
    assert (busy["host_queue"], busy["host_queue_ms"], busy["device_queue"]) == (11.0, 22.0, 8.0)
    assert (busy["read_bytes_per_s"], busy["util_pct"]) == (8.0 * 1024**2, 99.0)
    assert disk["hdisk0"]["write_bytes_per_s"] == 512.0 * 1024
    assert values(found, "iostat.queue.sqfull", "hdisk1") == [480.0]


def test_on_one_line_it_says_the_same(tmp_path: Path) -> None:
    reading = read_text(tmp_path, ONE_LINE, zone="UTC")
    assert reading.skipped_lines == 0
    (line,) = Dataset.from_batches(reading.batches).frame("disk").to_dicts()
    (lines,) = dataset_of_sample("iostat_aix.D.txt").frame("disk").filter(device="hdisk1").to_dicts()
    assert line["ts"].time().isoformat() == "10:11:12"
    assert {k: v for k, v in line.items() if k != "ts"} == {k: v for k, v in lines.items() if k != "ts"}


def test_a_disk_that_was_cut_is_named(tmp_path: Path) -> None:
    text = (SAMPLES / "iostat_aix.D.txt").read_text()
    lines = text.splitlines(keepends=True)
    del lines[9:11]  # the queue of the first disk
    reading = read_text(tmp_path, "".join(lines))
    assert [skipped.reason for skipped in reading.skipped] == ["not all figures of hdisk0 stand before it"]
    assert Dataset.from_batches(reading.batches).frame("disk")["device"].to_list() == ["hdisk1"]


def test_the_usual_layout() -> None:
    found = dataset_of_sample("iostat_aix.txt")
    (cpu,) = found.frame("cpu").to_dicts()
    assert (cpu["usr_pct"], cpu["sys_pct"], cpu["idle_pct"], cpu["wait_io_pct"]) == (40.0, 10.0, 40.0, 10.0)
    disk = found.frame("disk").filter(device="hdisk0")
    assert disk.select("requests_per_s", "util_pct").rows() == [(512.0, 45.0)]
    assert values(found, "iostat.Kbps", "hdisk0") == [4096.0 * 1024]
    assert values(found, "iostat.physc") == [0.9]
