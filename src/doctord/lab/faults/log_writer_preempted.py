"""A log writer that shares its CPU with others, and comes after them."""

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from doctord.lab.errors import LabError
from doctord.lab.fault import fault
from doctord.lab.processes import running
from doctord.lab.server import PrivateServer
from doctord.lab.workload import workload

_NICE = 10
_HOGS = 2
_SCRIPT = "insert into doctord_log select n, repeat('x', 200) from generate_series(1, 200) as n;\n\\sleep 5 ms\n"


@fault(cause="log_writer_preempted", settings={"synchronous_commit": "off", "wal_writer_delay": "10ms"})
def log_writer_preempted(server: PrivateServer, seed: int) -> Iterator[None]:
    """The WAL writer is bound to one CPU, on which two other processes compute, and has a lower priority than they.

    Commits are asynchronous, so that it is the one that writes the log. The other CPUs are free. The look-alike is the
    same with a higher priority: nothing to be found.

    Seen:
    """
    server.execute("create unlogged table if not exists doctord_log (number bigint, text text)")
    server.execute("alter table doctord_log set logged")
    with server.connect() as connection:
        found = connection.execute("select pid from pg_stat_activity where backend_type = 'walwriter'").fetchone()
    if found is None:
        raise LabError("the server has no WAL writer", "look at its log")
    cpu, writer = min(os.sched_getaffinity(0)), int(found[0])
    os.sched_setaffinity(writer, {cpu})
    os.setpriority(os.PRIO_PROCESS, writer, _NICE)
    with ExitStack() as beside:
        beside.enter_context(workload(server, seed=seed, clients=2, script=_SCRIPT))
        for _ in range(_HOGS):
            hog = ["taskset", "-c", str(cpu), "sha256sum", "/dev/zero"]
            beside.enter_context(running(hog, Path(os.devnull)))
        yield
