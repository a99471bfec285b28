"""Which lakes there are, and what each holds: where to begin."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from typing_extensions import TypedDict

from doctord.app.held import Held, held
from doctord.errors import UserError
from doctord.mcp.fitted import fitted
from doctord.mcp.place import names
from doctord.report.wording import iso


class Server(TypedDict):
    """A database server; its version is null where none was recorded."""

    server: str
    version: str | None


class LakeHeld(TypedDict):
    """A lake, from when to when it was filled, and by whom; `problem` says why it cannot be read."""

    lake: str
    since: str | None
    until: str | None
    hosts: list[str]
    servers: list[Server]
    problems: list[str]


class Servers(TypedDict):
    """All lakes."""

    lakes: list[LakeHeld]
    left_out: dict[str, int]


def servers(lakes: Sequence[Path]) -> dict[str, Any]:
    """List the lakes of recordings: from when to when each was filled, of which hosts and database servers.

    Begin here: the other tools take windows within these times (UTC). A relative time such as -1h counts from now,
    which may be long after a lake's end.
    """
    return fitted({"lakes": [_lake(name, place) for name, place in names(lakes).items()]}, {"lakes": 1})


def _lake(name: str, place: Path) -> dict[str, Any]:
    try:
        found = held(place)
    except UserError as error:
        found = Held(None, problems=(f"{error}; {error.hint}",))
    since, until = found.span or (None, None)
    return {
        "lake": name,
        "since": iso(since),
        "until": iso(until),
        "hosts": list(found.hosts),
        "servers": [{"server": server, "version": version} for server, version in (found.servers or {}).items()],
        "problems": list(found.problems)[:5],
    }
