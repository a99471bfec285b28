"""`doctord serve`: a page, an HTTP API, metrics and MCP, on lakes."""

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from doctord.cli import app, command
from doctord.cli.arguments import file, flag, in_lake, length, name, number, takes
from doctord.errors import UserError
from doctord.printable import note
from doctord.units import parse_duration

SOONEST_S = 60.0


@command(app)
def serve(
    *,
    lake: Annotated[list[Path] | None, in_lake("A lake (default: the usual place); repeat it for several.")] = None,
    host: Annotated[str, name("Address to listen on; beyond this host a token is needed.")] = "127.0.0.1",
    port: Annotated[int, number("Port to listen on; 0: any that is free.", min=0, max=65535)] = 7878,
    record: Annotated[bool, flag("Record this host into the (first) lake as well.", "--record")] = False,
    token: Annotated[bool, flag("Let nobody in without a token, on this host neither.", "--token")] = False,
    token_file: Annotated[Path | None, file("Holds the token that programs send; as --token.")] = None,
    certificate: Annotated[Path | None, file("Certificate in PEM: serve HTTPS alone.")] = None,
    key: Annotated[Path | None, file("The certificate's key, in PEM.")] = None,
    known_as: Annotated[list[str] | None, name("A further name of this server, of a proxy say; repeatable.")] = None,
    alerts: Annotated[Path | None, file("Whom to tell of what is wrong: docs/how-to/get-alerts.md.")] = None,
    metrics_to: Annotated[
        Path | None, file("Where metrics are sent (remote write, OTLP): docs/how-to/send-metrics.md.")
    ] = None,
    fleet: Annotated[
        str | None, takes("PLACE")("Show many hosts, at /fleet: a folder of lakes, or what hosts ship to.")
    ] = None,
    fleet_every: Annotated[str, length("How often the hosts of --fleet are judged.")] = "15m",
    show_statements: Annotated[
        bool, flag("Show assistants (/mcp) texts of statements and names, which strangers wrote.", "--show-statements")
    ] = False,
) -> None:
    """Show what was recorded in a browser, and answer programs over HTTP, until Ctrl-C.

    It prints the address to open. It reads lakes, changes nothing and asks no live server. docs/how-to/serve.md.

    Exit status: 0 ended as it was told to, 2 a lake cannot be read, the address cannot be had, or a wrong option.
    """
    from importlib.util import find_spec

    from doctord.lake.place import default_lake
    from doctord.lake.query import Lake

    if any(find_spec(module) is None for module in ("starlette", "uvicorn", "mcp", "prometheus_client")):
        raise UserError("this needs Starlette and others, which are not installed", "pip install 'doctord[serve]'")
    from doctord.app.alerts.settings import read_settings
    from doctord.app.metrics_out.settings import read_settings as read_metrics_out
    from doctord.serve.fleet_page import FleetAsked
    from doctord.serve.recorder import recording
    from doctord.serve.run import Beside, Place
    from doctord.serve.run import serve as run

    if (certificate is None) != (key is None):
        raise UserError("a certificate and its key go together", "give both --certificate and --key")
    told = read_settings(alerts) if alerts else None
    sent = read_metrics_out(metrics_to) if metrics_to else None
    lakes, pem = lake or [default_lake()], (certificate, key) if certificate and key else None
    place = Place(host, port, token, known_as or (), show_statements, token_file, pem)
    if place.is_in_clear:
        note("beyond this host anybody on the way can read along\nhint: --certificate and --key, or a proxy with TLS")
    with recording(lakes[0]) if record else nullcontext():
        for there in lakes[1:] if record else (lake or ([] if fleet else lakes)):
            Lake(there)
        asked = FleetAsked(fleet, every_s=max(parse_duration(fleet_every), SOONEST_S)) if fleet else None
        run(lakes, place, _listening, Beside(told, sent, asked))


def _listening(address: str) -> None:
    """Say what to open."""
    typer.echo(f"Doctor D: {address}")
    if "?token=" in address:
        note("this address lets one browser in, once, within 15 minutes")
