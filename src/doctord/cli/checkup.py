"""`doctord checkup`: look at this host and its databases now, and say what is wrong."""

from pathlib import Path
from typing import Annotated

from doctord.app.watcher import SILENT
from doctord.cli import Terminal, app, command, show
from doctord.cli.arguments import Databases, Dsns, Html, Json, Probe, flag, in_lake, length
from doctord.printable import log_to_standard_error
from doctord.report.files import check_writable, write
from doctord.units import parse_wait


@command(app)
def checkup(
    *,
    for_: Annotated[str, length("How long to look.", "--for")] = "20s",
    dsn: Dsns = None,
    databases: Databases = True,
    probe: Probe = True,
    lake: Annotated[Path | None, in_lake("Keep what is measured here, and judge by what is kept.")] = None,
    html: Html = None,
    quiet: Annotated[
        bool, flag("Print nothing where the exit status is 0, for cron, and no progress.", "--quiet")
    ] = False,
    json: Json = False,
) -> int:
    """Look at this host and its databases now, and say what is wrong.

    Exit status: 0 no finding above a note, 1 a warning or worse, 2 nothing could be judged, a server that was named did
    not answer, or a wrong option.
    """
    seconds = parse_wait(for_)
    from doctord.app.check_up import check_up
    from doctord.report.diagnosis import examination

    check_writable(html)
    log_to_standard_error("doctord: %(message)s")
    watcher = SILENT if quiet else Terminal()
    found = check_up(seconds, dsn or (), databases=databases, lake=lake, probe=probe, watcher=watcher)
    if html:
        write(html, examination.page(found))
    return 0 if quiet and found.healthy else show(found, examination, json=json)
