"""Locks: sessions of any vendor that wait for rows, tables or advisory locks that another session holds."""

import math
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import polars as pl

from doctord.analyse.held import LOST, Fate
from doctord.analyse.locking.autovacuum import WORKER
from doctord.analyse.locking.locks import IDLE_IN_TRANSACTION, Blocker, Gate, blockers, gates
from doctord.analyse.locking.standing_by import standing_by
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.causes.locking.elected import elected
from doctord.diagnose.causes.locking.exclusive import instead_of
from doctord.diagnose.causes.locking.logged_locks import logged_waits
from doctord.diagnose.causes.locking.table_lock_modes import holding, instead, with_lock
from doctord.diagnose.causes.locking.trees import at, tree, who
from doctord.diagnose.common.by_server import waited_by_server
from doctord.diagnose.common.connections_held import clients_lost
from doctord.diagnose.common.histograms import spread
from doctord.diagnose.common.oracle import leaders
from doctord.diagnose.common.waited import counted_of_kind, mean_ms, of_kind
from doctord.diagnose.finding import NOT_MEASURED, Claim, Evidence, NotMeasured
from doctord.diagnose.phrase import Words, phrase
from doctord.diagnose.words import shortened
from doctord.regex import regex


class Program(NamedTuple):
    """A client, and its options for a port and for a statement."""

    name: str
    port: str
    run: str


ROW = "row lock"
APPLICATION = "application lock"
TABLE = ("table lock", APPLICATION)
OTHER = "other lock"
# Nearly all of these waits: then no table is locked.
MOSTLY = 0.9
ROW_SEGMENTS = "v$segment_statistics.row lock waits"
INNODB = "global_status.innodb_row_lock_"
RUNNING = "global_status.threads_running"
# Fewer come and go on any busy server. Where it is known how many run: a part of them that users notice.
WAITING_SESSIONS = 4.0
WAITING_PART = 0.1
LONG_LOCK_MS = 1000.0
# MySQL Reference Manual, "LOCK INSTANCE FOR BACKUP", "FLUSH" and "General Thread States"; MariaDB's BACKUP STAGE.
ALL_READ_ONLY = "somebody ran FLUSH TABLES WITH READ LOCK: nobody writes until UNLOCK TABLES, or its session ends"
OF_THE_SERVER = {
    "Waiting for backup lock": "somebody has the lock for a backup (LOCK INSTANCE FOR BACKUP; MariaDB: BACKUP STAGE): "
    "no DDL until UNLOCK INSTANCE (BACKUP STAGE END), or its session ends",
    "Waiting for global read lock": ALL_READ_ONLY,
    "Waiting due to global read lock": ALL_READ_ONLY,
    "Waiting for commit lock": ALL_READ_ONLY,
}
# MySQL shows what a trigger runs as what its session runs.
OF_A_TRIGGER = regex(r"\b(?:new|old)\s*\.\s*`?\w", re.IGNORECASE)
IDLE_PART = 0.5
# A client that answers within a second is on its way between two statements; one that does not has gone away.
GONE_AWAY_S = 2.0
SHORT_WAIT_S = 1.0
MOST_NAMED = 2
# A tenth of the waiting: less would change nothing.
WORTH_NAMING = 0.1
# What ends a session of each vendor's, and the setting that ends those that stay idle.
ENDED_BY = {
    "postgresql": ("select pg_terminate_backend({})", "idle_in_transaction_session_timeout"),
    "mysql": ("KILL {}", "idle_transaction_timeout (MariaDB) or wait_timeout"),
    "oracle": ("alter system kill session '{},SERIAL#'", "max_idle_blocker_time"),
}
TYPED_IN = {"postgresql": Program("psql", "-p", "-c"), "mysql": Program("mysql", "-P", "-e")}
UNNAMED = NotMeasured(
    "who held the locks",
    "the report counts waits, and names no holder",
    "an ASH report of the same time (blocking sessions), or v$session.final_blocking_session while it lasts.",
)


