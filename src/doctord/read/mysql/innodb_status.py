r"""SHOW ENGINE INNODB STATUS of MySQL 5.0 to 9 and MariaDB 5 to 11: after `\G`, by tabs, or the monitor's own output.

Several of them in one file are several moments. Times are the server's own, without a zone. Its colons and slashes may
be lost (pasted into a page), and the section of the latest deadlock may stand alone.

- `statistic` of `mysql`, named as in SHOW GLOBAL STATUS where that has them: `global_status.innodb_data_reads`,
  `.innodb_pages_read`, `.innodb_rows_read` and their like, means per second over the time that the monitor names;
  `.innodb_history_list_length`, `.innodb_checkpoint_age` (bytes; the log sequence number less the last checkpoint),
  `.innodb_buffer_pool_pages_*`, `.innodb_data_pending_*`, `.innodb_row_lock_current_waits` as readings. What it has not
  is `innodb_status.NAME`: the hit rate (of 1), queries in the queue, threads that wait for a semaphore and the
  longest of these waits, and, of several outputs, waits of the wait array per second.
- `session`, `statement`: who has a transaction open. A LOCK WAIT is a wait for a row; a thread without a statement is
  idle in its transaction; of others the thread's state tells. Each stands for the time that the monitor names.
- `event`: the latest deadlock, at its own time, a row for each transaction with its statement, as an error log has it.

Left out: records and what they hold, memory by structure, the latest foreign key error. Values of statements are
scrubbed.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from doctord._native import Batch
from doctord.dataset import mysql_names
from doctord.dataset.rows import micros, rows
from doctord.dataset.scrub import scrub
from doctord.dataset.tables import CLIENT
from doctord.read.clock import ASSUMED_STEP_S
from doctord.read.counters import Counters
from doctord.read.format import Rank
from doctord.read.moments import ZONE_ASSUMED
from doctord.read.mysql.innodb_figures import FIGURES, Figure, pool_of
from doctord.read.mysql.thread_state import Statements, client_of, wait_of
from doctord.read.source import SourceFile

NAME = "SHOW ENGINE INNODB STATUS"
RANK = Rank.NAMED
DB: Final = "mysql"
LOOKED_AT: Final = 20  # lines before the monitor's own: a prompt, a ruler, the row's number, type, name and status
BEGINS: Final = re.compile(r"(?P<when>(?:\d{6}|\d{4}-\d\d-\d\d) +\d{1,2}:?\d\d:?\d\d).* INNODB MONITOR OUTPUT\s*$")
ENDS: Final = "END OF INNODB MONITOR OUTPUT"
PERIOD: Final = re.compile(r"Per second averages calculated from the last (\d+) seconds")
TITLE: Final = re.compile(r"(?:[A-Z][A-Z/]+)(?: [A-Z/]+)*$")
MOMENT: Final = re.compile(r"(?:\d{6}|\d{4}-\d\d-\d\d) +\d{1,2}:?\d\d:?\d\d")
DEADLOCK: Final = "LATEST DETECTED DEADLOCK"
RULER: Final = re.compile(r"-+$")
TRANSACTION: Final = re.compile(
    r"---TRANSACTION [^,]*,? ?(?P<state>not started|ACTIVE)(?: \([A-Z ]+\))?(?: (?P<age>\d+) sec)?"
)
IN_DEADLOCK: Final = re.compile(r"\*\*\* \((\d+)\) TRANSACTION:")
THREAD: Final = re.compile(r"(?:MySQL|MariaDB) thread id (?P<sid>\d+),.*? query id \d+ ?(?P<who>.*)$")
IP: Final = re.compile(r"[\d.]+$|[\da-fA-F:]*:[\da-fA-F:.]*$")
WAITED: Final = re.compile(r"-+ TRX HAS BEEN WAITING (\d+) (SEC|us|ns)", re.IGNORECASE)
SECONDS_IN: Final = {"sec": 1.0, "us": 1e-6, "ns": 1e-9}
LOCK_WAIT: Final = "LOCK WAIT"
AFTER_STATEMENT: Final = (
    "---",
    "***",
    "Trx read view",
    "TABLE LOCK",
    "RECORD LOCKS",
    "Trx #rec lock waits",
    "Record lock",
)
SEMAPHORE: Final = re.compile(r"--Thread \d+ has waited at .* for ([\d.]+) seconds the semaphore:")
RESERVED: Final = re.compile(r"OS WAIT ARRAY INFO:? reservation count (\d+)")
CUT: Final = "it ends within a status: what it has not is missing"
NO_MOMENT: Final = "no date at the beginning of a status"


@dataclass(slots=True)
class Status:
    """One output: when it was, over how many seconds its means are, and its lines by section.

    `at` is null of a deadlock's section alone, which tells when that was.
    """

    at: datetime | None
    period_s: float | None = None
    sections: dict[str, list[str]] = field(default_factory=dict)

    def section(self, title: str) -> list[str]:
        """The lines below a title; none where it is not there."""
        return self.sections.get(title.replace("/", ""), [])


def sniff(head: str) -> bool:
    """Whether the monitor's heading, or that of its latest deadlock, is among the first lines."""
    return any(BEGINS.search(line) or line.strip() == DEADLOCK for line in _plain(head).splitlines()[:LOOKED_AT])


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `statistic`, `session`, `statement` and `event`."""
    counters, statements = Counters(), Statements()
    held: dict[str, list[dict[str, Any]]] = {"statistic": [], "session": [], "event": []}
    deadlocks = dict[tuple[object, ...], dict[str, Any]]()
    for status in _statuses(source):
        if status.at:
            sessions = list(_sessions(status, status.at, statements))
            held["session"] += sessions
            held["statistic"] += _statistics(status, status.at, sessions, counters)
        deadlocks |= {(row["ts"], row["subject"]): row for row in _deadlock(status, source)}
    held |= {"event": list(deadlocks.values()), "statement": statements.rows}
    for table, found in held.items():
        if found:
            yield rows(table, [{"host": source.host, "db": DB} | row for row in found])


def _plain(text: str) -> str:
    r"""A text with line ends in place of the `\n` that the client writes in one field of a table by tabs."""
    return text.replace("\\n", "\n")


def _statuses(source: SourceFile) -> Iterator[Status]:
    status, before, title = None, "", ""
    for number, raw in source.lines():
        for line in _plain(raw).split("\n"):
            if begins := BEGINS.search(line):
                if status:
                    yield _cut(status, source)
                at = _moment(begins["when"], source)
                status, title = (Status(at) if at else None), ""
                if at is None:
                    source.skip(number, NO_MOMENT)
            elif status is None and line.strip() == DEADLOCK:
                status, title = Status(None), DEADLOCK
            elif status is None:
                continue
            elif line.startswith(ENDS):
                yield status
                status = None
            elif found := PERIOD.match(line):
                status.period_s = float(found[1]) or None
            elif RULER.match(before) and TITLE.fullmatch(line.strip()):
                title = line.strip().replace("/", "")
            else:
                status.sections.setdefault(title, []).append(line)
            before = line
    if status:
        yield _cut(status, source)


def _cut(status: Status, source: SourceFile) -> Status:
    """A status whose end is not there, which is said; a deadlock's section alone has no end."""
    if status.at:
        source.note(CUT)
    return status


