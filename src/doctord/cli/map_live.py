"""`doctord map-live`: latencies of what happens now, as heat maps."""

from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from doctord.cli import app, command
from doctord.cli._map import List, Look, Pictures, Subject, show
from doctord.cli._output import Terminal
from doctord.cli.arguments import Json, length_s, positive_s
from doctord.errors import UserError
from doctord.printable import json_text


@command(app, "map-live")
def live(
    *,
    subject: Subject,
    column: Annotated[
        str | None, typer.Option("--interval", metavar="LENGTH", help="Width of a column: 3s, 1s for a short look.")
    ] = None,
    dsn: Annotated[
        str | None,
        typer.Option(metavar="DSN", help="A server's address, without a password: oracle://USER@HOST:1521/SERVICE."),
    ] = None,
    pid: Annotated[
        int | None, typer.Option(metavar="PID", help="The process, where the subject is a system call.")
    ] = None,
    length: Annotated[str | None, typer.Option("--for", metavar="LENGTH", help="How long; else until q.")] = None,
    record: Annotated[Path | None, typer.Option(metavar="LAKE", help="Keep what is seen in this lake.")] = None,
    look: Look,
    pictures: Pictures,
    list_: List = False,
    json: Json = False,
) -> None:
    """Time what this host and its databases wait for now, and draw it as heat maps while it grows.

    Without a terminal, --for says how long. What --record keeps, `doctord map LAKE` draws again.

    Exit status: 0 drawn, 2 nothing here times it, nothing was seen, or a wrong option.
    """
    from doctord.app import map_live
    from doctord.cli._map_screen import has_terminal, watch
    from doctord.collect.core.database import Wanted
    from doctord.collect.live import live_subjects
    from doctord.report.map import subjects as map_subjects

    view, seconds = look.view(), positive_s(length) if length else None
    pictures.check()
    if list_:
        known = list(live_subjects())
        typer.echo(json_text(map_subjects.records(known)) if json else map_subjects.live(known))
        return
    if seconds is None and not has_terminal():
        raise UserError("without a terminal nobody can end it", "say how long: --for 1m")
    period_s = length_s(column) or map_live.period_s(seconds)
    wanted = Wanted(subject.subject, period_s, subject.db, dsn, pid, subject.instance)
    with map_live.live(wanted, seconds, record, Terminal()) as growing:
        if has_terminal():
            watch(growing, view, "LIVE")
        else:
            # A wait without end is not interrupted: Polars' own handler of Ctrl-C lets the system call go on.
            with suppress(KeyboardInterrupt):
                growing.wait()
    drawn = growing.feed.map_of()
    pictures.write(view, lambda _: [drawn])
    show(drawn, view, json=json)
