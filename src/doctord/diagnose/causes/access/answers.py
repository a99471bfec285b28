"""Whether a server answers at all."""

import re
from collections.abc import Iterator

import polars as pl

from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.causes.access.connections import NONE_LEFT, REFUSED_NOW
from doctord.diagnose.finding import WARNING_SHARE, Claim, Evidence, Severity
from doctord.diagnose.phrase import phrase

# What PostgreSQL tells a client that comes too early or too late, with or without the code.
NOT_OPEN = "57P03|the database system is (not yet accepting connections|starting up|shutting down|in recovery mode)"
WHY_GONE = (
    "The last lines of its log say whether it was shut down or crashed (a signal, PANIC, out of memory). Start it."
)
# What the kernel says where nobody listens any more.
NOBODY_LISTENS = (
    r"(?s)\A(?!.*FATAL).*(?:Connection refused|No such file or directory)"  # a server that says FATAL is there
)
# What a server says to everybody, and what is to be done about that.
WHY_CLOSED = (
    # PostgreSQL documentation, "Managing Kernel Resources", "systemd RemoveIPC"; from version 15 on each new session
    # looks for the segments of the statistics.
    (
        "could not open shared memory segment",
        """Its segments in /dev/shm were removed while it ran. Whoever is connected can work on; restart it at a moment
        that suits them. Then RemoveIPC=no in logind.conf or a system user for the server (a user id below 1000), and
        no clean-up job in /dev/shm.""",
    ),
    (
        "could not fork",
        """It may start no more processes: raise what its control group may have (systemd: TasksMax; a container: its
        pids limit) or its user (ulimit -u), or end sessions that nobody needs. pids.current stands beside pids.max in
        the folder of its group.""",
    ),
)
# A restart takes seconds.
WORTH_SAYING_S = 60.0


@cause(explains=("logins_slow",))
def server_does_not_answer(case: Case) -> Iterator[Claim]:
    """A database server takes connections or requests, and does not answer them.

    Looks like: a login or a statement that needs no lock and no disk is given up after seconds without a word; the
        server, or its log, refuses clients because it starts up, recovers from a crash, or shuts down; nobody listens
        any more where it was.
    Hurts because: clients wait as we did and pools fill with them; and nothing else shows it, for a server that hangs
        has no session at work.
    Speaks for it: the time for which it was asked and gave no answer, or refused clients.
    Speaks against it: it answered at other times; it was then overloaded rather than hung.
    Remedy: Look whether its processes are stopped (state T of ps: kill -CONT), are in the kernel (state D: storage,
        NFS) or wait for a CPU; whether something else listens on its port; whether a firewall drops what is sent. While
        it recovers, let it: "redo in progress" in the log tells how far it is; then find what crashed it, above the
        first refusal.
    Verify: It answers a login within milliseconds, and no new event `no answer` is recorded.
    Source: PostgreSQL documentation, connect_timeout, tcp_user_timeout, "PostgreSQL Error Codes" (57P03); B. Gregg,
        "Systems Performance", 2nd ed., 2020.
    """
    yield from _silent(case)
    yield from _closed(case)
    yield from _refused(case)


def _silent(case: Case) -> Iterator[Claim]:
    events = case.dataset.frame("event").filter((pl.col("kind") == "no answer") & (pl.col("interval_s") > 0))
    for (db,), told in sorted(events.partition_by("db", as_dict=True).items(), key=lambda item: str(item[0])):
        silent_s = _covered_s(told)
        seconds = max(case.seconds, silent_s)
        yield Claim(
            phrase("{} did not answer for {:.0f} of {:.0f s}", db, silent_s, seconds),
            impact=silent_s / seconds,
            confidence=0.95,
            severity=_severity(silent_s, seconds),
            for_=[
                Evidence(
                    "event",
                    f"kind = 'no answer' and db = '{db}'",
                    phrase("{:.1f s} without an answer", silent_s),
                    "an answer within 3 s",
                    str(told["text"].drop_nulls().last() or "it was asked, and waited for"),
                )
            ],
            against=_answers(case, str(db)),
            time_of="interval",
            database=None if db is None else str(db),
        )


def _closed(case: Case) -> Iterator[Claim]:
    """Servers that let us in at no time of a while, as they would nobody; a limit that is reached is another cause."""
    events = case.dataset.frame("event").filter((pl.col("kind") == REFUSED_NOW) & (pl.col("interval_s") > 0))
    closed = events.filter(~pl.col("text").fill_null("").str.contains(NONE_LEFT))
    for (db,), told in sorted(closed.partition_by("db", as_dict=True).items(), key=lambda item: str(item[0])):
        closed_s, is_gone = _covered_s(told), _is_gone(case, str(db), told)
        seconds = max(case.seconds, closed_s)
        yield Claim(
            phrase("{} is gone: nobody has listened where it did for {:.1f s}", db, closed_s)
            if is_gone
            else phrase("{} let no client in for {:.1f} of {:.0f s}", db, closed_s, seconds),
            impact=closed_s / seconds,
            confidence=0.95,
            severity="critical" if is_gone else _severity(closed_s, seconds),
            first_steps=[WHY_GONE] if is_gone else [],
            remedy=_remedy(told),
            for_=[
                Evidence("event", f"kind = '{REFUSED_NOW}' and db = '{db}'", phrase("{:.1f s} at least", closed_s),
                         "none", phrase("{:count attempt/attempts}: {}", told.height, told["text"][-1] or "refused")),
            ],
            against=[] if is_gone else _answers(case, str(db)),
            time_of="interval",
        )  # fmt: skip


