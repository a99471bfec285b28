"""`doctord mcp`: a server of the Model Context Protocol, for assistants."""

from pathlib import Path
from typing import Annotated

from doctord.cli import app, command
from doctord.cli.arguments import in_lake
from doctord.errors import UserError


@command(app)
def mcp(
    *,
    lake: Annotated[list[Path] | None, in_lake("A lake (default: the usual place); repeat it for several.")] = None,
) -> None:
    """Answer an assistant's questions about what was recorded, over standard input and output (MCP).

    A client starts this itself: docs/how-to/mcp.md says how. It reads lakes, changes nothing and asks no live server.

    Exit status: 0 the client hung up, 2 a lake cannot be read, or a wrong option.
    """
    from importlib.util import find_spec

    from doctord.lake.place import default_lake
    from doctord.lake.query import Lake

    if find_spec("mcp") is None:
        raise UserError("this needs the MCP SDK, which is not installed", "pip install 'doctord[mcp]' brings it")
    from doctord.mcp.server import run

    for place in lake or [default_lake()]:
        Lake(place)
    run(lake or [])