@cause(waits=(ROW,))
def row_locks(case: Case) -> Iterator[Claim]:
    """Sessions queue behind row locks.

    Looks like: sessions wait for rows that other transactions changed (PostgreSQL's `transactionid` and `tuple`,
        Oracle's enq: TX - row lock contention, InnoDB's LOCK WAIT) while CPUs and disks have room.
    Hurts because: rows that many transactions change serve one transaction at a time, however long its user thinks;
        what waits in the queue holds its own locks and its connection meanwhile.
    Speaks for it: share of database time in these waits, how long one takes, the segments; a blocking tree whose root
        is at work, and at what: a root that waits for the log or for a read holds the row as long as that takes.
        Without sessions, how many wait on average by InnoDB's status, of those that run; in PostgreSQL's log
        (log_lock_waits) how long was waited, who held the lock, and how many stood in line.
    Speaks against it: a root that is idle in its transaction (that is another cause); short waits over many roots. In
        Oracle mode 4 (a unique key or a bitmap index being inserted by two), which a report does not tell.
    Remedy: Shorten the transaction that holds the row: change the hot row last, commit at once, keep users and round
        trips to the client out of it; take rows in the same order everywhere. Split a hot counter over several rows,
        or add up later; use a queue (skip locked) in place of a hot row. Look at what the session at the root does.
        PostgreSQL: pg_blocking_pids and pg_stat_activity name the blocker.
        Oracle: v$session.final_blocking_session and ASH name the blocker; no bitmap indexes on tables with concurrent
        changes.
        MySQL: sys.innodb_lock_waits (information_schema.innodb_lock_waits in MariaDB) names the blocker; an index on
        the condition lets a statement lock the rows that it wants, and no others.
    Verify: Record the same load again: the share of these waits falls, commits per second rise. Oracle: row lock waits
        of the segment fall.
    Source: PostgreSQL documentation, "Explicit Locking" and "Wait Events of Type Lock"; Oracle Database Performance
        Tuning Guide 19c, "enqueue (enq:)"; Oracle Database Reference 19c, "Oracle Enqueue Names"; MySQL Reference
        Manual, "InnoDB Locking" and "The INFORMATION_SCHEMA INNODB_TRX Table".
    """
    if not case.is_time_measured:
        yield from _waiting(case)
        yield from logged_waits(case, of_rows=True)
    share = case.time.kind_share(ROW)
    if not case.worth_saying(share):
        return
    roots, database = case.blockers_of(ROW), _server(case, ROW)
    yield Claim(
        phrase("{:share of database} is spent waiting for row locks{}", share, at(case, database)),
        impact=share,
        confidence=0.9,
        for_=[
            *of_kind(case, ROW, why=_open_or_hot(case)),
            *spread(case, *case.time.events_of(ROW))[0],
            *leaders(case, ROW_SEGMENTS, "where the rows are"),
            *(tree(case, root) for root in roots[:3]),
            *_waiting_statements(case),
            *_inserting(case),
            *_round_trips(roots),
            *_innodb(case),
        ],
        against=_short_waits(case, len(roots)),
        database=database,
        not_measured=() if roots else (*case.not_measured("pg_blocking_pids", "pg_monitor"), *_holders(case)),
    )


