"""Threads of MySQL and MariaDB, as mysqld_exporter counts them with --collect.info_schema.processlist.

So many did the same at the moment of a scrape: each that is at work is a row of `session`, without a number of its own.
The exporter writes commands and states in small letters, without signs, `_` for a blank.
"""

from collections.abc import Mapping
from typing import Any, Final

from doctord.dataset.mysql_threads import wait_of
from doctord.dataset.tables import CLIENT
from doctord.read.figures import Figures

THREADS: Final = "mysql_info_schema_processlist_threads"
MOST_CONNECTIONS: Final = 100_000  # the most that max_connections may be
UNKNOWN: Final = "unknown"
# Commands of clients that ask for nothing, and of the server's own threads.
AT_REST: Final = frozenset({
    "sleep", "daemon", "binlog dump", "binlog dump gtid", "connect", "slave io", "slave sql", "slave worker",
    "delayed insert", UNKNOWN,
})  # fmt: skip


class Threads:
    """What one scrape counts of the threads of one server."""

    def __init__(self) -> None:
        """Nothing was counted yet."""
        self._by_command = dict[str, int]()
        self._rows = list[dict[str, Any]]()

    def put(self, labels: Mapping[str, str], value: float) -> None:
        """A sample of THREADS."""
        if not 0 <= value <= MOST_CONNECTIONS:
            return
        command, state = (labels.get(label, UNKNOWN).replace("_", " ") for label in ("command", "state"))
        count = round(value)
        self._by_command[command] = self._by_command.get(command, 0) + count
        if command not in AT_REST:
            wait = wait_of("" if state == UNKNOWN else state, None)
            self._rows += [{"kind": CLIENT, "state": "active", **wait} for _ in range(count)]

    def rows(self, figures: Figures, db: str) -> list[dict[str, Any]]:
        """Those at work, as rows of `session` without time and host; how many there are, as statistics."""
        for command, count in self._by_command.items():
            figures.statistic("mysql", "processlist.threads", count, "threads", entity=command, db=db)
        return [row | {"db": db} for row in self._rows]
