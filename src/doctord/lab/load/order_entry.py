"""Order entry, the second light load of the lab: short statements and long ones, on tables of its own and on pgbench's.

There are 2,000 items, 10,000 customers, and 40,000 purchases of five lines each to begin with.
"""

from typing import Final, LiteralString

TABLES: Final[tuple[LiteralString, ...]] = (
    "create table items (item int primary key, name text not null, price numeric not null, stock int not null)",
    "create table purchases (id bigserial primary key, customer int not null,"
    " placed timestamptz not null default now())",
    "create table purchase_lines (id bigint not null references purchases, line int not null,"
    " item int not null references items, quantity int not null, primary key (id, line))",
    "insert into items select item, 'item ' || item, item * 0.17, 1000000 from generate_series(1, 2000) as item",
    "insert into purchases (customer, placed) select 1 + id % 10000, now() - id * interval '1 minute'"
    " from generate_series(1, 40000) as id",
    "insert into purchase_lines select id, line, 1 + (id * 7 + line * 13) % 2000, 1 + line"
    " from generate_series(1, 40000) as id, generate_series(1, 5) as line",
    "create index on purchases (customer)",
    "create index on purchase_lines (item)",
)

_NEW_ORDER: Final = """
\\set customer random(1, 10000)
\\set item random(1, 1996)
begin;
insert into purchases (customer) values (:customer);
insert into purchase_lines select currval('purchases_id_seq'), line, :item + line - 1, 1
from generate_series(1, 5) as line;
update items set stock = stock - 1 where item between :item and :item + 4;
commit;
"""
_PAYMENT: Final = """
\\set account random(1, 1000000)
\\set branch random(1, 10)
begin;
update pgbench_accounts set abalance = abalance + 10 where aid = :account;
update pgbench_branches set bbalance = bbalance + 10 where bid = :branch;
insert into pgbench_history (tid, bid, aid, delta, mtime) values (1, :branch, :account, 10, current_timestamp);
commit;
"""
_STATUS: Final = """
\\set customer random(1, 10000)
select purchases.id, placed, sum(quantity * price) from purchases join purchase_lines using (id) join items using (item)
where customer = :customer group by purchases.id order by placed desc limit 5;
"""
_REPORT: Final = """
\\set item random(1, 1950)
select item, count(*), sum(quantity) from purchase_lines join purchases using (id)
where item between :item and :item + 50 and placed > now() - interval '30 days' group by item order by 2 desc;
"""

SCRIPTS: Final = {
    "new_order": (_NEW_ORDER, 40),
    "payment": (_PAYMENT, 30),
    "status": (_STATUS, 25),
    "report": (_REPORT, 5),
}
"""The transactions in pgbench's language, with how often each comes in a hundred."""
