"""Whether servers served: up all along, clients let in, transactions done; what a clean bill says of that."""

from collections.abc import Iterator
from typing import Final

import polars as pl

from doctord.analyse.time import SAMPLED
from doctord.diagnose.case import Case
from doctord.diagnose.phrase import Phrase, listed, phrase

# Which server tells since when it is up, and how it counts what it did.
UP_S: Final = "pg_postmaster_start_time.age_s"
COMMITS: Final = "pg_stat_database.xact_commit"
COUNTED: Final = {
    COMMITS: "commit/commits",
    "pg_stat_database.xact_rollback": "rollback/rollbacks",
    "pg_stat_database.deadlocks": "deadlock/deadlocks",
}
LOGINS: Final = "login .*: first query"
FEWEST_LOOKS: Final = 2


def is_of_interest(case: Case) -> bool:
    """Whether servers were looked at that could have told: live ones of PostgreSQL."""
    return any(db.startswith("postgresql") for db in _sampled(case))


def is_measured(case: Case) -> bool:
    """Whether each server whose sessions were sampled told at several times that it is up, and what it did."""
    sampled = _sampled(case)
    return bool(sampled) and all(
        _looks(case, db) >= FEWEST_LOOKS and case.total(COMMITS, db) is not None for db in sampled
    )


def served(case: Case) -> Iterator[Phrase]:
    """A line for each of them: since when it is up, what it did meanwhile, and how many logins it served."""
    for up in sorted(case.figures(UP_S), key=lambda figure: str(figure.db)):
        logins = _logins(case, up.db)
        yield phrase(
            "{}: up for {:duration}; {}",
            up.db,
            up.last,
            listed(
                *(phrase(f"{{:count {words}}}", round(case.amount(name, up.db))) for name, words in COUNTED.items()
                  if case.total(name, up.db) is not None),
                phrase("{:count login/logins} of ours", logins) if logins else "",
            ),
        )  # fmt: skip


def _sampled(case: Case) -> list[str]:
    return (
        case.dataset.frame("wait").filter(pl.sql_expr(SAMPLED))["db"].drop_nulls().unique(maintain_order=True).to_list()
    )


def _looks(case: Case, db: str) -> int:
    rows = case.dataset.frame("statistic").filter((pl.col("name") == UP_S) & (pl.col("db") == db))
    return rows["ts"].n_unique()


def _logins(case: Case, db: str | None) -> int:
    rows = case.dataset.frame("latency").filter((pl.col("db") == db) & pl.col("subject").str.contains(LOGINS))
    return int(rows["count"].sum() or 0)
