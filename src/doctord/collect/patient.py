"""The patient as a whole: which collectors look at this host and its databases."""

from collections.abc import Sequence

from doctord.collect import postgres
from doctord.collect.core.collector import Collector
from doctord.collect.linux import LinuxCollector


class Patient:
    """This host and its database servers, those that come later among them."""

    def __init__(self, *, databases: bool = True, dsns: Sequence[str] = (), period_s: float = 1.0) -> None:
        """Say what to look at.

        Args:
            databases: Whether to look at databases at all.
            dsns: Connection strings of servers to look at. Where they, or libpq's environment, name servers, nobody
                else is looked for.
            period_s: Seconds between two samples of the host.
        """
        self._named = list(dsns or postgres.named_by_environment()) if databases else []
        self._search = postgres.Search() if databases and not self._named else None
        self._period_s = period_s

    def collectors(self) -> list[Collector]:
        """The host's collector, and those of each server that is here or was named.

        Raises:
            Refusal: A connection string is none.
        """
        named = postgres.collectors(self._named) if self._named else []
        return [LinuxCollector(period_s=self._period_s), *named, *self.newcomers()]

    def newcomers(self) -> list[Collector]:
        """Collectors of servers that were not here at the last call."""
        return self._search.collectors() if self._search else []
