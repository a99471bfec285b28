"""Replicas of MySQL and MariaDB, by what they tell of themselves: which have stopped, and which are far behind."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

import polars as pl

from doctord.analyse.figures import Statistic
from doctord.dataset.mysql_names import REPLICA
from doctord.dataset.tables import APPLIER
from doctord.diagnose.case import Case
from doctord.diagnose.common.wal.readings import lately, looks, stays
from doctord.diagnose.finding import NONE_YET, Claim, Evidence
from doctord.diagnose.phrase import Words, phrase

RECEIVES, APPLIES = f"{REPLICA}receiver_running", f"{REPLICA}applier_running"
BEHIND, DELAY = f"{REPLICA}seconds_behind_source", f"{REPLICA}sql_delay"
NOT_APPLIED = f"{REPLICA}not_applied_bytes"
READ, EXECUTED = f"{REPLICA}read_source_log_pos", f"{REPLICA}exec_source_log_pos"
LAST_ERROR: Final = {RECEIVES: f"{REPLICA}last_io_errno", APPLIES: f"{REPLICA}last_sql_errno"}
# MySQL to 8.0.25, later ones, and MariaDB.
WORKERS: Final = ("slave_parallel_workers", "replica_parallel_workers", "slave_parallel_threads")
# Half of the samples of one applier: it is what the applier waits for, not what it meets now and then.
MOSTLY: Final = 0.5
FEWEST_SAMPLES: Final = 5

_DIFFERS: Final = (
    "Rows here are not those of the source: SHOW REPLICA STATUS has the row in Last_SQL_Error. Mend that row, START "
    "REPLICA, and compare the tables with the source's; skip a transaction only where it is known what it did. "
    "super_read_only = ON (MariaDB: read_only) keeps others from writing here.",
)
_OTHER_TABLES: Final = ("Tables here are not those of the source: mend the table's definition, then START REPLICA.",)
_UNREACHED: Final = (
    "From this host, log in at the source as the replication account: its address and port, a firewall, the password "
    "or its expiry, TLS (caching_sha2_password asks for it). Then START REPLICA.",
)
_LOG_GONE: Final = (
    "The source has not the log that this replica asks for: take it anew from a backup or by CLONE, and keep the "
    "source's binary log for longer than a replica may be away (binlog_expire_logs_seconds).",
)
_BY_COMMAND: Final = ("Ask who stopped it, and why; START REPLICA lets it go on.",)
_OTHERWISE: Final = ("Last_IO_Error and Last_SQL_Error in SHOW REPLICA STATUS, and the server's log, say what it is.",)
_VERIFY: Final = (
    "Replica_IO_Running and Replica_SQL_Running are Yes in SHOW REPLICA STATUS, and Seconds_Behind_Source falls.",
)
# Numbers, meanings and what to do: MySQL Error Message Reference; MariaDB documentation, "MariaDB Error Codes".
_ERRORS: Final[dict[int, tuple[str, tuple[str, ...]]]] = {
    1032: ("a row that was changed is not here", _DIFFERS),
    1062: ("a row with that key is here already", _DIFFERS),
    1452: ("the row that it refers to is not here", _DIFFERS),
    1049: ("the database is not here", _OTHER_TABLES),
    1050: ("the table is here already", _OTHER_TABLES),
    1051: ("the table is not here", _OTHER_TABLES),
    1054: ("a column is not here", _OTHER_TABLES),
    1146: ("the table is not here", _OTHER_TABLES),
    1677: ("a column is of another type here", _OTHER_TABLES),
    13146: ("a column is of another type here", _OTHER_TABLES),
    1236: ("the source cannot send the log from there on", _LOG_GONE),
    13114: ("the source cannot send the log from there on", _LOG_GONE),
    1045: ("user or password is wrong", _UNREACHED),
    1130: ("the source lets this host not in", _UNREACHED),
    2002: ("the source is not reached", _UNREACHED),
    2003: ("the source is not reached", _UNREACHED),
    2005: ("the source's name is not known", _UNREACHED),
    2013: ("the connection to the source broke", _UNREACHED),
    2026: ("TLS fails", _UNREACHED),
    2061: ("the password may not be sent without TLS", _UNREACHED),
}


def stopped(case: Case) -> Iterator[Claim]:
    """Replicas that receive or apply nothing, at every look or for the last minute at the least."""
    for one in case.figures(APPLIES):
        still = [name for name in (APPLIES, RECEIVES) if stays(looks(case, one.db, one.entity, name), 0.0)]
        if still:
            yield _stopped(case, one, still)


def _stopped(case: Case, one: Statistic, still: Sequence[str]) -> Claim:
    code = next((code for name in still if (code := _last(case, one, LAST_ERROR[name]))), None)
    what = "applies nothing" if APPLIES in still else "receives nothing"
    by_command = Evidence("statistic", _where(one, LAST_ERROR[still[0]]), "no error is told", "",
                          "it was stopped by a command, or was never started")  # fmt: skip
    return Claim(
        phrase(f"Replica {{}} {what} from {{}}: {{}}", one.db, one.entity, _why(code)),
        impact=NONE_YET,
        confidence=0.9,
        severity="warning",
        for_=[
            *(Evidence("statistic", _where(one, name), "so at every look, or for a minute", "",
                       "the applier does not run" if name == APPLIES else "the receiver is not connected")
              for name in still),
            *([Evidence("statistic", _where(one, LAST_ERROR[still[0]]), phrase("error {:.0f}", code), "",
                        _meaning(code))] if code else []),
        ],
        against=[] if code else [by_command],
        remedy=_ERRORS.get(round(code), ("", _OTHERWISE))[1] if code else _BY_COMMAND,
        verify=_VERIFY,
        database=one.db,
    )  # fmt: skip


def _why(code: float | None) -> Words:
    if not code:
        return "it was stopped"
    meaning = _meaning(code)
    return phrase("{} (error {:.0f})", meaning, code) if meaning else phrase("error {:.0f}", code)


def _meaning(code: float) -> str:
    return _ERRORS.get(round(code), ("", ()))[0]


def behind(case: Case, late_s: float) -> Iterator[Claim]:
    """Replicas that apply, and are later than they were told to be by so many seconds."""
    for one in case.figures(BEHIND):
        delay_s = _last(case, one, DELAY) or 0.0
        if one.last - delay_s >= late_s and _last(case, one, APPLIES) != 0.0:
            yield _behind(case, one, delay_s, late_s)


def _behind(case: Case, one: Statistic, delay_s: float, late_s: float) -> Claim:
    lag = lately(looks(case, one.db, one.entity, BEHIND))
    fell_s = float(lag["value"][0] - lag["value"][-1])
    falls = Evidence("statistic", _where(one, BEHIND), phrase("{:.0f s} less than before", fell_s), "",
                     "it catches up")  # fmt: skip
    asked = phrase("{:.0f s} of it as SOURCE_DELAY asks", delay_s) if delay_s else ""
    return Claim(
        phrase("Replica {} is {:duration} behind {}", one.db, one.last, one.entity),
        impact=NONE_YET,
        confidence=0.7 if fell_s > 0 else 0.9,
        severity="warning",
        for_=[
            Evidence("statistic", _where(one, BEHIND), phrase("{:.0f s} behind", one.last),
                     phrase("{:.0f s}", delay_s + late_s), asked, "at_least"),
            *_of_log(case, one),
            *_one_applier(case, one.db),
            *_of_applier(case, one.db),
        ],
        against=[falls] if fell_s > 0 else [],
        database=one.db,
    )  # fmt: skip


def _of_log(case: Case, one: Statistic) -> Iterator[Evidence]:
    """What was received and is not applied, and how fast both go."""
    if (ahead := _last(case, one, NOT_APPLIED)) is not None:
        yield Evidence("statistic", _where(one, NOT_APPLIED), phrase("{:bytes} received and not applied", ahead), "",
                       "the source's log is here: it is the applier that is late" if ahead else "")  # fmt: skip
    read, executed = (_mean(case, one, name) for name in (READ, EXECUTED))
    if read is not None and executed is not None:
        yield Evidence("statistic", _where(one, EXECUTED), phrase("{:bytes} per s are applied", executed), "",
                       phrase("and {:bytes} per s received", read))  # fmt: skip


def _one_applier(case: Case, db: str | None) -> Iterator[Evidence]:
    name = next((name for name in WORKERS if case.setting(name, db) in {"0", "1"}), None)
    if name:
        yield Evidence("setting", f"name = '{name}' and db = '{db}'", phrase("{} = {}", name, case.setting(name, db)),
                       "", "one thread applies what many sessions did at the source")  # fmt: skip


def _of_applier(case: Case, db: str | None) -> Iterator[Evidence]:
    """What the applier was met at most, and which session was in its way."""
    met = case.dataset.frame("session").filter((pl.col("kind") == APPLIER) & (pl.col("db") == db))
    if met.height < FEWEST_SAMPLES:
        return
    [(event, count)] = Counter(met["event"]).most_common(1)
    if event is not None and count >= MOSTLY * met.height:
        yield Evidence("session", f"kind = '{APPLIER}' and db = '{db}'",
                       phrase("{:share} of its samples at: {}", count / met.height, event), "", "")  # fmt: skip
    blocked = met.drop_nulls("blocker_sid")
    if blocked.height >= MOSTLY * met.height:
        [(sid, _)] = Counter(blocked["blocker_sid"]).most_common(1)
        yield Evidence("session", f"sid = {sid} and db = '{db}'", phrase("behind {}", _named(case, db, sid)), "",
                       "it has locked what is to be changed")  # fmt: skip


def _named(case: Case, db: str | None, sid: int) -> Words:
    own = case.dataset.frame("session").filter((pl.col("db") == db) & (pl.col("sid") == sid))
    user = own["user"].drop_nulls()
    return phrase("session {} ({})", sid, user[0]) if user.len() else phrase("session {}", sid)


def _where(one: Statistic, name: str) -> str:
    return f"name = '{name}' and entity = '{one.entity}'"


def _last(case: Case, one: Statistic, name: str) -> float | None:
    return next((it.last for it in case.figures(name) if (it.db, it.entity) == (one.db, one.entity)), None)


def _mean(case: Case, one: Statistic, name: str) -> float | None:
    return next((it.mean for it in case.figures(name) if (it.db, it.entity) == (one.db, one.entity)), None)
