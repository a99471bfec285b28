"""What the system grants a server's processes, and what they have of it: descriptors, processes, memory, host's files.

All of it from /proc and the control groups, where the server runs on this host: its limits anybody may read, what its
processes hold only root and its own user.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from doctord._native import Batch
from doctord.collect.core.control_groups import CGROUPS, PROC, folders, text
from doctord.collect.core.rates import EARLY, Cadence
from doctord.collect.postgres.connection.link import Link
from doctord.collect.postgres.statistics.figures import Figures
from doctord.regex import regex

# getrlimit(2): the soft limit, which is the one that counts.
_LIMIT: Final = regex(
    r"^(?P<name>Max (?:open files|processes|address space|(?:data|file) size|cpu time))"
    r" +(?P<soft>\d+) .* (?P<unit>\w+) *$",
    re.MULTILINE,
)
_NAMES: Final = {
    "Max open files": "limits.open_files",
    "Max processes": "limits.processes",
    "Max address space": "limits.address_space_bytes",
    "Max data size": "limits.data_bytes",
    "Max file size": "limits.file_size_bytes",
    "Max cpu time": "limits.cpu_s",
}
# What is used of a limit of memory, by the lines of /proc/PID/status: the most addresses so far, and the data now.
_USED: Final = {
    "limits.address_space_bytes": ("limits.address_space_used_bytes", "VmPeak"),
    "limits.data_bytes": ("limits.data_used_bytes", "VmData"),
}
_UNITS: Final = {"seconds": "s"}
_PROMISED: Final = {"limits.committed_bytes": "Committed_AS", "limits.commit_limit_bytes": "CommitLimit"}
_KIB: Final = 1024
# The server's processes do alike: so many of them are looked at. What memory each has differs.
_LOOKED_AT: Final = 8
_MEMORY_LOOKED_AT: Final = 128
_SUBJECT: Final = "how many descriptors the server's processes hold"
_HINT: Final = "run as root, or as the server's user"


class Limits:
    """Fills `statistic` with `limits.*`: what a process may have open, what is open, processes of its control group.

    `limits.tasks` is the limit that is nearest of the group and those above it, with what is used of that; the host's
    open files, and the memory that it has promised, are told with their limits, too. A limit of memory that the
    processes do not have (unlimited) has no row; what is used of one is that of the process with most.
    """

    name = "limits of the server's processes"

    def __init__(self, proc: Path = PROC, cgroups: Path = CGROUPS) -> None:
        """Due soon after the start, then every half minute; the folders may be recorded trees."""
        self.cadence = Cadence(30.0, EARLY)
        self._proc, self._cgroups = proc, cgroups

    def read(self, link: Link) -> list[Batch]:
        """The limits of this moment, and what is used of them; nothing of a server elsewhere, or one that has ended."""
        pid = link.server_pid()
        figures = Figures(link.db)
        if pid is None:
            return []
        for name, value, unit in self.of(pid):
            figures.gauge(name, value, unit)
        try:
            figures.gauge("limits.open_files_used", self._most_open(pid), "files")
        except PermissionError as error:
            link.notices.not_measured(link.db, _SUBJECT, error.strerror or str(error), _HINT)
        return figures.batches()

    def close(self) -> None:
        """There is nothing of its own."""

    def of(self, pid: int) -> Iterator[tuple[str, float, str]]:
        """Name, value and unit of what is told of a server by the number of its first process."""
        for found in _LIMIT.finditer(text(self._proc / str(pid) / "limits")):
            name = _NAMES[found["name"]]
            yield name, float(found["soft"]), _UNITS.get(found["unit"], found["unit"])
            used_name, line = _USED.get(name, ("", ""))
            if line and (sizes := [*self._memory(pid, line)]):
                yield used_name, max(sizes), "bytes"
        for name, line in _PROMISED.items():
            yield from ((name, promised, "bytes") for promised in _bytes(self._proc / "meminfo", line))
        used, _, rest = text(self._proc / "sys/fs/file-nr").partition("\t")
        if used.isdigit():
            yield "limits.host_files_used", float(used), "files"
            yield "limits.host_files", float(rest.split()[-1]), "files"
        groups = sorted(self._groups(pid), key=lambda group: group[0] - group[1])
        for limit, current in groups[:1]:
            yield "limits.tasks", limit, "tasks"
            yield "limits.tasks_used", current, "tasks"

    def _memory(self, pid: int, line: str) -> Iterator[float]:
        """What the processes of a server have by a line of their status, in bytes."""
        children = text(self._proc / f"{pid}/task/{pid}/children").split()
        for one in (str(pid), *children[-_MEMORY_LOOKED_AT:]):
            yield from _bytes(self._proc / one / "status", line)

    def _most_open(self, pid: int) -> int | None:
        """The most descriptors that one of the server's processes holds; null where all have ended."""
        children = text(self._proc / f"{pid}/task/{pid}/children").split()
        return max(_open(self._proc / str(one) / "fd") for one in [str(pid), *children[-_LOOKED_AT:]]) or None

    def _groups(self, pid: int) -> Iterator[tuple[float, float]]:
        """Limit and use of the control groups that count its tasks: its own, and those above it."""
        for _, folder in folders(pid, "pids", self._proc, self._cgroups):
            limit, current = text(folder / "pids.max").strip(), text(folder / "pids.current").strip()
            if limit.isdigit() and current.isdigit():
                yield float(limit), float(current)


def _bytes(path: Path, line: str) -> Iterator[float]:
    """The number of a line in kB of a file of /proc, in bytes; none where the file or the line is not there."""
    found = re.search(rf"^{line}:\s+(\d+) kB$", text(path), re.MULTILINE)
    if found:
        yield float(found[1]) * _KIB


def _open(folder: Path) -> int:
    """Descriptors of a process; one that has ended meanwhile has none."""
    try:
        return sum(1 for _ in folder.iterdir())
    except (FileNotFoundError, ProcessLookupError):
        return 0
