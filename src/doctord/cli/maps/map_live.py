"""`doctord map-live`: latencies of what happens now, as heat maps."""

from pathlib import Path
from typing import Annotated

import typer

from doctord.cli import Terminal, app, command
from doctord.cli.arguments import Json, in_lake, length, process, server
from doctord.cli.maps._options import List, Look, Pictures, Subject
from doctord.errors import UserError
from doctord.printable import json_text
from doctord.report.files import write_all
from doctord.units import parse_duration, parse_wait


@command(app, "map-live")
def live(
    *,
    subject: Subject,
    column: Annotated[str | None, length("Width of a column: 3s, 1s for a short look.", "--interval")] = None,
    dsn: Annotated[
        str | None, server("A server's address, without a password: oracle://USER@HOST:1521/SERVICE.")
    ] = None,
    pid: Annotated[int | None, process("The process, where the subject is a system call.")] = None,
    for_: Annotated[str | None, length("How long; else until q.", "--for")] = None,
    record: Annotated[Path | None, in_lake("Keep what is seen in this lake.")] = None,
    look: Look,
    pictures: Pictures,
    list_: List = False,
    json: Json = False,
) -> None:
    """Time what this host and its databases wait for now, and draw it as heat maps while it grows.

    Without a terminal, --for says how long. What --record keeps, `doctord map LAKE` draws again.

    Exit status: 0 drawn, 2 nothing here times it, nothing was seen, or a wrong option.
    """
    from doctord.app.maps import live as map_live
    from doctord.collect.core.database import Wanted
    from doctord.collect.live import live_subjects
    from doctord.report.map import subjects as map_subjects
    from doctord.report.map.files import contents
    from doctord.report.map.full_screen import has_terminal, watch
    from doctord.report.map.printed import written

    view, seconds, files = look.view(), parse_wait(for_) if for_ else None, pictures.files()
    if list_:
        known = list(live_subjects())
        typer.echo(json_text(map_subjects.records(known)) if json else map_subjects.live(known))
        return
    if seconds is None and not has_terminal():
        raise UserError("without a terminal nobody can end it", "say how long: --for 1m")
    period_s = parse_duration(column) if column else map_live.period_s(seconds)
    wanted = Wanted(subject.subject, period_s, subject.db, dsn, pid, subject.instance)
    with map_live.live(wanted, seconds, record, Terminal()) as growing:
        if has_terminal():
            watch(growing, view, "LIVE")
        else:
            growing.wait()
    drawn = growing.feed.map_of()
    write_all(contents(files, view, lambda _: [drawn]))
    typer.echo(written(drawn, view, json=json))
