r"""SHOW [FULL] PROCESSLIST of MySQL and MariaDB, and selects from information_schema: boxes, tabs, or after `\G`.

Several lists in one file are several moments; a line with a moment above a list (`date`, or `TS 1700000000.1 ...` of
pt-stalk) is its own. Without one the last list is taken to be when the file was last written, a second apart.

- `session`: threads at work for a client: not asleep, no daemon, not of replication, and not the list's own. `state`
  is active, `statement_s` is Time. The state tells what is waited for where it names a lock, the client, a commit and
  the like; where it does not (`Sending data`, `executing`) the class is `Unaccounted`: computing, or reading. A
  sample stands for the time to the next, of one alone for a second: a note says so.
- `statement`: their texts without values. Without FULL the server cuts them after 100 characters.
- `statistic` of `mysql`: `processlist.threads`, by command.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import chain, pairwise
from typing import Any, Final, NamedTuple

from doctord._native import Batch
from doctord.dataset.mysql_threads import Statements, client_of, wait_of
from doctord.dataset.rows import micros, rows
from doctord.dataset.tables import CLIENT
from doctord.read.clock import ASSUMED_STEP_S, untimed
from doctord.read.figures import number
from doctord.read.format import Rank
from doctord.read.source import SourceFile
from doctord.read.tools.times import moment_in
from doctord.regex import regex

NAME = "SHOW PROCESSLIST of MySQL or MariaDB"
RANK = Rank.NAMED
DB: Final = "mysql"
COLUMNS: Final = ("id", "user", "host", "db", "command", "time", "state")
LOOKED_AT: Final = 40
RULE: Final = regex(r"\+-[-+]*-\+$")
FOOTER: Final = regex(r"\d+ rows? in set|Empty set|mysql>|MariaDB \[|--------------$|Query OK")
THREAD_ID: Final = regex(r"\d{1,18}")
RECORD: Final = regex(r"\*{3,} (\d+)\. row \*{3,}$")
CELL: Final = regex(r"\s*(\w+): ?(.*)$")
STAMP: Final = regex(r"TS (\d{9,11}(?:\.\d+)?)\b")
# The columns beside: of MariaDB, Percona Server, and of information_schema.
KNOWN: Final = (*COLUMNS, "info", "progress", "rows_sent", "rows_examined", "rows_read", "time_ms", "stage",
                "max_stage", "memory_used", "max_memory_used", "examined_rows", "query_id", "info_binary", "tid",
                "sent_rows", "execution_engine")  # fmt: skip
AT_REST: Final = ("sleep", "daemon", "binlog dump", "binlog dump gtid", "connect", "slave_io", "slave_sql",
                  "slave_worker", "delayed insert")  # fmt: skip
SYSTEM_USERS: Final = ("system user", "event_scheduler")
OWN_LIST: Final = regex(r"\s*show\s+(?:full\s+)?processlist|.*\binformation_schema\.processlist\b", re.I | re.S)
ONE_SAMPLE: Final = "one list of threads: it is taken to stand for {:g} s (--every tells)"
NO_THREAD: Final = "not a line of a process list"

Thread = dict[str, str]


class Heading(NamedTuple):
    """The names of a list's columns in small letters, and what stands between them."""

    mark: str
    names: tuple[str, ...]

    def thread(self, text: str) -> Thread | None:
        """The cells of a line up to the statement, which may hold the mark itself; null where it is no thread's."""
        place = self.names.index("info") if "info" in self.names else len(self.names)
        is_box = self.mark == "|"
        if is_box and not text.startswith("|"):
            return None
        *cells, rest = (text[1:] if is_box else text).split(self.mark, place)
        if len(cells) != place or not cells[0].strip().isdecimal():
            return None
        behind = len(self.names) - place - 1 + (is_box and not self.is_open(text))
        info = rest.rsplit(self.mark, behind)[0] if behind > 0 else rest
        return {name: cell.strip() for name, cell in zip(self.names, [*cells, info], strict=False)}

    def is_open(self, text: str) -> bool:
        """Whether a statement goes on in the next line."""
        return self.mark == "|" and not text.endswith("|")


@dataclass(slots=True)
class Snapshot:
    """One list: when it was, as far as the text tells, and its threads."""

    at: datetime | None = None
    threads: list[Thread] = field(default_factory=list)


