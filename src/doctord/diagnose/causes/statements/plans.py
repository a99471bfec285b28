"""Plans: the planner chose badly, by what it knows of the tables, or was told to."""

from collections.abc import Iterable, Iterator
from typing import Final

import polars as pl

from doctord.analyse.sql.conditions import tables_of
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.common.hindered import Hindered, hindered, types
from doctord.diagnose.common.plan_steps import reading_whole, unseen
from doctord.diagnose.common.scans import (
    CHANGED_SHARE,
    FOR_WANT_OF_AN_INDEX,
    SELECTIVE,
    Scan,
    evidence,
    scans,
    wants_much,
)
from doctord.diagnose.common.slowed import severity
from doctord.diagnose.evidence import Sign, weigh
from doctord.diagnose.finding import Claim, Evidence, NotMeasured
from doctord.diagnose.phrase import Words, phrase
from doctord.regex import regex

# Rows that the planner counts with against rows that are there: half or twice makes another plan.
MISCOUNTED = 2.0
# What keeps the planner from an index, whatever it costs.
FORBIDS = ("enable_indexscan", "enable_bitmapscan")
# As what a driver may bind a value so that the column is cast (BigDecimal, Decimal, float), by the column's type.
NUMBERS = {
    **dict.fromkeys(("smallint", "integer", "bigint"), "numeric or double precision"),
    "numeric": "double precision",
    "character": "text",
}
OPTIONS: Final = "pg_attribute.attoptions"
N_DISTINCT: Final = regex(r"\bn_distinct=(-?[\d.]+)")
TABLESPACES, DEFAULT = "pg_tablespace", "pg_default"
PAGE_COST: Final = regex(r"\b((?:random|seq)_page_cost)=([\d.]+)")
# Four times a sequential page is right for disks that turn: 1.1 to 2 where reads are cached or from flash.
DEAR_RANDOM = 4.0
THE_PLAN = NotMeasured(
    "the plan of the statement",
    "plans are not recorded",
    "explain (analyze, buffers) with its parameters: rows estimated against rows found; auto_explain for those at work",
)


@cause(explains=FOR_WANT_OF_AN_INDEX)
def index_not_used(case: Case) -> Iterator[Claim]:
    """A statement reads a whole large table although an index could serve it.

    Looks like: one statement takes much of the database time, `seq_tup_read` of one large table grows by millions, and
        a valid index of that table begins with a column that the statement compares.
    Hurts because: the planner goes by its statistics and cost settings: where these are wrong, it takes the scan for
        the cheaper way, and each execution reads all rows.
    Speaks for it: what the statement's own text does to the column: a cast of it, or a value of a type that has it
        cast, a function, a value that a volatile function gives, LIKE by an index in the order of a language, an OR
        with a column that has no index, or with one of another table; a number of values (n_distinct) set by hand. Rows
        changed since the last ANALYZE; rows in pg_class against those that are live; index scans
        switched off, a generic plan for all parameters, a random page that is said to cost much more than another, of
        the server or of a tablespace.
    Speaks against it: a statement that wants much of the table: then the scan is right; statistics that are fresh.
    Remedy: PostgreSQL: explain (analyze, buffers), and compare rows estimated with rows found at the lowest node where
        they part. ANALYZE the table; a higher statistics target or CREATE STATISTICS for columns that depend on one
        another; autovacuum_analyze_scale_factor lower for large tables. A type that differs from the column's, and a
        function around the column, keep the index from being used as well. A prepared statement that has been called
        five times may be given a plan for all values, by what the first ones cost: plan_cache_mode = force_custom_plan
        for its role, where values have very different numbers of rows.
    Verify: The plan uses the index; seq_tup_read of the table stands still; the statement's time per call falls.
    Source: PostgreSQL documentation, "Index Types", "Indexes on Expressions", "Operator Classes and Operator Families",
        "Operator Type Resolution", "Function Volatility Categories", ALTER TABLE (n_distinct), "Statistics Used by
        the Planner", "Updating Planner Statistics", "Planner Cost
        Constants" and plan_cache_mode.
    """
    yield from _hindered(case)
    scan = next((scan for scan in scans(case) if scan.served.service == "some"), None)
    if scan is None or scan.served.index is None or reasons(case, scan):
        return
    for_, against = weigh(_signs(case, scan))
    by_hand = _values_by_hand(case, scan)
    dear = _dear_tablespaces(case, scan)
    forbidden = [*_forbidden(case, scan), *by_hand, *dear.values(), *_finds_no_others(scan)]
    explained = bool(for_ or forbidden)
    if not explained and not case.worth_saying(scan.statement.share) and not scan.slows:
        return  # an aggregate, which may look at all rows for good
    yield Claim(
        phrase("{:share of database} reads all of table {} although index {} is there", scan.statement.share,
               scan.table, scan.served.index.name),
        impact=scan.statement.share,
        confidence=_confidence(scan, explained=explained),
        # else the plan may well be right: nothing that was measured says otherwise
        severity=severity(case, scan.statement.share, slowed=scan.slows or bool(forbidden)) if explained else "note",
        for_=[*evidence(scan), _index(scan), *forbidden, *for_, *_typed(case, scan),
              *reading_whole(case, scan.statement, scan.table)],
        against=[*wants_much(scan), *against],
        not_measured=unseen(case, scan.statement, THE_PLAN),
        first_steps=[_reset(scan)] if by_hand else [*map(_cheaper, dear)] or _first(scan, for_, forbidden),
        database=scan.figure.db,
    )  # fmt: skip


