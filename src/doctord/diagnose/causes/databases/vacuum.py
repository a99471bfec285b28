"""Vacuum: row versions that nobody needs any more, and transaction ids that run out."""

from collections.abc import Iterator

import polars as pl

from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.finding import NONE_YET, NOT_MEASURED, Claim, Evidence
from doctord.diagnose.phrase import phrase

OLD_TRANSACTION_S = 300.0
OLD_XMIN_TRANSACTIONS = 100_000
DEAD_SHARE = 0.2
DEAD_ROWS = 10_000
BLOATED_BYTES = 100 * 1024 * 1024
# Half of the 2^31 transactions that may lie between the oldest and the newest: vacuum has failed for a long time.
XID_AGE_ALARM = 1_000_000_000
XID_LIMIT = 2**31


@cause(explains=("bloat",))
def vacuum_held_back(case: Case) -> Iterator[Claim]:
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
    dead = (
        case.dataset.frame("space")
        .filter(pl.col("dead_rows").is_not_null())
        .group_by("db", "name", maintain_order=True)
        .last()
    )
    rows = int(dead["dead_rows"].sum() or 0)
    yield Claim(
        phrase("Vacuum is held back by {}", holders[0].why),
        impact=NOT_MEASURED if rows >= DEAD_ROWS else NONE_YET,
        confidence=0.9 if rows >= DEAD_ROWS else 0.6,
        for_=holders,
        against=[]
        if rows >= DEAD_ROWS
        else [
            Evidence(
                "space",
                "dead_rows",
                phrase("{:,} dead rows so far", rows),
                phrase("{:,}", DEAD_ROWS),
                "it does no harm yet",
                "at_least",
            )
        ],
    )


@cause()
def bloat(case: Case) -> Iterator[Claim]:
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
        case.dataset.frame("space")
        .filter((pl.col("kind") == "table") & pl.col("dead_rows").is_not_null())
        .group_by("db", "database", "name", maintain_order=True)
        .last()
        .with_columns((pl.col("dead_rows") / (pl.col("dead_rows") + pl.col("live_rows").fill_null(0))).alias("dead"))
        .filter(
            (pl.col("dead") >= DEAD_SHARE)
            & (pl.col("dead_rows") >= DEAD_ROWS)
            & (pl.col("used_bytes") >= BLOATED_BYTES)
        )
        .sort("used_bytes", descending=True, maintain_order=True)
    )
    if tables.is_empty():
        return
    first = tables.row(0, named=True)
    yield Claim(
        phrase("{:share} of table {} is dead rows", first["dead"], first["name"]),
        impact=NOT_MEASURED,
        confidence=0.8,
        for_=[
            Evidence(
                "space",
                f"name = '{row['name']}'",
                phrase(
                    "{:,} dead rows beside {:,}, {:bytes}", row["dead_rows"], row["live_rows"] or 0, row["used_bytes"]
                ),
                phrase("{:share} and {:bytes}", DEAD_SHARE, BLOATED_BYTES),
                phrase("database {}{}", row["database"], f" of {row['db']}" if len(case.dbs) > 1 else ""),
            )
            for row in tables.head(5).iter_rows(named=True)
        ],
        database=first["db"],
    )


@cause()
def transaction_id_age(case: Case) -> Iterator[Claim]:
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
    yield Claim(
        phrase(
            "Database {} has used {:share} of the transaction ids that it may", oldest.entity, oldest.last / XID_LIMIT
        ),
        impact=NONE_YET,
        severity="warning",
        confidence=0.95,
        for_=[
            Evidence(
                "statistic",
                "name = 'pg_database.datfrozenxid_age'",
                phrase("age {:,.0f}", oldest.last),
                phrase("{:,}", XID_AGE_ALARM),
                phrase("at the most {:,.0f} days at today's commits per second", days)
                if days < 36500
                else "no commits now",
                "at_least",
            )
        ],
    )


def _old_sessions(case: Case) -> list[Evidence]:
    old = (
        case.dataset.frame("session")
        .filter((pl.col("transaction_s") >= OLD_TRANSACTION_S) & (pl.col("xmin_age") >= OLD_XMIN_TRANSACTIONS))
        .group_by("db", "sid", maintain_order=True)
        .last()
        .sort("transaction_s", descending=True, maintain_order=True)
    )
    return [
        Evidence(
            "session",
            f"sid = {row['sid']}",
            phrase("transaction {:,.0f s} old, {:,} transactions behind", row["transaction_s"], row["xmin_age"]),
            phrase("{:.0f s} and {:,} transactions", OLD_TRANSACTION_S, OLD_XMIN_TRANSACTIONS),
            phrase("session {} of {} ({})", row["sid"], row["user"] or "an unknown user", row["state"]),
            "at_least",
        )
        for row in old.head(3).iter_rows(named=True)
    ]


def _old_slots(case: Case) -> list[Evidence]:
    return [
        Evidence(
            "statistic",
            f"name = '{name}' and entity = '{figure.entity}'",
            phrase("{:,.0f} transactions behind", figure.last),
            phrase("{:,} transactions", OLD_XMIN_TRANSACTIONS),
            phrase("replication slot {}", figure.entity),
            "at_least",
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
            phrase("{:,.0f s} old", figure.last),
            phrase("{:.0f s}", OLD_TRANSACTION_S),
            "a prepared transaction that nobody finished",
        )
        for figure in case.figures("pg_prepared_xacts.oldest_s")
        if figure.last >= OLD_TRANSACTION_S
    ]
