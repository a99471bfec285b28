"""A page that asks for each of its rows anew, and one that asks for all of them at once."""

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager
from subprocess import Popen

from doctord.lab.dose import Dose
from doctord.lab.effect import Figure
from doctord.lab.fault import fault
from doctord.lab.host.processes import running
from doctord.lab.server import PrivateServer

_LIST = "select id, placed from purchases where id <= %s"
_ONE = "select item, quantity from purchase_lines where id = %s"
_ALL = (
    "select a.id, placed, item, quantity from purchases a join purchase_lines b on b.id = a.id"
    " where a.id <= %s and b.id <= %s"
)
# A page a second for each of two users; each says how long it took.
_PAGES = """
import sys, threading, time
import psycopg
def user(rows, first, then):
    with psycopg.connect(sys.argv[1], application_name="shop", autocommit=True, prepare_threshold=None) as session:
        while True:
            began = time.monotonic()
            found = session.execute(first, [rows] * first.count("%s")).fetchall()
            for row in found if then else ():
                session.execute(then, [row[0]]).fetchall()
            print((time.monotonic() - began) * 1e3, flush=True)
            time.sleep(1)
for _ in range(2):
    threading.Thread(target=user, args=(int(sys.argv[2]), sys.argv[3], sys.argv[4])).start()
"""


def _page_ms(server: PrivateServer) -> float | None:
    """How long the last page took; null before there was one."""
    log = server.folder / "pages.log"
    told = log.read_text().split() if log.exists() else []
    return float(told[-1]) if told else None


@fault(cause="n_plus_one_queries", effect=Figure("until a page is there", "ms", 15.0, _page_ms))
def n_plus_one(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """A page lists some hundred orders, and its mapper fetches the lines of each by a statement of its own.

    Each takes a fraction of a millisecond; the server has hardly anything to do, and the page waits for all the round
    trips. `one_join` is the same page by one statement.

    Seen: as many executions of the one statement as rows of the other, and no wait of any session.
    """
    with _pages(server, dose.of(150, 300, 900), _LIST, _ONE):
        yield


@fault(cause=None)
def one_join(server: PrivateServer, _dose: Dose) -> Iterator[None]:
    """The look-alike of n_plus_one: the same page, with as many orders and lines, by one join.

    There is nothing to be found.
    """
    with _pages(server, 300, _ALL, ""):
        yield


def _pages(server: PrivateServer, rows: int, first: str, then: str) -> AbstractContextManager[Popen[bytes]]:
    command = [sys.executable, "-c", _PAGES, server.dsn, str(rows), first, then]
    return running(command, server.folder / "pages.log")
