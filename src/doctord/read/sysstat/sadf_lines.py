"""What `sadf -d` (semicolons, for databases) and `sadf -p` (tabs, one figure a line) print.

Tables, names and what is left out are those of sar's text. Times that end with `UTC` or count seconds (`-U`) need no
zone; others are local, so that `--zone` tells it or UTC is assumed. `sadf -d -h`, which puts everything into one line,
is not read.
"""

from collections.abc import Iterator
from functools import cache

from doctord._native import Batch
from doctord.errors import UserError
from doctord.read.format import Rank
from doctord.read.source import SourceFile
from doctord.read.sysstat.scan import scan
from doctord.read.sysstat.vocabulary import VOCABULARY
from doctord.regex import regex

NAME = "sadf's lines"
RANK = Rank.NAMED
TIME = r"(?:\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?: \S+)?|\d{9,10})"
HEADING = regex(r"# hostname;interval;timestamp;")
SEMICOLONS = regex(rf"[^;\s]*;-?\d+;{TIME};")
TABS = regex(rf"[^\t]*\t-?\d+\t{TIME}\t(?:[^\t]+\t[^\t]+\t|LINUX-RESTART|COM )")

EVENT = regex(r"[^\t]*\t-?\d+\t[^\t]+\t(?:LINUX-RESTART|COM )")
FIGURE_FIELDS = 6  # host, interval, time, item, name, value
CPU = regex(r"^cpu(\d+)$")  # a column of interrupts
NUMBERED = regex(r"^(?:fan|temp|in|bat|bus|ttyS)(\d+)$")


def sniff(head: str) -> bool:
    """Whether its first line is one of sadf."""
    line = head.lstrip().partition("\n")[0]
    return any(known.match(line) for known in (HEADING, SEMICOLONS, TABS))


def read(source: SourceFile) -> Iterator[Batch]:
    """The rows of the report.

    Raises:
        UserError: it has all figures of a moment in one line.
    """
    if TABS.match(source.head.lstrip().partition("\n")[0]):
        yield from scan("lines", source, _with_semicolons(source))
        return
    if "[...]" in source.head.partition("\n")[0]:
        raise UserError(f"{source.name}: sadf -d with -h puts all into one line", "run sadf -d without -h, or sadf -j")
    yield from scan("lines", source, source.chunks())


def _with_semicolons(source: SourceFile) -> Iterator[bytes]:
    """Lines of `sadf -p` as `sadf -d` writes them: those of one time, thing and switch in one, under a heading."""
    about: list[str] = []
    held: dict[str, str] = {}
    switch = None
    for number, line in source.lines():
        fields = line.split("\t")
        begun = _switch(fields[4], by_item=fields[3] != "-") if len(fields) == FIGURE_FIELDS else None
        if fields[:4] != about or fields[4] in held or begun not in {None, switch}:
            yield _line(about, held)
            about, held, switch = fields[:4], {}, begun
        if len(fields) == FIGURE_FIELDS:
            held[fields[4]] = fields[5]
        elif EVENT.match(line):
            yield ";".join([*fields[:3], " ".join(fields[3:])]).encode() + b"\n"
        elif line.strip():
            source.skip(number, "no line of sadf -p")
    yield _line(about, held)


@cache
def _switch(name: str, *, by_item: bool) -> str | None:
    """What a figure begins; null when it goes on with what another began."""
    return VOCABULARY.activity([name], by_item=by_item)


def _line(about: list[str], held: dict[str, str]) -> bytes:
    if not held:
        return b""
    *when, item = about
    heading, values = [CPU.sub(r"CPU\1", name) for name in held], [*held.values()]
    if item != "-":
        heading.insert(0, "INTR" if heading[0] == "all" or heading[0].startswith("CPU") else "DEV")
        values.insert(0, NUMBERED.sub(r"\1", item))
    return "\n".join([";".join(["# hostname;interval;timestamp", *heading]), ";".join([*when, *values]), ""]).encode()
