"""atop: the text of `atop -P ALL`, and raw recordings through atop itself, where its version is on this machine.

Tables: `cpu` (CPU, cpu, CPL, PSI), `memory` (MEM, SWP, PAG, PSI), `disk` (DSK, LVM, MDD), `network` (NET), `process`
(PRG, PRC, PRM, PRD; threads and command lines are left out), `statistic`, component `kernel`: load averages, OOM
kills, pressure of I/O, atop's queue while a disk was busy. Counts of an interval are divided by it. Times are in
seconds since 1970. The first sample covers the time since boot, and is left out where others follow. Left out: NFS,
GPU, NUMA nodes, InfiniBand, and the network of processes.
"""

import subprocess
from collections.abc import Iterator
from typing import Final

from doctord._native import Batch
from doctord.errors import UserError
from doctord.read.collectors.atop_lines import LINE, batches
from doctord.read.format import Rank
from doctord.read.source import SourceFile
from doctord.read.tools.report import Line

NAME = "atop"
RANK = Rank.NAMED
MAGIC: Final = "\xef\xbe\xed\xfe"
HINT: Final = "install atop in the version that wrote it, or save `atop -P ALL -r FILE` where it was written"


def sniff(head: str) -> bool:
    """Whether it is a raw recording, or what -P prints of one."""
    if head.startswith(MAGIC):
        return True
    lines = [line for line in head.splitlines()[:6] if line not in {"RESET", "SEP", ""}]
    return len(lines) > 1 and all(LINE.match(line) for line in lines[:2])


def read(source: SourceFile) -> Iterator[Batch]:
    """The rows of all samples.

    Raises:
        UserError: it is a raw recording, and atop cannot read it here.
    """
    yield from batches(_printed(source) if source.head.startswith(MAGIC) else source.lines(), source)


def _printed(source: SourceFile) -> Iterator[Line]:
    """What atop prints of a raw recording."""
    with source.as_file() as file:
        try:
            atop = subprocess.Popen(
                ["atop", "-P", "ALL", "-r", str(file)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                encoding="utf-8",
                errors="replace",
            )
        except FileNotFoundError as error:
            raise UserError(f"{source.name}: a raw recording of atop, and atop is not on this machine", HINT) from error
        with atop:
            lines = 0
            for lines, text in enumerate(atop.stdout or (), 1):
                yield lines, text.rstrip("\n")
            said = (atop.stderr.read() if atop.stderr else "").strip()
        if atop.returncode and not lines:
            raise UserError(f"{source.name}: atop cannot read it: {said or atop.returncode}", HINT)
        if atop.returncode:
            source.note(f"atop ended before the recording did: {said}")
