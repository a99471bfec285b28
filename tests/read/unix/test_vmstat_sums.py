"""vmstat -s, -d, -D, -m, and vmstat -s of Solaris."""

from datetime import UTC, datetime

from read.texts import SAMPLES, dataset_of, dataset_of_sample, values
from shared import CASEBOOK, CORPUS, sample


def test_faults_of_solaris() -> None:
    found = dataset_of(sample(CASEBOOK / "tlb/vmstat-s.txt"))
    assert values(found, "vmstat.minor (as) faults") == [2377024933.0]
    assert values(found, "vmstat.major faults") == [16504390.0]


def test_sizes_and_counts_of_linux() -> None:
    found = dataset_of_sample("vmstat_sums.s.txt")
    lines = [line.split() for line in (SAMPLES / "vmstat_sums.s.txt").read_text().splitlines()]
    told = {" ".join(words[2:]): int(words[0]) for words in lines}
    (memory,) = found.frame("memory").to_dicts()
    assert memory["total_bytes"] == told["total memory"] * 1024
    assert memory["page_cache_bytes"] == (told["buffer memory"] + told["swap cache"]) * 1024
    assert values(found, "vmstat.CPU context switches") == [told["context switches"]]


def test_disks_with_their_moment() -> None:
    found = dataset_of(sample(CORPUS / "linux_text/jc_centos-7.7_vmstat-dt.out"), zone=None).frame("statistic")
    assert found.height == 4 * 10
    sda = dict(found.filter(entity="sda").select("name", "value").rows())
    assert (sda["vmstat.reads total"], sda["vmstat.writes ms"], sda["vmstat.I/O sec"]) == (15257.0, 146540.0, 44.0)
    assert found["ts"].unique().to_list() == [datetime(2021, 9, 16, 20, 32, 28, tzinfo=UTC)]


def test_two_looks_at_the_disks_are_two_reports() -> None:
    rows = dataset_of_sample("vmstat_sums.d.txt").frame("statistic").filter(name="vmstat.reads total")
    assert rows["entity"].to_list() == ["vda", "vda"]
    assert rows["ts"].n_unique() == 2


def test_slabs_and_sums_of_disks() -> None:
    assert values(dataset_of_sample("vmstat_sums.m.txt"), "vmstat.Size", "AF_VSOCK") == [1280.0]
    assert values(dataset_of_sample("vmstat_sums.D.txt"), "vmstat.disks") == [10.0]
