"""Commits: what a transaction waits for until its log is on stable storage, or at a standby."""

from collections.abc import Iterator
from typing import NamedTuple

import polars as pl

from doctord.analyse.waits import Wait
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.causes.oracle.log_writer_warnings import warned_writes
from doctord.diagnose.causes.statements.logged import logged_commits
from doctord.diagnose.causes.statements.prepared import standing_commits
from doctord.diagnose.causes.storage.latencies import slow_histograms
from doctord.diagnose.causes.wal.semi_sync import missing_replica
from doctord.diagnose.causes.wal.standbys import STANDBY, missing_standby, standby_without_replay
from doctord.diagnose.common.by_server import waited_by_server, writing_commits
from doctord.diagnose.common.histograms import spread
from doctord.diagnose.common.oracle import idle_pct, per
from doctord.diagnose.common.waited import behind, counted_of_kind, of_kind
from doctord.diagnose.evidence import Sign, weigh
from doctord.diagnose.finding import Claim, Evidence, at_most
from doctord.diagnose.phrase import Words, phrase

SYNC, WRITE = "log sync", "log write"
# A commit is one small write and a flush: below this even a single disk with a write cache is not slow.
SLOW_MS = 5.0
# A commit that just misses a write waits for the rest of that one and for the whole next one: twice at the most.
MOST_WRITES_PER_SYNC = 2.0
# Less than this beyond the write is the ordinary posting of sessions.
LOST_MS = 2.0
# Writes beyond this size take their time in bytes, not in latency.
# In Solaris' own words: 59 is the highest priority of the fixed class, which the time-sharing class never lowers.
ON_SOLARIS = (
    "Relieve the CPUs first; commit less often.",
    "Solaris: put LGWR into the fixed class at its highest priority (priocntl -s -c FX -m 59 -p 59 -t 1000 -i pid PID),"
    " and where the host stays busy give it a processor set of its own (psrset -c CPU, psrset -b SET PID, psrset -f"
    " SET).",
)
LARGE_WRITE_BYTES = 1e6
# A write that reaches a disk takes 4 to 12 ms; beyond 20 it queued somewhere, whatever the device is.
QUEUED_MS = 20.0
# A tenth of a second: one such commit is felt by whoever makes it, however few there are.
FELT_MS = 100.0
# So many writes make a mean; fewer are a hiccup.
LEAST_WRITES = 100.0
LOG_WAITS = (SYNC, "log buffer", "log switch")
LEAST_IDLE_PCT = 10.0
INVOLUNTARY_SHARE = 0.3
LOG_WRITER = r"^ora_lg|lgwr|walwriter"
NOTED_CLASS = r"^(lgwr|lg\d\d) scheduling class$"
NOTED_INVOLUNTARY = r"^involuntary context switches of (lgwr|lg\d\d|walwriter)$"  # per cent, as a person noted them


class Commits(NamedTuple):
    """How commits wait: `share` (0 to 1) of the time, and milliseconds.

    `sync_ms` is one wait for the log, or all of one commit where waits were sampled; `write_ms` one write of the log,
    null where it was not measured; `standby_ms` what the log writer waits for a standby in it. `write` is the log
    writer's wait where the server counts it. `is_timed`: the server times its writes; else `write_ms` is that of the
    device that is written most, which need not be the log's, and does not tell how long its cache takes to be flushed.
    `db` is the server whose sessions were sampled to wait most, of which all this is; null where waits were counted.
    """

    share: float
    sync_ms: float
    per_s: float | None
    write_ms: float | None
    write: Wait | None
    standby_ms: float
    is_timed: bool
    db: str | None = None

    @property
    def is_write(self) -> bool | None:
        """Whether the write explains the wait; null where the write was not measured."""
        return None if self.write_ms is None else self.sync_ms <= MOST_WRITES_PER_SYNC * self.write_ms


