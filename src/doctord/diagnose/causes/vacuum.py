"""Vacuum: row versions that nobody needs any more, and transaction ids that run out."""

from collections.abc import Iterator

import polars as pl

from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.finding import NONE_YET, NOT_MEASURED, Evidence, Finding
from doctord.diagnose.words import in_bytes, in_share

OLD_TRANSACTION_S = 300.0
OLD_XMIN_TRANSACTIONS = 100_000
DEAD_SHARE = 0.2
DEAD_ROWS = 10_000
BLOATED_BYTES = 100 * 1024 * 1024
# Half of the 2^31 transactions that may lie between the oldest and the newest: vacuum has failed for a long time.
XID_AGE_ALARM = 1_000_000_000
XID_LIMIT = 2**31


@cause(explains=("bloat",))
def vacuum_held_back(case: Case) -> Iterator[Finding]:
    """Something old keeps vacuum from removing dead rows.

    Looks like: a transaction, replication slot or prepared transaction that is minutes or days old; dead rows that grow
        although autovacuum runs.
    Hurts because: every scan steps over all row versions since then; tables and indexes grow and do not shrink again.
    Speaks for it: the age of the oldest snapshot and who holds it; dead rows meanwhile.
    Speaks against it: few dead rows so far.
    Remedy: End the holder: the session (and set idle_in_transaction_session_timeout or transaction_timeout), the slot
        nobody reads (pg_drop_replication_slot), the prepared transaction (ROLLBACK PREPARED).
    Verify: The oldest backend_xmin advances; n_dead_tup falls after the next vacuum.
    Source: PostgreSQL documentation, "Routine Vacuuming".
    """
    holders = [*_old_sessions(case), *_old_slots(case), *_prepared(case)]
    if not holders:
        return
    dead = case.chart.frame("space").filter(pl.col("dead_rows").is_not_null()).group_by("db", "name").last()
    rows = int(dead["dead_rows"].sum() or 0)
    yield case.finding(
        f"Vacuum is held back by {holders[0].why}",
        impact=NOT_MEASURED if rows >= DEAD_ROWS else NONE_YET,
        confidence=0.9 if rows >= DEAD_ROWS else 0.6,
        for_=holders,
        against=[]
        if rows >= DEAD_ROWS
        else [Evidence("space", "dead_rows", f"{rows:,} dead rows so far", f"{DEAD_ROWS:,}", "it does no harm yet")],
    )


@cause()
def bloat(case: Case) -> Iterator[Finding]:
    """A large table consists to a good part of dead rows.

    Looks like: `n_dead_tup` a fifth of the rows or more, in a table of a hundred megabytes or more.
    Hurts because: scans and caches carry what nobody needs.
    Speaks for it: dead against live rows and the size of the table.
    Speaks against it: a table that is about to be vacuumed (autovacuum is at work on it).
    Remedy: Let autovacuum keep up: a smaller autovacuum_vacuum_scale_factor for this table, a higher
        autovacuum_vacuum_cost_limit. To give space back: pg_repack, or VACUUM FULL at a quiet time.
    Verify: n_dead_tup falls under a tenth and stays there under load.
    Source: PostgreSQL documentation, "Routine Vacuuming", pg_stat_all_tables.
    """
    tables = (
        case.chart.frame("space")
        .filter((pl.col("kind") == "table") & pl.col("dead_rows").is_not_null())
        .group_by("db", "database", "name")
        .last()
        .with_columns((pl.col("dead_rows") / (pl.col("dead_rows") + pl.col("live_rows").fill_null(0))).alias("dead"))
        .filter(
            (pl.col("dead") >= DEAD_SHARE)
            & (pl.col("dead_rows") >= DEAD_ROWS)
            & (pl.col("used_bytes") >= BLOATED_BYTES)
        )
        .sort("used_bytes", descending=True)
    )
    if tables.is_empty():
        return
    first = tables.row(0, named=True)
    yield case.finding(
        f"{in_share(first['dead'])} of table {first['name']} is dead rows",
        impact=NOT_MEASURED,
        confidence=0.8,
        for_=[
            Evidence(
                "space",
                f"name = '{row['name']}'",
                f"{row['dead_rows']:,} dead rows beside {row['live_rows'] or 0:,}, {in_bytes(row['used_bytes'])}",
                f"{in_share(DEAD_SHARE)} and {in_bytes(BLOATED_BYTES)}",
                f"database {row['database']}",
            )
            for row in tables.head(5).iter_rows(named=True)
        ],
    )


