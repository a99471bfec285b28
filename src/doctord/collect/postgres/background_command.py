"""What the archiver, or the process that recovers, runs just now: found below the server's own, by name alone.

archive_command and restore_command are the administrator's, and may hold a password: their arguments are never read.
Their name, their age and what they wait for in the kernel are told; where an archive_library copies within the
archiver, the archiver itself is.
"""

import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal, NamedTuple

from doctord.regex import regex

PROC: Final = Path("/proc")
# Titles since version 9.0: with cluster_name before, and what it does behind. A client may be called so too.
_TITLES: Final = {
    "archiver": regex(r"postgres: (?:.*: )?archiver(?: (?:archiving|last was|failed on) \S+)?$"),
    "startup": regex(r"postgres: (?:.*: )?startup(?: (?:recovering|waiting for) \S+)?$"),
}
# A shell, what it runs, and what that runs: `sh -c`, a pipe, rsync over ssh.
_MOST_DEEP, _MOST_TOLD = 8, 4
# Fields of /proc/PID/stat behind the name (proc(5), from field 3 on).
_STATE, _STARTED = 0, 19


class Command(NamedTuple):
    """What such a process runs: `name` of the last of its processes, for how long, and in what state each of them is.

    `running_s` is null where it runs no command at this moment.
    """

    name: str
    running_s: float | None
    where: str


def running(server: int, who: Literal["archiver", "startup"], proc: Path = PROC) -> Command | None:
    """The command below a background process of a server (the postmaster's pid); null where there is none such."""
    title = _TITLES[who]
    parent = next((pid for pid in _children(server, proc) if title.match(_title(pid, proc))), None)
    if parent is None:
        return None
    # One that has not become the command yet still has its parent's title.
    commands = [pid for pid in _children(parent, proc) if not title.match(_title(pid, proc))]
    ends = [end for command in commands for end in _ends(command, proc)] or [parent]
    names = [who if end == parent else _stat(end, proc)[0] for end in ends[:_MOST_TOLD]]
    where = "; ".join(_where(end, name, proc) for end, name in zip(ends, names, strict=False))
    ages = [age for command in commands if (age := _age_s(command, proc)) is not None]
    return Command(", ".join(names), max(ages, default=None), where)


def _ends(pid: int, proc: Path, deep: int = 0) -> list[int]:
    """The processes below one that have none below them: the others wait for these."""
    children = _children(pid, proc) if deep < _MOST_DEEP else []
    return [end for child in children for end in _ends(child, proc, deep + 1)] or [pid]


def _children(pid: int, proc: Path) -> list[int]:
    """As the kernel lists them (CONFIG_PROC_CHILDREN); none where it does not, or the process has ended."""
    with suppress(OSError):
        return [int(child) for child in (proc / f"{pid}/task/{pid}/children").read_text().split()]
    return []


def _title(pid: int, proc: Path) -> str:
    with suppress(OSError):
        return (proc / str(pid) / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    return ""


def _stat(pid: int, proc: Path) -> tuple[str, list[str]]:
    """Name and the fields behind it; a name without fields where it has ended."""
    with suppress(OSError):
        told = (proc / str(pid) / "stat").read_text(errors="replace")
        return told.partition("(")[2].rpartition(")")[0], told.rpartition(")")[2].split()
    return "a process that has ended", []


def _where(pid: int, name: str, proc: Path) -> str:
    """Number, name, state and, where it is granted, the kernel's function in which it sleeps."""
    fields, function = _stat(pid, proc)[1], ""
    with suppress(OSError):
        function = (proc / str(pid) / "wchan").read_text()
    state = f", state {fields[_STATE]}" if fields else ""
    return f"process {pid} ({name}){state}{f' in {function}' if function not in ('', '0') else ''}"


def _age_s(pid: int, proc: Path) -> float | None:
    fields = _stat(pid, proc)[1]
    if len(fields) <= _STARTED:
        return None
    started_s = int(fields[_STARTED]) / os.sysconf("SC_CLK_TCK")
    return max(time.clock_gettime(time.CLOCK_BOOTTIME) - started_s, 0.0)