@cause(waits=(SYNC,))
def commits_slow(case: Case) -> Iterator[Claim]:
    """Commits wait long for the log's device.

    Looks like: sessions wait for the log (PostgreSQL's `WALSync` and `WALWrite`, Oracle's log file sync, MySQL's
        waiting for handler commit), several milliseconds for each commit, and a write of the log takes as long; in a
        log of slow statements, many commits of a tenth of a second and longer; in InnoDB's monitor transactions that
        are PREPARED for seconds.
    Hurts because: a transaction is over only when its redo is on stable storage; locks are held until then.
    Speaks for it: waiting time per commit; the time of a write of the log, and its part of that; readers of the same
        device.
    Speaks against it: a wait much longer than the write (the rest is not the device); writes so large that bandwidth,
        not latency, sets their time.
    Remedy: Give the log a device of its own, with a protected write cache, apart from data files and from copies of the
        log; stripe it where the writes are large; no RAID 5. Group small transactions into larger ones.
        PostgreSQL: pg_wal on that device; synchronous_commit = off where losing the last transactions is acceptable.
        Oracle: the redo logs on that device; COMMIT WRITE BATCH NOWAIT where losing the last transactions is
        acceptable.
        MySQL: innodb_log_group_home_dir and the binary log on that device; innodb_flush_log_at_trx_commit = 2 and
        sync_binlog = 0 where losing the last transactions is acceptable.
    Verify: Time waited per commit and time of a write, before and after, at the same commits per second. Oracle: the
        mean, and the histogram, of log file parallel write at the same redo writes per second.
    Source: K. Manoharan's redo case, 2008; PostgreSQL documentation, "WAL Configuration"; Oracle Database Reference
        19c, "Descriptions of Wait Events", log file parallel write, log file sync; MySQL Reference Manual, "Optimizing
        InnoDB Redo Logging".
    """
    yield from logged_commits(case)
    yield from standing_commits(case)
    commits = _commits(case)
    if commits is None or commits.sync_ms < SLOW_MS:
        return
    write_ms, is_write = commits.write_ms, commits.is_write
    unexplained = is_write is False and not _is_starved(case, commits)
    if is_write is False and not unexplained and (write_ms or 0.0) < SLOW_MS:
        return
    is_part = is_write is False and not unexplained and write_ms is not None
    impact = commits.share * (write_ms / commits.sync_ms if is_part and write_ms else 1.0)
    if not case.worth_with_locks(impact, SYNC):
        return
    for_, against = weigh(_of_the_device(case, commits))
    written = _writing(case, commits, phrase("{:.0f ms}", SLOW_MS), "the log's own write")
    yield Claim(
        phrase("Commits wait {:.1f ms} for the log{}", commits.sync_ms, _of_what(commits, unexplained=unexplained)),
        impact=impact,
        confidence=0.7 if write_ms is None else 0.6 if unexplained else 0.85,
        for_=[*_waiting(case, commits), *([] if unexplained else written), *for_],
        against=[*(written if unexplained else []), *against],
        not_measured=() if commits.is_timed else case.not_measured("track_wal_io_timing"),
        database=commits.db,
    )


