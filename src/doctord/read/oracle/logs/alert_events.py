"""What the lines of an alert log tell: one rule for each kind of event, the first that fits counts."""

import re
from typing import Final, NamedTuple

from doctord.read.oracle.parameter_file import plain_value
from doctord.regex import regex

STARTED_PARAMETERS: Final = "System parameters with non-default values"
CANNOT_ALLOCATE: Final = "cannot allocate new log"


class Event(NamedTuple):
    """What a line tells.

    Attributes:
        kind: As in the table `event`.
        subject: What it happened to.
        text: What happened.
        counted: Name under which it is counted by hour; null: it is not.
        of: What is counted.
        waits_for_reason: Whether one of the next lines says why.
    """

    kind: str
    subject: str | None
    text: str | None
    counted: str | None = None
    of: str | None = None
    waits_for_reason: bool = False


class Rule(NamedTuple):
    """A pattern, and the event that it tells: its parts are templates for the pattern's groups."""

    kind: str
    pattern: str
    subject: str
    text: str
    counted: str | None = None
    of: str = ""


RULES: Final = (
    Rule(
        "log switch",
        r"Thread (\d+) advanced to log sequence (\d+)",
        "thread {0}, sequence {1}",
        "switched to sequence {1}",
        "log switches",
        "thread {0}",
    ),
    Rule(
        CANNOT_ALLOCATE,
        r"Thread (\d+) cannot allocate new log, sequence (\d+)",
        "thread {0}, sequence {1}",
        "cannot allocate new log, sequence {1}",
        "new logs not allocated",
        "thread {0}",
    ),
    Rule(
        "archiver stuck",
        r"(Archival Error|Can not allocate log, archival required|Archiver is unable to archive"
        r"|ORA-0*257\b|ORA-19809\b)",
        "archiver",
        "{0}",
        "archiver errors",
    ),
    Rule("deadlock", r"ORA-0*60: (?i:deadlock detected)", "ORA-00060", "deadlock detected", "deadlocks"),
    Rule(
        "deadlock",
        r"(Global Enqueue Services Deadlock) detected",
        "{0}",
        "deadlock between instances detected",
        "deadlocks",
    ),
    Rule("restart", r"^Starting ORACLE instance \((\w+)", "instance", "started ({0})"),
    Rule("shutdown", r"^Shutting down (?:ORACLE )?instance \((\w+)", "instance", "shut down ({0})"),
    Rule(
        "instance terminated",
        r"(?:terminating the instance(?: due to)? ?(.*)|Instance terminated by (\w+))",
        "instance",
        "terminated: {0}{1}",
    ),
    Rule("database open", r"^Completed: (ALTER DATABASE OPEN\b.*)", "database", "opened"),
    Rule("settings change", r"^ALTER SYSTEM SET (\w+)\s*=\s*(.*?)(?: SCOPE=(\w+).*)?;?$", "{0}", "is set to {1} ({2})"),
    Rule("settings change", r"^ALTER SYSTEM RESET (\w+)", "{0}", "is reset"),
    Rule("settings change", r"^Setting Resource Manager plan (\S+)", "resource_manager_plan", "is set to {0}"),
    Rule(
        "resize",
        r"^Resize operation completed for file# ?(\d+),(?: fname \S+,)? old size (\w+), new size (\w+)",
        "file {0}",
        "from {1} to {2}",
        "resizes",
    ),
    Rule("swapping", r"(?i)(heavy swapping detected|system is swapping)", "host", "{0}"),
    Rule("error", r"\b(ORA|TNS)-0*(\d{2,5})(?:: *| (?=caused))(.*)", "{0}-{1:0>5}", "{2}", "errors", "{0}-{1:0>5}"),
    # A code at the end of what it means.
    Rule("error", r"^(?=.*\b(ORA|TNS)-0*(\d{2,5})\b)(.*)", "{0}-{1:0>5}", "{2}", "errors", "{0}-{1:0>5}"),
)
_COMPILED: Final = tuple((regex(rule.pattern), rule) for rule in RULES)
# A line without any of these tells nothing, and most are such.
WORDS: Final = (
    "Thread ", "ORA-", "TNS-", "ALTER SYSTEM", "Completed: ALTER", "rchival", "Archiver is", "eadlock", "nstance",
    "Starting ORACLE", "Setting Resource", "Resize op", "wapping", STARTED_PARAMETERS,
)  # fmt: skip


