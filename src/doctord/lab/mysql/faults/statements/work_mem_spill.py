"""Temporary tables that do not fit into memory."""

from collections.abc import Iterator

from doctord.lab.dose import Dose
from doctord.lab.mysql.clients import Script, clients
from doctord.lab.mysql.fault import fault
from doctord.lab.mysql.server import PrivateMySQL

_SMALL = {"tmp_table_size": "65536", "max_heap_table_size": "65536", "sort_buffer_size": "65536"}
_GROUPED = Script(
    ("SELECT filler, id % 20000 g, COUNT(*) c FROM accounts WHERE id < 60000 GROUP BY filler, g ORDER BY c LIMIT 10",)
)


@fault(cause="sort_spill", settings=_SMALL)
def work_mem_spill(server: PrivateMySQL, dose: Dose) -> Iterator[None]:
    """Reports group tens of thousands of rows, and tmp_table_size lets 64 KiB of that be in memory.

    Each makes a temporary table on disk, and sorts by merging.
    """
    with clients(server, [_GROUPED], seed=dose.seed, clients=dose.of(1, 2, 4)):
        yield
