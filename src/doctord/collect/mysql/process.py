"""The server's own process, and what its background threads take of the CPUs.

Sessions are threads of one process. The kernel tells of the process as a whole how long it ran and how long it was
ready without a CPU (`process`), threads that have ended among them; less what the background threads and a replica's
appliers took, the rest is the sessions'. So a few dozen threads are read, however many sessions there are.
"""

import time
from pathlib import Path
from typing import Any, Final

from doctord.collect.core.link import Link
from doctord.collect.core.rates import Counters
from doctord.collect.mysql.refusals import Refusals
from doctord.collect.mysql.threads import own_tasks
from doctord.dataset import mysql_names
from doctord.errors import UserError

_BACKGROUND: Final = (
    "SELECT /* doctord */ thread_os_id AS doctord FROM performance_schema.threads "  # noqa: S608 - our own names
    f"WHERE (type = 'BACKGROUND' OR {mysql_names.IS_REPLICATION}) AND thread_os_id IS NOT NULL"
)
_THREADS_AGAIN_S: Final = 60.0
UNTOLD: Final = "nobody tells which they are: what they take of the CPUs counts as the sessions'"
TO_TELL: Final = "performance_schema = ON under [mysqld], and GRANT SELECT ON performance_schema.* TO our user"


class ServerProcess:
    """Of one server; nothing is told of one on another host, or that does not tell its threads."""

    def __init__(self, proc: Path = Path("/proc")) -> None:
        """Nothing is looked at yet."""
        self._proc = proc
        self._tasks: Path | None = None
        self._threads: list[int] = []
        self._threads_at_s = 0.0
        self._counters = Counters[tuple[int, str]]()
        self._refused = Refusals()

    def settings(self, link: Link) -> list[dict[str, Any]]:
        """The number of the server's process, as a setting; to be called for each connection, before `statistics`.

        Raises:
            Away: the connection broke.
        """
        self._tasks, self._counters = own_tasks(link, self._proc), Counters()
        self._refused.forget()
        if self._tasks is None:
            return []
        self._look(link)
        return [{"name": mysql_names.SERVER_PID, "value": self._tasks.parent.name, "source": "kernel"}]

    @property
    def is_background_untold(self) -> bool:
        """Whether the server runs here, and does not tell which threads are in the background."""
        return self._tasks is not None and not self._threads

    def statistics(self, link: Link) -> list[dict[str, Any]]:
        """Seconds per second of the background threads on a CPU, and ready without one; none at the first call.

        None either where the server does not tell which threads these are: the sessions' time is then that of all.

        Raises:
            Away: the connection broke.
        """
        if self._tasks is None:
            return []
        if time.monotonic() - self._threads_at_s >= _THREADS_AGAIN_S:
            self._look(link)
        taken = [_schedstat(self._tasks / str(thread)) for thread in self._threads]
        told = {
            (thread, name): seconds
            for thread, both in zip(self._threads, taken, strict=True)
            if both
            for name, seconds in zip(mysql_names.BACKGROUND, both, strict=True)
        }
        increase = self._counters.step(time.monotonic(), told)
        if increase is None or not increase.per_s:
            return []
        rate = {
            "component": mysql_names.COMPONENT,
            "kind": "rate",
            "unit": "s_per_s",
            "interval_s": increase.interval_s,
        }
        return [
            {**rate, "name": name, "value": sum(s for (_, its), s in increase.per_s.items() if its == name)}
            for name in mysql_names.BACKGROUND
        ]

    def _look(self, link: Link) -> None:
        """Ask which threads are in the background."""
        self._threads_at_s = time.monotonic()
        if _BACKGROUND in self._refused:
            return
        try:
            self._threads = [int(thread) for (thread,) in link.query(_BACKGROUND)]
        except UserError:  # performance_schema may not be read: then the whole process stands for its sessions
            self._threads = []
            self._refused.add(_BACKGROUND)


def _schedstat(task: Path) -> tuple[float, float] | None:
    """Seconds that a thread was on a CPU, and ready without one, since it began; null once it has ended."""
    try:
        ran_ns, waited_ns, _ = (task / "schedstat").read_text().split()
        return int(ran_ns) / 1e9, int(waited_ns) / 1e9
    except (OSError, ValueError):
        return None
