"""`doctord record`: fill a lake, in the foreground, until told to stop."""

import logging
import signal
import threading
from datetime import timedelta
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from doctord.cli import app
from doctord.cli.arguments import fail, parse_duration, parse_size, said

log = logging.getLogger("doctord.record")


@app.command()
def record(
    *,
    lake: Annotated[Path | None, typer.Option(help="Folder to record into (default: $DOCTORD_LAKE).")] = None,
    every: Annotated[str, typer.Option(help="Time between two samples of the host.")] = "1s",
    for_: Annotated[str | None, typer.Option("--for", help="Stop after this time (default: never).")] = None,
    sync: Annotated[str, typer.Option(help="Time between two syncs: what a crash may lose.")] = "5s",
    keep: Annotated[str, typer.Option(help="Delete what is older.")] = "30d",
    max_size: Annotated[str, typer.Option(help="Delete the oldest beyond this size of the lake.")] = "10GB",
    dsn: Annotated[list[str] | None, typer.Option(help="Connection string of a server; may be repeated.")] = None,
    databases: Annotated[bool, typer.Option(help="Look for database servers.")] = True,
    quiet: Annotated[bool, typer.Option(help="Say only what goes wrong.")] = False,
    print_unit: Annotated[bool, typer.Option(help="Print a systemd unit and end.")] = False,
) -> None:
    """Record this host and its databases into a lake, until Ctrl-C or SIGTERM."""
    if print_unit:
        typer.echo(files("doctord.lake").joinpath("doctord.service").read_text(), nl=False)
        return
    logging.basicConfig(format="%(asctime)s doctord: %(message)s", level=logging.WARNING if quiet else logging.INFO)
    with said():
        _record(
            lake,
            dsns=dsn or [],
            databases=databases,
            every_s=_positive(every),
            for_s=_positive(for_) if for_ else None,
            sync_s=_positive(sync),
            keep=timedelta(seconds=_positive(keep)),
            max_bytes=parse_size(max_size),
        )


def _positive(text: str) -> float:
    seconds = parse_duration(text)
    if seconds <= 0:
        fail(f"{text!r} is no time to wait", "give a duration above zero")
    return seconds


def _record(
    lake: Path | None,
    *,
    dsns: list[str],
    databases: bool,
    every_s: float,
    for_s: float | None,
    sync_s: float,
    keep: timedelta,
    max_bytes: int,
) -> None:
    from doctord.collect import patient, schedule
    from doctord.lake.place import default_lake
    from doctord.lake.retention import Retention
    from doctord.lake.writer import LakeWriter

    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    path = lake or default_lake()
    try:
        collectors = patient.collectors(databases=databases, dsns=dsns, period_s=every_s)
    except ValueError as error:
        fail(str(error), "write a connection string such as --dsn 'host=db1 port=5432 user=doctord'")
    with LakeWriter(path, sync_s=sync_s, upkeep=Retention(keep, max_bytes)) as writer:
        log.info("recording %s into %s; Ctrl-C stops", ", ".join(each.name for each in collectors), path)
        schedule.run(collectors, writer.append, stop=stop, seconds=for_s, on_tick=writer.tick)
    log.info("recorded into %s; look at it with: doctord sql --lake %s 'show tables'", path, path)
