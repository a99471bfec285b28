"""An archiver that fails, or whose command does not come back: what waits for it, since when, and what it runs.

pg_stat_archiver counts what succeeded and what failed. A command that hangs does neither, and PostgreSQL waits for it
without end: that is seen in what waits (archive_status/*.ready) and in the process that still runs.
"""

import os
import time
from typing import Any, Final

from doctord._native import Batch
from doctord.collect.core.rates import EARLY, Cadence
from doctord.collect.postgres.background_command import Command, running
from doctord.collect.postgres.connection.link import Link
from doctord.collect.postgres.statistics.figures import Figures
from doctord.dataset.rows import now_us, rows
from doctord.errors import UserError

# The counters move once a minute while it fails: it tries three times, and sleeps. The times tell it at once. The
# archiver of a standby works with archive_mode = always alone; what a primary left to it stays.
_ARCHIVER: Final = """\
SELECT /* doctord */ current_setting('archive_mode') = 'always'
           OR (current_setting('archive_mode') = 'on' AND NOT pg_is_in_recovery()) AS archives,
       date_part('epoch', clock_timestamp() - last_failed_time) AS "pg_stat_archiver.last_failed_s",
       date_part('epoch', clock_timestamp() - last_archived_time) AS "pg_stat_archiver.last_archived_s"
FROM pg_stat_archiver
"""
_FAILED_S: Final = "pg_stat_archiver.last_failed_s"
_ARCHIVED_S: Final = "pg_stat_archiver.last_archived_s"
# The file is made when its segment is full. There may be many, so they are not counted at every look.
_READY: Final = """\
SELECT /* doctord */ count(*) AS "pg_ls_archive_statusdir.ready",
       date_part('epoch', clock_timestamp() - min(modification)) AS "pg_ls_archive_statusdir.oldest_ready_s"
FROM pg_ls_archive_statusdir() WHERE name LIKE '%.ready'
"""
_COUNTED_EVERY_S: Final = 15.0
# Whoever archived a segment since is at work: what waits is none of its trouble yet.
_AT_WORK_S: Final = 10.0


class Archiver:
    """Fills `statistic` with what waits for the archiver and how long its command runs, `setting` with its process."""

    name = "archiver"

    def __init__(self) -> None:
        """Due every five seconds; what waits is counted more seldom."""
        self.cadence = Cadence(every_s=5)
        self._counted = Cadence(_COUNTED_EVERY_S, EARLY)
        self._known: str | None = None

    def read(self, link: Link) -> list[Batch]:
        """When it failed last, and when not; while nothing is archived also what waits, and for whom."""
        figures, told = Figures(link.db), list[Batch]()
        times = link.query(_ARCHIVER)[0]
        archives = times.pop("archives")
        figures.gauges(times)
        waits = _is_failing(times) or not _is_at_work(times)
        if archives and waits and self._counted.due(time.monotonic()):
            told = self._waiting(link, figures, times)
        return [*figures.batches(), *told]

    def close(self) -> None:
        """There is nothing of its own."""

    def _waiting(self, link: Link, figures: Figures, times: dict[str, Any]) -> list[Batch]:
        try:
            waiting = link.query(_READY)[0]
        except UserError as refusal:
            link.notices.not_measured(link.db, "segments that wait to be archived", str(refusal), refusal.hint)
            return []
        figures.gauges(waiting)
        server = link.server_pid()
        if not any(waiting.values()) or server is None or _is_failing(times):
            return []
        command = running(server, "archiver")
        if command is None:
            return []
        if command.running_s is not None:
            figures.gauge("pg_stat_archiver.command_s", command.running_s, "s", command.name)
        return self._process(link, command)

    def _process(self, link: Link, command: Command) -> list[Batch]:
        if command.where == self._known:
            return []
        self._known = command.where
        common = {"ts": now_us(), "host": os.uname().nodename, "component": "postgresql", "db": link.db}
        return [rows("setting", [{**common, "name": "archiver.process", "value": command.where, "source": "kernel"}])]


def _is_failing(times: dict[str, Any]) -> bool:
    failed_s, archived_s = times[_FAILED_S], times[_ARCHIVED_S]
    return failed_s is not None and (archived_s is None or archived_s > failed_s)


def _is_at_work(times: dict[str, Any]) -> bool:
    archived_s = times[_ARCHIVED_S]
    return archived_s is not None and archived_s < _AT_WORK_S
