"""Block requests one by one, as blkparse and ftrace's `blk` tracer print them: time at the device and time before it.

Tables: `latency`, by device and operation; `block_io`, a row for each request that was completed.

A request is queued (Q), sent to the device (D) and completed (C); blkparse(1) names the actions. Devices stand as
their numbers, as the text has them. Lengths and places are in sectors of 512 bytes.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from doctord._native import Batch
from doctord.dataset.rows import rows
from doctord.read.format import Rank
from doctord.read.single_waits import CLOCK_FROM_1970, Waits
from doctord.read.source import SourceFile
from doctord.regex import regex

NAME = "blkparse's text and ftrace's blk tracer"
RANK = Rank.NAMED
COLUMN_US = 10_000
SECTOR_BYTES = 512
MOST_HELD = 20_000
NO_BEGIN = "a completion of what was sent before the trace began"

ACTION = r"(?P<action>[A-Z]{1,2})\s+(?P<rwbs>[A-Z]+)(?:\s+(?P<sector>\d+)(?: \+ (?P<sectors>\d+))?)?(?=\s|$)"
BLKPARSE = regex(rf"\s*(?P<device>\d+,\d+)\s+\d+\s+\d+\s+(?P<seconds>\d+\.\d+)\s+\d+\s+{ACTION}")
FTRACE = regex(rf".*\[\d+\]\s+(?:\S+\s+)?(?P<seconds>\d+\.\d+):\s+(?P<device>\d+,\d+)\s+{ACTION}")
OPERATIONS = {"R": "read", "W": "write", "D": "discard", "N": "other"}
QUIET = regex(r"\s*(?:$|#|CPU\d|Total|Reads |Read |IO unplugs|Throughput|Events|Skips|PC |Writes )")

# The device and the first sector; null for a flush, which has none.
Key = tuple[str, str | None]


def sniff(head: str) -> bool:
    """Whether a request is among the first lines."""
    return any(BLKPARSE.match(line) or FTRACE.match(line) for line in head.splitlines()[:50])


@dataclass
class Requests:
    """What is on its way, and since when, microseconds."""

    waits: Waits
    queued_us: dict[Key, float] = field(default_factory=dict)
    sent_us: dict[Key, float] = field(default_factory=dict)
    queue_us: dict[Key, float] = field(default_factory=dict)
    done: list[dict[str, Any]] = field(default_factory=list)

    def take(self, number: int, line: "re.Match[str]", source: SourceFile) -> Sequence[Batch]:
        """An action; rows of earlier requests when it begins a new column."""
        at_us, operation = float(line["seconds"]) * 1e6, _operation(line["rwbs"])
        key = (line["device"], None if operation == "flush" else line["sector"])
        name = f"{line['device']} {operation}"
        match line["action"]:
            case "Q" if line["sectors"]:
                self.queued_us[key] = at_us
            case "M" | "F":
                self.queued_us.pop(key, None)
            case "D" if operation == "flush" or line["sectors"]:
                self.sent_us[key] = at_us
                if (since_us := self.queued_us.pop(key, None)) is not None:
                    self.queue_us[key] = at_us - since_us
                    return self.waits.add(number, at_us, at_us - since_us, f"{name} queue")
            case "C" if operation == "flush" or line["sectors"]:
                # What has no request of its own, as a device made of others, is never sent: it takes its time from Q.
                since_us = self.sent_us.pop(key, self.queued_us.pop(key, None))
                self._complete(key, operation, line["sectors"], at_us, since_us)
                if since_us is not None:
                    return self.waits.add(number, at_us, at_us - since_us, name)
                source.skip(number, NO_BEGIN)
        return ()

    def _complete(self, key: Key, operation: str, sectors: str | None, at_us: float, since_us: float | None) -> None:
        device, sector = key
        self.done.append(
            {
                "ts": round(at_us),
                "device": device,
                "operation": operation,
                "sector": None if sector is None else int(sector),
                "bytes": None if sectors is None else int(sectors) * SECTOR_BYTES,
                "latency_us": None if since_us is None else at_us - since_us,
                "queue_us": self.queue_us.pop(key, None),
            }
        )

    def completed(self, host: str | None, least: int = 1) -> Iterator[Batch]:
        """Rows of the requests that were completed since the last time, once there are so many."""
        if len(self.done) >= least:
            yield rows("block_io", [row | {"host": host} for row in self.done])
            self.done.clear()


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `block_io`, and of `latency` in columns of 10 ms: `254,0 read`, `254,0 read queue`..."""
    waits = Waits(source, COLUMN_US)
    requests = Requests(waits)
    source.place("time", CLOCK_FROM_1970)
    for number, line in source.lines():
        if found := BLKPARSE.match(line) or FTRACE.match(line):
            yield from requests.take(number, found, source)
            yield from requests.completed(source.host, MOST_HELD)
        elif not QUIET.match(line):
            source.skip(number, "not an action on a request")
    yield from waits.flush()
    yield from requests.completed(source.host)


def _operation(rwbs: str) -> str:
    """What the letters say: `FN` is a flush alone, `FWS` a write behind a flush."""
    return "flush" if rwbs.startswith("FN") else OPERATIONS.get(rwbs.removeprefix("F")[:1], "other")