@cause(explains=("commits_slow", "log_buffer_small"), waits=(*LOG_WAITS, WRITE))
def log_device_slow(case: Case) -> Iterator[Claim]:
    """The device of the log takes long for each write.

    Looks like: writes of the log (Oracle's log file parallel write, PostgreSQL's flushes of WAL) of 20 ms and more on
        average; sessions wait for commits, for room in the log's buffer, or for the next log. In a trace of LGWR alone,
        its warnings of writes of half a second and longer.
    Hurts because: everything that changes data goes through this one stream of writes: while one is under way commits
        wait, the buffer fills behind it, and switches take their time.
    Speaks for it: the time of a write, its histogram, how often there is one, the share of all waits for the log.
    Speaks against it: writes so large that bandwidth, not latency, sets their time; no session that waits for them.
    Remedy: Look below the server for what delays these writes: a write cache that is off (a flat battery), a path that
        failed over, a synchronous mirror over a long line, RAID 5, data files, backups or the archiver on the same
        device, a throttle of a cloud volume. Give the log a device of its own. A larger buffer of the log only moves
        the waiting.
    Verify: The mean and the histogram of log writes at the same redo per second; the waits for the log fall with them.
    Source: Oracle Database Reference 19c, "Descriptions of Wait Events", log file parallel write; K. Manoharan's redo
        case, 2008; PostgreSQL documentation, pg_stat_wal.
    """
    write = next(iter(counted_of_kind(case.background, WRITE)), None)
    ms, often = (write.ms, write.per_second) if write else (_flush_ms(case), case.total("pg_stat_wal.wal_sync"))
    part = case.time.kind_share(*LOG_WAITS)
    if ms is None:
        yield from warned_writes(case)
        yield from slow_histograms(case, QUEUED_MS, of_logs=True)
    if ms is None or ms < QUEUED_MS or not _beside_commits(case, ms, often):
        return
    size = _bytes_per_write(case)
    for_, against = weigh(
        [
            Sign("wait" if write else "statistic", f"wait_kind = '{WRITE}'", ms, QUEUED_MS, "{:.1f ms} a write",
                 "" if often is None else phrase("{:rate writes}", often)),
            Sign("statistic", "name = 'v$sysstat.redo size'", size, LARGE_WRITE_BYTES, "{:,.0f} bytes a write",
                 "small writes: it is latency", "large writes: bandwidth counts", below=True),
        ]
    )  # fmt: skip
    yield Claim(
        phrase("The log's device is slow: {:.0f ms} a write", ms),
        impact=at_most(part) if case.worth_saying(part) else case.unfelt,
        confidence=0.7 if against else 0.9,
        for_=[*for_, *of_kind(case, *LOG_WAITS), *spread(case, write.event if write else "")[0]],
        against=against,
    )


@cause(waits=(SYNC,))
def log_writer_starved(case: Case) -> Iterator[Claim]:
    """Commits wait for a CPU to write the log on, not for its device.

    Looks like: waits for the log take far more than its writes (Oracle's log file sync and log file parallel write).
    Hurts because: a log writer that is ready but not running, or sessions that were posted and do not get a CPU, add
        their queueing to every commit, whatever the device does.
    Speaks for it: the wait against the write (more than twice cannot be the device), idle time of the host, involuntary
        switches of the log writer.
    Speaks against it: a CPU that stands idle; a synchronous standby, whose acknowledgement is part of the wait.
    Remedy: Relieve the CPUs first; commit less often.
        Oracle: give LGWR a fixed or real-time priority (_high_priority_processes, FX class on Solaris) where the host
        stays busy; on 12c and later see whether the log writer's workers cost more than they bring
        (_use_single_log_writer).
    Verify: The wait of a commit comes down to one to two times the write of the log; involuntary switches of the log
        writer vanish.
    Source: K. Manoharan's redo case, 2008: 26.45 ms of sync on 11.8 ms of write, 30 % involuntary switches;
        R. Shamsudeen, "Tuning log file sync wait events", 2008.
    """
    commits = _commits(case)
    if commits is None or commits.write_ms is None or commits.is_write or not _is_starved(case, commits):
        return
    lost_ms = commits.sync_ms - commits.write_ms - commits.standby_ms
    impact = commits.share * lost_ms / commits.sync_ms
    if commits.write is None and commits.sync_ms < SLOW_MS:
        return
    if lost_ms < LOST_MS or not case.worth_saying(impact):
        return
    for_, against = weigh(_of_the_cpu(case))
    for_ += _scheduling_class(case)
    yield Claim(
        phrase(
            "Commits wait {:.1f ms}, the log write takes {:.1f}: the difference is {}",
            commits.sync_ms,
            commits.write_ms,
            "CPU scheduling" if for_ else "not the device",
        ),
        impact=impact,
        confidence=0.6 if against or not for_ else 0.85,
        for_=[
            *_waiting(case, commits),
            *_writing(
                case, commits, phrase("a sync takes {:.0f} of them at most", MOST_WRITES_PER_SYNC), "the device's part"
            ),
            *for_,
        ],
        remedy=ON_SOLARIS if _is_solaris(case) else (),
        against=against,
        database=commits.db,
    )


