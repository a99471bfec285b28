"""The Rust crate in native/: what must be fast or small."""

from collections.abc import Callable, Mapping, Sequence, Set
from os import PathLike
from pathlib import Path
from typing import Any, Protocol

from doctord.dataset.calltrace import Trace

class Buffer(Protocol):
    """Numbers that lie in memory one after another: an array, a memoryview, an array of numpy's."""

    def __buffer__(self, flags: int, /) -> memoryview: ...

class CallCounter:
    """Counts the system calls of processes in the kernel, from its making until it is deleted."""

    def __init__(self, pids: Sequence[int], idle: Sequence[int], accept: Sequence[int]) -> None:
        """Begin: all threads of these processes, and what they fork.

        Args:
            pids: The processes; of the first the passes from one wait for work to the next are timed.
            idle: Numbers of the calls that wait for work.
            accept: Numbers of those that accept a connection.

        Raises:
            OSError: the kernel does not grant it.
        """

    def sums(self) -> dict[str, Any]:
        """What was counted so far.

        `calls` by number, `passes` and `accepting_passes` are distributions: `count`, `ns`, `longest_ns`, and `buckets`
        of powers of two (`min` and `max` in ns, `count`); each call has its `errors`, and `waits`, how often the first
        process waited for work in it. `accepts` and `idle_ns` are those of the first process.
        """

class Batch:
    """Rows of one table, in Arrow's memory layout; pyarrow, Polars and DuckDB take it without copying."""

    @staticmethod
    def from_rows(table: str, layout: Sequence[tuple[str, str]], rows: Sequence[Mapping[str, Any]]) -> Batch: ...
    @staticmethod
    def from_columns(
        table: str, layout: Sequence[tuple[str, str]], count: int, columns: Mapping[str, object]
    ) -> Batch: ...
    def only(self, rows: Sequence[int]) -> Batch:
        """These rows of it, by number, in this order; an IndexError where there is no such row."""

    def by_day(self) -> list[tuple[int, Batch]]:
        """Its rows by the day (UTC) of their `ts`, one part after another: its earliest moment (microseconds), and it.

        A row without a time is of the day of the first row that has one. A ValueError when there is no column `ts`.
        """

    @property
    def table(self) -> str: ...
    @property
    def num_rows(self) -> int: ...
    def __len__(self) -> int: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]: ...

class Rows:
    """Rows of one table that are found piece by piece, each piece by columns."""

    def __init__(self, table: str, layout: Sequence[tuple[str, str]]) -> None: ...
    def __len__(self) -> int: ...
    def add(self, count: int, values: Mapping[str, object]) -> None:
        """Add rows: of each column a list of `count` values, or one value for all; what is left out is null.

        Raises a ValueError or TypeError for values that do not fit; all rows so far are lost then.
        """

    def add_known(self, count: int, values: Mapping[str, object], needed: Sequence[str]) -> int:
        """Add those rows in which these columns, each a list, hold something (no empty text); how many there are."""

    def add_figures(
        self,
        table: ReportTable,
        figures: Sequence[ReportFigure],
        into: str,
        values: Mapping[str, object],
        *,
        seconds: float | Sequence[float],
        factors: float | Sequence[float] = 1.0,
        needed: str | None = None,
    ) -> int:
        """Add a row for each cell of these columns of a report's table that holds a number; how many there are.

        Args:
            table: The table.
            figures: Its columns, one after another.
            into: The column that takes the number: divided by `seconds` where it is a total, times `factors`.
            values: Of each other column a list with a value for each row of the table, or one value for all.
            seconds: Length of the interval, of all rows or of each.
            factors: Likewise.
            needed: A column of which `values` has a list: rows without a value in it (or an empty text) are left out.
        """

    def column(self, name: str, rows: Sequence[int] | None = None) -> list[Any]:
        """The values of a column so far, of all rows or of these; of times, microseconds.

        A ValueError when there is no such column, an IndexError when there is no such row.
        """

    def where(self, name: str, texts: Set[str]) -> list[int]:
        """The numbers of the rows that have one of these texts in a column; a ValueError when it holds no texts."""

    def firsts(self, names: Sequence[str]) -> list[int]:
        """The numbers of the rows that are the first with their values in these columns."""

    def batch(self) -> Batch:
        """The rows so far; none are held afterwards."""

