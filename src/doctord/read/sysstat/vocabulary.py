"""What the native scanner asks of a heading, a key or a header line: the names of sar, in the chart's terms."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime

from doctord.read.clock import Clock
from doctord.read.moments import ZONE_ASSUMED
from doctord.read.source import Source
from doctord.read.sysstat.activities import KIB, MIB, Activity, To, activity_of
from doctord.read.sysstat.banner import parse_banner
from doctord.read.sysstat.sections import SECTIONS

# Columns that say what a line is about.
ITEMS = frozenset(
    "CPU cpu INTR TTY DEV device IFACE FCHOST FILESYSTEM MOUNTPOINT BUS FAN TEMP IN BAT".split()  # noqa: SIM905 - as sar prints them
)
WORDS = frozenset({"DEVICE", "device", "status"})  # columns that hold no figures
PAGE_BYTES = {"sun4": 8192, "i86p": 4096}  # by the beginning of what Solaris calls the machine
EPOCH = date(1970, 1, 1)

Unit = tuple[str | None, str]
_UNITS: dict[str, Unit] = {
    "tps": ("per_s", "rate"),
    "rtps": ("per_s", "rate"),
    "wtps": ("per_s", "rate"),
    "dtps": ("per_s", "rate"),
    "sect/s": ("sectors_per_s", "rate"),
    "blks/s": ("sectors_per_s", "rate"),
    "Kbs/s": ("KiB_per_s", "rate"),
    "svctm": ("ms", "gauge"),
    "cap/min": ("pct_per_min", "gauge"),
    "MHz": ("MHz", "gauge"),
    "wghMHz": ("MHz", "gauge"),
    "degC": ("degC", "gauge"),
    "inV": ("V", "gauge"),
}


@dataclass(frozen=True, slots=True)
class Figure:
    """One column: its name, the columns of the chart that it fills, the statistic that it is (name, unit, kind).

    `bytes` is how many are in its unit, for figures of `sar --human` that bring a unit of their own.
    """

    name: str
    columns: list[tuple[str, float, bool]]
    statistic: tuple[str, str | None, str] | None
    bytes: float = 1.0


@dataclass(frozen=True, slots=True)
class Block:
    """What is under a heading: the kind of figures, their table, its key, the column that says it, and the figures."""

    kind: str
    table: str | None
    key: str | None
    item: int | None
    figures: list[Figure | None]


class Vocabulary:
    """Answers for one file."""

    def __init__(self, source: Source) -> None:
        """Begin a file; nothing is known yet of the machine."""
        self._source = source
        self._page_bytes: int | None = None

    def header(self, line: str) -> tuple[str | None, str, int | None]:
        """Host, component of the statistics, and day (since 1970) of a line that begins a report."""
        banner = parse_banner(line, self._source)
        self._page_bytes = PAGE_BYTES.get((banner.machine or "")[:4])
        day = self._source.day or banner.day
        return banner.host or self._source.host, banner.component, (day - EPOCH).days if day else None

    def day(self, second: int) -> int:
        """The day (since 1970) of a first time of day."""
        moment = Clock(self._source).at(second // 3600, second // 60 % 60)
        return (moment.date() - EPOCH).days

    def place(self, local_s: int, again: bool) -> int:  # noqa: FBT001 - called by the native scanner
        """The moment in microseconds of a local time (seconds); `again` is the later one where a clock was set back."""
        if self._source.zone is None:
            self._source.note(ZONE_ASSUMED)
            return local_s * 1_000_000
        local = datetime.fromtimestamp(local_s, UTC).replace(tzinfo=self._source.zone, fold=int(again))
        return round(local.timestamp()) * 1_000_000

    def heading(self, columns: Sequence[str]) -> Block | None:
        """The columns of a heading; null when no sar prints such."""
        item = item_column(columns)
        activity = self._activity(frozenset(columns), by_item=item is not None)
        if activity is None or (item is not None and activity.table and activity.key is None):
            return None
        key = "mount" if "MOUNTPOINT" in columns else activity.key
        figures = [
            None if place == item or column in WORDS else _figure(activity, column, name)
            for place, (column, name) in enumerate(zip(columns, _told_apart(columns), strict=True))
        ]
        return Block(activity.name, activity.table, key, item, figures)

    def section(self, name: str) -> Block | None:
        """A section of sadf's JSON; its keys are asked for one by one. Null: it holds no figures itself."""
        section = SECTIONS.get(name)
        activity = section and self._activity(frozenset({section.mark}), by_item=bool(section.items))
        return Block(activity.name, activity.table, activity.key, None, []) if activity else None

    def field(self, name: str, key: str) -> tuple[bool, Figure | None]:
        """Whether a key of a section says what a line is about, and its figure."""
        section = SECTIONS[name]
        if key in section.items:
            return True, None
        activity = self._activity(frozenset({section.mark}), by_item=bool(section.items))
        column = section.column(key)
        if activity is None or key in section.left_out or column in WORDS:
            return False, None
        return False, _figure(activity, column, column)

    def _activity(self, columns: frozenset[str], *, by_item: bool) -> Activity | None:
        found = activity_of(columns, by_item=by_item)
        if found and found.name == "free memory" and self._page_bytes:
            to = {"freemem": (To("free_bytes", self._page_bytes),), "freeswap": (To("swap_free_bytes", 512.0),)}
            return replace(found, table="memory", columns=to)
        if found is None and any(column.endswith("/s") or column.startswith(("%", "kb")) for column in columns):
            return Activity("other", frozenset())
        return found


def item_column(columns: Sequence[str]) -> int | None:
    """The column that says what a line is about: the first, or with `sar --pretty` the last."""
    ends = {0, len(columns) - 1} if columns else set()
    return next((place for place in sorted(ends) if columns[place] in ITEMS), None)


def _figure(activity: Activity, column: str, name: str) -> Figure | None:
    if column in activity.left_out:
        return None
    targets = [(to.column, to.factor, to.adds) for to in activity.columns.get(column, ())]
    statistic: tuple[str, str | None, str] | None
    if activity.name == "interrupts":
        statistic = ("sar.intr", "per_s", "rate")
    elif targets and column not in activity.kept:
        statistic = None
    else:
        statistic = (f"sar.{activity.prefix}{name.removesuffix('/s')}", *_unit(column))
    return Figure(column, targets, statistic, _bytes(column))


def _told_apart(columns: Sequence[str]) -> list[str]:
    """Names of columns; one that comes several times is named after the one before (`lg_mem.fail`)."""
    counts = Counter(columns)
    names, owner = [], ""
    for column in columns:
        if counts[column] == 1:
            owner = column
        names.append(column if counts[column] == 1 else f"{owner}.{column}")
    return names


def _unit(column: str) -> Unit:
    if known := _UNITS.get(column):
        return known
    if column.endswith("/s"):
        return ("KiB_per_s" if "kB" in column else "per_s"), "rate"
    units = {"%": "pct", "kb": "KiB", "MB": "MiB"}
    return next((unit for begin, unit in units.items() if column.startswith(begin)), None), "gauge"


def _bytes(column: str) -> float:
    if column.startswith("kb") or "kB" in column:
        return KIB
    return MIB if column.startswith("MB") else 512.0 if "_sec/" in column else 1.0
