"""Tables in files of Parquet or Arrow (IPC file or stream).

A table whose columns are those of a table of the dataset (as a lake's own files) is taken as that. Any other is a wide
table of metrics: a column of times (a timestamp or date, or one named ts, timestamp, datetime, date, time; or `second`,
`seconds`, `elapsed`, `epoch`, which count from the start), columns of text, which are labels, and columns of figures.
A figure becomes a row of `statistic` (kind gauge, name: the column; entity: the labels, joined), but for names of dstat
and of DBSherlock's data set, which go into `cpu`, `memory`, `disk` and `network` (device and interface `total`; see
`read/tabular/table_names.py`). Their host is the column named host (hostname, node, server, machine), without one
the labels, so that cases of a labelled data set are told apart.

The interval of rows is the usual time from one to the next. Times without a zone are in that of --zone, else in UTC.
"""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from doctord._native import Batch
from doctord.dataset.rows import columns
from doctord.dataset.tables import TABLES
from doctord.errors import UserError
from doctord.read.format import Rank
from doctord.read.source import SourceFile
from doctord.read.tabular.table_times import moments
from doctord.read.tabular.wide_table import WideTable

NAME = "tables in Parquet or Arrow files"
RANK = Rank.SHAPE
PARQUET, ARROW, STREAM = "PAR1", "ARROW1", "\xff\xff\xff\xff"
MOST_CELLS = 500_000_000
COMMON = {"ts", "interval_s", "host"}


def sniff(head: str) -> bool:
    """Whether a file that begins so holds such a table."""
    return head.startswith((PARQUET, ARROW)) or (head.startswith(STREAM) and "\0" in head)


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of the dataset's table, or of `statistic` and the host's tables.

    Raises:
        UserError: the file is damaged, far too large, or has no times or figures.
    """
    with source.as_file() as path:
        try:
            table = _table(path, source)
            table.validate(full=True)  # what is damaged may point anywhere
            str(table.schema)  # names and types are decoded only when they are looked at
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            raise UserError(f"{source.name}: the table cannot be read: {error}", "is the file whole?") from error
    known = dataset_table(table.column_names)
    yield from _dataset_rows(table, known, source) if known else WideTable.placed(table, source).batches()


def _table(path: Path, source: SourceFile) -> pa.Table:
    if source.head.startswith(PARQUET):
        import pyarrow.parquet as pq  # noqa: PLC0415 - every format is asked about every file, and few are Parquet

        file = pq.ParquetFile(path)
        _believable(file.metadata.num_rows * file.metadata.num_columns, source)
        return file.read()
    with pa.memory_map(str(path)) as mapped:
        opened = pa.ipc.open_file if source.head.startswith(ARROW) else pa.ipc.open_stream
        return opened(mapped).read_all()


def _believable(cells: int, source: SourceFile) -> None:
    if cells > MOST_CELLS:
        raise UserError(f"{source.name}: a table of {cells} cells", "take the rows of fewer hours, or fewer columns")


def dataset_table(names: list[str]) -> str | None:
    """The table of the dataset that has all these columns; null where none has.

    >>> dataset_table(["ts", "host", "device", "reads_per_s"]), dataset_table(["ts", "reads"])
    ('disk', None)
    """
    own = set(names) - COMMON
    fitting = [table for table in TABLES.values() if own and own <= {column.name for column in table.columns}]
    best = min(fitting, key=lambda table: len(table.columns), default=None)
    return best.name if best and "ts" in names else None


def _dataset_rows(table: pa.Table, name: str, source: SourceFile) -> Iterator[Batch]:
    at_us, _ = moments(table, "ts", [None] * table.num_rows, source)
    kinds = {column.name: column.type for column in TABLES[name].columns}
    arrow = {"f64": pa.float64(), "i64": pa.int64(), "str": pa.string(), "ts": pa.timestamp("us", "UTC")}
    held: dict[str, object] = {"ts": at_us}
    for column in table.column_names:
        if column == "ts":
            continue
        try:
            values = table[column].cast(arrow[kinds[column]])
        except pa.ArrowException:
            source.note(f"column {column} is not of the type that the table {name} has: it is left out")
            continue
        held[column] = (values.cast(pa.int64()) if kinds[column] == "ts" else values).to_pylist()
    yield columns(name, table.num_rows, held)
