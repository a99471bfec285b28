"""What makes a test of storage one of memory."""

import pytest

from doctord.analyse.stress.page_cache import Moved

GIB = 1 << 30
# 1,000 reads of 8 KiB a second for ten seconds, all of which the device did.
DIRECT = Moved(
    is_direct=True,
    size_bytes=GIB,
    memory_bytes=16 * GIB,
    per_s=1000.0,
    moved_bytes=8192e4,
    device_bytes=8192e4,
    median_us=80.0,
    is_rotational=False,
)
BUFFERED = DIRECT._replace(is_direct=False)


@pytest.mark.parametrize(
    ("moved", "is_pitfall"),
    [
        (DIRECT, False),
        (DIRECT._replace(device_bytes=None, is_rotational=True), False),  # direct I/O: nothing but measuring counts
        (DIRECT._replace(device_bytes=0.0), True),  # a file system that takes direct I/O for a wish
        (BUFFERED, False),  # the device did it all
        (BUFFERED._replace(device_bytes=7e7), True),  # it fits into memory, and begins to be there
        (BUFFERED._replace(device_bytes=7e7, size_bytes=64 * GIB), False),
        (BUFFERED._replace(device_bytes=1e6, size_bytes=64 * GIB), True),
        (BUFFERED._replace(device_bytes=1e6, per_s=20.0), False),  # hardly a load
        (BUFFERED._replace(device_bytes=None), True),
        (BUFFERED._replace(device_bytes=None, size_bytes=64 * GIB, median_us=5000.0), False),
        (BUFFERED._replace(device_bytes=None, size_bytes=64 * GIB), True),  # sooner than a device
        (BUFFERED._replace(device_bytes=None, size_bytes=64 * GIB, median_us=5000.0, is_rotational=True), True),
    ],
)
def test_the_pitfall_is_told_by_what_the_device_did_else_by_other_signs(moved: Moved, *, is_pitfall: bool) -> None:
    assert moved.is_pitfall is is_pitfall


def test_what_is_not_known_is_not_zero() -> None:
    assert DIRECT._replace(device_bytes=None).cached_share is None
    assert DIRECT._replace(moved_bytes=0.0).cached_share is None
    assert DIRECT._replace(device_bytes=1e9).cached_share == 0.0  # others used the device too
