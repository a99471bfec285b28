"""Transactions that failed: errors of the server's log by class, beside what it commits and rolls back.

How large a part of the transactions has to fail before that is a trouble, and of which class: docs/decisions/0029.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

import polars as pl

from doctord.analyse.errors import Logged, failures, logged
from doctord.diagnose.case import Case
from doctord.diagnose.finding import CRITICAL_SHARE, Evidence, NotMeasured, Severity
from doctord.diagnose.phrase import phrase
from doctord.diagnose.words import shortened

COMMITS: Final = "pg_stat_database.xact_commit"
ROLLBACKS: Final = "pg_stat_database.xact_rollback"
MESSAGES: Final = "log.messages"
ERROR: Final = "ERROR"
# Where the log tells of nothing less than these, errors of statements are not in it (log_min_messages).
NO_ERRORS: Final = ("log", "fatal", "panic")
# A twentieth of all that is asked for: its users feel it. Where errors may be the application's own way to find
# something out (a key that is there already), most of it has to fail.
LOST_SHARE: Final = 0.05
MOST: Final = 0.5
# Of errors that no application expects: once a second, a statement never succeeds, however much else is done.
NEVER_SUCCEEDS_PER_S: Final = 1.0
# A message that came ten times, once a minute and more, is worth a note.
OFTEN: Final = 10.0
# The collector tells of the 200 that take most time, its own left out: of fewer than these all are told.
ALL_STATEMENTS: Final = 150
TRACKS_UTILITY: Final = "pg_stat_statements.track_utility"
_SAVEPOINT: Final = r"(?i)\b(savepoint|rollback\s+(work\s+|transaction\s+)?to)\b"
OFTEN_PER_S: Final = 1 / 60
MOST_TOLD: Final = 4
POSTGRESQL: Final = "postgresql"
WHICH_ERRORS: Final = NotMeasured(
    "which errors ended transactions",
    "the server's log was not read",
    "look from the server's host, over its Unix socket, as root or in the group of its log (log_file_mode = 0640);"
    " %e in log_line_prefix, or csvlog, gives each error its SQLSTATE; log_min_messages = warning",
)


class Kind(NamedTuple):
    """Errors that one thing is to be done about: the beginnings of their SQLSTATEs, and words of theirs."""

    name: str
    states: tuple[str, ...]
    words: str = ""
    least_share: float = LOST_SHARE
    is_servers_own: bool = False
    """Something that the server ran out of: one is a trouble."""

    @property
    def may_be_meant(self) -> bool:
        """Whether an application may use such errors to find something out."""
        return self.least_share == MOST


# The first that fits counts. Those of no share are told by causes of their own, or follow from another error.
NEVER: Final = float("inf")
READ_ONLY: Final = Kind("read-only", ("25006",))
NO_PARTITION: Final = Kind("no partition", ("23514",), "no partition of relation")
KINDS: Final = (
    Kind("recovery conflict", ("40001",), "conflict with recovery", NEVER),
    Kind("serialization", ("40001",)),
    Kind("deadlock", ("40P01",), least_share=NEVER),
    Kind("notify queue", ("54000",), "notify queue", is_servers_own=True),
    Kind("shared memory", ("53100",), "shared memory segment", is_servers_own=True),
    Kind("disk full", ("53100",), is_servers_own=True),
    # EDQUOT has no SQLSTATE of its own: an internal error, or the error of a system call.
    Kind("disk full", ("53100", "58030", "XX000"), "quota exceeded", is_servers_own=True),
    # EFBIG has none either.
    Kind("file size", ("58030", "XX000"), "file too large", is_servers_own=True),
    Kind("snapshot too old", ("72000",), is_servers_own=True),
    Kind("temp_file_limit", ("53400",), "temp_file_limit"),
    Kind("descriptors", ("53000", "58030", "XX000"), "too many open files", is_servers_own=True),
    Kind("descriptors", ("53000",), "file descriptors", is_servers_own=True),
    Kind("lock table", ("53200",), "out of shared memory", is_servers_own=True),
    Kind("out of memory", ("53200",), is_servers_own=True),
    Kind("connections", ("53300",), least_share=NEVER),
    Kind("autovacuum", ("57014",), "autovacuum task", NEVER),
    Kind("removed WAL", ("58P01", "XX000"), "has already been removed", NEVER),
    Kind("not waited for", ("55P03",), "could not obtain lock", MOST),
    Kind("timeout", ("57014", "55P03", "25P03", "25P04")),
    Kind("aftermath", ("25P02",), least_share=NEVER),
    READ_ONLY,
    Kind("raised", ("",), "(raised by a function)", MOST),
    NO_PARTITION,
    Kind("expected", ("23", "P0"), least_share=MOST),
)
OTHER: Final = Kind("other", ())
# What no application expects of a statement of its own, however often it comes.
UNEXPECTED: Final = (OTHER, READ_ONLY, NO_PARTITION)
# Who does one kind of thing all the time can do none of it: all that write, or that notify.
OUTAGE: Final = ("disk full", "shared memory", "notify queue")
ENDING_SESSIONS: Final = ("25P03", "25P04")
# What has not come for an hour is over: of a recording of days nobody is to be woken for it now.
OVER_S: Final = 3600.0


class Transactions(NamedTuple):
    """Transactions a second that a server counted, in those of its databases in which any was rolled back."""

    commits: float
    rollbacks: float

    @property
    def rolled_back(self) -> float:
        """The part (0 to 1) that was rolled back."""
        return self.rollbacks / (self.commits + self.rollbacks) if self.rollbacks else 0.0


@dataclass(frozen=True, slots=True)
class Failed:
    """Errors of one kind on one server: how many a second, and what part (0 to 1) of its transactions they ended.

    A part that cannot be more than was rolled back: an error after a savepoint ends no transaction. `quiet_s` is for
    how long before the end none has come. `ended_per_s` is how many of them ended what was asked for: where no
    statement sets a savepoint all do, also those that the server has not counted yet, for it does so of a session that
    does nothing but fail when that ends (from PostgreSQL 15 on).
    """

    db: str
    kind: Kind
    messages: Sequence[Logged]
    per_s: float
    share: float
    transactions: Transactions
    ended_per_s: float
    quiet_s: float = 0.0

    @property
    def count(self) -> float:
        """How many there were."""
        return sum(one.count for one in self.messages)

    @property
    def severity(self) -> Severity | None:
        """By the part of the transactions, of what nobody expects by its rate too.

        A note where they come again and again, null where they are rare.
        """
        if self.count < OFTEN:
            return None
        if self.share >= max(self.kind.least_share, CRITICAL_SHARE):
            return "warning" if self.kind.may_be_meant else "critical"
        if self.share >= self.kind.least_share or self.is_steady:
            return "warning"
        return "note" if self.per_s >= OFTEN_PER_S else None

    @property
    def is_steady(self) -> bool:
        """Whether errors that no application expects come all the time, though they are a small part of all.

        Where most of them end no transaction, the application has gone back to a savepoint: it expects them.
        """
        is_steady = self.ended_per_s >= max(NEVER_SUCCEEDS_PER_S, MOST * self.per_s) and self.quiet_s < OVER_S
        return self.kind in UNEXPECTED and is_steady

    @property
    def is_told(self) -> bool:
        """Whether a cause of this kind of error speaks: what is left is a note of the log's errors."""
        if self.kind in (OTHER, NO_PARTITION) or self.kind.may_be_meant:
            return self.severity in ("critical", "warning")
        return self.kind.is_servers_own or self.severity is not None

    def evidence(self) -> list[Evidence]:
        """How often each message came, and what the server counts beside."""
        where = "in the databases where any was rolled back"
        if self.ended_per_s > self.transactions.rollbacks:
            where = "no statement sets a savepoint: of sessions that do nothing but fail they are counted at their end"
        counted = Evidence(
            "statistic",
            f"name = '{ROLLBACKS}' and db = '{self.db}'",
            phrase("{:.3g rollbacks per s}", self.transactions.rollbacks),
            "",
            phrase("beside {:.3g} commits; {}", self.transactions.commits, where),
        )
        return [*(_told(one, self.per_s / self.count) for one in self.messages[:MOST_TOLD]), counted]


