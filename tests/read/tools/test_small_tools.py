"""trapstat, kstat, lparstat, free, uptime and vxtrace: a few lines each."""

import pytest

from read.texts import SAMPLES, dataset_of, dataset_of_sample, values
from shared import CASEBOOK, CORPUS, sample


def test_trapstat_by_page_size() -> None:
    found = dataset_of(sample(CASEBOOK / "tlb/trapstat-T.txt")).frame("translation")
    kernel = found.filter(cpu=0, mode="kernel", page_bytes=8192)
    assert kernel.select("dtlb_misses_per_s", "dtsb_misses_per_s").rows() == [(146.0, 3.0)]
    assert found["page_bytes"].drop_nulls().unique().sort().to_list() == [8 << 10, 64 << 10, 512 << 10, 4 << 20]
    total = found.filter(found["cpu"].is_null())
    assert total.select("itlb_misses_per_s", "dtlb_misses_per_s", "dtsb_misses_per_s").rows() == [
        (619.0, 4137.0, 300.0)
    ]


def test_trapstat_by_mode() -> None:
    found = dataset_of_sample("trapstat.t.txt").frame("translation")
    user = found.filter(cpu=1, mode="user")
    assert user.select("itlb_pct", "dtlb_pct", "dtsb_pct", "page_bytes").rows() == [(0.2, 17.5, 3.9, None)]


@pytest.mark.parametrize("name", ["kstat.txt", "kstat.p.txt"])
def test_kstat_in_both_layouts(name: str) -> None:
    found = dataset_of_sample(name)
    assert values(found, "kstat.as_fault", "cpu:0:vm") == [4181265.0]
    assert values(found, "kstat.maj_fault", "cpu:0:vm") == [20906.0]
    assert values(found, "kstat.state") == [], "what is no number is no figure"


def test_kstat_without_its_first_lines() -> None:
    found = dataset_of(sample(CASEBOOK / "tlb/kstat.txt"))
    assert (values(found, "kstat.as_fault"), values(found, "kstat.maj_fault")) == ([142199182.0], [984358.0])


def test_lparstat_and_what_the_partition_is_entitled_to() -> None:
    found = dataset_of_sample("lparstat.txt")
    assert found.frame("cpu").select("usr_pct", "sys_pct", "idle_pct").rows() == [
        (30.1, 10.2, 59.2),
        (62.0, 20.0, 18.0),
    ]
    assert values(found, "lparstat.%entc") == [81.0, 160.0]
    settings = dict(found.frame("setting").select("name", "value").rows())
    assert (settings["lparstat.ent"], settings["lparstat.mode"]) == ("1.00", "Uncapped")


def test_free_agrees_with_its_text() -> None:
    words = next(line.split() for line in (SAMPLES / "free.w.txt").read_text().splitlines() if line.startswith("Mem:"))
    first = dataset_of_sample("free.w.txt").frame("memory").to_dicts()[0]
    total, used, free, shared, buffers, cache, available = (int(word) * 1024 for word in words[1:])
    assert (first["total_bytes"], first["free_bytes"], first["shmem_bytes"]) == (total, free, shared)
    assert (first["page_cache_bytes"], first["available_bytes"]) == (buffers + cache, available)
    assert values(dataset_of_sample("free.w.txt"), "free.used")[0] == used


def test_uptime_of_solaris() -> None:
    found = dataset_of(sample(CASEBOOK / "cpu/uptime.txt"))
    assert [values(found, f"uptime.load_{span}") for span in ("1m", "5m", "15m")] == [[7.71], [8.87], [8.86]]
    assert values(found, "uptime.up_s") == [24 * 86400 + 22 * 3600 + 12 * 60.0]
    assert found.frame("statistic")["ts"][0].time().isoformat() == "20:30:00"


def test_requests_of_vxtrace() -> None:
    found = dataset_of(sample(CASEBOOK / "iosize/vxfs-1k.vxtrace")).frame("block_io")
    assert found["bytes"].to_list() == [16384, 65536, 16384, 65536]
    assert found["sector"].to_list() == [4326176, 4326048, 4326176, 4325792]
    assert found["latency_us"].null_count() == 4, "shorter than a tick"
    mine = dataset_of_sample("vxtrace.txt").frame("block_io")
    assert mine.select("operation", "bytes", "latency_us").rows() == [
        ("read", 8192, 20000.0),
        ("write", 1 << 20, None),
        ("read", 8192, None),
    ]


FILES = sorted(
    [
        *(CORPUS / "linux_text").glob("*"),
        *(
            file
            for tool in ("iostat-", "vmstat", "mpstat", "pidstat")
            for file in (CORPUS / "testbed").glob(f"{tool}*.txt")
        ),
        *(file for case in ("cpu", "tlb", "queue_depth", "iosize") for file in (CASEBOOK / case).glob("[!s]*")),
    ]
)


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.name}")
def test_every_file_is_read_whole(file: str) -> None:
    assert dataset_of(sample(file)).tables
