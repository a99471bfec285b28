"""The Rust crate in native/: what must be fast or small."""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Protocol

class Buffer(Protocol):
    """Numbers that lie in memory one after another: an array, a memoryview, an array of numpy's."""

    def __buffer__(self, flags: int, /) -> memoryview: ...

class Batch:
    """Rows of one table, in Arrow's memory layout; pyarrow, Polars and DuckDB take it without copying."""

    @staticmethod
    def from_rows(table: str, layout: Sequence[tuple[str, str]], rows: Sequence[Mapping[str, Any]]) -> Batch: ...
    @staticmethod
    def from_columns(
        table: str, layout: Sequence[tuple[str, str]], count: int, columns: Mapping[str, object]
    ) -> Batch: ...
    @property
    def table(self) -> str: ...
    @property
    def num_rows(self) -> int: ...
    def __len__(self) -> int: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]: ...

class SegmentWriter:
    """Appends batches to a new segment of a lake. Rows wait in memory until `sync`."""

    def __init__(self, path: str | PathLike[str]) -> None:
        """Create the file; an OSError when it exists or cannot be written."""

    def append(self, batch: Batch) -> int:
        """Keep rows for the next sync; returns how many wait by now."""

    def sync(self) -> int:
        """Put the waiting rows on disk; returns the size of the file.

        Raises an OSError when they cannot be written: they are gone then, and the file ends with its last sound frame.
        """

def read_segment(
    path: str | PathLike[str], tables: Sequence[str] | None = None
) -> tuple[list[Batch], list[tuple[int, str, int]]]:
    """Rows of these tables (default: all), and what could not be read: offset, `torn` or `damaged`, bytes.

    Raises a ValueError when the file is no segment.
    """

def seal_segment(
    segment: str | PathLike[str], sealed: str | PathLike[str], day: str, entities: Mapping[str, Sequence[str]]
) -> tuple[list[Path], list[tuple[int, str, int]]]:
    """Turn a segment into `sealed/TABLE/DAY/NAME.parquet` and remove it; files written, and what could not be read.

    `entities` names the columns by which a table is sorted before `ts`.
    """

def analyse_trace(
    paths: Sequence[str | PathLike[str]],
    *,
    threads: int = 2,
    most_detail: int | None = None,
    stacks: bool = False,
    watch: Callable[[int], object] | None = None,
) -> bytes:
    """Analyse the files of one call trace (`-` is standard input); a JSON document, see docs/reference/trace.md.

    Args:
        paths: The files of one trace.
        threads: How many CPUs to use.
        most_detail: Calls to keep in detail; beyond these, calls count in the sums only.
        stacks: Sum calls by the stacks that the trace holds (strace -k).
        watch: Called with the bytes read so far, a few hundred times for a large file.

    Raises an OSError when a file cannot be read, a ValueError with a message and a hint when it is no trace.
    """

def call_class(name: str) -> str:
    """What a system call does, as `calls[].class` of docs/reference/trace.md has it; `other` when it is not known."""

def syscall_name(number: int) -> str | None:
    """Name of a system call on this machine; None when it has none of that number."""

def syscall_number(name: str) -> int | None:
    """Number of a system call on this machine; None when it has none of that name."""

class LatencyGrid:
    """Histograms of single waits, a column for each interval: 32 buckets per power of two of 1/1024 us.

    Columns end at multiples of their width; a wait that ended just then is in the column before.
    """

    def __init__(self, column_us: int) -> None:
        """Nothing is counted yet. `column_us` is the width of a column, microseconds."""

    def add(self, times_us: Buffer, latencies_ns: Buffer) -> None:
        """Add waits: when each ended (microseconds), how long it took (nanoseconds); 64-bit integers in any order.

        Raises a ValueError when there are not as many of one as of the other, an OverflowError when the times lie so
        far apart that there would be more than a million columns.
        """

    @property
    def refused(self) -> int:
        """How many latencies were negative, and left out."""

    def cells(self) -> list[tuple[int, float, float, int, float]]:
        """End of the column, lower and upper edge of the bucket, waits, and their exact time; all in microseconds.

        Cells that hold nothing are left out; a column in between that holds nothing has one cell that counts none.
        """

def histograms(
    text: str,
) -> tuple[list[tuple[str, str | None, list[tuple[float | None, float | None, int]]]], list[int]]:
    """Histograms of DTrace, SystemTap, bcc and bpftrace in a text, and the lines, from 1, that are no part of one.

    Each is its keys, its unit (`usecs`; null: not said), and low, high, count of its buckets, which hold values from
    low to below high; null is without end.
    """

class HostSampler:
    """Samples this Linux host: see `doctord.collect.linux`."""

    def __init__(
        self,
        host: str,
        layouts: Mapping[str, Sequence[tuple[str, str]]],
        proc: str | PathLike[str] = "/proc",
        sys: str | PathLike[str] = "/sys",
    ) -> None:
        """Open the files of /proc and /sys; `layouts` are those of `doctord.chart.tables`."""

    def sample(self) -> list[Batch]:
        """Rows since the last call, one batch per table that has any; the first call has no rates."""
