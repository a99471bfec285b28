"""iostat of Solaris: the queue of the host and that of the device."""

from datetime import UTC, datetime

from read.texts import dataset_of, dataset_of_sample, values
from shared import CASEBOOK, sample


def test_megabytes_and_the_devices_time() -> None:
    (disk,) = dataset_of(sample(CASEBOOK / "queue_depth/iostat-xnM.txt")).frame("disk").to_dicts()
    assert (disk["device"], disk["reads_per_s"], disk["writes_per_s"]) == ("c1t10d0", 0.1, 0.6)
    assert (disk["host_queue"], disk["device_queue"], disk["device_ms"], disk["util_pct"]) == (0.0, 0.0, 22.4, 0.0)


def test_host_queue_and_device_queue() -> None:
    found = dataset_of_sample("iostat_solaris.xnT.txt", zone=None).frame("disk").filter(device="c1t0d0")
    first = found.to_dicts()[0]
    assert (first["ts"], first["interval_s"]) == (datetime(2012, 1, 5, 18, 0, 30, tzinfo=UTC), 30.0)
    assert (first["host_queue"], first["device_queue"]) == (12.5, 8.0)
    assert (first["host_queue_ms"], first["device_ms"]) == (31.3, 20.0)
    assert first["read_bytes_per_s"] == 2480 * 1024


def test_a_device_without_requests_has_no_times() -> None:
    idle = dataset_of_sample("iostat_solaris.xnT.txt").frame("disk").filter(device="db1:vold(pid512)")
    assert idle.select("host_queue_ms", "device_ms").null_count().row(0) == (2, 2)
    assert idle["device_queue"].to_list() == [0.0, 0.0]


def test_with_commas_and_cpus() -> None:
    found = dataset_of_sample("iostat_solaris.xcr.txt")
    (disk,) = found.frame("disk").to_dicts()
    assert (disk["device"], disk["request_ms"], disk["host_queue"], disk["device_ms"]) == ("sd0", 66.7, 0.5, None)
    assert found.frame("cpu").select("usr_pct", "sys_pct", "idle_pct").rows() == [(40.0, 10.0, 50.0)]
    assert values(found, "iostat.%w", "sd0") == [9.0]
