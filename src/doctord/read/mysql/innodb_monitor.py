"""The outputs of InnoDB's monitor, section by section; what becomes of them is told at `innodb_status`."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

from doctord._native import Batch
from doctord.dataset import mysql_names
from doctord.dataset.mysql_threads import Statements
from doctord.dataset.rows import micros, rows
from doctord.read.clock import ASSUMED_STEP_S
from doctord.read.counters import Counters
from doctord.read.moments import ZONE_ASSUMED
from doctord.read.mysql.innodb_figures import FIGURES, Figure, pool_of
from doctord.read.mysql.innodb_transactions import LOCK_WAIT, deadlock, sessions
from doctord.read.source import SourceFile
from doctord.regex import regex

BEGINS: Final = regex(r"(?P<when>(?:\d{6}|\d{4}-\d\d-\d\d) +\d{1,2}:?\d\d:?\d\d).* INNODB MONITOR OUTPUT\s*$")
ENDS: Final = "END OF INNODB MONITOR OUTPUT"
PERIOD: Final = regex(r"Per second averages calculated from the last (\d+) seconds")
TITLE: Final = regex(r"(?:[A-Z][A-Z/]+)(?: [A-Z/]+)*$")
DEADLOCK: Final = "LATEST DETECTED DEADLOCK"
RULER: Final = regex(r"-+$")
SEMAPHORE: Final = regex(r"--Thread \d+ has waited at .* for ([\d.]+) seconds the semaphore:")
PREPARED: Final = regex(r"---TRANSACTION [^,]*, ?ACTIVE \(PREPARED\)(?: (\d+) sec)?")
RESERVED: Final = regex(r"OS WAIT ARRAY INFO:? reservation count (\d+)")
MOST_DIGITS: Final = 20  # of 64 bits
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


def tables_of(lines: Iterable[tuple[int, str]], source: SourceFile, db: str) -> Iterator[Batch]:
    """Rows of `statistic`, `session`, `statement` and `event`, of all outputs in some lines of a source."""
    counters, statements = Counters(), Statements()
    held: dict[str, list[dict[str, Any]]] = {"statistic": [], "session": [], "event": []}
    deadlocks = dict[tuple[object, ...], dict[str, Any]]()
    for status in _statuses(lines, source):
        if status.at:
            about = {"ts": micros(status.at), "interval_s": status.period_s or ASSUMED_STEP_S}
            open_now = list(sessions(status.section("TRANSACTIONS"), about, statements))
            held["session"] += open_now
            held["statistic"] += _statistics(status, micros(status.at), open_now, counters)
        latest = deadlock(status.section(DEADLOCK), partial(_moment, source=source))
        deadlocks |= {(row["ts"], row["subject"]): row for row in latest}
    held |= {"event": list(deadlocks.values()), "statement": statements.rows}
    for table, found in held.items():
        if found:
            yield rows(table, [{"host": source.host, "db": db} | row for row in found])


def plain(text: str) -> str:
    r"""A text with line ends in place of the `\n` that the client writes in one field of a table by tabs."""
    return text.replace("\\n", "\n")


def _statuses(lines: Iterable[tuple[int, str]], source: SourceFile) -> Iterator[Status]:
    status, before, title = None, "", ""
    for number, raw in lines:
        for line in plain(raw).split("\n"):
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
            local = datetime.strptime(_digits_of_time(text), layout).replace(tzinfo=source.zone or UTC)
            moment = local.astimezone(UTC)
        except (ValueError, OverflowError):
            continue
        if source.zone is None:
            source.note(ZONE_ASSUMED)
        return moment
    return None


def _digits_of_time(text: str) -> str:
    """A moment with six digits for the time, whether it had colons or not."""
    day, _, time = text.partition(" ")
    return f"{day} {time.strip().replace(':', '').zfill(6)}"


def _statistics(status: Status, ts: int, open_now: list[dict[str, Any]], counters: Counters) -> list[dict[str, Any]]:
    """Readings and means per second, under the names of the global status or `innodb_status`."""
    read = pool_of(status.section("BUFFER POOL AND MEMORY")) | _checkpoint_age(status)
    for title, figures in FIGURES.items():
        for one in figures:
            read |= one.first(status.section(title))
    gauges = {name: one.value for name, one in read.items() if not one.is_rate and one.is_status}
    if status.section("TRANSACTIONS"):
        gauges["innodb_row_lock_current_waits"] = float(sum(row["event"] == LOCK_WAIT for row in open_now))
    rates = {name: one.value for name, one in read.items() if one.is_rate and status.period_s}
    about = {"ts": ts}
    named = mysql_names.status_rows(gauges, rates, status.period_s or 0.0)
    own = [_own(name, one.value, one.unit) for name, one in read.items() if not one.is_rate and not one.is_status]
    return [about | row for row in (*named, *own, *_prepared(status), *_semaphores(status, ts, counters))]


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
    if not words or not all(word.isdecimal() and len(word) <= MOST_DIGITS for word in words):
        return None
    return int(words[0]) if len(words) == 1 else (int(words[0]) << 32) + int(words[1])


def _prepared(status: Status) -> Iterator[dict[str, Any]]:
    """Transactions that have done their work and wait for their commit: how many, and how long the oldest is open."""
    ages = [float(found[1] or 0) for line in status.section("TRANSACTIONS") if (found := PREPARED.match(line))]
    if ages:
        yield _own("prepared", float(len(ages)), "transactions")
        yield _own("prepared_longest", max(ages), "s")


def _semaphores(status: Status, ts: int, counters: Counters) -> Iterator[dict[str, Any]]:
    lines = status.section("SEMAPHORES")
    if not lines:
        return
    waiting = [float(found[1]) for line in lines if (found := SEMAPHORE.match(line))]
    yield _own("semaphore_waiting", float(len(waiting)), "threads")
    yield _own("semaphore_longest_wait", max(waiting, default=0.0), "s")
    reserved = next((float(found[1]) for line in lines if (found := RESERVED.match(line))), None)
    per_s = None if reserved is None else counters.per_s("reserved", ts, reserved)
    if per_s is not None:
        yield _own("os_waits", per_s, "per_s", "rate")
