"""Transaction status (SLRU): the server's own small caches, in which old transactions are looked up."""

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from doctord.diagnose.case import WORTH_SAYING_SHARE, Case
from doctord.diagnose.cause import cause
from doctord.diagnose.causes.vacuum.horizon import holders
from doctord.diagnose.common.by_server import of_events
from doctord.diagnose.common.waited import WORTH_NAMING_SHARE, share
from doctord.diagnose.evidence import Sign, weigh
from doctord.diagnose.finding import NOT_MEASURED, WARNING_SHARE, Claim, Evidence, Severity, measured
from doctord.diagnose.phrase import phrase

HIT, READ = "pg_stat_slru.blks_hit", "pg_stat_slru.blks_read"
WAIT: Final = "SLRURead"
# A page read out of the kernel's cache, under the lock of the whole SLRU, takes microseconds: a hundredth of a CPU.
MANY_READS: Final = 1000.0
# Each is a lock and a look into memory, some tenths of a microsecond: from here on a few hundredths of a CPU.
MANY_LOOKUPS: Final = 100_000.0
# What they take of a CPU at the least, while nobody stands in another's way.
LOOKUP_S, READ_S = 0.3e-6, 10e-6
# The outcome of a transaction is looked up by the first who meets each of its row versions: 8 to 18 times for each
# transaction of pgbench (PostgreSQL 15, 2 to 32 clients, scale 10), which is 100,000 a second at 6,000 of them.
LOOKUPS_OF_ONE: Final = 50.0
ENDED: Final = ("pg_stat_database.xact_commit", "pg_stat_database.xact_rollback")


class Cache(NamedTuple):
    """One of these caches: what it holds, its setting from version 17 on, and a remedy."""

    holds: str
    setting: str
    remedy: str


