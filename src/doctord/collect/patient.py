"""The patient as a whole: which collectors look at this host and its databases."""

from collections.abc import Sequence

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
