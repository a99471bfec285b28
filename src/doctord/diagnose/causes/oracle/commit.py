"""Oracle's commits: many that are quick."""

from collections.abc import Iterator

from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.common.oracle import counted, per
from doctord.diagnose.common.waited import share, waited
from doctord.diagnose.evidence import Sign, weigh
from doctord.diagnose.finding import Claim, Evidence
from doctord.diagnose.phrase import phrase

SYNC = "log file sync"
# Slower ones are another cause.
SLOW_WRITE_MS = 5.0
# Oracle's own rule of thumb: fewer user calls than this to a transaction is a commit in a loop.
CALLS_PER_COMMIT = 30.0


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
