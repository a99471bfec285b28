"""df of several systems."""

import pytest

from reading import picked, read_sample

GIB = 1 << 30


@pytest.mark.parametrize("name", ["k", "h", "solaris", "i", "aix"])
def test_every_line_is_used(name: str) -> None:
    reading = read_sample(f"df.{name}.txt")
    assert (reading.format, reading.skipped_lines) == ("df", 0)


def test_what_is_reserved_is_in_no_part() -> None:
    """df says 74 %: used by used and available, not by all blocks."""
    ((mount, device, used, size), _) = picked(
        read_sample("df.k.txt"), "filesystem", "mount", "device", "used_bytes", "size_bytes"
    )
    assert (mount, device) == ("/u02/oradata", "/dev/mapper/vg_data-lv_oradata_very_long_name")
    assert (used, round(used / size, 3)) == (71680000 << 10, 0.737)


def test_letters_types_and_blanks_in_a_mount_point() -> None:
    found = picked(read_sample("df.h.txt"), "filesystem", "mount", "used_bytes", "size_bytes")
    assert found[0] == ("/", 60 * GIB, 95 * GIB)
    assert found[1][0] == "/var/lib/my data"


def test_inodes_and_other_systems() -> None:
    assert picked(read_sample("df.i.txt"), "filesystem", "mount", "inodes_used_pct") == [("/", 95.0)]
    assert picked(read_sample("df.solaris.txt"), "filesystem", "used_bytes")[0] == (9200000 << 10,)
    assert picked(read_sample("df.aix.txt"), "filesystem", "used_bytes", "inodes_used_pct")[1] == (90 * GIB, 1.0)
