"""What hints there are: `hints.csv` beside this file, one line for each dialect and name.

Columns: dialect (oracle, pg_hint_plan, mysql), name, takes (none, table: the first argument is one, tables: all are,
degree: a table and how many processes, block: a query block or a derived table, value), group and side (two hints of
one group and different sides on one table contradict each other), note (what became of it).
"""

import csv
import difflib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Final

from doctord.lint.statement import Hint, Statement

DIALECTS: Final = ("oracle", "pg_hint_plan", "mysql")
ALIKE = 0.8


@dataclass(frozen=True, slots=True)
class KnownHint:
    """A hint that a dialect knows; see this module."""

    dialect: str
    name: str
    takes: str
    group: str
    side: str
    note: str


@lru_cache
def known_hints(dialect: str) -> dict[str, KnownHint]:
    """The hints of a dialect, by name in capitals."""
    text = files("doctord.lint.sql").joinpath("hints.csv").read_text(encoding="utf-8")
    rows = (KnownHint(**row) for row in csv.DictReader(text.splitlines()))
    return {known.name.upper(): known for known in rows if known.dialect == dialect}


def known(dialect: str, hint: Hint) -> KnownHint | None:
    """What a dialect knows of a hint; null where it has none of that name."""
    return known_hints(dialect).get(hint.name.upper())


def nearest(dialect: str, name: str) -> str | None:
    """The hint that a misspelt one is most like."""
    found = difflib.get_close_matches(name.upper(), known_hints(dialect), 1, ALIKE)
    return known_hints(dialect)[found[0]].name if found else None


def dialect_of(statements: Iterable[Statement]) -> str:
    """The dialect that knows most of the hints; Oracle's where two know as many."""
    counts = Counter[str]()
    for statement in statements:
        for hint in statement.hints:
            counts.update(dialect for dialect in DIALECTS if known(dialect, hint))
    return max(DIALECTS, key=lambda dialect: counts[dialect])
