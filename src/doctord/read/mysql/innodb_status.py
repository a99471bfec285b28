r"""SHOW ENGINE INNODB STATUS of MySQL 5.0 to 9 and MariaDB 5 to 11: after `\G`, by tabs, or the monitor's own output.

Several of them in one file are several moments. Times are the server's own, without a zone. Its colons and slashes may
be lost (pasted into a page), and the section of the latest deadlock may stand alone.

- `statistic` of `mysql`, named as in SHOW GLOBAL STATUS where that has them: `global_status.innodb_data_reads`,
  `.innodb_pages_read`, `.innodb_rows_read` and their like, means per second over the time that the monitor names;
  `.innodb_history_list_length`, `.innodb_checkpoint_age` (bytes; the log sequence number less the last checkpoint),
  `.innodb_buffer_pool_pages_*`, `.innodb_data_pending_*`, `.innodb_row_lock_current_waits` as readings. What it has not
  is `innodb_status.NAME`: the hit rate (of 1), queries in the queue, threads that wait for a semaphore and the
  longest of these waits, transactions that are prepared and wait for their commit, with the age of the oldest, and,
  of several outputs, waits of the wait array per second.
- `session`, `statement`: who has a transaction open. A LOCK WAIT is a wait for a row; a thread without a statement is
  idle in its transaction; of others the thread's state tells. Each stands for the time that the monitor names.
- `event`: the latest deadlock, at its own time, a row for each transaction with its statement, as an error log has it.

In an error log too, where innodb_status_output has it printed there (see its format).

Left out: records and what they hold, memory by structure, the latest foreign key error. Values of statements are
scrubbed.
"""

from collections.abc import Iterator
from typing import Final

from doctord._native import Batch
from doctord.read.format import Rank
from doctord.read.mysql import mysql_error
from doctord.read.mysql.innodb_monitor import BEGINS, DEADLOCK, plain, tables_of
from doctord.read.source import SourceFile

NAME = "SHOW ENGINE INNODB STATUS"
RANK = Rank.NAMED
DB: Final = "mysql"
LOOKED_AT: Final = 20  # lines before the monitor's own: a prompt, a ruler, the row's number, type, name and status


def sniff(head: str) -> bool:
    """Whether a heading of the monitor is among the first lines, and it is no log in which the monitor speaks too."""
    lines = plain(head).splitlines()
    begins = any(BEGINS.search(line) for line in lines[:LOOKED_AT]) or any(line.strip() == DEADLOCK for line in lines)
    return begins and not mysql_error.sniff(head)


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `statistic`, `session`, `statement` and `event`."""
    yield from tables_of(source.lines(), source, DB)
