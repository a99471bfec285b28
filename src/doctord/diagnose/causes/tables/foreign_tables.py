"""Foreign tables: statements that wait for another server."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import polars as pl

from doctord.analyse.sql.dependencies import Dependencies, ForeignTable, names
from doctord.analyse.sql.plan_trees import Node
from doctord.dataset.tables import WORKING
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.common.plan_steps import plan, step
from doctord.diagnose.common.scans import per_call
from doctord.diagnose.finding import Claim, Evidence, NotMeasured
from doctord.diagnose.phrase import Words, listed, phrase
from doctord.diagnose.words import shortened

# Until version 16 all extensions' waits have one name, and the statement has to tell whose it is.
ANY: Final = "Extension"
OWN: Final = (
    "PostgresFdwConnect", "PostgresFdwCleanupResult", "PostgresFdwGetResult",
    "DblinkConnect", "DblinkGetConnect", "DblinkGetResult",
)  # fmt: skip
USUAL_FETCH_SIZE: Final = 100
# Of the waiting by that one name: so much (0 to 1) in statements that read foreign tables, and it is theirs.
MOST: Final = 0.5
MOST_TOLD: Final = 3


class Waiting(NamedTuple):
    """A statement that waits for another server: for how long, how much of the waiting, and for which tables."""

    statement_id: str
    text: str
    seconds: float
    tables: Sequence[ForeignTable]


@cause()
def foreign_server_waited_for(case: Case) -> Iterator[Claim]:
    """Statements wait for another server, on which foreign tables are.

    Looks like: sessions wait in an extension (PostgresFdwGetResult, PostgresFdwConnect, DblinkGetResult; until version
        16 Extension), in statements that read foreign tables, while CPUs and disks here have room.
    Hurts because: rows come by fetch_size (100 unless told otherwise) at a time, each time a round trip; a condition
        that cannot be sent along has the whole table sent here.
    Speaks for it: share of the time; the statements that wait so, their foreign tables, servers and fetch_size; a
        condition that their plan looks at here (a Filter of the Foreign Scan).
    Speaks against it: nothing that is seen from here: whether the other server is slow, the link, or too much is
        fetched, only its plan and the other side tell.
    Remedy: Fewer rows and fewer round trips: conditions that can be sent along (built-in immutable functions and
        operators, no functions of one's own); joins of tables of one server; ALTER SERVER or ALTER FOREIGN TABLE ...
        OPTIONS (ADD fetch_size '10000'); ANALYZE of the foreign table, or use_remote_estimate; a materialized view as
        a copy of what changes seldom; async_capable where several servers are asked. Then the link (round-trip time
        between the two servers) and the other server itself: check it up.
    Verify: The share of these waits and the time of the statements fall.
    Source: PostgreSQL documentation, "postgres_fdw" (fetch_size, Remote Query Optimization), "dblink", "Wait Event
        Tables" (Extension).
    """
    rows = _rows(case)
    waited_s, total_s = float(rows["interval_s"].sum()), case.database_time_s()
    if not total_s or not case.worth_saying(waited_s / total_s):
        return
    statements = _statements(case, rows)
    own_s = float(rows.filter(pl.col("event").is_in(OWN))["interval_s"].sum())
    theirs_s = sum(one.seconds for one in statements)
    if max(own_s, theirs_s) < MOST * waited_s:
        return
    tables = [*dict.fromkeys(table for one in statements for table in one.tables)]
    filtered = [found for one in statements[:MOST_TOLD] for found in _filtered_here(case, one.statement_id)]
    events = rows["event"].unique(maintain_order=True).sort().to_list()
    yield Claim(
        phrase("{:share of database} is spent waiting for another server{}{}", waited_s / total_s, _which(tables),
               ", which is not sent the condition" if filtered else ""),
        impact=waited_s / total_s,
        confidence=0.9 if tables and own_s >= MOST * waited_s else 0.85 if tables else 0.75,
        for_=[
            Evidence("session", f"event in ({', '.join(repr(event) for event in events)})",
                     phrase("{:share of database}, {:.1f sessions} on average", waited_s / total_s,
                            waited_s / total_s * case.time.seconds_per_second), phrase("{:share}", 0.05),
                     "an answer of another server, by postgres_fdw or dblink", "at_least"),
            *(_statement(case, one, waited_s) for one in statements[:MOST_TOLD]),
            *(_table(table) for table in tables[:MOST_TOLD]),
            *(evidence for _, evidence in filtered),
        ],
        first_steps=[phrase("First: have the condition on {} sent along: it is looked at here, once all rows have "
                            "come.", filtered[0][0].relation)] if filtered else [],
        not_measured=[NotMeasured(
            "the other server, the link to it, and how many rows it sends",
            "they are not seen from here",
            "explain (analyze, verbose): Remote SQL, rows of the Foreign Scan and rows removed by its Filter; ping "
            "from here to there; a checkup of the other server",
        )],
        database=_database(rows),
    )  # fmt: skip


def _rows(case: Case) -> pl.DataFrame:
    """Samples of sessions at work that wait in an extension."""
    at_work = pl.col("kind").is_in(WORKING) & (pl.col("state") == "active")
    return case.dataset.frame("session").filter(
        at_work & pl.col("db").str.starts_with("postgresql") & pl.col("event").is_in([ANY, *OWN])
    )


def _statements(case: Case, rows: pl.DataFrame) -> list[Waiting]:
    """Those that read foreign tables or call dblink, the one that waits most first."""
    spent = rows.drop_nulls(["statement_id", "database"]).group_by(
        "db", "database", "statement_id", maintain_order=True
    )
    found = []
    for db, database, statement_id, seconds in spent.agg(pl.col("interval_s").sum()).iter_rows():
        text = case.statement_text(statement_id) or ""
        tables = [*Dependencies(case.dataset, db, database).foreign_tables(text)]
        if tables or any(word.startswith("dblink") for word in names(text)):
            found.append(Waiting(statement_id, text, seconds, tables))
    return sorted(found, key=lambda one: (-one.seconds, one.statement_id))


def _which(tables: Sequence[ForeignTable]) -> Words:
    servers = [*dict.fromkeys(table.server for table in tables)][:MOST_TOLD]
    if not servers:
        return ""
    return phrase(": {} (foreign {} {})", listed(*servers), "table" if len(tables) == 1 else "tables",
                  listed(*(table.name for table in tables[:MOST_TOLD])))  # fmt: skip


def _statement(case: Case, one: Waiting, waited_s: float) -> Evidence:
    known = next((each for each in case.statements if each.statement_id == one.statement_id), None)
    figure = phrase("statement {}: {:share} of this waiting", one.statement_id, one.seconds / waited_s)
    told = phrase("{}, {}", figure, per_call(known)) if known else figure
    return Evidence("session", f"statement_id = '{one.statement_id}'", told, "", shortened(one.text))


def _filtered_here(case: Case, statement_id: str) -> Iterator[tuple[Node, Evidence]]:
    """The foreign scans of a statement's plan that throw rows away here, where the plan was read."""
    one = next((each for each in case.statements if each.statement_id == statement_id), None)
    known = plan(case, one) if one else None
    if one is None or known is None:
        return
    for node in known.nodes:
        if node.kind.endswith("Foreign Scan") and node.filter:
            yield node, step(one, node, "this condition is not sent along: all other rows are fetched, and thrown away")


def _table(table: ForeignTable) -> Evidence:
    size = table.fetch_size or USUAL_FETCH_SIZE
    return Evidence("setting", f"component = 'pg_foreign_table' and name like '%.{table.name}'",
                    phrase("foreign table {}: server {} ({})", table.name, table.server, table.wrapper), "",
                    phrase("fetched by {:,} rows a round trip (fetch_size)", size)
                    if table.wrapper == "postgres_fdw" else "")  # fmt: skip


def _database(rows: pl.DataFrame) -> str | None:
    dbs = rows["db"].unique(maintain_order=True)
    return str(dbs[0]) if dbs.len() == 1 else None
