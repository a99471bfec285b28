"""A replication slot that nobody reads, and the log that it keeps; archivers that fail or hang, and keep it too."""

from collections.abc import Iterator

from doctord.lab.dose import Dose
from doctord.lab.effect import Figure
from doctord.lab.fault import fault
from doctord.lab.figures import answer
from doctord.lab.load.workload import workload
from doctord.lab.server import PrivateServer

_CHANGES = """
insert into changes select id, repeat(md5(id::text), 30) from generate_series(1, {}) as id;
\\sleep 50 ms
"""
_KEPT = Figure(
    "log kept for the slot",
    "bytes",
    80 << 20,
    answer("select max(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)) from pg_replication_slots"),
)
_NOT_ARCHIVED = Figure(
    "segments of the log that wait to be archived",
    "segments",
    5,
    answer("select count(*) from pg_ls_archive_statusdir() where name like '%.ready'"),
)


@fault(cause="slot_keeps_wal", effect=_KEPT, warm_up_s=5.0)
def abandoned_slot(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """The slot of a standby that was taken away keeps every segment of the log, tens of megabytes a second.

    Seen: 1 GB of log kept after half a minute; nobody waits for it yet.
    """
    server.execute("select pg_create_physical_replication_slot('old_standby', true)")
    yield from _changes(server, dose, rows=dose.of(500, 2000, 8000))


@fault(
    cause="archiver_stuck",
    effect=_NOT_ARCHIVED,
    settings={"archive_mode": "on", "archive_command": "/bin/false"},
    warm_up_s=5.0,
)
def failing_archiver(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """The look-alike of abandoned_slot: the log is kept because archive_command fails.

    Seen: 70 segments that wait to be archived after half a minute, and one failure after the other.
    """
    yield from _changes(server, dose, rows=dose.of(500, 2000, 8000))


@fault(
    cause="archiver_stuck",
    effect=_NOT_ARCHIVED,
    settings={"archive_mode": "on", "archive_command": "sleep 86400"},
    warm_up_s=5.0,
)
def archive_command_hangs(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """The log is kept because archive_command does not come back, as over a mount whose host is gone.

    `failing_archiver` fails and says so; this one neither fails nor succeeds, and no view counts it.

    Seen: segments that wait to be archived, one process of the command, and not a line in the log.
    """
    yield from _changes(server, dose, rows=dose.of(500, 2000, 8000))


@fault(cause=None, settings={"archive_mode": "on", "archive_command": "/bin/true"}, warm_up_s=5.0)
def archiver_keeps_up(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """The look-alike of archive_command_hangs and failing_archiver: as many segments, each archived at once.

    There is nothing to be found.
    """
    yield from _changes(server, dose, rows=500)


def _changes(server: PrivateServer, dose: Dose, *, rows: int) -> Iterator[None]:
    server.execute("create table changes (id int, content text)")
    with workload(server, seed=dose.seed, clients=2, script=_CHANGES.format(rows)):
        yield
