"""Orders and payments in few warehouses: what the TPC's benchmark C describes, with a twentieth of its rows.

Each transaction is of many short statements; those of one district meet on its next order's number, those of one
warehouse on what it was paid. The tables are our own.
"""

from typing import Final, LiteralString

from psycopg import sql

from doctord.lab.server import PrivateServer

_TABLES: Final[tuple[LiteralString, ...]] = (
    "create table warehouse as select id as warehouse, 0::numeric as paid, 0.1 as tax, repeat('w', 60) as address"
    " from generate_series(1, {0}) as id",
    "create table district as select warehouse, id as district, 1 as next_order, 0::numeric as paid, 0.1 as tax,"
    " repeat('d', 60) as address from generate_series(1, {0}) as warehouse, generate_series(1, 10) as id",
    "create table customer as select warehouse, district, id as customer, 0::numeric as balance, repeat('c', 400) as"
    " data from generate_series(1, {0}) as warehouse, generate_series(1, 10) as district, generate_series(1, 150) id",
    "create table stock as select warehouse, item, 50 as quantity, repeat('s', 250) as data"
    " from generate_series(1, {0}) as warehouse, generate_series(1, 5000) as item",
    "create table sales (warehouse int, district int, number int, customer int, entered timestamp,"
    " primary key (warehouse, district, number))",
    "create table sales_line (warehouse int, district int, number int, line int, item int, quantity int, amount"
    " numeric, primary key (warehouse, district, number, line))",
    "create table payment (warehouse int, district int, customer int, amount numeric, paid timestamp)",
    "alter table warehouse add primary key (warehouse)",
    "alter table district add primary key (warehouse, district)",
    "alter table customer add primary key (warehouse, district, customer)",
    "alter table stock add primary key (warehouse, item)",
)
_SOMEBODY: Final = "\\set district random(1, 10)\n\\set customer random(1, 150)\n"
_LINE: Final = """
\\set item random(1, 5000)
select quantity from stock where warehouse = :warehouse and item = :item for update;
update stock set quantity = quantity - 1 where warehouse = :warehouse and item = :item;
insert into sales_line values (:warehouse, :district, :number, {line}, :item, 1, 10);
"""
_ORDER: Final = """
begin;
select balance from customer where warehouse = :warehouse and district = :district and customer = :customer;
select next_order as number from district where warehouse = :warehouse and district = :district for update \\gset
update district set next_order = next_order + 1 where warehouse = :warehouse and district = :district;
insert into sales values (:warehouse, :district, :number, :customer, now());
"""
_LINES: Final = "".join(_LINE.format(line=line) for line in range(10))
_PAYMENT: Final = """
begin;
update warehouse set paid = paid + 10 where warehouse = :warehouse;
update district set paid = paid + 10 where warehouse = :warehouse and district = :district;
update customer set balance = balance - 10
where warehouse = :warehouse and district = :district and customer = :customer;
insert into payment values (:warehouse, :district, :customer, 10, now());
commit;
"""
_STATUS: Final = """
select number, sum(amount) from sales join sales_line using (warehouse, district, number)
where warehouse = :warehouse and district = :district and customer = :customer
group by number order by number desc limit 1;
"""

SCRIPTS: Final = {
    "order": (f"{_SOMEBODY}{_ORDER}{_LINES}commit;\n", 45),
    "payment": (_SOMEBODY + _PAYMENT, 43),
    "status": (_SOMEBODY + _STATUS, 12),
}
"""The transactions in pgbench's language, of a `:warehouse` that is set before, with how often each comes."""


def create_warehouses(server: PrivateServer, count: int) -> None:
    """The tables, with so many warehouses."""
    for statement in _TABLES:
        server.execute(sql.SQL(statement).format(sql.Literal(count)))
    server.execute("vacuum analyze")
