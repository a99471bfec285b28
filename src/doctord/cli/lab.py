"""`doctord lab`: inject a fault into a private server, to learn from it or to test the diagnosis."""

import logging
from pathlib import Path
from typing import Annotated, Literal

import typer

from doctord.cli import Terminal, app, command, show
from doctord.cli.arguments import Json, argument, flag, folder, in_lake, length, number
from doctord.errors import UserError
from doctord.printable import json_text, log_to_standard_error
from doctord.units import parse_duration

lab = typer.Typer(no_args_is_help=True, help="Inject a fault into a private database server and look at it.")
app.add_typer(lab, name="lab")


Engine = Annotated[Literal["postgresql", "mariadb", "mysql"], flag("What kind of server.", "--engine")]


def _faults_like(incomplete: str) -> list[str]:
    """The faults whose names begin so, for a shell to complete."""
    from doctord.app.lab import faults

    return [fault.name for fault in faults() if fault.name.startswith(incomplete)]


@command(lab, "list")
def list_faults(*, engine: Engine = "postgresql", json: Json = False) -> None:
    """List the faults.

    Exit status: 0.
    """
    from doctord.app.lab import faults
    from doctord.report import lab as words

    found = faults(engine)
    typer.echo(json_text(words.listed_document(found)) if json else words.listed(found))


@command(lab, "run")
def run_fault(
    *,
    name: Annotated[str, argument("A name from `doctord lab list`.", "FAULT", autocompletion=_faults_like)],
    for_: Annotated[str, length("How long the fault lasts, once it bites.", "--for")] = "20s",
    engine: Engine = "postgresql",
    performance_schema: Annotated[
        bool | None, flag("Of MariaDB and MySQL; else as by default.", "--performance-schema/--no-performance-schema")
    ] = None,
    bin_dir: Annotated[Path | None, folder("Folder of the server's programs.")] = None,
    load: Annotated[Literal["tpcb", "orders"], flag("The light load: pgbench's own, or order entry.")] = "tpcb",
    intensity: Annotated[Literal["mild", "moderate", "severe"], flag("How much of the fault.")] = "moderate",
    seed: Annotated[int, number("For everything random in the load.", min=0)] = 1,
    diagnose: Annotated[bool, flag("Run the check-up against the server.", "--diagnose")] = False,
    lake: Annotated[Path | None, in_lake("Keep what the check-up measured here.")] = None,
    keep: Annotated[bool, flag("Keep the server's folder, stopped, with its logs.", "--keep")] = False,
    json: Json = False,
) -> int:
    """Start a private server, load it lightly, inject FAULT, and remove everything in the end.

    Without --diagnose it says how to connect and leaves you the time to look.

    Exit status: 0 nothing was looked for or found, or the fault cannot be injected here, 1 the check-up found
    something, 2 the server cannot be started, or a wrong option.
    """
    from doctord.app.lab import fault_named, try_fault
    from doctord.lab.dose import Dose
    from doctord.report import lab as words

    log_to_standard_error("doctord: %(message)s", logging.INFO)
    fault, seconds = fault_named(name, engine), parse_duration(for_)

    invite = (
        None if diagnose else lambda server: typer.echo(words.invitation(fault, server, seconds, keep=keep), err=True)
    )
    dose = Dose(seed, intensity)
    if performance_schema is not None and engine == "postgresql":
        raise UserError("PostgreSQL has no performance_schema", "--engine mariadb, or mysql")
    settings = {} if performance_schema is None else {"performance_schema": "ON" if performance_schema else "OFF"}
    tried = try_fault(
        fault, seconds, invite, dose=dose, load=load, bin_dir=bin_dir, keep=keep, lake=lake, watcher=Terminal(),
        engine=engine, settings=settings,
    )  # fmt: skip
    return show(tried, words, json=json)
