r"""Server logs of PostgreSQL 9.0 to 18: on standard error with any log_line_prefix, in syslog, csvlog and jsonlog.

The prefix is found out from the lines; the database is known where the prefix holds `%d` with a key (`db=`), behind an
`@`, or where connections are logged too. All figures are of what the server was set up to log. Each line needs a time:
the server's own (`%m`, `%t` or `%n`), or one that was put before it (`docker logs -t`, journalctl, Heroku, a syslog
that takes what goes to standard error). CloudNativePG's objects are read as jsonlog.

Of a log without any time the whole is summed up: `statistic` as below, but named `in_all.NAME`, amounts in place of
rates; `in_all.statement_calls` and `in_all.statement_time` by the id of a `statement`; `latency`; events, which are all
at the moment when the file was last written.

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
  SQLSTATE and message (warnings, and of severity LOG what failed, among them; `log.errors_from`: by who met these, and
  FATAL), `log.messages` by severity.
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
from doctord.regex import regex

NAME = "PostgreSQL server log"
RANK = Rank.NAMED

_ENGLISH = ("DEBUG[1-5]?", "LOG", "INFO", "NOTICE", "WARNING", "ERROR", "FATAL", "PANIC")
_SEVERITY = f"(?:{'|'.join([*_ENGLISH, *foreign_severities()])})"
_TIME = r"(?:\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d|\b\d{10}\.\d{3}(?!\d))"
_STDERR = regex(rf"^(?!\t)[^\n]*?{_TIME}[^\n]*?\b{_SEVERITY}:  ", re.MULTILINE)
_SYSLOG = regex(
    rf"^(?:[A-Z][a-z]{{2}} [ \d]\d \d\d:\d\d:\d\d|\d{{4}}-\d\d-\d\dT\S+) (\S+) [^\n\[]*\[\d+\]: (?:\[\d+-\d+\] )?"
    rf"[^\n]*?\b{_SEVERITY}:  ",
    re.MULTILINE,
)
_CSV = regex(
    rf"^\d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d[^,\n]*,(?:[^\n]*?,)?\w*\.\w+,\d+,[^\n]*?,{_SEVERITY},[0-9A-Z]{{5}},",
    re.MULTILINE,
)
_JSON = regex(rf'^\{{"(?:timestamp":"\d{{4}}-|level":")[^\n]*?"error_severity":"{_SEVERITY}"', re.MULTILINE)
_UNTIMED = regex(rf"^(?!\t)(?:[^\n]{{0,80}}[\s\]:>|])?(?P<severity>{_SEVERITY}) ?:  \S", re.MULTILINE)
_PART = regex(r"^(?:\t|[^\n]{0,80}\b[^\W\d_]+ ?:  \S)")
# What clients print of a server's errors has no message of this severity.
_OF_SERVERS = ("LOG", *foreign_severities("LOG"))
_MOST = 0.5
# What docker compose, docker logs -t and Heroku put before each line, also those that go on from the one above.
_STAMPED = regex(
    rb"^(?=[^\t\n])(?:[\w.-]+ +\| )?"
    rb"(?:\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[\d.,]* ?(?:Z|[+-]\d\d:?\d\d)?(?: [^\t\n:]*:(?: \[[^\]\n]*\])*)? )?(?=\t)",
    re.MULTILINE,
)
_PORT = regex(r"listening on (?:IPv[46] address [^\n]*?, port (\d+)|Unix socket [^\n]*?\.s\.PGSQL\.(\d+))")


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
    is_stamped = form == "stderr" and _STAMPED.search(source.head.encode()) is not None
    yield from summed_up(source, form, "postgresql", db, without=_unstamped if is_stamped else bytes)


def _unstamped(piece: bytes) -> bytes:
    """A piece of the log without the times that were put before lines that go on from the ones above."""
    return _STAMPED.sub(b"", piece)


def _form(head: str) -> str | None:
    forms = {"jsonlog": _JSON, "csvlog": _CSV, "syslog": _SYSLOG, "stderr": _STDERR}
    found = next((form for form, line in forms.items() if line.search(head)), None)
    return found or ("stderr" if _is_untimed(head) else None)


def _is_untimed(head: str) -> bool:
    """Whether most of the lines are messages of a server, or parts of such, without a time."""
    if ":  " not in head or not any(found["severity"] in _OF_SERVERS for found in _UNTIMED.finditer(head)):
        return False
    lines = [line for line in head.splitlines() if line.strip()]
    return sum(map(bool, map(_PART.match, lines))) > _MOST * len(lines)
