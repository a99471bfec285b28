"""An index whose building failed, and that nobody noticed; and one that was built."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final, LiteralString

import psycopg

from doctord.lab.dose import Dose
from doctord.lab.fault import fault
from doctord.lab.load.workload import workload
from doctord.lab.server import PrivateServer

_TABLE: Final[LiteralString] = (
    "create table tickets as select id, id as number, id * 0.01 as amount, repeat('.', 60) as note"
    " from generate_series(1, 600000) as id"
)
_TWICE: Final[LiteralString] = "update tickets set number = 1 where id = 2"
_INDEX: Final[LiteralString] = "create unique index concurrently tickets_number on tickets (number)"
_SCRIPT = """
\\set number random(3, 600000)
select amount from tickets where number = :number;
\\sleep 20 ms
"""


@fault(cause="indexes_invalid")
def index_left_invalid(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """A unique index was to be built concurrently over a column that has one value twice, and is left not valid.

    It is kept up to date by each change, and no plan may use it: two sessions that look up tickets by number read all
    600,000. `missing_index` is the same without any index.

    Seen: `indisvalid` is false; the light load takes 9 ms instead of 1 ms.
    """
    with _looking_up(server, _TWICE, dose, dose.of(1, 2, 6)):
        yield


@fault(cause=None)
def index_built(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """The look-alike of index_left_invalid: no value is there twice, and the index is built.

    There is nothing to be found.
    """
    with _looking_up(server, "select", dose, 2):
        yield


@contextmanager
def _looking_up(server: PrivateServer, before: LiteralString, dose: Dose, clients: int) -> Iterator[None]:
    server.execute(_TABLE)
    server.execute(before)
    with suppress(psycopg.errors.UniqueViolation):
        server.execute(_INDEX)
    server.execute("vacuum analyze tickets")
    with workload(server, seed=dose.seed, clients=clients, script=_SCRIPT):
        yield
