"""atop as it stands on a screen: `atop -r FILE > text`, `atop 10 6 > text`, pasted; versions 1.2 to 2.11, pmatop.

    ATOP - db7   2026/11/20  09:10:00   ----------------   10s elapsed
    CPU | sys       6% | user     59% | irq       1% | idle   1524% | wait     10% |
    DSK |          sda | busy      6% | read    8447 | write    917 | KiB/r     21 | avio 2.71 ms |

Tables: `cpu` (CPU, cpu, CPL; PRC: tasks that run or are blocked at the moment), `memory` (MEM, SWP, PAG, PSI), `disk`
(DSK, LVM, MDD), `network` (NET), `process` (command; CPU time, bytes read and written), `statistic` (component
`kernel`) as of `atop -P`: load averages, `atop.busy_queue` (avq: requests outstanding while the disk was busy);
`atop.busy_ms` (avio: the disk's busy time for each request, which is no latency; with avq it gives one). Counts are
divided by the interval that the first line tells; large ones are rounded, as 1986e4. Sizes are of 1024, rates of
networks of 1000. Lines that were cut at the edge of a terminal are used as far as they go. The sample since boot is
left out where others follow.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date
from typing import Final

from doctord._native import Batch
from doctord.read.figures import number
from doctord.read.format import Rank
from doctord.read.source import SourceFile
from doctord.read.tools.headed_tables import NO_FIGURES
from doctord.read.tools.report import Line, Report, placed
from doctord.read.tools.times import moment_in
from doctord.regex import regex

NAME = "atop (as on a screen)"
RANK = Rank.NAMED
LOOKED_AT: Final = 40
FIRST: Final = regex(
    r"\s*ATOP - (?P<host>\S+)\s+(?P<day>\d{4}/\d\d/\d\d)\s+(?P<time>\d\d:\d\d:\d\d)\s.*?"
    r"(?P<length>[\dhmsd]+|\d+ seconds)\s*elapsed"
)
LABELED: Final = regex(r"\s*(?P<label>[A-Za-z]{3}) \|(?P<cells>.*)$")
SINCE_BOOT: Final = regex(r"\*\*\* system and process activity since boot \*\*\*", re.IGNORECASE)
SPAN: Final = regex(r"([\d.]+)([dhms])")
SECONDS: Final = {"d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0}
SIZES: Final = {"B": 1.0, "K": 1024.0, "M": 1024.0**2, "G": 1024.0**3, "T": 1024.0**4}
RATES: Final = {"Kbps": 1e3 / 8, "Mbps": 1e6 / 8, "Gbps": 1e9 / 8}
MILLISECONDS: Final = {"ms": 1.0, "us": 1e-3, "µs": 1e-3, "ns": 1e-6, "s": 1e3}
ONE_CPU: Final = regex(r"cpu(?P<number>\d+) w +(?P<wait>\d+%)")
SHARES: Final = {
    "sys": "sys_pct", "user": "usr_pct", "irq": "irq_pct", "idle": "idle_pct", "wait": "wait_io_pct",
    "steal": "steal_pct",
}  # fmt: skip
STATES: Final = {"#trun": "run_queue", "#tslpu": "blocked_tasks"}

# What a line tells, by the name before each value, and seconds of the interval.
Cells = Mapping[str, str]


def sniff(head: str) -> bool:
    """Whether the first line of a sample, and a line of CPUs or disks, are among its first."""
    lines = head.splitlines()[:LOOKED_AT]
    return any(map(FIRST.match, lines)) and any(LABELED.match(line) for line in lines)


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `cpu`, `memory`, `disk`, `network`, `process` and `statistic`."""
    return placed(reports(source.lines(), source), source)


def reports(lines: Iterable[Line], source: SourceFile, day: date | None = None) -> Iterator[Report]:  # noqa: ARG001 - a tool's
    """Each sample of the text."""
    report, heading = Report(0), list[str]()
    for line, text in lines:
        if found := FIRST.match(text):
            yield report
            source.host = found["host"]
            at = moment_in(f"{found['day'].replace('/', '-')} {found['time']}", source)
            report, heading = Report(line, at=at, interval_s=_seconds(found["length"])), []
        elif SINCE_BOOT.search(text):
            report.since_boot = True
        elif not report.interval_s or not text.strip():
            continue
        elif found := LABELED.match(text):
            _labeled(report, found["label"], found["cells"], report.interval_s)
        elif text.split()[0] == "PID":
            heading = text.split()
        elif not heading or not _process(report, heading, text.split(), report.interval_s):
            source.skip(line, NO_FIGURES)
        report.blame(line, source)
    yield report


