"""Oracle's alert log, as text (`alert_SID.log`) or XML (`log.xml`), of any version.

It yields `event`: kinds `log switch`, `checkpoint not complete`, `archiving needed`, `private strand flush not
complete`, `cannot allocate new log` (for no reason given), `archiver stuck`, `error` (subject `ORA-...` or `TNS-...`),
`deadlock`, `restart`, `shutdown`, `instance terminated`, `database open`, `settings change`, `resize`, `swapping`;
`setting` (the parameters printed at a start, with their line); and `statistic`, an interval for each hour:
`alert_log.log switches` (entity: thread), `alert_log.errors` (entity: code) and others per second. Of each log that was
seen to be switched to, switched from and archived: gauges `alert_log.fill_time` and `alert_log.archive_time` (from the
switch to the first destination's line), seconds, entity: thread.

Literals are left out of an error's text (quoted text, numbers, arguments but the first of an internal error);
statements and names of trace files are not read. The same again at the same moment is counted, but one event. Stamps
without a zone are in that of --zone, else in UTC.
"""

import re
from collections.abc import Iterator
from itertools import chain
from typing import Any

from doctord._native import Batch
from doctord.dataset.rows import rows
from doctord.read.format import Rank
from doctord.read.oracle.logs.alert_events import STARTED_PARAMETERS, Event, event_of, may_tell, reason_of
from doctord.read.oracle.logs.archiver import Archiver
from doctord.read.oracle.logs.diagnostic_log import STAMPED, DiagnosticLog, LogLine, component, is_xml
from doctord.read.oracle.logs.tally import Tally
from doctord.read.oracle.parameter_file import plain_value
from doctord.read.source import SourceFile
from doctord.regex import regex

NAME = "Oracle alert logs"
RANK = Rank.NAMED
NO_TIME = "an event before any time of day is known"
BATCH_ROWS = 20_000
TERMINATED = "instance terminated"
HOUR_S = 3600

PHRASES = regex(
    r"^(?:Starting ORACLE instance|Thread \d+ (?:advanced to|opened at|cannot allocate)|ORA-\d{5}: |ARC\w: "
    r"|Completed: ALTER DATABASE|ALTER SYSTEM SET |LICENSE_MAX_SESSION|Errors in file \S+\.trc"
    r"|Shutting down (?:ORACLE )?instance|db_recovery_file_dest_size of )",
    re.MULTILINE,
)
DATABASE = regex(r"^\s+db_name\s*=\s*\"?([\w$#]+)", re.MULTILINE)
INSTANCE = regex(r"^\s+instance_name\s*=\s*\"?([\w$#]+)", re.MULTILINE)
HOMES = regex(r"diag/rdbms/([^/\s]+)/([^/\s]+)/")
NODE = regex(r"^Node name:\s*(\S+)", re.MULTILINE)
PARAMETER = regex(r"\s+(\w+)\s*= ?(.*)$")


