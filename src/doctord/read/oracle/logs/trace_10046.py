"""Oracle's extended SQL trace (event 10046 at level 8 or 12, `dbms_monitor`), raw, of 8i to 23ai.

It yields `latency` (each wait by its event, in columns of a second, as the trace is read), and by ten seconds:
- `wait`: events, and `CPU` as the session's own calls (depth 0) used it; a wait, or a call, that is longer than an
  interval counts in each of its intervals with what was of it there;
- `statement`: executions, elapsed and CPU time, rows and blocks of PARSE, EXEC and FETCH by SQL id (before 11g by hash
  value), the calls that a call makes in turn included; `statistic` `v$sqlstats.gets`, `parse_calls`, `loads`, `fetches`
  and `..._wait_time`;
- `statistic`: `v$sess_time_model.DB time`, `v$sesstat.user commits` and `user rollbacks`, and `reconcile.unaccounted`:
  what DB time is more than CPU and waits;
and `event`: kinds `error` (subject `ORA-...`), `deadlock`, `module`, `action`.

`tim=` counts microseconds of a clock that may be any (hundredths of a second before 9i); lines that begin with `***`
give the wall clock at that point. Where both agree but for a whole number of quarter hours, `tim=` is the wall clock in
UTC. Not read: values of bind variables, rows of plans (STAT). Texts of statements are kept without their constants.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from doctord._native import Batch, SqlTrace
from doctord.dataset.rows import micros, rows
from doctord.dataset.scrub import scrub
from doctord.read.format import Rank
from doctord.read.moments import ZONE_ASSUMED
from doctord.read.oracle.wait_classes import class_of
from doctord.read.single_waits import CLOCK_FROM_1970, Waits
from doctord.read.source import SourceFile
from doctord.regex import regex

NAME = "Oracle 10046 traces"
RANK = Rank.NAMED
NO_TIME = "a wait before any time of day is known"  # as the native crate says it
INTERVAL_S = 10.0
INTERVAL_US = 1e7

STAMP = regex(r"\*\*\* (?:.*\) )?(\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d\.?\d*)([+-]\d\d:\d\d|Z)?\s*$")
# What every line that is looked for has: a cursor's number, which is quickly found, or not.
CURSOR = regex(r"#-?\d+(?:: nam=|:c=| len=)")
SNIFFED = regex(
    r"^(?:WAIT #-?\d+: nam='[^']*' ela= ?\d|PARSING IN CURSOR #|(?:PARSE|EXEC|FETCH) #-?\d+:c=\d+,e=)", re.MULTILINE
)
NODE = regex(r"^Node name:\s*(\S+)", re.MULTILINE)
INSTANCE = regex(r"^Instance name:\s*(\S+)", re.MULTILINE)
OLD_RELEASE = regex(r"^Oracle8", re.MULTILINE)
BACKGROUND = regex(r"^\*\*\* SERVICE NAME:\(SYS\$BACKGROUND\)", re.MULTILINE)
IDLE = "Idle"

# Figures of a statement that have no column, as v$sqlstats names them.
SQLSTATS = {"gets": "gets", "parses": "parse_calls", "misses": "loads", "fetches": "fetches"}
WAIT_TIMES = {
    "User I/O": "user_io_wait_time",
    "Application": "application_wait_time",
    "Concurrency": "concurrency_wait_time",
    "Cluster": "cluster_wait_time",
}


def sniff(head: str) -> bool:
    """Whether a file that begins so is such a trace."""
    return bool(CURSOR.search(head) and SNIFFED.search(head))


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `latency` as they are read, the others at the end."""
    return Trace(source).batches()


