"""Subscriptions that stand still: nothing arrives, and nobody fails of it."""

from collections.abc import Iterator

import polars as pl

from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.causes.wal.replicas import FAILURES
from doctord.diagnose.causes.wal.subscription_signs import LOOKS, WORKERS
from doctord.diagnose.common.wal.readings import looks, stays
from doctord.diagnose.finding import NONE_YET, Claim, Evidence
from doctord.diagnose.phrase import listed, phrase

ENABLED, HAS_SLOT = "pg_subscription.enabled", "pg_subscription.has_slot"
COPYING, DISABLES = "pg_stat_subscription.sync_workers", "pg_subscription.disables_on_error"
NOT_READY, TO_COPY = "pg_subscription_rel.not_ready", "pg_subscription_rel.tables_not_ready"
MOST_TOLD = 3


@cause()
def subscription_stopped(case: Case) -> Iterator[Claim]:
    """A subscription does not run: it is disabled, has no worker, or nobody copies its tables.

    Looks like: subenabled of pg_subscription is false; or it is true and pg_stat_subscription has no process for it;
        or pg_subscription_rel has tables in state i, d, f or s and no worker copies any.
    Hurts because: nothing arrives any more, or never did for these tables, and no session fails of it; the publisher's
        slot keeps WAL all the while.
    Speaks for it: the same at each look; the workers that may be there (max_logical_replication_workers,
        max_sync_workers_per_subscription, max_worker_processes).
    Speaks against it: somebody disabled it for a while, as for maintenance, or a restored dump left it so; it has no
        slot; a table whose copy begins within seconds.
    Remedy: Disabled: the subscriber's log says why where disable_on_error did it; mend that, then ALTER SUBSCRIPTION
        ... ENABLE, or DROP SUBSCRIPTION where it is not wanted, so that its slot goes. No worker: the log says why (the
        publisher is not reached, the password, "out of logical replication worker slots"). Nobody copies: raise
        max_logical_replication_workers above the number of subscriptions, and max_sync_workers_per_subscription above
        0; the log has the error of a copy that fails and begins again.
    Verify: pg_stat_subscription has a process for it; srsubstate of all its tables is r.
    Source: PostgreSQL documentation, pg_subscription, pg_subscription_rel, "Logical Replication" (Configuration
        Settings, Initial Snapshot), ALTER SUBSCRIPTION, disable_on_error.
    """
    for one in case.figures(ENABLED):
        if not one.last:
            yield _disabled(case, one.db or "", one.entity or "")
        elif _fails(case, one.db, one.entity or ""):
            continue  # told by its failures
        elif _never(case, one.db or "", one.entity or "", WORKERS):
            yield _stopped(case, one.db or "", one.entity or "", WORKERS, "has no worker: nothing is applied")
        elif (copy := _nobody_copies(case, one.db or "", one.entity or "")) is not None:
            yield copy


def _disabled(case: Case, db: str, entity: str) -> Claim:
    has_slot, by_error = (_last(case, db, entity, name) for name in (HAS_SLOT, DISABLES))
    why = (
        "disable_on_error is set: an error may have done it"
        if by_error
        else "somebody disabled it, or a dump left it so"
    )
    return Claim(
        phrase("Subscription {} is disabled: nothing arrives", entity.partition(".")[2]),
        impact=NONE_YET,
        confidence=0.9,
        severity="note" if has_slot == 0 else "warning",
        for_=[Evidence("statistic", f"name = '{ENABLED}' and entity = '{entity}'", "subenabled = false", "", why)],
        against=[Evidence("statistic", f"name = '{HAS_SLOT}' and entity = '{entity}'", "slot_name = NONE", "",
                          "no slot keeps WAL for it")] if has_slot == 0 else [],
        database=db,
    )  # fmt: skip


def _stopped(case: Case, db: str, entity: str, name: str, words: str) -> Claim:
    readings = looks(case, db, entity, name)
    count = readings.height - _last_other(readings)
    return Claim(
        phrase(f"Subscription {{}} {words}", entity.partition(".")[2]),
        impact=NONE_YET,
        confidence=0.9,
        severity="warning",
        for_=[
            Evidence("statistic", f"name = '{name}' and entity = '{entity}'",
                     phrase("none at {:count look/looks}", count), phrase("{:.0f}", LOOKS),
                     "a worker begins anew within seconds", "at_least"),
            *_workers_there_may_be(case, db),
        ],
        database=db,
    )  # fmt: skip


def _nobody_copies(case: Case, db: str, entity: str) -> Claim | None:
    """Tables that wait for their first copy at each look while no worker copies any; null where none does."""
    waiting = looks(case, db, entity, TO_COPY)
    is_always = waiting.height >= LOOKS and bool((waiting["value"] > 0).all())
    if not is_always or not _never(case, db, entity, COPYING):
        return None
    database = entity.partition(".")[0]
    tables = [(one.entity or "").partition(".")[2] for one in case.figures(NOT_READY)
              if one.db == db and (one.entity or "").startswith(f"{database}.")]  # fmt: skip
    told = _stopped(case, db, entity, COPYING, "waits for tables that nobody copies")
    which = Evidence("statistic", f"name = '{TO_COPY}' and entity = '{entity}'",
                     phrase("{:count table/tables} not copied", waiting["value"][-1]), "",
                     listed(*sorted(tables)[:MOST_TOLD]))  # fmt: skip
    return Claim(told.title, impact=NONE_YET, confidence=0.9, severity="warning", for_=[which, *told.for_], database=db)


def _never(case: Case, db: str, entity: str, name: str) -> bool:
    """Whether some workers were missing at each of several looks, or have been since the middle of a recording."""
    told = looks(case, db, entity, name)
    return told.height >= LOOKS and stays(told, 0.0)


def _last_other(readings: pl.DataFrame) -> int:
    """How many readings there are up to the last that is not 0."""
    others = (readings["value"] != 0).arg_true()
    return int(others[-1]) + 1 if others.len() else 0


def _workers_there_may_be(case: Case, db: str) -> list[Evidence]:
    names = ("max_logical_replication_workers", "max_sync_workers_per_subscription", "max_worker_processes")
    told = [phrase("{} = {}", name, value) for name in names if (value := case.setting(name, db))]
    return [Evidence("setting", f"name in {names} and db = '{db}'", listed(*told), "", "")] if told else []


def _fails(case: Case, db: str | None, entity: str) -> bool:
    name = entity.partition(".")[2]
    return any(one.db == db and one.entity == name and one.mean > 0 for what in FAILURES for one in case.figures(what))


def _last(case: Case, db: str, entity: str, name: str) -> float | None:
    one = case.figure(name, db, entity)
    return one and one.last
