r"""PostgreSQL's views as people copy them: pg_stat_activity, pg_stat_database, pg_stat_user_tables, pg_locks.

As CSV, by `|`, `;` or tabs, with a heading or without one (then all columns of the view, as versions 9.2 to 18 have
them), as psql's aligned table or line by line (`\x`); several of them in one file. A column of moments beside the
view's own (`now`, `ts`, `epoch`: ISO 8601, or since 1970) makes several samples of one file.

- pg_stat_activity becomes `session`: who is not idle, with wait and times; `\N` and empty cells were not there. The
  text of statements is not kept. A sample stands for the time to the next, of one alone for a second: a note says so.
- pg_locks tells who blocks whom: who holds what another waits for. Of the pids that wait for a lock it makes rows of
  `session` itself where no pg_stat_activity stands in the same file.
- pg_stat_database becomes `statistic` under the names that are collected live: increases from sample to sample, of one
  sample alone the mean since `stats_reset`.
- pg_stat_user_tables becomes `space` (live and dead rows, and a size where a column of bytes is there) and
  `statistic`, of several samples with their increases.

Without a moment the latest time in it is taken, as a query that looks is there itself, else the file's last change.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from typing import Any, Final

from doctord._native import Batch
from doctord.dataset.rows import rows
from doctord.read.format import Rank
from doctord.read.postgresql.psql_table import (
    DELIMITERS,
    FOOTER,
    RECORD,
    RULER,
    Row,
    aligned,
    cells_of,
    expanded,
    separated,
)
from doctord.read.postgresql.view_columns import layout_of, view_of
from doctord.read.postgresql.view_counters import databases, space, tables
from doctord.read.postgresql.view_samples import samples
from doctord.read.postgresql.view_sessions import blockers, sessions, waiting
from doctord.read.source import SourceFile

NAME = "PostgreSQL's views (pg_stat_activity, pg_stat_database, pg_stat_user_tables, pg_locks)"
RANK = Rank.NAMED
DB: Final = "postgresql"
LOOKED_AT: Final = 40


@dataclass(frozen=True, slots=True)
class Section:
    """Rows of one view, as they stood in one place of the file."""

    view: str
    rows: list[Row] = field(default_factory=list)


def sniff(head: str) -> bool:
    """Whether a heading of one of these views is among its first lines, or its first line is a row of one."""
    lines = [line for line in head.lstrip("\ufeff").splitlines()[:LOOKED_AT] if line.strip()]
    first = lines[0] if lines else ""
    if RECORD.fullmatch(first.strip()):
        end = next((at for at, line in enumerate(lines[1:], 1) if RECORD.fullmatch(line.strip())), len(lines))
        return view_of(frozenset(line.partition("|")[0].strip() for line in lines[1:end])) is not None
    if any(RULER.fullmatch(below.strip()) and _view(line, "|") for line, below in pairwise(lines)):
        return True
    return _separated_view(first) is not None


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `session`, `statistic` and `space`."""
    sections = [section for section in _sections(source) if section.rows]
    made = {view: [row for section in sections if section.view == view for row in samples(source, section.rows)]
            for view in ("pg_stat_activity", "pg_stat_database", "pg_stat_user_tables", "pg_locks")}  # fmt: skip
    locks = blockers(made["pg_locks"])
    held: dict[str, list[dict[str, Any]]] = {
        "session": sessions(source, made["pg_stat_activity"], locks) or waiting(source, made["pg_locks"], locks),
        "statistic": [*databases(source, made["pg_stat_database"]), *tables(source, made["pg_stat_user_tables"])],
        "space": [space(row) for row in made["pg_stat_user_tables"]],
    }
    for table, found in held.items():
        if found:
            yield rows(table, [{"host": source.host, "db": DB} | row for row in found])


def _view(line: str, delimiter: str) -> str | None:
    return view_of(frozenset(cell.strip() for cell in cells_of(line, delimiter)))


def _separated_view(line: str) -> tuple[str, str, tuple[str, ...] | None] | None:
    """The delimiter and view of a first line; and its columns, where it is a row and no heading."""
    for delimiter in DELIMITERS:
        if view := _view(line, delimiter):
            return delimiter, view, None
        if found := layout_of([cell.strip() for cell in cells_of(line, delimiter)]):
            return delimiter, *found
    return None


def _sections(source: SourceFile) -> Iterator[Section]:
    """The tables of a file: psql's, each with heading and ruler; or one by delimiters; or all of it line by line."""
    lines = [(number, text.lstrip("\ufeff")) for number, text in source.lines()]
    lines = [(number, text) for number, text in lines if text.strip() and not FOOTER.fullmatch(text.strip())]
    if lines and RECORD.fullmatch(lines[0][1].strip()):
        for view, found in groupby(expanded(lines), key=lambda row: view_of(frozenset(row[1]))):
            if view:
                yield Section(view, list(found))
    elif begins := [at for at, ((_, line), (_, ruler)) in enumerate(pairwise(lines)) if RULER.fullmatch(ruler.strip())
                    and "|" in line]:  # fmt: skip
        for begin, end in pairwise([*begins, len(lines)]):
            if view := _view(lines[begin][1], "|"):
                below = iter(lines[begin + 2 : end])
                yield Section(view, list(aligned(source, lines[begin][1], lines[begin + 1][1], below)))
    elif lines and (found_view := _separated_view(lines[0][1])):
        delimiter, view, names = found_view
        rest = iter(lines if names else lines[1:])
        columns = list(names or [name.strip() for name in cells_of(lines[0][1], delimiter)])
        yield Section(view, list(separated(source, columns, rest, delimiter)))