def _remedy(told: pl.DataFrame) -> list[str]:
    """What is to be done about what it said at the last attempt; none where that says nothing of it."""
    last = str(told["text"][-1] or "")
    return [" ".join(remedy.split()) for sign, remedy in WHY_CLOSED if sign in last]


def _is_gone(case: Case, db: str, told: pl.DataFrame) -> bool:
    """Whether nobody listened at the last attempt, and the server told nothing after it."""
    last = told.sort("ts", maintain_order=True).row(-1, named=True)
    if re.search(NOBODY_LISTENS, last["text"] or "") is None:
        return False
    told_at = [case.dataset.frame(table).filter(pl.col("db") == db)["ts"].max() for table in ("statistic", "session")]
    return all(at is None or at < last["ts"] for at in told_at)


def _refused(case: Case) -> Iterator[Claim]:
    """Servers whose log says that they let no client in."""
    errors = case.dataset.frame("statistic").filter((pl.col("name") == "log.errors") & (pl.col("value") > 0))
    refusals = errors.filter(pl.col("entity").str.contains(NOT_OPEN)).sort("ts", maintain_order=True)
    for (db,), told in refusals.partition_by("db", maintain_order=True, as_dict=True).items():
        refused_s, seconds = _refused_s(told), max(case.seconds, 1.0)
        count = round(told.select((pl.col("value") * pl.col("interval_s")).sum()).item())
        if refused_s < WORTH_SAYING_S:
            continue
        yield Claim(
            phrase("{} let no client in for {:.0f} min and more", db, refused_s / 60),
            impact=min(refused_s / seconds, 1.0),
            confidence=0.95,
            severity=_severity(refused_s, seconds),
            for_=[
                Evidence(
                    "statistic",
                    f"name = 'log.errors' and db = '{db}'",
                    phrase("{:,} clients refused", count),
                    "none",
                    phrase("{}, from {:%Y-%m-%d %H:%M} on", told["entity"][-1], told["ts"][0]),
                )
            ],
            time_of="interval",
        )


def _refused_s(refusals: pl.DataFrame) -> float:
    """Seconds on end in which clients were refused at least, all such times together.

    A log is summed up by the minute: the first refusal may have come at its minute's end, and the last at its begin, so
    that one minute or two, as at a restart, tell no time.
    """
    starts = pl.col("ts") - pl.duration(microseconds=pl.col("interval_s") * 1e6)
    spans = refusals.select("ts", "interval_s", begin=starts).sort("begin", "ts", maintain_order=True)
    is_apart = (pl.col("begin") > pl.col("ts").cum_max().shift(1)).fill_null(value=True)
    runs = spans.with_columns(run=is_apart.cast(pl.Int64).cum_sum()).group_by("run", maintain_order=True)
    whole_s = (pl.col("ts").max() - pl.col("begin").min()).dt.total_microseconds() / 1e6
    ends_s = pl.col("interval_s").first() + pl.col("interval_s").last()
    return float(runs.agg((whole_s - ends_s).clip(lower_bound=0.0).alias("s"))["s"].sum())


def _severity(lost_s: float, seconds: float) -> Severity | None:
    """Lost service is worse than lost time: a minute of it is a warning, however small a share that is."""
    return "warning" if lost_s >= WORTH_SAYING_S and lost_s < WARNING_SHARE * seconds else None


def _covered_s(events: pl.DataFrame) -> float:
    """Seconds that intervals cover together: two collectors tell of the same silence."""
    ends = events.select(end=pl.col("ts").dt.epoch("us") / 1e6, length=pl.col("interval_s"))
    covered, until = 0.0, float("-inf")
    for begin, end in sorted((end - length, end) for end, length in ends.iter_rows()):
        covered += max(0.0, end - max(begin, until))
        until = max(until, end)
    return covered


def _answers(case: Case, db: str) -> list[Evidence]:
    answers = case.dataset.frame("statistic").filter(pl.col("db") == db)["ts"].n_unique()
    if not answers:
        return []
    return [
        Evidence(
            "statistic", f"db = '{db}'", phrase("it answered {} times", answers), "", "it hangs at times, not always"
        )
    ]
