"""`doctord stress`: how much a server can take."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from doctord.cli import Terminal, app, command, show
from doctord.cli.arguments import Json, amount, argument, file, flag, in_lake, length, name, number, server
from doctord.errors import UserError
from doctord.units import parse_duration, parse_size

stress = typer.Typer(
    no_args_is_help=True, help="Put load on a database or a device in steps, and say how much it takes."
)
app.add_typer(stress, name="stress")


@command(stress)
def database(
    *,
    dsn: Annotated[str, server("The server (libpq connection string); a database of its own is made there.", "--dsn")],
    kit: Annotated[Literal["tpcb", "select", "blocks"], flag("What is done there.")] = "tpcb",
    size: Annotated[str, amount("Size of the data.")] = "160MiB",
    updates: Annotated[int, number("Of 100 transactions of the kit blocks, so many write.")] = 0,
    p99: Annotated[
        str | None,
        length("Service level: 99 of 100 take no longer (default: 5 times those of the least load).", "--p99"),
    ] = None,
    seconds: Annotated[str, length("How long each step lasts.", "--for")] = "30s",
    repeats: Annotated[int, number("How often each step is given.")] = 3,
    clients: Annotated[int, number("Connections at most.")] = 32,
    seed: Annotated[int, number("Of all that is random.")] = 1,
    yes_this_server: Annotated[bool, flag("Load it although others are at work there.", "--yes-this-server")] = False,
    lake: Annotated[Path | None, in_lake("Keep what was measured there, for study, map and sql.", "--lake")] = None,
    json: Json = False,
) -> int:
    """Say how many transactions a server takes within a service level, and what its limit is.

    Closed loops look for the ceiling; then loads from 10 % to 110 % of it are given in an order of chance, transactions
    due at random moments whatever the server does, and each is timed from when it was due. Each step is looked at as
    `checkup` does. Needs pgbench. What is made on the server is dropped.

    Exit status: 0 there is a load that it takes, 1 there is none, 2 nothing could be measured, or a wrong option.
    """
    from doctord.app.stress import database as stressing
    from doctord.app.stress.kept import keep_database
    from doctord.report.stress import database as words
    from doctord.stress import kits

    if not 0 <= updates <= 100:
        raise UserError(f"--updates {updates} is no share of 100", "0 to 100")
    size_bytes = parse_size(size)
    made = {
        "tpcb": lambda: kits.tpcb(size_bytes),
        "select": lambda: kits.select(size_bytes),
        "blocks": lambda: kits.blocks(size_bytes, updates),
    }[kit]()
    asked = stressing.Asked(
        dsn, made, round(parse_duration(seconds)), repeats, parse_duration(p99) * 1000 if p99 else None, clients,
        yes_this_server, seed,
    )  # fmt: skip
    found = stressing.stress(asked, Terminal())
    if lake:
        keep_database(found, lake)
    return show(found, words, json=json)


@command(stress)
def device(
    place: Annotated[
        Path, argument("A folder, where a file is made and dropped; a file or a block device, which is read.")
    ],
    *,
    size: Annotated[
        str | None, amount("Requests go to so much of it (default: all of it, 1GiB of a file that is made).")
    ] = None,
    seconds: Annotated[str, length("How long each step lasts.", "--for")] = "10s",
    series: Annotated[
        str,
        name(
            "What is varied beside depth: rate, block, mix (reads, writes), beneath (device), sustained.",
            "--vary",
        ),
    ] = "rate,block",
    block: Annotated[str, amount("Size of a request.")] = "8KiB",
    reads: Annotated[int, number("Of 100 requests, so many read.")] = 100,
    depth: Annotated[int, number("Requests outstanding, at most.")] = 32,
    p99: Annotated[
        str | None,
        length("Service level: 99 of 100 take no longer (default: 5 times those of the least rate).", "--p99"),
    ] = None,
    repeats: Annotated[int, number("How often each step is given.")] = 1,
    buffered: Annotated[bool, flag("Go through the page cache, as most programs do.", "--buffered")] = False,
    steady_within: Annotated[str, length("How long sustained writes last, at most.")] = "5m",
    overwrite_this: Annotated[
        Path | None, file("The file or device once more: what it holds is lost.", "--overwrite-this")
    ] = None,
    seed: Annotated[int, number("Of all that is random.")] = 1,
    lake: Annotated[Path | None, in_lake("Keep what was measured there, for study, map and sql.", "--lake")] = None,
    json: Json = False,
) -> int:
    """Say how many requests a device does, from what depth on more of them only wait, and what its limit is.

    Depth is varied with closed loops; then requests are due at random moments, at 10 % to 110 % of the most that it
    did; then their size. Each step is looked at as `checkup` does. Needs fio. What is there is only read; a file that
    is made has no name, and is gone whatever happens.

    Exit status: 0 measured, 1 the page cache was measured or no rate holds the level, 2 nothing could be measured, or
    a wrong option.
    """
    from doctord.app.stress import device as stressing
    from doctord.app.stress.device_asked import Asked, series_named
    from doctord.app.stress.kept import keep_device
    from doctord.report.stress import device as words

    asked = Asked(
        place,
        None if size is None else parse_size(size),
        series_named(series),
        parse_size(block),
        reads,
        depth,
        round(parse_duration(seconds)),
        repeats,
        parse_duration(p99) * 1000 if p99 else None,
        not buffered,
        overwrite_this,
        round(parse_duration(steady_within)),
        seed,
    )
    found = stressing.stress(asked, Terminal())
    if lake:
        keep_device(found, lake)
    return show(found, words, json=json)
