"""The server's own log, where it may be read: who crashed, and of what sessions were refused or ended.

Only what is appended while we look, and of that the messages of three severities (LOG of a process that crashed, FATAL,
PANIC), without the values in them. No statement, detail or other line is kept.
"""

import json
import os
import re
import stat
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from doctord._native import Batch
from doctord.collect.postgres.connection.link import Link
from doctord.collect.postgres.statistics.figures import Figures
from doctord.dataset.rows import now_us, rows

_WHERE: Final = """\
SELECT /* doctord */ pg_current_logfile() AS file, current_setting('data_directory') AS folder
"""
_SUBJECT: Final = "the server's log"
_HINT: Final = "run as root, or in a group that may read it (log_file_mode = 0640)"
_AT_MOST_BYTES: Final = 2**20  # of one look: the newest; a server that logs more in five seconds logs statements
# The first of these in a line says what it is; a value of a later one may look like any.
_LINE: Final = re.compile(
    r"\b(LOG|FATAL|PANIC|ERROR|WARNING|NOTICE|INFO|DEBUG\d?|STATEMENT|DETAIL|HINT|CONTEXT|QUERY|LOCATION|BACKTRACE)"
    r": +(.*)"
)
_CSV: Final = re.compile(r',(LOG|FATAL|PANIC),[0-9A-Z]{5},"((?:[^"]|"")*)"')
_CRASHED: Final = re.compile(
    r"^(?P<who>.+?) \(PID (?P<pid>\d+)\) "
    r"(?P<how>was terminated by signal \d+(: [\w ]+)?|exited with exit code (?!1$)\d+)"
)
# A stop that somebody asked for is no error.
_WANTED: Final = "due to administrator command"
_NONE_LEFT: Final = re.compile("too many clients|connection slots")
_VALUES: Final = re.compile(r'\s*"[^"]*"|\s*\b\d[\d./:-]*')


class _Message(NamedTuple):
    severity: str
    text: str


class ServerLog:
    """Fills `event` with processes that crashed, and `statistic` with `log.errors` and `log.connections_refused`.

    Messages in other languages than English are not understood.
    """

    def __init__(self, db: str) -> None:
        """Nothing is opened yet."""
        self._db = db
        self._file: int | None = None
        self._identity: tuple[int, int] | None = None
        self._rest = b""
        self._read_at = 0.0

    def find(self, link: Link) -> None:
        """Open the log that the server writes now, at its end, where it is not open yet."""
        pid = link.server_pid()
        if pid is None:  # on another host
            return
        where = link.query(_WHERE)[0]
        name = _path(pid, where["file"], where["folder"])
        try:
            status = Path(name).stat()
            if (status.st_dev, status.st_ino) == self._identity:
                return
            self.close()
            self._identity = status.st_dev, status.st_ino
            if stat.S_ISREG(status.st_mode):
                self._file = os.open(name, os.O_RDONLY | os.O_CLOEXEC)
                os.lseek(self._file, 0, os.SEEK_END)
                self._read_at = time.monotonic()
            else:
                link.notices.not_measured(self._db, _SUBJECT, "it goes to no file", "logging_collector = on")
        except OSError as error:
            link.notices.not_measured(self._db, _SUBJECT, f"it may not be read: {error.strerror}", _HINT)

    def read(self) -> list[Batch]:
        """What was appended since the last call; it asks the server nothing, which may be away."""
        if self._file is None:
            return []
        now, since = time.monotonic(), self._read_at
        self._read_at = now
        return self._rows([*self._messages()], now - since)

    def close(self) -> None:
        """Close the log."""
        if self._file is not None:
            os.close(self._file)
        self._file, self._rest = None, b""

    def _rows(self, messages: list[_Message], seconds: float) -> list[Batch]:
        common = {"ts": now_us(), "host": os.uname().nodename, "kind": "process crashed", "db": self._db}
        found = [crash for message in messages if (crash := _CRASHED.search(message.text))]
        crashed: list[dict[str, Any]] = [
            {**common, "subject": crash["who"], "text": f"{crash['who']} (pid {crash['pid']}) {crash['how']}"}
            for crash in found
        ]
        failed = (one for one in messages if one.severity != "LOG" and _WANTED not in one.text)
        errors = Counter(f"{one.severity} {_VALUES.sub('', one.text)}" for one in failed)
        refused = sum(count for error, count in errors.items() if _NONE_LEFT.search(error))
        figures = Figures(self._db)
        if seconds > 0:
            for error, count in sorted(errors.items()):
                figures.rate("log.errors", count / seconds, seconds, error)
            if refused:
                figures.rate("log.connections_refused", refused / seconds, seconds)
        return [*([rows("event", crashed)] if crashed else []), *figures.batches()]

    def _messages(self) -> Iterator[_Message]:
        for line in self._lines():
            if (message := _message(line)) and (message.severity != "LOG" or _CRASHED.search(message.text)):
                yield message

    def _lines(self) -> Iterator[str]:
        """Whole lines that were appended; what is not ended yet waits for the next look."""
        assert self._file is not None  # noqa: S101 - `read` looks first
        try:
            size, at = os.fstat(self._file).st_size, os.lseek(self._file, 0, os.SEEK_CUR)
            if size < at:  # it was truncated, as logrotate's copytruncate does
                at = os.lseek(self._file, 0, os.SEEK_SET)
            if size - at > _AT_MOST_BYTES:
                os.lseek(self._file, size - _AT_MOST_BYTES, os.SEEK_SET)
                self._rest = b""
            appended = self._rest + os.read(self._file, _AT_MOST_BYTES)
        except OSError:
            return
        *whole, self._rest = appended.split(b"\n")
        self._rest = self._rest[-_AT_MOST_BYTES:]
        yield from (line.decode(errors="replace") for line in whole)


def _path(pid: int, file: str | None, folder: str) -> str:
    """Where this process reaches the log, though the server may run in a container: its collector's file, or stderr."""
    if file is None:
        return f"/proc/{pid}/fd/2"
    inside = str(Path(folder) / file)
    outside = f"/proc/{pid}/root{inside}"
    return outside if os.access(outside, os.R_OK) else inside


def _message(line: str) -> _Message | None:
    """What a line says, in whichever of the three forms of logs; null for those that are of no interest."""
    if line.startswith("\t"):
        return None  # the rest of a message
    if line.startswith("{"):
        return _of_json(line)
    found = _CSV.search(line) or _LINE.search(line)
    if not found or found[1] not in ("LOG", "FATAL", "PANIC"):
        return None
    return _Message(found[1], found[2].replace('""', '"'))


def _of_json(line: str) -> _Message | None:
    try:
        told = json.loads(line)
    except ValueError:
        return None
    severity, text = told.get("error_severity"), told.get("message")
    is_known = severity in ("LOG", "FATAL", "PANIC") and isinstance(text, str)
    return _Message(severity, text) if is_known else None