def is_log_read(case: Case, db: str) -> bool:
    """Whether the errors of a live server's statements were looked at in its log: also where there were none.

    MySQL and MariaDB log none of these.
    """
    if not db.startswith(POSTGRESQL):
        return False
    is_told = any(figure.db == db and figure.entity == ERROR for figure in case.figures(MESSAGES))
    return is_told and case.setting("log_min_messages", db) not in NO_ERRORS


def transactions(case: Case, db: str) -> Transactions | None:
    """What a server counted; null where it did not tell."""
    commits = {figure.entity: figure.mean for figure in case.figures(COMMITS) if figure.db == db}
    rollbacks = {figure.entity: figure.mean for figure in case.figures(ROLLBACKS) if figure.db == db}
    if not commits or not rollbacks:
        return None
    at_work = [name for name, per_s in rollbacks.items() if per_s > 0] or list(rollbacks)
    return Transactions(sum(commits.get(name, 0.0) for name in at_work), sum(rollbacks[name] for name in at_work))


def failed(case: Case, db: str) -> list[Failed]:
    """The kinds of errors that ended transactions of a server whose log was read; most first."""
    counted = transactions(case, db)
    if counted is None or not is_log_read(case, db):
        return []
    seconds = next((f.seconds for f in case.figures(MESSAGES) if f.db == db and f.seconds), case.seconds)
    by_kind: dict[Kind, list[Logged]] = {}
    for one in failures(logged(case.dataset)):
        if one.db == db and (one.severity == ERROR or one.state in ENDING_SESSIONS):
            by_kind.setdefault(kind_of(one), []).append(one)
    until, savepoints = case.dataset.until, savepoints_per_s(case, db)
    return sorted(
        (
            _failed(db, kind, messages, seconds, counted, until=until, savepoints=savepoints)
            for kind, messages in by_kind.items()
        ),
        key=lambda one: -one.per_s,
    )


