"""Transactions that fail: those that cannot be serialized, and those whose failing is an answer."""

import sys
from collections.abc import Iterator

from doctord.lab.dose import Dose
from doctord.lab.effect import Figure
from doctord.lab.fault import fault
from doctord.lab.figures import log_lines
from doctord.lab.host.processes import running
from doctord.lab.server import PrivateServer

# Each client begins a transaction every 50 ms, whatever comes of it.
_CLIENTS = """
import sys, threading, time
import psycopg
level, statements = psycopg.IsolationLevel[sys.argv[2]], sys.argv[4:]
def client():
    with psycopg.connect(sys.argv[1], application_name="transfers", autocommit=True) as session:
        session.isolation_level = level
        while True:
            try:
                with session.transaction():
                    for number, statement in enumerate(statements):
                        time.sleep(0.03 if number else 0)  # the application's own work between
                        session.execute(statement)
            except (psycopg.errors.SerializationFailure, psycopg.errors.UniqueViolation):
                pass
            time.sleep(0.05)
for _ in range(int(sys.argv[3])):
    threading.Thread(target=client).start()
"""
_READS_ALL = "select sum(tbalance) from pgbench_tellers"
_CHANGES_ONE = "update pgbench_tellers set tbalance = tbalance + 1 where tid = (random() * 9)::int + 1"
_IS_THERE = "insert into pgbench_branches (bid, bbalance) values (1, 0)"
_FAILED = Figure("failed transactions", "transactions", 20, log_lines("could not serialize access"))


@fault(cause="serialization_failures", effect=_FAILED)
def serialization_failures(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """Serializable transactions read a whole table and change one row of it.

    Each reads what the others write, so that of those that run at one time hardly more than one may commit. Nobody
    waits for anything, and the CPUs have room: nothing but the errors, and the rollbacks, tells of it.
    """
    clients = str(dose.of(6, 20, 60))
    command = [sys.executable, "-c", _CLIENTS, server.dsn, "SERIALIZABLE", clients, _READS_ALL, _CHANGES_ONE]
    with running(command, server.folder / "transfers.log"):
        yield


@fault(cause=None)
def duplicate_keys(server: PrivateServer, _dose: Dose) -> Iterator[None]:
    """A receiver inserts what may be there already, and takes the duplicate key for an answer.

    As many errors as of transactions that fail, and nobody's service is lost: the look-alike of that.
    """
    command = [sys.executable, "-c", _CLIENTS, server.dsn, "READ_COMMITTED", "4", _IS_THERE]
    with running(command, server.folder / "receiver.log"):
        yield
