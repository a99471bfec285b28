"""Break the machine's free memory into pieces, and keep it so: nearly all of it stays free, none of it in one piece.

    python -m doctord.lab.host.fragments

is the process that does it, which says `in pieces` once it has done so; what it holds is free when it ends. Each block
of a huge page is taken, one small page of it goes into a pipe (vmsplice(2)), where it cannot be moved, and the rest is
given back. Blocks that become whole again later are broken, too.
"""

import ctypes
import fcntl
import os
import time
from pathlib import Path
from typing import Final

SAID_WHEN_DONE: Final = "in pieces"
# Memory that is left to the machine's other programs while all blocks are held.
_LEFT_BYTES: Final = 1 << 30
_LEAST_LEFT_BYTES: Final = 1 << 28
_PAGE_BYTES: Final = os.sysconf("SC_PAGE_SIZE")
# As large as a pipe may be without asking root (fs.pipe-max-size by default).
_PIPE_BYTES: Final = 1 << 20
_PROT_READ_WRITE, _MAP_PRIVATE_ANONYMOUS = 0x3, 0x22
# madvise(2): of mman-common.h, the same on all of Linux but Alpha, MIPS and PA-RISC.
_DONTNEED, _HUGEPAGE, _COLD = 4, 14, 20
_GIFT: Final = 0x2
_FAILED: Final = ctypes.c_void_p(-1).value
_LOOK_EVERY_S: Final = 0.05


class _Piece(ctypes.Structure):
    _fields_ = (("base", ctypes.c_void_p), ("bytes", ctypes.c_size_t))


_libc: Final = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
_libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
_libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
_libc.memset.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]
_libc.vmsplice.argtypes = [ctypes.c_int, ctypes.POINTER(_Piece), ctypes.c_size_t, ctypes.c_uint]


def main() -> None:
    """Break all free blocks, say so, and break again what becomes whole; until we are killed."""
    Path("/proc/self/oom_score_adj").write_text("1000")  # should memory end after all, we are the first to go
    pins, block_bytes = Pins(), figure("meminfo", "Hugepagesize") * 1024
    while _break(pins, _blocks_to_have(block_bytes), block_bytes):
        pass
    print(SAID_WHEN_DONE, flush=True)  # noqa: T201 - the lab waits for it
    while True:
        if whole := whole_blocks(Path("/proc/buddyinfo").read_text(), block_bytes):
            _break(pins, whole, block_bytes)
        time.sleep(_LOOK_EVERY_S)


class Pins:
    """Pipes that hold pages, each as many as it has room for."""

    def __init__(self) -> None:
        """No pipe yet."""
        self.pipes: list[tuple[int, int]] = []
        self._free = 0

    def hold(self, page: int) -> None:
        """Put the page at an address into a pipe.

        Raises:
            OSError: the kernel takes no more pages into pipes of this user.
        """
        if not self._free:
            self.pipes.append(os.pipe())
            self._free = fcntl.fcntl(self.pipes[-1][1], fcntl.F_SETPIPE_SZ, _PIPE_BYTES) // _PAGE_BYTES
        os.set_blocking(self.pipes[-1][1], False)
        piece = _Piece(page, _PAGE_BYTES)
        if _libc.vmsplice(self.pipes[-1][1], ctypes.byref(piece), 1, _GIFT) != _PAGE_BYTES:
            raise OSError(ctypes.get_errno(), "vmsplice: a pipe takes no page; see fs.pipe-user-pages-hard")
        self._free -= 1


def whole_blocks(buddyinfo: str, block_bytes: int) -> int:
    """Blocks of a huge page that are free at once, by /proc/buddyinfo, less those of the first 16 MiB (zone DMA)."""
    first = (block_bytes // _PAGE_BYTES).bit_length() - 1
    zones = (line.split() for line in buddyinfo.splitlines())
    return sum(
        int(blocks) << more for zone in zones if zone[3] != "DMA" for more, blocks in enumerate(zone[4 + first :])
    )


def figure(file: str, name: str) -> int:
    """A figure of a file of /proc that holds a name and a number a line."""
    lines = (line.replace(":", " ").split() for line in Path("/proc", file).read_text().splitlines())
    return next(int(line[1]) for line in lines if line[0] == name)


def _blocks_to_have(block_bytes: int) -> int:
    available_bytes = figure("meminfo", "MemAvailable") * 1024
    return max(available_bytes - _LEFT_BYTES, min(available_bytes, _LEAST_LEFT_BYTES)) // block_bytes


def _break(pins: Pins, most: int, block_bytes: int) -> int:
    """Take so many blocks, or fewer where the kernel has none left, and leave one page of each; how many it were."""
    size = (most + 1) * block_bytes
    begin = _libc.mmap(None, size, _PROT_READ_WRITE, _MAP_PRIVATE_ANONYMOUS, -1, 0)
    if begin == _FAILED:
        raise OSError(ctypes.get_errno(), "mmap: so much memory is not to be had at once; see vm.overcommit_memory")
    base = -(-begin // block_bytes) * block_bytes
    _libc.madvise(base, most * block_bytes, _HUGEPAGE)
    taken, refused = 0, figure("vmstat", "thp_fault_fallback")
    while taken < most and figure("vmstat", "thp_fault_fallback") == refused:
        _libc.memset(base + taken * block_bytes, 1, 1)
        taken += 1
    for page in range(base, base + taken * block_bytes, block_bytes):
        _libc.madvise(page, _PAGE_BYTES, _COLD)  # of a part of a huge page: it is split
        pins.hold(page)
    _libc.munmap(begin, size)
    return taken if taken == most else taken - 1


if __name__ == "__main__":
    main()
