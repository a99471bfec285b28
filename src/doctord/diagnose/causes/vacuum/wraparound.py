"""Transaction ids and multixacts that run out: how many are left, how long they last, and what holds the oldest."""

from collections.abc import Iterator

from doctord.analyse.figures import Statistic
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.causes.vacuum.frozen import hold
from doctord.diagnose.finding import NONE_YET, Claim, Evidence, Severity
from doctord.diagnose.phrase import Words, phrase

XIDS, MULTIXACTS = "pg_database.datfrozenxid_age", "pg_database.datminmxid_age"
PER_S, COMMITS = "pg_current_snapshot.xmax", "pg_stat_database.xact_commit"
# Half of the 2^31 numbers that may lie between the oldest and the newest: vacuum has failed for a long time.
ALARM = 1_000_000_000
# With 3 million left no more are given out; from 40 million on the server warns with each that it gives out.
STOPS, WARNED = 2**31 - 3_000_000, 40_000_000
# Twice the age at which autovacuum comes by itself: it came in vain. Where little time is left, that is soon enough.
FREEZES, IN_VAIN = 200_000_000, 2.0
DAY_S, WEEK_S = 86400.0, 7 * 86400.0
CENTURY_S = 100 * 365 * DAY_S


@cause()
def transaction_id_age(case: Case) -> Iterator[Claim]:
    """The oldest transaction id grows old: the server will stop taking writes.

    Looks like: `age(datfrozenxid)` far beyond autovacuum_freeze_max_age; from 40 million transactions before the end
        on the log warns "database ... must be vacuumed within ... transactions".
    Hurts because: with 3 million left (an age of about 2.1 billion) the server refuses every command that needs a new
        transaction id, in all its databases.
    Speaks for it: the age, what is left, and how long that lasts at the rate at which transaction ids are taken; which
        relation is the oldest, and what holds it: a temporary table, which its own session alone can vacuum, or an old
        snapshot, a slot, a prepared transaction.
    Speaks against it: a vacuum of that relation that is making progress.
    Remedy: What holds it first: end the session of a temporary table, the old transaction, the slot, the prepared
        transaction. Then VACUUM the oldest tables; single-user mode is not needed.
    Verify: age(datfrozenxid) falls.
    Source: PostgreSQL documentation, "Preventing Transaction ID Wraparound Failures", vacuum_failsafe_age,
        "Statistics Functions" (pg_stat_get_backend_idset).
    """
    for told in _oldest_of_each(case, XIDS):
        left, per_s = STOPS - told.last, case.total(PER_S, told.db)
        left_s = max(left, 0.0) / per_s if per_s else None
        if not _is_old(case, told, left_s):
            continue
        held = hold(case, told)
        yield Claim(
            phrase("{}{}", _left(told, left, left_s), held.words),
            impact=NONE_YET,
            severity=_severity(left, left_s, is_vacuumed=bool(held.against)),
            confidence=0.95,
            for_=[
                Evidence("statistic", _where(told), phrase("age {:,.0f}", told.last), phrase("{:,}", ALARM),
                         _lasts(case, told.db, left, left_s), "at_least"),
                *held.for_,
            ],
            against=held.against,
            not_measured=held.not_measured,
            remedy=held.steps,
            database=told.db,
        )  # fmt: skip


@cause()
def multixact_age(case: Case) -> Iterator[Claim]:
    """The oldest multixact grows old: the server will refuse row locks that several transactions share.

    Looks like: mxid_age(datminmxid) far beyond autovacuum_multixact_freeze_max_age, while age(datfrozenxid) may be
        small.
    Hurts because: at about 2.1 billion no new multixact is made: foreign keys' checks and SELECT ... FOR SHARE fail,
        and with them inserts; their members take many gigabytes under pg_multixact before, and have a limit of their
        own.
    Speaks for it: the age, against what there is in all; which relation is the oldest, and what holds it.
    Speaks against it: a vacuum of that relation that is making progress.
    Remedy: What holds it first: old transactions, prepared ones, slots, the session of a temporary table. Then VACUUM
        the tables with the oldest relminmxid (order by mxid_age(relminmxid)), and have fewer transactions lock the
        same row at once.
    Verify: mxid_age(datminmxid) falls.
    Source: PostgreSQL documentation, "Multixacts and Wraparound".
    """
    for told in (one for one in _oldest_of_each(case, MULTIXACTS) if one.last >= ALARM):
        left, held = STOPS - told.last, hold(case, told, "multixact")
        yield Claim(
            phrase("Database {} has {:,.0f} multixacts left{}", told.entity, max(left, 0.0), held.words),
            impact=NONE_YET,
            severity=_severity(left, None, is_vacuumed=bool(held.against)),
            confidence=0.95,
            for_=[
                Evidence("statistic", _where(told), phrase("age {:,.0f}", told.last), phrase("{:,}", ALARM), "",
                         "at_least"),
                *held.for_,
            ],
            against=held.against,
            not_measured=held.not_measured,
            remedy=(*held.steps, "Then: fewer transactions that lock the same row at once."),
            database=told.db,
        )  # fmt: skip


def _oldest_of_each(case: Case, name: str) -> list[Statistic]:
    """Of each server its oldest database: servers give out numbers of their own, each at its own rate."""
    found: dict[str | None, Statistic] = {}
    for one in sorted(case.figures(name), key=lambda figure: -figure.last):
        found.setdefault(one.db, one)
    return [*found.values()]


def _where(told: Statistic) -> str:
    of_db = "" if told.db is None else f" and db = '{told.db}'"
    return f"name = '{told.name}' and entity = '{told.entity}'{of_db}"


def _is_old(case: Case, told: Statistic, left_s: float | None) -> bool:
    """Whether vacuum has failed for long, or for a while on a server that has no week left."""
    if told.last >= ALARM:
        return True
    freezes = float(case.setting("autovacuum_freeze_max_age", told.db) or FREEZES)
    return told.last >= IN_VAIN * freezes and left_s is not None and left_s < WEEK_S


def _severity(left: float, left_s: float | None, *, is_vacuumed: bool) -> Severity:
    """Critical where the server itself warns of it, or less than a day is left and no vacuum is at it."""
    is_soon = left_s is not None and left_s < DAY_S and not is_vacuumed
    return "critical" if left <= WARNED or is_soon else "warning"


def _left(told: Statistic, left: float, left_s: float | None) -> Words:
    if left <= 0:
        return phrase("Database {} has no transaction ids left: what writes is refused", told.entity)
    if left_s is None or left_s > CENTURY_S:
        return phrase("Database {} has {:,.0f} transactions left before all that write are refused", told.entity, left)
    return phrase("In {:duration} all that write are refused: database {} has {:,.0f} transactions left", left_s,
                  told.entity, left)  # fmt: skip


def _lasts(case: Case, db: str | None, left: float, left_s: float | None) -> Words:
    """How long those that are left last; commits are more than take a transaction id."""
    left, commits = max(left, 0.0), case.total(COMMITS, db)
    if left_s is not None and left_s <= CENTURY_S:
        return phrase(
            "{:,.0f} are left: {:duration} at today's {:.1f} transaction ids per second",
            left,
            left_s,
            left / left_s if left_s else 0.0,
        )
    if left_s is None and commits and case.total(PER_S, db) is None:
        return phrase(
            "{:,.0f} are left: at the least {:,.0f} days at today's commits per second", left, left / commits / DAY_S
        )
    return phrase("{:,.0f} are left", left)
