"""Reads of blocks that are slow."""

from diagnose.hosts import DB, host
from doctord.diagnose.engine import diagnose

WAITING = {("User I/O", "DataFileRead"): 2.0, ("CPU", "CPU"): 0.5}
TIME, BLOCKS = "pg_stat_database.blk_read_time", "pg_stat_database.blks_read"


def test_a_server_that_times_nothing_makes_the_reads_of_another_no_quicker() -> None:
    other = {"component": "postgresql", "db": "postgresql:5433", "entity": "shop", "kind": "rate"}
    rows = [other | {"name": TIME, "value": 0.0}, other | {"name": BLOCKS, "value": 5000.0}]
    timed = {("bench", TIME): 2000.0, ("bench", BLOCKS): 60.0}
    found = {one.cause for one in diagnose(host(time=WAITING, postgres=timed, extra={"statistic": rows})).findings}
    assert "reads_slow" in found
    untimed = {("bench", TIME): 0.0, ("bench", BLOCKS): 60.0}
    quick = [one | {"db": DB} for one in rows]
    found = {one.cause for one in diagnose(host(time=WAITING, postgres=untimed, extra={"statistic": quick})).findings}
    assert "reads_slow" not in found
