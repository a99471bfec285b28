"""z/VM Performance Toolkit: the screens and reports FCX100 (CPU), FCX113 (UPAGE), FCX114 (USTAT), FCX225 (SYSSUMLG).

FCX113 and FCX114 fill `guest`: pages read per second, resident (R<2GB and R>2GB) and paged out (XSTOR and DASD)
memory in pages of 4 KiB, and %PGW, the share of a guest's active samples in which it waited for a page. FCX100 fills
`cpu`: %EMU (guests) is usr_pct, %CP (the hypervisor) sys_pct, %WT idle_pct. All other columns are `statistic`,
component `zvm`, named `SCREEN.column` (`UPAGE.X>DS`, `USTAT.%PGA`, `SYSSUMLG.Pct Busy`), entity the guest or the
processor. `>>Mean>>` and the like become rows without an entity. Columns are found by their headings, so that those
of other releases fall into place; the figures of a column whose heading cannot be told are left out. Layouts are
those of IBM's documentation (z/VM Performance Toolkit Reference, SC24-6210). Times are the system's local ones.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Final

from doctord._native import Batch
from doctord.read.clock import Clock
from doctord.read.figures import Figures, Places
from doctord.read.format import Rank
from doctord.read.moments import ZONE_ASSUMED, placed_moment
from doctord.read.source import SourceFile
from doctord.regex import regex

NAME = "z/VM Performance Toolkit"
RANK = Rank.NAMED
PAGE_BYTES: Final = 4096.0
SCREENS: Final = {"FCX100": "CPU", "FCX113": "UPAGE", "FCX114": "USTAT", "FCX225": "SYSSUMLG"}
BEGINS: Final = regex(r"[10 ]?\s*(FCX\d{3})\b")
MOMENT: Final = regex(r"\s*(From|To)\s+(\d{4})/(\d\d)/(\d\d) (\d\d:\d\d:\d\d)")
LENGTH: Final = regex(r"\s*For\s+(\d+) Secs")
INTERVAL: Final = regex(r"Interval (\d\d):(\d\d):(\d\d) ?- ?(\d\d):(\d\d):(\d\d)")
SYSTEM: Final = regex(r"for system (\S+)")
NUMBER: Final = regex(r"(-?(?:\d+\.?\d*|\.\d+))([KMGT]?)%?$")
NOT_MEASURED: Final = regex(r"[.\-*]+$")
PROCESSOR: Final = regex(r"P([0-9A-F]{1,4})$")
TIME: Final = regex(r"(\d\d):(\d\d)(?::(\d\d))?$")
POWERS: Final = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}
FIRST_COLUMN: Final = ("Userid", "PROC")
NEAR: Final = 3  # figures end where their headings end, or nearly
STACKED: Final = 2  # lines of headings that make one name in FCX225

GUESTS: Final[Places] = {
    "%PGW": ("page_wait_pct", 1.0),
    "Reads": ("page_reads_per_s", 1.0),
    "R<2GB": ("resident_bytes", PAGE_BYTES),
    "R>2GB": ("resident_bytes", PAGE_BYTES),
    "Resident": ("resident_bytes", PAGE_BYTES),
    "XSTOR": ("paged_out_bytes", PAGE_BYTES),
    "DASD": ("paged_out_bytes", PAGE_BYTES),
}
PROCESSORS: Final[Places] = {"%EMU": ("usr_pct", 1.0), "%CP": ("sys_pct", 1.0), "%WT": ("idle_pct", 1.0)}


@dataclass
class Screen:
    """What was said so far of one screen or report."""

    kind: str
    moment: datetime | None = None
    length_s: float | None = None
    headings: list[str] = field(default_factory=list)
    clock: Clock | None = None
    is_begun: bool = False


def sniff(head: str) -> bool:
    """Whether a line begins with the number of one of the screens."""
    return any((found := BEGINS.match(line)) and found[1] in SCREENS for line in head.splitlines())


def read(source: SourceFile) -> Iterator[Batch]:
    """The rows of all screens."""
    figures, screen = Figures(source), Screen("")
    for line, text in source.lines():
        if begins := BEGINS.match(text):
            screen = Screen(SCREENS.get(begins[1], ""))
            if not screen.kind:
                source.note(f"{begins[1]} is not read")
        words = text.split()
        if not screen.kind or not words or _is_about(text, screen, source) or begins:
            continue
        if not _is_row(words, screen):
            screen.headings.append(text)
        elif words[0].startswith(">") and screen.kind == "SYSSUMLG":
            continue  # the mean of the lines below
        elif screen.moment is None and not TIME.match(words[0]):
            source.skip(line, "figures without their time")
        else:
            yield from _begun(words, screen, figures)
            _take(figures, screen, words[0], _by_heading(text, screen))
    yield from figures.rest()


def _is_about(text: str, screen: Screen, source: SourceFile) -> bool:
    """Whether a line tells when and what the screen is of."""
    if found := SYSTEM.search(text):
        source.host = found[1]
    if found := MOMENT.match(text):
        moment = placed_moment(f"{found[2]}-{found[3]}-{found[4]} {found[5]}", source)
        screen.clock = screen.clock or Clock(source, date(int(found[2]), int(found[3]), int(found[4])))
        screen.moment = moment if found[1] == "To" else screen.moment
        return True
    if found := LENGTH.match(text):
        screen.length_s = float(found[1]) or None
        return True
    if found := INTERVAL.search(text):
        begin, end = [int(part) for part in found.groups()[:3]], [int(part) for part in found.groups()[3:]]
        clock = Clock(source)
        begun, screen.moment = clock.at(*begin), clock.at(*end)
        screen.length_s = (screen.moment - begun).total_seconds() or None
        if source.zone is None:
            source.note(ZONE_ASSUMED)
        return True
    return False


def _is_row(words: list[str], screen: Screen) -> bool:
    """Whether a line holds figures: something named, and then mostly numbers."""
    if len(words) < 3 or not screen.headings or words[0].startswith("<"):
        return False
    figures = [word for word in words[1:] if NUMBER.match(word) or NOT_MEASURED.match(word)]
    return len(figures) * 2 > len(words) - 1 and not set(words[0]) <= set("_-=")


def _begun(words: list[str], screen: Screen, figures: Figures) -> Iterator[Batch]:
    """The moment of the row is that of the screen, but in a log, where each row has its own."""
    time = TIME.match(words[0])
    if screen.kind == "SYSSUMLG" and time and screen.clock:
        before = screen.moment if screen.is_begun else None
        screen.moment = screen.clock.at(int(time[1]), int(time[2]), int(time[3] or 0))
        length_s = (screen.moment - before).total_seconds() if before else None
        yield from figures.at(screen.moment, length_s)
    elif not screen.is_begun and screen.moment:
        yield from figures.at(screen.moment, screen.length_s)
    screen.is_begun = True


def _by_heading(text: str, screen: Screen) -> dict[str, float]:
    """The figures of a row, each under the heading that ends where it ends."""
    single = [line for line in screen.headings if line.split()[0] in FIRST_COLUMN][-1:]
    lines = screen.headings[-STACKED:] if screen.kind == "SYSSUMLG" else single
    named = [[(word.end(), word[0]) for word in re.finditer(r"\S+", line)] for line in lines]
    held = dict[str, float]()
    for word in list(re.finditer(r"\S+", text))[1:]:
        near = [min(names, key=lambda name: abs(name[0] - word.end()), default=(10**6, "")) for names in named]
        name = " ".join(heading for end, heading in near if abs(end - word.end()) <= NEAR).replace("- ", "")
        value = _value(word[0])
        if name and value is not None and name not in held:
            held[name] = value
    return held


def _value(text: str) -> float | None:
    """A figure, with the letter of its size; null when it is none, or was not measured.

    >>> _value("1024K"), _value(".5"), _value("....")
    (1048576.0, 0.5, None)
    """
    found = NUMBER.match(text)
    return float(found[1]) * 1024.0 ** POWERS[found[2]] if found else None


def _take(figures: Figures, screen: Screen, about: str, values: dict[str, float]) -> None:
    others, entity = values, None if about.startswith((">", "*")) or screen.kind == "SYSSUMLG" else about
    if screen.kind == "CPU" and (processor := PROCESSOR.match(about)):
        others = figures.fill("cpu", PROCESSORS, values.items(), cpu=int(processor[1], 16))
    elif screen.kind in {"UPAGE", "USTAT"} and entity:
        others = figures.fill("guest", GUESTS, values.items(), guest=entity)
    for name, value in others.items():
        unit = "pct" if name.startswith("%") else None
        figures.statistic("zvm", f"{screen.kind}.{name}", value, unit, entity=entity)
