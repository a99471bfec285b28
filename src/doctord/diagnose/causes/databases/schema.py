"""What is wrong whatever the load: indexes that are not valid, transactions that nobody finished."""

from collections.abc import Iterator

from doctord.analyse.figures import Statistic
from doctord.dataset.mysql_names import PREPARED as XA
from doctord.dataset.mysql_names import PREPARED_COUNT, WITHOUT_SESSION_S
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.common.connections_held import NEAR_LIMIT
from doctord.diagnose.common.scans import FOR_WANT_OF_AN_INDEX, INVALID, Scan, evidence, left_invalid, scans
from doctord.diagnose.common.slowed import severity
from doctord.diagnose.evidence import Sign, weigh
from doctord.diagnose.finding import NONE_YET, NOT_MEASURED, Claim, Evidence, Severity, measured
from doctord.diagnose.phrase import Phrase, phrase

PREPARED, PREPARED_S = "pg_prepared_xacts.count", "pg_prepared_xacts.oldest_s"
PREPARED_NAMED = "pg_prepared_xacts.age_s"
SAME_S = 1.0  # between two readings of one age
# Two phases of one transaction are moments apart.
YOUNG_S = 5.0
# Rows that scans of the whole table read a second, while the index that may have saved them lies idle.
SCANNED_PER_S = 10_000.0
# A coordinator finishes within moments; what is older has lost it.
LEFT_S = 300.0
# `blocker_sid` of a lock that a prepared transaction holds.
PREPARED_SID = 0
MOST_NAMED = 5


@cause()
def indexes_invalid(case: Case) -> Iterator[Claim]:
    """An index is not valid: it costs every change of its table, and serves no query.

    Looks like: `indisvalid` of pg_index is false, and nobody builds the index just now. A statement may read the whole
        table meanwhile that the index was made for.
    Hurts because: CREATE INDEX CONCURRENTLY or REINDEX CONCURRENTLY failed or was cancelled; what is left is kept up to
        date by each insert, and no plan may use it; a unique one does not keep all duplicates out.
    Speaks for it: the catalogue itself; scans of the whole table meanwhile; the statement whose condition the index
        could serve if it were valid, and its share of database time.
    Speaks against it: no scans of its table: nobody misses it.
    Remedy: Find why the build failed (a duplicate, a deadlock, a timeout), then REINDEX INDEX CONCURRENTLY, or drop
        index concurrently and build it again; an index whose name ends in _ccnew or _ccold is dropped.
    Verify: select indexrelid::regclass from pg_index where not indisvalid gives no row.
    Source: PostgreSQL documentation, CREATE INDEX, "Building Indexes Concurrently"; REINDEX, "Rebuilding Indexes
        Concurrently".
    """
    scanned = {(read.db, read.entity): read.mean for read in case.figures("pg_stat_user_tables.seq_tup_read")}
    for db in case.dbs:
        wanted = _wanted(case, db)
        yield from (_wanted_by(case, name, scan) for name, scan in wanted.items())
        invalid = {one.entity or "" for one in case.figures(INVALID) if one.db == db and one.last}
        names = sorted(invalid - wanted.keys())
        if not names:
            continue
        reads = {name: scanned.get((db, _table(name)), 0.0) for name in names}
        missed = [name for name in names if reads[name] >= SCANNED_PER_S]
        shown = (missed or names)[0].partition(" on ")[0]
        yield Claim(
            phrase("Index {} is not valid", shown)
            if len(names) == 1
            else phrase("{} indexes are not valid, {} among them", len(names), shown),
            impact=NONE_YET,
            confidence=0.95,
            severity="warning" if missed else "note",
            for_=[
                Evidence("statistic", f"name = '{INVALID}' and entity = '{name}'", name, "",
                         phrase("{:,.0f} rows a second are read by scans of its table", reads[name]) if name in missed
                         else "kept up to date by each change of its table, used by no query")
                for name in (missed + [name for name in names if name not in missed])[:MOST_NAMED]
            ],
            against=[] if missed else [Evidence("statistic", "name = 'pg_stat_user_tables.seq_tup_read'",
                                                "its table is not scanned", "", "nobody misses the index now")],
            database=db,
        )  # fmt: skip


def _wanted(case: Case, db: str) -> dict[str, Scan]:
    """The indexes that could serve a statement which reads its table whole, each with the worst such scan."""
    found: dict[str, Scan] = {}
    for scan in scans(case):
        if scan.figure.db == db and (name := left_invalid(case, scan)):
            found.setdefault(name, scan)
    return found


def _wanted_by(case: Case, name: str, scan: Scan) -> Claim:
    share = scan.statement.share
    return Claim(
        phrase("Index {} is not valid: {:share of database} reads all of table {} for one statement",
               name.partition(" on ")[0], share, scan.table),
        impact=share,
        confidence=0.95,
        severity=severity(case, share, slowed=scan.slows),
        for_=[
            Evidence("statistic", f"name = '{INVALID}' and entity = '{name}'", name, "",
                     "it could serve the condition of the statement"),
            *evidence(scan),
        ],
        database=scan.figure.db,
        explains=FOR_WANT_OF_AN_INDEX,
    )  # fmt: skip


def _table(name: str) -> str:
    """The table of an index, as statistics of tables name it: with its database."""
    index, _, table = name.partition(" on ")
    return f"{index.partition('.')[0]}.{table}"


