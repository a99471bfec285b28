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
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from doctord import _native
from doctord._native import Batch
from doctord.collect.core.log_tail import LogTail
from doctord.collect.postgres.connection.link import Link
from doctord.collect.postgres.log_place import log_place, postmaster
from doctord.collect.postgres.statistics.figures import Figures
from doctord.collect.postgres.statistics.held import Known
from doctord.dataset.rows import now_us, rows
from doctord.errors import UserError
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
# What the native reader makes of `checkpoint starting: immediate force wait`.
_STARTED: Final = "started:"
# A stop that somebody asked for is no error.
_WANTED: Final = "due to administrator command"
# What ends a statement, a session or the server; that none came is told too.
_FAILED: Final = ("ERROR", "FATAL", "PANIC")
# Who met a warning or a failure; where log_line_prefix has no user, the process.
_FROM: Final = "log.errors_from"
# The functions that errors come from.
_IN: Final = "log.errors_in"
_PROCESS: Final = regex(r"^(?P<message>.*) \| process (?P<pid>\d+)$", re.DOTALL)
# Messages with a row of their own at each look: the most frequent ones.
_MOST_NAMED: Final = 100
_ASK_AGAIN_S: Final = 300.0
# Of a log whose prefix nobody told: so much of its end tells what it is.
_SAMPLE_BYTES: Final = 2**16
_OTHERS: Final = regex(r"^(\w+(?: [0-9A-Z]{5})?) .*", re.DOTALL)


class Form(NamedTuple):
    """How a log is written: what the native reader calls it, and what begins its lines.

    `prefix` is null where the server has not told it: then the lines themselves do.
    """

    name: str
    prefix: str | None

    def may_be(self, other: "Form") -> bool:
        """Whether it is the same, as far as the prefixes are known."""
        return self.name == other.name and (self.prefix == other.prefix or None in (self.prefix, other.prefix))


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
    return None if pid is None else _written(pid, link)


def _written(pid: int, link: Link) -> Written:
    where = link.query(_WHERE)[0]
    return Written(_path(pid, where["file"], where["folder"]), where["file"], where["prefix"])


