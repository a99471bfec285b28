"""Sequences that end, and that give numbers which their columns have already."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from doctord.analyse.errors import LOGGED, Logged, failures, logged
from doctord.analyse.figures import Statistic
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.common.failures import OFTEN
from doctord.diagnose.finding import NONE_YET, NOT_MEASURED, Claim, Evidence
from doctord.diagnose.phrase import phrase

SEQUENCE, BEHIND, DUPLICATE = "pg_sequences.used_pct", "pg_sequences.behind", "23505"
OF_KEY = " of "  # what stands between a sequence and the unique index of its column
# At the pace of a whole life: a year used three quarters, four months are left.
NEAR_PCT, AT_END_PCT = 75.0, 95.0
MOST_NAMED = 5


class Behind(NamedTuple):
    """A sequence, how many numbers it is behind its column, and the messages of duplicate keys there."""

    sequence: str
    numbers: float
    duplicates: Sequence[Logged]

    @property
    def failures(self) -> float:
        """How many duplicate keys there were."""
        return sum(one.count for one in self.duplicates)


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


@cause()
def sequence_behind_column(case: Case) -> Iterator[Claim]:
    """A sequence is behind the largest value of its column: the numbers that it gives next may be taken already.

    Looks like: an insert without its own number fails with "duplicate key value violates unique constraint" (23505),
        again and again, and each time with the next number.
    Hurts because: after a restore, a load with numbers of its own, or a switch to a logical replica (sequences are not
        replicated) the sequence stands where it stood; each insert fails until it has passed the largest number.
    Speaks for it: the largest value at the last ANALYZE beside the sequence's last one; duplicate keys of that
        column's index in the log.
    Speaks against it: no duplicate key of it so far: numbers that were given by hand may lie far apart.
    Remedy: select setval(pg_get_serial_sequence('table', 'column'), (select max(column) from table)); then find who
        gives numbers by hand: GENERATED ALWAYS AS IDENTITY refuses them. Before a switch to a replica, set all
        sequences.
    Verify: No new 23505 for that key; the sequence's last value is the column's largest, or more.
    Source: PostgreSQL documentation, "Sequence Manipulation Functions" (setval), "Logical Replication: Restrictions"
        (sequence data is not replicated), CREATE TABLE (GENERATED AS IDENTITY), pg_stats.
    """
    for db in case.dbs:
        behind = [_behind(case, one) for one in case.figures(BEHIND) if one.db == db and one.last > 0]
        if not behind:
            continue
        first, *_ = behind = sorted(behind, key=lambda one: (-one.failures, -one.numbers, one.sequence))
        is_met = first.failures >= OFTEN
        yield Claim(
            phrase("Sequence {} is {:,.0f} behind its column{}", first.sequence, first.numbers,
                   phrase(": {:,.0f} duplicate keys", first.failures) if is_met else ""),
            impact=NOT_MEASURED if is_met else NONE_YET,
            confidence=0.85 if is_met else 0.5,
            severity="warning" if is_met else "note",
            for_=[
                *(Evidence("statistic", f"name = '{BEHIND}' and entity like '{one.sequence} %'",
                           phrase("{:,.0f} behind", one.numbers), "", one.sequence) for one in behind[:MOST_NAMED]),
                *(Evidence("statistic", f"name = '{LOGGED}' and entity = '{each.entity}'",
                           phrase("{:,.0f} times", each.count), "", each.message) for each in first.duplicates),
            ],
            against=[] if first.duplicates else [
                Evidence("statistic", f"name = '{LOGGED}' and db = '{db}'", "no duplicate key of this column", "",
                         "the numbers that come next may be free"),
            ],
            explains=("transactions_fail", "errors_logged", "rollbacks_many") if is_met else (),
            database=db,
        )  # fmt: skip


def _behind(case: Case, figure: Statistic) -> Behind:
    """A sequence, with the duplicate keys of its own column: others are what an application may expect."""
    sequence, _, key = (figure.entity or "").partition(OF_KEY)
    duplicates = [
        one
        for one in failures(logged(case.dataset))
        if one.db == figure.db and one.state == DUPLICATE and key and f'"{key}"' in one.message
    ]
    return Behind(sequence, figure.last, duplicates)