@cause(explains=("row_locks", "table_locks", "vacuum_held_back"), waits=(IDLE_IN_TRANSACTION,))
def idle_in_transaction_blocker(case: Case) -> Iterator[Claim]:
    """A session that does nothing keeps locks that others need.

    Looks like: a blocking tree whose root is `idle in transaction`: the application opened a transaction and went away.
    Hurts because: every session that needs the rows waits until that client comes back; nothing on the server can help.
    Speaks for it: time that others waited behind the idle session; age of its transaction; the locks on tables that it
        holds; that its client no longer exists, or answers no more: then nobody comes back.
    Speaks against it: a root that is at work most of the time, or idle for moments only (round trips to its client).
    Remedy: Find out what the client does between its statements and end the transaction before it; until then end the
        session, and set a limit on idle transactions where the server has one.
    Verify: The session is gone and the time waited behind it falls to zero.
    Source: PostgreSQL documentation, idle_in_transaction_session_timeout, tcp_keepalives_idle and pg_blocking_pids;
        MySQL Reference Manual, KILL; Oracle Database Reference 19c, MAX_IDLE_BLOCKER_TIME.
    """
    total = case.database_time_s()
    idle = [
        root
        for root in case.blockers
        if root.idle_blocked_s >= IDLE_PART * root.blocked_s and root.longest_idle_s >= GONE_AWAY_S
    ]
    blocked_s = sum(root.idle_blocked_s for root in idle)
    if not total or not case.worth_saying(blocked_s / total):
        return
    root = idle[0]
    _, limit = _words_of(root)
    clients = [item for one in idle[:3] for item in _client(case, one)]
    yield Claim(
        phrase(
            "An idle transaction, session {}{}, blocks {:count other/others}{}",
            root.sid,
            ", whose client is gone" if _lost(case, root, "gone") else with_lock(case, root),
            root.waiters,
            at(case, root.db),
        ),
        impact=blocked_s / total,
        confidence=0.95,
        for_=[*(tree(case, root) for root in idle[:3]), *holding(case, idle[:3]), *_for_no_lock(case), *clients],
        remedy=(
            phrase("Now: {} ends it, once you know that its work may be lost.", _ending(root)),
            phrase(
                "Then: end the transaction in the application before it does anything else, and set {} for {} as a "
                "safety net.",
                limit,
                root.user or "that role",
            ),
            *instead(case, idle[:3]),
        ),
        database=root.db,
    )


def _for_no_lock(case: Case) -> list[Evidence]:
    """Waits behind idle transactions that no other cause is about, as those for a safe snapshot."""
    found = list[Evidence]()
    for event in case.time.events_of(OTHER):
        waited_s = case.time.share(None, event) * (case.database_time_s() or 0.0)
        idle_s = sum(root.idle_blocked_s for root in blockers(case.dataset, [event]))
        if waited_s and idle_s >= MOSTLY * waited_s:
            figure = phrase("{:.0f s} of it in {}", idle_s, event)
            found.append(Evidence("session", f"event = '{event}'", figure, "", "it ends with those transactions"))
    return found


def _lost(case: Case, root: Blocker, fate: Fate) -> bool:
    """Whether the session's client is gone, or silent, as far as the sockets tell."""
    return any(one.pid == root.sid for one in clients_lost(case, root.db, fate))


def _client(case: Case, root: Blocker) -> list[Evidence]:
    told: dict[Fate, tuple[str, str]] = {
        "gone": ("the client of session {} no longer exists",
                 "the server's end of the connection is established, the client's, which was on this host, missing"),
        "silent": ("the client of session {} seems to be gone", "it answers no more, or has begun anew"),
    }  # fmt: skip
    return [
        Evidence("statistic", f"name = '{LOST[fate]}' and entity like '{root.sid} %'",
                 phrase(words, root.sid), "", f"{why}: set tcp_keepalives_idle = 60 (reload; for new connections)")
        for fate, (words, why) in told.items()
        if _lost(case, root, fate)
    ]  # fmt: skip


def _server(case: Case, *kinds: str) -> str | None:
    """The server on which nearly all of some waits are; null where there are several, or it is not told."""
    waited = waited_by_server(case, *kinds)
    first = next(iter(waited), None)
    return first if first is not None and waited[first] >= MOSTLY * sum(waited.values()) else None


def _words_of(root: Blocker) -> tuple[str, str]:
    """What ends a session of this server, and the setting that ends idle ones."""
    return ENDED_BY.get(root.db.partition(":")[0], ("ending session {} there", "a limit on idle transactions"))


def _ending(root: Blocker) -> Words:
    """How to end a session, with the program and the server for which that is to be typed."""
    vendor, _, port = root.db.partition(":")
    ends, program = phrase(_words_of(root)[0], root.sid), TYPED_IN.get(vendor)
    if program is None:
        return ends
    at = phrase(" {} {}", program.port, port) if port.isdigit() else ""
    return phrase('{}{} {} "{}"', program.name, at, program.run, ends)