def sniff(head: str) -> bool:
    """Whether a file that begins so is an alert log."""
    if is_xml(head):
        return component(head) == "rdbms"
    return bool(STAMPED.search(head) and PHRASES.search(head))


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `event` and `setting` as they come, of `statistic` at the end."""
    return AlertLog(source).batches()


class AlertLog:
    """What an alert log tells: events, settings at each start, log switches; its lines are read once, in order."""

    def __init__(self, source: SourceFile) -> None:
        """Nothing is read yet; what names the database stands somewhere in the beginning, or in the file's place."""
        self._source = source
        places = f"{source.head}\n{source.path or ''}"
        home = HOMES.search(places)
        database, instance = DATABASE.search(source.head), INSTANCE.search(source.head)
        name = database[1] if database else home[1] if home else None
        self._db = f"oracle:{name}" if name else "oracle"
        self._instance = instance[1] if instance else home[2] if home else None
        if node := NODE.search(source.head):
            source.host = node[1]
        self._held: dict[str, list[dict[str, Any]]] = {"event": [], "setting": []}
        self._tally = Tally(HOUR_S)
        self._archiver = Archiver()
        self._parameters: LogLine | None = None  # the line after which they are printed
        self._waiting: tuple[LogLine, Event] | None = None  # for why no log could be allocated
        self._is_down = False

    def batches(self) -> Iterator[Batch]:
        """Rows of `event` and `setting` as they come, at the end those of `statistic`: rates by hour, the archiver."""
        for line in DiagnosticLog(self._source).lines():
            self._take(line)
            if len(self._held["event"]) >= BATCH_ROWS and not self._parameters:
                yield from self._flush()
        self._resolve(None)
        yield from self._flush()
        yield rows(
            "statistic", [self._common("statistic") | row for row in chain(self._rates(), self._archiver.statistics())]
        )

    def _rates(self) -> Iterator[dict[str, Any]]:
        for of in self._tally.counted():
            name, _, entity = (of.key or "").partition("|")
            about = {"component": "oracle", "name": f"alert_log.{name}", "entity": entity or None}
            figure = {"value": of.count / of.length_s, "unit": "per_s", "kind": "rate"}
            yield {"ts": of.end_us, "interval_s": of.length_s} | about | figure

    def _take(self, line: LogLine) -> None:
        if self._parameters and self._is_parameter(line):
            return
        if line.at_us is not None:
            self._tally.saw(line.at_us)
            self._archiver.take(line.text, line.at_us)
        if self._waiting and (kind := reason_of(line.text)):
            self._resolve(kind)
        elif not may_tell(line.text):
            return
        elif line.text.startswith(STARTED_PARAMETERS):
            self._parameters = line
        elif event := event_of(line.text):
            self._resolve(None)
            if event.waits_for_reason:
                self._waiting = (line, event)
            else:
                self._add(line, event)

    def _resolve(self, kind: str | None) -> None:
        """The reason why no log could be allocated is told, or none is."""
        if self._waiting:
            line, event = self._waiting
            self._waiting = None
            self._add(line, event._replace(kind=kind or event.kind))

    def _add(self, line: LogLine, event: Event) -> None:
        if line.at_us is None:
            self._source.skip(line.number, NO_TIME)
            return
        if event.kind == TERMINATED and self._is_down:
            return  # several processes tell of one end
        self._is_down = event.kind == TERMINATED or (self._is_down and event.kind != "restart")
        if event.counted:
            key = f"{event.counted}|{event.of or ''}"
            self._tally.add(line.at_us, key)
            if event.of and event.counted == "log switches":
                self._tally.always.add(key)
        told = {"ts": line.at_us, "kind": event.kind, "subject": event.subject, "text": event.text}
        if self._held["event"][-1:] != [told]:
            self._held["event"].append(told)

    def _is_parameter(self, line: LogLine) -> bool:
        """Whether a line below their heading is a parameter, or more of the one before; any other ends them."""
        found, last = PARAMETER.match(line.text), self._held["setting"][-1:]
        if found and self._parameters and self._parameters.at_us is not None:
            value, unit = plain_value(found[2].strip())
            if last and last[0]["name"] == found[1].lower() and last[0]["ts"] == self._parameters.at_us:
                last[0]["value"] = f"{last[0]['value']}, {value}"  # a list has a line for each of its parts
            else:
                self._set(self._parameters.at_us, line.number, found[1].lower(), value, unit)
        elif last and line.text.startswith("    "):
            last[0]["value"] += plain_value(line.text.strip())[0]
        else:
            self._parameters = None
        return self._parameters is not None

    def _set(self, at_us: int, number: int, name: str, value: str, unit: str | None) -> None:
        told = {"name": name, "value": value, "unit": unit, "instance": self._instance}
        place = {"ts": at_us, "source": "start", "source_file": self._source.name, "line": number}
        self._held["setting"].append({"component": "oracle"} | told | place)

    def _flush(self) -> Iterator[Batch]:
        for table, held in self._held.items():
            if held:
                yield rows(table, [self._common(table) | row for row in held])
                held.clear()

    def _common(self, table: str) -> dict[str, Any]:
        of_instance = {"instance": self._instance} if table == "statistic" else {}
        return {"host": self._source.host, "db": self._db} | of_instance
