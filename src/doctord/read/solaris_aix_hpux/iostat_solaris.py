"""iostat of Solaris with -x, any of -n -M -z -c -e -p -r -T -C -X beside it: devices.

Tables: `disk`: `wait` and `wsvc_t` are the host queue, `actv` and `asvc_t` the device's; `cpu` with -c (all CPUs);
`statistic` (component `solaris`): `iostat.%w`, `iostat.svc_t` (both queues together, without -n), errors with -e.

Units: kr/s and kw/s are KiB, Mr/s and Mw/s MiB; times are milliseconds, and null for a device without requests. The
first report covers the time since boot. Only -T tells times.
"""

from collections.abc import Iterable, Iterator
from datetime import date

from doctord._native import Batch
from doctord.read.format import Rank
from doctord.read.source import SourceFile
from doctord.read.tools.headed_tables import HeadedRow, headed_rows, reports_of
from doctord.read.tools.numbers import Layout, numbered
from doctord.read.tools.report import Line, Report, placed

NAME = "iostat (Solaris)"
RANK = Rank.NAMED

KIB, MIB = 1024.0, 1024.0 * 1024.0
CPUS = Layout(
    "solaris",
    "iostat",
    {"us": ("usr_pct", 1.0), "sy": ("sys_pct", 1.0), "wt": ("wait_io_pct", 1.0), "id": ("idle_pct", 1.0)},
)
DISKS = Layout(
    "solaris",
    "iostat",
    {
        "r/s": ("reads_per_s", 1.0),
        "w/s": ("writes_per_s", 1.0),
        "kr/s": ("read_bytes_per_s", KIB),
        "kw/s": ("write_bytes_per_s", KIB),
        "Mr/s": ("read_bytes_per_s", MIB),
        "Mw/s": ("write_bytes_per_s", MIB),
        "wait": ("host_queue", 1.0),
        "actv": ("device_queue", 1.0),
        "wsvc_t": ("host_queue_ms", 1.0),
        "asvc_t": ("device_ms", 1.0),
        "svc_t": ("request_ms", 1.0),
        "%b": ("util_pct", 1.0),
    },
)
TIMES = ("wsvc_t", "asvc_t", "svc_t")
TITLES = ("extended device statistics", "cpu", "tty", "---- errors", "extended disk statistics")


def sniff(head: str) -> bool:
    """Whether it has a heading of Solaris' iostat -x."""
    return any((found := _heading(line)) and found[0] == "device" for line in head.splitlines()[:100])


def _heading(line: str) -> tuple[str, list[str]] | None:
    words = line.replace(",", " ").split()
    if {"%b", "%w", "actv", "device"} <= set(words):
        return "device", words
    return ("cpu", words) if words == ["us", "sy", "wt", "id"] else None


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `disk`, `cpu` and `statistic`."""
    return placed(reports(source.lines(), source), source)


def reports(lines: Iterable[Line], source: SourceFile, day: date | None = None) -> Iterator[Report]:
    """Each report of the text."""
    return reports_of(headed_rows(lines, source, day, _heading, titles=TITLES), _take, source)


def _take(row: HeadedRow) -> None:
    """Put a line of figures into its report.

    Raises:
        ValueError: it is none.
    """
    words = row.words if len(row.words) > 1 else row.words[0].split(",")
    if row.part == "cpu":
        CPUS.fill(row.report, "cpu", numbered(row.names, words), cpu=None)
        return
    if not row.names:
        raise ValueError("no heading above it")
    if row.names[-1] == "device":
        words = [*words[: len(row.names) - 1], " ".join(words[len(row.names) - 1 :])]
    cells = dict(zip(row.names, words, strict=True))
    device = cells.pop("device")
    figures = numbered(cells.keys(), cells.values())
    if not figures.get("r/s", 1.0) and not figures.get("w/s", 1.0):
        # The printed rates are rounded: a time above zero is that of a request all the same.
        figures |= {time: None for time in TIMES if not figures.get(time)}
    DISKS.fill(row.report, "disk", figures, device, device=device)
