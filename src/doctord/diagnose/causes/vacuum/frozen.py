"""What keeps the oldest transaction id, or multixact, of a database from being frozen: a relation, and who holds it."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from doctord.analyse.figures import Statistic
from doctord.analyse.freezing import AGES, Number, Oldest, oldest
from doctord.diagnose.case import Case
from doctord.diagnose.causes.vacuum.horizon import Holder, holders
from doctord.diagnose.finding import Evidence, NotMeasured
from doctord.diagnose.phrase import Words, phrase

# A relation that is so much (0 to 1) of the database's age is what makes it so old; another is not, and the database's
# own mark is behind its relations.
AS_OLD: Final = 0.9
# A snapshot that has been there for so much of the age: what was older a vacuum could have frozen meanwhile.
LONG_HELD: Final = 0.5
MOST_TOLD: Final = 3
SCANNED: Final = "pg_stat_progress_vacuum.heap_blks_scanned"
TOTAL: Final = "pg_stat_progress_vacuum.heap_blks_total"
ASK: Final = (
    "in that database: select oid::regclass, relpersistence, age(relfrozenxid), mxid_age(relminmxid) from pg_class "
    "where relkind in ('r', 'm', 't') order by 3 desc limit 5; beside it pg_prepared_xacts, pg_replication_slots "
    "(xmin), and backend_xmin in pg_stat_activity"
)
UNSEEN: Final = NotMeasured("which relation is the oldest, and who holds it", "it was not looked for", ASK)
THE_SESSION: Final = NotMeasured(
    "whose session the temporary table is",
    "before version 16 the server tells the number in the name of its schema (pg_temp_N) of sessions in a transaction",
    "select pid from pg_locks where virtualtransaction like 'N/%', while it is at work; from 16 on: select "
    "pg_stat_get_backend_pid(N); else its open files base/*/tN_*: lsof, as root; or the longest connected ones",
)


class Hold(NamedTuple):
    """What holds a database's oldest number: in a few words for a title (empty: not known), and all that is known."""

    words: Words = ""
    for_: Sequence[Evidence] = ()
    against: Sequence[Evidence] = ()
    not_measured: Sequence[NotMeasured] = ()
    steps: Sequence[Words] = ()


def hold(case: Case, database: Statistic, number: Number = "xid") -> Hold:
    """What holds the oldest number of a database, given by the figure of its age."""
    known = oldest(case.dataset, database.db, database.entity or "", number)
    first = known[0] if known and known[0].age >= AS_OLD * database.last else None
    told = [_relation(one, database, number) for one in known[:MOST_TOLD]]
    snapshot = _snapshot(case, database)
    if first is not None and first.is_temporary:
        return _temporary(first, database, told)
    against, unseen = _progress(case, database, first), [] if known else [UNSEEN]
    if snapshot is not None:
        end = phrase("First: end {}: no vacuum freezes what it may still see.", snapshot.who)
        held = phrase("; {} holds it", snapshot.who)
        return Hold(held, [snapshot.evidence, *told], against, unseen, (end, *_vacuum(first)))
    words: Words = phrase("; no vacuum has come to {}", first.name) if first else ""
    return Hold(words, [*told, *_off(case, database)], against, unseen, _vacuum(first))


def _snapshot(case: Case, database: Statistic) -> Holder | None:
    """Who holds a snapshot that was taken long ago, as transactions count, and counts for this database."""
    for holder in holders(case):
        is_here = holder.db == database.db and holder.database in (None, database.entity)
        if is_here and not holder.is_of_catalogues and holder.transactions >= LONG_HELD * database.last:
            return holder
    return None


def _temporary(first: Oldest, database: Statistic, told: Sequence[Evidence]) -> Hold:
    """Of a temporary table its own session alone can freeze or drop the rows; autovacuum passes it by."""
    whose: Words = "of a session that is not known"
    end = phrase("First: find the session of {}, and end it", first.name)
    if first.session is not None:
        whose = phrase("of session {} ({})", first.session, first.who)
        end = phrase("First: end session {} ({}) with select pg_terminate_backend({})", first.session, first.who,
                     first.session)  # fmt: skip
    words = phrase("; {} {} {} holds it", first.kind, first.name, whose)
    steps = (
        phrase("{}, or have it drop or vacuum the table: no other session can, autovacuum and a VACUUM of the database "
               "pass it by.", end),
        phrase("Then: VACUUM any table of {}, so that the age of the database is worked out anew.", database.entity),
        "Have the pool end its sessions from time to time, or discard what they leave: DISCARD TEMP.",
    )  # fmt: skip
    return Hold(words, told, (), [] if first.session is not None else [THE_SESSION], steps)


def _relation(one: Oldest, database: Statistic, number: Number) -> Evidence:
    whose = phrase(" of session {} ({})", one.session, one.who) if one.session is not None else ""
    is_it = one.age >= AS_OLD * database.last
    return Evidence(
        "statistic",
        f"name = '{AGES[number]}' and entity = '{database.entity}.{one.name}'",
        phrase("age {:,.0f}: {} {}{}", one.age, one.kind, one.name, whose),
        phrase("{:,.0f}", AS_OLD * database.last),
        "as old as the database" if is_it else "younger than the database",
        "at_least",
    )


def _vacuum(first: Oldest | None) -> tuple[Words, ...]:
    """How to vacuum, by the documentation's own words of what not to do."""
    what = phrase("VACUUM {}", first.name) if first else "VACUUM the oldest tables of that database"
    return (
        phrase("{}, as its owner or a superuser: neither FULL, which takes a transaction id itself, nor FREEZE, which "
               "does more than is needed; single-user mode is not needed. What it fails with, the log says.", what),
    )  # fmt: skip


def _off(case: Case, database: Statistic) -> list[Evidence]:
    if case.setting("autovacuum", database.db) != "off":
        return []
    why = "tables are vacuumed in spite of that once they are as old as autovacuum_freeze_max_age, and no sooner"
    return [Evidence("setting", "name = 'autovacuum'", "autovacuum = off", "", why)]


def _progress(case: Case, database: Statistic, first: Oldest | None) -> list[Evidence]:
    """That the oldest relation is being vacuumed right now."""
    if first is None or first.oid is None:
        return []
    entity = f"{database.entity} {first.oid}"
    scanned, total = (case.figure(name, database.db, entity) for name in (SCANNED, TOTAL))
    if not scanned or not total or not total.last:
        return []
    figure = phrase("{:share} of {} is vacuumed", scanned.last / total.last, first.name)
    return [Evidence("statistic", f"name = '{SCANNED}' and entity = '{entity}'", figure, "", "it is being frozen")]
