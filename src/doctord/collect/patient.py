"""The patient as a whole: which collectors look at this host and its databases."""

import importlib

from doctord.collect.collector import Collector


def collectors(*, databases: bool = True, dsns: list[str] | None = None, period_s: float = 1.0) -> list[Collector]:
    """The host's collector, and one set for each database server that is here or was named.

    Args:
        databases: Whether to look for database servers at all.
        dsns: Connection strings of servers to look at besides those that are found.
        period_s: Seconds between two samples of the host.

    A host without databases never loads a database driver: the recorder stays small there.
    """
    linux = importlib.import_module("doctord.collect.linux")
    found: list[Collector] = [linux.LinuxCollector(period_s=period_s)]
    if databases:
        found += _databases(dsns or [])
    return found


def _databases(dsns: list[str]) -> list[Collector]:
    discover = importlib.import_module("doctord.collect.postgres.discover")  # light: it reads /proc
    if not dsns and not discover.find_servers():
        return []
    postgres = importlib.import_module("doctord.collect.postgres")
    found: list[Collector] = postgres.collectors(dsns)
    return found
