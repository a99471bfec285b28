"""Tables whose autovacuum is cancelled again and again for locks that somebody takes: of `autovacuum_behind`."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import polars as pl

from doctord.analyse.locking.autovacuum import CANCELLED, WORKER, Taker, cancelled, takers, vacuumed
from doctord.analyse.sql.statements import Statement
from doctord.diagnose.case import Case
from doctord.diagnose.causes.locking.exclusive import COMMENT, instead_of
from doctord.diagnose.finding import NOT_MEASURED, Claim, Evidence
from doctord.diagnose.phrase import Words, listed, phrase
from doctord.diagnose.words import shortened
from doctord.regex import regex

# Enough to be felt by who reads, as of a table that autovacuum does not come to. Of a table in which less than a tenth
# is dead the next vacuum is early enough: autovacuum itself comes for a fifth (autovacuum_vacuum_scale_factor).
DEAD_ROWS: Final = 10_000
DEAD_SHARE: Final = 0.1
# Once is a migration. Of a job that takes its lock all along a short look may see one cancel, as autovacuum begins
# anew after autovacuum_naptime, a minute, at the earliest.
FEWEST, OFTEN_CALLED = 2, 3.0
# What was seen to wait for a shorter part of deadlock_timeout may have got its lock as the vacuum ended.
NEARLY: Final = 0.7
DEADLOCK_TIMEOUT_MS: Final = 1000.0
# So much of the waiting for locks on tables (0 to 1) that it is what that waiting is about.
MOST: Final = 0.5
TABLE_LOCK: Final = "table lock"
MOST_TOLD: Final = 3
# Statements whose locks conflict with SHARE UPDATE EXCLUSIVE, by their first words.
_LOCKS: Final = regex(
    r"\s*(?:lock|truncate|alter\s+table|create\s+(?:unique\s+)?index|create\s+(?:or\s+replace\s+)?trigger|reindex"
    r"|cluster|vacuum|analyze|refresh\s+materialized|drop\s+(?:table|index|trigger))\b",
    re.IGNORECASE,
)
_ROW_EXCLUSIVE: Final = regex(r"\bin\s+(?:access\s+share|row\s+share|row\s+exclusive)\s+mode", re.IGNORECASE)
WEAKER: Final = (
    "Let the job take a weaker lock: autovacuum gives way to SHARE UPDATE EXCLUSIVE, SHARE, SHARE ROW EXCLUSIVE, "
    "EXCLUSIVE and ACCESS EXCLUSIVE; ROW EXCLUSIVE and weaker, rows (SELECT ... FOR UPDATE) and "
    "pg_advisory_xact_lock let it go on. "
    "Or let it come less often than a vacuum of the table takes."
)


class Cancelled(NamedTuple):
    """A table with its dead rows: how often its vacuum was cancelled, who waited for it, and what locks it."""

    row: dict[str, Any]
    logged: int
    seen: int
    takers: Sequence[Taker]
    statements: Sequence[Statement]

    @property
    def times(self) -> int:
        """How often, by the log; by who waited for it where the log does not tell."""
        return self.logged or self.seen

    @property
    def is_felt(self) -> bool:
        """Whether who reads the table steps over dead rows for a notable part of the time."""
        return bool(self.row["dead_rows"] >= DEAD_SHARE * (self.row["live_rows"] or 0))

    @property
    def is_again(self) -> bool:
        """Whether it is no single case."""
        return self.times >= FEWEST or (self.times > 0 and bool(self.statements))


def cancelled_again(case: Case, db: str) -> Claim | None:
    """The tables of a server whose vacuum is cancelled again and again, and that are full of dead rows; null: none."""
    found = sorted((one for one in _tables(case, db) if one.is_again), key=lambda one: (not one.is_felt, -one.times))
    return _claim(case, db, found) if found else None


def _tables(case: Case, db: str) -> Iterator[Cancelled]:
    tables = case.dataset.frame("space").filter((pl.col("db") == db) & (pl.col("kind") == "table"))
    last = tables.group_by("database", "name", maintain_order=True).last()
    logged, waited = cancelled(case.dataset, db), [one for one in takers(case.dataset) if one.db == db]
    if not logged and not waited:
        return
    ended = vacuumed(case.dataset, db)
    least_s = NEARLY * float(case.setting("deadlock_timeout", db) or DEADLOCK_TIMEOUT_MS) / 1000
    large = last.filter(pl.col("dead_rows") >= DEAD_ROWS).sort("dead_rows", descending=True, maintain_order=True)
    for row in large.iter_rows(named=True):
        entity = f"{row['database']}.{row['name']}"
        own = [
            one
            for one in waited
            if one.table in (None, row["name"])
            and one.database in (None, row["database"])
            and (entity not in ended or one.last > ended[entity])
        ]
        times = logged.get(entity, 0)
        if not times and large.height == 1:
            times = logged.get(None, 0)  # a log without contexts names no table: log_error_verbosity = terse
        seen = sum(one.times for one in own if one.longest_s >= least_s)
        yield Cancelled(row, times, seen, own, _lockers(case, db, row, own))


def _lockers(case: Case, db: str, row: dict[str, Any], own: Sequence[Taker]) -> list[Statement]:
    """Statements that take such a lock on a table again and again: those seen waiting, and those whose texts say so."""
    ids, name = {one.statement_id for one in own}, str(row["name"]).rpartition(".")[2]
    named = re.compile(rf"(?<![\w$]){re.escape(name)}(?![\w$])", re.IGNORECASE)
    told = [one for one in case.statements if one.db == db]
    often = [one for one in told if (one.calls_per_s or 0.0) * case.time.seconds >= OFTEN_CALLED]
    return [one for one in often if one.statement_id in ids or _locks(one.text or "", named)]


def _locks(text: str, named: re.Pattern[str]) -> bool:
    plain = COMMENT.sub(" ", text)
    return bool(_LOCKS.match(plain) and named.search(plain) and not _ROW_EXCLUSIVE.search(plain))


def _claim(case: Case, db: str, found: Sequence[Cancelled]) -> Claim:
    first = found[0]
    texts = [*(one.text for one in first.statements), *(case.statement_text(one.statement_id) for one in first.takers)]
    return Claim(
        phrase("Autovacuum of {} is cancelled again and again: {:count time/times}{}", first.row["name"], first.times,
               _for_whom(case, first)),
        impact=NOT_MEASURED,
        severity=None if any(one.is_felt for one in found) else "note",
        confidence=0.9 if first.logged and (first.takers or first.statements) else 0.75,
        for_=[
            *(item for one in found[:MOST_TOLD] for item in _counted(db, one)),
            *_settings(case, db),
            *(_waited(case, one) for one in first.takers[:MOST_TOLD]),
            *(_locked(one) for one in first.statements[:MOST_TOLD]),
        ],
        first_steps=[
            WEAKER,
            *instead_of(texts),
            phrase("Until then VACUUM (ANALYZE) {} by hand in a window without that job: a manual VACUUM is not "
                   "cancelled; who wants the lock waits until it has ended.", first.row["name"]),
        ],
        explains=("table_locks",) if _is_most_of_table_locks(case, db) else (),
        database=db,
    )  # fmt: skip


def _for_whom(case: Case, one: Cancelled) -> Words:
    """Whose lock it gives way to, as far as that is known: the statement, else the user and the program."""
    text = next((it.text for it in one.statements if it.text), None)
    if one.takers:
        text = case.statement_text(one.takers[0].statement_id) or text
    who = _who(one.takers[0]) if one.takers else ""
    what = phrase("{}", shortened(text, 60)) if text else ""
    return phrase(", for {}", listed(what, who, by=" of ")) if what or who else ""


def _who(one: Taker) -> str:
    return " ".join(part for part in (one.user, one.program) if part)


def _counted(db: str, one: Cancelled) -> list[Evidence]:
    row = one.row
    entity = f"{row['database']}.{row['name']}"
    logged = [
        Evidence("statistic", f"name = '{CANCELLED}' and db = '{db}' and entity = '{entity}'",
                 phrase("{:count time/times} cancelled", one.logged), "",
                 phrase("the log, of {}: canceling autovacuum task; since then no vacuum of it has ended", row["name"]))
    ] if one.logged else []  # fmt: skip
    dead = Evidence("space", f"name = '{row['name']}'",
                    phrase("{:,} dead rows in {} beside {:,}", row["dead_rows"], row["name"], row["live_rows"] or 0),
                    phrase("{:,}", DEAD_ROWS), "VACUUM does not get through", "at_least")  # fmt: skip
    return [*logged, dead]


def _settings(case: Case, db: str) -> list[Evidence]:
    naptime, timeout = case.setting("autovacuum_naptime", db), case.setting("deadlock_timeout", db)
    if naptime is None or timeout is None:
        return []
    return [
        Evidence("setting", f"name in ('autovacuum_naptime', 'deadlock_timeout') and db = '{db}'",
                 phrase("begins anew after {:duration}", float(naptime)), "",
                 phrase("autovacuum_naptime; it is cancelled {:.3g s} after somebody asks for the lock "
                        "(deadlock_timeout), and begins with the first page again", float(timeout) / 1000))
    ]  # fmt: skip


def _waited(case: Case, one: Taker) -> Evidence:
    text = case.statement_text(one.statement_id)
    return Evidence("session", f"event = 'relation' and program = '{one.program or ''}'",
                    phrase("{} waited for {} {:count time/times}, {:.1f s} at the longest", _who(one) or "a client",
                           f"autovacuum of {one.table}" if one.table else "a worker of autovacuum", one.times,
                           one.longest_s),
                    "", phrase("its statement: {}", shortened(text)) if text else "")  # fmt: skip


def _locked(one: Statement) -> Evidence:
    return Evidence("statement", f"statement_id = '{one.statement_id}'",
                    phrase("{:.2g calls a minute} of a statement that locks it", 60 * (one.calls_per_s or 0.0)), "",
                    shortened(one.text or ""))  # fmt: skip


def _is_most_of_table_locks(case: Case, db: str) -> bool:
    """Whether most of the waiting for locks on tables is behind workers of autovacuum."""
    behind_s = sum(root.blocked_s for root in case.blockers if root.db == db and root.kind == WORKER)
    waiting_s = case.time.kind_share(TABLE_LOCK) * case.database_time_s()
    return behind_s > 0 and behind_s >= MOST * waiting_s
