"""dstat and dool as they print on a terminal: columns between bars, colours, headings again on every screen.

Tables and names are those of their CSV (`dstat`). Figures are rounded to what fits: `26.1G`; k, M and G are powers of
1024 for bytes, of 1000 for what is counted. `missed N ticks` behind a line is noted; the time tells how long it covers.
A column `time` has no year: that of the file's last change, or the one before, is taken. Without one the last line is
taken to be when the file was last written. The first line of the file covers the time since boot.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Final, NamedTuple

from doctord._native import Batch
from doctord.read.clock import A_MINUTE, untimed
from doctord.read.collectors.dstat import ABOUT, DAY_TIME, GROUPS, ONE_CPU, DstatRow, Run, tables_of
from doctord.read.figures import number
from doctord.read.format import Rank
from doctord.read.moments import ZONE_ASSUMED
from doctord.read.source import SourceFile
from doctord.regex import regex

NAME = "dstat on a terminal"
RANK = Rank.NAMED
LOOKED_AT: Final = 20
COLOURS: Final = regex(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\(B|\r")
TITLES: Final = regex(r"-+[a-z][\w/. -]*-(?: ?>)?$")
BETWEEN: Final = regex(r"[|:]")
MISSED: Final = regex(r" *missed (\d+) ticks?\s*$")
SAID: Final = regex(r"You did not select|Terminal width too small|Module dstat|.*\bCSV\b")
FIGURE: Final = regex(r"(-?\d+(?:\.\d+)?)([BkMGT]?)$")
POWERS: Final = {"": 0, "B": 0, "k": 1, "M": 2, "G": 3, "T": 4}
OF_BYTES: Final = ("dsk", "net", "memory usage", "paging", "swap", "raw", "sysv")
NO_ROW: Final = "no row of figures below the heading"
TICKS: Final = "{} of its ticks were missed: the host was too busy, or was stopped"
TIMES: Final = ("time", "date/time", "epoch")


class Heading(NamedTuple):
    """What two lines of titles tell: where one block of columns ends and the next begins, and what they are."""

    cuts: list[int]
    names: list[list[str]]
    run: Run

    def cells(self, line: str) -> list[str] | None:
        """The figures of a line, as plain numbers; null where it is none of this heading."""
        if len(line) <= max(self.cuts, default=0) or any(not BETWEEN.match(line[at]) for at in self.cuts):
            return None
        words = list[str]()
        for names, block in zip(self.names, _blocks(line, self.cuts), strict=True):
            found = [block.strip()] if names[0] in TIMES else block.split()
            if len(found) != len(names):
                return None
            words += found
        plain = [word if name in TIMES else _plain(group, word)
                 for group, name, word in zip(self.run.groups, self.run.columns, words, strict=True)]  # fmt: skip
        return None if None in plain else [cell or "" for cell in plain]


def sniff(head: str) -> bool:
    """Whether a line of titles between dashes has names of columns below it."""
    lines = [COLOURS.sub("", line).rstrip() for line in head.splitlines()[:LOOKED_AT]]
    return any(_heading(titles, names) for titles, names in pairwise(lines))


def read(source: SourceFile) -> Iterator[Batch]:
    """The rows of all screens."""
    yield from tables_of(_rows(source), source)


def _rows(source: SourceFile) -> Iterator[DstatRow]:
    found = list(_lines(source))
    if not found:
        return
    moments: list[datetime | None] = [_moment(heading.run, cells, source) for _, heading, cells in found]
    if all(moment is None for moment in moments):
        moments = [*untimed(source, len(found))]
    for at, ((line, heading, cells), moment) in enumerate(zip(found, moments, strict=True)):
        if moment is None:
            source.skip(line, NO_ROW)
        else:
            yield DstatRow(line, heading.run, moment, cells, is_first=at == 0)


def _lines(source: SourceFile) -> Iterator[tuple[int, Heading, list[str]]]:
    """Number, heading and figures of each line; a heading that comes again is the same."""
    titles, heading, missed = "", None, 0
    for number_of_line, raw in source.lines():
        line = COLOURS.sub("", raw).rstrip()
        if not line or SAID.match(line):
            continue
        if found := MISSED.search(line):
            missed += int(found[1])
            line = line[: found.start()].rstrip()
        if TITLES.match(line):
            titles = line
        elif titles:
            new = _heading(titles, line)
            heading = heading if new and heading and new.run.columns == heading.run.columns else new or heading
            titles = ""
        elif heading and (cells := heading.cells(line)):
            yield number_of_line, heading, cells
        else:
            source.skip(number_of_line, NO_ROW)
    if missed:
        source.note(TICKS.format(missed))


def _heading(titles: str, names: str) -> Heading | None:
    """What two lines tell as a heading; null where they are none."""
    if not TITLES.match(titles):
        return None
    names = names.rstrip(" >")
    cuts = [found.start() for found in BETWEEN.finditer(names)]
    by_block = [block.split() for block in _blocks(names, cuts)]
    groups = [block.strip("- >").replace("-", " ") for block in _blocks(titles, cuts)]
    if not any(_is_known(group) for group in groups) or not all(by_block):
        return None
    run = Run(groups=[group for group, block in zip(groups, by_block, strict=True) for _ in block],
              columns=[name for block in by_block for name in block])  # fmt: skip
    return Heading(cuts, by_block, run)


def _is_known(group: str) -> bool:
    kind, _, name = group.partition("/")
    return group in GROUPS or (kind in ABOUT and bool(name)) or ONE_CPU.match(group) is not None


def _blocks(line: str, cuts: list[int]) -> list[str]:
    return [line[begin:end] for begin, end in zip([0, *(cut + 1 for cut in cuts)], [*cuts, len(line)], strict=True)]


def _plain(group: str, word: str) -> str | None:
    """A figure without its letter; nothing for `-`, null where it is none."""
    if word == "-":
        return ""
    found = FIGURE.match(word)
    if found is None:
        return None
    base = 1024 if group.startswith(OF_BYTES) else 1000
    return repr(float(found[1]) * base ** POWERS[found[2]])


def _moment(run: Run, cells: list[str], source: SourceFile) -> datetime | None:
    told = dict(zip(run.columns, cells, strict=True))
    if (epoch := number(told.get("epoch", ""))) is not None:
        try:
            return datetime.fromtimestamp(epoch, UTC)
        except (ValueError, OverflowError, OSError):
            return None
    text = told.get("time") or told.get("date/time")
    latest = (source.modified or datetime.now(UTC)).astimezone(source.zone or UTC).replace(tzinfo=None) + A_MINUTE
    for layout in DAY_TIME if text else ():
        for year in (latest.year, latest.year - 1):
            try:
                local = datetime.strptime(f"{year} {text}", layout)  # noqa: DTZ007 - zoned below
            except ValueError:
                continue
            if local <= latest + timedelta(days=1) or year < latest.year:
                if source.zone is None:
                    source.note(ZONE_ASSUMED)
                return local.replace(tzinfo=source.zone or UTC)
    return None
