"""`doctord fleet`: the same question to many hosts."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from doctord.cli import Terminal, app, command, show
from doctord.cli.arguments import Json, Past, When, argument, file, name, number, takes
from doctord.errors import UserError

if TYPE_CHECKING:
    from doctord.app.fleet.engine import Engine

fleet = typer.Typer(no_args_is_help=True, help="Ask many hosts the same: who is ill, and what they have in common.")
app.add_typer(fleet, name="fleet")

Place = Annotated[
    str, argument("A folder of lakes, one for each host, or what hosts ship to: a folder, s3://BUCKET.", "PLACE")
]


@command(fleet)
def diagnose(
    *,
    place: Place,
    when: When,
    past: Past = "1d",
    host: Annotated[list[str] | None, name("Only hosts of this name or pattern: 'db-*'.", "--host")] = None,
    label: Annotated[list[str] | None, takes("NAME=VALUE")("Only hosts with this label: role=oltp.", "--label")] = None,
    labels: Annotated[
        Path | None, file("Labels of hosts, in TOML or CSV (default: labels.toml or labels.csv in PLACE).")
    ] = None,
    processes: Annotated[int | None, number("Processes to judge with (default: one for each CPU).", min=1)] = None,
    engine: Annotated[
        str, name("What it runs on: local (processes), sail, or a cluster of Spark: sc://HOST:PORT.", "--engine")
    ] = "local",
    json: Json = False,
) -> int:
    """Diagnose the same time of many hosts: the worst first, and what those that are ill have in common.

    Hosts with the same label `role` are peers: who is far above them at the same load is told too.

    Exit status: 0 no finding above a note on any host, 1 a warning or worse, 2 none, but a host could not be judged, or
    a wrong option.
    """
    from doctord.app.fleet import diagnose as diagnosing
    from doctord.app.fleet.hosts import Chosen, hosts_of
    from doctord.report import fleet as words

    watcher = Terminal()
    chosen = Chosen.asked(host or [], label or [])
    hosts = hosts_of(place, chosen, labels, watcher)
    found = diagnosing.diagnose_fleet(place, hosts, when.interval(past), _engine(engine, processes), watcher)
    return show(found, words, json=json)


def _engine(named: str, processes: int | None) -> "Engine":
    """What a job runs on.

    Raises:
        UserError: it is none that is known, or its libraries are not there.
    """
    import os

    if named == "local":
        from doctord.fleet.processes import Processes

        return Processes(processes or len(os.sched_getaffinity(0)))
    if named != "sail" and not named.startswith("sc://"):
        raise UserError(f"{named!r} is no engine", "local, sail, or sc://HOST:PORT")
    if processes:
        raise UserError("--processes is for local processes", "the engine has a number of its own")
    from doctord.fleet.spark import Spark

    return Spark(named)