def _moment(text: str, source: SourceFile) -> datetime | None:
    """The moment of `2018-09-04 22:29:05` or `180904 22:29:05`, in the zone that the user tells."""
    for layout in ("%Y-%m-%d %H%M%S", "%y%m%d %H%M%S"):
        try:
            local = datetime.strptime(_digits_of_time(text), layout)  # noqa: DTZ007 - zoned below
        except ValueError:
            continue
        if source.zone is None:
            source.note(ZONE_ASSUMED)
        return local.replace(tzinfo=source.zone or UTC).astimezone(UTC)
    return None


def _digits_of_time(text: str) -> str:
    """A moment with six digits for the time, whether it had colons or not."""
    day, _, time = text.partition(" ")
    return f"{day} {time.strip().replace(':', '').zfill(6)}"


def _statistics(
    status: Status, at: datetime, sessions: list[dict[str, Any]], counters: Counters
) -> list[dict[str, Any]]:
    """Readings and means per second, under the names of the global status or `innodb_status`."""
    read = pool_of(status.section("BUFFER POOL AND MEMORY")) | _checkpoint_age(status)
    for title, figures in FIGURES.items():
        for one in figures:
            read |= one.first(status.section(title))
    gauges = {name: one.value for name, one in read.items() if not one.is_rate and one.is_status}
    gauges["innodb_row_lock_current_waits"] = float(sum(row["event"] == LOCK_WAIT for row in sessions))
    rates = {name: one.value for name, one in read.items() if one.is_rate and status.period_s}
    about = {"ts": micros(at)}
    named = mysql_names.status_rows(gauges, rates, status.period_s or 0.0)
    own = [_own(name, one.value, one.unit) for name, one in read.items() if not one.is_rate and not one.is_status]
    return [about | row for row in (*named, *own, *_semaphores(status, at, counters))]


