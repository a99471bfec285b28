"""Partitioned tables: whether a statement looks into those partitions alone that can hold its rows."""

from collections.abc import Iterator
from typing import NamedTuple

from doctord.analyse.figures import Statistic
from doctord.analyse.sql.conditions import Condition, condition
from doctord.analyse.sql.dependencies import bare, names
from doctord.analyse.sql.statements import Statement
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.common.scans import per_call
from doctord.diagnose.common.slowed import OFTEN_PER_S, is_slowed, on_cpu_ms, severity
from doctord.diagnose.finding import Claim, Evidence, measured
from doctord.diagnose.phrase import Words, listed, phrase
from doctord.diagnose.words import shortened

LEAVES, SCANNED, SCANS, LEAST = (
    f"pg_partition_tree.{name}" for name in ("leaves", "leaves_scanned", "scans", "least_scans")
)
# Fewer are planned and looked into in a millisecond or two.
MANY_LEAVES = 10.0
EXPRESSION = "(expression)"
# Half the scans that statements on the table could have made of the partition that was scanned least.
MATCHED = 0.5


class Unpruned(NamedTuple):
    """A partitioned table of which all partitions are scanned: by what columns it is divided, and what statement asks.

    `on` are the columns that the statement's condition compares as they are; null where its text cannot be parsed.
    """

    figure: Statistic
    leaves: float
    strategy: str
    key: tuple[str, ...]
    statement: Statement
    on: Condition | None

    @property
    def table(self) -> str:
        """The partitioned table with its schema."""
        return (self.figure.entity or "").partition(".")[2]

    @property
    def names_key(self) -> bool | None:
        """Whether the condition compares a column of the key by itself; null where that cannot be told."""
        if self.on is None or not self.key or EXPRESSION in self.key:
            return None
        wanted = self.on.equal if self.strategy == "hash" else self.on.columns
        return bool(wanted & {*self.key})


@cause(
    explains=(
        "planning_slow",
        "missing_index",
        "index_not_used",
        "few_rows_of_many_blocks",
        "statement_dominates",
        "cpu_saturated",
        "cpu_few_statements",
    )
)
def partitions_not_pruned(case: Case) -> Iterator[Claim]:
    """A statement looks into every partition of a table, again and again.

    Looks like: a partitioned table, the least scanned partition of which is scanned as often as the statement is
        called; calls of tens of milliseconds of which the execution is only a part: the rest is planning.
    Hurts because: each call plans, locks and opens all partitions and their indexes, be they empty; the more partitions
        are added, the slower it gets. Beyond sixteen locks a backend leaves the fast path, and all share the lock
        manager's tables.
    Speaks for it: scans of every partition at the pace of the calls; a condition that does not compare the partition
        key, or does so within a function or a cast.
    Speaks against it: a condition on the key as it is: then the value is of another type, or comes out of a join.
    Remedy: Have the condition compare the key's column itself, with values of its type: `at >= day and at < day + 1`
        in place of `at::date = day` or `date_trunc('day', at) = day`. Where statements never know the key, divide the
        table by what they know, or into fewer partitions. enable_partition_pruning stays on.
    Verify: explain shows the partitions that are meant alone (or "Subplans Removed"); the other partitions' scans stop.
    Source: PostgreSQL documentation, "Partition Pruning" and "Best Practices for Declarative Partitioning".
    """
    for figure in case.figures(LEAST):
        found = _unpruned(case, figure)
        if found is None:
            continue
        one, part = found.statement, 1 - 1 / found.leaves
        slowed = is_slowed(one, part, max(one.elapsed_ms or 0.0, on_cpu_ms(case, one) or 0.0))
        if slowed or case.worth_saying(one.share * part):
            yield _claim(case, found, one.share * part, slowed=slowed)


def _claim(case: Case, found: Unpruned, share: float, *, slowed: bool) -> Claim:
    one = found.statement
    return Claim(
        phrase("All {:,.0f} partitions of {} are looked into at each call of one statement", found.leaves, found.table),
        impact=measured(share),
        confidence=0.6 if found.names_key else 0.75 if found.names_key is None else 0.95,
        severity=severity(case, share, slowed=slowed),
        for_=[
            Evidence("statistic", f"name = '{LEAST}' and entity = '{found.figure.entity}'",
                     phrase("{:.1f scans/s} of the partition that is scanned least", found.figure.mean),
                     phrase("{:.1f}", OFTEN_PER_S), phrase("none of {:,.0f} is left out", found.leaves), "at_least"),
            Evidence("statement", f"statement_id = '{one.statement_id}'", listed(per_call(one), _ahead(case, one)), "",
                     shortened(one.text or "")),
            *([] if found.names_key else [_key(found, "its condition does not compare that column as it is"
                                               if found.names_key is False else "what it compares cannot be told")]),
        ],
        against=[_key(found, "its condition compares it: is the value of the same type?")] if found.names_key else [],
        first_steps=[phrase("First: add a condition on {} to the statement, on the column itself.",
                            listed(*found.key, by=" and "))] if found.names_key is False else [],
        database=found.figure.db,
    )  # fmt: skip


def _unpruned(case: Case, figure: Statistic) -> Unpruned | None:
    """The statement that takes most of the time of those that may look into all partitions; null without any."""
    leaves = next((it.last for it in case.figures(LEAVES) if (it.db, it.entity) == (figure.db, figure.entity)), 0.0)
    if leaves < MANY_LEAVES or figure.mean < OFTEN_PER_S:
        return None
    table = (figure.entity or "").rpartition(".")[2]
    strategy, key = _divided(case, figure)
    asking = [
        Unpruned(figure, leaves, strategy, key, one, condition(one.text or "", table))
        for one in case.statements
        if one.db == figure.db and one.calls_per_s and bare(table) in names(one.text or "") and not _only_adds(one)
    ]
    participants = 1 + float(case.setting("max_parallel_workers_per_gather", figure.db) or 0.0)  # each counts its scans
    if participants * sum(it.statement.calls_per_s or 0.0 for it in asking) < MATCHED * figure.mean:
        return None  # a view or a function has it: whose call that is, cannot be told from here
    return min(asking, key=lambda it: it.names_key is True, default=None)


def _only_adds(one: Statement) -> bool:
    return (one.text or "").lstrip().lower().startswith(("insert", "copy"))


def _divided(case: Case, figure: Statistic) -> tuple[str, tuple[str, ...]]:
    """How a table is divided (range, list, hash), and by which columns; empty where that was not told."""
    rows = case.dataset.frame("setting").filter(component="pg_partitioned_table", db=figure.db, name=figure.entity)
    strategy, _, columns = str(rows["value"].last() if rows.height else "").partition(" ")
    return strategy, tuple(column for column in columns.strip("()").split(", ") if column)


def _key(found: Unpruned, why: str) -> Evidence:
    where = f"component = 'pg_partitioned_table' and name = '{found.figure.entity}'"
    told = phrase("divided by {} of {}", found.strategy, ", ".join(found.key)) if found.key else "its key is not told"
    return Evidence("setting", where, told, "", why)


def _ahead(case: Case, one: Statement) -> Words:
    """How long a call is on a CPU besides its execution."""
    each, ran = on_cpu_ms(case, one), one.elapsed_ms
    return phrase("{:.1f ms} more on a CPU besides: planning", each - ran) if each and ran and each > 2 * ran else ""
