"""A host that stops to make large pages, from its files in /proc and /sys to the verdict, beside one that need not.

The trees are written by hand: /proc/vmstat after mm/vmstat.c, pressure after Documentation/accounting/psi.rst,
buddyinfo and meminfo after Documentation/filesystems/proc.rst, transparent_hugepage after
Documentation/admin-guide/mm/transhuge.rst, all of Linux 6.18. None is a copy of a machine's. The lab has no such fault:
what is wanted in one piece is made of the free pages of a whole zone (mm/compaction.c), which no control group parts,
so that all large blocks of the machine would have to be taken away from everybody.
"""

import time
from pathlib import Path

from doctord._native import HostSampler, RareSampler
from doctord.dataset.dataset import Dataset
from doctord.dataset.tables import TABLES
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

LAYOUTS = {name: table.layout for name, table in TABLES.items()}
MEMINFO = """\
MemTotal:       65536000 kB
MemFree:         8192000 kB
MemAvailable:   40960000 kB
Buffers:          100000 kB
Cached:         36000000 kB
SwapTotal:             0 kB
SwapFree:              0 kB
Shmem:           4000000 kB
SReclaimable:    1000000 kB
SUnreclaim:      2000000 kB
PageTables:       100000 kB
HugePages_Total:       0
HugePages_Free:        0
Hugepagesize:       2048 kB
"""
# Some 8 GB free: in blocks of up to 64 KiB, and in blocks of 4 MiB.
IN_PIECES = "Node 0, zone   Normal 900000 300000 90000 10000 5000      3      2      1      1      0      0 \n"
IN_BLOCKS = "Node 0, zone   Normal   1000    500   200    50   20     10      5      2      1      1   1900 \n"
# For some hundred large pages a second, and as many compactions that did not end with one as did.
STALLING = {"compact_stall": 90, "compact_fail": 45, "compact_success": 45, "thp_fault_fallback": 50}


def write(root: Path, buddyinfo: str, *, given: int = 0, stalls: bool = False, stalled_us: float = 0.0) -> None:
    """The tree at one moment: large pages given since the first, whether others had to be made, and what that took."""
    counts = {"thp_fault_alloc": 1000 + given} | {name: count * stalls for name, count in STALLING.items()}
    files = {
        "proc/meminfo": MEMINFO,
        "proc/buddyinfo": buddyinfo,
        "proc/vmstat": "".join(f"{name} {count}\n" for name, count in counts.items()),
        "proc/pressure/memory": f"some avg10=0.00 avg60=0.00 avg300=0.00 total={stalled_us:.0f}\n"
        "full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
        "sys/kernel/mm/transparent_hugepage/enabled": "[always] madvise never\n",
        "sys/kernel/mm/transparent_hugepage/defrag": "[always] defer defer+madvise madvise never\n",
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def verdict(root: Path, buddyinfo: str, *, stalls: bool) -> list[Finding]:
    """What both collectors see over a fifth of a second, and what is concluded from it."""
    write(root, buddyinfo)
    folders = {"proc": root / "proc", "sys": root / "sys"}
    samplers = HostSampler("here", LAYOUTS, **folders), RareSampler("here", LAYOUTS, **folders)
    began = time.monotonic()
    batches = [batch for sampler in samplers for batch in sampler.sample()]
    time.sleep(0.2)
    lost_us = 0.3e6 * (time.monotonic() - began) if stalls else 0.0
    write(root, buddyinfo, given=90, stalls=stalls, stalled_us=lost_us)
    batches += [batch for sampler in samplers for batch in sampler.sample()]
    return list(diagnose(Dataset.from_batches(batches)).findings)


def test_memory_in_pieces_and_large_pages_that_everybody_waits_for(tmp_path: Path) -> None:
    first, *_ = verdict(tmp_path, IN_PIECES, stalls=True)
    assert first.cause == "compaction_stalls"
    told = " | ".join(said(evidence.figure) for evidence in first.for_)
    assert "of the time lost to memory" in told
    assert "lies in large blocks" in told
    assert "transparent_hugepage.defrag = always" in told
    assert not first.against


def test_large_pages_that_are_always_asked_for_and_are_there(tmp_path: Path) -> None:
    assert verdict(tmp_path, IN_BLOCKS, stalls=False) == []
