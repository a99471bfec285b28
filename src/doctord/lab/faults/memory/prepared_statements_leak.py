"""Sessions that prepare a statement for every value and free none, and sessions whose caches fill."""

import sys
from collections.abc import Iterator
from typing import LiteralString

from psycopg import sql

from doctord.lab.dose import Dose
from doctord.lab.fault import fault
from doctord.lab.host.processes import running
from doctord.lab.server import PrivateServer, its_group

# All that the server's processes may have, page cache included. The recording ends before they have it.
_LIMIT_MIB = 1536
_SESSIONS = "8"
# The driver prepares whatever it has not prepared yet; it knows a statement by its text, and the text holds the values.
_CLIENTS = """
import random, sys, threading, time
import psycopg
def client(number):
    chosen = random.Random(number)
    with psycopg.connect(sys.argv[1], application_name="ledger-api", autocommit=True, prepare_threshold=0) as session:
        session.prepared_max = 10**9
        while True:
            values = ", ".join(str(chosen.randrange(10**9)) for _ in range(100))
            session.execute(f"select aid, abalance from pgbench_accounts where aid in ({values})")
            time.sleep(float(sys.argv[3]))
for number in range(int(sys.argv[2])):
    threading.Thread(target=client, args=[number]).start()
"""
# Each looks at all of the tables once, and then again and again: the server keeps what it knows of them.
_READERS = """
import sys, threading, time
import psycopg
def client():
    with psycopg.connect(sys.argv[1], application_name="ledger-api", autocommit=True) as session:
        session.prepare_threshold = None
        while True:
            for number in range(int(sys.argv[3])):
                session.execute(f"select count(*) from account_{number}")
                time.sleep(0.02)
for _ in range(int(sys.argv[2])):
    threading.Thread(target=client).start()
"""
_TABLES = 400
_MANY: LiteralString = "do $$ begin for n in 0..{} loop execute format({}, n); end loop; end $$"
_TABLE = "create table account_%s (id bigint primary key, owner text, opened date, balance numeric, note text)"


@fault(cause="sessions_grow", controller="memory")
def prepared_statements_leak(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """Eight sessions prepare each statement with its values in its text, and free none: their memory grows all along.

    The server's control group may have 1.5 GiB. A prepared statement lives as long as its session (PostgreSQL
    documentation, PREPARE). `sessions_warm_up` is sessions as many whose caches fill and come to rest.

    Expected: nobody waits for anything yet; each session takes some hundreds of kilobytes a second.
    """
    its_group(server).limit_memory(_LIMIT_MIB << 20)
    pause_s = str(dose.of(0.1, 0.05, 0.025))
    arguments = [server.dsn, _SESSIONS, pause_s]
    with running([sys.executable, "-c", _CLIENTS, *arguments], server.folder / "clients.log"):
        yield


@fault(cause=None, controller="memory")
def sessions_warm_up(server: PrivateServer, _dose: Dose) -> Iterator[None]:
    """The look-alike of prepared_statements_leak: eight new sessions meet 400 tables, and keep what they know of them.

    Their memory grows for the first ten seconds, and then no more. There is nothing to be found.
    """
    its_group(server).limit_memory(_LIMIT_MIB << 20)
    server.execute(sql.SQL(_MANY).format(sql.SQL(str(_TABLES - 1)), sql.Literal(_TABLE)))
    arguments = [server.dsn, _SESSIONS, str(_TABLES)]
    with running([sys.executable, "-c", _READERS, *arguments], server.folder / "clients.log"):
        yield