class ServerLog:
    """Fills `event` with crashes and checkpoints, `statistic` with `log.errors`, `log.messages` and others of a log.

    What it grows by is told too: where the server writes several forms of its log, that of the one that is read.
    Among the errors are warnings, and messages of severity LOG that tell of something that failed. In other languages
    than English, messages are known by their severities and SQLSTATEs, a few by their words.
    """

    def __init__(self, db: str, sessions: Mapping[int, Known] | None = None) -> None:
        """Nothing is opened yet; `sessions` says whose a process was, where the log tells its number alone."""
        self._db, self._sessions = db, {} if sessions is None else sessions
        self._file: tuple[int, int] | None = None
        self._form: Form | None = None
        self._tail: LogTail | None = None
        self._reader: _native.ServerLog | None = None
        self._read_at = 0.0
        self._ask_again_at = 0.0
        self._pid: int | None = None
        self._sample, self._is_begun = b"", False

    def find(self, link: Link) -> None:
        """Open the log that the server writes now: at its end, or where the one ends that was read before."""
        pid = link.server_pid()
        if pid is None:
            if self._tail is None:
                link.notices.not_measured(self._db, _SUBJECT, "the server was not reached by its socket", _ELSEWHERE)
            return
        self._pid = pid
        if time.monotonic() < self._ask_again_at:
            self.find_unasked(link)
            return
        try:
            where = _written(pid, link)
            self._follow(where.path, where.file, where.prefix, link)
        except UserError as refusal:
            self._ask_again_at = time.monotonic() + _ASK_AGAIN_S  # the server logs each refusal as an error
            self.find_unasked(link)
            if self._tail is None:
                link.notices.not_measured(self._db, _SUBJECT, str(refusal), refusal.hint)
        except OSError as error:
            self.close()  # another time it may be read
            link.notices.not_measured(self._db, _SUBJECT, f"it may not be read: {error.strerror}", _HINT)

    def find_unasked(self, link: Link) -> None:
        """Open the log of a server that is not asked, for it may let nobody in; nothing where it is not found."""
        place = log_place(self._pid) if self._pid is not None else None
        if place is None:
            self._pid = postmaster(link.target)
            place = log_place(self._pid) if self._pid is not None else None
        if place is not None and self._pid is not None:
            with suppress(OSError):  # once it is asked, that is said
                self._follow(_path(self._pid, place.file, place.folder), place.file, None, None)

    def _follow(self, path: str, file: str | None, prefix: str | None, link: Link | None) -> None:
        """Go on in a file; what is no file is said where there is a link to say it of."""
        form = Form(_FORMS.get(Path(file or "").suffix, "stderr"), prefix)
        status = Path(path).stat()
        is_same = self._form is not None and self._form.may_be(form)
        if self._file == (status.st_dev, status.st_ino) and is_same:
            self._learn(form)
        elif file is not None and self._tail is not None and is_same:
            self._tail.follow(path)
            self._learn(form)
        else:
            self.close()
            if not self._begin_or_say(path, form, status, link):
                return
        self._file = status.st_dev, status.st_ino

    def _learn(self, form: Form) -> None:
        """Take the prefix from the server, where it was found out from lines so far."""
        if self._reader is None or form.prefix is None or self._form == form:
            return
        self._reader.set_prefix(form.prefix)
        self._form, self._is_begun = form, False

    def _begin_or_say(self, path: str, form: Form, status: os.stat_result, link: Link | None) -> bool:
        """Whether it was read or said; without a link, what is no file is said when there is one."""
        if stat.S_ISREG(status.st_mode):
            self.begin(path, form)
        elif link is not None:
            self._form = form
            link.notices.not_measured(self._db, _SUBJECT, "it goes to no file", "logging_collector = on")
        else:
            return False
        return True

    def begin(self, path: str | Path, form: Form) -> None:
        """Read a log from its end on.

        Raises:
            OSError: It may not be read.
        """
        self._tail, self._form = LogTail(path), form
        self._sample, self._is_begun = (_end_of(path), True) if form.prefix is None else (b"", False)
        self._reader, self._read_at = self._new_reader(form), time.monotonic()

    def read(self) -> list[Batch]:
        """What was appended since the last call; it asks the server nothing, which may be away.

        The last message may go on: it is told when the next one begins, or when nothing followed until the next call.
        """
        if self._tail is None or self._form is None or self._reader is None:
            return []
        now, since = time.monotonic(), self._read_at
        self._read_at = now
        lines, part, size = self._tail.appended()
        if lines and self._is_begun:
            self._sample, self._is_begun = self._sample + lines[:_SAMPLE_BYTES], False
            self._reader = self._new_reader(self._form)  # clients, whom the prefix tells, may be in these lines alone
        if part < 1:
            self._reader = self._new_reader(self._form)  # what it held back ended in what was left out
        self._reader.add(lines)
        errors, refused, counted, _, events = self._reader.told(is_all=not lines)
        crashes = [found for kind, _, text in events if kind == "restart" and (found := _CRASHED.search(text))]
        # Of what was left out nothing is known: the rates are those of the time that the rest took.
        seconds = (now - since) * part
        return [
            *self._crashed(crashes),
            *self._checkpoints([text for kind, _, text in events if kind == "checkpoint"]),
            *self._figures(errors, refused, counted, seconds),
            *self._growth(size, lines.count(b"\n"), now - since, seconds),
        ]

    def close(self) -> None:
        """Close the log."""
        if self._tail is not None:
            self._tail.close()
        self._tail, self._reader, self._file = None, None, None

    def _new_reader(self, form: Form) -> _native.ServerLog:
        return _native.ServerLog(form.name, self._sample, threads=1, prefix=form.prefix)

    def _crashed(self, crashes: list[re.Match[str]]) -> list[Batch]:
        common = {"ts": now_us(), "host": os.uname().nodename, "kind": "process crashed", "db": self._db}
        told: list[dict[str, Any]] = [
            {**common, "subject": crash["who"], "text": f"{crash['who']} (pid {crash['pid']}) {crash['how']}{whose}"}
            for crash in crashes
            for session in [self._sessions.get(int(crash["pid"]))]
            for whose in [f"; it was {session.doing}" if session else ""]
        ]
        return [rows("event", told)] if told else []

    def _checkpoints(self, texts: list[str]) -> list[Batch]:
        """Why each began, as a log tells it that is read later."""
        common = {"ts": now_us(), "host": os.uname().nodename, "kind": "checkpoint", "db": self._db}
        told = [{**common, "subject": "start", "text": text} for text in texts if text.startswith(_STARTED)]
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
            if name not in {_FROM, _IN}:
                figures.rate(name, count / seconds, seconds, about or None)
        met = Counter[str]()
        for (name, about), count in counted.items():
            if name == _FROM and _WANTED not in about and (by := self._by_session(about)):
                met[by] += count
        within = {about: count for (name, about), count in counted.items() if name == _IN}
        for name, counts in ((_FROM, met), (_IN, within)):
            for about, count in _first(counts):
                figures.rate(name, count / seconds, seconds, about)
        if refused:
            figures.rate("log.connections_refused", refused / seconds, seconds)
        return figures.batches()

    def _by_session(self, about: str) -> str | None:
        """A message and who met it, also where the log tells the process alone; null where nobody knows its session."""
        by = _PROCESS.match(about)
        if by is None:
            return about
        session = self._sessions.get(int(by["pid"]))
        return f"{by['message']} | {session.who}" if session else None


def _end_of(path: str | Path) -> bytes:
    """The last lines of a log."""
    with Path(path).open("rb") as file:
        file.seek(max(file.seek(0, os.SEEK_END) - _SAMPLE_BYTES, 0))
        return file.read(_SAMPLE_BYTES)


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