class SegmentWriter:
    """Appends batches to a new segment of a lake. Rows wait in memory until `sync`."""

    def __init__(self, path: str | PathLike[str]) -> None:
        """Name the file, which must not exist; the first sync of rows makes it."""

    def append(self, batch: Batch) -> int:
        """Keep rows for the next sync; returns how many wait by now."""

    def sync(self) -> int:
        """Put the waiting rows on disk; returns the size of the file, 0 while there is none.

        Raises an OSError when they cannot be written: they are gone then, and the file ends with its last sound frame.
        A FileNotFoundError: the file was removed or moved, and with it all that was ever synced.
        """

def read_segment(
    path: str | PathLike[str], tables: Sequence[str] | None = None
) -> tuple[list[Batch], list[tuple[int, str, int]]]:
    """Rows of these tables (default: all), a batch each, and what is not readable: offset, `torn` or `damaged`, bytes.

    Raises a ValueError when the file is no segment.
    """

def give_back_memory() -> None:
    """Give memory that was freed back to the system, from every thread's share of it."""

def seal_segment(
    segment: str | PathLike[str], sealed: str | PathLike[str], day: str, entities: Mapping[str, Sequence[str]]
) -> tuple[list[Path], list[tuple[int, str, int]]]:
    """Turn a segment into `sealed/TABLE/DAY/NAME.parquet`; files written, and what could not be read.

    The segment stays. `entities` names the columns by which a table is sorted before `ts`. Raises a ValueError when it
    is no segment.
    """

def add_checks(path: str | PathLike[str]) -> None:
    """Put checksums, and the times of the first and the last row, into a whole Parquet file; it is not synced.

    The footer must hold the key `doctord.checks`. Raises an OSError, or a ValueError when it is no Parquet.
    """

def read_checks(path: str | PathLike[str]) -> tuple[tuple[int, int] | None, list[int]] | None:
    """What a file's checks tell, without reading its rows; None for a file that was written without.

    Returns:
        Times of the first and the last row (microseconds; None where unknown), and the rows of each row group.

    Raises an OSError; a ValueError that says what is damaged, or that it is no Parquet file.
    """

def damaged_row_groups(path: str | PathLike[str]) -> list[int]:
    """Numbers of the row groups whose bytes are not what was written; empty for a file without checks.

    Raises as `read_checks` does.
    """

def trace_parts() -> list[tuple[str, str, list[tuple[str, str, str]]]]:
    """The parts of what `analyse_trace` returns, those that others need first.

    Of each the name, what it is, and its keys: name, type as Python writes it, meaning.
    """

def analyse_trace(
    paths: Sequence[str | PathLike[str]],
    *,
    threads: int = 2,
    most_detail: int | None = None,
    stacks: bool = False,
    watch: Callable[[int], object] | None = None,
) -> Trace:
    """Analyse the files of one call trace (`-` is standard input); docs/reference/trace.md explains the keys.

    Args:
        paths: The files of one trace.
        threads: How many CPUs to use.
        most_detail: Calls to keep in detail; beyond these, calls count in the sums only.
        stacks: Sum calls by the stacks that the trace holds (strace -k).
        watch: Called with the bytes read so far, a few hundred times for a large file.

    Raises an OSError when a file cannot be read, a ValueError with a message and a hint when it is no trace.
    """

def trace_kind(head: str) -> str | None:
    """What the beginning of a file shows: `calls` one by one, a `summary` of them by call (strace -c); else None."""

def call_class(name: str) -> str:
    """What a system call does, as `calls[].class` of docs/reference/trace.md has it; `other` when it is not known."""

def syscall_name(number: int) -> str | None:
    """Name of a system call on this machine; None when it has none of that number."""

def syscall_number(name: str) -> int | None:
    """Number of a system call on this machine; None when it has none of that name."""

def act_as(user_id: int) -> None:
    """Make a user the effective one of the calling thread alone; an OSError where the kernel refuses."""

def command_name(line: str) -> str:
    """The name of a process from its command line, without arguments; for PostgreSQL's titles the role.

    `/usr/sbin/sshd -D` is `sshd`, `postgres: alice shop [local] idle` is `postgres: client backend`.
    """

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

