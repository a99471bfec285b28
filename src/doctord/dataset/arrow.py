"""Arrow without what it imports for others: pandas, a quarter of a second where it is installed, and its functions.

Nothing here hands it any pandas. Arrow looks for it once, at the first value of Python's that it is given, and
remembers what it found. Whoever needs pandas itself imports it as ever, later. `pyarrow.compute` builds its functions
when it is imported, 25 ms, which Polars asks for with every table of pyarrow's that it is given as one.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.abc import MetaPathFinder
from types import ModuleType

import polars as pl
import pyarrow as pa


class _Hidden(MetaPathFinder):
    def find_spec(
        self,
        name: str,
        path: Sequence[str] | None,  # noqa: ARG002 - Python's own signature
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> None:
        if name == "pandas":
            raise ModuleNotFoundError(name)


def hide_pandas() -> None:
    """Let Arrow look for pandas now, and find none, unless it is there already."""
    if "pandas" in sys.modules:
        return
    hidden = _Hidden()
    sys.meta_path.insert(0, hidden)
    try:
        pa.scalar(0)
    finally:
        sys.meta_path.remove(hidden)


@dataclass(frozen=True)
class _Stream:
    """Arrow's rows as any other program would hand them over."""

    rows: pa.Table | pa.ChunkedArray

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.rows.__arrow_c_stream__(requested_schema)


def polars_frame(table: pa.Table) -> pl.DataFrame:
    """A table of Arrow's as a frame, in one piece."""
    return pl.DataFrame(_Stream(table)).rechunk()


def polars_series(column: pa.ChunkedArray) -> pl.Series:
    """A column of Arrow's where it lies: numbers and times are not copied."""
    return pl.Series(_Stream(column))
