"""Transaction status (SLRU): the server's own small caches, in which old transactions are looked up."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from doctord.diagnose.case import WORTH_SAYING_SHARE, Case
from doctord.diagnose.cause import cause
from doctord.diagnose.causes.databases.horizon import holders
from doctord.diagnose.common.waited import WORTH_NAMING_SHARE, share
from doctord.diagnose.finding import NOT_MEASURED, Claim, Evidence, measured
from doctord.diagnose.phrase import Words, phrase

HIT, READ = "pg_stat_slru.blks_hit", "pg_stat_slru.blks_read"
WAIT: Final = "SLRURead"
# A page read out of the kernel's cache, under the lock of the whole SLRU, takes microseconds: a hundredth of a CPU.
MANY_READS: Final = 1000.0
# Each is a lock and a look into memory, some tenths of a microsecond: from here on a few hundredths of a CPU.
MANY_LOOKUPS: Final = 100_000.0


@dataclass(frozen=True, slots=True)
class Cache:
    """One of these caches: what it holds, how its wait events begin, its setting from version 17 on, and a remedy."""

    holds: str
    events: str
    setting: str
    remedy: str


SUBTRANSACTIONS: Final = Cache(
    "the parents of subtransactions",
    "Subtrans",
    "subtransaction_buffers",
    "A transaction with more than 64 subtransactions (savepoints, EXCEPTION blocks of PL/pgSQL, a driver that sets a "
    "savepoint for each statement) makes all others look up who belongs to whom, for as long as it is open: end it, "
    "and commit after fewer of them. PostgreSQL 16 tells whose they are: pg_stat_get_backend_subxact().",
)
MULTIXACTS: Final = Cache(
    "who shares a row lock",
    "MultiXact",
    "multixact_member_buffers and multixact_offset_buffers",
    "Many transactions lock the same rows at once: foreign keys to the same few parents, SELECT FOR SHARE. Shorter "
    "transactions, and no FOR SHARE where a plain SELECT does.",
)
CACHES: Final = {
    "Subtrans": SUBTRANSACTIONS,
    "MultiXactMember": MULTIXACTS,
    "MultiXactOffset": MULTIXACTS,
    "Xact": Cache(
        "the outcome of transactions",
        "Xact",
        "transaction_buffers",
        "Rows are read for the first time after a load, or of very old transactions: VACUUM the tables that were "
        "loaded, so that later readers need not look, and end transactions that stay open for long.",
    ),
    "Serial": Cache(
        "conflicts of serializable transactions",
        "Serial",
        "serializable_buffers",
        "A serializable transaction stays open while many others end: end it; READ ONLY DEFERRABLE for reports.",
    ),
}
"""By the name of PostgreSQL 13 to 16; 17 has other names for the same."""
NOBODY_WAITS: Final = Evidence("session", f"event = '{WAIT}'", "no wait for it", "", "it may cost CPU time alone")
NEWER: Final = {
    "subtransaction": "Subtrans",
    "multixact_member": "MultiXactMember",
    "multixact_offset": "MultiXactOffset",
    "transaction": "Xact",
    "serializable": "Serial",
}


@cause(explains=("statement_slower_than_before", "statement_dominates"))
def transaction_status_read(case: Case) -> Iterator[Claim]:
    """Transaction status (SLRU) is looked up so often that its small cache does not hold it.

    Looks like: `blks_hit` and `blks_read` of one row of pg_stat_slru grow by thousands a second, where both nearly
        stand still on a healthy server; waits SLRURead, SubtransSLRU, SubtransBuffer, MultiXactMemberSLRU and the like.
        All that read recently changed rows become several times slower at once, with the same plans and blocks.
    Hurts because: each row that was changed lately costs a look-up, and of what is not in the cache (32 pages before
        PostgreSQL 17) a page is read under a lock that all share.
    Speaks for it: pages read and looked up a second; what sessions wait for; the oldest open transaction.
    Speaks against it: no session waits for it: it may cost CPU time alone, or next to nothing.
    Remedy: Find what makes them necessary. From PostgreSQL 17 on the caches can be made larger, which needs a restart:
        that helps, and does not heal.
    Verify: blks_read and blks_hit of that row in pg_stat_slru stand still again, and the statements are as quick as
        before.
    Source: PostgreSQL documentation, "pg_stat_slru", "Subtransactions" and "Wait Events"; GitLab, "Why we spent the
        last month eliminating PostgreSQL subtransactions", 2021.
    """
    read, hit = ({(one.db, one.entity): one.mean for one in case.figures(name)} for name in (READ, HIT))
    for key in sorted({*read, *hit}, key=lambda key: (-read.get(key, 0.0), str(key))):
        db, name = key
        cache, reads, lookups = CACHES.get(NEWER.get(name or "", name or "")), read.get(key, 0.0), hit.get(key, 0.0)
        if cache is None or (reads < MANY_READS and lookups + reads < MANY_LOOKUPS):
            continue
        events = [WAIT, *sorted({one.event for one in case.time.shares if one.event.startswith(cache.events)})]
        part = share(case, *events)
        waiting = _waiting(case, events, part)
        yield Claim(
            phrase("{:,.0f} look-ups a second of {}, {:,.0f} of them read from a file (SLRU {})", lookups + reads,
                   cache.holds, reads, name),
            impact=measured(part) if waiting else NOT_MEASURED,
            severity=None if waiting and case.worth_saying(part) else "warning",
            confidence=0.85 if waiting else 0.6,
            for_=[
                _told(READ, name, reads, MANY_READS, "the cache holds too little of it"),
                _told(HIT, name, lookups, MANY_LOOKUPS, "next to none on a healthy server"),
                *waiting,
                *_oldest(case, db),
            ],
            against=[] if waiting else [NOBODY_WAITS],
            remedy=(cache.remedy, phrase("PostgreSQL 17 and newer: {}, with a restart.", cache.setting)),
            database=db,
        )  # fmt: skip


def _told(name: str, entity: str | None, per_s: float, limit: float, why: Words) -> Evidence:
    where = f"name = '{name}' and entity = '{entity}'"
    return Evidence("statistic", where, phrase("{:,.0f pages/s}", per_s), phrase("{:,.0f}", limit), why, "at_least")


def _waiting(case: Case, events: list[str], part: float) -> list[Evidence]:
    """The part of the time that sessions wait for it; nothing below a hundredth."""
    if part < WORTH_NAMING_SHARE:
        return []
    where = f"event in ({', '.join(repr(event) for event in events)})"
    table = "wait" if case.active.is_empty() else "session"
    limit = phrase("{:share}", WORTH_SAYING_SHARE)
    return [Evidence(table, where, phrase("{:share of database}", part), limit, "waited for it", "at_least")]


def _oldest(case: Case, db: str | None) -> list[Evidence]:
    """Who keeps old transactions in sight: the oldest open one."""
    return [holder.evidence for holder in holders(case) if holder.db == db][:1]