def reasons(case: Case, scan: Scan) -> list[Hindered]:
    """Why no index of a column in the statement's condition is used, as far as text and catalogue tell for certain.

    None where the statement compares another column, of which there is an index too: the planner could go by that. In a
    join it may not be what the scan needs.
    """
    found = [one for one in hindered(case, scan) if one.is_certain]
    is_alone = len(tables_of(scan.statement.text or "")) == 1
    others = is_alone and scan.served.service == "some" and scan.served.column not in _columns(found)
    return [] if others else found


def _columns(found: Iterable[Hindered]) -> set[str]:
    return {column for one in found for column in one.found.columns[:1]}


def _hindered(case: Case) -> Iterator[Claim]:
    """The first scan whose statement tells itself why the index is not used."""
    told = ((scan, reasons(case, scan)) for scan in scans(case))
    scan, why = next(((scan, why) for scan, why in told if why), (None, []))
    if scan is None:
        return
    yield Claim(
        phrase("{:share of database} reads all of table {} although index {} is there: {}", scan.statement.share,
               scan.table, why[0].found.name, why[0].words),
        impact=scan.statement.share,
        confidence=0.4 if scan.is_selective is False else 0.9 if not scan.is_aggregate else 0.75,
        severity=severity(case, scan.statement.share, slowed=scan.slows),
        for_=[*evidence(scan), *(one.evidence for one in why), *reading_whole(case, scan.statement, scan.table)],
        against=wants_much(scan),
        not_measured=unseen(case, scan.statement, THE_PLAN),
        first_steps=[*dict.fromkeys(one.step for one in why)],
        database=scan.figure.db,
    )  # fmt: skip


def _typed(case: Case, scan: Scan) -> list[Evidence]:
    """The column's type where values of another kind would have it cast, which a parameter's text does not show."""
    column = scan.served.column or ""
    of = types(case, scan).get(column)
    others = NUMBERS.get(of or "")
    if others is None:
        return []
    return [
        Evidence("setting", f"component = 'pg_attribute' and name = '{scan.entity} {column}'",
                 phrase("{} is of type {}", column, of), "",
                 phrase("a parameter that the driver binds as {} has the column cast: its plan then shows "
                        "({})::... in Filter", others, column))
    ]  # fmt: skip


