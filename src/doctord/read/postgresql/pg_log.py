r"""Server logs of PostgreSQL 9.0 to 18: on standard error with any log_line_prefix, in syslog, csvlog and jsonlog.

The prefix is found out from the lines. It must hold a time (`%m`, `%t` or `%n`); the database is known where the prefix
holds `%d` with a key (`db=`), behind an `@`, or where connections are logged too. All figures are of what the server
was set up to log.

Messages are understood in English. Where lc_messages says otherwise, severities, statements and durations are (German,
French, Spanish, Italian, Brazilian, Swedish, Russian, Ukrainian, Korean, Chinese; of Japanese what it leaves in
English), and errors by their own words; checkpoints, locks and connections are not.

Everything is summed up by the minute of the clock; the first and the last interval are cut to what the log covers, to
no less than a second. `db` is `postgresql`, with the port where the log tells it in its beginning. What the server
counts in a view of its own is called as in that view; the rest is called `log.NAME`.

- `statement`: by database and text without constants, calls and time of `duration: ... statement:` and `execute`; time
  of parse and bind is added to that of their statement. Bytes of temporary files where the statement stands beside
  them. `statement_id` is a hash of the text. A statement that was logged without a duration has no time.
- `latency`: durations of statements, subject `statement duration`.
- `statistic`: checkpoints (`pg_stat_checkpointer.*`; `log.checkpoint_distance`, bytes), `pg_stat_database.deadlocks`,
  `.temp_files`, `.temp_bytes`, `.sessions`; connections, session time, autovacuum by table, `log.errors` by severity,
  SQLSTATE and message, `log.messages` by severity.
- `wait`: locks that were waited for longer than deadlock_timeout (log_lock_waits), counted when they were got, and, of
  class `Unaccounted`, the rest of the time of the statements that were logged. Where no durations are logged there is
  no whole that the waits are part of: then they are `log.locks_acquired` and `log.lock_wait_time`.
- `event`: checkpoint, lock wait (who waits, for what, held by whom), deadlock, restart, settings change, connection
  refused, disk full, out of memory, replication, error (PANIC). `setting`: parameters that a reload changed.

Left out: plans of auto_explain (counted as `log.plans`), parameters of statements, notices of functions, what other
programs wrote into the log (counted as skipped). Values never leave the log: statements and messages are scrubbed.
"""

import re
from collections.abc import Iterator

from doctord._native import Batch, foreign_severities
from doctord.read.format import Rank
from doctord.read.server_log import summed_up
from doctord.read.source import SourceFile

NAME = "PostgreSQL server log"
RANK = Rank.NAMED

_ENGLISH = ("DEBUG[1-5]?", "LOG", "INFO", "NOTICE", "WARNING", "ERROR", "FATAL", "PANIC")
_SEVERITY = f"(?:{'|'.join([*_ENGLISH, *foreign_severities()])})"
_TIME = r"(?:\d{4}-\d\d-\d\d \d\d:\d\d:\d\d|\b\d{10}\.\d{3}(?!\d))"
_STDERR = re.compile(rf"^(?!\t)[^\n]*?{_TIME}[^\n]*?\b{_SEVERITY}:  ", re.MULTILINE)
_SYSLOG = re.compile(
    rf"^(?:[A-Z][a-z]{{2}} [ \d]\d \d\d:\d\d:\d\d|\d{{4}}-\d\d-\d\dT\S+) (\S+) [^\n\[]*\[\d+\]: \[\d+-\d+\] "
    rf"[^\n]*?\b{_SEVERITY}:  ",
    re.MULTILINE,
)
_CSV = re.compile(
    rf"^\d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d[^,\n]*,(?:[^\n]*?,)?\w*\.\w+,\d+,[^\n]*?,{_SEVERITY},[0-9A-Z]{{5}},",
    re.MULTILINE,
)
_JSON = re.compile(rf'^\{{"timestamp":"\d{{4}}-[^\n]*?"error_severity":"{_SEVERITY}"', re.MULTILINE)
_PORT = re.compile(r"listening on (?:IPv[46] address [^\n]*?, port (\d+)|Unix socket [^\n]*?\.s\.PGSQL\.(\d+))")


def sniff(head: str) -> bool:
    """Whether a line of a server's is among the first."""
    return _form(head) is not None


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `statistic`, `statement`, `latency`, `wait`, `event` and `setting`."""
    form = _form(source.head) or "stderr"
    if form == "syslog" and (header := _SYSLOG.search(source.head)):
        source.host = header[1]
    port = _PORT.search(source.head)
    db = f"postgresql:{port[1] or port[2]}" if port else "postgresql"
    yield from summed_up(source, form, "postgresql", db)


def _form(head: str) -> str | None:
    forms = {"jsonlog": _JSON, "csvlog": _CSV, "syslog": _SYSLOG, "stderr": _STDERR}
    return next((form for form, line in forms.items() if line.search(head)), None)
