"""Commits that the server itself holds back."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

import polars as pl

from doctord.analyse.locking.locks import LOCKS
from doctord.dataset.tables import CLIENT
from doctord.dataset.waits.kernel import SLEEPS
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.common.by_server import of_events, waited_by_server
from doctord.diagnose.common.slowed import OFTEN_PER_S
from doctord.diagnose.finding import NOT_MEASURED, Claim, Evidence
from doctord.diagnose.phrase import phrase
from doctord.units import setting_number

KINDS: Final = ("log sync", "log write")
DELAY, SIBLINGS = "commit_delay", "commit_siblings"
MYSQL_DELAY: Final = "binlog_group_commit_sync_delay"
MARIADB_DELAY, MARIADB_COUNT = "binlog_commit_wait_usec", "binlog_commit_wait_count"
FLUSHES: Final = "pg_stat_wal.wal_sync"
WAITED_FOR: Final = "synchronous_commit"
# PostgreSQL advises half of a flush, which a disk ends within milliseconds: longer was meant in another unit.
LONG_MS: Final = 20.0
SIBLINGS_DEFAULT: Final = 5
# Sleepers are sampled, flushes counted: a quarter more may be chance; what sleeps longer sleeps for another reason.
BY_CHANCE: Final = 1.25
# Of the waits for the log: fewer fell to commits that could have slept, and the log is slow by itself.
MOST: Final = 0.5


@cause(explains=("commits_slow", "commits_too_frequent", "log_writer_starved", "row_locks"), waits=KINDS)
def commit_delay_long(case: Case) -> Iterator[Claim]:
    """Each commit sleeps before it writes the log, as a setting says.

    Looks like: sessions wait for WALWrite or WALSync (in MySQL for the handler's commit) far longer than the device
        takes for a write; whoever writes the log shows no wait at all.
    Hurts because: a transaction holds its locks while its session sleeps; all that commit meanwhile stand behind it.
    Speaks for it: commit_delay, in microseconds, as is MySQL's binlog_group_commit_sync_delay, which counts for each
        group of commits, and MariaDB's binlog_commit_wait_usec where binlog_commit_wait_count is not 0; how much of the
        time sessions wait for the log; that meanwhile more than commit_siblings transactions are open that wait for no
        lock. Where commit_siblings is 0, each flush sleeps: what the server counts of these is enough. That sessions
        without a wait sleep in the kernel, no longer than so many flushes do.
    Speaks against it: fewer transactions that are open at a time than commit_siblings: then nobody sleeps.
    Remedy: Take the delay back. Its unit is a microsecond.
        PostgreSQL: ALTER SYSTEM RESET commit_delay, and select pg_reload_conf(): half of what pg_test_fsync measures
        for one flush is the most that helps, where many sessions commit at once.
        MySQL: SET GLOBAL binlog_group_commit_sync_delay = 0 (MariaDB: binlog_commit_wait_count = 0), and in the option
        file. Some hundred microseconds may help where many sessions commit at once, or a replica applies by groups.
    Verify: The setting, as the server tells it; time waited per commit.
    Source: PostgreSQL documentation, "Write Ahead Log", commit_delay, commit_siblings; "WAL Configuration"; MySQL
        Reference Manual, "Binary Logging Options and Variables"; MariaDB documentation, "Group Commit for the Binary
        Log".
    """
    yield from _of_binary_log(case)
    waited = waited_by_server(case, *KINDS)
    for db in case.dbs:
        delay_ms = float(case.setting(DELAY, db) or 0.0) / 1000
        if delay_ms < LONG_MS:
            continue
        siblings, share = int(case.setting(SIBLINGS, db) or SIBLINGS_DEFAULT), waited.get(db, 0.0)
        part = _could_sleep(case, db, siblings)
        waiting = share * part if part >= MOST else 0.0
        asleep = _asleep(case, db, delay_ms) if waiting or siblings == 0 else {}
        impact = waiting + sum(asleep.values())
        if not impact or not case.worth_with_locks(impact, *KINDS):
            yield from _alone(case, db, delay_ms) if siblings == 0 else ()
            continue
        yield Claim(
            phrase("Commits of {} sleep {:.0f ms} each before they write the log: commit_delay = {:.0f}",
                   db, delay_ms, delay_ms * 1000),
            impact=impact,
            confidence=0.9,
            for_=[
                _delay(db, delay_ms),
                *(_for_others(db, share, part, siblings) if waiting else []),
                *(_of_sleepers(db, *one) for one in asleep.items()),
            ],
            database=db,
        )  # fmt: skip


def _for_others(db: str, share: float, part: float, siblings: int) -> list[Evidence]:
    where = f"wait_kind in ('log sync', 'log write') and db = '{db}'"
    return [
        Evidence("session", where, phrase("{:share of database}", share), "", "waiting for the log"),
        Evidence("session", where, phrase("{:share} of it with more than {} transactions open", part, siblings),
                 phrase("{:share}", MOST), f"{SIBLINGS}: so many others must be open for it", "at_least"),
    ]  # fmt: skip


def _of_sleepers(db: str, event: str, share: float) -> Evidence:
    return Evidence("session", f"event = '{event}' and db = '{db}'", phrase("{:share of database} in {}", share, event),
                    "", "asleep in the kernel, no longer than the flushes that were counted")  # fmt: skip


def _asleep(case: Case, db: str, delay_ms: float) -> dict[str, float]:
    """Shares of the time by where in the kernel sessions sleep that wait for nothing, where the flushes may be all."""
    shares = {event: share for event in SLEEPS if (share := of_events(case, event).get(db, 0.0))}
    asleep_s = sum(shares.values()) * case.time.seconds_per_second
    return shares if asleep_s <= BY_CHANCE * (case.total(FLUSHES, db) or 0.0) * delay_ms / 1000 else {}


def _of_binary_log(case: Case) -> Iterator[Claim]:
    """MySQL's and MariaDB's: each group of commits waits for company, whoever comes."""
    waited = waited_by_server(case, *KINDS)
    for db in case.dbs:
        name, delay_us = _binary_log_delay(case, db)
        share = waited.get(db, 0.0)
        if delay_us < LONG_MS * 1000 or not case.worth_with_locks(share, *KINDS):
            continue
        yield Claim(
            phrase("Commits of {} wait up to {:.0f ms} for company: {} = {:.0f}", db, delay_us / 1000, name, delay_us),
            impact=share,
            confidence=0.9,
            for_=[
                Evidence("setting", f"name = '{name}' and db = '{db}'", phrase("{:.0f ms}", delay_us / 1000),
                         phrase("{:.0f ms}", LONG_MS), "a disk flushes within milliseconds", "at_least"),
                Evidence("session", f"wait_kind in ('log sync', 'log write') and db = '{db}'",
                         phrase("{:share of database}", share), "", "waiting for the commit"),
            ],
            database=db,
        )  # fmt: skip


def _binary_log_delay(case: Case, db: str) -> tuple[str, float]:
    """The setting that delays commits, and by how many microseconds; 0 where none does."""
    count, mariadb_us, mysql_us = (
        setting_number(case.setting(name, db) or "") or 0.0 for name in (MARIADB_COUNT, MARIADB_DELAY, MYSQL_DELAY)
    )
    return (MARIADB_DELAY, mariadb_us) if count else (MYSQL_DELAY, mysql_us)


def _alone(case: Case, db: str, delay_ms: float) -> Iterator[Claim]:
    """Where none other need be open each flush sleeps, though whoever sleeps shows no wait."""
    flushes = case.total(FLUSHES, db)
    is_waited_for = case.setting(WAITED_FOR, db) != "off"  # else the WAL writer flushes, which does not sleep
    if flushes is None or flushes < OFTEN_PER_S or not is_waited_for:
        return
    yield Claim(
        phrase("Each commit of {} sleeps {:.0f ms} before it writes the log: commit_delay = {:.0f}, "
               "commit_siblings = 0", db, delay_ms, delay_ms * 1000),
        impact=NOT_MEASURED,
        confidence=0.85,
        severity="warning",
        for_=[
            _delay(db, delay_ms),
            Evidence("statistic", f"name = '{FLUSHES}' and db = '{db}'", phrase("{:.3g flushes/s}", flushes),
                     phrase("{:.1f}", OFTEN_PER_S), "one sleep for each, whoever else commits", "at_least"),
        ],
        database=db,
    )  # fmt: skip


def _delay(db: str, delay_ms: float) -> Evidence:
    return Evidence("setting", f"name = '{DELAY}' and db = '{db}'", phrase("{:.0f ms}", delay_ms),
                    phrase("{:.0f ms}", LONG_MS), "a disk flushes within milliseconds", "at_least")  # fmt: skip


def _could_sleep(case: Case, db: str, siblings: int) -> float:
    """The part (0 to 1) of the waits for the log at which enough others were open, since the delay is what it is.

    The server counts transactions with an id that wait for no lock (MinimumActiveBackends of its source); which of
    those that are open have an id, samples do not tell, so that this is the most that there can be.
    """
    is_open = (pl.col("state") == "active") | pl.col("state").str.starts_with("idle in transaction")
    rows = case.dataset.frame("session").filter((pl.col("db") == db) & (pl.col("kind") == CLIENT) & is_open)
    is_locked, in_log = (pl.col("event").is_in(case.time.events_of(*kinds)) for kinds in (LOCKS, KINDS))
    seconds = pl.col("interval_s").filter(in_log).sum()
    looks = rows.group_by("ts", maintain_order=True).agg((~is_locked).sum().alias("free"), seconds.alias("s"))
    since = _since(case, db)
    enough = looks.filter((pl.col("free") > siblings) & (True if since is None else pl.col("ts") >= since))
    total_s = float(looks["s"].sum())
    return float(enough["s"].sum()) / total_s if total_s else 0.0


def _since(case: Case, db: str) -> datetime | None:
    """When somebody changed the delay while we looked; null where nobody did."""
    told = case.dataset.frame("setting").filter((pl.col("name") == DELAY) & (pl.col("db") == db))
    last = told["ts"].last() if told["value"].n_unique() > 1 else None
    return last if isinstance(last, datetime) else None
