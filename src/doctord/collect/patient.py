"""The patient as a whole: which collectors look at this host and its databases."""

from collections.abc import Callable, Sequence

from doctord.collect import postgres
from doctord.collect.collector import Collector
from doctord.collect.linux import LinuxCollector


def collectors(*, databases: bool = True, dsns: Sequence[str] = (), period_s: float = 1.0) -> list[Collector]:
    """The host's collector, and those of each database server that is here or was named.

    Args:
        databases: Whether to look for database servers at all.
        dsns: Connection strings of servers to look at instead of those that are found.
        period_s: Seconds between two samples of the host.

    Raises:
        Refusal: One of `dsns` is no connection string.
    """
    found: list[Collector] = [LinuxCollector(period_s=period_s)]
    return found + postgres.collectors(dsns) if databases else found


def newcomers(*, databases: bool = True, dsns: Sequence[str] = ()) -> Callable[[], Sequence[Collector]]:
    """What to ask now and then for the collectors of servers that started after the recording did.

    Where servers are named, by `dsns` or by libpq's environment, nobody else is looked for.
    """
    if not databases or dsns or postgres.named_by_environment():
        return list
    search = postgres.Search()
    search.collectors()
    return search.collectors
