"""What the kernel says of a server's threads: on a CPU, or in which system call on a disk.

A state such as `Sending data` or `Updating` is shown for computing and reading alike. The server tells which thread of
its process a session is (MariaDB's processlist.tid, MySQL's threads.thread_os_id); /proc/PID/task/TID tells the rest to
root and to the server's own user, in a few microseconds, for those sessions alone whose state does not.
"""

from contextlib import suppress
from pathlib import Path
from typing import Final

from doctord._native import syscall_number
from doctord.collect.mysql.discover import servers

RUNNING: Final = "CPU"
_NAMES: Final = ("read", "pread64", "preadv", "write", "pwrite64", "pwritev", "fsync", "fdatasync")
_CALLS: Final = {number: name for name in _NAMES if (number := syscall_number(name)) is not None}
ON_A_DISK: Final = "system call {}"


class Threads:
    """Looks into /proc for the threads of one server."""

    def __init__(self, proc: Path = Path("/proc")) -> None:
        """Nothing is looked at yet."""
        self._proc = proc
        self._tasks: Path | None = None

    def begin(self, own_thread: int | None) -> None:
        """Find the server's process on this host by the thread that serves us; null: the server does not tell it."""
        found = (self._proc / str(one.pid) / "task" for one in servers(self._proc))
        self._tasks = next((tasks for tasks in found if own_thread and (tasks / str(own_thread)).exists()), None)

    def event(self, thread: int | None) -> str | None:
        """What a thread does: `CPU` where it runs or wants to, a system call where it waits for a disk, else null."""
        if self._tasks is None or not thread:
            return None
        with suppress(OSError, ValueError, IndexError):  # it has ended, or may not be looked at
            folder = self._tasks / str(thread)
            state = (folder / "stat").read_text().rpartition(")")[2].split()[0]
            if state == "R":
                return RUNNING
            if state == "D":
                return ON_A_DISK.format(_CALLS.get(int((folder / "syscall").read_text().split()[0]), "on a disk"))
        return None
