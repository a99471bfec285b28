"""Commits that the server itself holds back."""

from collections.abc import Iterator
from typing import Final

from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.common.by_server import waited_by_server
from doctord.diagnose.finding import Claim, Evidence
from doctord.diagnose.phrase import phrase

KINDS: Final = ("log sync", "log write")
# PostgreSQL advises half of a flush, which a disk ends within milliseconds: longer was meant in another unit.
LONG_MS: Final = 20.0


@cause(explains=("commits_slow", "commits_too_frequent", "row_locks"), waits=KINDS)
def commit_delay_long(case: Case) -> Iterator[Claim]:
    """Each commit sleeps before it writes the log, as commit_delay says.

    Looks like: sessions wait for WALWrite or WALSync far longer than the device takes for a write; whoever writes the
        log shows no wait at all.
    Hurts because: a transaction holds its locks while its session sleeps; all that commit meanwhile stand behind it.
    Speaks for it: commit_delay, in microseconds; how much of the time sessions wait for the log.
    Speaks against it: commit_siblings above the number of transactions that are open at a time: then nobody sleeps.
    Remedy: ALTER SYSTEM RESET commit_delay, and select pg_reload_conf(). Its unit is a microsecond: half of what
        pg_test_fsync measures for one flush is the most that helps, where many sessions commit at once.
    Verify: show commit_delay; time waited per commit.
    Source: PostgreSQL documentation, "Write Ahead Log", commit_delay, commit_siblings; "WAL Configuration".
    """
    for db, share in waited_by_server(case, *KINDS).items():
        delay_ms = float(case.setting("commit_delay", db) or 0.0) / 1000
        siblings = case.setting("commit_siblings", db)
        if delay_ms < LONG_MS or not case.worth_with_locks(share, *KINDS):
            continue
        yield Claim(
            phrase("Commits of {} sleep {:.0f ms} each before they write the log: commit_delay = {:.0f}",
                   db, delay_ms, delay_ms * 1000),
            impact=share,
            confidence=0.9,
            for_=[
                Evidence("setting", f"name = 'commit_delay' and db = '{db}'", phrase("{:.0f ms}", delay_ms),
                         phrase("{:.0f ms}", LONG_MS), "a disk flushes within milliseconds", "at_least"),
                Evidence("session", f"wait_kind in ('log sync', 'log write') and db = '{db}'",
                         phrase("{:share of database}", share), "", "waiting for the log"),
                *([Evidence("setting", f"name = 'commit_siblings' and db = '{db}'", siblings, "",
                            "so many other transactions must be open for it")] if siblings else []),
            ],
            database=db,
        )  # fmt: skip
