"""Whether servers served: up all along, clients let in, transactions done; what a clean bill says of that."""

from collections.abc import Iterator
from typing import Final

import polars as pl

from doctord.analyse.time import SAMPLED
from doctord.dataset.mysql_names import FAILED_STATEMENTS, STATUS
from doctord.diagnose.case import Case
from doctord.diagnose.common.failures import (
    COMMITS,
    ERROR,
    LOST_SHARE,
    MESSAGES,
    OFTEN,
    ROLLBACKS,
    is_log_read,
    transactions,
)
from doctord.diagnose.phrase import Phrase, Words, listed, phrase

# Which server tells since when it is up, and how it counts what it did.
UP_S: Final = ("pg_postmaster_start_time.age_s", f"{STATUS}uptime")
DONE: Final = {"postgresql": COMMITS, "mysql": f"{STATUS}questions"}
COUNTED: Final = {
    COMMITS: "commit/commits",
    ROLLBACKS: "rollback/rollbacks",
    "pg_stat_database.deadlocks": "deadlock/deadlocks",
    f"{STATUS}questions": "statement/statements",
    FAILED_STATEMENTS: "of them failed/of them failed",
}
LOGINS: Final = "login .*: first query"
FEWEST_LOOKS: Final = 2


def is_of_interest(case: Case) -> bool:
    """Whether servers were looked at that could have told: live ones of PostgreSQL, MySQL or MariaDB."""
    return any(_vendor(db) in DONE for db in _sampled(case))


def is_measured(case: Case) -> bool:
    """Whether each server whose sessions were sampled told at several times that it is up, and what it did.

    And what failed: where PostgreSQL's log was not read, hardly anything may have been rolled back; MySQL and MariaDB
    count it where performance_schema is on.
    """
    sampled = _sampled(case)
    return bool(sampled) and all(
        _looks(case, db) >= FEWEST_LOOKS
        and case.total(DONE.get(_vendor(db), COMMITS), db) is not None
        and _errors_are_known(case, db)
        for db in sampled
    )


def served(case: Case) -> Iterator[Phrase]:
    """A line for each of them: since when it is up, what it did meanwhile, and how many logins it served."""
    told = (up for name in UP_S for up in case.figures(name))
    for up in sorted(told, key=lambda figure: str(figure.db)):
        logins = _logins(case, up.db)
        yield phrase(
            "{}: up for {:duration}; {}",
            up.db,
            up.last,
            listed(
                *(phrase(f"{{:count {words}}}", round(case.amount(name, up.db))) for name, words in COUNTED.items()
                  if case.total(name, up.db) is not None),
                phrase("{:count login/logins} of ours", logins) if logins else "",
                _errors(case, up.db),
            ),
        )  # fmt: skip


def _vendor(db: str) -> str:
    return db.partition(":")[0]


def _errors_are_known(case: Case, db: str) -> bool:
    if _vendor(db) == "mysql":
        return case.total(FAILED_STATEMENTS, db) is not None
    counted = transactions(case, db)
    if counted is None or is_log_read(case, db):
        return True
    return counted.rolled_back < LOST_SHARE or counted.rollbacks * case.seconds < OFTEN


def _errors(case: Case, db: str | None) -> Words:
    """What its log told of errors, or that nobody read it; of MySQL and MariaDB that nothing counts what fails."""
    if db is not None and _vendor(db) == "mysql":
        return "" if _errors_are_known(case, db) else "how many of them failed is not counted"
    if db is None or not is_log_read(case, db):
        return "its log was not read"
    count = sum(one.mean * one.seconds for one in case.figures(MESSAGES) if one.db == db and one.entity == ERROR)
    return phrase("{:count error/errors} in its log", round(count))


def _sampled(case: Case) -> list[str]:
    return case.dataset.derived("wait", _sampled_dbs)


def _sampled_dbs(wait: pl.DataFrame) -> list[str]:
    return wait.filter(pl.sql_expr(SAMPLED))["db"].drop_nulls().unique(maintain_order=True).to_list()


def _looks(case: Case, db: str) -> int:
    rows = case.dataset.frame("statistic").filter(pl.col("name").is_in(UP_S) & (pl.col("db") == db))
    return rows["ts"].n_unique()


def _logins(case: Case, db: str | None) -> int:
    rows = case.dataset.frame("latency").filter((pl.col("db") == db) & pl.col("subject").str.contains(LOGINS))
    return int(rows["count"].sum() or 0)
