"""The collector that an address asks for: oracle://, mysql:// or mariadb://."""

from collections.abc import Sequence
from typing import Protocol

from doctord.collect.core.collector import Collector
from doctord.collect.mysql.driver import MySQLDriver
from doctord.collect.mysql.latency import MySQLLatency
from doctord.collect.oracle.driver import OracleDriver
from doctord.collect.oracle.latency import OracleLatency
from doctord.errors import Refusal


class DatabaseLatency(Collector, Protocol):
    """A collector of latencies that can say beforehand whether it will see what it is asked for."""

    def check(self) -> None:
        """Connect, and see whether all that is wanted can be read.

        Raises:
            Refusal: It cannot.
        """
        ...


def collector_of(
    address: str,
    *,
    subjects: Sequence[str] = (),
    instances: Sequence[str] = (),
    period_s: float = 3.0,
    ask: bool = False,
) -> DatabaseLatency:
    """A collector for `oracle://USER@HOST:PORT/SERVICE` or `mysql://USER@HOST:PORT`; nothing is connected yet.

    Args:
        address: Where the server is, and as whom to log in; never with a password.
        subjects: Names of what to read; none given: all.
        instances: Numbers of Oracle's instances; none given: all.
        period_s: Seconds between two samples.
        ask: Whether to ask for a password on the terminal when the environment has none.

    Raises:
        Refusal: It is no such address, or holds a password; the driver is not installed; an instance is no number.
    """
    scheme, _, rest = address.partition("://")
    if scheme == "oracle":
        numbers = [_number(instance) for instance in instances]
        driver = OracleDriver.from_address(address, ask=ask)
        return OracleLatency(driver, events=subjects, instances=numbers, period_s=period_s)
    if scheme in {"mysql", "mariadb"}:
        if instances:
            raise Refusal(f"a server of {scheme}:// has no instances", "leave out --instance")
        return MySQLLatency(MySQLDriver.from_address(f"mysql://{rest}", ask=ask), subjects=subjects, period_s=period_s)
    raise Refusal("an address is neither oracle://, mysql:// nor mariadb://", "oracle://USER@HOST:1521/SERVICE")


def _number(instance: str) -> int:
    if not instance.isdecimal():
        raise Refusal(f"instance {instance!r} is no number", "SELECT inst_id FROM gv$instance lists them")
    return int(instance)
