"""kstat of Solaris: counters of the kernel, in its usual layout and with -p.

Table: `statistic` (component `solaris`): `kstat.STATISTIC`, the entity being `module:instance:name`. These are readings
since the counter began; what is no number is left out. With -T several readings follow each other.
"""

from collections.abc import Iterable, Iterator
from datetime import date

from doctord._native import Batch
from doctord.read.format import Rank
from doctord.read.source import SourceFile
from doctord.read.tools.headed_tables import NO_FIGURES
from doctord.read.tools.report import Line, Report, placed
from doctord.read.tools.times import moment_in
from doctord.regex import regex

NAME = "kstat"
RANK = Rank.NAMED

PARSABLE = regex(r"([\w,.-]+:\d+:[^\t:]*):(\S[^\t]*)\t(.*)$")
MODULE = regex(r"module:\s+(\S+)\s+instance:\s+(\d+)")
NAMED = regex(r"name:\s+(.*?)\s+class:")
FIGURE = regex(r"\s+([A-Za-z_][\w ,.%/-]*?)\s+(\S+)$")
# What tells counters of the kernel from other lists of names and numbers, where no module stands above them.
KNOWN = frozenset({"as_fault", "maj_fault", "hat_fault", "crtime", "snaptime", "pgpgin", "pgin", "anonpgin"})


def sniff(head: str) -> bool:
    """Whether it has a module's first line, lines of -p, or counters under well-known names."""
    lines = head.splitlines()[:100]
    figures = [found[1] for line in lines if (found := FIGURE.match(line))]
    return any(MODULE.match(line) or PARSABLE.match(line) for line in lines) or not KNOWN.isdisjoint(figures)


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `statistic`."""
    return placed(reports(source.lines(), source), source)


def reports(lines: Iterable[Line], source: SourceFile, day: date | None = None) -> Iterator[Report]:
    """Each reading of the text; a new one begins with a moment."""
    report, module, entity = Report(0, day=day), "", None
    for number, line in lines:
        if found := PARSABLE.match(line):
            _add(report, found[1], found[2], found[3])
        elif found := MODULE.match(line):
            module = f"{found[1]}:{found[2]}"
        elif found := NAMED.match(line):
            entity = f"{module}:{found[1]}"
        elif found := FIGURE.match(line):
            _add(report, entity, found[1], found[2])
        elif at := moment_in(line, source):
            if report:
                yield report
            report = Report(number, at=at)
        elif line.strip():
            source.skip(number, NO_FIGURES)
    if report:
        yield report


def _add(report: Report, entity: str | None, name: str, text: str) -> None:
    try:
        value = float(text)
    except ValueError:
        return  # a word, as the state of a CPU
    report.statistic("solaris", f"kstat.{name}", value, "count", entity=entity)