class SarVocabulary:
    """What sar's columns mean: the tables of `doctord.read.sysstat` in one, looked up natively."""

    def __init__(
        self,
        activities: Sequence[object],
        sections: Mapping[str, object],
        items: Set[str],
        words: Set[str],
        units: Mapping[str, tuple[str | None, str]],
    ) -> None:
        """`activities` and `sections` are those of `doctord.read.sysstat`.

        `items` are columns that say what a line is about, `words` columns without figures, `units` unit
        and kind (`rate`, `gauge`) where the name does not tell them.
        """

    def activity(self, columns: Sequence[str], *, by_item: bool | None = None) -> str | None:
        """The name of the activity whose heading has these columns; null when no sar prints such.

        `by_item`: whether each line is about one of several, where the columns themselves do not tell it.
        """

class SarScanner:
    """Makes rows of what sar or sadf printed, piece by piece: see `doctord.read.sysstat.scan`."""

    def __init__(
        self,
        form: str,
        vocabulary: SarVocabulary,
        layouts: Mapping[str, Sequence[tuple[str, str]]],
        limits: tuple[float, Mapping[str, Mapping[str, float]]],
        offsets: Sequence[tuple[int, int]] | None,
        latest_s: int,
    ) -> None:
        """`form` is `text` (sar), `lines` (sadf -d) or `json` (sadf -j).

        `offsets` are those of the zone of its local times (`doctord.read.zone_offsets`); null: UTC is assumed.
        `latest_s` is the latest local time, in seconds since 1970, that a first time of day without a date can be.
        """

    def header(self, header: object) -> None:
        """Take the `Header` of `doctord.read.sysstat.scan`: what a line tells that begins a report."""

    def feed(self, piece: bytes, begin: int) -> tuple[list[Batch], int]:
        """Take a piece, which ends where a line ends or the file does, from one of its bytes on.

        Rows that are complete, and the byte at which a line stands that begins a report: its length where none does.
        """

    def finish(self) -> list[Batch]:
        """The rows that are left."""

    def skipped(self) -> list[tuple[int, str]]:
        """Lines that could not be used since the last call, and why."""

    def assumed(self) -> tuple[int | None, bool]:
        """What was assumed since the last call: a day (since 1970), and whether local times were taken for UTC."""

class HostSampler:
    """Samples this Linux host: see `doctord.collect.linux`."""

    def __init__(
        self,
        host: str,
        layouts: Mapping[str, Sequence[tuple[str, str]]],
        proc: str | PathLike[str] = "/proc",
        sys: str | PathLike[str] = "/sys",
    ) -> None:
        """Open the files of /proc and /sys; `layouts` are those of `doctord.dataset.tables`."""

    def sample(self) -> list[Batch]:
        """Rows since the last call, one batch per table that has any; the first call has no rates."""

    def cpu_beside_ms(self) -> float:
        """CPU time in milliseconds that threads beside those who call `sample` have used so far."""

class RareSampler:
    """Samples what changes slowly on this Linux host: see `doctord.collect.linux`."""

    def __init__(
        self,
        host: str,
        layouts: Mapping[str, Sequence[tuple[str, str]]],
        proc: str | PathLike[str] = "/proc",
        sys: str | PathLike[str] = "/sys",
    ) -> None:
        """Open the files of /proc and /sys; `layouts` are those of `doctord.dataset.tables`."""

    def sample(self) -> list[Batch]:
        """Rows since the last call, one batch per table that has any; the first call has no rates."""

class ReportFigure:
    """A column of a report's table whose numbers become rows, each with the same texts in other columns."""

    def __init__(
        self,
        column: int,
        texts: Mapping[str, str] = ...,
        *,
        kilo: float = 1000.0,
        by: float = 1.0,
        bare: str = "s",
        to: str | None = None,
        is_total: bool = False,
    ) -> None:
        """Numbers as `ReportTable.numbers` reads them, or times as `ReportTable.times` does where `to` is given."""