@cause(waits=TABLE)
def table_locks(case: Case) -> Iterator[Claim]:
    """Sessions queue behind a lock on a whole table, its definition, or one of the application's own making.

    Looks like: sessions wait on PostgreSQL's `relation`, `advisory`, `virtualxid` or `object`, on Oracle's enq: TM -
        contention, on MySQL's metadata locks.
    Hurts because: a statement that wants an exclusive lock (ALTER TABLE, VACUUM FULL, LOCK, TRUNCATE) waits for all
        before it, and everything after it waits for the statement. In Oracle one delete or update of a parent's key
        locks the child table when its foreign key has no index; a direct-path load locks all others out.
    Speaks for it: share of database time in these waits, the session at the root with its statement and the locks on
        tables that it holds, which an earlier statement may have taken; the one that waits for it and that all others
        stand behind; in PostgreSQL's log (log_lock_waits) how long was waited, and how many stood in line.
    Speaks against it: few sessions, or a short time; a deliberate LOCK TABLE, or DDL; sessions that wait for one
        advisory lock in a statement of its own and do nothing else, since before the first look, for a session that is
        in no transaction: they stand by, as in the election of a leader (a note).
    Remedy: Run statements that lock a table with a limit on their waiting, and try again, at a quiet time; keep
        transactions that read the table short. Ask the application what it serialises with locks of its own, and why.
        PostgreSQL: set lock_timeout for them; use the CONCURRENTLY forms.
        Oracle: index every foreign key whose parent's rows are deleted or whose key is changed; no direct-path (append)
        inserts beside other changes of the table; ddl_lock_timeout for DDL.
        MySQL: set lock_wait_timeout for them; end the transaction that holds the metadata lock
        (performance_schema.metadata_locks); ALGORITHM=INPLACE or INSTANT.
    Verify: The share of these waits falls; the root is gone.
    Source: PostgreSQL documentation, "Table-Level Locks"; Oracle Database Performance Tuning Guide 19c, "enqueue
        (enq:)": TM; T. Kyte, 2005 (unindexed foreign keys); MySQL Reference Manual, "Metadata Locking".
    """
    yield from logged_waits(case, of_rows=False)
    whole = case.time.kind_share(*TABLE)
    waiting = standing_by(case.dataset)
    yield from (elected(case, line) for line in waiting)
    meant = sum(line.waited_s for line in waiting) / (case.database_time_s() or math.inf)
    share = max(whole - meant, 0.0)
    if not case.worth_saying(share):
        return
    own = case.time.kind_share(APPLICATION) - meant
    what = "locks of the application's own making" if own >= MOSTLY * share else "locks on tables or other objects"
    queued = gates(case.dataset, case.time.events_of(*TABLE))[:MOST_NAMED]
    elect = {(line.db, line.holder) for line in waiting}
    roots = [root for root in case.blockers_of(*TABLE) if (root.db, root.sid) not in elect][:3]
    database = _server(case, *TABLE)
    yield Claim(
        phrase("{:share of database} is spent waiting for {}{}{}", share, what, at(case, database),
               _first_in_line(queued, roots) or _behind(case, share, roots)),
        impact=share,
        confidence=0.85,
        for_=[
            *of_kind(case, *TABLE, why="time that no row lock explains"),
            *spread(case, *case.time.events_of(*TABLE))[0],
            *(tree(case, root) for root in roots),
            *holding(case, roots),
            *(_gate(case, gate) for gate in queued),
            *_of_the_server(case),
        ],
        first_steps=[
            *dict.fromkeys(
                (*instead_of(case.statement_text(one) for one in _statements(roots, queued)), *instead(case, roots))
            )
        ],
        database=database,
    )  # fmt: skip


def _of_the_server(case: Case) -> list[Evidence]:
    """What is locked is no table but all of a MySQL or MariaDB server, and by which statement."""
    shares = [(event, case.time.share(None, event)) for event in OF_THE_SERVER]
    return [
        Evidence("session", f"event = '{event}'", phrase("{:share of database} in {}", share, event), "",
                 OF_THE_SERVER[event])
        for event, share in shares
        if case.worth_saying(share)
    ]  # fmt: skip


