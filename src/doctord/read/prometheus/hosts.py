"""Which hosts the exporters that a Prometheus server asks tell of."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from doctord.errors import UserError
from doctord.read.prometheus.answers import hosts_in
from doctord.read.prometheus.client import Client
from doctord.read.prometheus.names import CLOCK, HOST_NAME, UP
from doctord.read.prometheus.samples import host_in, target_of

# By these an exporter is known, and of what it tells.
KNOWN_BY: Final = {HOST_NAME[0]: "kernel", CLOCK: "kernel", "pg_static": "postgresql", **UP}
LOCAL: Final = ("", "localhost", "127.0.0.1", "[::1]")
NO_DATA: Final = "ask for another time (--from, --to), or look whether it scrapes them: its page Status, Targets"


@dataclass
class Scraped:
    """A host that exporters tell of.

    Attributes:
        name: As node_exporter tells it; else as its exporters are addressed.
        instances: Its targets, as their label `instance` has them.
        components: What they tell of: `kernel`, `postgresql`, `mysql`, `oracle`.
    """

    name: str
    instances: set[str] = field(default_factory=set)
    components: set[str] = field(default_factory=set)


def hosts(client: Client, since: datetime, until: datetime) -> list[Scraped]:
    """The hosts that exporters told of in that time, by name.

    Raises:
        UserError: it tells of none, or does not answer.
    """
    match = f'{{__name__=~"{"|".join(KNOWN_BY)}"}}'
    series = client.ask("series", match=match, start=since.timestamp(), end=until.timestamp())
    if not series:
        ever = client.ask("series", match=match)
        told = "nothing of exporters" if ever else "of no node_exporter, postgres_exporter, mysqld_exporter or Oracle's"
        raise UserError(f"{client.address} tells {told} from {since:%F %T} to {until:%F %T} UTC", NO_DATA)
    names, found = hosts_in(series), dict[str, Scraped]()
    elsewhere = {labels.get("instance"): server for labels in series if (server := _of_server(labels))}
    for labels in series:
        address = elsewhere.get(labels.get("instance")) or host_in(target_of(labels)) or ""
        host = found.setdefault(names.get(address, address), Scraped(names.get(address, address)))
        host.instances.add(labels.get("instance", ""))
        host.components.add(KNOWN_BY[labels["__name__"]])
    return sorted(found.values(), key=lambda host: host.name)


def _of_server(labels: Mapping[str, str]) -> str | None:
    """The host of the server that an exporter elsewhere asks, as postgres_exporter labels it; null beside it."""
    host = host_in(labels.get("server", "")) or ""
    return None if host in LOCAL or host.startswith("/") else host