@cause(explains=("commits_slow", "log_writer_starved"), waits=(STANDBY,))
def standby_slows_commits(case: Case) -> Iterator[Claim]:
    """Commits wait for a synchronous standby.

    Looks like: sessions wait for a replica (PostgreSQL's `SyncRep`, MySQL's semi-sync ACK); in Oracle log file sync is
        long, the local write short, and the log writer waits for the remote one. With fewer standbys connected than
        PostgreSQL's synchronous_standby_names asks for, commits wait until one comes back; with synchronous_commit =
        remote_apply for ever, where the one that is there replays nothing (pg_receivewal).
    Hurts because: with synchronous transport a commit needs the standby's acknowledgement: network and its disk; its
        transaction keeps its locks until then.
    Speaks for it: the wait for the standby, beside the local write; how many standbys must confirm, and how many that
        count are connected and stream (pg_stat_replication, Rpl_semi_sync_master_clients); one that flushes and has no
        replay_lsn; in the log, one that asks for WAL that was removed.
    Speaks against it: a remote write as short as the local one.
    Remedy: Look at the network's round trip and the standby's log device; let commits wait for less where the
        protection that was promised allows it.
        PostgreSQL: synchronous_commit = remote_write, or local for what may be lost; fewer synchronous_standby_names.
        A standby that asks for WAL that was removed needs it from the archive, or has to be made anew.
        Oracle: NOAFFIRM (fast sync) or asynchronous transport; give the standby redo logs a fast device.
        MySQL: rpl_semi_sync_master_wait_for_slave_count (source and replica in 8.0.26 and later) no higher than needed.
    Verify: The wait for the standby, and the time of a commit with it.
    Source: PostgreSQL documentation, "Synchronous Replication", pg_receivewal (Notes); Oracle Data Guard Concepts and
        Administration 19c, "Redo Transport Services"; Oracle Database Reference 19c; MySQL Reference Manual,
        "Semisynchronous Replication".
    """
    by_server: list[tuple[str | None, float]] = [*waited_by_server(case, STANDBY).items()]
    for db, share in by_server or [(None, case.time.kind_share(STANDBY))]:
        if case.worth_with_locks(share, STANDBY):
            yield (
                missing_standby(case, db, share)
                or standby_without_replay(case, db, share)
                or missing_replica(case, db, share)
                or Claim(
                    phrase("{:share of database} waits for a standby to confirm commits", share),
                    impact=share,
                    confidence=0.85,
                    for_=of_kind(case, STANDBY),
                    database=db,
                )
            )
    commits = _commits(case)
    if commits is None or commits.standby_ms < LOST_MS or commits.standby_ms <= (commits.write_ms or 0.0):
        return
    impact = commits.share * min(commits.standby_ms / commits.sync_ms, 1.0)
    if not case.worth_saying(impact):
        return
    remote = [wait.event for wait in counted_of_kind(case.background, STANDBY)]
    yield Claim(
        phrase("Commits wait {:.1f} of {:.1f ms} for the standby", commits.standby_ms, commits.sync_ms),
        impact=impact,
        confidence=0.85,
        for_=[
            *_waiting(case, commits),
            *(item for event in remote for item in behind(case, event, "the local write", "the standby's part")),
            *_writing(case, commits, "", "the local device's part"),
        ],
    )


def _beside_commits(case: Case, ms: float, often: float | None) -> bool:
    """Whether slow writes of the log are told by more than commits, which are a cause of their own.

    Sessions wait for its buffer or its switches; or no session waits, and each write is so slow that it would be felt.
    """
    many = often is not None and often * case.seconds >= LEAST_WRITES
    alone = ms >= FELT_MS and many and not case.worth_saying(case.time.kind_share(SYNC))
    return case.worth_saying(case.time.kind_share(*LOG_WAITS[1:])) or alone