def savepoints_per_s(case: Case, db: str) -> float | None:
    """How many savepoints a second a server's statements set or go back to; null where not all statements are told."""
    told = case.dataset.frame("statement").filter(pl.col("db") == db)
    if told.is_empty() or case.setting(TRACKS_UTILITY, db) != "on":
        return None
    if told.group_by("ts", maintain_order=True).len().filter(pl.col("len") > ALL_STATEMENTS).height:
        return None
    if told.filter(pl.col("text").is_null() | pl.col("text").str.starts_with("<")).height:
        return None  # a text that is not told may be one
    set_them = told.filter(pl.col("text").str.contains(_SAVEPOINT))
    calls = float((set_them["calls_per_s"] * set_them["interval_s"]).sum() or 0.0)
    seconds = float(told.unique("ts", maintain_order=True)["interval_s"].sum() or 0.0)
    return calls / seconds if seconds else None


def of_kind(case: Case, *names: str) -> list[Failed]:
    """What failed of some kinds, on all servers."""
    return [one for db in case.dbs for one in failed(case, db) if one.kind.name in names]


def kind_of(one: Logged) -> Kind:
    """What is to be done about an error, by its SQLSTATE and words."""
    state, message = one.state or "", one.message.lower()
    return next((kind for kind in KINDS if state.startswith(kind.states) and kind.words in message), OTHER)


def severity_of(one: Failed) -> Severity:
    """Of what the server ran out of: from the first on; where nothing is written any more, whatever part that is."""
    is_outage = one.kind.name in OUTAGE and one.count >= OFTEN and one.quiet_s < OVER_S
    return "critical" if one.share >= CRITICAL_SHARE or is_outage else "warning"


def is_over(one: Failed) -> list[Evidence]:
    """That none of them has come for long."""
    if one.quiet_s < OVER_S:
        return []
    return [
        Evidence("statistic", f"name = 'log.errors' and db = '{one.db}'",
                 phrase("none for {:duration}", one.quiet_s), phrase("{:duration}", OVER_S), "it is over")
    ]  # fmt: skip


def _failed(
    db: str,
    kind: Kind,
    messages: Sequence[Logged],
    seconds: float,
    counted: Transactions,
    *,
    until: datetime | None,
    savepoints: float | None,
) -> Failed:
    per_s = sum(one.count for one in messages) / seconds
    ended = min(per_s, counted.rollbacks)
    if savepoints is not None:
        ended = max(ended, per_s - savepoints)
    whole = counted.commits + max(counted.rollbacks, ended)
    share = ended / whole if whole else 0.0
    last = max((one.last for one in messages if one.last), default=until)
    quiet_s = (until - last).total_seconds() if until and last else 0.0
    return Failed(db, kind, messages, per_s, share, counted, ended, max(quiet_s, 0.0))


def _told(one: Logged, per_s_each: float) -> Evidence:
    return Evidence(
        "statistic",
        f"name = 'log.errors' and entity = '{one.entity}'",
        phrase("{:.3g per s}", one.count * per_s_each),
        "",
        phrase("{}: {:count time/times}", shortened(one.entity), round(one.count)),
    )
