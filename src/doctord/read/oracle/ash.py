"""ASH reports, 10g to 23ai, in text and in HTML: what sampled sessions did over an interval of minutes or hours.

`wait`: the top events, foreground and background; `CPU + Wait for CPU` is `CPU` of class CPU. What sampled activity is
left beside those listed is `(the rest, not listed)`. Samples do not count waits, so these are null. `statement`: the
top statements with the time that they were active in. `statistic`, component oracle, in average active sessions:
`ash.active_sessions` and `ash.WHAT` by entity (WHAT: `session`, `session_event`, `blocking_session`, `service_module`,
`sql_event`, `row_source`, `object`, `file`, `latch`, `call_type`, ...), `ash.activity` of each slot of time by event
(entity null: all), and `ash.sampled_executions`, a count. `event`: kind `blocking session`.

Shares in per cent are of all sampled activity. The slots are not in `wait`, where they would count twice. Left out:
parameters' names, counts of transactions, and of statements the constants. Text reports cut long names.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from doctord._native import Batch, ReportTable, html_tables, text_tables
from doctord.dataset.rows import micros, rows
from doctord.dataset.scrub import scrub
from doctord.errors import UserError
from doctord.read.format import Rank
from doctord.read.oracle.dates import MOMENT, report_moment
from doctord.read.oracle.wait_classes import NOT_LISTED
from doctord.read.source import SourceFile
from doctord.regex import regex

NAME = "ASH report"
RANK = Rank.NAMED
TITLE = regex(r"\bASH Report\s+(?:For|-)\s", re.IGNORECASE)
MARKUP = regex(r"<[^>]*>|&nbsp;|&#160;")
BEGIN, END = (regex(rf"Analysis {which} Time:\s*({MOMENT})") for which in ("Begin", "End"))
SESSIONS = regex(r"Average Active Sessions:\s*([\d,.]+)")
SAMPLES = regex(r"Sample Count:\s*([\d,.]+)")
SLOT = regex(r"(\d\d):(\d\d)(?::(\d\d))?")
CPU = ("CPU", "CPU")
ON_CPU = "CPU + Wait for CPU"
REST = {"kind": "foreground", "wait_class": "Other", "event": NOT_LISTED, "wait_kind": None}
ACTIVITY = ("% Activity", "% Event")
ACTIVE = ("Avg Active Sessions", "Avg Active")
SID = ("Sid, Serial#", "Sid,Serial#", "Sid, Serial# (Inst)")
SAMPLE_S = (1.0, 10.0)  # the view in memory holds every second, the one on disk every tenth sample


class Shares(NamedTuple):
    """A section that shares out activity: to what, and the column of per cent."""

    title: str
    name: str
    entity: tuple[tuple[str, ...], ...]
    share: tuple[str, ...] = ACTIVITY


SECTIONS = (
    Shares("Top Cluster Events", "cluster_event", (("Event",),)),
    Shares(
        "Top Event P1/P2/P3 Values",
        "event_parameters",
        (("Event",), ("P1 Value, P2 Value, P3 Value",)),
        ("% Activity",),
    ),
    Shares("Top Service/Module", "service_module", (("Service",), ("Module",))),
    Shares("Top Service/Module", "action", (("Service",), ("Module",), ("Action",)), ("% Action",)),
    Shares("Top Client IDs", "client_id", (("Client ID",),)),
    Shares("Top SQL Command Types", "sql_command", (("SQL Command Type",),)),
    Shares("Top Phases of Execution", "phase", (("Phase of Execution",),)),
    Shares("Top SQL with Top Events", "sql_event", (("SQL ID",), ("Event",)), ("% Event",)),
    Shares("Top SQL with Top Row Sources", "row_source", (("SQL ID",), ("Row Source",)), ("% RwSrc",)),
    Shares("Top Parsing Module/Action", "parsing", (("Module",), ("Action",))),
    Shares("Top PL/SQL Procedures", "plsql", (("PLSQL Entry Subprogram", "PL/SQL Entry Subprogram"),)),
    Shares("Top Call Types", "call_type", (("Call Type",),)),
    Shares("Top Sessions$", "session", (SID, ("User",), ("Program",))),
    Shares("Top Sessions$", "session_event", (SID, ("User",), ("Program",), ("Event",)), ("% Event",)),
    Shares(
        "Top Blocking Sessions", "blocking_session", (("Blocking Sid (Inst)", "Blocking Sid"), ("User",), ("Program",))
    ),
    Shares("Top Sessions running PQs", "parallel_session", (SID, ("User",), ("Program",))),
    Shares("Top DB Objects", "object", (("Object Name (Type)",),)),
    Shares("Top DB Objects", "object_event", (("Object Name (Type)",), ("Event",)), ("% Event",)),
    Shares("Top DB Files", "file", (("File Name",),)),
    Shares("Top Latches", "latch", (("Latch",),)),
    Shares("Top (?:PDBs|Containers)", "container", (("PDB Name", "Container Name"),)),
)


class About(NamedTuple):
    """Whom a report is about, and when; how active it was."""

    begin: datetime
    end: datetime
    db: str
    instance: str | None
    host: str | None
    sessions: float | None
    samples: float

    @property
    def seconds(self) -> float:
        """Length of the interval."""
        return (micros(self.end) - micros(self.begin)) / 1e6

    @property
    def sample_s(self) -> float:
        """Seconds that a sample stands for."""
        each = self.sessions * self.seconds / self.samples if self.samples and self.sessions else SAMPLE_S[0]
        return min(SAMPLE_S, key=lambda known: abs(each - known))

    def row(self) -> dict[str, object]:
        """The columns that every row has."""
        return {"ts": micros(self.end), "interval_s": self.seconds, "host": self.host, "db": self.db}


def sniff(head: str) -> bool:
    """Whether a file that begins so is such a report."""
    return bool(TITLE.search(head[:8192])) and "Analysis Begin Time" in head


def read(source: SourceFile) -> Iterator[Batch]:
    """What the sessions that were sampled did.

    Raises:
        UserError: the report does not say when it was.
    """
    content = source.content()
    is_html = b"<html" in content[:4096].lower() or b"<table" in content[:65536].lower()
    tables = html_tables(content)[1] if is_html else text_tables(content)
    about = _about(MARKUP.sub(" ", content[: 1 << 16].decode(errors="replace")), tables, source)
    source.host = about.host or source.host
    yield from _waits(tables, about)
    yield from _statements(tables, about)
    yield rows("statistic", _statistics(tables, about))
    yield from _blockers(tables, about)


def _about(head: str, tables: Sequence[ReportTable], source: SourceFile) -> About:
    moments = [report_moment(found[1], source) for found in (BEGIN.search(head), END.search(head)) if found]
    begin, end = moments if len(moments) == 2 else (None, None)
    if begin is None or end is None or end <= begin:
        raise UserError(f"{source.name} does not say from when to when it is", "take the whole report")
    sessions, samples = (SESSIONS.search(head), SAMPLES.search(head))
    name, instance, host = (_told(tables, *names) for names in (("DB Name",), ("Instance",), ("Host", "Host Name")))
    return About(
        begin,
        end,
        f"oracle:{name or 'unknown'}",
        instance,
        host,
        _number(sessions[1]) if sessions else None,
        _number(samples[1]) if samples else 0.0,
    )


def _told(tables: Sequence[ReportTable], *names: str) -> str | None:
    """What the head says in a column; null where several rows say different things."""
    for table in tables[:4]:
        column = table.find(*names)
        if column is not None:
            told = set(table.texts(column))
            return told.pop() if len(told) == 1 else None
    return None


def _number(text: str) -> float:
    return float(text.replace(",", "") if "." in text or len(text.rpartition(",")[2]) == 3 else text.replace(",", "."))


def _titled(tables: Sequence[ReportTable], title: str) -> Iterator[ReportTable]:
    return (table for table in tables if re.match(title, table.title) and len(table))


def _active(table: ReportTable, share: tuple[str, ...], about: About) -> list[float | None]:
    """Average active sessions of each row, as printed or from the share of all activity."""
    column = table.find(*ACTIVE) if share is ACTIVITY else None
    if column is not None:
        return table.numbers(column)
    column = table.find(*share)
    sessions = about.sessions
    if column is None or sessions is None:
        return [None] * len(table)
    return [None if each is None else each / 100 * sessions for each in table.numbers(column)]


def _names(table: ReportTable, columns: Sequence[tuple[str, ...]]) -> list[str]:
    """What each row is about. An empty cell in the first column goes on with what stood there before."""
    found = [column for names in columns if (column := table.find(*names)) is not None]
    if len(found) < len(columns):
        return [""] * len(table)
    parts = [[_plain(cell or "") for cell in table.texts(column)] for column in found]
    names, last = list[str](), [""] * len(columns)
    for row in zip(*parts, strict=True):
        last = list(row) if row[0] else [cell or before for cell, before in zip(row, last, strict=True)]
        names.append(" ".join(filter(None, last)))
    return names


def _plain(cell: str) -> str:
    """`131,   53` and `95,    1(     1)` as one word."""
    return cell.replace(" ", "") if re.fullmatch(r"[\d,() ]+", cell) else cell


def _waits(tables: Sequence[ReportTable], about: About) -> Iterator[Batch]:
    found = list[dict[str, object]]()
    for title, kind in (("Top User Events", "foreground"), ("Top Background Events", "background")):
        for table in _titled(tables, title):
            column = table.find("Event Class", "Wait Class")
            classes = table.texts(column) if column is not None else [None] * len(table)
            for event, printed, active in zip(
                _names(table, (("Event",),)), classes, _active(table, ACTIVITY, about), strict=True
            ):
                wait_class, name = CPU if event == ON_CPU else (printed, event)
                found.append(
                    about.row()
                    | {"instance": about.instance, "kind": kind, "wait_class": wait_class, "event": name}
                    | {"average_active_sessions": active}
                )
    if about.sessions is not None:
        listed = sum(_listed(row) for row in found)
        rest = max(0.0, round(about.sessions - listed, 2))  # as the report rounds
        found.append(about.row() | REST | {"instance": about.instance, "average_active_sessions": rest})
    if found:
        yield rows("wait", found)


def _listed(wait: dict[str, object]) -> float:
    active = wait["average_active_sessions"]
    return active if isinstance(active, float) else 0.0


def _statements(tables: Sequence[ReportTable], about: About) -> Iterator[Batch]:
    """The top statements. HTML has their whole text in a table of its own."""
    texts = dict[str, str]()
    for table in _titled(tables, "Complete List of SQL Text"):
        texts.update(zip(_names(table, (("SQL Id",),)), _names(table, (("SQL Text",),)), strict=True))
    found = dict[str, dict[str, object]]()
    for table in _titled(tables, "Top SQL with Top Events"):
        plan, text = table.find("Planhash", "Plan Hash"), table.find("SQL Text")
        plans, short = (table.texts(at) if at is not None else [None] * len(table) for at in (plan, text))
        active = _active(table, ("% Activity",), about)
        for at, name in enumerate(_names(table, (("SQL ID",),))):
            if name and name not in found:
                whole = texts.get(name) or short[at]
                found[name] = about.row() | {
                    "instance": about.instance,
                    "statement_id": name,
                    "text": scrub(whole, "oracle") if whole else None,
                    "elapsed_s_per_s": active[at],
                    "plan_id": plans[at] if (plans[at] or "").isdigit() else None,
                }
    if found:
        yield rows("statement", found.values())


def _statistics(tables: Sequence[ReportTable], about: About) -> Iterator[dict[str, object]]:
    at = about.row() | {"component": "oracle", "instance": about.instance, "unit": "sessions", "kind": "gauge"}
    if about.sessions is not None:
        yield at | {"name": "ash.active_sessions", "value": about.sessions}
    for section in SECTIONS:
        told = set[str]()
        for table in _titled(tables, section.title):
            names = _names(table, section.entity)
            for entity, active in zip(names, _active(table, section.share, about), strict=True):
                if entity and active is not None and entity not in told:
                    told.add(entity)
                    yield at | {"name": f"ash.{section.name}", "entity": entity, "value": active}
    for table in _titled(tables, "Top SQL with Top Events"):
        column = table.find("Sampled # of Executions")
        counts = table.numbers(column) if column is not None else []
        for entity, count in zip(_names(table, (("SQL ID",),)), counts, strict=False):
            if count is not None:
                yield at | {"name": "ash.sampled_executions", "entity": entity, "value": count, "unit": "count"}
    for table in _titled(tables, "Activity Over Time"):
        yield from _slots(table, at, about)


def _slots(table: ReportTable, at: dict[str, object], about: About) -> Iterator[dict[str, object]]:
    """Activity of each slot of time: of all, and of its top events."""
    columns = [table.find(name) for name in ("Slot Time (Duration)", "Slot Count", "Event", "Event Count")]
    if None in columns:
        return
    slot, count, event, event_count = (column for column in columns if column is not None)
    begins = list[datetime]()
    cells = zip(table.texts(slot), table.numbers(count), table.texts(event), table.numbers(event_count), strict=True)
    held = list[tuple[int, str | None, float]]()
    known: str | None = None
    for text, total, name, samples in cells:
        if text and text != known and (begin := _slot_begin(text, begins[-1] if begins else about.begin)):
            known = text
            begins.append(begin)
            if total is not None:
                held.append((len(begins), None, total))
        if begins and name and samples is not None:
            held.append((len(begins), "CPU" if name == ON_CPU else name, samples))
    edges = [*begins, about.end]
    for number, entity, samples in held:
        seconds = (micros(edges[number]) - micros(edges[number - 1])) / 1e6
        if seconds > 0:
            active = samples * about.sample_s / seconds
            when = {"ts": micros(edges[number]), "interval_s": seconds}
            yield at | when | {"name": "ash.activity", "entity": entity, "value": active}


def _slot_begin(text: str, after: datetime) -> datetime | None:
    """The moment of a time of day, at or after another."""
    found = SLOT.match(text)
    if found is None:
        return None
    hour, minute, second = (int(part or 0) for part in found.groups())
    if hour > 23 or minute > 59 or second > 59:
        return None
    moment = after.replace(hour=hour, minute=minute, second=second)
    return moment if moment >= after else moment + timedelta(days=1)


def _blockers(tables: Sequence[ReportTable], about: About) -> Iterator[Batch]:
    found = list[dict[str, object]]()
    for table in _titled(tables, "Top Blocking Sessions"):
        names = _names(table, (("Blocking Sid (Inst)", "Blocking Sid"), ("User",), ("Program",)))
        column = table.find("Event Caused")
        caused = table.texts(column) if column is not None else [None] * len(table)
        for name, event, active in zip(names, caused, _active(table, ("% Event",), about), strict=True):
            if event is not None and active is not None:
                text = f"{active:.2f} sessions on average wait for it: {event}"
                found.append(about.row() | {"kind": "blocking session", "subject": name, "text": text})
    if found:
        yield rows("event", found)
