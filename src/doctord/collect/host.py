"""The host as a whole: which collectors look at this host and its databases."""

from collections.abc import Sequence

from doctord.collect.core.collector import Collector
from doctord.collect.core.database import Database, Search
from doctord.collect.core.probe import Probe
from doctord.collect.databases import database_of
from doctord.collect.databases import databases as kinds
from doctord.collect.linux import LinuxCollector
from doctord.collect.linux.kernel_log import KernelLog
from doctord.collect.linux.open_files import OpenFiles
from doctord.collect.linux.rarely import RareCollector
from doctord.errors import UserError


class Host:
    """This host and its database servers, those that come later among them."""

    def __init__(
        self,
        *,
        databases: bool = True,
        dsns: Sequence[str] = (),
        period_s: float = 1.0,
        probes: bool = False,
    ) -> None:
        """Say what to look at.

        Args:
            databases: Whether to look at databases at all.
            dsns: Addresses of servers to look at. Where they, or a kind's own environment (such as libpq's), name
                servers, nobody else is looked for, but for poolers of this host that lead to these.
            period_s: Seconds between two samples of the host.
            probes: Whether to connect as a client does, again and again.

        Raises:
            UserError: An address is of no kind that is looked at.
        """
        looked_at = [one for one in kinds() if databases and one.collectors]
        of = {dsn: _looked_at(database_of(dsn), looked_at) for dsn in dsns} if databases else {}
        self._named = [(one, [dsn for dsn in of if of[dsn] is one] if dsns else one.named()) for one in looked_at]
        self._searches = [one.search() for one, named in self._named if one.search and not (dsns or named)]
        self._searches += _before(self._named)
        self._period_s, self._probes = period_s, probes

    def collectors(self) -> list[Collector]:
        """The host's collectors, and those of each server that is here or was named.

        Raises:
            UserError: An address cannot be understood.
        """
        named = [each for one, dsns in self._named if one.collectors and dsns for each in one.collectors(dsns)]
        own: list[Collector] = [LinuxCollector(period_s=self._period_s), RareCollector(), OpenFiles(), KernelLog()]
        return [*own, *self._wanted(named), *self.newcomers()]

    def newcomers(self) -> list[Collector]:
        """Collectors of servers that were not here at the last call."""
        return self._wanted([each for search in self._searches for each in search.collectors()])

    def _wanted(self, collectors: Sequence[Collector]) -> list[Collector]:
        return [each for each in collectors if self._probes or not isinstance(each, Probe)]


def _before(named: Sequence[tuple[Database, Sequence[str]]]) -> list[Search]:
    """What looks for poolers before the servers that were named: none where poolers were named too."""
    places = [place for one, dsns in named if one.places and dsns for place in one.places(dsns)]
    return [one.before(places) for one, dsns in named if one.before and places and not dsns]


def _looked_at(database: Database, those: Sequence[Database]) -> Database:
    if database not in those:
        hint = "doctord map-live --dsn shows latencies" if database.latency else ""
        raise UserError(f"sessions of {database.schemes[0]}:// servers are not sampled", hint)
    return database
