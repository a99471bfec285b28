"""The process that is traced: whether it can be, who belongs to it, and what tracing it costs it."""

import os
import time
from collections.abc import Iterable
from pathlib import Path

from doctord.dataset.calltrace import Used
from doctord.errors import UserError

TICKS_PER_S = os.sysconf("SC_CLK_TCK")


def command_of(pid: int) -> str:
    """Name of a process that can be traced.

    Raises:
        UserError: there is none, or another tracer holds it.
    """
    try:
        status = _status(pid)
    except OSError as error:
        raise UserError(
            f"there is no process {pid}", "ps -ef lists them; a postmaster's pid stands in postmaster.pid"
        ) from error
    if status["State"].startswith("Z"):
        raise UserError(f"process {pid} ({status['Name']}) has ended", "its parent has not asked for its status yet")
    if not Path(f"/proc/{pid}/cmdline").read_bytes():
        raise UserError(f"process {pid} ({status['Name']}) belongs to the kernel", "it makes no system calls")
    if (tracer := status["TracerPid"]) != "0":
        raise UserError(f"process {pid} is traced by process {tracer}", "end that tracer (strace, gdb) first")
    return status["Name"]


def family(pid: int) -> list[int]:
    """A process and all that descend from it, oldest generation first."""
    found = [pid]
    for known in found:
        for task in _tasks(known):
            found += [int(child) for child in _text(task / "children").split()]
    return found


def sizes_of(pid: int) -> tuple[int | None, int | None]:
    """Resident memory and page tables of a process, bytes; null where it is gone, or has none."""
    lines = (line.partition(":") for line in _text(Path(f"/proc/{pid}/status")).splitlines())
    sizes = {name: int(rest.split()[0]) * 1024 for name, _, rest in lines if name in {"VmRSS", "VmPTE"}}
    return sizes.get("VmRSS"), sizes.get("VmPTE")


class Meter:
    """Reads what processes have used since it was made; those that end meanwhile leave the figures."""

    def __init__(self, pids: Iterable[int]) -> None:
        """Begin."""
        self._before = {pid: _used(pid) for pid in pids}
        self._began_s = time.monotonic()

    def used(self) -> Used:
        """What those that are still there used a second."""
        seconds = time.monotonic() - self._began_s
        pairs = [(before, _used(pid)) for pid, before in self._before.items()]
        used = [(after[0] - before[0], after[1] - before[1]) for before, after in pairs if before and after]
        if not used or seconds <= 0:
            return {"cpu_ms_per_s": None, "switches_per_s": None}
        cpu_s, switches = (sum(column) for column in zip(*used, strict=True))
        return {"cpu_ms_per_s": 1000 * cpu_s / seconds, "switches_per_s": switches / seconds}


def _used(pid: int) -> tuple[float, int] | None:
    """CPU seconds and context switches of a process since it began; null when it is gone."""
    stat = _text(Path(f"/proc/{pid}/stat"))
    if not stat:
        return None
    fields = stat.rpartition(")")[2].split()
    ticks = int(fields[11]) + int(fields[12])
    return ticks / TICKS_PER_S, sum(_switches(task) for task in _tasks(pid))


def _switches(task: Path) -> int:
    lines = _text(task / "status").splitlines()
    return sum(int(line.split()[1]) for line in lines if "ctxt_switches:" in line)


def _tasks(pid: int) -> list[Path]:
    try:
        return list(Path(f"/proc/{pid}/task").iterdir())
    except OSError:
        return []


def _text(file: Path) -> str:
    """The content of a file under /proc; empty when its process is gone."""
    try:
        return file.read_text()
    except OSError:
        return ""


def _status(pid: int) -> dict[str, str]:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}
