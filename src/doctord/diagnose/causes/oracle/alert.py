"""What Oracle's own logs report: errors, instances that ended, connections that were refused."""

from collections.abc import Iterator

import polars as pl

from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.finding import NOT_MEASURED, Claim, Evidence
from doctord.diagnose.phrase import phrase
from doctord.diagnose.words import shortened

# Errors that say something of the server as a whole, and what to do. Oracle Database Error Messages 19c.
MEANING = {
    "ORA-00600": ("an internal error", "Look the first argument up at Oracle Support; open a service request."),
    "ORA-07445": ("a process crashed", "Look the failing function up at Oracle Support; open a service request."),
    "ORA-04031": (
        "no room in the shared pool",
        "See shared_pool_small and hard_parsing; keep large packages in memory.",
    ),
    "ORA-04030": ("a process got no memory from the host", "Memory and limits of the host; PGA limits."),
    "ORA-04036": ("the PGA's limit was reached", "The sessions that hold most PGA; pga_aggregate_limit."),
    "ORA-01555": ("a query's undo was gone", "See snapshot_too_old: retention and undo space for the longest query."),
    "ORA-30036": ("no room for undo", "Enlarge the undo tablespace."),
    "ORA-01652": ("no room for temporary segments", "The statement that sorts so much first, then the tablespace."),
    "ORA-01653": ("a table cannot grow", "Add room to its tablespace."),
    "ORA-01654": ("an index cannot grow", "Add room to its tablespace."),
    "ORA-00020": ("no process is left", "A connection pool; then the parameter processes."),
    "ORA-00018": ("no session is left", "A connection pool; then the parameter sessions."),
    "ORA-19815": ("the recovery area is nearly full", "Delete what is backed up, or enlarge it."),
    "ORA-01578": ("a corrupt block", "Recover the block (RMAN: recover ... block), and check the storage."),
    "ORA-03136": ("clients that did not log on in time", "Network, authentication, or a host too busy to answer."),
    "ORA-12012": ("a job failed", "The job's own error, in the lines after it."),
}
# An error of a user's own statement now and then is nothing of the server's.
OFTEN = 10
MOST_TOLD = 5
# A twentieth of all who come is sent away.
REFUSED_SHARE = 0.05
LEAST_REFUSED = 10.0
HANDLERS = {
    "12516": "no handler for the protocol: processes or sessions are used up",
    "12518": "no handler could be started: memory, processes, or the listener itself",
    "12519": "no handler: processes are used up",
    "12520": "no handler of the kind asked for: processes or shared servers are used up",
    "12514": "the service is not known to the listener: an instance that is down, or a wrong name",
    "12505": "the SID is not known to the listener: an instance that is down, or a wrong name",
    "12528": "the instance is starting or restricted",
}


@cause()
def alert_log_errors(case: Case) -> Iterator[Claim]:
    """The alert log reports errors.

    Looks like: ORA- errors in the alert log.
    Hurts because: each is a statement, a job or a process that failed; some stop everything.
    Speaks for it: how many of each, the first and the last time.
    Speaks against it: a single one, long ago.
    Remedy: By code; see what each says.
    Verify: No new ones after the change.
    Source: Oracle Database Error Messages 19c.
    """
    errors = case.dataset.frame("event").filter((pl.col("kind") == "error") & pl.col("subject").str.starts_with("ORA-"))
    when = "%Y-%m-%d %H:%M"
    by_code = (
        errors.group_by("subject", maintain_order=True)
        .agg(pl.len().alias("count"), pl.col("ts").min().alias("first"), pl.col("ts").max().alias("last"),
             pl.col("text").drop_nulls().last())
        .sort("count", "subject", descending=[True, False], maintain_order=True)
    )  # fmt: skip
    told = [row for row in by_code.iter_rows(named=True) if row["subject"] in MEANING or row["count"] >= OFTEN]
    if not told:
        return
    remedies = [f"{row['subject']}: {MEANING[row['subject']][1]}" for row in told if row["subject"] in MEANING]
    yield Claim(
        "The alert log reports " + ", ".join(_named(row["subject"], row["count"]) for row in told[:3]),
        impact=NOT_MEASURED,
        confidence=0.95,
        for_=[
            Evidence("event", f"kind = 'error' and subject = '{row['subject']}'",
                     phrase(f"{{}} times {{}}, {{:{when}}} to {{:{when}}}", row["count"],
                            row["subject"], row["first"], row["last"]),
                     "", shortened(row["text"] or ""))
            for row in told[:MOST_TOLD]
        ],
        remedy=remedies[:MOST_TOLD],
    )  # fmt: skip


@cause()
def instance_ended(case: Case) -> Iterator[Claim]:
    """The instance was terminated.

    Looks like: "terminating the instance" in the alert log.
    Hurts because: all sessions are gone, and the next start recovers first.
    Speaks for it: when, and the reason that the log gives.
    Speaks against it: a shutdown abort by hand.
    Remedy: The reason in the alert log, and the errors in the minutes before it.
    Verify: The instance stays up.
    Source: Oracle Database Administrator's Guide 19c, "Monitoring Errors and Alerts".
    """
    ended = case.dataset.frame("event").filter(pl.col("kind") == "instance terminated").sort("ts", maintain_order=True)
    if ended.height:
        yield Claim(
            phrase("The instance was terminated {} times", ended.height)
            if ended.height > 1
            else "The instance was terminated",
            impact=NOT_MEASURED,
            confidence=0.95,
            for_=_last(ended),
        )


@cause()
def listener_refuses(case: Case) -> Iterator[Claim]:
    """The listener refuses connections.

    Looks like: requests in the listener's log that end in an error.
    Hurts because: the client gets an error, or tries again.
    Speaks for it: refusals against connections made, by code.
    Speaks against it: one client with a wrong name: then that client alone.
    Remedy: By code: processes and sessions that are used up (a pool of fixed size, then the parameters), a service
        that is not there (the instance, or the client's spelling).
    Verify: UserErrors per minute.
    Source: Oracle Database Net Services Administrator's Guide 19c, "Troubleshooting"; R. Milkowski,
        2008 (the listener).
    """
    refused = [figure for figure in case.figures("listener.refused") if figure.entity]
    count = sum(figure.mean * figure.seconds for figure in refused)
    made = sum(figure.mean for figure in case.figures("listener.establish") if figure.entity)
    often = sum(figure.mean for figure in refused)
    if not often or often < REFUSED_SHARE * (made + often) or count < LEAST_REFUSED:
        return
    yield Claim(
        phrase("The listener refuses {:share} of the connections", often / (made + often)),
        impact=NOT_MEASURED,
        confidence=0.9,
        for_=[
            Evidence("statistic", f"name = 'listener.refused' and entity = '{figure.entity}'",
                     phrase("{}: {:rate}, up to {:rate}", figure.entity, figure.mean, figure.largest), "",
                     next((why for code, why in HANDLERS.items() if code in (figure.entity or "")), ""))
            for figure in refused[:MOST_TOLD]
        ],
    )  # fmt: skip


def _last(events: pl.DataFrame) -> list[Evidence]:
    """The last of some events of one kind."""
    return [
        Evidence("event", f"kind = '{row['kind']}'", phrase("{:%Y-%m-%d %H:%M:%S}", row["ts"]), "", row["text"] or "")
        for row in events.tail(MOST_TOLD).iter_rows(named=True)
    ]


def _named(code: str, count: int) -> str:
    what = MEANING.get(code, ("",))[0]
    return f"{code} ({what}) {count} times" if what else f"{code} {count} times"
