"""The server's own log, where it may be read: who crashed, and what failed, by SQLSTATE and message.

Only what is appended while we look. The native reader of logs understands it, as it does files that are read later: of
messages it keeps the words without values, and no statement.
"""

import os
import re
import stat
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from doctord import _native
from doctord._native import Batch
from doctord.collect.postgres.connection.link import Link
from doctord.collect.postgres.log_tail import LogTail
from doctord.collect.postgres.statistics.figures import Figures
from doctord.dataset.rows import now_us, rows
from doctord.regex import regex

# The forms that give each error its SQLSTATE before the one that does so only with %e in its prefix.
_WHERE: Final = """\
SELECT /* doctord */ coalesce(
         pg_current_logfile('csvlog'),
         CASE WHEN current_setting('server_version_num')::int >= 150000 THEN pg_current_logfile('jsonlog') END,
         pg_current_logfile()) AS file,
       current_setting('data_directory') AS folder, current_setting('log_line_prefix') AS prefix
"""
_SUBJECT: Final = "the server's log"
_HINT: Final = "run as root, or in a group that may read it (log_file_mode = 0640)"
_ELSEWHERE: Final = "look from the host of the server, over its Unix socket: its log tells which errors there were"
_FORMS: Final = {".csv": "csvlog", ".json": "jsonlog"}
_CRASHED: Final = regex(
    r"^(?P<who>.+?) \(PID (?P<pid>\d+)\) "
    r"(?P<how>was terminated by signal \d+(: [\w ]+)?|exited with exit code (?!1$)\d+)"
)
# A stop that somebody asked for is no error.
_WANTED: Final = "due to administrator command"
# What ends a statement, a session or the server; that none came is told too.
_FAILED: Final = ("ERROR", "FATAL", "PANIC")
# Who met a warning or a failure.
_FROM: Final = "log.errors_from"
# Messages with a row of their own at each look: the most frequent ones.
_MOST_NAMED: Final = 100
_OTHERS: Final = regex(r"^(\w+(?: [0-9A-Z]{5})?) .*", re.DOTALL)


class Form(NamedTuple):
    """How a log is written: what the native reader calls it, and what begins its lines."""

    name: str
    prefix: str


class Written(NamedTuple):
    """The log that a server of this host writes now: where it is reached, its name where a collector writes it."""

    path: str
    file: str | None
    prefix: str


def written(link: Link) -> Written | None:
    """Where a server writes its log; null where it was not reached by its socket.

    Raises:
        UserError: The role may not ask for it.
    """
    pid = link.server_pid()
    if pid is None:
        return None
    where = link.query(_WHERE)[0]
    return Written(_path(pid, where["file"], where["folder"]), where["file"], where["prefix"])


