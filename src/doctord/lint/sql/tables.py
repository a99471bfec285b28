"""The names by which hints may call tables: aliases of the query block in which they stand, as sqlglot parses it."""

import logging
from functools import lru_cache
from typing import Final

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from doctord.lint.statement import Hint, Statement
from doctord.regex import regex

PARSED_AS: Final = {"oracle": "oracle", "pg_hint_plan": "postgres", "mysql": "mysql"}
MOST_PARSED: Final = 200_000  # characters; a longer one is data, and would take seconds
MARK: Final = "DOCTORD_{}"
MARKED: Final = regex(r"DOCTORD_(\d+)")

Names = frozenset[str]


def names_for(statement: Statement, hint: Hint, dialect: str) -> Names | None:
    """The names, in small letters, that a hint may use; null where the statement is not parsed.

    A hint of pg_hint_plan, and one that names its query block, may use those of the whole statement.
    """
    by_comment = _names(statement, dialect)
    if by_comment is None:
        return None
    of_its_own = None if dialect == "pg_hint_plan" or hint.block else by_comment.get(hint.comment)
    return by_comment[-1] if of_its_own is None else of_its_own


@lru_cache
def _names(statement: Statement, dialect: str) -> dict[int, Names] | None:
    """The names of the whole statement (-1), and of the query block of each comment that sqlglot places."""
    logging.getLogger("sqlglot").setLevel(logging.ERROR)
    if len(statement.text) > MOST_PARSED:
        return None
    try:
        tree = sqlglot.parse_one(_marked(statement), read=PARSED_AS[dialect])
    except SqlglotError:
        return None
    found = {-1: _names_in(tree, whole=True)}
    for hint in tree.find_all(exp.Hint):
        for number in MARKED.findall(hint.sql()):
            if isinstance(hint.parent, exp.Select):
                found[int(number)] = _names_in(hint.parent, whole=False)
    return found


def _marked(statement: Statement) -> str:
    """The text with a mark in place of each comment of hints."""
    parts, at = list[str](), 0
    for number, comment in enumerate(statement.comments):
        parts += [statement.text[at : comment.begin], "" if comment.nearly else f"/*+ {MARK.format(number)} */"]
        at = comment.end
    return "".join([*parts, statement.text[at:]])


def _names_in(tree: exp.Expr, *, whole: bool) -> Names:
    found = set[str]()
    for node in tree.find_all(exp.Table, exp.Subquery, exp.CTE):
        if whole or node.find_ancestor(exp.Select) is tree:
            found.add(node.alias_or_name.lower())
    return frozenset(found)
