"""A setting of one role that slows its reports, and one that does not."""

from collections.abc import Iterator

from doctord.lab.dose import Dose
from doctord.lab.effect import Figure
from doctord.lab.fault import fault
from doctord.lab.figures import answer
from doctord.lab.load.workload import workload
from doctord.lab.server import PrivateServer

_ROLE = ("create role app login", "grant select on all tables in schema public to app")
_REPORT = """
select count(*) from pgbench_accounts earlier join pgbench_accounts later
on later.aid = earlier.aid + 1 and later.filler = earlier.filler
where earlier.aid <= 100000 and later.aid <= 100000;
\\sleep {} ms
"""
_FILES = Figure(
    "temporary files written",
    "bytes",
    50 << 20,
    answer("select temp_bytes from pg_stat_database where datname = current_database()"),
)


@fault(cause="role_setting_slows", effect=_FILES)
def role_work_mem_in_kilobytes(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """Somebody gave the application's role 64 MB of work_mem, and forgot the unit: it has 64 kB.

    ALTER ROLE app SET work_mem = 64. Its report joins tens of megabytes by way of temporary files; for everybody else,
    whoever looks into it too, the same statement is quick. `work_mem_spill` is the same for the whole server.

    Seen: 440 ms for a join that takes 49 ms with enough memory; pg_settings of another role shows 4 MB.
    """
    yield from _reporting(server, dose, "64", pause_ms=dose.of(500, 50, 50), clients=dose.of(1, 1, 4))


@fault(cause=None)
def role_work_mem_enough(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """The look-alike of role_work_mem_in_kilobytes: the role has 128 MB, and its report needs no files.

    There is nothing to be found.
    """
    yield from _reporting(server, dose, "'128MB'", pause_ms=500, clients=1)


def _reporting(server: PrivateServer, dose: Dose, work_mem: str, *, pause_ms: int, clients: int) -> Iterator[None]:
    with server.connect() as connection:
        for statement in (*_ROLE, f"alter role app set work_mem = {work_mem}"):
            connection.execute(statement.encode())
    with workload(server, seed=dose.seed, clients=clients, script=_REPORT.format(pause_ms), role="app"):
        yield
