"""The averages that sar prints below the lines of each heading, and what the rows of a reading say instead."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from doctord.read.formats import Reading
from reading import frame

KIB = 1024.0
# Where the figures of a column are to be found: table, column, and what it was multiplied by.
COLUMNS = {
    "%sys": ("cpu", "sys_pct", 1.0),
    "%iowait": ("cpu", "wait_io_pct", 1.0),
    "%wio": ("cpu", "wait_io_pct", 1.0),
    "%steal": ("cpu", "steal_pct", 1.0),
    "%idle": ("cpu", "idle_pct", 1.0),
    "proc/s": ("cpu", "forks_per_s", 1.0),
    "cswch/s": ("cpu", "csw_per_s", 1.0),
    "pswch/s": ("cpu", "csw_per_s", 1.0),
    "fork/s": ("cpu", "forks_per_s", 1.0),
    "%scpu": ("cpu", "pressure_some_pct", 1.0),
    "blocked": ("cpu", "blocked_tasks", 1.0),
    "kbmemfree": ("memory", "free_bytes", KIB),
    "kbavail": ("memory", "available_bytes", KIB),
    "kbanonpg": ("memory", "anon_bytes", KIB),
    "kbpgtbl": ("memory", "page_tables_bytes", KIB),
    "kbswpfree": ("memory", "swap_free_bytes", KIB),
    "pgpgin/s": ("memory", "page_in_kib_per_s", 1.0),
    "pgpgout/s": ("memory", "page_out_kib_per_s", 1.0),
    "majflt/s": ("memory", "major_faults_per_s", 1.0),
    "pswpin/s": ("memory", "swap_in_per_s", 1.0),
    "pswpout/s": ("memory", "swap_out_per_s", 1.0),
    "pgscan/s": ("memory", "scan_per_s", 1.0),
    "freemem": ("memory", "free_bytes", 8192.0),
    "freeswap": ("memory", "swap_free_bytes", 512.0),
    "%smem": ("memory", "pressure_some_pct", 1.0),
    "%fmem": ("memory", "pressure_full_pct", 1.0),
    "rkB/s": ("disk", "read_bytes_per_s", KIB),
    "wkB/s": ("disk", "write_bytes_per_s", KIB),
    "rd_sec/s": ("disk", "read_bytes_per_s", 512.0),
    "wr_sec/s": ("disk", "write_bytes_per_s", 512.0),
    "r+w/s": ("disk", "requests_per_s", 1.0),
    "%util": ("disk", "util_pct", 1.0),
    "%busy": ("disk", "util_pct", 1.0),
    "avgqu-sz": ("disk", "queue", 1.0),
    "aqu-sz": ("disk", "queue", 1.0),
    "avque": ("disk", "queue", 1.0),
    "rxkB/s": ("network", "rx_bytes_per_s", KIB),
    "txkB/s": ("network", "tx_bytes_per_s", KIB),
    "oseg/s": ("network", "segments_out_per_s", 1.0),
}
# What Solaris prints as averages of these does not follow from its own rows (sums that overflow, it seems).
OVERFLOWED = {"rchar/s", "wchar/s"}
# Means over requests, over time with a queue, or of sums: they do not follow from the mean of each row.
RATIOS = frozenset(
    [
        "%usr",
        "%user",
        "%irq",
        "fault/s",
        "await",
        "svctm",
        "areq-sz",
        "avgrq-sz",
        "avwait",
        "avserv",
        "%vmeff",
        "runq-sz",
        "swpq-sz",
        "scall/s",
        "retrans/s",
        "%rcache",
        "%wcache",
        "%ufs_ipf",
        "kbswpused",
        "MBfsfree",
        "MBfsused",
        "%Iused",
        "MHz",
        "%runocc",
        "%swpocc",
    ]
)
KEYS = {"cpu": "cpu", "disk": "device", "network": "interface"}
ITEMS = {"CPU", "DEV", "device", "IFACE", "TTY", "INTR", "FILESYSTEM"}


@dataclass(frozen=True)
class Average:
    """What a file says that a column was on average."""

    column: str
    item: str | None
    printed: str


def averages(text: str) -> Iterator[Average]:
    """Every figure of every line of averages under a heading that was printed with a time."""
    heading: list[str] = []
    inside = False
    for line in text.splitlines():
        words = line.split()
        if re.match(r"\d\d:\d\d:\d\d", line):
            inside = False
            if not re.search(r"\s-?\d+(\.\d+)?(\s|$)", line):
                heading = words[1:]
            continue
        if re.match(r"Average:?\s", line):
            inside, words = True, words[1:]
        if inside and words and words[0] not in ITEMS:
            yield from _of_line(heading, words)


def _of_line(heading: list[str], words: list[str]) -> Iterator[Average]:
    place = next((place for place in (0, len(heading) - 1) if heading[place] in ITEMS), None)
    if len(words) != len(heading):
        return
    for position, (column, word) in enumerate(zip(heading, words, strict=True)):
        unique = heading.count(column) == 1 and column not in RATIOS | OVERFLOWED and "DEVICE" not in heading
        if position != place and unique and re.fullmatch(r"-?\d+(\.\d+)?", word):
            yield Average(column, None if place is None else words[place], word)


def compared(reading: Reading, found: Iterator[Average]) -> tuple[list[str], int]:
    """What differs by more than rounding, and how many averages were compared."""
    frames = {table: frame(reading, table) for table in ("cpu", "memory", "disk", "network", "statistic")}
    steps = frames["cpu"].filter(pl.col("cpu").is_null()).select("ts", "interval_s")
    wrong, count = [], 0
    for average in found:
        values, weights = _values(frames, steps, average)
        if values.is_empty():
            wrong.append(f"no rows for {average}")
            continue
        count += 1
        mean = (values * weights).sum() / weights.sum()
        step = 10.0 ** -len(average.printed.partition(".")[2])
        # Rows are rounded, averages too, or cut off; and seconds between rows are whole.
        allowed = 1.5 * step + abs(mean) * 0.51 / weights.min()
        if abs(mean - float(average.printed)) > allowed:
            wrong.append(f"{average}: rows say {mean:.4f}")
    return wrong, count


def _values(frames: dict[str, pl.DataFrame], steps: pl.DataFrame, average: Average) -> tuple[pl.Series, pl.Series]:
    if re.fullmatch(r"all|CPU\d+", average.column):
        return _interrupts(frames, steps, average)
    table, column, factor = COLUMNS.get(average.column, ("statistic", "value", 1.0))
    if average.column == "tps" and average.item:
        table, column = "disk", "requests_per_s"
    item = None if average.item == "all" else average.item
    if table == "statistic":
        own = re.escape(average.column.removesuffix("/s"))
        rows = frames[table].filter(pl.col("name").str.contains(rf"^sar\.(\w+\.)?{own}$"))
        rows = rows.filter(pl.col("entity").is_in([item, f"CPU{item}"]) if item else pl.col("entity").is_null())
    else:
        rows = frames[table]
        if key := KEYS.get(table):
            rows = rows.filter(pl.col(key).cast(pl.String).eq_missing(pl.lit(item)))
    rows = rows.filter(pl.col(column).is_not_null()).drop("interval_s").join(steps, on="ts")
    return rows[column] / factor, rows["interval_s"]


def _interrupts(frames: dict[str, pl.DataFrame], steps: pl.DataFrame, average: Average) -> tuple[pl.Series, pl.Series]:
    """Those of one source on one CPU (or all); a share of none has no row."""
    if average.item == "sum":
        cpu = None if average.column == "all" else int(average.column[3:])
        rows = frames["cpu"].filter(pl.col("cpu").eq_missing(pl.lit(cpu))).select("ts", value="interrupts_per_s")
    else:
        entity = average.item if average.column == "all" else f"{average.item} {average.column}"
        rows = (
            frames["statistic"].filter(pl.col("entity") == entity, pl.col("name") == "sar.intr").select("ts", "value")
        )
    rows = steps.join(rows, on="ts", how="left").with_columns(pl.col("value").fill_null(0.0))
    return rows["value"], rows["interval_s"]
