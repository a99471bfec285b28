"""The shared lock table: room for so many locks, whoever holds them, set when the server starts."""

from collections.abc import Iterator, Sequence
from typing import Final

from doctord.analyse.errors import failures, logged
from doctord.analyse.figures import Statistic
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.common.failures import Failed, is_over, of_kind, severity_of
from doctord.diagnose.evidence import Sign, weigh
from doctord.diagnose.finding import NONE_YET, Claim, Evidence, NotMeasured, measured
from doctord.diagnose.phrase import Words, phrase
from doctord.regex import regex

OBJECTS, ENTRIES, HELD = "pg_locks.objects", "pg_locks.entries", "pg_locks.held"
# More fits than the sum, in what shared memory is to spare. Half of it on a server that fails so is a table that fills;
# where nothing failed yet, nearly all of it is worth a note.
HALF, NEARLY = 0.5, 0.9
# Who holds so much (0 to 1) of the entries is the one to look at; else it is many, and how each of them works.
LARGE_PART = 0.25
MOST_TOLD = 3
SUM: Final = "max_locks_per_transaction for each session, process of the server's own and prepared transaction"
# Who may hold locks besides the sessions of clients (InitializeMaxBackends in src/backend/utils/init/postinit.c).
OTHERS: Final = ("max_prepared_transactions", "max_worker_processes", "max_wal_senders")
HOLDER: Final = regex(r"^(?P<type>[\w ]+), (?P<who>session (?P<sid>\d+) \(.*\)|.*)$")
THE_HOLDERS: Final = NotMeasured(
    "who filled the lock table",
    "at the moments that were looked at it was not full",
    "while it lasts: select pid, locktype, count(*) from pg_locks where not fastpath group by 1, 2 order by 3 desc "
    "limit 5; the log's HINT says which setting (max_locks_per_transaction or max_pred_locks_per_transaction), its "
    "STATEMENT what was run",
)
ADVISORY: Final = (
    "Have the application release its advisory locks: pg_advisory_xact_lock ends with the transaction; one of "
    "pg_advisory_lock stays until pg_advisory_unlock or the end of the session, once for each time it was taken."
)
RELATIONS: Final = (
    "Have transactions lock fewer tables and indexes: conditions that leave partitions out, fewer partitions, dumps, "
    "drops and migrations of fewer tables at a time, a commit between."
)
HIGHER: Final = "Only then: max_locks_per_transaction higher, which takes a restart, and shared memory for it."


@cause(explains=("rollbacks_many", "errors_logged"))
def lock_table_full(case: Case) -> Iterator[Claim]:
    """The shared lock table is full: statements and logins fail with "out of shared memory", whatever memory there is.

    Looks like: errors 53200, "out of shared memory", with the hint max_locks_per_transaction.
    Hurts because: whoever needs one more lock fails: statements, new sessions, autovacuum; nobody is seen to wait.
    Speaks for it: how many fail so; objects in the table against max_locks_per_transaction for each session, process
        of the server's own and prepared transaction; who holds most, and of which type.
    Speaks against it: a table with room at the moments that were looked at: then it filled in between (a dump, a query
        over thousands of partitions), or it is the table of predicate locks, of serializable transactions.
    Remedy: Find who holds most locks: end that session if it holds them without need, and mend how it takes them.
        PostgreSQL: advisory locks: pg_advisory_xact_lock, or pg_advisory_unlock for each that was taken; relations:
        fewer partitions and tables in one transaction. Only then max_locks_per_transaction (the hint may name
        max_pred_locks_per_transaction) higher, which takes a restart.
    Verify: No new error 53200 at the busiest hour; count(*) of pg_locks stays low.
    Source: PostgreSQL documentation, max_locks_per_transaction, "Advisory Locks", pg_locks, "PostgreSQL Error Codes"
        (53200).
    """
    full = {one.db: one for one in of_kind(case, "lock table")}
    for db in case.dbs:
        fails, objects, room = full.get(db), _largest(case, db), _room(case, db)
        part = objects / room if objects is not None and room else None
        if fails is None and (part is None or part < NEARLY):
            continue
        for_, against = weigh(_signs(db, objects, room))
        holders = _holders(case, db) if for_ else []
        yield Claim(
            _title(db, fails, part, holders),
            impact=measured(fails.share) if fails else NONE_YET,
            confidence=0.95 if for_ else 0.85,
            severity=severity_of(fails) if fails else "warning" if part and part >= 1 else "note",
            for_=[*(fails.evidence() if fails else ()), *_refused(case, db), *for_, *map(_held, holders),
                  *(_types(case, db) if for_ else ())],
            against=[*against, *(is_over(fails) if fails else ())],
            not_measured=[] if for_ else [THE_HOLDERS],
            remedy=tuple(_steps(case, db, holders)) if for_ else (),
            time_of="transactions" if fails else None,
            database=db,
        )  # fmt: skip


