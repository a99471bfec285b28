"""What tkprof made of a SQL trace of Oracle, of 8i to 23ai, in whatever language its date is and whatever stands above.

Tables: `statement` (executions, elapsed and CPU time, rows and blocks read of Parse, Execute and Fetch together) with
`statistic` `v$sqlstats.gets` (query and current), `parse_calls`, `loads` (misses in the library cache) and `fetches`;
`wait` (each event by the totals, and `CPU`) with `statistic` `tkprof.max_wait_s`; `statistic` `v$sess_time_model.DB
time` and, of a trace with waits, `reconcile.unaccounted`; `event` `error` of statements that could not be parsed.

tkprof books what a recursive statement takes on that statement alone, not on the one that caused it: the statements add
up to database time, and so do the two tables of totals. Without these (a piece of a report) the statements are added
up. Idle waits within calls (PL/SQL lock timer) are taken off their elapsed time. Statements are named by their SQL id;
before 11g, and where the trace does not tell it, by a hash of their text, which is kept without its constants. The
interval is the elapsed seconds of the trace; its end is when tkprof ran, as no other time is told. Not read: plans.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from doctord._native import Batch
from doctord.dataset.rows import micros, rows
from doctord.dataset.scrub import scrub, text_id
from doctord.read.clock import untimed
from doctord.read.format import Rank
from doctord.read.moments import ZONE_ASSUMED
from doctord.read.oracle.dates import month_named
from doctord.read.oracle.wait_classes import class_of
from doctord.read.source import SourceFile
from doctord.regex import regex

NAME = "tkprof (Oracle)"
RANK = Rank.NAMED

CALLS: Final = regex(r"^[^\S\n]*+call\s+count\s+cpu\s+elapsed\s+disk\s+query\s+current\s+rows[^\S\n]*+$", re.MULTILINE)
CALL: Final = regex(r"\s*(Parse|Execute|Fetch)((?:\s+\d+(?:[.,]\d+)?){7})\s*$")
TITLE: Final = regex(r"^[^\S\n]*+TKPROF: Release .*$", re.MULTILINE)
DATE: Final = regex(r" on (.*?(\d\d):(\d\d):(\d\d).*)$")
TRACE: Final = regex(r"^Trace file: (?:.*[\\/])?(\w+?)_[a-z]\w{2,3}_\d+", re.MULTILINE)
RULER: Final = regex(r"\s*\*{20,}\s*$")
OVERALL: Final = "OVERALL TOTALS"
IDENTITY: Final = regex(r"\s*(?:SQL ID ?: ?(\w{13})\s*)?(?:Plan Hash: ?(\d+))?\s*$")
EVENT: Final = regex(r"\s+(\S.*?)\s+(\d+)\s+(\d+[.,]\d\d)\s+(\d+[.,]\d\d)\s*$")
MISSES: Final = regex(r"\s*Misses in library cache during (?:parse|execute): (\d+)")
ELAPSED: Final = regex(r"\s*(\d+)\s+elapsed seconds in trace file")
FAILED: Final = regex(r"\s*Error encountered: (ORA-\d{5})")
IDLE: Final = "Idle"
BETWEEN_CALLS: Final = "SQL*Net"  # while the server waits for the client's next call, which no elapsed time has in it
NOT_TOLD: Final = "(which events, is not told)"
WHEN_IT_RAN: Final = "when the trace was made is not told: its rows end when tkprof ran"
NO_WAITS: Final = "a trace without waits: what is not CPU is not told (dbms_monitor, waits => true, has them)"

PER_S: Final = {"unit": "per_s", "kind": "rate"}
S_PER_S: Final = {"unit": "s_per_s", "kind": "rate"}


@dataclass
class Totals:
    """What calls took together.

    `waits` holds by event how often, how long at the longest, and how long in all it was waited for, in seconds.
    """

    calls: dict[str, float] = field(default_factory=dict)
    cpu_s: float = 0.0
    elapsed_s: float = 0.0
    reads: float = 0.0
    gets: float = 0.0
    rows: float = 0.0
    misses: float = 0.0
    waits: dict[str, tuple[int, float, float]] = field(default_factory=dict)

    def add(self, other: "Totals") -> None:
        """Add counts, seconds and waits of other calls to these; of longest waits the longer one stays."""
        for call, count in other.calls.items():
            self.calls[call] = self.calls.get(call, 0.0) + count
        for name in ("cpu_s", "elapsed_s", "reads", "gets", "rows", "misses"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for event, (times, longest_s, waited_s) in other.waits.items():
            before = self.waits.get(event, (0, 0.0, 0.0))
            self.waits[event] = (before[0] + times, max(before[1], longest_s), before[2] + waited_s)


class Part(NamedTuple):
    """What stands between two rulers, or below a heading of totals: its first line, and the lines."""

    number: int
    lines: list[str]


def sniff(head: str) -> bool:
    """Whether its title, or the heading of a table of calls, is in it."""
    return bool(CALLS.search(head)) or bool(TITLE.search(head) and "count    = number of times" in head)


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `statement`, `wait`, `statistic` and `event`."""
    report = Tkprof(source)
    for part in _parts(source.lines()):
        report.take(part)
    return report.batches()


