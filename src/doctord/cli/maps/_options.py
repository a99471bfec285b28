"""What the commands on latency maps share: their options, and how a map is printed and written."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from doctord.cli._kinds import argument, file, flag, length, moment, name, number
from doctord.cli._output import Terminal, check_writable, write
from doctord.cli.arguments import Db, HostNamed, OfFiles
from doctord.units import parse_duration

if TYPE_CHECKING:
    from doctord.analyse.latency.map import LatencyMap
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

    def check(self) -> None:
        """Refuse what could not be written in the end, before anybody waits for it."""
        check_writable(self.html, self.svg, self.png)

    def write(
        self, view: "View", maps: "Callable[[int], Sequence[LatencyMap]]", compare_at: datetime | None = None
    ) -> None:
        """Write what was asked for: see `report.map_files.contents`."""
        from doctord.report.map.files import contents

        for path, content in contents((self.html, self.svg, self.png), view, maps, compare_at):
            write(path, content)


def show(drawn: "LatencyMap", view: "View", compare_at: datetime | None = None, *, json: bool) -> None:
    """Print a map, what can be read from it, and what differs after a moment."""
    from doctord.report.map import printed as map_printed
    from doctord.report.map.document import document

    typer.echo(
        dumps(document(drawn, compare_at), allow_nan=False) if json else map_printed.render(drawn, view, compare_at)
    )


def draw(
    wanted: "Wanted",
    dataset: "Dataset",
    view: "View",
    pictures: Pictures,
    compare_at: datetime | None = None,
    *,
    json: bool,
) -> None:
    """Draw latencies: write what was asked for, and print the map of the subject, or of that with most waits."""
    from doctord.report.map.printed import room

    pictures.write(view, lambda columns: wanted.maps_of(dataset, columns), compare_at)
    show(wanted.map_of(dataset, None if json else room(view)), view, compare_at, json=json)
