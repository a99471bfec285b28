"""The lab's tables in MariaDB and MySQL, the light load on them, and data directories with them, made once and kept.

A bank as of TPC-B: 10 branches, 100 tellers, 300,000 accounts, a history. The second load enters orders beside it.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from doctord.lab.host.folder import give
from doctord.lab.host.processes import server_user, tied
from doctord.lab.load.workload import Load
from doctord.lab.mysql.binaries import Program
from doctord.lab.mysql.clients import Script
from doctord.lab.mysql.server import DATABASE, command, own_user, running_server
from doctord.lab.template import provide, quietly

ACCOUNTS: Final = 300_000
_RECIPE: Final = 1  # raise it when what a template holds changes
_TEN: Final = "(" + " UNION ALL ".join(f"SELECT {digit} AS d" for digit in range(10)) + ")"


def numbers(count: int) -> str:
    """A derived table `n` with the column i from 1 to `count`, at most a million."""
    digits = " + ".join(f"{10**place} * d{place}.d" for place in range(6))
    tables = " JOIN ".join(f"{_TEN} d{place}" for place in range(6))
    return f"(SELECT 1 + {digits} AS i FROM {tables} HAVING i <= {count}) n"


TABLES: Final = (
    "CREATE TABLE branches (id INT PRIMARY KEY, balance BIGINT NOT NULL, filler VARCHAR(88)) ENGINE=InnoDB",
    "CREATE TABLE tellers (id INT PRIMARY KEY, branch INT NOT NULL, balance BIGINT NOT NULL) ENGINE=InnoDB",
    "CREATE TABLE accounts (id INT PRIMARY KEY, branch INT NOT NULL, balance BIGINT NOT NULL, filler VARCHAR(84))"
    " ENGINE=InnoDB",
    "CREATE TABLE history (id BIGINT AUTO_INCREMENT PRIMARY KEY, teller INT, branch INT, account INT, delta INT,"
    " at TIMESTAMP DEFAULT CURRENT_TIMESTAMP) ENGINE=InnoDB",
    f"INSERT INTO branches SELECT i, 0, REPEAT('x', 80) FROM {numbers(10)}",
    f"INSERT INTO tellers SELECT i, 1 + (i - 1) DIV 10, 0 FROM {numbers(100)}",
    f"INSERT INTO accounts SELECT i, 1 + (i - 1) DIV 30000, 0, REPEAT('x', 80) FROM {numbers(ACCOUNTS)} ORDER BY i",
    "CREATE TABLE items (id INT PRIMARY KEY, name VARCHAR(40), price DECIMAL(10,2), stock INT) ENGINE=InnoDB",
    "CREATE TABLE purchases (id BIGINT AUTO_INCREMENT PRIMARY KEY, customer INT NOT NULL,"
    " placed TIMESTAMP DEFAULT CURRENT_TIMESTAMP, KEY (customer)) ENGINE=InnoDB",
    "CREATE TABLE purchase_lines (purchase BIGINT, line INT, item INT, quantity INT, PRIMARY KEY (purchase, line),"
    " KEY (item)) ENGINE=InnoDB",
    f"INSERT INTO items SELECT i, CONCAT('item ', i), i * 0.17, 1000000 FROM {numbers(2000)}",
    f"INSERT INTO purchases (customer) SELECT 1 + i % 10000 FROM {numbers(40_000)}",
    f"INSERT INTO purchase_lines SELECT i, 1, 1 + i % 2000, 1 FROM {numbers(40_000)}",
    "ANALYZE TABLE branches, tellers, accounts, items, purchases, purchase_lines",
)

_TPCB: Final = Script(
    (
        "BEGIN",
        "UPDATE accounts SET balance = balance + {delta} WHERE id = {account}",
        "SELECT balance FROM accounts WHERE id = {account}",
        "UPDATE tellers SET balance = balance + {delta} WHERE id = {teller}",
        "UPDATE branches SET balance = balance + {delta} WHERE id = {branch}",
        "INSERT INTO history (teller, branch, account, delta) VALUES ({teller}, {branch}, {account}, {delta})",
        "COMMIT",
    ),
    {"account": (1, ACCOUNTS), "teller": (1, 100), "branch": (1, 10), "delta": (-5000, 5000)},
)
_NEW_ORDER: Final = Script(
    (
        "BEGIN",
        "INSERT INTO purchases (customer) VALUES ({customer})",
        "INSERT INTO purchase_lines VALUES (LAST_INSERT_ID(), 1, {item}, 1), (LAST_INSERT_ID(), 2, {item} + 1, 2)",
        "UPDATE items SET stock = stock - 1 WHERE id BETWEEN {item} AND {item} + 1",
        "COMMIT",
    ),
    {"customer": (1, 10_000), "item": (1, 1999)},
    weight=4,
)
_HISTORY: Final = Script(
    (
        "SELECT p.id, SUM(l.quantity * i.price) FROM purchases p JOIN purchase_lines l ON l.purchase = p.id"
        " JOIN items i ON i.id = l.item WHERE p.customer = {customer} GROUP BY p.id",
    ),
    {"customer": (1, 10_000)},
    weight=5,
)
_REPORT: Final = Script(("SELECT COUNT(*), AVG(price) FROM items WHERE stock < 999990",))
LOADS: Final[Mapping[Load, Sequence[Script]]] = {"tpcb": (_TPCB,), "orders": (_NEW_ORDER, _HISTORY, _REPORT)}


def provide_data(program: Program, data: Path) -> None:
    """Make `data` a data directory with the lab's tables: a copy of a kept one, or a new one to keep; synced.

    Raises:
        LabError: it cannot be made; why, in the server's last words.
    """
    kind = "mariadb" if program.is_mariadb else "mysql"
    provide(f"{kind}-{program.version}-{own_user()}-recipe{_RECIPE}", data, lambda: _prepare(program, data))


def _prepare(program: Program, data: Path) -> None:
    _install(program, data)
    _fill(program, data)


def _install(program: Program, data: Path) -> None:
    if not program.is_mariadb:
        quietly(command(program, {"datadir": str(data)}, "--initialize-insecure"), program.environment)
        return
    installer = program.path.parent.parent / "bin/mariadb-install-db"
    options = [f"--datadir={data}", "--skip-test-db", "--auth-root-authentication-method=socket"]
    options.append(f"--auth-root-socket-user={own_user()}")
    data.mkdir()
    give(data)
    quietly(tied([installer, "--no-defaults", *options], user=server_user()), program.environment)


def _fill(program: Program, data: Path) -> None:
    """The tables and who may log in, by a server that takes no care of its log meanwhile."""
    begin = data.parent / "begin.sql"
    begin.write_text("".join(f"{statement};\n" for statement in _users(program)))
    loading = {"innodb_flush_log_at_trx_commit": "0", "init_file": str(begin), "innodb_fast_shutdown": "0"}
    with running_server(program, data.parent, data, loading, orderly=True) as server:
        server.execute("SET SESSION sql_log_bin = 0", *TABLES)


def _users(program: Program) -> Sequence[str]:
    """The lab's own user, through the socket alone, and app, without a password until a run gives it one."""
    administrator = f"{own_user()}@localhost"
    of_mysql = (
        f"CREATE USER IF NOT EXISTS {administrator}",
        f"ALTER USER {administrator} IDENTIFIED WITH auth_socket",
        f"GRANT ALL ON *.* TO {administrator} WITH GRANT OPTION",
        *(() if own_user() == "root" else ("DROP USER root@localhost",)),
    )
    return (
        *(() if program.is_mariadb else of_mysql),
        f"CREATE DATABASE {DATABASE}",
        "CREATE USER app@localhost",
        f"GRANT ALL ON {DATABASE}.* TO app@localhost",
    )