def _parts(lines: Iterable[tuple[int, str]]) -> Iterator[Part]:
    part = Part(1, [])
    for number, line in lines:
        if RULER.match(line) or line.startswith(OVERALL):
            yield part
            part = Part(number, [])
        if not RULER.match(line):
            part.lines.append(line)
    yield part


class Tkprof:
    """What a report of tkprof tells: statements with calls and waits, totals, errors in the text of statements."""

    def __init__(self, source: SourceFile) -> None:
        """Nothing is read yet; the name of the trace file begins with the instance."""
        self._source = source
        trace = TRACE.search(source.head)
        self._db = f"oracle:{trace[1]}" if trace else "oracle"
        self._statements: dict[str, tuple[str, str | None, Totals]] = {}
        self._overall = Totals()
        self._failed: list[str] = []
        self._elapsed_s = 0.0

    def take(self, part: Part) -> None:
        """Take a part of the report: a statement with its table of calls, the totals of all, or what is neither."""
        heading = next((at for at, line in enumerate(part.lines) if CALLS.match(line)), None)
        if heading is None:
            self._take_rest(part)
        elif part.lines[0].startswith(OVERALL):
            self._overall.add(_totals(part, heading, self._source))
            self._take_rest(part)
        else:
            self._take_statement(part, heading)

    def _take_statement(self, part: Part, heading: int) -> None:
        named: dict[int, str] = {}
        text: list[str] = []
        for line in part.lines[:heading]:
            if found := IDENTITY.match(line):
                named |= {at: found[at] for at in (1, 2) if found[at]}
            else:
                text.append(line)
        plain = scrub("\n".join(text), "oracle")
        key = named.get(1) or (text_id(plain) if plain else None)
        if key is None:
            self._source.skip(part.number, "calls without a statement")
            return
        plan = named.get(2)
        held = self._statements.setdefault(key, (plain, plan if plan != "0" else None, Totals()))
        held[2].add(_totals(part, heading, self._source))

    def _take_rest(self, part: Part) -> None:
        for line in part.lines:
            if found := ELAPSED.match(line):
                self._elapsed_s += float(found[1])
            elif found := FAILED.match(line):
                self._failed.append(found[1])

    def batches(self) -> Iterator[Batch]:
        """Rows of `statement`, `wait`, `statistic` and `event` (errors) of all parts taken, over its whole time."""
        if not self._overall.calls:
            for _, _, taken in self._statements.values():
                self._overall.add(taken)
        if self._overall.calls and not self._overall.waits:
            self._source.note(NO_WAITS)
        end_us, length_s = micros(_ran(self._source)), max(self._elapsed_s, 1.0)
        if not self._elapsed_s:
            length_s = max(self._overall.elapsed_s, 1.0)
        about = {"ts": end_us, "interval_s": length_s, "host": self._source.host, "db": self._db}
        yield rows("statement", [about | one for one in self._statement_rows(length_s)])
        yield rows("wait", [about | {"kind": "foreground"} | one for one in _wait_rows(self._overall, length_s)])
        yield rows("statistic", [about | {"component": "oracle"} | one for one in self._figures(length_s)])
        failed = {"ts": end_us, "host": self._source.host, "db": self._db, "kind": "error"}
        yield rows("event", [failed | {"subject": code, "text": "in the text of a statement"}
                             for code in self._failed])  # fmt: skip

    def _statement_rows(self, length_s: float) -> Iterator[dict[str, Any]]:
        for key, (text, plan, taken) in self._statements.items():
            yield {
                "statement_id": key,
                "text": text or None,
                "plan_id": plan,
                "calls_per_s": taken.calls.get("Execute", 0.0) / length_s,
                "elapsed_s_per_s": taken.elapsed_s / length_s,
                "cpu_s_per_s": taken.cpu_s / length_s,
                "rows_per_s": taken.rows / length_s,
                "read_blocks_per_s": taken.reads / length_s,
            }

    def _figures(self, length_s: float) -> Iterator[dict[str, Any]]:
        for key, (_, _, taken) in self._statements.items():
            counts = {"gets": taken.gets, "parse_calls": taken.calls.get("Parse", 0.0), "loads": taken.misses,
                      "fetches": taken.calls.get("Fetch", 0.0)}  # fmt: skip
            for name, count in counts.items():
                yield {"name": f"v$sqlstats.{name}", "entity": key, "value": count / length_s} | PER_S
        whole = self._overall
        yield {"name": "v$sess_time_model.DB time", "value": whole.elapsed_s / length_s} | S_PER_S
        if whole.waits:
            waited_s = sum(waited for event, (_, _, waited) in whole.waits.items() if class_of(event) != IDLE)
            left_s = whole.elapsed_s - whole.cpu_s - waited_s
            yield {"name": "reconcile.unaccounted", "value": left_s / length_s} | S_PER_S
        for event, (_, longest_s, _) in whole.waits.items():
            yield {"name": "tkprof.max_wait_s", "entity": event, "value": longest_s, "unit": "s", "kind": "gauge"}