def _labeled(report: Report, label: str, text: str, length_s: float) -> None:
    """A line of the host's: cells, each a name and a value, the first of some the device."""
    parts = [cell.split() for cell in text.split("|") if cell.strip()]
    cells = {part[0]: " ".join(part[1:]) for part in parts if len(part) > 1}
    if label in TAKERS and parts:
        TAKERS[label](report, parts[0][0], cells, length_s)
    elif label == "cpu" and (cpu := ONE_CPU.search(text)):
        _cpu(report, "", cells | {"wait": cpu["wait"]}, length_s, int(cpu["number"]))


def _cpu(report: Report, _: str, cells: Cells, __: float, cpu: int | None = None) -> None:
    """Shares: of all CPUs together they make up as many hundreds as there are CPUs; guests' time is in user's."""
    told = {column: value for name, column in SHARES.items() if (value := _number(cells.get(name, ""))) is not None}
    if (whole := sum(told.values())) and "idle_pct" in told:
        report.row("cpu", {column: value * 100 / whole for column, value in told.items()}, cpu=cpu)


def _tasks(report: Report, _: str, cells: Cells, __: float) -> None:
    report.row("cpu", {column: _number(cells.get(name, "")) for name, column in STATES.items()}, cpu=None)


def _load(report: Report, _: str, cells: Cells, length_s: float) -> None:
    report.row(
        "cpu",
        {"csw_per_s": _rate(cells, "csw", length_s), "interrupts_per_s": _rate(cells, "intr", length_s)},
        cpu=None,
    )
    for minutes in (1, 5, 15):
        report.statistic("kernel", f"atop.load_{minutes}m", _number(cells.get(f"avg{minutes}", "")), "tasks")


def _memory(report: Report, _: str, cells: Cells, __: float) -> None:
    cached = [_size(cells.get(name, "")) for name in ("cache", "buff")]
    shared = _size(cells.get("shmem", "")) or 0.0
    in_cache = None if None in cached else sum(filter(None, cached)) - shared
    sizes = {"tot": "total_bytes", "free": "free_bytes", "avail": "available_bytes", "shmem": "shmem_bytes"}
    told = {column: _size(cells.get(name, "")) for name, column in sizes.items()}
    report.row("memory", told | {"page_cache_bytes": in_cache})


def _swap(report: Report, _: str, cells: Cells, __: float) -> None:
    sizes = {"tot": "swap_total_bytes", "free": "swap_free_bytes"}
    report.row("memory", {column: _size(cells.get(name, "")) for name, column in sizes.items()})


def _paging(report: Report, _: str, cells: Cells, length_s: float) -> None:
    counts = {"scan": "scan_per_s", "swin": "swap_in_per_s", "swout": "swap_out_per_s"}
    report.row("memory", {column: _rate(cells, name, length_s) for name, column in counts.items()})
    report.statistic("kernel", "atop.oom_kills", _rate(cells, "oomkill", length_s), "per_s", kind="rate")


def _pressure(report: Report, _: str, cells: Cells, __: float) -> None:
    report.row("cpu", {"pressure_some_pct": _number(cells.get("cpusome", ""))}, cpu=None)
    shares = {"memsome": "pressure_some_pct", "memfull": "pressure_full_pct"}
    report.row("memory", {column: _number(cells.get(name, "")) for name, column in shares.items()})
    for kind in ("some", "full"):
        report.statistic("kernel", f"io.pressure_{kind}_pct", _number(cells.get(f"io{kind}", "")), "pct")


