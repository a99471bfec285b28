"""Sequences that end, and that give numbers which their columns have already."""

from collections.abc import Iterator

from doctord.analyse.errors import LOGGED, failures, logged
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.common.failures import OFTEN
from doctord.diagnose.finding import NONE_YET, NOT_MEASURED, Claim, Evidence
from doctord.diagnose.phrase import phrase

SEQUENCE, BEHIND, DUPLICATE = "pg_sequences.used_pct", "pg_sequences.behind", "23505"
# At the pace of a whole life: a year used three quarters, four months are left.
NEAR_PCT, AT_END_PCT = 75.0, 95.0
MOST_NAMED = 5


@cause()
def sequence_near_end(case: Case) -> Iterator[Claim]:
    """A sequence comes near the largest number that it, or its column, can hold.

    Looks like: last_value of pg_sequences above three quarters of max_value, or of what an integer or smallint column
        takes.
    Hurts because: at the end every insert that asks for a number fails, all at once, and to change the column's type
        rewrites the table.
    Speaks for it: the share used.
    Speaks against it: a sequence that hardly moves.
    Remedy: Change column and sequence to bigint before: a new column, filled in portions and swapped in, or ALTER TABLE
        in a maintenance window (it locks and rewrites). As a stopgap, negative numbers: ALTER SEQUENCE ... MINVALUE
        -2147483648 RESTART WITH -2147483648.
    Verify: The share used is small.
    Source: PostgreSQL documentation, pg_sequences, CREATE SEQUENCE, "Numeric Types" (integer, bigint).
    """
    for db in case.dbs:
        full = [one for one in case.figures(SEQUENCE) if one.db == db and one.last >= NEAR_PCT]
        if not full:
            continue
        worst = max(full, key=lambda one: one.last)
        yield Claim(
            phrase("Sequence {} has used {:.0f %} of its numbers", worst.entity, worst.last),
            impact=NONE_YET,
            confidence=0.95,
            severity="critical" if worst.last >= AT_END_PCT else "warning",
            for_=[
                Evidence("statistic", f"name = '{SEQUENCE}' and entity = '{one.entity}'",
                         phrase("{:.1f %} used", one.last), phrase("{:.0f %}", NEAR_PCT), one.entity or "", "at_least")
                for one in sorted(full, key=lambda one: -one.last)[:MOST_NAMED]
            ],
            database=db,
        )  # fmt: skip


@cause(explains=("transactions_fail", "errors_logged", "rollbacks_many"))
def sequence_behind_column(case: Case) -> Iterator[Claim]:
    """A sequence is behind the largest value of its column: the numbers that it gives next may be taken already.

    Looks like: an insert without its own number fails with "duplicate key value violates unique constraint" (23505),
        again and again, and each time with the next number.
    Hurts because: after a restore, a load with numbers of its own, or a switch to a logical replica (sequences are not
        replicated) the sequence stands where it stood; each insert fails until it has passed the largest number.
    Speaks for it: the largest value at the last ANALYZE beside the sequence's last one; duplicate keys in the log.
    Speaks against it: no duplicate key so far: numbers that were given by hand may lie far apart.
    Remedy: select setval(pg_get_serial_sequence('table', 'column'), (select max(column) from table)); then find who
        gives numbers by hand: GENERATED ALWAYS AS IDENTITY refuses them. Before a switch to a replica, set all
        sequences.
    Verify: No new 23505 for that key; the sequence's last value is the column's largest, or more.
    Source: PostgreSQL documentation, "Sequence Manipulation Functions" (setval), "Logical Replication: Restrictions"
        (sequence data is not replicated), CREATE TABLE (GENERATED AS IDENTITY), pg_stats.
    """
    for db in case.dbs:
        behind = [one for one in case.figures(BEHIND) if one.db == db and one.last > 0]
        if not behind:
            continue
        duplicates = [one for one in failures(logged(case.dataset)) if one.db == db and one.state == DUPLICATE]
        count = sum(one.count for one in duplicates)
        yield Claim(
            phrase("Sequence {} is {:,.0f} behind its column{}", behind[0].entity, behind[0].last,
                   phrase(": {:,.0f} duplicate keys", count) if count >= OFTEN else ""),
            impact=NOT_MEASURED if count >= OFTEN else NONE_YET,
            confidence=0.85 if count >= OFTEN else 0.5,
            severity="warning" if count >= OFTEN else "note",
            for_=[
                *(Evidence("statistic", f"name = '{BEHIND}' and entity = '{one.entity}'",
                           phrase("{:,.0f} behind", one.last), "", one.entity or "") for one in behind[:MOST_NAMED]),
                *(Evidence("statistic", f"name = '{LOGGED}' and entity = '{one.entity}'",
                           phrase("{:,.0f} times", one.count), "", one.message) for one in duplicates[:MOST_NAMED]),
            ],
            against=[] if duplicates else [
                Evidence("statistic", f"name = '{LOGGED}' and db = '{db}'", "no duplicate key", "",
                         "the numbers that come next may be free"),
            ],
            database=db,
        )  # fmt: skip
