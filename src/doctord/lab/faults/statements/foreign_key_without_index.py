"""A foreign key whose own columns no index begins with."""

from collections.abc import Iterator
from typing import LiteralString

from psycopg import sql

from doctord.lab.dose import Dose
from doctord.lab.effect import Figure
from doctord.lab.fault import fault
from doctord.lab.figures import statement_ms
from doctord.lab.load.workload import workload
from doctord.lab.server import PrivateServer

_SCRIPT = """
insert into customers (email) values ('nobody@example.org') returning id \\gset
delete from customers where id = :id;
\\sleep 150 ms
"""
_ADD_AND_DELETE = "insert into customers (id) values (0); delete from customers where id = 0"
_DELETE = Figure("a customer's coming and going", "ms", 5.0, statement_ms(_ADD_AND_DELETE))


@fault(cause="foreign_key_without_index", effect=_DELETE)
def foreign_key_without_index(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """A customer is added and deleted again a few times a second, and orders refer to customers.

    The server looks for orders of each customer who goes, and there is no index on that column: it reads a table of
    600,000 rows, one time for each row. The statement names the small table only.

    Seen: 5 deletes a second at 45 ms each, a quarter of a session; the light load hardly feels it.
    """
    yield from _beside(server, dose, orders=dose.of(200_000, 600_000, 1_500_000))


@fault(cause=None)
def foreign_key_of_small_table(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """The same beside a table of 500 rows, which no index would help.

    It looks like `foreign_key_without_index`: each delete reads the whole other table. That takes no time.
    """
    yield from _beside(server, dose, orders=500)


def _beside(server: PrivateServer, dose: Dose, *, orders: int) -> Iterator[None]:
    tables: tuple[LiteralString, ...] = (
        "create table customers (id bigserial primary key, email text)",
        "insert into customers (email) select 'somebody' from generate_series(1, 20000)",
        "create table orders (id bigserial primary key, customer bigint not null references customers, note text)",
    )
    for statement in tables:
        server.execute(statement)
    insert = (
        "insert into orders (customer, note) select 1 + id % 20000, repeat('.', 60) from generate_series(1, {}) as id"
    )
    server.execute(sql.SQL(insert).format(sql.Literal(orders)))
    server.execute("vacuum analyze orders")
    server.execute("vacuum analyze customers")
    with workload(server, seed=dose.seed, clients=1, script=_SCRIPT):
        yield
