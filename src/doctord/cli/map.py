"""`doctord map`: latencies over time as heat maps."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from doctord.cli import app
from doctord.cli.arguments import Refusal, Zone, parse_duration, parse_moment, said

if TYPE_CHECKING:
    from doctord.analyse.latency.map import LatencyMap
    from doctord.app.map import Wanted
    from doctord.cli._map_files import Files
    from doctord.read.source import Told
    from doctord.report.map_view import View


class ScaleChoice(StrEnum):
    """How values become colours."""

    ROOT = "root"
    LOG = "log"
    LINEAR = "linear"


class FormatChoice(StrEnum):
    """What is printed."""

    MAPS = "maps"
    PYLATENCYMAP = "pylatencymap"


@app.command("map")
def map_(
    sources: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[SOURCE]...", help="Lakes or files, - is standard input; none: live."),
    ] = None,
    subject: Annotated[
        str | None, typer.Option("--event", "--subject", metavar="NAME", help="What was timed: a wait event, a call...")
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="List what can be mapped, and end.")] = False,
    interval: Annotated[
        str | None, typer.Option(metavar="LENGTH", help="Width of a column; live: 3s, 1s for a short look.")
    ] = None,
    rows: Annotated[int | None, typer.Option(min=1, metavar="N", help="Rows of a map.")] = None,
    columns: Annotated[int | None, typer.Option(min=1, metavar="N", help="Columns of a map.")] = None,
    db: Annotated[
        str | None, typer.Option(metavar="NAME", help="The server, where there are several: postgresql:5432.")
    ] = None,
    instance: Annotated[str | None, typer.Option(metavar="NAME", help="One instance of a clustered server.")] = None,
    host: Annotated[str | None, typer.Option(metavar="NAME", help="The host, where there are several.")] = None,
    pid: Annotated[
        int | None, typer.Option(metavar="PID", help="Live: the process, where the subject is a system call.")
    ] = None,
    dsn: Annotated[
        str | None,
        typer.Option(
            metavar="DSN", help="Live: a server's address, without a password: oracle://USER@HOST:1521/SERVICE."
        ),
    ] = None,
    length: Annotated[str | None, typer.Option("--for", metavar="LENGTH", help="Live: how long; else until q.")] = None,
    record: Annotated[Path | None, typer.Option(metavar="LAKE", help="Live: keep what is seen in this lake.")] = None,
    since: Annotated[str | None, typer.Option("--from", metavar="MOMENT", help="Columns after this moment.")] = None,
    until: Annotated[str | None, typer.Option("--to", metavar="MOMENT", help="Columns up to this moment.")] = None,
    replay: Annotated[float | None, typer.Option(metavar="SPEED", help="Show it as it grew, so much faster.")] = None,
    scale: Annotated[ScaleChoice, typer.Option(help="How values become colours.")] = ScaleChoice.ROOT,
    percentiles: Annotated[bool, typer.Option("--percentiles", help="Mark median (5), 95 % (9) and 99 % (!).")] = False,
    threshold: Annotated[str | None, typer.Option(metavar="LENGTH", help="Draw a line at this latency: 10ms.")] = None,
    zone: Zone = None,
    compare: Annotated[str | None, typer.Option(metavar="MOMENT", help="Say what differs after this moment.")] = None,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a page to zoom into and to compare.")] = None,
    svg: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the maps as a picture.")] = None,
    png: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the maps as a picture.")] = None,
    unit: Annotated[
        str | None, typer.Option(metavar="LENGTH", help="What 1 stands for in files that do not say it: 1us, 10ms.")
    ] = None,
    format_: Annotated[
        FormatChoice, typer.Option("--format", help="What to print: maps, or records that PyLatencyMap reads.")
    ] = FormatChoice.MAPS,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Draw latencies over time as heat maps: how many waits took how long, and how long they took together.

    An average hides two modes; here they are seen. From a lake, from files of other tools, or live.

    Exit status: 0 drawn, 2 there is nothing to draw, or a wrong option.
    """
    with said():
        from doctord.app import map as maps
        from doctord.cli import _map
        from doctord.cli._map_files import Files
        from doctord.read.formats import zone_named
        from doctord.read.source import Told
        from doctord.report.map_view import View

        if json and format_ is FormatChoice.PYLATENCYMAP:
            raise Refusal("--json and --format pylatencymap are two things to print", "choose one")
        told = Told(zone_named(zone), parse_duration(unit) * 1e6 if unit else None)
        view = View(rows, columns, scale.value, percentiles, parse_duration(threshold) * 1e6 if threshold else None)
        compare_at = parse_moment(compare) if compare else None
        files = Files(html, svg, png)
        files.check()
        wanted = maps.Wanted(subject, db, instance, host, parse_duration(interval) if interval else None)
        if not sources and (since or until or replay):
            raise Refusal("a live map has no past", "name the lake or the files: doctord map LAKE --from -2h")
        if list_:
            _map.list_known(sources or [], _span(since, until), told, json=json)
            return
        shown = _Shown(view, files, compare_at, are_maps=format_ is FormatChoice.MAPS and not json)
        if not sources:
            drawn = _live(wanted, shown, dsn, pid, parse_duration(length) if length else None, record)
        else:
            drawn = _of_the_past(wanted, shown, sources, _span(since, until), told, replay)
        if format_ is FormatChoice.PYLATENCYMAP:
            _map.show_records(drawn)
        else:
            _map.show(drawn, view, compare_at, json=json)


@dataclass(frozen=True, slots=True)
class _Shown:
    """How a map is shown, and where else it goes."""

    view: "View"
    files: "Files"
    compare_at: datetime | None
    are_maps: bool


def _span(since: str | None, until: str | None) -> tuple[datetime | None, datetime | None]:
    return parse_moment(since) if since else None, parse_moment(until) if until else None


def _live(
    wanted: "Wanted", shown: _Shown, dsn: str | None, pid: int | None, seconds: float | None, record: Path | None
) -> "LatencyMap":
    from doctord.app.map_live import period_s as usual_s
    from doctord.cli import _map_live
    from doctord.collect.core.database import Wanted as Timed

    period_s = wanted.column_s or usual_s(seconds)
    timed = Timed(wanted.subject, period_s, wanted.db, dsn, pid, wanted.instance)
    drawn = _map_live.live(timed, shown.view, seconds, record)
    shown.files.write(shown.view, shown.compare_at, lambda _: [drawn])
    return drawn


def _of_the_past(
    wanted: "Wanted",
    shown: _Shown,
    sources: list[Path],
    span: tuple[datetime | None, datetime | None],
    told: "Told",
    replay: float | None,
) -> "LatencyMap":
    """The map of lakes and files; what comes through a pipe is watched as it comes."""
    from doctord.app.map import recorded
    from doctord.cli import _map, _map_live, _map_screen
    from doctord.cli._terminal import Terminal
    from doctord.read.source import STANDARD_INPUT

    if sources == [STANDARD_INPUT] and _map.is_watched() and shown.are_maps:
        drawn = _map_live.from_pipe(wanted.subject, shown.view, told)
        shown.files.write(shown.view, shown.compare_at, lambda _: [drawn])
        return drawn
    chart = recorded(sources, *span, told, Terminal())
    shown.files.write(shown.view, shown.compare_at, lambda room: wanted.maps_of(chart, room))
    drawn = wanted.map_of(chart, _map.room(shown.view) if shown.are_maps else None)
    if replay:
        _map_screen.replay(drawn, shown.view, replay)
    return drawn