def _own(name: str, value: float, unit: str, kind: str = "gauge") -> dict[str, Any]:
    named = f"innodb_status.{name}"
    return {"component": mysql_names.COMPONENT, "name": named, "value": value, "unit": unit, "kind": kind}


def _checkpoint_age(status: Status) -> dict[str, Figure]:
    log = status.section("LOG")
    now, checkpoint = (_sequence_number(log, name) for name in ("Log sequence number", "Last checkpoint at"))
    if now is None or checkpoint is None or now < checkpoint:
        return {}
    return {"innodb_checkpoint_age": Figure(float(now - checkpoint), "bytes")}


def _sequence_number(lines: Iterable[str], name: str) -> int | None:
    """A place in the log; versions before 5.1 write its upper and lower 32 bits."""
    line = next((line for line in lines if line.startswith(name)), None)
    words = line.removeprefix(name).split()[:2] if line else []
    if not words or not all(word.isdigit() for word in words):
        return None
    return int(words[0]) if len(words) == 1 else (int(words[0]) << 32) + int(words[1])


def _semaphores(status: Status, at: datetime, counters: Counters) -> Iterator[dict[str, Any]]:
    lines = status.section("SEMAPHORES")
    waiting = [float(found[1]) for line in lines if (found := SEMAPHORE.match(line))]
    yield _own("semaphore_waiting", float(len(waiting)), "threads")
    yield _own("semaphore_longest_wait", max(waiting, default=0.0), "s")
    reserved = next((float(found[1]) for line in lines if (found := RESERVED.match(line))), None)
    per_s = None if reserved is None else counters.per_s("reserved", micros(at), reserved)
    if per_s is not None:
        yield _own("os_waits", per_s, "per_s", "rate")


def _sessions(status: Status, at: datetime, statements: Statements) -> Iterator[dict[str, Any]]:
    """Rows of `session` of the transactions that are open."""
    about = {"ts": micros(at), "interval_s": status.period_s or ASSUMED_STEP_S}
    for lines in _parted(status.section("TRANSACTIONS"), TRANSACTION):
        begins = TRANSACTION.match(lines[0])
        thread = next((found for line in lines if (found := THREAD.match(line))), None)
        if begins is None or begins["state"] != "ACTIVE" or thread is None:
            continue
        host, user, state = _who(thread["who"])
        text = _statement(lines)
        waits = any(line.startswith(LOCK_WAIT) for line in lines)
        is_idle = not text and not waits and not state
        age_s = float(begins["age"]) if begins["age"] else None
        wait = wait_of(LOCK_WAIT if waits else "idle" if is_idle else state, None)
        yield about | wait | {
            "sid": int(thread["sid"]),
            "kind": CLIENT,
            "user": user,
            "client": client_of(host),
            "state": "idle in transaction" if is_idle else "active",
            "statement_id": statements.add(text, about) if text else None,
            "in_state_s": next((float(found[1]) * SECONDS_IN[found[2].lower()]
                                for line in lines if (found := WAITED.match(line))), None),
            "transaction_s": age_s,
        }  # fmt: skip


def _parted(lines: list[str], begins: re.Pattern[str]) -> Iterator[list[str]]:
    """The lines of one transaction after the other."""
    part = list[str]()
    for line in lines:
        if begins.match(line):
            if part:
                yield part
            part = [line]
        elif part:
            part.append(line)
    if part:
        yield part


def _who(text: str) -> tuple[str, str | None, str]:
    """Host, user and state: the server writes the host's name, its address where it knows both, the user, the state."""
    words = text.split()
    host = words.pop(0) if words else ""
    if len(words) > 1 and IP.match(words[0]) and not IP.match(host):
        words.pop(0)
    return host, (words[0] if words else None), " ".join(words[1:])


def _statement(lines: list[str]) -> str:
    """What stands below the line of the thread, up to the locks."""
    below = next((at for at, line in enumerate(lines, 1) if THREAD.match(line)), len(lines))
    text = list[str]()
    for line in lines[below:]:
        if line.startswith(AFTER_STATEMENT):
            break
        text.append(line)
    return "\n".join(text).strip()


def _deadlock(status: Status, source: SourceFile) -> Iterator[dict[str, Any]]:
    """A row of `event` for each transaction of the latest deadlock."""
    lines = status.section(DEADLOCK)
    found = next((found for line in lines[:2] if (found := MOMENT.match(line))), None)
    at = _moment(found[0], source) if found else None
    if at is None:
        return
    for part in _parted(lines, IN_DEADLOCK):
        number = IN_DEADLOCK.match(part[0])
        yield {
            "ts": micros(at),
            "kind": "deadlock",
            "subject": f"transaction {number[1] if number else ''}",
            "text": scrub(_statement(part), "mysql"),
        }
