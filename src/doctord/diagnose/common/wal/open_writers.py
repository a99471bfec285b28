"""Transactions that have written and are open: what logical decoding must be able to begin with again."""

from typing import Final, NamedTuple

import polars as pl

from doctord.analyse.figures import Statistic
from doctord.diagnose.case import Case
from doctord.diagnose.common.wal.slots import reading, still_s
from doctord.diagnose.finding import Evidence
from doctord.diagnose.phrase import Words, phrase

RESTART: Final = "pg_replication_slots.restart_lsn_bytes"
# Of what is kept: less is not what keeps it.
HALF: Final = 0.5
# restart_lsn moves with the record of running transactions that the background writer makes every 15 s, and each
# checkpoint. It may have stood still for one of them before a transaction began, and be read one later.
RUNNING_S: Final = 15.0
OLD_S: Final = 2 * RUNNING_S
AGE: Final = "pg_stat_activity.writing_transaction_s"
PREPARED: Final = "pg_prepared_xacts.age_s"
IDLE: Final = "idle in transaction"


class Writer(NamedTuple):
    """An open transaction with an id, `age_s` seconds old: of a session, or a prepared one (`sid` is null).

    `who` tells it in the server's words; `is_at_work` whether its session was active at the last look.
    """

    name: str
    sid: int | None
    who: Words
    age_s: float
    is_at_work: bool
    table: str
    filter: str

    def evidence(self) -> Evidence:
        """That it is open, and since when."""
        return Evidence(self.table, self.filter, phrase("{:.0f s} old: {}", self.age_s, self.who),
                        phrase("{:.0f s}", RUNNING_S), "the oldest open transaction that has written something",
                        "at_least")  # fmt: skip


def holding(case: Case, slot: Statistic) -> list[Writer]:
    """The transactions that may hold a slot which is read and whose reader keeps up, the oldest first; else none.

    `slot` is any figure of the slot. One that began after the slot had come to its stand is not among them.
    """
    still = still_s(case, slot, RESTART)
    if still is None or not keeps_up(case, slot):
        return []
    return [one for one in open_writers(case, slot.db) if one.age_s >= max(RUNNING_S, still - OLD_S)]


def keeps_up(case: Case, slot: Statistic) -> bool:
    """Whether a slot is read at the last look, and its reader has confirmed most of what is kept for it."""
    names = ("active", "retained_bytes", "unconfirmed_bytes")
    active, retained, unconfirmed = (reading(case, name, slot) for name in names)
    if not active or not active.last or retained is None or unconfirmed is None:
        return False
    return unconfirmed.last < HALF * retained.last


def open_writers(case: Case, db: str | None) -> list[Writer]:
    """Those of a server that are open at the last look, the oldest first."""
    found = [
        *(_session(case, one) for one in _open_at_end(case, AGE, db)),
        *(_prepared(one) for one in _open_at_end(case, PREPARED, db)),
    ]
    return sorted(found, key=lambda one: (-one.age_s, one.name))


def _open_at_end(case: Case, name: str, db: str | None) -> list[Statistic]:
    """Figures of a name that were told at the last look at slots: what ended before is not among them."""
    of_server = case.dataset.frame("statistic").filter(pl.col("db").eq_missing(pl.lit(db)))
    looked = of_server.filter(pl.col("name") == "pg_is_in_recovery")["ts"].max()
    # Each part of the statistics is read at its own moment of a look.
    last = of_server.filter((pl.col("name") == name) & (pl.col("ts") > pl.lit(looked) - pl.duration(seconds=3)))
    there = set(last["entity"].to_list()) if looked is not None else set()
    return [one for one in case.figures(name) if one.db == db and (looked is None or one.entity in there)]


def _session(case: Case, one: Statistic) -> Writer:
    sid = int(one.entity or 0)
    rows = case.dataset.frame("session").filter((pl.col("db") == one.db) & (pl.col("sid") == sid))
    row = rows.row(-1, named=True) if rows.height else {}
    names = ", ".join(name for name in (row.get("program"), row.get("user")) if name)
    state = row.get("state") or ""
    who = phrase("session {}{}{}", sid, f" ({names})" if names else "", f", {state}" if state.startswith(IDLE) else "")
    where = f"name = '{AGE}' and entity = '{one.entity}' and db = '{one.db}'"
    return Writer(str(sid), sid, who, one.last, state == "active", "statistic", where)


def _prepared(one: Statistic) -> Writer:
    where = f"name = '{PREPARED}' and entity = '{one.entity}' and db = '{one.db}'"
    who = phrase("prepared transaction {}", one.entity)
    return Writer(one.entity or "", None, who, one.last, is_at_work=False, table="statistic", filter=where)
