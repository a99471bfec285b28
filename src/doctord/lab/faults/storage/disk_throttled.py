"""A control group that may not use the disk as it needs."""

from collections.abc import Iterator

from doctord.lab.dose import Dose
from doctord.lab.fault import fault
from doctord.lab.host.cgroup import device_of
from doctord.lab.server import PrivateServer, its_group


@fault(cause="cgroup_io_limit", controller="io", settings={"shared_buffers": "16MB"})
def disk_throttled(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """The server's control group is held to 60 reads and 30 writes per second.

    Its buffer pool is small and the page cache was emptied: reads wait for their turn, and so do commits, which sync
    the WAL. The disk itself is fast and idle.

    Seen: 34 reads and 30 writes per second, 3.4 sessions waiting for the WAL and 0.1 for reads; the light load gets 17
    transactions per second instead of 99.
    """
    device, group = device_of(server.data), its_group(server)
    server.evict()
    group.limit_io(device, reads_per_s=dose.of(240, 60, 20), writes_per_s=dose.of(120, 30, 10))
    try:
        yield
    finally:
        group.free_io(device)
