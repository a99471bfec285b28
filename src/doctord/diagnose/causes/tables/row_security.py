"""Row-level security: policies that are checked before a statement's own conditions."""

from collections.abc import Iterator
from typing import Final

import polars as pl

from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.common.scans import Scan, evidence, scans, wants_much
from doctord.diagnose.common.slowed import severity
from doctord.diagnose.finding import Claim, Evidence, NotMeasured
from doctord.diagnose.phrase import Words, phrase

COMPONENT: Final = "pg_policy"
CALLS: Final = ", calls "
MOST_TOLD: Final = 3


@cause(
    explains=(
        "buffer_pool_small",
        "cpu_saturated",
        "cpu_few_statements",
        "few_rows_of_many_blocks",
        "index_not_used",
        "missing_index",
        "statement_dominates",
    )
)
def row_security_checked_first(case: Case) -> Iterator[Claim]:
    """A policy of row-level security is checked for every row of a table, before an index could find the few wanted.

    Looks like: a statement reads a whole large table again and again for a few rows, a policy of row-level security is
        in force on that table, and its own condition is by a function or an operator that an index serves.
    Hurts because: a condition may be evaluated before a policy only if its functions and operators are leakproof: most
        are not. Then no index serves it, and what the policy calls is called for every row of the table.
    Speaks for it: the policies of the table, and the functions that they call; the index that would serve.
    Speaks against it: a statement that wants much of the table. A superuser, the table's owner (unless FORCE ROW LEVEL
        SECURITY) and roles with BYPASSRLS are not held by policies: their statements are slow for another reason.
    Remedy: Write the policy so that it is cheap for each row: compare a column with what is found out once, such as
        team = ANY (ARRAY(SELECT ...)) or tenant = (SELECT current_setting(...)), in place of a function that is given
        a column; and an index on that column. A function that really gives nothing away, by errors neither, may be
        marked LEAKPROOF by a superuser.
    Verify: explain (analyze) as the role itself shows the index; seq_tup_read of the table stands still.
    Source: PostgreSQL documentation, "Row Security Policies", CREATE POLICY, CREATE FUNCTION (LEAKPROOF), "Rules and
        Privileges".
    """
    for scan in scans(case):
        policies = _policies(case, scan)
        if not policies or not _is_kept_out(scan):
            continue
        is_sure = scan.served.index is not None and scan.is_selective is True and not scan.is_aggregate
        yield Claim(
            phrase("{:share of database} reads all of table {}: its row-level security is checked before {}",
                   scan.statement.share, scan.table,
                   phrase("index {} may be used", scan.served.index.name) if scan.served.index
                   else "the statement's condition"),
            impact=scan.statement.share,
            confidence=0.85 if is_sure else 0.6,
            severity=severity(case, scan.statement.share, slowed=scan.slows),
            for_=[*evidence(scan), *_index(scan), *policies],
            against=wants_much(scan),
            not_measured=[_plan(case, scan)],
            first_steps=[_look(case, scan)],
            database=scan.figure.db,
        )  # fmt: skip
        return


def _is_kept_out(scan: Scan) -> bool:
    """Whether an index may serve, by something else than a plain comparison of a column: such operators are leakproof.

    Those of the usual types (pg_proc.proleakproof of texteq, int4eq and so on).
    """
    if scan.served.service == "none" or scan.way is not None:
        return False
    return scan.on is None or scan.served.column not in scan.on.columns


def _policies(case: Case, scan: Scan) -> list[Evidence]:
    rows = case.dataset.frame("setting").filter(
        (pl.col("component") == COMPONENT)
        & (pl.col("db") == scan.figure.db)
        & pl.col("name").str.starts_with(f"{scan.entity} ")
    )
    last = dict(rows.sort("ts", maintain_order=True).select("name", "value").iter_rows())
    told = [(name.removeprefix(f"{scan.entity} "), what) for name, what in sorted(last.items()) if what]
    return [
        Evidence("setting", f"component = '{COMPONENT}' and name = '{scan.entity} {name}'",
                 phrase("policy {}, {}", name, what), "",
                 "what it calls is called for each row" if CALLS in what else "it is checked for each row")
        for name, what in told[:MOST_TOLD]
    ]  # fmt: skip


def _index(scan: Scan) -> list[Evidence]:
    index, column = scan.served.index, scan.served.column
    if index is None:
        return []
    where = f"component = 'pg_index' and name = '{scan.entity} {index.name}'"
    why = "not a plain comparison of a column: seldom leakproof (pg_proc.proleakproof)"
    return [Evidence("setting", where, phrase("index {} would serve the condition on {}", index.name, column), "", why)]


def _role(case: Case, scan: Scan) -> str | None:
    """Who runs the statement most."""
    of = (pl.col("db") == scan.statement.db) & (pl.col("statement_id") == scan.statement.statement_id)
    users = case.dataset.frame("session").filter(of)["user"].drop_nulls()
    modes = users.mode().sort()
    return str(modes[0]) if modes.len() else None


def _plan(case: Case, scan: Scan) -> NotMeasured:
    role = _role(case, scan) or "the application's role"
    ask = f"set role {role}; explain (analyze, buffers) with its parameters: Filter names the policy's functions"
    return NotMeasured("the plan of the statement", "plans are not recorded", ask)


def _look(case: Case, scan: Scan) -> Words:
    return phrase("First: EXPLAIN (ANALYZE, BUFFERS) as {} (SET ROLE): a superuser, the owner of {} and a role with "
                  "BYPASSRLS see another plan.", _role(case, scan) or "the application's role", scan.table)  # fmt: skip
