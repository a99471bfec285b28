r"""What psql lists with `\drds`: settings of roles and databases.

As psql's aligned table, with `--csv` or `-A`. It yields `setting` (component pg_db_role_setting, name `ROLE DATABASE
name` with `*` for all) in the unit of pg_settings. Which server it is of is not in it: db is `postgresql`. Texts, and
what is no setting of PostgreSQL's own, are not kept.
"""

from collections.abc import Iterator
from itertools import chain
from typing import Final

from doctord._native import Batch
from doctord.dataset.catalogue import Known, catalogue
from doctord.dataset.role_settings import COMPONENT, Scope, kept
from doctord.dataset.rows import micros, rows
from doctord.read.clock import last_written
from doctord.read.format import Rank
from doctord.read.postgresql.psql_table import FOOTER, Row, aligned, cells_of, separated, shape_of
from doctord.read.source import SourceFile
from doctord.regex import regex

NAME = r"PostgreSQL's settings of roles and databases (psql's \drds)"
RANK = Rank.NAMED

ROLE, DATABASE, SETTINGS = "Role", "Database", "Settings"
NEEDED: Final = frozenset({ROLE, DATABASE, SETTINGS})
TITLE: Final = "List of settings"
ONE: Final = regex(r"(?:^|\s)([A-Za-z_][\w.]*)=")
OPEN: Final = regex(r"(?<! )\+$")


def sniff(head: str) -> bool:
    """Whether its first lines are that table."""
    lines = [line for line in head.splitlines()[:5] if line.strip() and line.strip() != TITLE]
    return len(lines) > 1 and shape_of(lines[0], lines[1], NEEDED) is not None


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `setting`."""
    lines = ((number, text) for number, text in source.lines() if not _is_around(text))
    about = {"ts": micros(last_written(source)), "host": source.host, "component": COMPONENT, "db": "postgresql"}
    found = [about | setting for row in _table(source, lines) for setting in _settings(source, row)]
    if found:
        yield rows("setting", found)


def _is_around(text: str) -> bool:
    return not text.strip() or text.strip() == TITLE or FOOTER.fullmatch(text.strip()) is not None


def _table(source: SourceFile, lines: Iterator[tuple[int, str]]) -> Iterator[Row]:
    first, second = next(lines, (0, "")), next(lines, (0, ""))
    shape = shape_of(first[1], second[1], NEEDED)
    if shape == "+":
        # the widest of the lines of a cell has its sign right behind it
        yield from aligned(source, first[1], second[1], ((at, OPEN.sub(" +", text.rstrip())) for at, text in lines))
    elif shape:
        yield from separated(source, cells_of(first[1], shape), chain([second], lines), shape)


def _settings(source: SourceFile, row: Row) -> Iterator[dict[str, object]]:
    """The settings of a role in a database, one after the other; an empty name is all of them."""
    number, cells = row
    parts = ONE.split(cells[SETTINGS])[1:]
    if not parts:
        source.skip(number, "no setting")
    known = {name.lower(): one for name, one in catalogue("postgresql").items()}
    for name, value in zip(parts[::2], parts[1::2], strict=True):
        one = known.get(name.lower())
        scope = Scope(cells[ROLE].strip() or None, cells[DATABASE].strip() or None, one.name if one else name)
        unit = one.unit if one else None
        yield {"name": scope.text, "value": kept(scope.name, value.strip(), unit, _type(one)), "unit": unit}


def _type(known: Known | None) -> str | None:
    """The type as pg_settings calls it."""
    return {"int": "integer", "size": "integer", "time": "integer"}.get(known.kind, known.kind) if known else None