@cause()
def transaction_id_age(case: Case) -> Iterator[Finding]:
    """The oldest transaction id grows old: the server will stop taking writes.

    Looks like: `age(datfrozenxid)` far beyond autovacuum_freeze_max_age.
    Hurts because: at about 2.1 billion the server refuses every command that needs a new transaction id.
    Speaks for it: the age, and what is left at today's rate.
    Speaks against it: a vacuum to prevent wraparound that is making progress.
    Remedy: Find what holds vacuum back (old transaction, slot, prepared transaction), end it, and vacuum the oldest
        tables first (vacuum (freeze) by age(relfrozenxid)); single-user mode is not needed.
    Verify: age(datfrozenxid) falls.
    Source: PostgreSQL documentation, "Preventing Transaction ID Wraparound Failures".
    """
    oldest = max(case.figures("pg_database.datfrozenxid_age"), key=lambda figure: figure.last, default=None)
    if oldest is None or oldest.last < XID_AGE_ALARM:
        return
    per_s = (case.total("pg_stat_database.xact_commit", oldest.db) or 0.0) + 1e-9
    days = (XID_LIMIT - oldest.last) / per_s / 86400
    yield case.finding(
        f"Database {oldest.entity} has used {in_share(oldest.last / XID_LIMIT)} of the transaction ids that it may",
        impact=NONE_YET,
        confidence=0.95,
        for_=[
            Evidence(
                "statistic",
                "name = 'pg_database.datfrozenxid_age'",
                f"age {oldest.last:,.0f}",
                f"{XID_AGE_ALARM:,}",
                f"at the most {days:,.0f} days at today's commits per second" if days < 36500 else "no commits now",
            )
        ],
    )


def _old_sessions(case: Case) -> list[Evidence]:
    old = (
        case.chart.frame("session")
        .filter((pl.col("transaction_s") >= OLD_TRANSACTION_S) & (pl.col("xmin_age") >= OLD_XMIN_TRANSACTIONS))
        .group_by("db", "sid")
        .last()
        .sort("transaction_s", descending=True)
    )
    return [
        Evidence(
            "session",
            f"sid = {row['sid']}",
            f"transaction {row['transaction_s']:,.0f} s old, {row['xmin_age']:,} transactions behind",
            f"{OLD_TRANSACTION_S:.0f} s and {OLD_XMIN_TRANSACTIONS:,} transactions",
            f"session {row['sid']} of {row['user'] or 'an unknown user'} ({row['state']})",
        )
        for row in old.head(3).iter_rows(named=True)
    ]


def _old_slots(case: Case) -> list[Evidence]:
    return [
        Evidence(
            "statistic",
            f"name = '{name}' and entity = '{figure.entity}'",
            f"{figure.last:,.0f} transactions behind",
            f"{OLD_XMIN_TRANSACTIONS:,} transactions",
            f"replication slot {figure.entity}",
        )
        for name in ("pg_replication_slots.xmin_age", "pg_replication_slots.catalog_xmin_age")
        for figure in case.figures(name)
        if figure.last >= OLD_XMIN_TRANSACTIONS
    ]


def _prepared(case: Case) -> list[Evidence]:
    return [
        Evidence(
            "statistic",
            "name = 'pg_prepared_xacts.oldest_s'",
            f"{figure.last:,.0f} s old",
            f"{OLD_TRANSACTION_S:.0f} s",
            "a prepared transaction that nobody finished",
        )
        for figure in case.figures("pg_prepared_xacts.oldest_s")
        if figure.last >= OLD_TRANSACTION_S
    ]
