"""The server's error log, where it may be read: how the server ended, who was not let in, and what failed.

Only what is appended while we look. The native reader of logs understands it, as it does files that are read later: of
messages it keeps the words without values. The server is asked once where its log is, and is not needed to read on.
"""

import errno
import os
import re
import stat
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from doctord import _native
from doctord._native import Batch
from doctord.collect.core.link import Away, Link
from doctord.collect.core.linked import LinkedCollector
from doctord.collect.core.log_tail import LogTail
from doctord.collect.core.notices import Notices
from doctord.collect.mysql.discover import servers
from doctord.collect.mysql.driver import MySQLDriver
from doctord.collect.mysql.threads import own_tasks
from doctord.dataset import mysql_names
from doctord.dataset.rows import now_us, rows
from doctord.errors import UserError
from doctord.regex import regex

_EVERY_S: Final = 5.0
_ASK_AGAIN_S: Final = 300.0
_WHERE: Final = "SELECT /* doctord */ @@port AS doctord, @@log_error, @@datadir"
_SUBJECT: Final = "the error log"
_HINT: Final = "run as root, or in the group that may read it and its folder (adm or mysql; chmod 640 and 750)"
_ELSEWHERE: Final = "look from the server's host; MySQL: GRANT SELECT ON performance_schema.* TO our user"
_TO_A_FILE: Final = "log_error = /var/log/mysql/error.log under [mysqld], and a restart"
# That none came is told too.
_FAILED: Final = ("ERROR", "WARNING")
# Messages with a row of their own at each look: the most frequent ones.
_MOST_NAMED: Final = 100
# What InnoDB's monitor prints is no message, and holds the statements of all sessions.
_MONITOR: Final = regex(rb"(?<!END OF) INNODB MONITOR OUTPUT")
_BEHIND_MONITOR: Final = regex(
    rb"END OF INNODB MONITOR OUTPUT|^(?=\d[^\n]*(?:\[(?:Note|Warning|ERROR|System)\]|got signal ))", re.MULTILINE
)


class Place(NamedTuple):
    """Which process writes a log, and the file as the server sees it; null where that is its standard error."""

    pid: int
    file: str | None

    @property
    def path(self) -> Path:
        """Where we reach it: the server may have a root of its own."""
        if self.file is None:
            return Path(f"/proc/{self.pid}/fd/2")
        outside = Path(f"/proc/{self.pid}/root{self.file}")
        return outside if os.access(outside, os.R_OK) else Path(self.file)

    @property
    def is_current(self) -> bool:
        """Whether the process is still there."""
        return Path(f"/proc/{self.pid}").exists()


