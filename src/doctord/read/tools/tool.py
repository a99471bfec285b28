"""A tool whose text is read: iostat, vmstat, mpstat, prstat and their like.

Each module reads one tool. Beside what every format has it has `reports(lines, source, day)`, which takes numbered
lines, as `source.lines()` gives them, and yields a `Report` for each moment that the tool looked at. `block` puts such
reports where an archive says: between two stamps of OSWatcher stands what one of these tools printed.
"""

from collections.abc import Iterable, Iterator
from datetime import date, datetime
from typing import Protocol, runtime_checkable

from doctord._native import Batch
from doctord.read.format import Format, formats
from doctord.read.source import SourceFile
from doctord.read.tools.report import Line, Report, placed


@runtime_checkable
class Tool(Format, Protocol):
    """A module that reads what one tool prints."""

    def reports(self, lines: Iterable[Line], source: SourceFile, day: date | None = None) -> Iterator[Report]:
        """The reports in a text; `day` is that of its first time of day where the text has no date."""
        ...


def tool_of(head: str) -> Tool | None:
    """The tool that printed a text; null when it is none of these."""
    return next((tool for tool in formats() if isinstance(tool, Tool) and tool.sniff(head)), None)


def block(
    tool: Tool, lines: Iterable[Line], source: SourceFile, moment: datetime, every_s: float | None = None
) -> Iterator[Batch]:
    """The rows of what a tool printed at a moment, as a piece of a larger file.

    Args:
        tool: What `tool_of` found.
        lines: The piece: number in the file, and text.
        source: The file; it is told of lines that are skipped, and of what is assumed.
        moment: When the tool was started, with its zone. A report that tells its own time is put there instead.
        every_s: Seconds between the reports of one start, where the tool was told so (`vmstat 1 3`); null: not known.
    """
    return placed(tool.reports(lines, source, moment.date()), source, moment, every_s)
