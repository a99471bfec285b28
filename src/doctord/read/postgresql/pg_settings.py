"""pg_settings as psql prints it: `psql --csv`, `COPY ... CSV HEADER`, `psql -A`, an aligned table; SHOW ALL.

It yields `setting` (component postgresql) with the server's own source, file and line; any columns will do as long as
`name` and `setting` are among them. `pending_restart` becomes an event. The server is `postgresql:PORT` where the port
is among the settings. Commands, connection strings, and text of extensions are not kept.
"""

import csv
import re
from collections.abc import Iterable, Iterator
from typing import Final

from doctord._native import Batch
from doctord.dataset.rows import micros, rows
from doctord.dataset.secrets import shown
from doctord.read.clock import last_written
from doctord.read.format import Rank
from doctord.read.source import SourceFile

NAME = "pg_settings (psql's table, CSV; SHOW ALL)"
RANK = Rank.NAMED

DELIMITERS: Final = (",", "|", ";", "\t")
RULER: Final = re.compile(r"-+(?:\+-+)+")
FOOTER: Final = re.compile(r"\(\d+ \w+\)")
SETTING: Final = re.compile(r"[A-Za-z_][\w.$]*")
PENDING: Final = ("t", "true", "on")
ENOUGH: Final = 2  # columns without which it is something else

Row = tuple[int, dict[str, str]]


def sniff(head: str) -> bool:
    """Whether its first lines are a table with the columns name and setting, of settings that PostgreSQL has."""
    lines = [line for line in head.splitlines()[:4] if line.strip()]
    return len(lines) >= ENOUGH and _shape(lines[0], lines[1]) is not None


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


def _shape(header: str, below: str) -> str | None:
    """The character between its columns, `+` for psql's aligned table; null: it is no such table."""
    if RULER.fullmatch(below.strip()) and {"name", "setting"} <= {cell.strip() for cell in header.split("|")}:
        return "+"
    for delimiter in DELIMITERS:
        names = next(csv.reader([header], delimiter=delimiter), [])
        if len(names) >= ENOUGH and {"name", "setting"} <= set(names):
            return delimiter
    return None


def _table(source: SourceFile, lines: Iterator[tuple[int, str]]) -> Iterator[Row]:
    first = next((line for line in lines if line[1].strip()), (0, ""))
    second = next(lines, (0, ""))
    shape = _shape(first[1], second[1])
    if shape == "+":
        yield from _aligned(source, first[1], second[1], lines)
    elif shape:
        yield from _separated(source, first[1], (second, *lines), shape)


def _separated(source: SourceFile, header: str, lines: Iterable[tuple[int, str]], delimiter: str) -> Iterator[Row]:
    names = next(csv.reader([header], delimiter=delimiter))
    at = 0

    def texts() -> Iterator[str]:
        nonlocal at
        for at, text in lines:  # noqa: B007 - the reader asks for a line, and the row needs its number
            yield text + "\n"

    try:
        for cells in csv.reader(texts(), delimiter=delimiter):
            if len(cells) == len(names):
                yield at, dict(zip(names, cells, strict=True))
            elif cells:
                source.skip(at, f"{len(cells)} columns in place of {len(names)}")
    except csv.Error as error:
        source.skip(at, f"no CSV from here on: {error}")


def _aligned(source: SourceFile, header: str, ruler: str, lines: Iterable[tuple[int, str]]) -> Iterator[Row]:
    """Rows of psql's aligned table; a value of several lines ends with `+` in all of them but the last."""
    edges = [found.start() for found in re.finditer(r"\+", ruler)]
    names = [cell.strip() for cell in _cells(header, edges)]
    row, begun, is_open = dict[str, str](), 0, False
    for number, text in lines:
        cells = _cells(text, edges)
        if len(cells) != len(names):
            if text.strip():
                source.skip(number, f"{len(cells)} columns in place of {len(names)}")
            continue
        if row and not is_open:
            yield begun, row
            row = {}
        begun = begun if row else number
        is_open = any(cell.endswith("+") for cell in cells[:-1]) or cells[-1].endswith(" +")
        for name, cell in zip(names, cells, strict=True):
            row[name] = " ".join(part for part in (row.get(name, ""), cell.rstrip("+").strip()) if part)
    if row:
        yield begun, row


def _cells(text: str, edges: list[int]) -> list[str]:
    if all(text[edge : edge + 1] == "|" for edge in edges):
        begins, ends = [0, *(edge + 1 for edge in edges)], [*edges, len(text)]
        return [text[begin:end] for begin, end in zip(begins, ends, strict=True)]
    return text.split("|")


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
