"""What figures of exporters cannot show: said once, with who tells it."""

from collections.abc import Collection, Iterator
from typing import Final, NamedTuple

RECORD: Final = "doctord checkup on that host while it lasts, or doctord record"


class Unseen(NamedTuple):
    """What cannot be seen, why, and who tells it."""

    subject: str
    text: str
    hint: str


PROCESSES: Final = Unseen(
    "which processes use CPUs, memory and disks", "node_exporter tells of the whole host alone", RECORD
)
NO_HOST: Final = Unseen(
    "the host: CPUs, memory, disks, network",
    "this Prometheus knows no node_exporter of that address",
    "node_exporter on that host, its `instance` with the same name; or doctord record",
)
NO_DATABASE: Final = Unseen(
    "the databases on this host",
    "this Prometheus knows no exporter of a database of that address",
    "postgres_exporter, mysqld_exporter or an exporter of Oracle's; or doctord record",
)
BLOCKERS: Final = Unseen(
    "who waits for whom (pg_blocking_pids), which statements run, what the server's log says",
    "postgres_exporter counts sessions, and names none",
    RECORD,
)
MYSQL: Final = Unseen(
    "sessions: who holds them up, what they run; what they wait for, without --collect.info_schema.processlist",
    "mysqld_exporter names none",
    RECORD,
)
ORACLE: Final = Unseen(
    "single wait events, CPU time, sessions and statements",
    "the exporter tells the time waited by class alone",
    "AWR, Statspack or ASH of the same time",
)


def unseen(components: Collection[str], at_work: float | None = None) -> Iterator[Unseen]:
    """What exporters of these components (`kernel`, `postgresql`, ...) leave unseen.

    Args:
        components: Whose exporters were asked.
        at_work: How many sessions were at work, on average, where postgres_exporter tells no more of them.
    """
    yield PROCESSES if "kernel" in components else NO_HOST
    if not {*components} - {"kernel"}:
        yield NO_DATABASE
    if "postgresql" in components:
        if at_work is not None:
            told = f"postgres_exporter before 0.17 counts them by state alone: {at_work:.1f} at work on average"
            yield Unseen("what sessions wait for", told, f"postgres_exporter 0.17 or later; {RECORD}")
        yield BLOCKERS
    if "mysql" in components:
        yield MYSQL
    if "oracle" in components:
        yield ORACLE
