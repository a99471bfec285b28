"""A foreign key whose own columns no index begins with."""

from collections.abc import Iterator
from typing import LiteralString

from psycopg import sql

from doctord.lab.fault import fault
from doctord.lab.server import PrivateServer
from doctord.lab.workload import workload

_SCRIPT = """
insert into customers (email) values ('nobody@example.org') returning id \\gset
delete from customers where id = :id;
\\sleep 150 ms
"""


@fault(cause="foreign_key_without_index")
def foreign_key_without_index(server: PrivateServer, seed: int) -> Iterator[None]:
    """A customer is added and deleted again a few times a second, and orders refer to customers.

    The server looks for orders of each customer who goes, and there is no index on that column: it reads a table of
    600,000 rows, one time for each row. The statement names the small table only.

    Seen: 5 deletes a second at 45 ms each, a quarter of a session; the light load hardly feels it.
    """
    yield from _beside(server, seed, orders=600_000)


@fault(cause=None)
def foreign_key_of_small_table(server: PrivateServer, seed: int) -> Iterator[None]:
    """The same beside a table of 500 rows, which no index would help.

    It looks like `foreign_key_without_index`: each delete reads the whole other table. That takes no time.
    """
    yield from _beside(server, seed, orders=500)


def _beside(server: PrivateServer, seed: int, *, orders: int) -> Iterator[None]:
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
    with workload(server, seed=seed, clients=1, script=_SCRIPT):
        yield
