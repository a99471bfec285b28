"""The server's own log: sessions that wait until what they log is taken."""

from collections.abc import Iterator

from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.common.waited import of_kind
from doctord.diagnose.finding import Claim, Evidence
from doctord.diagnose.phrase import phrase

LOG = "server log"
# What has every statement logged: a setting and the values that do.
ALL_LOGGED = (
    ("log_statement", ("all", "mod")),
    ("log_min_duration_statement", ("0",)),
    ("log_duration", ("on",)),
    ("log_min_messages", ("debug1", "debug2", "debug3", "debug4", "debug5")),
)
READER = "log.reader"


@cause(waits=(LOG,))
def server_log_slow(case: Case) -> Iterator[Claim]:
    """Sessions wait until their messages for the server's own log are written, or taken by its reader.

    Looks like: sessions are active, wait for nothing that the server names, and are on no CPU: they stand in write(2)
        to their standard error, which is the pipe of the log collector (or of a service's journal), or a file.
    Hurts because: a session that logs goes on when its message is written: PostgreSQL's collector loses no message,
        so that all sessions stop when it falls behind.
    Speaks for it: share of the time in that place of the kernel; who reads the pipe and what that process does; that
        every statement is logged.
    Speaks against it: settings by which little is logged: then the reader stands still, or the disk of the log.
    Remedy: Log less: log_statement = none or ddl; log_min_duration_statement = 250ms in place of 0, or a sample
        (log_min_duration_sample, log_statement_sample_rate). Then let the reader be quicker: logging_collector = on
        into a file on a disk that is not the database's, no filter or network behind the pipe, no rate limit that
        blocks (journald, a container's log driver in blocking mode).
    Verify: No session stands there any more, at the same transactions per second.
    Source: PostgreSQL documentation, "Error Reporting and Logging", logging_collector: "server processes could be
        blocked while trying to send additional log messages when the collector has fallen behind"; pipe(7).
    """
    share = case.time.kind_share(LOG)
    if not case.worth_with_locks(share, LOG):
        return
    db = case.dbs[0] if len(case.dbs) == 1 else None
    logged = _logged(case, db)
    yield Claim(
        phrase("{:share of database} waits for the server's own log", share),
        impact=share,
        confidence=0.9 if logged else 0.8,
        for_=[*of_kind(case, LOG), *_reader(case, db), *logged],
        against=[] if logged else _little(case, db),
        database=db,
    )


def _logged(case: Case, db: str | None) -> list[Evidence]:
    """Settings that have every statement logged."""
    told = [(name, case.setting(name, db)) for name, values in ALL_LOGGED if case.setting(name, db) in values]
    return [
        Evidence("setting", f"name = '{name}'", phrase("{} = {}", name, value), "", "each statement writes to the log")
        for name, value in told
    ]


def _little(case: Case, db: str | None) -> list[Evidence]:
    known = case.setting("log_statement", db)
    if known is None:
        return []
    why = "statements are not logged: little is written, and even that is not taken"
    return [Evidence("setting", "name = 'log_statement'", phrase("log_statement = {}", known), "", why)]


def _reader(case: Case, db: str | None) -> list[Evidence]:
    """Who is at the other end, as the kernel tells who may look."""
    reader = case.setting(READER, db)
    if reader is None:
        return []
    return [Evidence("setting", f"name = '{READER}'", phrase("it goes to {}", reader), "", "who has to take it")]
