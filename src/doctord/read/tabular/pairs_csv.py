"""Any table of text with a time, a latency and perhaps what was timed in each line: comma, semicolon, tab or blanks.

The columns are found by their names, and so are the units (`latency_us`, `elapsed (ms)`).
"""

import csv
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import NamedTuple

from doctord._native import Batch
from doctord.dataset.rows import micros
from doctord.errors import UserError
from doctord.read.format import Rank
from doctord.read.moments import ZONE_ASSUMED, placed_moment
from doctord.read.single_waits import Waits
from doctord.read.source import SourceFile
from doctord.read.time_units import unit_us
from doctord.regex import regex

NAME = "tables of time and latency (CSV)"
RANK = Rank.ANY_TABLE
DELIMITERS = (",", ";", "\t", " ")
LATENCY = regex(r"lat|latency|elapsed|duration|response|resp|rt|wait|waited|ela|took|delay|delta", re.IGNORECASE)
TIME = regex(r"time|timestamp|ts|t|date|datetime|moment|epoch|clock|start|end|when", re.IGNORECASE)
SUBJECT = regex(r"event|name|label|operation|op|query|type|subject|method|call|device", re.IGNORECASE)
SUMS = regex(r"waits|timeouts", re.IGNORECASE)
# `latencyMs`, `elapsed (ms)`, and `TIMEus`, as DTrace's scripts write it.
WORD = regex(r"[A-Z]{2,}(?=[mun]?s\b)|[A-Z]*[a-zµ]+|[A-Z]+")
MOST_BLANK_COLUMNS = 3
NUMBER = regex(r"[+-]?\d+(?:\.\d*)?(?:e[+-]?\d+)?$", re.IGNORECASE)
# Numbers of this size and above, since 1970, are seconds no more, but milliseconds, microseconds, nanoseconds.
SIZES_US = ((1e17, 1e-3), (1e14, 1.0), (1e11, 1e3), (0.0, 1e6))


class Layout(NamedTuple):
    """Which column is which, by number, and their units in microseconds, null where the names do not say."""

    delimiter: str
    time: int
    latency: int
    subject: int | None
    time_unit_us: float | None
    latency_unit_us: float | None
    has_names: bool

    def fields(self, line: str) -> list[str]:
        """The cells of a line without blanks around them; beside `;` a comma is the decimal point."""
        if self.delimiter == " ":
            return line.split()
        parsed = next(csv.reader([line.replace("\r", " ")], delimiter=self.delimiter), [])
        return [value.strip().replace(",", ".") if self.delimiter == ";" else value.strip() for value in parsed]


def sniff(head: str) -> bool:
    """Whether the first line names a time and a latency, or the first two are two numbers each."""
    return not head.startswith("{") and layout_of(head) is not None


def layout_of(head: str) -> Layout | None:
    """How a table that begins so is laid out; null when it is none."""
    lines = [line for line in head.lstrip("\ufeff").splitlines()[:20] if line.strip() and not line.startswith("#")]
    for delimiter in DELIMITERS:
        bare = Layout(delimiter, 0, 1, None, None, None, has_names=False)
        names = bare.fields(lines[0]) if lines else []
        # Blanks are what stands between the words of any text: few columns only.
        found = _named(delimiter, names)
        has_units = found is not None and found.time_unit_us is not None and found.latency_unit_us is not None
        if found and (delimiter != " " or len(names) <= MOST_BLANK_COLUMNS or has_units):
            return found
        if len(lines) > 1 and all(_are_two_numbers(bare.fields(line)) for line in lines[:2]):
            return bare
    return None


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `latency`, in columns of a second.

    Raises:
        UserError: neither the table nor the user says the unit of the latencies.
    """
    layout = layout_of(source.head)
    if layout is None:
        return
    scale_us = layout.latency_unit_us or source.unit_us
    if scale_us is None:
        raise UserError(f"{source.name} does not say the unit of its latencies", "say it: doctord map --unit 1ms")
    waits, awaits_names = Waits(source), layout.has_names
    for number, line in source.lines():
        if not line.strip("\ufeff \t") or line.startswith("#"):
            continue
        if awaits_names:
            awaits_names = False
            continue
        fields = layout.fields(line)
        try:
            time_us = _time_us(fields[layout.time], layout, source)
            latency_us = float(fields[layout.latency]) * scale_us
            subject = fields[layout.subject] if layout.subject is not None else "latency"
        except (IndexError, ValueError):
            source.skip(number, "no time and latency")
            continue
        yield from waits.add(number, time_us, latency_us, subject or "latency")
    yield from waits.flush()


def _named(delimiter: str, names: list[str]) -> Layout | None:
    words = [WORD.findall(name) for name in names]
    if _column(words, SUMS, ()) is not None:
        return None  # a line is many waits, and not one
    latency = _column(words, LATENCY, ())
    time = _column(words, TIME, (latency,))
    if latency is None or time is None:
        return None
    subject = _column(words, SUBJECT, (latency, time))
    return Layout(delimiter, time, latency, subject, _unit(words[time]), _unit(words[latency]), has_names=True)


def _column(words: list[list[str]], wanted: "re.Pattern[str]", taken: tuple[int | None, ...]) -> int | None:
    found = (nth for nth, held in enumerate(words) if nth not in taken and any(map(wanted.fullmatch, held)))
    return next(found, None)


def _unit(words: list[str]) -> float | None:
    return next((us for word in words[1:] if (us := unit_us(word)) is not None), None)


def _are_two_numbers(fields: list[str]) -> bool:
    return len(fields) == 2 and all(map(NUMBER.match, fields))


def _time_us(text: str, layout: Layout, source: SourceFile) -> float:
    if NUMBER.match(text):
        value = float(text)
        return value * (layout.time_unit_us or next(us for size, us in SIZES_US if abs(value) >= size))
    try:
        moment: datetime | None = datetime.fromisoformat(text)
    except ValueError:
        moment = placed_moment(text, source)
    if moment is None:
        raise ValueError(text)
    if moment.tzinfo is None and source.zone is None:
        source.note(ZONE_ASSUMED)
    return micros(moment if moment.tzinfo else moment.replace(tzinfo=source.zone or UTC))
