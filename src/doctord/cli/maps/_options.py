"""Options that the commands on latency maps share."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from doctord.cli import Terminal
from doctord.cli.arguments import Db, HostNamed, OfFiles, argument, file, flag, length, moment, name, number
from doctord.report.files import check_writable
from doctord.units import parse_duration

if TYPE_CHECKING:
    from doctord.app.maps.recorded import Wanted
    from doctord.dataset.dataset import Dataset
    from doctord.report.map.view import View

List = Annotated[bool, flag("List what can be mapped, and end.", "--list")]
HtmlPage = Annotated[Path | None, file("Write a page to zoom into and to compare.")]


@dataclass(frozen=True)
class Subject:
    """What was timed, and where."""

    subject: Annotated[str | None, name("What was timed: a wait event, a call...", "--event", "--subject")] = None
    db: Db = None
    instance: Annotated[str | None, name("One instance of a clustered server.")] = None


@dataclass(frozen=True)
class Where(Subject):
    """Where latencies are kept, and when they were."""

    sources: Annotated[
        list[Path] | None, argument("Lakes or files, - is standard input; none: the usual lake.", "SOURCE")
    ] = None
    host: HostNamed = None
    since: Annotated[str | None, moment("Columns after this moment; of the usual lake -1h if not said.", "--from")] = (
        None
    )
    until: Annotated[str | None, moment("Columns up to this moment.", "--to")] = None
    column: Annotated[str | None, length("Width of a column.", "--interval")] = None


@dataclass(frozen=True)
class Kept(OfFiles, Where):
    """Latencies that are kept: which are wanted, where they are, and what the user says of files."""

    def wanted(self) -> "Wanted":
        """The subject, and where."""
        from doctord.app.maps.recorded import Wanted

        column_s = parse_duration(self.column) if self.column else None
        return Wanted(self.subject, self.db, self.instance, self.host, column_s)

    def dataset(self) -> "Dataset":
        """The rows of that time.

        Raises:
            UserError: a source cannot be read, or an option is not of its form.
        """
        from doctord.app.asked import Interval
        from doctord.app.maps.recorded import recorded

        return recorded(self.sources or (), Interval.asked(self.since, self.until), self.options(), Terminal())


@dataclass(frozen=True, slots=True)
class Look:
    """How a map is drawn."""

    rows: Annotated[int | None, number("Rows of a map.", min=1)] = None
    columns: Annotated[int | None, number("Columns of a map.", min=1)] = None
    scale: Annotated[Literal["root", "log", "linear"], flag("How values become colours.")] = "root"
    percentiles: Annotated[bool, flag("Mark median (5), 95 % (9) and 99 % (!).", "--percentiles")] = False
    threshold: Annotated[str | None, length("Draw a line at this latency: 10ms.")] = None

    def view(self) -> "View":
        """The options as numbers."""
        from doctord.report.map.view import View

        threshold_us = parse_duration(self.threshold) * 1e6 if self.threshold else None
        return View(self.rows, self.columns, self.scale, self.percentiles, threshold_us)


@dataclass(frozen=True, slots=True)
class Pictures:
    """Where to write a page and pictures."""

    html: HtmlPage = None
    svg: Annotated[Path | None, file("Write the maps as a picture.")] = None
    png: Annotated[Path | None, file("Write the maps as a picture.")] = None

    def files(self) -> Sequence[Path | None]:
        """The same, in this order.

        Raises:
            UserError: one of them could not be written in the end, and nobody should wait for it.
        """
        check_writable(self.html, self.svg, self.png)
        return self.html, self.svg, self.png
