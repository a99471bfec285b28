"""`doctord ship`: send what was recorded to where the recordings of many hosts are kept."""

from typing import Annotated

from doctord.cli import Terminal, app, command, show
from doctord.cli.arguments import Json, Lake, amount, name, takes
from doctord.units import parse_size


@command(app)
def ship(
    *,
    to: Annotated[str, takes("PLACE")("Where to: a folder, or s3://BUCKET/PREFIX.", "--to")],
    lake: Lake = None,
    as_: Annotated[str | None, name("Under this name (default: this host's).", "--as")] = None,
    most: Annotated[str | None, amount("Send so much a second at most: 2MiB.", "--max-rate")] = None,
    json: Json = False,
) -> int:
    """Send each sealed segment of a lake that was not sent yet, as one object; run it once an hour.

    What cannot be sent stays in the lake, and the next run tries it again. Credentials of S3 come from the environment,
    its files, or the machine's role.

    Exit status: 0 all that is sealed is there, 2 something could not be sent, or a wrong option.
    """
    from doctord.app.fleet.ship import ship as sending
    from doctord.lake.place import default_lake
    from doctord.lake.store.store import store_at
    from doctord.report import shipment as words

    rate = parse_size(most) if most else None
    return show(sending(lake or default_lake(), store_at(to), as_, rate, Terminal()), words, json=json)
