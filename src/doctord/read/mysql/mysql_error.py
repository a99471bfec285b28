"""Error logs of MariaDB 5.1 to 11 and MySQL 5.0 to 9 (not as JSON).

Times are the server's own, or in UTC where they end in `Z`. Everything is summed up by the minute of the clock; the
first and the last interval are cut to what the log covers, to no less than a second. `db` is `mysql`, with the port
where the beginning of the log tells it. What InnoDB says without a time is of the message before it.

- `statistic`, rates: `log.messages` by severity, `log.errors` by severity, code and message without values,
  `log.aborted_connections` by reason, `log.access_denied`, `log.connections_refused`, `log.deadlocks`,
  `log.semaphore_waits`, `log.page_cleaner_late`; gauges `log.page_cleaner_loop`, `log.semaphore_longest_wait`, seconds.
- `event`: restart, deadlock (the statement of each transaction, where innodb_print_all_deadlocks is on), connection
  refused, disk full, semaphore wait, replication.

What InnoDB's monitor prints into the log (innodb_status_output) is read as SHOW ENGINE INNODB STATUS is.

Left out: the locks and records that InnoDB prints of a deadlock (they hold values), stack traces.
"""

import re
from collections.abc import Iterator

from doctord._native import Batch
from doctord.read.format import Rank
from doctord.read.mysql.innodb_in_log import Monitors
from doctord.read.server_log import summed_up
from doctord.read.source import SourceFile
from doctord.regex import regex

NAME = "error log of MariaDB or MySQL"
RANK = Rank.NAMED
_DAY = r"(?:\d{4}-\d\d-\d\d[ T]|\d{6} )"
_LINE = regex(
    rf"^{_DAY}[ \d]\d:\d\d:\d\d(?:\S* +(?:\d+ )?\[(?:Note|Warning|ERROR|System)\] | *InnoDB: )",
    re.MULTILINE,
)
_PORT = regex(r"  port: (\d+)  |Server socket created on IP: '[^']*', port: '(\d+)'")


def sniff(head: str) -> bool:
    """Whether a message of such a server is among the first lines."""
    return _LINE.search(head) is not None


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `statistic` and `event`; of InnoDB's monitor also of `session` and `statement`."""
    port = _PORT.search(source.head)
    db = f"mysql:{port[1] or port[2]}" if port else "mysql"
    monitors = Monitors(source, db, _LINE)
    yield from summed_up(source, "mysql error", "mysql", db, without=monitors.taken_out)
    yield from monitors.rest()
