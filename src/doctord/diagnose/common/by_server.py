"""What sessions of each server waited for, and for how many commits: each of several has a log of its own."""

from typing import Final

import polars as pl

from doctord.diagnose.case import Case
from doctord.diagnose.common.waited import share

TRANSACTION_IDS: Final = "pg_current_snapshot.xmax"


def waited_by_server(case: Case, *kinds: str) -> dict[str, float]:
    """Share (0 to 1) of the database time in which sampled sessions of each server waited for some kinds of wait.

    The one that waited most is first; none where waits were counted by the server itself. They add up to what the time
    model has for these waits, as samples alone miss what the kernel counts.
    """
    return of_events(case, *case.time.events_of(*kinds))


def of_events(case: Case, *events: str) -> dict[str, float]:
    """The same of some events."""
    if not events or case.active.is_empty():
        return {}
    rows = case.active.select("db", "event", "interval_s").filter(pl.col("event").is_in(events)).drop_nulls("db")
    sums = rows.group_by("db", maintain_order=True).agg(pl.col("interval_s").sum())
    ordered = sums.sort("interval_s", descending=True, maintain_order=True)
    part, whole_s = share(case, *events), float(ordered["interval_s"].sum())
    return {db: part * seconds / whole_s for db, seconds in ordered.iter_rows()} if whole_s else {}


def writing_commits(case: Case, db: str | None = None) -> float | None:
    """Commits a second that had something to write; all of them where it is not told how many did.

    PostgreSQL gives a transaction an id when it first writes: who only reads has none, and waits for no log at its
    commit. Subtransactions and transactions that are rolled back have ids too, so that there are no more than commits.
    Source: PostgreSQL documentation, "Transactions and Identifiers", "Asynchronous Commit".
    """
    commits, ids = case.common("commits", db), case.total(TRANSACTION_IDS, db)
    return commits if commits is None or ids is None else min(commits, ids)
