"""Latencies of Oracle servers, from their own histograms: `DATABASE` is the way in."""

from typing import Final

from doctord.collect.core.database import Database, Latency, Wanted
from doctord.errors import UserError


def latency(wanted: Wanted) -> Latency:
    """Latencies of the database at an address, `oracle://USER@HOST:PORT/SERVICE`.

    Raises:
        UserError: It is no such address, or the instance is no number; or the driver is not installed.
    """
    from doctord.collect.oracle.driver import OracleDriver  # noqa: PLC0415 - when there is a server
    from doctord.collect.oracle.latency import OracleLatency  # noqa: PLC0415 - as above

    events = [wanted.subject] if wanted.subject else []
    instances = [_number(wanted.instance)] if wanted.instance else []
    driver = OracleDriver.from_address(wanted.dsn or "", ask=True)
    return OracleLatency(driver, events=events, instances=instances, period_s=wanted.period_s)


def _number(instance: str) -> int:
    if not instance.isdecimal():
        raise UserError(f"instance {instance!r} is no number", "SELECT inst_id FROM gv$instance lists them")
    return int(instance)


DATABASE: Final = Database(name="oracle", schemes=("oracle",), latency=latency)