class Trace:
    """What a trace of event 10046 tells of one session: its waits, statements, CPU and errors."""

    def __init__(self, source: SourceFile) -> None:
        """Nothing is read yet; the header names instance and host."""
        self._source = source
        instance, node = INSTANCE.search(source.head), NODE.search(source.head)
        if node:
            source.host = node[1]
        self._instance = instance[1] if instance else None
        self._db = f"oracle:{self._instance}" if instance else "oracle"
        self._kind = "background" if BACKGROUND.search(source.head) else "foreground"
        self._trace = SqlTrace(10_000 if OLD_RELEASE.search(source.head) else 1)
        self._waits = Waits(source, db=self._db)

    def batches(self) -> Iterator[Batch]:
        """Rows of `latency` as they come, at the end those of `wait`, `statement`, `statistic` and `event`."""
        for piece in _pieces(self._source):
            yield from self._latencies(self._trace.take(piece, self._stamp))
        yield from self._latencies(self._trace.rest())
        no_date, no_zone = self._trace.assumed()
        if no_date:
            self._source.place("time", CLOCK_FROM_1970)
        if no_zone:
            self._source.note(ZONE_ASSUMED)
        load = self._trace.load()
        yield rows("wait", [*self._events(), *self._cpu(load)])
        yield rows("statement", self._statements())
        yield rows("statistic", [*self._session(load), *self._statement_figures()])
        yield rows("event", self._happened())

    def _latencies(self, groups: list[tuple[int, list[tuple[str, bytes, bytes]]]]) -> Iterator[Batch]:
        for line, reason in self._trace.skipped():
            self._source.skip(line, reason)
        for until_us, waits in groups:
            held = {event: (memoryview(times).cast("q"), memoryview(took).cast("q")) for event, times, took in waits}
            yield from self._waits.take(held, until_us)

    def _stamp(self, number: int, text: str) -> tuple[int, bool] | None:
        found = STAMP.match(text)
        if found is None:
            return None
        try:
            moment = datetime.fromisoformat(found[1] + (found[2] or "").replace("Z", "+00:00"))
        except ValueError:
            self._source.skip(number, "no time of day")
            return None
        has_zone = moment.tzinfo is not None or self._source.zone is not None
        return micros(moment if moment.tzinfo else moment.replace(tzinfo=self._source.zone or UTC)), has_zone

    def _events(self) -> Iterator[dict[str, Any]]:
        for end_us, event, waits, ended_us, waited_us in sorted(self._trace.waits()):
            yield self._of_instance(end_us) | {
                "wait_class": class_of(event),
                "event": event,
                "kind": self._kind,
                "waits_per_s": waits / INTERVAL_S,
                "avg_wait_ms": ended_us / waits / 1e3 if waits else None,
                "average_active_sessions": waited_us / INTERVAL_US,
            }

    def _cpu(self, load: list[tuple[int, int, int, int, int]]) -> Iterator[dict[str, Any]]:
        for end_us, _, cpu_us, _, _ in sorted(load):
            named = {"wait_class": "CPU", "event": "CPU", "kind": self._kind}
            yield self._of_instance(end_us) | named | {"average_active_sessions": cpu_us / INTERVAL_US}

    def _statements(self) -> Iterator[dict[str, Any]]:
        texts = {statement: scrub(text, "oracle") if text else None for statement, text in self._trace.texts()}
        for end_us, statement, figures in sorted(self._trace.executed(), key=lambda row: row[:2]):
            yield self._of_instance(end_us) | {
                "statement_id": statement,
                "text": texts.get(statement),
                "calls_per_s": figures["executions"] / INTERVAL_S,
                "elapsed_s_per_s": figures["elapsed_us"] / INTERVAL_US,
                "cpu_s_per_s": figures["cpu_us"] / INTERVAL_US,
                "rows_per_s": figures["rows"] / INTERVAL_S,
                "read_blocks_per_s": figures["reads"] / INTERVAL_S,
                "plan_id": str(figures["plan"]) if figures["plan"] else None,
            }

    def _session(self, load: list[tuple[int, int, int, int, int]]) -> Iterator[dict[str, Any]]:
        waited_us: dict[int, int] = {}
        for end_us, event, _, _, part_us in self._trace.waits():
            if class_of(event) != IDLE:
                waited_us[end_us] = waited_us.get(end_us, 0) + part_us
        for end_us, elapsed_us, cpu_us, commits, rollbacks in sorted(load):
            unaccounted_us = elapsed_us - cpu_us - waited_us.get(end_us, 0)
            yield self._rate(end_us, "v$sess_time_model.DB time", elapsed_us / INTERVAL_US, "s_per_s")
            yield self._rate(end_us, "reconcile.unaccounted", unaccounted_us / INTERVAL_US, "s_per_s")
            yield self._rate(end_us, "v$sesstat.user commits", commits / INTERVAL_S, "per_s")
            yield self._rate(end_us, "v$sesstat.user rollbacks", rollbacks / INTERVAL_S, "per_s")

    def _statement_figures(self) -> Iterator[dict[str, Any]]:
        for end_us, statement, figures in sorted(self._trace.executed(), key=lambda row: row[:2]):
            for name, called in SQLSTATS.items():
                yield self._rate(end_us, f"v$sqlstats.{called}", figures[name] / INTERVAL_S, "per_s", statement)
        waited_us: dict[tuple[int, str, str], int] = {}
        for end_us, statement, event, part_us in self._trace.statement_waits():
            if called_time := WAIT_TIMES.get(class_of(event)):
                key = (end_us, statement, called_time)
                waited_us[key] = waited_us.get(key, 0) + part_us
        for (end_us, statement, called), part_us in sorted(waited_us.items()):
            yield self._rate(end_us, f"v$sqlstats.{called}", part_us / INTERVAL_US, "s_per_s", statement)

    def _happened(self) -> Iterator[dict[str, Any]]:
        for at_us, what, code, name in self._trace.happened():
            subject, text = _told(what, code, name)
            kind = "error" if what == "parse error" else what
            common = {"ts": at_us, "host": self._source.host, "db": self._db}
            yield common | {"kind": kind, "subject": subject, "text": text}

    def _rate(self, end_us: int, name: str, value: float, unit: str, entity: str | None = None) -> dict[str, Any]:
        figure = {"component": "oracle", "entity": entity, "name": name, "value": value, "unit": unit, "kind": "rate"}
        return self._of_instance(end_us) | figure

    def _of_instance(self, end_us: int) -> dict[str, Any]:
        common: Mapping[str, Any] = {"host": self._source.host, "db": self._db, "instance": self._instance}
        return {"ts": end_us, "interval_s": INTERVAL_S, **common}


def _told(what: str, code: int | None, name: str | None) -> tuple[str | None, str | None]:
    """Subject and text of an event."""
    if what in {"module", "action"}:
        return (name or "").partition("@")[0], None
    if what == "deadlock":
        return "ORA-00060", "deadlock detected"
    statement = f" of SQL id {name}" if name else ""
    return f"ORA-{code or 0:05}", f"in {'the text' if what == 'parse error' else 'a call'}{statement}"


def _pieces(source: SourceFile) -> Iterator[bytes]:
    """The trace in pieces of whole lines; of standard input, which may still be written to, each line as it comes."""
    if source.path is None:
        return (f"{line}\n".encode() for _, line in source.lines())
    return source.chunks()