def sniff(head: str) -> bool:
    """Whether the heading of such a list is among the first lines, or its columns after the first row's number."""
    lines = head.splitlines()[:LOOKED_AT]
    if any(_heading(line) for line in lines):
        return True
    begins = next((at for at, line in enumerate(lines) if RECORD.match(line.strip())), None)
    if begins is None:
        return False
    below = [found[1].lower() for line in lines[begins + 1 : begins + 8] if (found := CELL.match(line))]
    return tuple(below) == COLUMNS


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `session`, `statement` and `statistic`."""
    snapshots = [one for one in _snapshots(source) if one.threads]
    if not snapshots:
        return
    statements, sessions, counts = Statements(), list[dict[str, Any]](), list[dict[str, Any]]()
    for at_us, interval_s, threads in _placed(source, snapshots):
        about = {"ts": at_us, "interval_s": interval_s}
        sessions += [_session(thread, about, statements) for thread in threads if _is_at_work(thread)]
        counts += [_count(command, count, at_us) for command, count in Counter(map(_command, threads)).items()]
    for table, found in {"session": sessions, "statement": statements.rows, "statistic": counts}.items():
        if found:
            yield rows(table, [{"host": source.host, "db": DB} | row for row in found])


def _heading(line: str) -> Heading | None:
    """What a heading tells; null where it is none."""
    for mark in ("|", "\t"):
        names = tuple(cell.strip().lower() for cell in line.strip().strip(mark).split(mark))
        if names[: len(COLUMNS)] == COLUMNS:
            return Heading(mark, names)
    return None


def _snapshots(source: SourceFile) -> Iterator[Snapshot]:
    """The lists of a file. What a statement's own line ends put on further lines is joined to it."""
    current, heading, last, is_open = Snapshot(), None, 0, False
    for line_number, line in source.lines():
        text, above = line.strip(), current.threads[-1] if current.threads else None
        record, found = RECORD.match(text), _heading(line)
        at = None if is_open else _stamp(text, source)
        is_next = record is not None and int(record[1]) <= last
        if found or at or is_next:
            yield current
            current = Snapshot(at or (None if current.threads else current.at))
        if found or record or at:
            heading, last, is_open = found, int(record[1]) if record else 0, False
            current.threads += [{}] if record else []
        elif not text or RULE.match(text) or FOOTER.match(text):
            is_open = is_open and not text
        elif heading and (thread := heading.thread(text)):
            current.threads.append(thread)
            is_open = heading.is_open(text)
        elif last and above is not None and (cell := CELL.match(line)) and cell[1].lower() in KNOWN:
            above[cell[1].lower()] = cell[2]
            is_open = cell[1].lower() == "info"
        elif is_open and above is not None:
            is_open = last > 0 or not text.endswith("|")
            above["info"] = f"{above.get('info', '')}\n{text if is_open else text[:-1]}"
        else:
            source.skip(line_number, NO_THREAD)
    yield current


def _stamp(text: str, source: SourceFile) -> datetime | None:
    if found := STAMP.match(text):
        return datetime.fromtimestamp(float(found[1]), UTC)
    return moment_in(text, source)


def _placed(source: SourceFile, snapshots: list[Snapshot]) -> Iterator[tuple[int, float, list[Thread]]]:
    """Moment, the time that it stands for, and the threads of each list."""
    if any(one.at is None for one in snapshots):
        moments = untimed(source, len(snapshots))
    else:
        moments = [one.at for one in snapshots if one.at]
    steps = [(later - one).total_seconds() for one, later in pairwise(moments)]
    if not steps:
        source.note(ONE_SAMPLE.format(source.every_s or ASSUMED_STEP_S))
    lengths = chain(steps, steps[-1:] or [source.every_s or ASSUMED_STEP_S])
    for moment, length_s, snapshot in zip(moments, lengths, snapshots, strict=True):
        yield micros(moment), max(length_s, 0.0), snapshot.threads


def _cell(thread: Thread, name: str) -> str:
    """What stands in a column; nothing where that is NULL."""
    value = thread.get(name, "").strip()
    return "" if value == "NULL" else value


def _command(thread: Thread) -> str:
    return _cell(thread, "command") or "unknown"


def _is_at_work(thread: Thread) -> bool:
    is_own = OWN_LIST.match(_cell(thread, "info")) is not None
    is_client = (
        _cell(thread, "user").lower() not in SYSTEM_USERS and THREAD_ID.fullmatch(_cell(thread, "id")) is not None
    )
    return is_client and not is_own and _command(thread).lower() not in AT_REST


def _session(thread: Thread, about: dict[str, Any], statements: Statements) -> dict[str, Any]:
    since_s = number(_cell(thread, "time"))
    placed = about | {"database": _cell(thread, "db") or None}
    text = _cell(thread, "info")
    return {
        **placed,
        **wait_of(_cell(thread, "state"), since_s),
        "sid": int(_cell(thread, "id")),
        "kind": CLIENT,
        "user": _cell(thread, "user") or None,
        "client": client_of(_cell(thread, "host")),
        "state": "active",
        "statement_id": statements.add(text, placed) if text else None,
        "statement_s": since_s,
    }


def _count(command: str, count: int, at_us: int) -> dict[str, Any]:
    return {"ts": at_us, "component": DB, "entity": command, "name": "processlist.threads", "value": float(count),
            "unit": "threads", "kind": "gauge"}  # fmt: skip