class MySQLErrorLog(LinkedCollector[Link]):
    """Fills `event` and `statistic` with what reading the file later gives, every five seconds; times are ours.

    Of messages that neither warn nor tell of an error, only what is known to mean something is told.
    """

    def __init__(self, driver: MySQLDriver, notices: Notices) -> None:
        """Nothing is connected or opened yet."""
        super().__init__(f"error log of {driver.db}", Link(driver, notices), _EVERY_S)
        self._db, self._socket = driver.db, driver.place
        self._place: Place | None = None
        self._opened: Place | None = None
        self._file: tuple[int, int] | None = None
        self._tail: LogTail | None = None
        self._ask_again_at = 0.0
        self._reader, self._read_at, self._is_in_monitor = _reader(), 0.0, False

    def close(self) -> None:
        """Close the log, and the connection."""
        super().close()
        if self._tail is not None:
            self._tail.close()
            self._tail = None

    def _sample(self) -> list[Batch]:
        """What was appended since the last call; nothing at the first one, which opens the log."""
        told = self._read()
        if place := self._find():
            self._follow(place)
        return told

    def _find(self) -> Place | None:
        """Where the log is; null where nobody tells, now or at all."""
        if self._place is not None and self._place.is_current:
            return self._place
        self._place = None
        if time.monotonic() < self._ask_again_at:
            return None
        try:
            self._link.open()
            self._place = self._asked()
        except Away:
            return self._unasked() if self._tail is None else None
        except UserError as refusal:
            self._give_up(str(refusal), refusal.hint)
        self._link.close()
        return self._place

    def _asked(self) -> Place | None:
        [(port, name, folder)] = self._link.query(_WHERE)
        self._db = f"mysql:{port}" if int(port) else self._link.db
        tasks = own_tasks(self._link)
        pid = int(tasks.parent.name) if tasks else self._pid_by_socket()
        if pid is None:
            self._give_up("no process of this host is known to be the server", _ELSEWHERE)
            return None
        return Place(pid, None if name in {None, "", "stderr"} else str(Path(folder, name)))

    def _unasked(self) -> Place | None:
        """The log of a server that lets nobody in: it makes its log its standard error."""
        pid = self._pid_by_socket()
        with suppress(OSError):  # once it is asked, that is said
            if pid is not None and (place := Place(pid, None)).path.is_file():
                return place
        return None

    def _pid_by_socket(self) -> int | None:
        here = servers() if self._socket.startswith("/") else []
        return next((one.pid for one in here if one.socket == self._socket), None)

    def _follow(self, place: Place) -> None:
        """Open a log at its end, or go on in the file that has its name now."""
        try:
            status = place.path.stat()
            file = status.st_dev, status.st_ino
            if file != self._file:
                self._open(place, status)
        except OSError as error:
            if self._tail is None or error.errno != errno.ENOENT:  # else the next one is not begun yet
                self._give_up(f"it may not be read: {error.strerror}", _HINT)
        else:
            self._opened, self._file = place, file

    def _open(self, place: Place, status: os.stat_result) -> None:
        if not stat.S_ISREG(status.st_mode):
            self._give_up("it goes to no file", _TO_A_FILE)
        elif self._tail is not None and self._opened is not None and self._opened.file == place.file:
            self._tail.go_on(place.path)
        else:
            self._begin(place.path)

    def _give_up(self, why: str, hint: str | None) -> None:
        """Say why, and look again after a while: each time that we ask is a connection."""
        self._notices.not_measured(self._db, _SUBJECT, why, hint)
        self._ask_again_at = time.monotonic() + _ASK_AGAIN_S

    def _begin(self, path: Path) -> None:
        tail = LogTail(path)
        if self._tail is not None:
            self._tail.close()
        self._tail, self._reader, self._read_at = tail, _reader(), time.monotonic()

    def _read(self) -> list[Batch]:
        """The last message may go on: it is told when the next one begins, or when nothing followed for a look."""
        if self._tail is None:
            return []
        now, since = time.monotonic(), self._read_at
        self._read_at = now
        lines, part, _ = self._tail.appended()
        if part < 1:
            self._reader, self._is_in_monitor = _reader(), False  # what it held back ended in what was left out
        self._reader.add(self._without_monitors(lines))
        errors, refused, counted, readings, events = self._reader.told(is_all=not lines)
        # Of what was left out nothing is known: the rates are those of the time that the rest took.
        counts = _counts(errors, counted, refused)
        return [*self._statistics(counts, readings, (now - since) * part), *self._events(events)]

    def _without_monitors(self, lines: bytes) -> bytes:
        kept = b""
        while lines:
            found = (_BEHIND_MONITOR if self._is_in_monitor else _MONITOR).search(lines)
            if not self._is_in_monitor:
                kept += lines[: found.start()] if found else lines
            if found:
                self._is_in_monitor = not self._is_in_monitor
            lines = lines[found.end() :] if found else b""
        return kept

    def _events(self, told: Iterable[tuple[str, str, str]]) -> list[Batch]:
        about = {"ts": now_us(), "host": os.uname().nodename, "db": self._db}
        found = [
            {**about, "kind": kind, "subject": subject or self._db, "text": text}
            for kind, subject, text in dict.fromkeys(told)
        ]
        return [rows("event", found)] if found else []

    def _statistics(
        self, counts: Mapping[tuple[str, str], int], readings: Mapping[str, float], seconds: float
    ) -> list[Batch]:
        about: dict[str, Any] = {"ts": now_us(), "host": os.uname().nodename}
        about |= {"component": mysql_names.COMPONENT, "db": self._db}
        rate = about | {"kind": "rate", "unit": "per_s", "interval_s": seconds}
        found = [
            {**rate, "name": name, "entity": entity or None, "value": count / seconds}
            for (name, entity), count in counts.items()
        ]
        found += [{**about, "kind": "gauge", "unit": "s", "name": name, "value": s} for name, s in readings.items()]
        return [rows("statistic", found)]


def _reader() -> _native.ServerLog:
    return _native.ServerLog("mysql error", b"", threads=1)


def _counts(
    errors: Mapping[str, int], counted: Mapping[tuple[str, str], int], refused: int
) -> dict[tuple[str, str], int]:
    """How often what came, by name and by what it is about, which may be empty; rare messages by severity alone."""
    messages, named = Counter[str](), Counter[str]()
    for rank, (name, count) in enumerate(Counter(errors).most_common()):
        severity = name.partition(" ")[0]
        messages[severity] += count
        named[name if rank < _MOST_NAMED else f"{severity} (others)"] += count
    return {
        **{("log.messages", severity): messages[severity] for severity in _FAILED},
        **{("log.errors", name): count for name, count in named.items()},
        **counted,
        **({("log.connections_refused", ""): refused} if refused else {}),
    }
