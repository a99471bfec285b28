"""A replication slot that nobody reads, and the log that it keeps; an archiver that fails, and keeps it too."""

from collections.abc import Iterator

from doctord.lab.fault import fault
from doctord.lab.server import PrivateServer
from doctord.lab.workload import workload

_CHANGES = """
insert into changes select id, repeat(md5(id::text), 30) from generate_series(1, 2000) as id;
\\sleep 50 ms
"""


@fault(cause="slot_keeps_wal", warm_up_s=5.0)
def abandoned_slot(server: PrivateServer, seed: int) -> Iterator[None]:
    """The slot of a standby that was taken away keeps every segment of the log, tens of megabytes a second.

    Seen: 1 GB of log kept after half a minute; nobody waits for it yet.
    """
    server.execute("select pg_create_physical_replication_slot('old_standby', true)")
    yield from _changes(server, seed)


@fault(cause="archiver_stuck", settings={"archive_mode": "on", "archive_command": "/bin/false"}, warm_up_s=5.0)
def failing_archiver(server: PrivateServer, seed: int) -> Iterator[None]:
    """The look-alike of abandoned_slot: the log is kept because archive_command fails.

    Seen: 70 segments that wait to be archived after half a minute, and one failure after the other.
    """
    yield from _changes(server, seed)


def _changes(server: PrivateServer, seed: int) -> Iterator[None]:
    server.execute("create table changes (id int, content text)")
    with workload(server, seed=seed, clients=2, script=_CHANGES):
        yield
