"""Memory in pieces: what the kernel says is whole, and pages that pipes hold."""

import ctypes
import mmap
import os

from doctord.lab.host.fragments import Pins, whole_blocks

# The machine of the lab, with 13 blocks of 2 MiB in zone DMA32 and 3 + 2 * 2 in Normal; x86 has ten orders and zero.
BUDDYINFO = """\
Node 0, zone      DMA      0      0      0      0      0      0      0      0      1      1      3
Node 0, zone    DMA32   1506   1534   1524   1517   1511   1496   1489   1476   1479     13      0
Node 0, zone   Normal 109653 105342  79771  49553  31797  17094  10530   6247   4551      3      2
"""


def test_whole_blocks_are_those_of_a_huge_page_and_more() -> None:
    assert whole_blocks(BUDDYINFO, 2 << 20) == 13 + 3 + 2 * 2
    assert whole_blocks(BUDDYINFO, 1 << 20) == 1479 + 2 * 13 + 4551 + 2 * 3 + 4 * 2


def test_a_pipe_holds_a_page_that_is_given_back() -> None:
    memory, pins = mmap.mmap(-1, 2 * mmap.PAGESIZE), Pins()
    memory[:4] = b"kept"
    pins.hold(ctypes.addressof(ctypes.c_char.from_buffer(memory)))
    assert os.read(pins.pipes[-1][0], 4) == b"kept"
