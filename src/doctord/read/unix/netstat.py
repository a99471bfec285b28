"""`netstat -i` and `netstat -s` of Linux, Solaris and AIX, nstat, /proc/net/snmp and netstat: counters since boot.

Of -i: errors and drops of each interface (it counts packets, not bytes). Of the others: TCP's segments sent, those sent
again, listen queues that overflowed, connections now established. Other counters become `statistic`, component
`kernel`, named `netstat.SECTION.NAME` as the source writes them.

Tables: `network`, `statistic`. Of several outputs in one file, with a line that is a moment above each or not, the
increase from one to the next becomes a rate. Of one alone no rate is known: its counters are readings (`gauge`).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from doctord._native import Batch
from doctord.dataset.rows import micros
from doctord.read.clock import untimed
from doctord.read.counters import Counters
from doctord.read.figures import Figures
from doctord.read.format import Rank
from doctord.read.source import SourceFile
from doctord.read.tools.times import moment_in
from doctord.read.unix.netstat_counts import Count, counts, is_line, is_netstat

NAME = "netstat, nstat"
RANK = Rank.NAMED
LOOKED_AT: Final = 40
SINCE_BOOT: Final = "counters since boot, of one output: two, some time apart, tell rates"
NO_COUNTER: Final = "neither a counter nor a heading of netstat"


@dataclass(slots=True)
class Output:
    """What one start printed, and when, where the text tells it."""

    at: datetime | None = None
    lines: list[str] = field(default_factory=list)


class Rates:
    """What netstat counted, as rates between two moments."""

    def __init__(self, source: SourceFile) -> None:
        """Nothing was counted yet."""
        self._figures = Figures(source)
        self._counters = Counters()
        self._before: datetime | None = None

    def take(self, lines: list[str], moment: datetime, *, is_alone: bool = False) -> Iterator[Batch]:
        """What netstat printed at this moment; alone, its counters are told as they are."""
        length_s = (moment - self._before).total_seconds() if self._before and moment > self._before else None
        yield from self._figures.at(moment, length_s)
        self._before = moment
        seen = set[tuple[str, str | None]]()
        for count in counts(lines):
            if (count.name, count.interface) not in seen:  # AIX has a line for each address
                seen.add((count.name, count.interface))
                self._put(count, micros(moment), is_alone=is_alone)
        if self._counters.began_again():
            self._figures.row("event", kind="restart", subject="netstat")["text"] = "its counters began again"

    def rest(self) -> Iterator[Batch]:
        """The rows that were held back until the file ends."""
        return self._figures.rest()

    def _put(self, count: Count, at_us: int, *, is_alone: bool) -> None:
        if count.is_counter and is_alone:
            self._figures.statistic("kernel", count.name, count.value, "count", entity=count.interface)
            return
        value: float | None = count.value
        if count.is_counter:
            value = self._counters.per_s((count.name, count.interface), at_us, count.value)
        if count.column:
            self._figures.row("network", interface=count.interface)[count.column] = value
        else:
            self._figures.statistic("kernel", count.name, value, "per_s", kind="rate", entity=count.interface)


def sniff(head: str) -> bool:
    """Whether a heading of netstat or a counter of nstat is among its first lines, and they are nothing else."""
    lines = [line for line in head.splitlines()[:LOOKED_AT] if line.strip()]
    told = [line for line in lines if is_line(line)]
    return len(told) * 2 > len(lines) and is_netstat(lines)


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `network` and `statistic`."""
    outputs = [output for output in _outputs(source) if output.lines]
    if any(output.at is None for output in outputs):
        for output, moment in zip(outputs, untimed(source, len(outputs)), strict=True):
            output.at = moment
    rates = Rates(source)
    if len(outputs) == 1:
        source.note(SINCE_BOOT)
    for output in outputs:
        if output.at:
            yield from rates.take(output.lines, output.at, is_alone=len(outputs) == 1)
    yield from rates.rest()


def _outputs(source: SourceFile) -> Iterator[Output]:
    """Each start's lines: another begins where a moment stands, or where the first line comes again."""
    output, first = Output(), ""
    for number_of_line, line in source.lines():
        text = line.rstrip()
        if not text:
            continue
        if at := moment_in(text, source):
            yield output
            output = Output(at)
        elif text == first:
            if output.lines:
                yield output
                output = Output()
            output.lines.append(text)
        elif is_line(text):
            first = first or text
            output.lines.append(text)
        else:
            source.skip(number_of_line, NO_COUNTER)
    yield output
