"""What the commands on latency maps share: their options, and how a map is printed and written."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from doctord.cli._output import Terminal, check_writable, write
from doctord.cli.arguments import Db, HostNamed, OfFiles, interval, length_s, length_us

if TYPE_CHECKING:
    from doctord.analyse.latency.map import LatencyMap
    from doctord.app.map import Wanted
    from doctord.dataset.dataset import Dataset
    from doctord.report.map.view import View

List = Annotated[bool, typer.Option("--list", help="List what can be mapped, and end.")]
HtmlPage = Annotated[Path | None, typer.Option(metavar="FILE", help="Write a page to zoom into and to compare.")]


class ScaleChoice(StrEnum):
    """How values become colours."""

    ROOT = "root"
    LOG = "log"
    LINEAR = "linear"


@dataclass(frozen=True, slots=True)
class Subject:
    """What was timed, and where."""

    subject: Annotated[
        str | None, typer.Option("--event", "--subject", metavar="NAME", help="What was timed: a wait event, a call...")
    ] = None
    db: Db = None
    instance: Annotated[str | None, typer.Option(metavar="NAME", help="One instance of a clustered server.")] = None


@dataclass(frozen=True, slots=True)
class Kept:
    """Where latencies are kept, and which of them are wanted."""

    sources: Annotated[
        list[Path] | None,
        typer.Argument(metavar="SOURCE", help="Lakes or files, - is standard input; none: the usual lake."),
    ] = None
    host: HostNamed = None
    since: Annotated[
        str | None,
        typer.Option("--from", metavar="MOMENT", help="Columns after this moment; of the usual lake -1h if not said."),
    ] = None
    until: Annotated[str | None, typer.Option("--to", metavar="MOMENT", help="Columns up to this moment.")] = None
    column: Annotated[str | None, typer.Option("--interval", metavar="LENGTH", help="Width of a column.")] = None

    def wanted(self, subject: Subject) -> "Wanted":
        """The subject, and where."""
        from doctord.app.map import Wanted

        return Wanted(subject.subject, subject.db, subject.instance, self.host, length_s(self.column))

    def dataset(self, files: OfFiles) -> "Dataset":
        """The rows of that time.

        Raises:
            UserError: a source cannot be read, or an option is not of its form.
        """
        from doctord.app.map import recorded

        return recorded(self.sources or (), interval(self.since, self.until), files.options(), Terminal())


@dataclass(frozen=True, slots=True)
class Look:
    """How a map is drawn."""

    rows: Annotated[int | None, typer.Option(min=1, metavar="N", help="Rows of a map.")] = None
    columns: Annotated[int | None, typer.Option(min=1, metavar="N", help="Columns of a map.")] = None
    scale: Annotated[ScaleChoice, typer.Option(help="How values become colours.")] = ScaleChoice.ROOT
    percentiles: Annotated[bool, typer.Option("--percentiles", help="Mark median (5), 95 % (9) and 99 % (!).")] = False
    threshold: Annotated[str | None, typer.Option(metavar="LENGTH", help="Draw a line at this latency: 10ms.")] = None

    def view(self) -> "View":
        """The options as numbers."""
        from doctord.report.map.view import View

        return View(self.rows, self.columns, self.scale.value, self.percentiles, length_us(self.threshold))


@dataclass(frozen=True, slots=True)
class Pictures:
    """Where to write a page and pictures."""

    html: HtmlPage = None
    svg: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the maps as a picture.")] = None
    png: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the maps as a picture.")] = None

    def check(self) -> None:
        """Refuse what could not be written in the end, before anybody waits for it."""
        check_writable(self.html, self.svg, self.png)

    def write(
        self, view: "View", maps: "Callable[[int], Sequence[LatencyMap]]", compare_at: datetime | None = None
    ) -> None:
        """Write what was asked for: see `report.map_files.contents`."""
        from doctord.report.map.files import contents

        for file, content in contents((self.html, self.svg, self.png), view, maps, compare_at):
            write(file, content)


def show(drawn: "LatencyMap", view: "View", compare_at: datetime | None = None, *, json: bool) -> None:
    """Print a map, what can be read from it, and what differs after a moment."""
    from doctord.report.map import printed as map_printed
    from doctord.report.map.document import document

    typer.echo(
        dumps(document(drawn, compare_at), allow_nan=False) if json else map_printed.render(drawn, view, compare_at)
    )