def may_tell(text: str) -> bool:
    """Whether any rule can fit a line, or it is the heading of parameters."""
    return any(word in text for word in WORDS)


REASONS: Final = (
    (regex(r"^\s*Checkpoint not complete"), "checkpoint not complete"),
    (regex(r"^\s*Private strand flush not complete"), "private strand flush not complete"),
    (regex(r"^\s*All online logs need(?:ed)? archiving"), "archiving needed"),
)

# Arguments of internal errors: the first is a place in the program, the others are values.
INTERNAL: Final = regex(r"arguments: \[([A-Za-z_][\w: ./]*|\d+)\].*")
DURATION: Final = regex(r"Query Duration=(\d+)")
LITERAL: Final = regex(r"'[^']*'|\[[^\]]*\]|(?<![\w.])/\S+|(?<![\w.$#-])\d[\w.]*")
SQL_ID: Final = regex(r"(?=\d*[a-z])[0-9a-z]{13}")  # says nothing of the data


def event_of(text: str) -> Event | None:
    """What a line tells; null where no rule fits.

    >>> event_of("Thread 1 advanced to log sequence 40 (LGWR switch)")[:3]
    ('log switch', 'thread 1, sequence 40', 'switched to sequence 40')
    >>> event_of("ORA-01654: unable to extend index SHOP.ORDERS_PK by 128 in tablespace USERS").text
    'unable to extend index SHOP.ORDERS_PK by ? in tablespace USERS'
    """
    for pattern, rule in _COMPILED:
        if found := pattern.search(text):
            return _event(rule, [part or "" for part in found.groups()])
    return None


def _event(rule: Rule, parts: list[str]) -> Event:
    if rule.kind == "error":
        parts[2] = without_literals(parts[2])
    elif rule.kind == "settings change" and len(parts) == 3:
        parts[1:] = plain_value(parts[1])[0], parts[2] or "no scope said"
    of = rule.of.format(*parts) or None
    text = rule.text.format(*parts).strip() or None
    waits = rule.kind == CANNOT_ALLOCATE
    return Event(rule.kind, rule.subject.format(*parts), text, rule.counted, of, waits)


def reason_of(text: str) -> str | None:
    """Kind of the event when this is why no new log could be allocated."""
    return next((kind for pattern, kind in REASONS if pattern.match(text)), None)


def without_literals(text: str) -> str:
    r"""The text of a message without what may be data of users.

    >>> without_literals("internal error code, arguments: [kcbz_check_objd], [1], [secret], [], []")
    'internal error code, arguments: [kcbz_check_objd]'
    >>> without_literals("caused by SQL statement below (SQL ID: 7ws837zynp1zv, Query Duration=91 sec, SCN: 0x0a1)")
    'caused by SQL statement below (SQL ID: 7ws837zynp1zv, Query Duration=91 sec, SCN: ?)'
    >>> without_literals("value too large for column \"SHOP\".\"T\" (actual: 12), row 'x@example.com'")
    'value too large for column "SHOP"."T" (actual: ?), row ?'
    """
    if internal := INTERNAL.search(text):
        return text[: internal.start()] + f"arguments: [{internal[1]}]"
    kept = DURATION.search(text)
    bare = LITERAL.sub(_placeholder, text)
    return bare.replace("Query Duration=?", kept[0]) if kept else bare


def _placeholder(found: "re.Match[str]") -> str:
    return found[0] if SQL_ID.fullmatch(found[0]) else "?"
