"""Who keeps vacuum from removing dead rows: four kinds of holder of an old snapshot in PostgreSQL, and a setting."""

from collections.abc import Iterator
from typing import NamedTuple

import polars as pl

from doctord.analyse.figures import Statistic
from doctord.diagnose.case import Case
from doctord.diagnose.common.wal.open_writers import holding
from doctord.diagnose.finding import Evidence
from doctord.diagnose.phrase import Phrase, Words, phrase

OLD_TRANSACTION_S = 300.0
OLD_XMIN_TRANSACTIONS = 100_000
# Younger ones come and go on any busy server; these are looked at where dead rows are in the way already.
YOUNG_TRANSACTION_S = 10.0
YOUNG_XMIN_TRANSACTIONS = 1000
# A transaction may change thousands of rows: of who is seen to stand still for so long fewer of them are enough.
FEW_TRANSACTIONS = 100
STILL_S = 15.0
# Their own snapshots keep nothing: that of a vacuum is not counted, that of a WAL sender is its standby's.
EXEMPT = ("autovacuum worker", "walsender")
SLOT_AGE, CATALOGUE_AGE = "pg_replication_slots.xmin_age", "pg_replication_slots.catalog_xmin_age"
STANDBY_AGE = "pg_stat_replication.backend_xmin_age"
# Up to version 15: so many transactions are kept, whoever needs them or not.
DEFERRED = "vacuum_defer_cleanup_age"
TRANSACTIONS = "pg_current_snapshot.xmax"


class Holder(NamedTuple):
    """One that holds an old snapshot: who, since when (seconds, null where that is not told), how many transactions.

    `database` is the only one whose tables it keeps from being vacuumed; null: all of the server's. `is_old` is what
    no busy server has for a moment. A logical slot keeps rows of the system catalogues alone.
    """

    who: Words
    db: str | None
    database: str | None
    age_s: float | None
    transactions: float
    is_old: bool
    table: str
    filter: str
    is_of_catalogues: bool = False
    is_setting: bool = False

    @property
    def evidence(self) -> Evidence:
        """How old it is, against what it takes where nobody is seen to suffer."""
        behind = phrase("{:,.0f} transactions behind", self.transactions)
        age: Phrase = behind
        limit = phrase("{:,} transactions", OLD_XMIN_TRANSACTIONS)
        if self.age_s is not None and not self.is_setting:
            age = phrase("transaction {:,.0f s} old, {}", self.age_s, behind)
            limit = phrase("{:.0f s} and {}", OLD_TRANSACTION_S, limit)
        return Evidence(self.table, self.filter, age, limit, self.who, "at_least")


def holders(case: Case) -> list[Holder]:
    """All that hold a snapshot for longer than a moment, the one that holds most transactions back first."""
    found = [*_sessions(case), *_slots(case), *_prepared(case), *_standbys(case), *_settings(case)]
    return sorted(found, key=lambda holder: (not holder.is_old, -holder.transactions))


def _sessions(case: Case) -> Iterator[Holder]:
    old = (
        case.dataset.frame("session")
        .lazy()
        .filter(
            (pl.col("transaction_s") >= YOUNG_TRANSACTION_S)
            & (pl.col("xmin_age") >= FEW_TRANSACTIONS)
            & ~pl.col("kind").is_in(EXEMPT).fill_null(value=False)
        )
        .sort("ts", maintain_order=True)
        .group_by("db", "sid", maintain_order=True)
        .agg(
            pl.all().last(),
            seen_s=(pl.col("ts").last() - pl.col("ts").first()).dt.total_microseconds() / 1e6,
            moves_on=(pl.col("xmin_age").diff() < 0).any(),
        )
        .collect(engine="in-memory")
    )
    for row in old.iter_rows(named=True):
        stood_still = row["seen_s"] >= STILL_S and not row["moves_on"]
        if row["xmin_age"] < YOUNG_XMIN_TRANSACTIONS and not stood_still:
            continue
        who = " ".join(part for part in (row["user"] or "an unknown user", row["program"]) if part)
        is_old = row["transaction_s"] >= OLD_TRANSACTION_S and row["xmin_age"] >= OLD_XMIN_TRANSACTIONS
        yield Holder(
            phrase("session {} of {} ({})", row["sid"], who, row["state"] or "state unknown"),
            *(row["db"], row["database"], row["transaction_s"], row["xmin_age"], is_old),
            *("session", f"sid = {row['sid']}"),
        )


