"""Slow query logs of MariaDB 5.5 to 11, MySQL 5.1 to 9 and Percona Server.

A statement is placed where it ended: `SET timestamp`, which is in UTC, and Query_time behind it. Everything is summed
up by the minute of the clock; the first and the last interval are cut to what the log covers, to no less than a second.
`db` is `mysql`, with the port where the log's heading tells it. All figures are of the statements that were slow enough
to be logged.

- `statement`: by database and text without constants: calls, time, rows sent and affected, pages read and found
  (MariaDB with log_slow_verbosity = innodb). `statement_id` is a hash of the text.
- `latency`: Query_time, subject `statement duration`.
- `statistic`, rates, the entity a statement's id: `slow_log.rows_examined`, `slow_log.lock_time`, and, where the log
  has them and they are not zero, temporary tables, full scans and joins, sorts, bytes sent, InnoDB's reads and waits.

Left out: plans (`# explain:`), users and hosts. Values never leave the log: statements are scrubbed.
"""

import re
from collections.abc import Iterator

from doctord._native import Batch
from doctord.read.format import Rank
from doctord.read.server_log import summed_up
from doctord.read.source import SourceFile
from doctord.regex import regex

NAME = "slow query log of MariaDB or MySQL"
RANK = Rank.NAMED
_QUERY = regex(r"^# User@Host: [^\n]*\n(?:#[^\n]*\n)*?# Query_time: [\d.]+", re.MULTILINE)
_PORT = regex(r"^Tcp port: (\d+) ", re.MULTILINE)


def sniff(head: str) -> bool:
    """Whether the header of a statement is among the first lines."""
    return _QUERY.search(head.replace("\r", "")) is not None


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `statement`, `latency` and `statistic`."""
    port = _PORT.search(source.head)
    yield from summed_up(source, "mysql slow", "mysql", f"mysql:{port[1]}" if port else "mysql")
