"""What lint and mysqltuner say of the same healthy MariaDB servers, and whether it is true.

    .venv/bin/python benchmarks/lint/lint_mariadb.py

Private MariaDB servers, as they come and tuned by their documentation, run a short load. Each advisor looks at each
server; what it says is one row, judged by hand in JUDGED. What nobody has judged yet is marked so, and is to be judged
before the table is committed. Writes its part of docs/reference/lint-accuracy.md. Under a minute. Needs
`apt-get install mariadb-server mysqltuner`.
"""

import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pymysql

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "support" / "servers"))

from doctord.collect.core.notices import Notices
from doctord.collect.core.schedule import collect_for
from doctord.collect.linux import LinuxCollector
from doctord.collect.mysql.driver import MySQLDriver
from doctord.collect.mysql.settings import MySQLSettings
from doctord.dataset.dataset import Dataset
from doctord.lint import engine
from doctord.report import phrases
from mariadb_server import MariaDBServer, running_mariadb

PAGE = Path(__file__).parents[2] / "docs/reference/lint-accuracy.md"
LOAD_S = 5.0
# mysqltuner 1.9.9 divides by this, which is 0 by default in MariaDB 10.11.19 (where it has no effect), and dies.
KEEPS_MYSQLTUNER_ALIVE = {"innodb_buffer_pool_chunk_size": "2M"}
STOCK = {"innodb_buffer_pool_size": "128M", "innodb_flush_log_at_trx_commit": 1}
# MariaDB documentation: InnoDB Buffer Pool, InnoDB Redo Log, Replication and Binary Log, Slow Query Log Overview.
TUNED = {
    "innodb_buffer_pool_size": "4G",
    "innodb_log_file_size": "1G",
    "innodb_flush_log_at_trx_commit": 1,
    "log_bin": "bin",
    "sync_binlog": 1,
    "binlog_expire_logs_seconds": 604800,
    "query_cache_size": 0,
    "slow_query_log": "ON",
    "long_query_time": 1,
    "character_set_server": "utf8mb4",
    "collation_server": "utf8mb4_general_ci",
    "max_connections": 100,
}
LOAD = (
    "SELECT COUNT(pad) FROM shop.goods WHERE pad > 'a'",
    "UPDATE shop.goods SET pad = REPEAT(CHAR(97 + RAND() * 25), 250) WHERE id % 100 = 7",
)
# What a statement looks like, whether it is true of these servers, and why.
JUDGED = (
    ("a redo log of .* is full", True, "the load fills it in that time, and writes the changed pages again each time"),
    ("binary logs are kept", True, "at the rate of this load; a note, as seconds tell nothing of days"),
    ("transactions a second go through a file|Binlog cache memory", True, "updates of 1,000 rows outgrow 32 KiB"),
    ("Joins performed without indexes", False, "they are the advisor's own, on the information schema"),
    ("EOL software", False, "10.11 has long-term support until 2028, and Debian keeps it"),
    ("Log file .* doesn't exist", False, "the server logs to standard error, as it was told to"),
    ("Aborted connections", False, "one connection of the advisor's own, counted as a share of a dozen"),
    ("Name resolution", False, "no client was looked up: all come over 127.0.0.1; what it costs is not told"),
    ("stock: Performance_schema should", True, "then nothing tells whose statements take the time"),
    ("tuned: Performance_schema should", False, "it costs memory, and the slow log tells of slow statements here"),
    ("Ratio InnoDB log file size", False, "a ratio: it advises a smaller redo log, which makes more writes"),
    ("InnoDB log waits", False, "single waits since the start: they took no time that anybody felt"),
    ("Aria pagecache hit rate", False, "a ratio of a few dozen reads of system tables since the start"),
    ("Table cache hit rate", False, "a ratio of a few dozen opens since the start"),
    ("InnoDB buffer pool / data size", False, "no statement waits for reads"),
    ("Temporary tables created on disk", False, "a ratio of a handful of tables; its own statements make them"),
    ("performance_schema and slow_query_log are both off", True, "then nothing tells whose statements take the time"),
)


@dataclass(frozen=True)
class Said:
    """What an advisor said of a server, and how severe it calls it."""

    server: str
    advisor: str
    severity: str
    text: str