SUBTRANSACTIONS: Final = Cache(
    "the parents of subtransactions",
    "subtransaction_buffers",
    "A transaction with more than 64 subtransactions (savepoints, EXCEPTION blocks of PL/pgSQL, a driver that sets a "
    "savepoint for each statement) makes all others look up who belongs to whom, for as long as it is open: end it, "
    "and commit after fewer of them. PostgreSQL 16 tells whose they are: pg_stat_get_backend_subxact().",
)
MULTIXACTS: Final = Cache(
    "who shares a row lock",
    "multixact_member_buffers and multixact_offset_buffers",
    "Many transactions lock the same rows at once: foreign keys to the same few parents, SELECT FOR SHARE. Shorter "
    "transactions, and no FOR SHARE where a plain SELECT does.",
)
OUTCOMES: Final = "Xact"
SYMPTOMS: Final = ("statement_slower_than_before", "statement_dominates")
CACHES: Final = {
    "Subtrans": SUBTRANSACTIONS,
    "MultiXactMember": MULTIXACTS,
    "MultiXactOffset": MULTIXACTS,
    OUTCOMES: Cache(
        "the outcome of transactions",
        "transaction_buffers",
        "Rows are read for the first time after a load, or of very old transactions: VACUUM the tables that were "
        "loaded, so that later readers need not look, and end transactions that stay open for long.",
    ),
    "Serial": Cache(
        "conflicts of serializable transactions",
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
    "transaction": OUTCOMES,
    "serializable": "Serial",
}


class Used(NamedTuple):
    """How a cache of one server is used: its name of before version 17, pages looked up and read a second.

    `is_read_most`: of the server's caches it is the one that waits for reads are about.
    """

    db: str | None
    entity: str
    name: str
    lookups: float
    reads: float
    is_read_most: bool

    @property
    def cache(self) -> Cache:
        """Which it is."""
        return CACHES[self.name]

    @property
    def seconds_per_second(self) -> float:
        """What that takes of a CPU at the least."""
        return self.lookups * LOOKUP_S + self.reads * READ_S


@cause()
def transaction_status_read(case: Case) -> Iterator[Claim]:
    """Transaction status (SLRU) is looked up so often that its small cache does not hold it.

    Looks like: `blks_hit` and `blks_read` of one row of pg_stat_slru grow by thousands a second, where both nearly
        stand still on a healthy server; waits SLRURead, SubtransSLRU, SubtransBuffer, MultiXactMemberSLRU and the like.
        All that read recently changed rows become several times slower at once, with the same plans and blocks.
    Hurts because: each row that was changed lately costs a look-up, and of what is not in the cache (32 pages before
        PostgreSQL 17) a page is read under a lock that all share.
    Speaks for it: pages read and looked up a second; what sessions wait for; the oldest open transaction.
    Speaks against it: no session waits for it: it may cost CPU time alone, or next to nothing; of the outcome of
        transactions so few look-ups for each transaction as there are on any busy server.
    Remedy: Find what makes them necessary. From PostgreSQL 17 on the caches can be made larger, which needs a restart:
        that helps, and does not heal.
    Verify: blks_read and blks_hit of that row in pg_stat_slru stand still again, and the statements are as quick as
        before.
    Source: PostgreSQL documentation, "pg_stat_slru", "Subtransactions" and "Wait Events"; GitLab, "Why we spent the
        last month eliminating PostgreSQL subtransactions", 2021.
    """
    for used in _used(case):
        part = _waited(case, used)
        waiting = _waiting(case, used, part)
        cost = max(part, used.seconds_per_second / (case.time.seconds_per_second or 1.0))
        yield Claim(
            phrase("{:,.0f} look-ups a second of {}, {:,.0f} of them read from a file (SLRU {})", used.lookups,
                   used.cache.holds, used.reads, used.entity),
            impact=measured(part) if waiting else NOT_MEASURED,
            severity=None if waiting and case.worth_saying(part) else _severity(case, cost),
            confidence=0.85 if waiting else 0.6,
            for_=[
                *weigh(_signs(used))[0],
                *waiting,
                *_oldest(case, used.db),
            ],
            against=[] if waiting else [NOBODY_WAITS],
            remedy=(used.cache.remedy, phrase("PostgreSQL 17 and newer: {}, with a restart.", used.cache.setting)),
            explains=SYMPTOMS if cost >= WARNING_SHARE else (),
            database=used.db,
        )  # fmt: skip


def _severity(case: Case, cost: float) -> Severity:
    """A warning where it takes a part of the time that is worth saying, or nobody knows how much time there is."""
    return "warning" if not case.is_time_measured or case.worth_saying(cost) else "note"


def _used(case: Case) -> list[Used]:
    """The caches that are used much, the one that is read most first."""
    read, hit = ({(one.db, one.entity or ""): one.mean for one in case.figures(name)} for name in (READ, HIT))
    known = {(db, entity): name for db, entity in {**read, **hit} if (name := NEWER.get(entity, entity)) in CACHES}
    found = [
        Used(*key, name, hit.get(key, 0.0) + read.get(key, 0.0), read.get(key, 0.0), _is_read_most(key, known, read))
        for key, name in known.items()
    ]
    much = [one for one in found if one.reads >= MANY_READS or _is_looked_up_much(case, one)]
    return sorted(much, key=lambda one: (-one.reads, str(one.db), one.entity))


def _is_read_most(
    key: tuple[str | None, str],
    known: Mapping[tuple[str | None, str], str],
    read: Mapping[tuple[str | None, str], float],
) -> bool:
    return read.get(key, 0.0) > 0 and key == max(
        (other for other in known if other[0] == key[0]), key=lambda other: read.get(other, 0.0)
    )


def _is_looked_up_much(case: Case, used: Used) -> bool:
    """Whether there are more look-ups than the transactions of a busy server take by themselves."""
    if used.lookups < MANY_LOOKUPS:
        return False
    ended = sum(case.total(name, used.db) or 0.0 for name in ENDED)
    return used.name != OUTCOMES or not ended or used.lookups >= LOOKUPS_OF_ONE * ended


def _events(case: Case, used: Used) -> list[str]:
    """The waits for this cache, and those for reads where it is the one that is read."""
    own = {
        one.event
        for one in case.time.shares
        if one.event.startswith(used.name) and one.event.endswith(("SLRU", "Buffer"))
    }
    return [*([WAIT] if used.is_read_most else []), *sorted(own)]


def _waited(case: Case, used: Used) -> float:
    """Share (0 to 1) of the time that sessions of this server wait for it."""
    events = _events(case, used)
    return share(case, *events) if case.active.is_empty() else of_events(case, *events).get(used.db or "", 0.0)


def _signs(used: Used) -> list[Sign]:
    of = f"and entity = '{used.entity}'" + ("" if used.db is None else f" and db = '{used.db}'")
    found = used.lookups - used.reads
    return [
        Sign("statistic", f"name = '{READ}' {of}", used.reads, MANY_READS, "{:,.0f pages/s} read",
             "the cache holds too little of it"),
        Sign("statistic", f"name = '{HIT}' {of}", found, MANY_LOOKUPS, "{:,.0f pages/s} looked up",
             "far fewer on a healthy server"),
    ]  # fmt: skip


def _waiting(case: Case, used: Used, part: float) -> list[Evidence]:
    """The part of the time that sessions wait for it; nothing below a hundredth."""
    if part < WORTH_NAMING_SHARE:
        return []
    where = f"event in ({', '.join(repr(event) for event in _events(case, used))})"
    table = "wait" if case.active.is_empty() else "session"
    limit = phrase("{:share}", WORTH_SAYING_SHARE)
    return [Evidence(table, where, phrase("{:share of database}", part), limit, "waited for it", "at_least")]


def _oldest(case: Case, db: str | None) -> list[Evidence]:
    """Who keeps old transactions in sight: the oldest open one."""
    return [holder.evidence for holder in holders(case) if holder.db == db][:1]