def _waiting(case: Case) -> Iterator[Claim]:
    """What InnoDB's status alone tells: how many sessions wait for row locks at a time, of how many that run."""
    now, waited_ms = case.total(f"{INNODB}current_waits"), case.total(f"{INNODB}time")
    waiting = max((it for it in (now, waited_ms and waited_ms / 1000) if it is not None), default=0.0)
    running = case.total(RUNNING)
    if waiting < WAITING_SESSIONS or (running is not None and waiting < WAITING_PART * running):
        return
    yield Claim(
        phrase("{:.1f} sessions wait for row locks on average", waiting),
        impact=NOT_MEASURED,
        confidence=0.75 if running else 0.6,
        for_=[
            Evidence("statistic", f"name like '{INNODB}%'", phrase("{:.1f} sessions waiting", waiting),
                     phrase("{:.0f}", WAITING_SESSIONS), "as InnoDB counts them", "at_least"),
            *([Evidence("statistic", f"name = '{RUNNING}'", phrase("{:.1f} threads running", running), "",
                        phrase("{:share} of them wait", min(waiting / running, 1.0)))] if running else []),
            *_innodb(case),
        ],
    )  # fmt: skip


def _holders(case: Case) -> tuple[NotMeasured, ...]:
    """That a report of counted waits does not name who held what was waited for."""
    return (UNNAMED,) if "oracle" in case.components and case.active.is_empty() else ()


def _open_or_hot(case: Case) -> str:
    """What the mean of counted waits tells; empty where waits were sampled."""
    ms = mean_ms(counted_of_kind(case.waits, ROW)) if case.active.is_empty() else None
    if ms is None:
        return ""
    return "transactions that stay open" if ms >= LONG_LOCK_MS else "short waits, many of them: a hot row"


def _innodb(case: Case) -> list[Evidence]:
    """What InnoDB counts of its row locks since the last look."""
    waits, waited_ms = case.total(f"{INNODB}waits"), case.total(f"{INNODB}time")
    if not waits or waited_ms is None:
        return []
    return [
        Evidence(
            "statistic",
            f"name = '{INNODB}time'",
            phrase("{:time} each, {:rate}", waited_ms / 1000 / waits, waits),
            "",
            "row locks as InnoDB counts them",
        )
    ]


def _round_trips(roots: list[Blocker]) -> list[Evidence]:
    """How much of the waiting is behind a root that is waiting for its own client."""
    blocked_s, idle_s = sum(root.blocked_s for root in roots), sum(root.idle_blocked_s for root in roots)
    if not blocked_s or idle_s < IDLE_PART * blocked_s:
        return []
    return [
        Evidence(
            "session",
            "state like 'idle in transaction%'",
            phrase("{:share} of the waiting is behind sessions that wait for their own clients", idle_s / blocked_s),
            phrase("{:share}", IDLE_PART),
            "round trips inside the transaction hold the rows longest",
            "at_least",
        )
    ]


def _waiting_statements(case: Case) -> list[Evidence]:
    """The statements that waited longest, where waits were sampled."""
    waiting = _row_waits(case)
    spent = (
        waiting.group_by("statement_id", maintain_order=True)
        .agg(pl.col("interval_s").sum())
        .sort("interval_s", "statement_id", maintain_order=True)
    )
    total = float(waiting["interval_s"].sum())
    return [
        Evidence(
            "session",
            f"statement_id = '{one}'",
            phrase("{}: {:share} of this waiting", one, seconds / total),
            "",
            _as_told(shortened(case.statement_text(one) or "")),
        )
        for one, seconds in spent.tail(MOST_NAMED).reverse().iter_rows()
    ]


def _as_told(text: str) -> Words:
    """A statement, and that it is a trigger's where it names the row before or after the change."""
    return phrase("{}: a trigger's, by NEW or OLD in it", text) if OF_A_TRIGGER.search(text) else text


def _first_in_line(queued: Sequence[Gate], roots: Sequence[Blocker]) -> Words:
    """That the others stand behind a session that waits itself, and for whom that one waits."""
    if not queued:
        return ""
    first = queued[0]
    workers = [who(root) for root in roots if (root.db, root.sid) == (first.db, first.root) and root.kind == WORKER]
    behind = workers[0] if workers else phrase("session {}", first.root)
    return phrase(", in line behind session {}, which waits for {}", first.sid, behind)


