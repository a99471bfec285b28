"""CSV whose columns are those of one of the dataset's tables, under the same names: `ts,host,device,reads_per_s,...`.

It needs `ts` (ISO 8601, or seconds, milliseconds or microseconds since 1970) and at least one other column that is
not `interval_s` or `host`; all must belong to one table. An empty cell was not measured. What else `doctord sql` or
another program writes of a table comes back in this way; for other names a mapping is needed (`[csv]` in a TOML
file).
"""

import csv
from collections.abc import Iterator
from typing import Any, Final

from doctord._native import Batch
from doctord.dataset.rows import micros, rows
from doctord.dataset.tables import TABLES
from doctord.read.figures import number
from doctord.read.format import Rank
from doctord.read.moments import moment_of_cell
from doctord.read.source import SourceFile
from doctord.read.tabular.table_file import dataset_table

NAME = "CSV of a dataset's table"
RANK = Rank.SHAPE
MANY_ROWS: Final = 20_000


def sniff(head: str) -> bool:
    """Whether the first line names columns of one table."""
    names = _cells(head.partition("\n")[0].rstrip("\r"))
    return len(set(names)) == len(names) and dataset_table(names) is not None


def _cells(line: str) -> list[str]:
    try:
        return next(csv.reader([line]), [])
    except csv.Error:
        return []


def read(source: SourceFile) -> Iterator[Batch]:
    """The rows as they stand."""
    lines = source.lines()
    names = _cells(next(lines, (0, ""))[1])
    table = dataset_table(names)
    if table is None:
        return
    kinds = {column.name: column.type for column in TABLES[table].columns}
    held = list[dict[str, Any]]()
    for line, text in lines:
        cells = _cells(text)
        if not text.strip() or cells == names:
            continue
        try:
            row = {name: _held(cell, kinds[name], source) for name, cell in zip(names, cells, strict=True) if cell}
        except ValueError as error:
            source.skip(line, f"no row of {table}: {error}")
            continue
        if "ts" not in row:
            source.skip(line, f"no row of {table}: its moment is not there")
            continue
        held.append({"host": source.host} | row)
        if len(held) >= MANY_ROWS:
            yield rows(table, held)
            held = []
    if held:
        yield rows(table, held)


def _held(cell: str, kind: str, source: SourceFile) -> Any:  # noqa: ANN401 - as the column's type is
    """A cell as its column holds it.

    Raises:
        ValueError: it cannot.
    """
    if kind == "str":
        return cell
    if kind == "ts":
        return micros(moment_of_cell(cell, source))
    value = number(cell)
    if value is None:
        raise ValueError(f"{cell!r} is no number")
    if kind == "f64":
        return value
    if abs(value) >= 2.0**63 - 1024:
        raise ValueError(f"{cell} is too large")
    return round(value)
