"""A control group that may not use the disk as it needs."""

from collections.abc import Iterator

from doctord.lab.dose import Dose
from doctord.lab.host.cgroup import device_of
from doctord.lab.mysql.fault import fault
from doctord.lab.mysql.faults.storage.buffer_pool_small import TINY
from doctord.lab.mysql.server import PrivateMySQL
from doctord.lab.server import its_group


@fault(cause="cgroup_io_limit", controller="io", settings=TINY)
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