def _stands_still(case: Case, figure: Statistic) -> bool:
    """Whether what a slot or a standby needs has not moved on while we looked, or is old whether it moves or not.

    One that is read is told to move on every ten seconds or so, by when a busy server has thousands of transactions; on
    one that is not as busy it has to be seen for longer.
    """
    if figure.last >= OLD_XMIN_TRANSACTIONS:
        return True
    of = (pl.col("name") == figure.name) & (pl.col("db") == figure.db) & (pl.col("entity") == figure.entity)
    told = case.dataset.frame("statistic").filter(of).sort("ts", maintain_order=True)
    if (told["value"].diff() < 0).any():
        return False
    seen_s = (told["ts"][-1] - told["ts"][0]).total_seconds()
    return figure.last >= (FEW_TRANSACTIONS if seen_s >= STILL_S else YOUNG_XMIN_TRANSACTIONS)


def _slots(case: Case) -> Iterator[Holder]:
    for figure in (*case.figures(SLOT_AGE), *case.figures(CATALOGUE_AGE)):
        if _stands_still(case, figure):
            is_of_catalogues = figure.name == CATALOGUE_AGE
            # Its reader keeps up: what decoding must begin with again is held by who has begun and not ended.
            first = next(iter(holding(case, figure)), None) if is_of_catalogues else None
            yield Holder(
                phrase(
                    "replication slot {}{}{}",
                    figure.entity,
                    " (system catalogues)" if is_of_catalogues else "",
                    phrase(", which is read and waits for {}", first.who) if first else "",
                ),
                *(figure.db, None, None, figure.last, figure.last >= OLD_XMIN_TRANSACTIONS),
                *("statistic", f"name = '{figure.name}' and entity = '{figure.entity}'"),
                is_of_catalogues=is_of_catalogues,
            )


def _prepared(case: Case) -> Iterator[Holder]:
    """Prepared transactions by name; of a recording that has no names, the oldest."""
    named = case.figures("pg_prepared_xacts.age_s")
    behind = {figure.entity: figure.last for figure in case.figures("pg_prepared_xacts.xid_age")}
    unnamed = {figure.db: figure.last for figure in case.figures("pg_prepared_xacts.oldest_xid_age")}
    for figure in named or case.figures("pg_prepared_xacts.oldest_s"):
        transactions = behind.get(figure.entity) if named else unnamed.get(figure.db)
        is_old, is_young = figure.last >= OLD_TRANSACTION_S, figure.last >= YOUNG_TRANSACTION_S
        if is_old or (is_young and (transactions or 0.0) >= FEW_TRANSACTIONS):
            where = f"name = '{figure.name}'" + (f" and entity = '{figure.entity}'" if named else "")
            name = phrase("prepared transaction {}", figure.entity) if named else "a prepared transaction"
            yield Holder(
                phrase("{} that nobody finished", name),
                *(figure.db, None, figure.last, transactions or 0.0, is_old, "statistic", where),
            )


def _standbys(case: Case) -> Iterator[Holder]:
    for figure in case.figures(STANDBY_AGE):
        if _stands_still(case, figure):
            where = f"name = '{STANDBY_AGE}' and entity = '{figure.entity}'"
            who = phrase("a query on standby {} (hot_standby_feedback)", figure.entity)
            is_old = figure.last >= OLD_XMIN_TRANSACTIONS
            yield Holder(who, figure.db, None, None, figure.last, is_old, "statistic", where)


def _settings(case: Case) -> Iterator[Holder]:
    """As old as it takes for so many transactions to begin, where that is counted."""
    per_s = {figure.db: figure.mean for figure in case.figures(TRANSACTIONS)}
    for db in case.dbs:
        transactions = float(case.setting(DEFERRED, db) or 0.0)
        if transactions >= YOUNG_XMIN_TRANSACTIONS:
            who = phrase("the setting {} = {:.0f}, whoever needs them or not", DEFERRED, transactions)
            is_old = transactions >= OLD_XMIN_TRANSACTIONS
            where = f"name = '{DEFERRED}' and db = '{db}'"
            age_s = transactions / per_s[db] if per_s.get(db) else None
            yield Holder(who, db, None, age_s, transactions, is_old, "setting", where, is_setting=True)