class ServerLog:
    """Fills `event` with processes that crashed, and `statistic` with `log.errors`, `log.messages` and others of a log.

    What it grows by is told too: where the server writes several forms of its log, that of the one that is read.
    Among the errors are warnings, and messages of severity LOG that tell of something that failed. In other languages
    than English, messages are known by their severities and SQLSTATEs, a few by their words.
    """

    def __init__(self, db: str) -> None:
        """Nothing is opened yet."""
        self._db = db
        self._open: tuple[int, int, Form] | None = None
        self._form: Form | None = None
        self._tail: LogTail | None = None
        self._reader: _native.ServerLog | None = None
        self._read_at = 0.0

    def find(self, link: Link) -> None:
        """Open the log that the server writes now: at its end, or where the one ends that was read before."""
        log = written(link)
        if log is None:
            link.notices.not_measured(self._db, _SUBJECT, "the server was not reached by its socket", _ELSEWHERE)
            return
        path, form = log.path, Form(_FORMS.get(Path(log.file or "").suffix, "stderr"), log.prefix)
        try:
            status = Path(path).stat()
            if (status.st_dev, status.st_ino, form) == self._open:
                return
            if log.file is not None and self._tail is not None and form == self._form:
                self._tail.follow(path)
            else:
                self.close()
                self._begin_or_say(path, form, status, link)
            self._open = status.st_dev, status.st_ino, form
        except OSError as error:
            self.close()  # another time it may be read
            link.notices.not_measured(self._db, _SUBJECT, f"it may not be read: {error.strerror}", _HINT)

    def _begin_or_say(self, path: str, form: Form, status: os.stat_result, link: Link) -> None:
        if stat.S_ISREG(status.st_mode):
            self.begin(path, form)
        else:
            link.notices.not_measured(self._db, _SUBJECT, "it goes to no file", "logging_collector = on")

    def begin(self, path: str | Path, form: Form) -> None:
        """Read a log from its end on.

        Raises:
            OSError: It may not be read.
        """
        self._tail, self._form = LogTail(path), form
        self._reader, self._read_at = _reader(form), time.monotonic()

    def read(self) -> list[Batch]:
        """What was appended since the last call; it asks the server nothing, which may be away.

        The last message may go on: it is told when the next one begins, or when nothing followed until the next call.
        """
        if self._tail is None or self._form is None or self._reader is None:
            return []
        now, since = time.monotonic(), self._read_at
        self._read_at = now
        lines, part, size = self._tail.appended()
        if part < 1:
            self._reader = _reader(self._form)  # what it held back ended in what was left out
        self._reader.add(lines)
        errors, refused, counted, events = self._reader.told(is_all=not lines)
        crashes = [found for kind, text in events if kind == "restart" and (found := _CRASHED.search(text))]
        # Of what was left out nothing is known: the rates are those of the time that the rest took.
        seconds = (now - since) * part
        return [
            *self._crashed(crashes),
            *self._figures(errors, refused, counted, seconds),
            *self._growth(size, lines.count(b"\n"), now - since, seconds),
        ]

    def close(self) -> None:
        """Close the log."""
        if self._tail is not None:
            self._tail.close()
        self._tail, self._reader, self._open = None, None, None

    def _crashed(self, crashes: list[re.Match[str]]) -> list[Batch]:
        common = {"ts": now_us(), "host": os.uname().nodename, "kind": "process crashed", "db": self._db}
        told: list[dict[str, Any]] = [
            {**common, "subject": crash["who"], "text": f"{crash['who']} (pid {crash['pid']}) {crash['how']}"}
            for crash in crashes
        ]
        return [rows("event", told)] if told else []

    def _growth(self, size: int, lines: int, whole_s: float, seconds: float) -> list[Batch]:
        """How fast the log grows: bytes over the whole time, lines over the time that those that were read took."""
        if seconds <= 0:
            return []
        figures = Figures(self._db)
        figures.rate("log.written_bytes", size / whole_s, whole_s)
        figures.rate("log.written_lines", lines / seconds, seconds)
        return figures.batches()

    def _figures(
        self, errors: Mapping[str, int], refused: int, counted: Mapping[tuple[str, str], int], seconds: float
    ) -> list[Batch]:
        if seconds <= 0:
            return []
        wanted = {name: count for name, count in errors.items() if _WANTED not in name}
        figures = Figures(self._db)
        for severity in _FAILED:
            count = sum(count for name, count in wanted.items() if name.startswith(severity))
            figures.rate("log.messages", count / seconds, seconds, severity)
        for name, count in _most(wanted).items():
            figures.rate("log.errors", count / seconds, seconds, name)
        for (name, about), count in counted.items():
            if name != _FROM:
                figures.rate(name, count / seconds, seconds, about or None)
        met = {about: count for (name, about), count in counted.items() if name == _FROM and _WANTED not in about}
        for about, count in _first(met):
            figures.rate(_FROM, count / seconds, seconds, about)
        if refused:
            figures.rate("log.connections_refused", refused / seconds, seconds)
        return figures.batches()


def _reader(form: Form) -> _native.ServerLog:
    return _native.ServerLog(form.name, b"", threads=1, prefix=form.prefix)


def _first(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """The most frequent, in their order by name."""
    ranked = sorted(counts, key=lambda name: (-counts[name], name))
    return [(name, counts[name]) for name in sorted(ranked[:_MOST_NAMED])]


def _most(errors: Mapping[str, int]) -> dict[str, int]:
    """The most frequent messages, in their order by name; the others by severity and SQLSTATE alone."""
    named = dict(_first(errors))
    others = Counter[str]()
    for name in sorted(errors.keys() - named):
        others[_OTHERS.sub(r"\1 (others)", name)] += errors[name]
    return named | others


def _path(pid: int, file: str | None, folder: str) -> str:
    """Where this process reaches the log, though the server may run in a container: its collector's file, or stderr."""
    if file is None:
        return f"/proc/{pid}/fd/2"
    inside = str(Path(folder) / file)
    outside = f"/proc/{pid}/root{inside}"
    return outside if os.access(outside, os.R_OK) else inside