def main() -> None:
    """Look at each server with each advisor, and write the table."""
    said = [one for name, settings in (("stock", STOCK), ("tuned", TUNED)) for one in on_mariadb(name, settings)]
    write("MariaDB 10.11", table(said))


def on_mariadb(name: str, settings: dict[str, object]) -> Iterator[Said]:
    """What is said of a MariaDB server with these settings, under load."""
    with running_mariadb(**KEEPS_MYSQLTUNER_ALIVE, **settings) as server:
        fill(server)
        with working(server):
            time.sleep(LOAD_S)
            yield from by_mysqltuner(name, server)  # first: reading settings and status counts as work, too
            yield from by_doctord(name, server)


def by_doctord(name: str, server: MariaDBServer) -> Iterator[Said]:
    """What `doctord lint` says."""
    driver = MySQLDriver(str(server.socket), "root")
    batches = collect_for([LinuxCollector(period_s=1.0), MySQLSettings(driver, Notices())], 2.0)
    for violation in engine.examine(Dataset.from_batches(batches)).violations:
        if violation.subject.startswith("mysql"):
            yield Said(name, "doctord", violation.severity.word, phrases.said(violation.title))


def by_mysqltuner(name: str, server: MariaDBServer) -> Iterator[Said]:
    """What mysqltuner marks with `[!!]`."""
    server.execute(
        "CREATE USER tuner@'127.0.0.1' IDENTIFIED BY 'x'", "GRANT ALL ON *.* TO tuner@'127.0.0.1' WITH GRANT OPTION"
    )
    place = ["--host", "127.0.0.1", "--protocol", "tcp", "--port", str(server.port), "--user", "tuner", "--pass", "x"]
    ended = subprocess.run(
        ["mysqltuner", "--nocolor", "--nosysstat", *place], capture_output=True, text=True, check=True
    )
    for line in ended.stdout.splitlines():
        if line.startswith("[!!]"):
            yield Said(name, "mysqltuner 1.9.9", "[!!]", line.removeprefix("[!!]").strip())


def fill(server: MariaDBServer) -> None:
    """A table of about 40 MiB."""
    server.execute(
        "CREATE DATABASE shop",
        "USE shop",
        "CREATE TABLE goods (id INT PRIMARY KEY, pad CHAR(250) CHARACTER SET latin1 NOT NULL)",
        "INSERT INTO goods SELECT seq, REPEAT('x', 250) FROM seq_1_to_100000",
        "COMMIT",
    )


@contextmanager
def working(server: MariaDBServer) -> Iterator[None]:
    """One session at work, while something is looked at."""
    stop = threading.Event()

    def work() -> None:
        with closing(pymysql.connect(user="root", unix_socket=str(server.socket), autocommit=True)) as connection:
            while not stop.is_set():
                for statement in LOAD:
                    connection.cursor().execute(statement)

    session = threading.Thread(target=work)
    session.start()
    try:
        yield
    finally:
        stop.set()
        session.join()


def table(said: list[Said]) -> str:
    """The statements with their verdicts, and a line that counts them."""
    lines = ["| server | advisor | says | true? |", "|---|---|---|---|"]
    lines += [f"| {one.server} | {one.advisor}, {one.severity} | {one.text} | {verdict(one)} |" for one in said]
    advisors = sorted({one.advisor for one in said} | {"doctord"})
    for advisor in advisors:
        own = [one for one in said if one.advisor == advisor]
        true = sum(verdict(one).startswith("yes") for one in own)
        lines += ["", f"{advisor}: {len(own)} statements on two healthy servers, {true} of them true."]
    return "\n".join(lines)


def verdict(said: Said) -> str:
    """Whether it is true, and why."""
    for pattern, is_true, why in JUDGED:
        if re.search(pattern, f"{said.server}: {said.text}"):
            return f"{'yes' if is_true else 'no'}: {why}"
    return "not judged yet"


def write(heading: str, text: str) -> None:
    """Put the part under this heading into the page, and leave the others as they are."""
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(f"\n### {heading}\n")
    _, mark, after = rest.partition("\n## ")
    PAGE.write_text(f"{before}\n### {heading}\n\n{text}\n{mark}{after}", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
