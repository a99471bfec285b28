"""Commits that do not come back: the log is not written at all."""

from collections.abc import Iterator

from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.causes.wal.log_hangs import FEWEST_SESSIONS, FLUSHED, HANGS_S, HUNG_S, KINDS, Hang, hangs
from doctord.diagnose.finding import Claim, Evidence
from doctord.diagnose.phrase import Words, phrase


@cause(explains=("commits_slow", "log_writer_starved", "row_locks", "table_locks"), waits=KINDS)
def commits_hang(case: Case) -> Iterator[Claim]:
    """Whoever writes the log waits for one write that does not end.

    Looks like: sessions stand in WALWrite or WALSync at each look, for seconds, with the same statement, and none comes
        out of it; nothing is written, the device is idle; no error anywhere; reads go on.
    Hurts because: no transaction that changed something can end; the next checkpoint hangs too.
    Speaks for it: sessions whose every sample is one and the same wait for the log, and for how long; the log's end on
        disk (pg_current_wal_flush_lsn) that stands still meanwhile.
    Speaks against it: one that came back meanwhile; a log of which anything was written: then it is slow, not hung.
    Remedy: Look at what the processes wait for in the kernel (state D; /proc/PID/stack, /proc/PID/wchan) and at its log
        (dmesg). A frozen file system (fsfreeze, a snapshot or backup agent that did not end): fsfreeze -u on it, then
        look after the agent. Storage that is gone: multipath that queues without a path, NFS mounted hard, a quota of
        a thin volume, a throttle. Do not restart the server before the writes end: it would hang as well.
    Verify: The sessions' statements end; commits per second are as before.
    Source: PostgreSQL documentation, "Wait Event Tables", WALWrite, WALSync; Linux man-pages, fsfreeze(8), proc(5),
        process state D.
    """
    for hang in hangs(case):
        where = f"wait_kind in ('log sync', 'log write') and db = '{hang.db}'"
        limit_s = HUNG_S if hang.is_over else HANGS_S
        yield Claim(
            _title(hang),
            impact=hang.share,
            confidence=0.9 if hang.flushed_bytes is None else 0.95,
            for_=[
                Evidence("session", where, phrase("{:.0f s} in one write of the log", hang.longest_s),
                         phrase("{:.0f s}", limit_s), "at every look, in the same statement", "at_least"),
                Evidence("session", where, phrase("{:.0f} sessions", float(hang.sessions)),
                         phrase("{:.0f}", float(FEWEST_SESSIONS)), "not one of them came out of it", "at_least"),
                *_stands_still(hang),
            ],
            against=_over(hang),
            severity="warning" if hang.is_over else "critical",
            # Whoever reads a block may have to write another one out, and its log before it: we do, too.
            explains=("server_does_not_answer",),
            database=hang.db,
        )  # fmt: skip


def _title(hang: Hang) -> Words:
    if hang.is_over:
        return phrase("Commits of {} hung for {:duration} until {:%H:%M:%S}: {:.0f} sessions waited for the log",
                      hang.db, hang.longest_s, hang.until, float(hang.sessions))  # fmt: skip
    return phrase("Commits of {} hang: {:.0f} sessions have waited for the log for up to {:.0f s}, and none came back",
                  hang.db, float(hang.sessions), hang.longest_s)  # fmt: skip


def _stands_still(hang: Hang) -> list[Evidence]:
    if hang.flushed_bytes is None:
        return []
    return [Evidence("statistic", f"name = '{FLUSHED}' and db = '{hang.db}'",
                     phrase("{:bytes} of the log written meanwhile", hang.flushed_bytes), "",
                     "its end on disk stands still")]  # fmt: skip


def _over(hang: Hang) -> list[Evidence]:
    if not hang.is_over:
        return []
    return [Evidence("session", f"db = '{hang.db}'", phrase("over since {:%Y-%m-%d %H:%M:%S}", hang.until), "",
                     "they came back, all at once")]  # fmt: skip