def _is_starved(case: Case, commits: Commits) -> bool:
    """Whether what the write does not explain is a CPU's: where the server times no writes, only if CPUs are short."""
    idle = idle_pct(case)
    return commits.is_timed or (idle is not None and idle <= LEAST_IDLE_PCT)


def _of_what(commits: Commits, *, unexplained: bool) -> Words:
    if commits.write_ms is None:
        return ""
    if unexplained:
        return ": more than the device that is written most explains"
    return phrase(": the log device is slow, {:.1f ms} a write", commits.write_ms)


def _commits(case: Case) -> Commits | None:
    """How commits wait; null where they take no share of the time worth saying, or where it is not known how long."""
    share = case.time.kind_share(SYNC)
    if not case.worth_with_locks(share, SYNC):
        return None
    db, part = next(iter(waited_by_server(case, SYNC).items()), (None, share))
    share = min(share, part)
    per_s = writing_commits(case, db)
    counted = counted_of_kind(case.waits, SYNC) if case.active.is_empty() else []
    sync_ms = counted[0].ms if counted else None
    if not sync_ms:
        if not per_s:
            return None
        sync_ms = share * case.time.seconds_per_second / per_s * 1000
    write = next(iter(counted_of_kind(case.background, WRITE)), None) if counted else None
    standby_ms = max((wait.ms or 0.0 for wait in counted_of_kind(case.background, STANDBY)), default=0.0)
    timed_ms = write.ms if write else _flush_ms(case, db)
    write_ms = _device_ms(case) if timed_ms is None else timed_ms
    standby_ms = standby_ms if counted else 0.0
    return Commits(share, sync_ms, per_s, write_ms, write, standby_ms, is_timed=timed_ms is not None, db=db)


def _flush_ms(case: Case, db: str | None = None) -> float | None:
    """Time of one flush of PostgreSQL's log by its own timing; null where that is off."""
    sync_ms, syncs = case.total("pg_stat_wal.wal_sync_time", db), case.total("pg_stat_wal.wal_sync", db)
    return sync_ms / syncs if sync_ms and syncs else None


def _device_ms(case: Case) -> float | None:
    """Mean time of a write to the device that is written most; null where it was not measured."""
    if case.active.is_empty():  # a report of hours ago says nothing of this host's devices
        return None
    written = (
        case.dataset.frame("disk")
        .filter(pl.col("write_ms").is_not_null())
        .group_by("device", maintain_order=True)
        .agg(
            pl.col("writes_per_s").sum().alias("writes"),
            ((pl.col("write_ms") * pl.col("writes_per_s")).sum() / pl.col("writes_per_s").sum()).alias("ms"),
        )
        .sort("writes", descending=True, maintain_order=True)
    )
    return float(written["ms"][0]) if written.height else None


def _of_the_device(case: Case, commits: Commits) -> list[Sign]:
    reading = case.background.get("log file sequential read")
    size = _bytes_per_write(case)
    return [
        Sign("wait" if commits.write else "session", f"wait_kind = '{SYNC}'",
             commits.sync_ms / commits.write_ms if commits.write_ms else None, MOST_WRITES_PER_SYNC,
             "a sync takes {:.1f} times the write", why_not="the rest of the commit is not the device",
             why="the device explains it", below=True),
        Sign("wait", "event = 'log file sequential read'", reading.per_second if reading else None, 1.0,
             '{:.3g reads of the logs per s}', "the archiver reads where the log writer writes"),
        Sign("statistic", "name = 'v$sysstat.redo size'", size, LARGE_WRITE_BYTES, "{:,.0f} bytes a write",
             "small writes: it is latency", "large writes: bandwidth counts", below=True),
    ]  # fmt: skip