@cause(explains=("transactions_fail", "rollbacks_many", "errors_logged"))
def prepared_transactions_at_limit(case: Case) -> Iterator[Claim]:
    """Prepared transactions take all, or almost all, of max_prepared_transactions.

    Looks like: as many rows in pg_prepared_xacts as are allowed; "maximum number of prepared transactions reached".
    Hurts because: the next PREPARE TRANSACTION fails, and with it every transaction that spans this server and another.
    Speaks for it: their number beside the limit; the age of the oldest: those that nobody finishes fill it.
    Speaks against it: all of them young: then the work needs more of them at once.
    Remedy: Finish those that are left (COMMIT PREPARED or ROLLBACK PREPARED, as the transaction manager has decided);
        max_prepared_transactions as large as max_connections, so that each session can have one prepared (a restart).
    Verify: pg_prepared_xacts stays well below the limit at the busiest hour.
    Source: PostgreSQL documentation, max_prepared_transactions, PREPARE TRANSACTION.
    """
    for prepared in case.figures(PREPARED):
        limit = float(case.setting("max_prepared_transactions", prepared.db) or 0)
        oldest_s = next((one.last for one in case.figures(PREPARED_S) if one.db == prepared.db), None)
        if limit <= 0 or prepared.largest < NEAR_LIMIT * limit:
            continue
        is_full = prepared.last >= limit
        for_, against = weigh(
            [
                Sign("statistic", f"name = '{PREPARED}' and db = '{prepared.db}'", prepared.largest, NEAR_LIMIT * limit,
                     "{:.0f} prepared transactions", phrase("of {:.0f} that are allowed", limit)),
                Sign("statistic", f"name = '{PREPARED_S}' and db = '{prepared.db}'", oldest_s, YOUNG_S,
                     "the oldest is {:.0f} s old", "nobody finishes it", "they are finished: more are needed at once"),
            ]
        )  # fmt: skip
        yield Claim(
            phrase("{:.0f} of {:.0f} prepared transactions that {} allows are taken", prepared.largest, limit,
                   prepared.db),
            impact=NOT_MEASURED if is_full else NONE_YET,
            confidence=0.85 if against else 0.95,
            severity="critical" if is_full and not against else "warning",
            for_=for_,
            against=against,
            database=prepared.db,
        )  # fmt: skip


@cause(explains=("row_locks", "table_locks"))
def prepared_transaction_left(case: Case) -> Iterator[Claim]:
    """A prepared transaction waits for its second phase, and nobody comes.

    Looks like: a row of pg_prepared_xacts, or of MySQL's XA RECOVER, that is minutes old; sessions that wait for a lock
        that no session holds (pg_blocking_pids tells 0, innodb_trx has trx_mysql_thread_id = 0).
    Hurts because: it keeps its locks, also over a restart, and the rows that vacuum or purge would remove; no session
        is there to be ended.
    Speaks for it: its age; time that others waited behind it; its name.
    Speaks against it: nobody waits: it holds no lock that anybody needs now.
    Remedy: Ask the transaction manager whether it is to be committed, then end it so.
        PostgreSQL: select gid, prepared, owner, database from pg_prepared_xacts; COMMIT PREPARED or ROLLBACK PREPARED
        'gid' in its database. Where nobody uses two-phase commit on purpose: max_prepared_transactions = 0.
        MySQL: XA RECOVER CONVERT XID; XA COMMIT or XA ROLLBACK with that xid.
    Verify: pg_prepared_xacts (XA RECOVER) is empty, or holds young ones only.
    Source: PostgreSQL documentation, PREPARE TRANSACTION (Caution), pg_prepared_xacts, pg_blocking_pids; MySQL
        Reference Manual, "XA Transaction SQL Statements" and "XA Transaction States".
    """
    total = case.database_time_s()
    for oldest in (*case.figures(PREPARED_S), *case.figures(WITHOUT_SESSION_S)):
        behind_s = sum(root.blocked_s for root in case.blockers if (root.db, root.sid) == (oldest.db, PREPARED_SID))
        share = behind_s / total if total else 0.0
        is_felt = case.worth_saying(share)
        if (oldest.last < LEFT_S and not is_felt) or case.total(PREPARED_COUNT, oldest.db) == 0:
            continue  # or one that the server itself rolls back, since it was restarted
        severity: Severity | None = None if is_felt else "note"
        named = [one.entity or "" for one in case.figures(XA) if one.db == oldest.db][:MOST_NAMED]
        yield Claim(
            phrase("{} of {} has waited for its end for {:duration}", _whose(case, oldest), oldest.db, oldest.last),
            impact=measured(share) if is_felt else NONE_YET,
            confidence=0.95,
            severity=severity,
            for_=[
                Evidence("statistic", f"name = '{oldest.name}' and db = '{oldest.db}'",
                         phrase("{:.0f s} old", oldest.last), phrase("{:.0f s}", LEFT_S), "nobody finishes it",
                         "at_least" if oldest.last >= LEFT_S else None),
                *(Evidence("statistic", f"name = '{XA}' and db = '{oldest.db}'", phrase("XA transaction {}", name), "",
                           "prepared, as XA RECOVER tells") for name in named),
                *([Evidence("session", f"blocker_sid = {PREPARED_SID}", phrase("{:share of database}", share), "",
                            "waited for locks that it holds")] if is_felt else []),
            ],
            against=[] if is_felt else [
                Evidence("session", f"blocker_sid = {PREPARED_SID}", "nobody waits behind it", "",
                         "no lock of it is needed now"),
            ],
            explains_waits=is_felt,
            database=oldest.db,
        )  # fmt: skip


def _whose(case: Case, oldest: Statistic) -> Phrase:
    """Which one it is that nobody finishes: the oldest, where the names are told."""
    named = [one for one in case.figures(PREPARED_NAMED) if one.db == oldest.db]
    name = next((one.entity for one in named if abs(one.last - oldest.last) < SAME_S), None)
    return phrase("Prepared transaction {}", name) if name else phrase("A prepared transaction")
