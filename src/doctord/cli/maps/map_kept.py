"""`doctord map`, and what else is done with latencies that are kept: compare them, replay them, export them."""

import sys
from json import dumps
from typing import Annotated

import typer

from doctord.cli import Terminal, app, command
from doctord.cli.arguments import Json, moment, number
from doctord.cli.maps._options import HtmlPage, Kept, List, Look, Pictures
from doctord.errors import UserError
from doctord.moments import asked_moment
from doctord.report.files import write_all


@command(app, "map")
def map_kept(*, kept: Kept, look: Look, pictures: Pictures, list_: List = False, json: Json = False) -> None:
    """Draw latencies over time as heat maps: how many waits took how long, and how long they took together.

    An average hides two modes; here they are seen. From a lake, from files of other tools, or a pipe while it grows;
    `doctord map-live` draws what happens now.

    Exit status: 0 drawn, 2 there is nothing to draw, or a wrong option.
    """
    from doctord.app.maps.live import from_pipe
    from doctord.app.maps.recorded import by_waits
    from doctord.read.source import STANDARD_INPUT
    from doctord.report.map import subjects as map_subjects
    from doctord.report.map.files import contents
    from doctord.report.map.full_screen import watch
    from doctord.report.map.printed import room, written

    view, wanted, files = look.view(), kept.wanted(), pictures.files()
    if list_:
        known = by_waits(kept.dataset())
        typer.echo(dumps(map_subjects.records(known), allow_nan=False) if json else map_subjects.recorded(known))
    elif kept.sources == [STANDARD_INPUT] and sys.stdout.isatty() and not json:
        with from_pipe(kept.subject, kept.options()) as growing:
            watch(growing, view, "PIPE")
            drawn = growing.feed.map_of()
        write_all(contents(files, view, lambda _: [drawn]))
        typer.echo(written(drawn, view))
    else:
        dataset = kept.dataset()
        write_all(contents(files, view, lambda columns: wanted.maps_of(dataset, columns)))
        drawn = wanted.map_of(dataset, None if json else room(view))
        typer.echo(written(drawn, view, json=json))


@command(app, "map-compare")
def compare(
    *,
    at: Annotated[str, moment("What is before it is held against what is after it.")],
    kept: Kept,
    look: Look,
    html: HtmlPage = None,
    json: Json = False,
) -> None:
    """Draw latencies, and say what differs after a moment from before: how many, which lie elsewhere, and how far.

    Exit status: 0 compared, 2 there is nothing to compare, or a wrong option.
    """
    from doctord.app.asked import placed
    from doctord.report.map.files import contents
    from doctord.report.map.printed import room, written

    view, wanted, asked, files = look.view(), kept.wanted(), asked_moment(at), Pictures(html).files()
    dataset = kept.dataset()
    parted = placed(asked, dataset.until, Terminal())
    write_all(contents(files, view, lambda columns: wanted.maps_of(dataset, columns), parted))
    drawn = wanted.map_of(dataset, None if json else room(view))
    typer.echo(written(drawn, view, parted, json=json))


@command(app, "map-replay")
def replay(
    *,
    speed: Annotated[float, number("So much faster than it was: 60 shows an hour in a minute.")] = 60,
    kept: Kept,
    look: Look,
) -> None:
    """Show a latency map on the whole terminal as it grew, so much faster, and print it in the end.

    Exit status: 0 shown, 2 there is nothing to show, no terminal, or a wrong option.
    """
    from doctord.app.maps.replay import Replay
    from doctord.report.map.full_screen import has_terminal, watch
    from doctord.report.map.printed import room, written

    view, wanted = look.view(), kept.wanted()
    if not has_terminal():
        raise UserError("a replay needs a terminal", "doctord map prints the map")
    drawn = wanted.map_of(kept.dataset(), room(view))
    watch(Replay(drawn, speed), view, f"REPLAY x{speed:g}")
    typer.echo(written(drawn, view))


@command(app, "map-export")
def export(*, kept: Kept) -> None:
    """Print the latencies of one subject as records that PyLatencyMap reads.

    Exit status: 0 printed, 2 there is nothing to print, these records cannot hold it, or a wrong option.
    """
    from doctord.report.map.records import records

    typer.echo("\n".join(records(kept.wanted().map_of(kept.dataset()))))
