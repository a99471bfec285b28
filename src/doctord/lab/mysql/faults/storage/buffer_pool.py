"""A buffer pool that is too small for what is read, on a disk that takes its time."""

from collections.abc import Iterator

from doctord.lab.dose import Dose
from doctord.lab.host.cgroup import device_of
from doctord.lab.mysql.clients import Script, clients
from doctord.lab.mysql.fault import fault
from doctord.lab.mysql.server import PrivateMySQL
from doctord.lab.server import its_group

_TINY = {"innodb_buffer_pool_size": "8M", "innodb_flush_method": "O_DIRECT"}


@fault(cause="cgroup_io_limit", controller="io", settings=_TINY)
def disk_throttled(server: PrivateMySQL, dose: Dose) -> Iterator[None]:
    """The server's control group is held to 60 reads and 30 writes per second.

    Its buffer pool is small, and reads pass the page cache by: they wait for their turn, and so do commits, which sync
    the log. The disk itself is fast and idle.
    """
    device, group = device_of(server.data), its_group(server)
    group.limit_io(device, reads_per_s=dose.of(240, 60, 20), writes_per_s=dose.of(120, 30, 10))
    try:
        yield
    finally:
        group.free_io(device)


@fault(cause="buffer_pool_small", settings=_TINY)
def buffer_pool_small(server: PrivateMySQL, dose: Dose) -> Iterator[None]:
    """Accounts are read at random, eight MiB of fifty fit into the buffer pool, and memory is free.

    Reads pass the page cache by (O_DIRECT).
    """
    look = Script(("SELECT filler FROM accounts WHERE id = {account}",), {"account": (1, 300_000)})
    with clients(server, [look], seed=dose.seed, clients=dose.of(2, 4, 16)):
        yield
