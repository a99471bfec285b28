"""pg_settings as psql prints it: `psql --csv`, `COPY ... CSV HEADER`, `psql -A`, an aligned table; SHOW ALL.

It yields `setting` (component postgresql) with the server's own source, file and line; any columns will do as long as
`name` and `setting` are among them. `pending_restart` becomes an event. The server is `postgresql:PORT` where the port
is among the settings. Commands, connection strings, and text of extensions are not kept.
"""

from collections.abc import Iterator
from itertools import chain
from typing import Final

from doctord._native import Batch
from doctord.dataset.rows import micros, rows
from doctord.dataset.secrets import shown
from doctord.read.clock import last_written
from doctord.read.format import Rank
from doctord.read.postgresql.psql_table import ENOUGH, FOOTER, Row, aligned, cells_of, separated, shape_of
from doctord.read.source import SourceFile
from doctord.regex import regex

NAME = "pg_settings (psql's table, CSV; SHOW ALL)"
RANK = Rank.NAMED

NEEDED: Final = frozenset({"name", "setting"})
SETTING: Final = regex(r"[A-Za-z_][\w.$]*")
PENDING: Final = ("t", "true", "on")


def sniff(head: str) -> bool:
    """Whether its first lines are a table with the columns name and setting, of settings that PostgreSQL has."""
    lines = [line for line in head.splitlines()[:4] if line.strip()]
    return len(lines) >= ENOUGH and shape_of(lines[0], lines[1], NEEDED) is not None


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `setting`, and `event` for what waits for a restart."""
    lines = ((number, text) for number, text in source.lines() if not FOOTER.fullmatch(text.strip()))
    table = [row for row in _table(source, lines) if _is_setting(source, row)]
    if not table:
        return
    port = next((row["setting"] for _, row in table if row["name"] == "port"), None)
    about = {"ts": micros(last_written(source)), "host": source.host}
    about["db"] = f"postgresql:{port}" if port else "postgresql"
    yield rows("setting", [about | {"component": "postgresql"} | _setting(row) for _, row in table])
    pending = [row["name"] for _, row in table if row.get("pending_restart", "").lower() in PENDING]
    text = "changed in the configuration, but not in force before a restart"
    if pending:
        yield rows("event", [about | {"kind": "settings change", "subject": name, "text": text} for name in pending])


def _table(source: SourceFile, lines: Iterator[tuple[int, str]]) -> Iterator[Row]:
    first = next((line for line in lines if line[1].strip()), (0, ""))
    second = next(lines, (0, ""))
    shape = shape_of(first[1], second[1], NEEDED)
    if shape == "+":
        yield from aligned(source, first[1], second[1], lines)
    elif shape:
        yield from separated(source, cells_of(first[1], shape), chain([second], lines), shape)


def _is_setting(source: SourceFile, row: Row) -> bool:
    number, cells = row
    if SETTING.fullmatch(cells["name"].strip()):
        return True
    source.skip(number, "no name of a setting")
    return False


def _setting(row: dict[str, str]) -> dict[str, object]:
    name = row["name"].strip()
    line = row.get("sourceline", "").strip()
    return {
        "name": name,
        "value": shown(name, row["setting"].strip()),
        "unit": row.get("unit", "").strip() or None,
        "source": row.get("source", "").strip() or None,
        "source_file": row.get("sourcefile", "").strip() or None,
        "line": int(line) if line.isdecimal() else None,
    }
