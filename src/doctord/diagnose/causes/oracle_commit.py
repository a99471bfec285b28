"""Oracle's commits: what log file sync is made of."""

from collections.abc import Iterator

import polars as pl

from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.evidence import Sign, weigh
from doctord.diagnose.finding import Claim, Evidence
from doctord.diagnose.oracle import counted, idle_pct, per
from doctord.diagnose.phrase import phrase
from doctord.diagnose.waited import behind, share, waited

SYNC = "log file sync"
WRITE = "log file parallel write"
# One small sequential write: a disk behind a protected cache, or flash, takes a millisecond or less.
SLOW_WRITE_MS = 5.0
# A commit that just misses a write waits for the rest of that one and for the whole next one: twice at the most.
MOST_WRITES_PER_SYNC = 2.0
# Less than this beyond the write is the ordinary posting of sessions.
LOST_MS = 2.0
# Oracle's own rule of thumb: fewer user calls than this to a transaction is a commit in a loop.
CALLS_PER_COMMIT = 30.0
# Writes beyond this size take their time in bytes, not in latency.
LARGE_WRITE_BYTES = 1e6
LEAST_IDLE_PCT = 10.0
INVOLUNTARY_SHARE = 0.3
LOG_WRITER = r"^ora_lg|lgwr"
# What the log writer waits for until the standby has the redo, in the words of 10g, 11g and 12c and later.
REMOTE_WRITES = ("SYNC Remote Write", "LNS wait on SENDREQ", "LGWR-LNS wait on channel", "LNS wait on LGWR")


@cause()
def log_device_slow(case: Case) -> Iterator[Claim]:
    """Commits wait for a slow log device.

    Looks like: sessions wait for log file sync, and the log writer's own log file parallel write takes milliseconds.
    Hurts because: a commit returns when its redo is on the device; locks are held until then.
    Speaks for it: the duration of log file parallel write; its part of log file sync; readers of the same device.
    Speaks against it: a sync much longer than the write (the rest is not the device); writes so large that bandwidth,
        not latency, sets their time.
    Remedy: Put the redo logs on a device of their own, with a protected write cache, apart from the archive logs and
        data files; stripe it where the writes are large. Do not put logs on RAID 5.
    Verify: The mean (and the histogram) of log file parallel write, at the same redo writes per second.
    Source: K. Manoharan's redo case, 2008; Oracle Database Reference 19c, "Descriptions of Wait Events", log file
        parallel write, log file sync.
    """
    sync, write = case.waits.get(SYNC), case.background.get(WRITE)
    if sync is None or write is None or not sync.ms or write.ms is None or write.ms < SLOW_WRITE_MS:
        return
    part = min(write.ms / sync.ms, 1.0)
    impact = share(case, SYNC) * part
    if not case.worth_saying(impact):
        return
    size = per(case, "v$sysstat.redo size", "v$sysstat.redo writes")
    reading = case.background.get("log file sequential read")
    for_, against = weigh(
        [
            Sign("wait", f"event = '{SYNC}'", sync.ms / write.ms, MOST_WRITES_PER_SYNC,
                 "a sync takes {:.1f} times the write", why_not="the rest of the commit is not the device",
                 why="the device explains it", below=True),
            Sign("wait", "event = 'log file sequential read'", reading.per_second if reading else None, 1.0,
                 "{:.3g reads of the logs per s}", "the archiver reads where the log writer writes"),
            Sign("statistic", "name = 'v$sysstat.redo size'", size, LARGE_WRITE_BYTES, "{:,.0f} bytes a write",
                 "small writes: it is latency", "large writes: bandwidth counts", below=True),
        ]
    )  # fmt: skip
    yield Claim(
        phrase(
            "The log device takes {:.1f ms} for a write: {:share} of each commit's {:.1f ms}", write.ms, part, sync.ms
        ),
        impact=impact,
        confidence=0.85,
        for_=[
            *waited(case, SYNC),
            *behind(case, WRITE, phrase("{:.0f ms}", SLOW_WRITE_MS), "the log writer's own write"),
            *for_,
        ],
        against=against,
    )


@cause()
def log_writer_starved(case: Case) -> Iterator[Claim]:
    """Commits wait for the log writer's CPU, not for its device.

    Looks like: log file sync takes far more than log file parallel write.
    Hurts because: a log writer that is ready but not running, or sessions that were posted and do not get a CPU, add
        their queueing to every commit, whatever the device does.
    Speaks for it: sync against write (more than twice cannot be the device), idle time of the host, involuntary
        switches of the log writer.
    Speaks against it: a CPU that stands idle; a synchronous standby, whose acknowledgement is part of the sync.
    Remedy: Relieve the CPUs; give LGWR a fixed or real-time priority (_high_priority_processes, FX class on
        Solaris) where the host stays busy. Commit less often. On 12c and later see whether the log writer's workers
        cost more than they bring (_use_single_log_writer).
    Verify: log file sync comes down to one to two times log file parallel write; involuntary switches of LGWR vanish.
    Source: K. Manoharan's redo case, 2008: 26.45 ms of sync on 11.8 ms of write, 30 % involuntary switches;
        R. Shamsudeen, "Tuning log file sync wait events", 2008.
    """
    sync, write = case.waits.get(SYNC), case.background.get(WRITE)
    if sync is None or write is None or not sync.ms or write.ms is None:
        return
    lost_ms = sync.ms - write.ms - _remote_ms(case)
    impact = share(case, SYNC) * lost_ms / sync.ms
    if sync.ms < MOST_WRITES_PER_SYNC * write.ms or lost_ms < LOST_MS or not case.worth_saying(impact):
        return
    for_, against = weigh(
        [
            Sign("cpu", "cpu is null", idle_pct(case), LEAST_IDLE_PCT, "{:.0f %} of the CPU time idle",
                 "no CPU is left for the log writer", "on average a CPU is free: bursts, or the log writer's class",
                 below=True),
            Sign("process", "command of the log writer", _involuntary_pct(case), INVOLUNTARY_SHARE * 100,
                 "{:.0f %} of its context switches are involuntary", "it is switched out before it is done",
                 "it is seldom switched out"),
        ]
    )  # fmt: skip
    yield Claim(
        phrase(
            "Commits wait {:.1f ms}, the log write takes {:.1f}: the difference is CPU scheduling", sync.ms, write.ms
        ),
        impact=impact,
        confidence=0.6 if against or not for_ else 0.85,
        for_=[
            *waited(case, SYNC),
            *behind(
                case, WRITE, phrase("a sync takes {:.0f} of them at most", MOST_WRITES_PER_SYNC), "the device's part"
            ),
            *for_,
        ],
        against=against,
    )


