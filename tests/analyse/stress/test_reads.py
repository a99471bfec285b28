import pytest

from doctord.analyse.stress.reads import Reads


@pytest.mark.parametrize(
    ("blocks", "device_bytes", "is_pitfall"),
    [
        (211_178, 8_685 * 8192.0, True),  # the issue's own figures: nearly all out of the page cache
        (211_178, 211_178 * 8192.0, False),  # direct I/O, or a working set larger than memory
        (211_178, 3 * 211_178 * 8192.0, False),  # read-ahead: more than was asked for
        (211_178, None, False),  # a server elsewhere: nobody can say
        (500, 0.0, False),  # next to no reads
        (0, 0.0, False),
    ],
)
def test_reads_that_never_reached_the_disk(blocks: float, device_bytes: float | None, *, is_pitfall: bool) -> None:
    assert Reads(blocks, 8192, device_bytes, 30).is_pitfall is is_pitfall