def _bytes_per_write(case: Case) -> float | None:
    """Mean size of a write of Oracle's log: PostgreSQL writes full buffers apart from commits, which a mean hides."""
    return per(case, "v$sysstat.redo size", "v$sysstat.redo writes")


def _of_the_cpu(case: Case) -> list[Sign]:
    return [
        Sign("cpu", "cpu is null", idle_pct(case), LEAST_IDLE_PCT, '{:.0f %} of the CPU time idle',
             "no CPU is left for the log writer", "on average a CPU is free: bursts, or the log writer's class",
             below=True),
        Sign("process", "command of the log writer", _involuntary_pct(case), INVOLUNTARY_SHARE * 100,
             '{:.0f %} of its context switches are involuntary', "it is switched out before it is done",
             "it is seldom switched out"),
    ]  # fmt: skip


def _waiting(case: Case, commits: Commits) -> list[Evidence]:
    """What sessions waited for the log, by wait where the server counts them, else by commit."""
    if case.active.is_empty():
        return of_kind(case, SYNC)
    return [
        Evidence(
            "session",
            f"event in ({', '.join(repr(event) for event in case.time.events_of(SYNC))})",
            phrase("{:.1f ms} per commit at {:.0f commits/s}", commits.sync_ms, commits.per_s),
            phrase("{:.0f ms}", SLOW_MS),
            phrase("{:share of database}", commits.share),
            "at_least",
        )
    ]


def _writing(case: Case, commits: Commits, threshold: Words, why: str) -> list[Evidence]:
    """The time of a write of the log; nothing where it was not measured."""
    if commits.write is not None:
        return behind(case, commits.write.event, threshold, why)
    if commits.write_ms is None:
        return []
    figure, table = phrase("the device that is written most takes {:.1f ms} for a write", commits.write_ms), "disk"
    if commits.is_timed:
        figure, table = phrase("a flush of the log takes {:.1f ms}", commits.write_ms), "statistic"
    where = "name in ('pg_stat_wal.wal_sync_time', 'pg_stat_wal.wal_sync')" if commits.is_timed else "write_ms"
    return [Evidence(table, where, figure, phrase("{:.1f ms} per commit", commits.sync_ms), why)]


def _involuntary_pct(case: Case) -> float | None:
    """Of the log writer's context switches, those that it did not ask for, %; null when nobody saw or noted them."""
    is_writer = pl.col("command").str.to_lowercase().str.contains(LOG_WRITER)
    switches = case.dataset.rows("process", is_writer, "vcsw_per_s", "icsw_per_s")
    voluntary, involuntary = (float(switches[column].sum()) for column in switches.columns)
    if voluntary + involuntary:
        return 100 * involuntary / (voluntary + involuntary)
    told = (pl.col("component") == "noted") & pl.col("name").str.to_lowercase().str.contains(NOTED_INVOLUNTARY)
    noted = case.dataset.frame("statistic").filter(told)
    return float(noted["value"][-1]) if noted.height else None


def _is_solaris(case: Case) -> bool:
    """Whether the host tells in Solaris' own words: /etc/system, kstat, trapstat, microstates, a class such as TS."""
    told = [case.dataset.frame(table)["component"] for table in ("setting", "statistic")]
    is_told = any("solaris" in names.unique(maintain_order=True).to_list() for names in told)
    return is_told or case.dataset.frame("translation").height > 0 or bool(_scheduling_class(case))


def _scheduling_class(case: Case) -> list[Evidence]:
    """The log writer's class, where somebody noted that it is Solaris' time-sharing one."""
    settings = case.dataset.frame("setting")
    noted = settings.filter(
        pl.col("name").str.to_lowercase().str.contains(NOTED_CLASS) & (pl.col("value").str.to_uppercase() == "TS")
    )
    told = "its priority falls while it uses a CPU"
    return [Evidence("setting", f"name = '{name}'", f"{name}: TS", "", told) for name in noted["name"][:1]]
