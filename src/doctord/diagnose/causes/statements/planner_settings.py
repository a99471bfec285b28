"""Settings that make planning longer than PostgreSQL's defaults do, and which of them a statement feels."""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

import polars as pl

from doctord.analyse.sql.statements import Statement
from doctord.diagnose.case import Case
from doctord.diagnose.finding import Evidence
from doctord.diagnose.phrase import Phrase, listed, phrase
from doctord.diagnose.words import shortened
from doctord.regex import regex

_JOIN: Final = regex(r"\bjoin\b", re.IGNORECASE)
# What stands between FROM and the clause after it, as far as no bracket comes: commas there are joins as well.
_FROM: Final = regex(r"\bfrom\b([^()]*?)(?=\b(?:where|group|order|limit|having|union|set|returning)\b|[();]|$)", re.I)
# As many tables and more are planned with a search that is cut short (geqo_threshold), unless that is off.
GENETIC_FROM: Final = 12
FEW_TABLES: Final = 8


_IN_VIEWS: Final = "felt where what the statement names are views that join more"
_ELSEWHERE: Final = 10**6  # no text tells: so many tables are never joined


class _Setting(NamedTuple):
    """A setting: its default, what lengthens planning, from how many tables joined on that is felt, and why.

    `longer` is a value; where it is a number, what is above it. `where` is where it is felt if the text does not tell.
    """

    default: str
    longer: str | int
    tables: int
    why: str
    where: str = _IN_VIEWS


_EVERY_ORDER: Final = "the planner weighs every order of up to so many tables, several times as many with each one more"
SETTINGS: Final = {
    "join_collapse_limit": _Setting("8", 8, FEW_TABLES + 1, _EVERY_ORDER),
    "from_collapse_limit": _Setting("8", 8, FEW_TABLES + 1, f"subqueries and views are merged: {_EVERY_ORDER}"),
    "geqo": _Setting("on", "off", GENETIC_FROM, "large joins are searched in full: nothing cuts the search short"),
    "geqo_threshold": _Setting("12", 12, GENETIC_FROM, "the search is cut short for larger joins only"),
    "geqo_effort": _Setting("5", 5, GENETIC_FROM, "large joins are searched for longer"),
    "default_statistics_target": _Setting(
        "100", 999, 1, "so many frequent values and bounds of a column are kept, and read to estimate each condition"
    ),
    "constraint_exclusion": _Setting(
        "partition", "on", _ELSEWHERE, "CHECK constraints of each table are held against each condition",
        "felt where tables have many of them",
    ),
    "enable_partitionwise_join": _Setting(
        "off", "on", _ELSEWHERE, "joins are planned once for each pair of partitions", "felt with many partitions"
    ),
    "enable_partitionwise_aggregate": _Setting(
        "off", "on", _ELSEWHERE, "aggregates are planned for each partition", "felt with many partitions"
    ),
    "plan_cache_mode": _Setting(
        "auto", "force_custom_plan", 1, "prepared statements are planned anew at each execution"
    ),
}  # fmt: skip
"""Source: PostgreSQL documentation, "Query Planning" ("Genetic Query Optimizer", "Other Planner Options"), "Statistics
Used by the Planner", "Partitioning and Constraint Exclusion", "Controlling the Planner with Explicit JOIN Clauses"."""


class Lengthening(NamedTuple):
    """A setting that lengthens planning: its name and value, where it was set, and whether the statement feels it.

    `is_felt` is by the tables that its text joins: a view that it names may join more.
    """

    name: str
    value: str
    place: str | None
    is_felt: bool


def tables_joined(text: str) -> int:
    """How many tables a statement joins, as far as its text tells: its views may join more.

    >>> tables_joined("SELECT 1 FROM a JOIN b ON b.a = a.id LEFT JOIN c ON c.b = b.id")
    3
    >>> tables_joined("select 1 from a, b where a.x in (select y from c)")
    3
    """
    joins, named_ = len(_JOIN.findall(text)), sum(one.count(",") + 1 for one in _FROM.findall(text))
    return int(joins + named_)


def lengthening(case: Case, one: Statement) -> list[Lengthening]:
    """Settings in force for a statement that lengthen its planning, those first that it feels."""
    joined = tables_joined(one.text or "")
    found = [
        Lengthening(name, value, _place(case, one.db, name, value), joined >= setting.tables)
        for name, setting in SETTINGS.items()
        if (value := case.setting_for(name, one.db, one.statement_id)) is not None and _is_longer(setting, value)
    ]
    return sorted(found, key=lambda it: not it.is_felt)


def _is_longer(setting: _Setting, value: str) -> bool:
    if isinstance(setting.longer, str):
        return value == setting.longer
    return value.isdigit() and int(value) > setting.longer


def _place(case: Case, db: str, name: str, value: str) -> str | None:
    """The file and line, or what else set it; null for what is set for a role or a database, whose page is another."""
    told = case.dataset.frame("setting").filter(
        (pl.col("component") == "postgresql") & (pl.col("db") == db) & (pl.col("name") == name)
        & (pl.col("value") == value)
    )  # fmt: skip
    if told.is_empty():
        return "set for its role or database"
    row = told.row(-1, named=True)
    if row["source_file"]:
        return f"{row['source_file']}:{row['line']}" if row["line"] else str(row["source_file"])
    return str(row["source"]) if row["source"] else None


def named(found: Sequence[Lengthening]) -> Phrase | str:
    """Those that the statement feels, for a title."""
    felt = [f"{one.name} = {one.value}" for one in found if one.is_felt]
    return phrase("; {}", listed(*felt, by=", ")) if felt else ""


def evidence(found: Sequence[Lengthening], one: Statement) -> list[Evidence]:
    """Each of them, where it was set, and what it does."""
    joined = tables_joined(one.text or "")
    told = [
        Evidence("setting", f"name = '{it.name}'", phrase("{} = {}{}", it.name, it.value,
                                                          f" ({it.place})" if it.place else ""),
                 phrase("{}", SETTINGS[it.name].default),
                 phrase("{}{}", SETTINGS[it.name].why, "" if it.is_felt else f": {SETTINGS[it.name].where}"))
        for it in found
    ]  # fmt: skip
    if told:
        what = phrase("{:count table is/tables are} joined by its text", joined)
        told.insert(
            0, Evidence("statement", f"statement_id = '{one.statement_id}'", what, "", shortened(one.text or ""))
        )
    return told


def first_steps(found: Sequence[Lengthening]) -> list[Phrase]:
    """To set back what the statement feels, tried in one session first."""
    felt = [one for one in found if one.is_felt] or found
    if not felt:
        return []
    tried = "; ".join(f"SET {one.name} = {SETTINGS[one.name].default}" for one in felt)
    return [
        phrase("Try in one session: {}; EXPLAIN (SUMMARY) of the statement with its parameters, before and after: "
               "Planning Time falls, and the plan's cost stays. Then set {} back where {} set; where one report needs "
               "it, for its role alone (ALTER ROLE ... SET).", tried, listed(*(one.name for one in felt), by=" and "),
               "it is" if len(felt) == 1 else "they are"),
    ]  # fmt: skip
