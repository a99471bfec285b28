"""What the kernel says of a server's threads: on a CPU, or in which system call on a disk.

A state such as `Sending data` or `Updating` is shown for computing and reading alike. The server tells which thread of
its process a session is (MariaDB's processlist.tid, MySQL's threads.thread_os_id); /proc/PID/task/TID tells the rest to
root and to the server's own user, in a few microseconds, for those sessions alone whose state does not.
"""

from contextlib import suppress
from pathlib import Path
from typing import Final

from doctord._native import syscall_number
from doctord.collect.core.link import Link
from doctord.collect.mysql.discover import servers
from doctord.errors import UserError

RUNNING: Final = "CPU"
_NAMES: Final = ("read", "pread64", "preadv", "write", "pwrite64", "pwritev", "fsync", "fdatasync")
_CALLS: Final = {number: name for name in _NAMES if (number := syscall_number(name)) is not None}
ON_A_DISK: Final = "system call {}"
_OWN_THREAD: Final = (
    "SELECT /* doctord */ thread_os_id AS doctord FROM performance_schema.threads "
    "WHERE processlist_id = CONNECTION_ID()",
    "SELECT /* doctord */ tid AS doctord FROM information_schema.processlist WHERE id = CONNECTION_ID()",
)


class Threads:
    """Looks into /proc for the threads of one server."""

    def __init__(self, proc: Path = Path("/proc")) -> None:
        """Nothing is looked at yet."""
        self._proc = proc
        self._tasks: Path | None = None

    def begin(self, link: Link) -> None:
        """Find the server's process on this host.

        Raises:
            Away: the connection broke.
        """
        self._tasks = own_tasks(link, self._proc)

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


def own_tasks(link: Link, proc: Path = Path("/proc")) -> Path | None:
    """The folder of a server's threads, /proc/PID/task; null where it runs elsewhere, or does not tell its threads.

    It is found by the thread that serves us. MySQL tells that in performance_schema alone.

    Raises:
        Away: the connection broke.
    """
    folders = [proc / str(one.pid) / "task" for one in servers(proc)]
    for sql in _OWN_THREAD if folders else ():
        with suppress(UserError, ValueError, TypeError):  # no such table or column, or no row
            [(thread,)] = link.query(sql)
            return next((folder for folder in folders if (folder / str(int(thread))).exists()), None)
    return None