def _confidence(scan: Scan, *, explained: bool) -> float:
    """How many rows an aggregate looks at, the one that it returns does not tell."""
    if scan.is_selective is False:
        return 0.4
    if not explained:
        return 0.6 if not scan.is_aggregate else 0.4
    return 0.85 if not scan.is_aggregate else 0.75


def _index(scan: Scan) -> Evidence:
    index, column = scan.served.index, scan.served.column
    assert index is not None  # noqa: S101 - who calls has looked
    return Evidence(
        "setting",
        f"component = 'pg_index' and name = '{scan.entity} {index.name}'",
        phrase("index {} ({}) is valid", index.name, ", ".join(index.columns)),
        "",
        phrase("the statement compares {}", column),
    )


def _of_table(case: Case, name: str, scan: Scan) -> float | None:
    """The last reading of a figure of the scanned table."""
    one = case.figure(name, scan.figure.db, scan.figure.entity)
    return one and one.last


def changed_share(case: Case, scan: Scan) -> float | None:
    """Rows changed since the last ANALYZE, as a share of the live ones."""
    changed = _of_table(case, "pg_stat_user_tables.n_mod_since_analyze", scan)
    live = _of_table(case, "pg_stat_user_tables.n_live_tup", scan)
    return None if changed is None or live is None else changed / max(live, 1.0)


def _signs(case: Case, scan: Scan) -> list[Sign]:
    live, counted = (_of_table(case, name, scan) for name in ("pg_stat_user_tables.n_live_tup", "pg_class.reltuples"))
    miscounted = max(live / counted, counted / live) if live and counted else None
    random, sequential = (_number(case, name, scan) for name in ("random_page_cost", "seq_page_cost"))
    changed = changed_share(case, scan)
    return [
        Sign("statistic", f"name = 'pg_stat_user_tables.n_mod_since_analyze' and entity = '{scan.entity}'",
             None if changed is None else changed, CHANGED_SHARE,
             "{:share} as many rows changed since the last ANALYZE as the table has",
             _age(case, scan), "statistics are fresh: another reason, or the scan is right"),
        Sign("statistic", f"name = 'pg_class.reltuples' and entity = '{scan.entity}'", miscounted, MISCOUNTED,
             "{:.1f} times apart: the rows that the planner counts with, and those that are live",
             "pg_class.reltuples is of the last VACUUM or ANALYZE", "the planner knows the size of the table"),
        Sign("setting", "name = 'random_page_cost'", random / sequential if random and sequential else None,
             DEAR_RANDOM * 1.01, "{:.1f} times what a page in sequence costs: random_page_cost",
             "an index seems dearer than it is"),
    ]  # fmt: skip


def _age(case: Case, scan: Scan) -> Words:
    age_s = _of_table(case, "pg_stat_user_tables.last_analyze_age_s", scan)
    if age_s is None:
        return "no ANALYZE is on record: its statistics are of another time, or there are none"
    return phrase("the last ANALYZE was {:duration} ago", age_s)


def _forbidden(case: Case, scan: Scan) -> list[Evidence]:
    """Settings by which no index is used, or one plan serves all parameters: as who runs the statement has them."""
    told = [(name, "off", "the planner may not take it") for name in FORBIDS]
    told.append(("plan_cache_mode", "force_generic_plan", "planned without the values that it is called with"))
    return [
        Evidence("setting", f"name = '{name}'", phrase("{} = {}", name, value), "", why)
        for name, value, why in told
        if case.setting_for(name, scan.statement.db, scan.statement.statement_id) == value
    ]