@cause(explains=("log_device_slow", "log_writer_starved"))
def standby_slows_commits(case: Case) -> Iterator[Claim]:
    """Commits wait for a synchronous standby.

    Looks like: log file sync is long, the local write short, and the log writer waits for the remote one.
    Hurts because: with synchronous transport a commit needs the standby's acknowledgement: network and its disk.
    Speaks for it: the wait for the remote write beside the local one.
    Speaks against it: a remote write as short as the local one.
    Remedy: Look at the network's round trip and the standby's log device; use NOAFFIRM (fast sync) or asynchronous
        transport where the protection mode allows it; give the standby redo logs a fast device.
    Verify: The remote write's mean, and log file sync with it.
    Source: Oracle Data Guard Concepts and Administration 19c, "Redo Transport Services"; Oracle Database Reference 19c.
    """
    sync, local = case.waits.get(SYNC), case.background.get(WRITE)
    remote_ms = _remote_ms(case)
    if sync is None or not sync.ms or remote_ms < LOST_MS or (local and local.ms and remote_ms <= local.ms):
        return
    impact = share(case, SYNC) * min(remote_ms / sync.ms, 1.0)
    if not case.worth_saying(impact):
        return
    yield Claim(
        phrase("Commits wait {:.1f} of {:.1f ms} for the standby", remote_ms, sync.ms),
        impact=impact,
        confidence=0.85,
        for_=[
            *waited(case, SYNC),
            *(item for event in REMOTE_WRITES for item in behind(case, event, "the local write", "the standby's part")),
            *behind(case, WRITE, "", "the local device's part"),
        ],
    )


@cause()
def commits_too_frequent(case: Case) -> Iterator[Claim]:
    """Each commit is quick, but there are too many of them.

    Looks like: much time in log file sync although a single one takes little.
    Hurts because: every commit costs a post, a write and a wake-up; a loop that commits each row pays them per row.
    Speaks for it: commits per second, user calls and redo per commit.
    Speaks against it: many calls to each transaction: then the commits are the users' own.
    Remedy: Commit once per unit of work, not per row; use array interfaces; where losing the last transactions
        is acceptable, COMMIT WRITE BATCH NOWAIT.
    Verify: user commits per second fall at the same work, and the share of log file sync with them.
    Source: Oracle Database Performance Tuning Guide 10.2, "log file sync"; Oracle Support, "Troubleshooting log file
        sync waits" (Doc ID 1376916.1: user calls per commit under 30).
    """
    sync, commits = case.waits.get(SYNC), case.total("v$sysstat.user commits")
    part = share(case, SYNC)
    if sync is None or not commits or sync.ms is None or sync.ms >= SLOW_WRITE_MS or not case.worth_saying(part):
        return
    calls = per(case, "v$sysstat.user calls", "v$sysstat.user commits")
    redo = per(case, "v$sysstat.redo size", "v$sysstat.user commits")
    for_, against = weigh(
        [
            Sign("statistic", "name = 'v$sysstat.user calls'", calls, CALLS_PER_COMMIT, "{:.1f} user calls a commit",
                 "transactions are small", "transactions are of some length", below=True),
        ]
    )  # fmt: skip
    yield Claim(
        phrase("{:share of database} goes to {:rate commits}, {:.1f ms} each", part, commits, sync.ms),
        impact=part,
        confidence=0.6 if against or calls is None else 0.85,
        for_=[
            *waited(case, SYNC),
            *counted(case, "v$sysstat.user commits", "{:.1f} commits per s"),
            *for_,
            *([Evidence("statistic", "name = 'v$sysstat.redo size'", phrase("{:bytes} of redo a commit", redo), "", "")]
              if redo is not None else []),
        ],
        against=against,
    )  # fmt: skip


def _remote_ms(case: Case) -> float:
    """What the log writer waits for a standby, in milliseconds a write; 0 where it does not."""
    return max((wait.ms or 0.0 for event in REMOTE_WRITES if (wait := case.background.get(event))), default=0.0)


def _involuntary_pct(case: Case) -> float | None:
    """Of the log writer's context switches, those that it did not ask for; null when its process was not seen."""
    frame = case.chart.frame("process")
    writers = frame.filter(pl.col("command").str.to_lowercase().str.contains(LOG_WRITER))
    voluntary, involuntary = (float(writers[column].sum()) for column in ("vcsw_per_s", "icsw_per_s"))
    return 100 * involuntary / (voluntary + involuntary) if voluntary + involuntary else None