def _totals(part: Part, heading: int, source: SourceFile) -> Totals:
    """The calls below a heading, and the waits and misses after them."""
    totals = Totals()
    for at, line in enumerate(part.lines[heading + 1 :], heading + 1):
        if found := CALL.match(line):
            count, cpu_s, elapsed_s, *blocks, number = (float(word.replace(",", ".")) for word in found[2].split())
            own = Totals({found[1]: count}, cpu_s, elapsed_s, blocks[0], blocks[1] + blocks[2], number)
            totals.add(own)
        elif found := EVENT.match(line):
            longest_s, waited_s = (float(word.replace(",", ".")) for word in found.groups()[2:])
            totals.add(Totals(waits={found[1]: (int(found[2]), longest_s, waited_s)}))
        elif found := MISSES.match(line):
            totals.misses += float(found[1])
        elif line.lstrip().startswith(("Parse ", "Execute ", "Fetch ")):
            source.skip(part.number + at, "no figures of calls")
    idle_s = sum(waited_s for event, (_, _, waited_s) in totals.waits.items() if _is_idle_within(event))
    totals.elapsed_s = max(totals.elapsed_s - idle_s, min(totals.elapsed_s, totals.cpu_s))
    return totals


def _is_idle_within(event: str) -> bool:
    """Whether a call waits so without anything to do (PL/SQL lock timer): no database time, though it is elapsed."""
    return class_of(event) == IDLE and not event.startswith(BETWEEN_CALLS)


def _wait_rows(whole: Totals, length_s: float) -> Iterator[dict[str, Any]]:
    yield {"wait_class": "CPU", "event": "CPU", "average_active_sessions": whole.cpu_s / length_s}
    if not whole.waits and whole.elapsed_s > whole.cpu_s:
        waited_s = whole.elapsed_s - whole.cpu_s
        yield {"wait_class": "Other", "event": NOT_TOLD, "average_active_sessions": waited_s / length_s}
    for event, (times, _, waited_s) in whole.waits.items():
        yield {
            "wait_class": class_of(event),
            "event": event,
            "waits_per_s": times / length_s,
            "avg_wait_ms": waited_s / times * 1000 if times else None,
            "average_active_sessions": waited_s / length_s,
        }


def _ran(source: SourceFile) -> datetime:
    """When tkprof ran: `Tue Feb 3 20:51:59 2026`, the names in any language, the parts in any order."""
    title = TITLE.search(source.head)
    found = DATE.search(title[0]) if title else None
    words = re.findall(r"[^\s.,]+", found[1]) if found else []
    year = next((int(word) for word in words if re.fullmatch(r"(?:19|20)\d\d年?", word)), None)
    day = next((int(word) for word in words if re.fullmatch(r"\d\d?", word)), None)
    month = next((at for word in words if not word.isdigit() and (at := month_named(word))), None)
    if found is None or year is None or day is None or month is None:
        return untimed(source, 1)[0]
    source.note(WHEN_IT_RAN)
    if source.zone is None:
        source.note(ZONE_ASSUMED)
    try:
        hour, minute, second = (int(word) for word in found.groups()[1:])
        return datetime(year, month, day, hour, minute, second, tzinfo=source.zone or UTC)
    except ValueError:
        return untimed(source, 1)[0]
