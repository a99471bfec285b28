"""Hands a file to the native scanner, piece by piece."""

from collections.abc import Iterable, Iterator

from doctord._native import Batch, SarScanner
from doctord.chart.tables import TABLES
from doctord.read.source import Source
from doctord.read.sysstat.vocabulary import Vocabulary

LAYOUTS = {
    name: TABLES[name].layout for name in ("cpu", "memory", "disk", "network", "filesystem", "statistic", "event")
}


def scan(form: str, source: Source, pieces: Iterable[bytes]) -> Iterator[Batch]:
    """The rows of what sar (`text`), `sadf -d` (`lines`) or `sadf -j` (`json`) printed."""
    scanner = SarScanner(form, Vocabulary(source), LAYOUTS)
    for piece in pieces:
        yield from scanner.feed(piece)
        _tell(scanner, source)
    yield from scanner.finish()
    _tell(scanner, source)
    source.sum_up()


def _tell(scanner: SarScanner, source: Source) -> None:
    for line, reason in scanner.skipped():
        source.skip(line, reason)
