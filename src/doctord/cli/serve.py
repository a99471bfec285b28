"""`doctord serve`: a page, an HTTP API, metrics and MCP, on lakes."""

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from doctord.cli import app, command
from doctord.cli.arguments import flag, in_lake, name, number
from doctord.errors import UserError


@command(app)
def serve(
    *,
    lake: Annotated[list[Path] | None, in_lake("A lake (default: the usual place); repeat it for several.")] = None,
    host: Annotated[str, name("Address to listen on; beyond this host a token is needed.")] = "127.0.0.1",
    port: Annotated[int, number("Port to listen on; 0: any that is free.", min=0, max=65535)] = 7878,
    record: Annotated[bool, flag("Record this host into the lake as well.", "--record")] = False,
    token: Annotated[bool, flag("Let nobody in without a token, on this host neither.", "--token")] = False,
    known_as: Annotated[list[str] | None, name("A further name of this server, of a proxy say; repeatable.")] = None,
) -> None:
    """Show what was recorded in a browser, and answer programs over HTTP, until Ctrl-C.

    It prints the address to open. It reads lakes, changes nothing and asks no live server. docs/how-to/serve.md.

    Exit status: 0 ended as it was told to, 2 a lake cannot be read, the address cannot be had, or a wrong option.
    """
    from importlib.util import find_spec

    from doctord.lake.place import default_lake
    from doctord.lake.query import Lake

    if find_spec("starlette") is None or find_spec("uvicorn") is None:
        raise UserError("this needs Starlette and uvicorn, which are not installed", "pip install 'doctord[serve]'")
    from doctord.serve.recorder import recording
    from doctord.serve.run import Place, serve

    lakes = lake or [default_lake()]
    with recording(lakes[0]) if record else nullcontext():
        for place in lakes[1:] if record else lakes:
            Lake(place)
        serve(lakes, Place(host, port, token, known_as or ()), lambda address: typer.echo(f"Doctor D: {address}"))
