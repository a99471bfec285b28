"""Commits that do not come back: the log is not written at all."""

from collections.abc import Iterator
from typing import Final

import polars as pl

from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.finding import Claim, Evidence
from doctord.diagnose.phrase import phrase

KINDS: Final = ("log sync", "log write")
# A disk answers in milliseconds, a volume that is throttled in a second; paths that fail over take tens of seconds.
HANGS_S: Final = 5.0
FEWEST_LOOKS: Final = 5
# One session may write much log for long; several that all stand in the same wait at each look do nothing.
FEWEST_SESSIONS: Final = 2
NEARLY_ALL: Final = 0.9


@cause(explains=("row_locks", "table_locks"), waits=KINDS)
def commits_hang(case: Case) -> Iterator[Claim]:
    """Whoever writes the log waits for one write that does not end.

    Looks like: sessions stand in WALWrite or WALSync at each look, for seconds, with the same statement, and none comes
        out of it; nothing is written, the device is idle; no error anywhere; reads go on.
    Hurts because: no transaction that changed something can end; the next checkpoint hangs too.
    Speaks for it: sessions whose every sample since their statement began is a wait for the log, and for how long.
    Speaks against it: one that came back meanwhile.
    Remedy: Look at what the processes wait for in the kernel (state D; /proc/PID/stack, /proc/PID/wchan) and at its log
        (dmesg). A frozen file system (fsfreeze, a snapshot or backup agent that did not end): fsfreeze -u on it, then
        look after the agent. Storage that is gone: multipath that queues without a path, NFS mounted hard, a quota of
        a thin volume, a throttle. Do not restart the server before the writes end: it would hang as well.
    Verify: The sessions' statements end; commits per second are as before.
    Source: PostgreSQL documentation, "Wait Event Tables", WALWrite, WALSync; Linux man-pages, fsfreeze(8), proc(5),
        process state D.
    """
    rows = case.active.filter(pl.col("in_state_s").is_not_null())
    for (db,), of_server in rows.group_by("db", maintain_order=True):
        in_log = of_server.filter(pl.col("wait_kind").is_in(KINDS))
        hanging = _hanging(of_server)
        samples = int(hanging["looks"].sum())
        if hanging.height < FEWEST_SESSIONS or samples < NEARLY_ALL * in_log.height:
            continue
        share = float(in_log["interval_s"].sum()) / float(of_server["interval_s"].sum())
        longest = float(hanging["longest"].max())  # type: ignore[arg-type]
        yield Claim(
            phrase("Commits of {} hang: {:.0f} sessions have waited for the log for up to {:.0f s}, and none came back",
                   db, float(hanging.height), longest),
            impact=share,
            confidence=0.9,
            for_=[
                Evidence("session", f"wait_kind in ('log sync', 'log write') and db = '{db}'",
                         phrase("{:.0f s} in one write of the log", longest), phrase("{:.0f s}", HANGS_S),
                         "at every look, in the same statement", "at_least"),
                Evidence("session", f"wait_kind in ('log sync', 'log write') and db = '{db}'",
                         phrase("{:.0f} sessions", float(hanging.height)), phrase("{:.0f}", float(FEWEST_SESSIONS)),
                         "not one of them came out of it", "at_least"),
            ],
            severity="critical",
            database=str(db),
        )  # fmt: skip


def _hanging(rows: pl.DataFrame) -> pl.DataFrame:
    """Sessions that wait for the log at every look since their last statement began.

    Columns: pid, looks (how many), longest (seconds in that statement).
    """
    last = rows.group_by("pid", maintain_order=True).agg(pl.col("ts").max().alias("end"), pl.col("in_state_s").last())
    since = rows.join(last, on="pid", suffix="_last", maintain_order="left").filter(
        pl.col("ts") > pl.col("end") - pl.duration(microseconds=pl.col("in_state_s_last") * 1_000_000)
    )
    return (
        since.group_by("pid", maintain_order=True)
        .agg(
            pl.len().alias("looks"),
            pl.col("in_state_s").max().alias("longest"),
            pl.col("wait_kind").is_in(KINDS).all().alias("all"),
        )
        .filter(pl.col("all") & (pl.col("longest") >= HANGS_S) & (pl.col("looks") >= FEWEST_LOOKS))
    )
