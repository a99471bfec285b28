"""A device that takes no request as large as a block."""

from collections.abc import Iterator

from doctord.lab.dose import Dose
from doctord.lab.effect import Figure
from doctord.lab.fault import fault
from doctord.lab.figures import READ_MS
from doctord.lab.host.loop_device import loop_device
from doctord.lab.load.workload import workload
from doctord.lab.server import PrivateServer

_IMAGE_BYTES = 3 << 30
# 262,144 rows that each fill a block of 8 KiB: 2 GiB, which takes half a minute to read in the order of chance.
_TABLE = (
    "create unlogged table wide (id int, filling text) tablespace split",
    "alter table wide alter filling set storage plain",
    "insert into wide select id, repeat('x', 7000) from generate_series(1, 262144) as id",
    "create index on wide (id)",
    "vacuum analyze wide",
    "checkpoint",
)
_SCRIPT = """
\\set id random(1, 262144)
select length(filling) from wide where id = :id;
"""


# Paced: as many as the CPUs can would have these short, where the disk is quick, and the table in memory soon.
_READS = Figure("time in reads of blocks", "ms", 2000.0, READ_MS)


@fault(cause="requests_split", effect=_READS, root_for="a loop device", settings={"shared_buffers": "64MB"})
def requests_split(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """A tablespace lies on a loop device that takes requests of 4 KiB: each block of 8 KiB is read in two.

    Its table of 2 GiB is read block by block and is in no cache at the beginning.

    Seen: two reads of 4 KiB for each block, two fifths of the time in `IO: DataFileRead`.
    """
    with loop_device(server.folder, _IMAGE_BYTES) as device:
        folder = device.tablespace(server, "split")
        for statement in _TABLE:
            server.execute(statement)
        server.forget(folder)
        with (
            device.taking(max_sectors_kb=4),
            workload(
                server,
                seed=dose.seed,
                clients=dose.of(2, 4, 16),
                script=_SCRIPT,
                rate_per_s=dose.of(2000, 6000, 12000),
            ),
        ):
            yield
