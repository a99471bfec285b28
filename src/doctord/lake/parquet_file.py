"""Writes a Parquet file of a lake: whole or not at all, with checksums."""

import os
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from doctord._native import add_checks
from doctord.lake.place import sync_folder

ZSTD_LEVEL: Final = 6
_CHECKED: Final = {"doctord.checks": "1"}  # says that a file has checksums, were these wiped out


def write_checked(path: Path, rows: pa.Table, **options: Any) -> None:  # noqa: ANN401 - whatever Parquet's writer takes
    """Write rows under this name, in the place of what was there; `options` are those of `pyarrow.parquet.write_table`.

    Raises:
        OSError: It cannot be written; what was there before still is.
    """
    unfinished = path.with_suffix(".unfinished")
    try:
        metadata = (rows.schema.metadata or {}) | _CHECKED
        table = rows.replace_schema_metadata(metadata)
        pq.write_table(table, unfinished, compression="zstd", compression_level=ZSTD_LEVEL, **options)
        add_checks(unfinished)
        with unfinished.open("rb") as file:
            os.fsync(file.fileno())
        unfinished.rename(path)
        sync_folder(path.parent)
    except OSError:
        unfinished.unlink(missing_ok=True)
        raise
