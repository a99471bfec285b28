"""A file system that a growing table will fill within minutes, and one that is nearly as full and stays so."""

from collections.abc import Iterator
from contextlib import contextmanager

from psycopg import sql

from doctord.lab.dose import Dose
from doctord.lab.effect import Figure
from doctord.lab.fault import fault
from doctord.lab.figures import answer
from doctord.lab.host.loop_device import loop_device
from doctord.lab.load.workload import workload
from doctord.lab.server import PrivateServer

_IMAGE_BYTES = 1 << 30
_ROWS = "insert into readings select id, repeat(md5(id::text), 30) from generate_series(1, {}) as id"
# A row is a kilobyte: 3 MB a second.
_GROWS = f"{_ROWS.format(1500)};"

_FILLED = Figure(
    "size of the table that grows",
    "bytes",
    (600 << 20) + (20 << 20),
    answer("select pg_total_relation_size(to_regclass('readings'))"),
)


@fault(cause="filesystem_full", effect=_FILLED, root_for="a loop device")
def tablespace_fills(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """A tablespace lies on a file system of its own, two thirds full, and its table grows by 3 MB a second.

    There is room for two minutes. Nobody waits, and nothing fails yet.

    Seen: 3.5 MB a second more at each look, 250 MB left at the end.
    """
    with (
        _tablespace(server, rows=600_000),
        workload(server, seed=dose.seed, clients=1, script=_GROWS, rate_per_s=dose.of(1, 2, 3)),
    ):
        yield


@fault(cause=None, root_for="a loop device")
def tablespace_large(server: PrivateServer, _dose: Dose) -> Iterator[None]:
    """The look-alike of tablespace_fills: it is fuller than that, and nothing is added.

    A tenth and more is left, for as long as anybody can see.
    """
    with _tablespace(server, rows=780_000):
        yield


@contextmanager
def _tablespace(server: PrivateServer, *, rows: int) -> Iterator[None]:
    with loop_device(server.folder, _IMAGE_BYTES) as device:
        device.tablespace(server, "history")
        server.execute("create unlogged table readings (id int, content text) tablespace history")
        server.execute(sql.SQL(_ROWS).format(sql.Literal(rows)))
        server.execute("checkpoint")
        yield