def _statements(roots: Sequence[Blocker], queued: Sequence[Gate]) -> list[str | None]:
    """What PostgreSQL's sessions run that others stand behind."""
    return [
        *(root.statement_id for root in roots if root.db.startswith("postgresql")),
        *(gate.statement_id for gate in queued if gate.db.startswith("postgresql")),
    ]


def _behind(case: Case, share: float, roots: Sequence[Blocker]) -> Words:
    """The one session that most of the waiting is behind, and its statement."""
    if not roots or roots[0].blocked_s < IDLE_PART * share * case.database_time_s():
        return ""
    statement = case.statement_text(roots[0].statement_id)
    return phrase(", most of it behind session {} ({}){}{}", roots[0].sid, who(roots[0]), with_lock(case, roots[0]),
                  phrase(": {}", shortened(statement, 60)) if statement else "")  # fmt: skip


def _gate(case: Case, gate: Gate) -> Evidence:
    statement = case.statement_text(gate.statement_id)
    who = " ".join(part for part in (gate.user, gate.program) if part) or "unknown user"
    return Evidence(
        "session",
        f"sid = {gate.sid}",
        phrase("{:.0f s} waited in line behind session {} ({}), up to {:count session/sessions}", gate.blocked_s,
               gate.sid, who, gate.waiters),
        "",
        phrase("it waits itself, for session {}{}: whoever wants the same object and conflicts with it stands behind "
               "it, also who would get on with the holder{}", gate.root,
               "" if gate.waited_s is None else phrase(", {:time} already", gate.waited_s),
               phrase("; its statement: {}", shortened(statement)) if statement else ""),
    )  # fmt: skip


def _row_waits(case: Case) -> pl.DataFrame:
    """Samples of statements that wait for rows: statement_id, interval_s."""
    is_row = pl.col("event").is_in(case.time.events_of(ROW)) & pl.col("statement_id").is_not_null()
    return case.active.select("event", "statement_id", "interval_s").filter(is_row)


def _inserting(case: Case) -> list[Evidence]:
    """Inserts that wait for another transaction: new rows are locked by nobody, so that it is a key that they wait for.

    Source: PostgreSQL documentation, "Row-Level Locks" (FOR KEY SHARE), and "Index Uniqueness Checks".
    """
    waiting = _row_waits(case)
    spent = waiting.group_by("statement_id", maintain_order=True).agg(pl.col("interval_s").sum())
    texts = {one: (case.statement_text(one) or "").lstrip().lower() for one in spent["statement_id"]}
    seconds = sum(s for one, s in spent.iter_rows() if texts[one].startswith("insert"))
    if "postgresql" not in case.components or not seconds or seconds < WORTH_NAMING * float(spent["interval_s"].sum()):
        return []
    return [
        Evidence("session", f"event in ({', '.join(repr(event) for event in case.time.events_of(ROW))})",
                 phrase("{:share} of this waiting is in inserts", seconds / float(spent["interval_s"].sum())), "",
                 "they wait for a key: a parent row that another transaction changes (foreign key), or the same unique "
                 "key inserted by another one")
    ]  # fmt: skip


def _short_waits(case: Case, roots: int) -> list[Evidence]:
    events = case.time.events_of(ROW)
    longest = case.active.select("event", "in_state_s").filter(pl.col("event").is_in(events))["in_state_s"].max()
    if not isinstance(longest, float) or longest >= SHORT_WAIT_S:
        return []
    return [
        Evidence(
            "session",
            f"event in ({', '.join(repr(event) for event in events)})",
            phrase(
                "no wait was longer than {:.0f ms}, behind {:count session/sessions} in turn",
                longest * 1000,
                roots,
            ),
            phrase("{:.0f ms}", SHORT_WAIT_S * 1000),
            "the row moves on: a queue at a hot row rather than one blocker",
            "at_least",
        )
    ]
