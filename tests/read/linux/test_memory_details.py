"""smaps, smaps_rollup, numastat, /proc/buddyinfo."""

import pytest

from reading import figure, read_sample


@pytest.mark.parametrize("name", ["rollup", "smaps", "numastat", "buddyinfo"])
def test_every_line_is_used(name: str) -> None:
    reading = read_sample(f"memory_details.{name}.txt")
    assert (reading.format, reading.skipped_lines) == ("smaps, numastat, /proc/buddyinfo", 0)


def test_maps_are_summed() -> None:
    assert figure(read_sample("memory_details.rollup.txt"), "smaps.Pss") == [402000 * 1024.0]
    assert figure(read_sample("memory_details.smaps.txt"), "smaps.Rss") == [1000900 * 1024.0]
    assert figure(read_sample("memory_details.smaps.txt"), "smaps.KernelPageSize") == []


def test_nodes_and_free_pieces() -> None:
    assert figure(read_sample("memory_details.numastat.txt"), "numastat.numa_miss", entity="node1") == [9e7]
    found = read_sample("memory_details.buddyinfo.txt")
    assert figure(found, "buddyinfo.free_bytes", entity="node 0 Normal 16 KiB") == [200 * 16384.0]