def _disk(report: Report, name: str, cells: Cells, length_s: float) -> None:
    reads, writes = _number(cells.get("read", "")), _number(cells.get("write", ""))
    busy_pct, queue = _number(cells.get("busy", "")), _number(cells.get("avq", ""))
    busy_ms = _unit(cells.get("avio", ""), MILLISECONDS)
    row = {"util_pct": busy_pct, "reads_per_s": _rate(cells, "read", length_s)}
    row |= {"writes_per_s": _rate(cells, "write", length_s)}
    for count, size, column in ((reads, "KiB/r", "read_bytes_per_s"), (writes, "KiB/w", "write_bytes_per_s")):
        kib = _number(cells.get(size, ""))
        row[column] = None if count is None or kib is None else count * kib * 1024 / length_s
    if queue is not None and busy_pct is not None:
        row["queue"] = queue * busy_pct / 100
    if queue is not None and busy_ms is not None and (reads or writes):
        row["request_ms"] = queue * busy_ms
    report.row("disk", row, device=name)
    report.statistic("kernel", "atop.busy_queue", queue, "requests", entity=name)
    report.statistic("kernel", "atop.busy_ms", busy_ms, "ms", entity=name)


def _network(report: Report, name: str, cells: Cells, length_s: float) -> None:
    if name == "transport":
        counts = {"tcpo": "segments_out_per_s", "tcprs": "retransmits_per_s"}
        report.row("network", {column: _rate(cells, key, length_s) for key, column in counts.items()}, interface=None)
    elif name != "network":
        errors = [_rate(cells, key, length_s) for key in ("erri", "erro") if key in cells]
        row = {"rx_bytes_per_s": _unit(cells.get("si", ""), RATES), "tx_bytes_per_s": _unit(cells.get("so", ""), RATES)}
        report.row("network", row | {"errors_per_s": sum(filter(None, errors)) if errors else None}, interface=name)


def _process(report: Report, heading: list[str], words: list[str], length_s: float) -> bool:
    """Whether it is a process: its command, which may have blanks, is the last of the columns."""
    columns = heading[: heading.index("CMD") + 1] if "CMD" in heading else []
    if len(words) < len(columns) or not columns or not words[0].isdigit():
        return False
    told = dict(zip(columns, [*words[: len(columns) - 1], " ".join(words[len(columns) - 1 :])], strict=True))
    row = {
        column: seconds * 100 / length_s
        for name, column in (("SYSCPU", "sys_pct"), ("USRCPU", "usr_pct"), ("RDELAY", "run_wait_pct"))
        if (seconds := _seconds(told.get(name, ""))) is not None
    }
    for name, column in (("RDDSK", "read_bytes_per_s"), ("WRDSK", "write_bytes_per_s")):
        if (size := _size(told.get(name, ""))) is not None:
            row[column] = size / length_s
    rss = {"rss_bytes": size} if (size := _size(told.get("RSIZE", ""))) is not None else {}
    return report.row("process", row | rss | {"command": told["CMD"].strip("<>")}, pid=int(words[0]))


def _number(text: str) -> float | None:
    """A count, a share, or what is rounded: 12345, 59%, 1986e4, >52851."""
    return number(text.removeprefix(">").removesuffix("%"))


def _rate(cells: Cells, name: str, length_s: float) -> float | None:
    count = _number(cells.get(name, ""))
    return None if count is None else count / length_s


def _size(text: str) -> float | None:
    value = number(text[:-1])
    return None if value is None or text[-1:] not in SIZES else value * SIZES[text[-1]]


def _unit(text: str, units: Mapping[str, float]) -> float | None:
    value, _, unit = text.partition(" ")
    amount = number(value)
    return None if amount is None or unit not in units else amount * units[unit]


def _seconds(text: str) -> float | None:
    """A time as 10s, 10 seconds, 4m36s, 37d3h13m; null where it is none."""
    parts = SPAN.findall(text.replace(" seconds", "s"))
    if not parts or any(number(value) is None for value, _ in parts):
        return None
    return sum(float(value) * SECONDS[unit] for value, unit in parts)


TAKERS: Final[dict[str, Callable[[Report, str, Cells, float], None]]] = {
    "CPU": _cpu,
    "PRC": _tasks,
    "CPL": _load,
    "MEM": _memory,
    "SWP": _swap,
    "PAG": _paging,
    "PSI": _pressure,
    "DSK": _disk,
    "LVM": _disk,
    "MDD": _disk,
    "NET": _network,
}