def _signs(db: str, objects: float | None, room: float | None) -> list[Sign]:
    if room is None:
        return []
    why = phrase("there is room for {:,.0f}, and what shared memory is to spare: {}", room, SUM)
    return [
        Sign("statistic", f"name = '{OBJECTS}' and db = '{db}'", objects, HALF * room, "{:,.0f locks} in the table",
             why, "there was room at the moments that were looked at")
    ]  # fmt: skip


def _largest(case: Case, db: str) -> float | None:
    return max((one.largest for one in case.figures(OBJECTS) if one.db == db), default=None)


def _room(case: Case, db: str) -> float | None:
    """Objects that the table has room for; null where the settings are not known."""
    each = case.setting("max_locks_per_transaction", db)
    sessions = case.setting("max_connections", db)
    workers = case.setting("autovacuum_worker_slots", db) or case.setting("autovacuum_max_workers", db)  # from 18 on
    others = float(workers or 0) + sum(float(case.setting(name, db) or 0) for name in OTHERS)
    return float(each) * (float(sessions) + others) if each and sessions else None


def _holders(case: Case, db: str) -> list[Statistic]:
    """Who holds a large part of all entries, most first."""
    whole = sum(one.largest for one in case.figures(ENTRIES) if one.db == db)
    held = [one for one in case.figures(HELD) if one.db == db and one.largest >= LARGE_PART * whole]
    return sorted(held, key=lambda one: (-one.largest, one.entity or ""))[:MOST_TOLD]


def _held(one: Statistic) -> Evidence:
    where = f"name = '{HELD}' and entity = '{one.entity}'"
    return Evidence("statistic", where, phrase("{:,.0f} locks: {}", one.largest, one.entity), "", "who holds them")


def _types(case: Case, db: str) -> list[Evidence]:
    """Of which types the locks are, the one with most first."""
    types = sorted((one for one in case.figures(ENTRIES) if one.db == db), key=lambda one: -one.largest)
    return [
        Evidence("statistic", f"name = '{ENTRIES}' and entity = '{one.entity}'",
                 phrase("{:,.0f} of type {}", one.largest, one.entity), "", "held or waited for, by all sessions")
        for one in types[:1]
    ]  # fmt: skip


def _refused(case: Case, db: str) -> list[Evidence]:
    """Logins that fail for want of a lock."""
    return [
        Evidence("statistic", f"name = 'log.errors' and entity = '{one.entity}'",
                 phrase("{}: {:count time/times}", one.entity, round(one.count)), "", "new sessions are turned away")
        for one in failures(logged(case.dataset))
        if one.db == db and one.severity == "FATAL" and "out of shared memory" in one.message
    ]  # fmt: skip


def _title(db: str, fails: Failed | None, part: float | None, holders: Sequence[Statistic]) -> Words:
    told = HOLDER.match(holders[0].entity or "") if holders else None
    most = phrase("; {} holds most of it ({} locks)", told["who"], told["type"]) if told else ""
    if fails is None:
        return phrase("{:share} of the lock table of {} is taken{}", part, db, most)
    return phrase("The lock table of {} is full: statements failed {:count time/times}{}", db, round(fails.count), most)


def _steps(case: Case, db: str, holders: Sequence[Statistic]) -> Iterator[Words]:
    told = HOLDER.match(holders[0].entity or "") if holders else None
    if told and told["sid"]:
        yield phrase("First: look at what {} does, and end it if it holds them without need (select "
                     "pg_terminate_backend({})): its locks go with it.", told["who"], told["sid"])  # fmt: skip
    elif told:
        yield "First: end the prepared transactions that nobody finishes (pg_prepared_xacts): ROLLBACK PREPARED."
    types = [(one.largest, one.entity) for one in case.figures(ENTRIES) if one.db == db]
    most = told["type"] if told else max(types, default=(0.0, None))[1]
    if most == "advisory":
        yield ADVISORY
    elif most == "relation":
        yield RELATIONS
    yield HIGHER
