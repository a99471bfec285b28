"""Which tables of a server tell its sessions: found once for each connection, the best that may be read.

performance_schema.threads is read without a lock; information_schema.processlist locks out who comes and goes, and what
stands in it of a thread. Both are joined with InnoDB's transactions, which need PROCESS.
"""

from collections.abc import Collection
from typing import Any, Final, NamedTuple

from doctord.collect.core.link import Link
from doctord.collect.mysql.driver import is_mariadb
from doctord.dataset import mysql_names
from doctord.dataset.mysql_threads import wait_of
from doctord.errors import UserError

PROCESS: Final = "GRANT PROCESS ON *.* TO the user that doctord logs in as"
_VARIABLES: Final = (
    "SHOW /* doctord */ GLOBAL VARIABLES WHERE variable_name IN ('version', 'port', 'performance_schema')"
)
_USER: Final = "SELECT /* doctord */ SUBSTRING_INDEX(USER(), '@', 1) AS doctord"
_OURS: Final = "/* doctord */"
_AT_REST: Final = "'Sleep', 'Daemon', 'Binlog Dump', 'Binlog Dump GTID', 'Connect', 'Slave_IO'"
_TRANSACTION: Final = (
    "trx.trx_state = 'LOCK WAIT', TIMESTAMPDIFF(SECOND, trx.trx_started, NOW()), "
    "TIMESTAMPDIFF(SECOND, trx.trx_wait_started, NOW())"
)
_OF_NONE: Final = "0, NULL, NULL"
_BY_LIST: Final = (
    "SELECT /* doctord */ p.id AS doctord, p.user, p.host, p.db, p.command, {ms}, p.state, LEFT(p.info, 4000), "
    "NULL, {tid}, {trx} FROM information_schema.processlist p {join} WHERE p.id <> CONNECTION_ID() "
    "AND p.user <> 'event_scheduler' AND (p.command NOT IN ({rest}){or_open}{{or_holders}})"
)
_BY_THREADS: Final = (
    "SELECT /* doctord */ p.processlist_id AS doctord, "  # noqa: S608 - our own names
    f"IF({mysql_names.IS_REPLICATION}, '{mysql_names.SYSTEM_USER}', p.processlist_user), "
    "p.processlist_host, p.processlist_db, "
    "p.processlist_command, COALESCE(s.timer_wait / 1e9, 1000 * p.processlist_time), p.processlist_state, "
    "LEFT(p.processlist_info, 4000), s.digest, p.thread_os_id, {trx} FROM performance_schema.threads p {join} "
    "LEFT JOIN performance_schema.events_statements_current s "
    "ON s.thread_id = p.thread_id AND s.nesting_event_id IS NULL AND s.end_event_id IS NULL "
    "WHERE p.type = 'FOREGROUND' AND p.processlist_id <> CONNECTION_ID() "
    "AND (p.processlist_command NOT IN ({rest}){or_open}{{or_holders}})"
)
_JOIN: Final = "LEFT JOIN information_schema.innodb_trx trx ON trx.trx_mysql_thread_id = {}"


class Thread(NamedTuple):
    """A session as these tables tell it: times in the unit of their names, null where it is not told."""

    sid: int
    user: str | None
    host: str | None
    database: str | None
    command: str
    since_ms: float | None
    state: str | None
    text: str | None
    digest: str | None
    os_thread: int | None
    waits_for_lock: bool
    transaction_s: float | None
    waited_s: float | None

    @property
    def is_applier(self) -> bool:
        """Whether it applies what a replica has received: such threads log in nowhere."""
        return self.user == mysql_names.SYSTEM_USER


class Activity(NamedTuple):
    """What to ask of a server, whose name in the dataset is `db`; `user` is who asks.

    `sql` has a place for more sessions, whose column of numbers is `number`.
    """

    db: str
    user: str
    sql: str
    number: str
    is_mariadb: bool
    by_threads: bool
    with_transactions: bool

    def ask(self, link: Link, holders: Collection[int] = ()) -> list[Thread]:
        """The sessions that are not at rest, and not ours: those at our statements, or between two of them.

        Appliers of a replica are among them, while they have something to do; and `holders`, whom others wait for, at
        rest or not.

        Raises:
            Away: the connection broke.
            UserError: the server refused.
        """
        or_holders = f" OR {self.number} IN ({', '.join(map(str, holders))})" if holders else ""
        sql = self.sql.format(or_holders=or_holders)
        threads = [one for row in link.query(sql) if not self._is_ours(one := Thread(*row))]
        return [one for one in threads if not (one.is_applier and _has_nothing_to_do(one))]

    def _is_ours(self, one: Thread) -> bool:
        return _OURS in one.text if one.text else one.user == self.user and one.command != "Sleep"


def _has_nothing_to_do(one: Thread) -> bool:
    """Whether an applier waits for more to apply, for another to have applied, or for a delay that was asked for."""
    return one.command == "Sleep" or wait_of(one.state or "", None)["wait_class"] == "Idle"


def activity(link: Link) -> Activity:
    """The best of what this server lets us read.

    Raises:
        Away: the connection broke.
        UserError: none may be read.
    """
    held: dict[str, Any] = dict(link.query(_VARIABLES))
    mariadb, port = is_mariadb(str(held.get("version", ""))), str(held.get("port", "0"))
    db, [(user,)] = f"mysql:{port}" if port != "0" else link.db, link.query(_USER)
    has_threads = held.get("performance_schema") == "ON"
    ways = [(by_threads, with_trx) for with_trx in (True, False) for by_threads in (True, False)]
    refused: UserError | None = None
    for by_threads, with_transactions in ways:
        if by_threads and not has_threads:
            continue
        sql = _sql(by_threads=by_threads, with_transactions=with_transactions, mariadb=mariadb)
        number = "p.processlist_id" if by_threads else "p.id"
        found = Activity(db, str(user), sql, number, mariadb, by_threads, with_transactions)
        try:
            found.ask(link)
        except UserError as refusal:
            refused = refused or refusal
            continue
        return found
    raise refused or UserError("the server tells nothing of its sessions", PROCESS)


def _sql(*, by_threads: bool, with_transactions: bool, mariadb: bool) -> str:
    join = _JOIN.format("p.processlist_id" if by_threads else "p.id")
    return (_BY_THREADS if by_threads else _BY_LIST).format(
        ms="p.time_ms" if mariadb else "1000 * p.time",
        tid="p.tid" if mariadb else "NULL",
        rest=_AT_REST,
        trx=_TRANSACTION if with_transactions else _OF_NONE,
        join=join if with_transactions else "",
        or_open=" OR trx.trx_id IS NOT NULL" if with_transactions else "",
    )
