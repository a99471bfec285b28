"""Which lakes there are, and what each holds: where to begin."""

from typing import Any

from typing_extensions import TypedDict

from doctord.app.held import Held, held
from doctord.errors import UserError
from doctord.mcp.tools.servers import Server
from doctord.report.wording import iso
from doctord.serve.lakes import Lakes
from doctord.serve.parameters import OfLake


class LakeHeld(TypedDict):
    """A lake: from when to when it was filled, by whom, and how many CPUs each host has."""

    lake: str
    since: str | None
    until: str | None
    hosts: list[str]
    cpus: dict[str, int]
    servers: list[Server]
    problems: list[str]


class Servers(TypedDict):
    """All lakes."""

    lakes: list[LakeHeld]


def servers(lakes: Lakes, given: OfLake) -> dict[str, Any]:
    """The lakes that are served, with their hosts and database servers, and from when to when there is data."""
    names = [lakes.named(given.lake)] if given.lake else list(lakes.places)
    return {"lakes": [_lake(lakes, name) for name in names]}


def _lake(lakes: Lakes, name: str) -> dict[str, Any]:
    try:
        found = held(lakes.places[name])
    except UserError as error:
        found = Held(None, problems=(f"{error}; {error.hint}",))
    since, until = found.span or (None, None)
    return {
        "lake": name,
        "since": iso(since),
        "until": iso(until),
        "hosts": list(found.hosts),
        "cpus": dict(found.cpus),
        "servers": [{"server": server, "version": version} for server, version in (found.servers or {}).items()],
        "problems": list(found.problems)[:5],
    }