class ReportTable:
    """A table of a report in HTML or text. Columns are counted from 0, as `find` gives them.

    `title` is the heading above it, `summary` what its HTML says it holds, `above` the paragraphs and list items
    between the heading (or the table before) and it, `line` where it begins. A table without names and rows stands
    for words of a section that has no table. Cells have no blanks around them; an empty one is None.
    """

    @staticmethod
    def made(
        title: str,
        names: Sequence[str],
        rows: Sequence[Sequence[str]],
        above: Sequence[str] = (),
        *,
        comma: bool = False,
    ) -> ReportTable:
        """A table made here. `comma`: its decimals have a comma."""

    @property
    def title(self) -> str: ...
    @property
    def summary(self) -> str: ...
    @property
    def above(self) -> list[str]: ...
    @property
    def line(self) -> int: ...
    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns; headings of several rows are joined by a blank (`CR Blocks Received`)."""

    def __len__(self) -> int:
        """Rows without the headings."""

    def find(self, *aliases: str) -> int | None:
        """The first column that has one of these names, the first alias first; blanks and case do not count.

        The second column of the same name is found as `Pct Miss#2`.
        """

    def texts(self, column: int) -> list[str | None]: ...
    def numbers(self, column: int, *, kilo: float = 1000.0, by: float = 1.0, over: float = 1.0) -> list[float | None]:
        """Figures such as 1,234.5, 12.3K, .0, 97 %, times `by`, divided by `over`; None where there is none.

        `kilo` is what K stands for (M is its square, and so on). `<1` is taken as 0.5.
        """

    def times(self, column: int, *, bare: str = "s", to: str = "s", over: float = 1.0) -> list[float | None]:
        """Times in units of `to` (ns, us, ms, cs, s, m, h, d), divided by `over`.

        A cell may say its unit (`353.90us`); one that does not is in units of `bare`.
        """

    def counts(self, column: int, totals: Sequence[float | None]) -> list[int | None]:
        """Occurrences from cells of a histogram: a share in % of `totals` (a number for each row), or `0.0(6)`: 6.

        A share that was rounded to nothing counts one; an empty cell is None, and so is `(0)`.
        """

    def select(self, columns: Sequence[int], names: Sequence[str]) -> ReportTable:
        """The same rows with these columns under these names."""

    def only(self, rows: Sequence[int]) -> ReportTable:
        """The same columns with these rows."""

class LongNames:
    """Names that are longer than columns of text reports may be."""

    def __init__(self, known: Sequence[str]) -> None: ...

def text_tables(content: bytes, known: LongNames | None = None) -> list[ReportTable]:
    """The tables of a report of Oracle's in plain text (AWR, Statspack, ASH), in the order of their ends.

    Columns are as the lines of dashes have them, rows of two lines are one row, and what stands below a statement's row
    is in the columns `SQL Module`, `PDB Name`, `SQL Text`. `name: value` below an underlined title is a table without
    names. A label to the left of the first column is a column without a name. Where a cell is as wide as its column, it
    may have been cut off: the name of `known` that begins so is taken, of several the next in each row that follows.
    """

def html_tables(content: bytes) -> tuple[str, list[ReportTable]]:
    """The title of an HTML document and its tables, whatever is wrong with it.

    Whether decimals have a comma (`1.234,5`) is decided from all figures of the document.
    """

class ServerLog:
    """Sums up a log of a database server by the minute: see `doctord.read.logs`."""

    def __init__(
        self,
        form: str,
        head: bytes,
        *,
        threads: int = 2,
        latest: tuple[int, int] = (1970, 12),
        prefix: str | None = None,
    ) -> None:
        """A log: `stderr`, `syslog`, `csvlog`, `jsonlog`, `mysql slow` or `mysql error`; a ValueError for another form.

        `head` is its beginning, from which log_line_prefix is found out; `latest` the year and month that none of its
        lines is later than, for times without a year. `prefix` is log_line_prefix where the server itself told it:
        then `head` is not looked at, and lines need no time.
        """

    def set_prefix(self, prefix: str) -> None:
        """From now on log_line_prefix is what the server itself told, where it was found out from lines."""

    def add(self, chunk: bytes) -> None:
        """Take the next piece of the log."""

    def told(
        self, is_all: bool
    ) -> tuple[dict[str, int], int, dict[tuple[str, str], int], dict[str, float], list[tuple[str, str, str]]]:
        """What was said since the last call, whatever its times, of a log that is still written.

        How often each error and warning came, by severity, SQLSTATE and message without values; how many sessions were
        refused as no connection was left; what else is counted, by its name and what it is about (empty where that is
        not told): vacuums of autovacuum that were cancelled or skipped, plans, logins that were denied and the like;
        the largest of each reading by its name; what happened, each with its kind, its subject (empty where that is
        the server) and its text. The last message may go on in the next piece and is held back, but where `is_all`.
        """

    def quarters(self) -> set[tuple[str, int]]:
        """The quarters of an hour in which something was, but for those in UTC, once all was added.

        Each is its zone's abbreviation and its local beginning in microseconds.
        """

    def rows(
        self,
        component: str,
        db: str,
        host: str | None,
        layouts: Mapping[str, Sequence[tuple[str, str]]],
        placed: Mapping[tuple[str, int], int],
        untimed_us: int | None = None,
    ) -> list[Batch]:
        """The rows of all that was added; `placed` are the moments in UTC, in microseconds, of its `quarters`.

        `untimed_us` is the moment of all of it, where it is untimed: then amounts stand in place of rates.
        """

    @property
    def is_untimed(self) -> bool:
        """Whether no line tells a time."""

    @property
    def skipped(self) -> list[tuple[int, str]]:
        """Lines that were of no use, and why: the first of each part."""

    @property
    def skipped_lines(self) -> int:
        """How many these are in all."""

    @property
    def is_cut(self) -> bool:
        """Whether the log ends within a line, which is left out."""

def foreign_severities(of: str | None = None) -> list[str]:
    """The severities of PostgreSQL's messages in the languages that the server writes, but the English ones.

    `of` is an English one: only those that mean it.
    """

def refusal_in_english(text: str) -> str | None:
    """What a client was told, in English where a server in another language turned it away; null for what is else."""

def scrubbed(text: str, dialect: str) -> str:
    """A statement without its constants, its comments and its values: see `doctord.dataset.scrub`."""

class SqlTrace:
    """An extended SQL trace of Oracle, summed up as it is read: see `doctord.read.oracle.logs.trace_10046`.

    Times are microseconds since 1970. Sums are of intervals of ten seconds, given by their ends.
    """

    def __init__(self, unit_us: int) -> None:
        """Nothing is read yet. `unit_us` are the microseconds in a unit of the trace's times."""

    def take(
        self, chunk: bytes, stamp: Callable[[int, str], tuple[int, bool] | None]
    ) -> list[tuple[int, list[tuple[str, bytes, bytes]]]]:
        """Take whole lines.

        `stamp` is called with the number and the text of each line that begins with `***`: it says what time of day
        that is, if it is one, and whether its zone is known. Returned are groups of waits whose columns (of a second)
        are complete by now: the end of the last column, and by event when each wait ended (microseconds) and how long
        it took (nanoseconds), as 64-bit integers.
        """

    def rest(self) -> list[tuple[int, list[tuple[str, bytes, bytes]]]]:
        """The waits that are still held, likewise."""

    def skipped(self) -> list[tuple[int, str]]:
        """Lines that were not used since the last call, and why."""

    def assumed(self) -> tuple[bool, bool]:
        """Whether there was no date, and whether a time of day had no zone."""

    def waits(self) -> list[tuple[int, str, int, int, int]]:
        """Interval, event, waits that ended in it, their time, and the time waited within it (microseconds)."""

    def executed(self) -> list[tuple[int, str, dict[str, int]]]:
        """Interval, statement, and what its calls did that ended in it, by name."""

    def statement_waits(self) -> list[tuple[int, str, str, int]]:
        """Interval, statement, event, and the time of the waits that ended in it (microseconds)."""

    def load(self) -> list[tuple[int, int, int, int, int]]:
        """Interval, time and CPU time of the session's own calls (microseconds), commits, rollbacks."""

    def texts(self) -> list[tuple[str, str | None]]:
        """Statements and their texts as they were typed."""

    def happened(self) -> list[tuple[int, str, int | None, str | None]]:
        """When, what (error, parse error, deadlock, module, action), an error's code, and a name."""
