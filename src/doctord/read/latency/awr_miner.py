"""Histograms of I/O waits over AWR snapshots, as the script AWR-miner writes them: powers of two milliseconds.

Counts are what each snapshot gained, all instances together. When a snapshot ended stands in another section.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime

from doctord._native import Batch
from doctord.chart.rows import micros, rows
from doctord.read.moments import ZONE_ASSUMED
from doctord.read.source import Source

NAME = "AWR-miner's output"
NO_SNAPSHOT = "a histogram of a snapshot whose end is not known"

SECTION = re.compile(r"~~(BEGIN|END)-(.+?)~~")
NAME_LINE = re.compile(r"DB_NAME\s+(\S+)")
SNAPSHOT = re.compile(r"\s*(\d+)\s+(\d+(?:\.\d+)?)\s+(\d\d/\d\d/\d\d \d\d:\d\d)\s")
# Snapshot, class (20 letters wide, and with blanks in it), event, upper edge, count.
ROW = re.compile(r"\s*(\d+) .{20} (\S.*?)\s+(\d+)\s+(\d+)\s*$")
QUIET = re.compile(r"\s*$|\s*SNAP_ID\b|[-\s]+$|\d+ rows selected|no rows selected", re.IGNORECASE)

Bucket = tuple[float, float | None, int]


@dataclass
class Snapshots:
    """What is known of the database and of each snapshot's time: its end, and minutes."""

    source: Source
    db: str = "oracle"
    ends: dict[str, tuple[datetime, float]] = field(default_factory=dict)

    def take(self, section: str, line: str, number: int) -> None:
        """A line of a section without histograms."""
        if section == "OS-INFORMATION" and (found := NAME_LINE.match(line)):
            self.db = f"oracle:{found[1]}"
        elif section == "MAIN-METRICS" and (found := SNAPSHOT.match(line)):
            try:
                end = datetime.strptime(found[3], "%y/%m/%d %H:%M").replace(tzinfo=self.source.zone or UTC)
            except ValueError:
                self.source.skip(number, "no date and time of day")
                return
            self.ends[found[1]] = (end, float(found[2]))


def sniff(head: str) -> bool:
    """Whether a file that begins so is of AWR-miner."""
    return bool(re.match(r"\s*~~BEGIN-", head))


def read(source: Source) -> Iterator[Batch]:
    """Rows of `latency` by event, an interval for each snapshot; an event that is not in one had no wait."""
    snapshots, section, held = Snapshots(source), "", dict[tuple[str, str], list[Bucket]]()
    for number, line in source.lines():
        if found := SECTION.match(line):
            section = found[2] if found[1] == "BEGIN" else ""
        elif section != "IO-WAIT-HISTOGRAM":
            snapshots.take(section, line, number)
        elif (row := ROW.match(line)) and int(row[3]).bit_count() != 1:
            source.skip(number, "no power of two milliseconds")
        elif row and row[1] in snapshots.ends:
            held.setdefault((row[1], row[2]), []).append((int(row[3]) // 2 * 1e3, int(row[3]) * 1e3, int(row[4])))
        elif row:
            source.skip(number, NO_SNAPSHOT)
        elif not QUIET.match(line):
            source.skip(number, "not a bucket of a histogram")
    if held:
        if source.zone is None:
            source.note(ZONE_ASSUMED)
        yield rows("latency", _rows(snapshots, held))


def _rows(snapshots: Snapshots, held: dict[tuple[str, str], list[Bucket]]) -> Iterator[dict[str, object]]:
    events = {event for _, event in held}
    for snapshot in {snapshot for snapshot, _ in held}:
        end, minutes = snapshots.ends[snapshot]
        at = {"ts": micros(end), "interval_s": minutes * 60, "db": snapshots.db}
        for event in events:
            for low, high, count in held.get((snapshot, event), [(0.0, None, 0)]):
                yield at | {"subject": event, "gt_us": low, "le_us": high, "count": count}