def _values_by_hand(case: Case, scan: Scan) -> list[Evidence]:
    """The number of the column's values, where it is set by hand and promises many rows for each."""
    name = f"{scan.entity} {scan.served.column}"
    rows = case.dataset.frame("setting").filter(
        (pl.col("component") == OPTIONS) & (pl.col("db") == scan.figure.db) & (pl.col("name") == name)
    ).sort("ts", maintain_order=True)  # fmt: skip
    told = N_DISTINCT.search(rows["value"][-1] or "") if rows.height else None
    if told is None or not float(told[1]) or scan.on is None or scan.served.column not in scan.on.equal:
        return []
    number = float(told[1])
    expected = scan.rows / number if number > 0 else -1 / number
    if expected < SELECTIVE * scan.rows or scan.is_selective is False:
        return []
    figure = phrase("n_distinct = {} of column {}, set by hand: {:,.0f} rows for each value", told[1],
                    scan.served.column, expected)  # fmt: skip
    why = phrase("the planner counts with that; {:,.1f} rows come of a call", scan.statement.rows_per_call or 0.0)
    return [Evidence("setting", f"component = '{OPTIONS}' and name = '{name}'", figure, "", why)]


def _reset(scan: Scan) -> Words:
    return phrase("First: ALTER TABLE {} ALTER COLUMN {} RESET (n_distinct), and ANALYZE it.", scan.table,
                  scan.served.column)  # fmt: skip


def _dear_tablespaces(case: Case, scan: Scan) -> dict[str, Evidence]:
    """The tablespace in which a page that an index leads to is said to cost far more than one in sequence, by name.

    In which one a table is nobody tells: most are in the default one, and of others it may not be.
    """
    rows = case.dataset.frame("setting").filter(
        (pl.col("component") == TABLESPACES) & (pl.col("name") == DEFAULT) & (pl.col("db") == scan.figure.db)
    )
    found = dict[str, Evidence]()
    for name, value in rows.sort("ts", maintain_order=True).select("name", "value").iter_rows():
        found.pop(name, None)
        own = {key: float(number) for key, number in PAGE_COST.findall(value or "")}
        random, sequential = (own.get(key) or _number(case, key, scan) for key in ("random_page_cost", "seq_page_cost"))
        if own and random and sequential and random > DEAR_RANDOM * sequential:
            found[name] = Evidence(
                "setting", f"component = '{TABLESPACES}' and name = '{name}'",
                phrase("{} of tablespace {}", value, name), "",
                phrase("a page that an index leads to counts {:.3g} times one in sequence; SHOW tells the server's",
                       random / sequential),
            )  # fmt: skip
    return found


def _cheaper(tablespace: str) -> Words:
    return phrase("First: ALTER TABLESPACE {} RESET (random_page_cost, seq_page_cost), or SET what its disks are like "
                  "(1.1 for flash), and look at the plan again.", tablespace)  # fmt: skip


def _finds_no_others(scan: Scan) -> list[Evidence]:
    """That the index holds all that the statement asks for: few rows come of it, and no condition but that column's."""
    on, column = scan.on, scan.served.column
    if not scan.read.part_of(scan.statement):
        return []  # whether it is this statement that scans the table is not told
    if not scan.is_selective or scan.is_aggregate or on is None or not on.is_all or on.columns != {column}:
        return []
    where = f"statement_id = '{scan.statement.statement_id}'"
    figure = phrase("{:,.1f} rows a call, by {} alone", scan.statement.rows_per_call, column)
    return [Evidence("statement", where, figure, "", "the index leads to these rows and to no others: is the value "
                     "that it is compared with of the column's type, and is the plan not one for all values "
                     "(pg_prepared_statements.generic_plans in its session)?")]  # fmt: skip


def _first(scan: Scan, for_: list[Evidence], forbidden: list[Evidence]) -> list[Words]:
    if forbidden and forbidden[0].table == "setting":
        return [phrase("First: set {} back to its default.", forbidden[0].filter.split("'")[1])]
    if any("n_mod_since_analyze" in one.filter or "reltuples" in one.filter for one in for_):
        return [phrase("First: ANALYZE {}, which takes seconds, and look at its plan again.", scan.table)]
    return []


def _number(case: Case, name: str, scan: Scan) -> float | None:
    value = case.setting(name, scan.figure.db)
    return float(value) if value else None
